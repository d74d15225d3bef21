#include "compiler/vertex/turns.h"

#include <algorithm>

#include "base/error.h"

namespace superstep::vertex {

WorkerStates ElementwiseDivision::operator()(std::span<const std::uint32_t> state) const {
  const std::uint32_t n = state[0];
  const std::uint64_t all = (std::uint64_t{n} + elements_per_turn - 1) / elements_per_turn;
  WorkerStates result;
  for (std::uint32_t w = 0; w < workers; ++w) {
    const Turns turns = turns_of(all, workers, w);
    if (turns.count > 0) result.busy = w + 1;
    const auto first = static_cast<std::uint32_t>(turns.first * elements_per_turn);
    const std::uint64_t elements =
        std::min<std::uint64_t>(turns.count * elements_per_turn, n - first);
    std::vector<std::uint32_t>& words = result.words;
    words.push_back(static_cast<std::uint32_t>(counts_elements ? elements : turns.count) -
                    (count == Count::kMoreTurns ? 1 : 0));
    if (with_tail) words.push_back(turns.first + turns.count == all && (n - 1) % 4 < 2 ? 0 : 8);
    const auto address = [&](std::size_t word, DType dtype, std::uint32_t element) {
      return state[word] + element * static_cast<std::uint32_t>(size_of(dtype));
    };
    std::size_t word = 1;
    for (const DType dtype : outputs) words.push_back(address(word++, dtype, first));
    const auto loaded = [&](std::uint32_t from) { return turns.count == 0 ? idle_address : from; };
    for (std::size_t i = 0; i < inputs.size(); word += state_words(access[i++])) {
      if (!is_repeated(access[i])) {
        words.push_back(loaded(address(word, inputs[i], access[i] == Access::kScalar ? 0 : first)));
        continue;
      }
      const std::uint32_t period = state[word + 2], position = state[word + 1] + first;
      SUPERSTEP_CHECK(period > 0, "the period of a repeated input");
      const std::uint32_t within = position % period;
      const std::uint32_t unit = is_aligned(access[i]) ? elements_per_turn : 1;
      SUPERSTEP_CHECK(period % unit == 0 && within % unit == 0, "periods of whole turns");
      if (is_cyclic(access[i])) {
        words.insert(words.end(),
                     {loaded(address(word, inputs[i], within)), (period - within) / unit - 1,
                      loaded(state[word]), period / unit - 1});
      } else {
        words.insert(words.end(), {loaded(address(word, inputs[i], position / period)),
                                   (period - within) / unit, period / unit - 1});
      }
    }
    result.stride = static_cast<std::uint32_t>(words.size()) / (w + 1);
  }
  return result;
}

}  // namespace superstep::vertex
