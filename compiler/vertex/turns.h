#pragma once

#include "compiler/vertex/codelet.h"

namespace superstep::vertex {

/// Contiguous shares of equal turns: worker w of `workers` does `count` turns from turn `first`.
struct Turns {
  std::uint64_t first = 0, count = 0;
};
[[nodiscard]] constexpr Turns turns_of(std::uint64_t all, std::uint32_t workers, std::uint32_t w) {
  const std::uint64_t each = all / workers, more = all % workers;
  return {w * each + (w < more ? w : more), each + (w < more ? 1 : 0)};
}

/// Words of a worker's state for an input: an address; for cyclic ones {first address, elements of
/// the period left after this one, address of the period, period - 1}; for stretched ones {address,
/// elements left with this value, period - 1}. Aligned ones count turns, not elements.
[[nodiscard]] constexpr std::uint32_t worker_words(Access access) {
  return is_cyclic(access) ? 4 : is_stretched(access) ? 3 : 1;
}

/// How elementwise codelets that count turns down want their number.
enum class Count : std::uint8_t {
  kTurns,      ///< as it is
  kMoreTurns,  ///< less one: -1 for a worker without elements
};

/// `Codelet::divide` of elementwise codelets. Worker states are {number of turns, or of elements
/// with `counts_elements`, 0 or 8 with `with_tail`, addresses of outputs, `worker_words` of each
/// input}. The tail is 8 unless the last turn has no more than two elements.
struct ElementwiseDivision {
  std::uint32_t workers = 6;
  std::uint32_t elements_per_turn = 1;
  Count count = Count::kTurns;
  bool with_tail = false;
  std::vector<DType> outputs, inputs;
  std::vector<Access> access;
  /// That no worker writes: those without a turn load from there, since some codelets load before
  /// they look at the number of turns, and worker 0 may store where a scalar was.
  std::uint32_t idle_address = 0;
  bool counts_elements = false;

  [[nodiscard]] WorkerStates operator()(std::span<const std::uint32_t> state) const;
};

}  // namespace superstep::vertex
