#include "compiler/vertex/merge.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "compiler/vertex/turns.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

/// A worker's list of commands, then -1. A command makes keys of one result: {keys, bits of the
/// number of places where the share may begin, end of the row, key of the row whose number is that
/// of the first key made, less the least number of keys from the second half, places, address of
/// the first key made, whether keys go down from there}. With single words, numbers of keys count
/// words, else bytes.
class MergeCode {
 public:
  MergeCode(WorkerCode& code, std::uint32_t key_words)
      : code_(code), words_(key_words), key_bytes_(4 * key_words) {}

  void emit() {
    const Label next = code_.label(), descending = code_.label(), done = code_.label();
    list_ = code_.m("ld32", {"$mvertex_base", "$mzero", 0});
    code_.place(next);
    const Reg count = word();
    code_.branch("brneg", {count}, done);
    const Reg bits = word();
    // Key i from the end and key i from the first that is made.
    const Reg end = word(), from = word(), taken = word(), places = word();
    search(bits, end, from, taken, places);
    code_.emit("add", {def(end), end, -static_cast<std::int32_t>(key_bytes_)});
    const Reg to = word(), descends = word();
    if (words_ > 1) {
      code_.emit("add", {def(end), end, taken});
      code_.emit("add", {def(from), from, taken});
      merge_keys(count, end, from, to, descends);
      code_.branch("bri", {}, next);
    } else {
      code_.branch("brnz", {descends}, descending);
      merge_words(count, end, from, taken, to, 1);
      code_.branch("bri", {}, next);
      code_.place(descending);
      merge_words(count, from, end, taken, to, -1);
      code_.branch("bri", {}, next);
    }
    code_.place(done);
    code_.exit();
  }

 private:
  Reg word() { return code_.m("ld32step", {"$mzero", step(list_), 1}); }

  /// Word `w` of the key at a place from `base` on.
  Reg load(Reg base, Reg place, std::uint32_t w) {
    if (words_ == 1) return code_.m("ld32", {base, "$mzero", place});
    return code_.m("ld32", {base, place, w});
  }
  /// Whether a key, of which `word` gives the words, is below the other.
  Reg is_below(const std::function<Reg(std::uint32_t)>& word,
               const std::function<Reg(std::uint32_t)>& other) {
    Reg below;
    for (std::uint32_t w = words_; w-- > 0;) {
      const Reg a = word(w), b = other(w);
      const Reg here = code_.m("cmpslt", {a, b});
      below = below.valid()
                  ? code_.m("or", {code_.m("and", {below, code_.m("cmpeq", {a, b})}), here})
                  : here;
    }
    return below;
  }

  /// Halves the places until it is known how many keys are taken from the second half.
  void search(Reg bits, Reg end, Reg from, Reg taken, Reg places) {
    code_.begin_repeat(bits);
    Reg half = code_.m("shr", {code_.m("add", {places, 1}), 1});
    code_.emit("shr", {def(places), places, 1});
    if (words_ > 1) half = code_.m("mul", {half, key_bytes_});
    const Reg place = code_.m("sub", {taken, half});
    const Reg below = is_below([&](std::uint32_t w) { return load(end, place, w); },
                               [&](std::uint32_t w) { return load(from, place, w); });
    code_.emit("movnz", {both(taken), below, place});
    code_.end_repeat();
  }

  /// Keys of one word. Those left of the run at `x` and what is made tell where the other one is.
  void merge_words(Reg count, Reg x, Reg y, Reg place, Reg to, std::int32_t direction) {
    code_.emit("sub", {def(y), y, to});
    code_.begin_repeat(count);
    const Reg a = code_.m("ld32", {x, "$mzero", place}), b = code_.m("ld32", {y, to, place});
    code_.emit(direction > 0 ? "sub" : "add", {def(place), place, code_.m("cmpslt", {a, b})});
    code_.emit("st32step", {code_.m("min", {a, b}), "$mzero", step(to), direction});
    code_.end_repeat();
  }

  void merge_keys(Reg count, Reg down, Reg up, Reg to, Reg descends) {
    // From each key that is made to the next.
    const Reg stride = code_.m("sub", {key_bytes_, code_.m("mul", {descends, 2 * key_bytes_})});
    code_.begin_repeat(count);
    std::vector<Reg> a(words_), b(words_);
    for (std::uint32_t w = words_; w-- > 0;) {
      a[w] = code_.m("ld32", {down, "$mzero", w});
      b[w] = code_.m("ld32", {up, "$mzero", w});
    }
    const Reg below =
        is_below([&](std::uint32_t w) { return a[w]; }, [&](std::uint32_t w) { return b[w]; });
    for (std::uint32_t w = 0; w < words_; ++w) {
      code_.emit("movnz", {both(b[w]), below, a[w]});
      code_.emit("st32", {b[w], to, "$mzero", w});
    }
    const Reg bytes = code_.m("mul", {below, key_bytes_});
    code_.emit("sub", {def(down), down, bytes});
    code_.emit("add", {def(up), up, key_bytes_});
    code_.emit("sub", {def(up), up, bytes});
    code_.emit("add", {def(to), to, stride});
    code_.end_repeat();
  }

  WorkerCode& code_;
  std::uint32_t words_, key_bytes_;
  Reg list_;
};

struct MergeDivision {
  std::uint32_t workers, key_words;

  WorkerStates operator()(std::span<const std::uint32_t> state, std::uint32_t address) const {
    SUPERSTEP_CHECK(state.size() == kMergeWords, "the state of a merge");
    WorkerStates states{1, {}, 0};
    std::vector<std::uint32_t> lists;
    const std::uint32_t begin = worker_states_address(address, state.size()) + 4 * workers;
    for (std::uint32_t w = 0; w < workers; ++w) {
      states.words.push_back(begin + 4 * static_cast<std::uint32_t>(lists.size()));
      const Turns turns = turns_of(state[4], workers, w);
      if (turns.count > 0) states.busy = w + 1;
      append(lists, state, turns);
      lists.push_back(~0U);
    }
    states.words.insert(states.words.end(), lists.begin(), lists.end());
    return states;
  }

 private:
  void append(std::vector<std::uint32_t>& list, std::span<const std::uint32_t> state,
              Turns turns) const {
    constexpr std::uint64_t kMostRepeated = 65535;
    const std::uint64_t length = state[1], half = length / 2, key_bytes = 4 * key_words;
    const std::uint64_t unit = key_words == 1 ? 1 : key_bytes;
    const auto put = [&](std::uint64_t word) { list.push_back(static_cast<std::uint32_t>(word)); };
    for (std::uint64_t done = turns.first; done < turns.first + turns.count;) {
      const std::uint64_t at = state[3] + done, row = at / length, place = at % length;
      const std::uint64_t count =
          std::min({length - place, turns.first + turns.count - done, kMostRepeated});
      const bool descends = (state[5] ^ (state[6] & row & 1)) != 0;
      // Of the row's keys in ascending order.
      const std::uint64_t first = descends ? length - place - count : place;
      const std::uint64_t least = first > half ? first - half : 0, most = std::min(first, half);
      put(count);
      put(static_cast<std::uint64_t>(std::bit_width(most - least)));
      put(state[0] + (row + 1) * length * key_bytes);
      put(state[0] + (row * length + first) * key_bytes);
      put(-least * unit);
      put(most - least);
      put(state[2] + (done + (descends ? count - 1 : 0)) * key_bytes);
      put(descends ? 1 : 0);
      done += count;
    }
  }
};

}  // namespace

VertexState Merge::State::words() const {
  return {rows,
          StateWord::number(length),
          to,
          StateWord::number(first),
          StateWord::number(count),
          StateWord::number(descends ? 1 : 0),
          StateWord::number(alternates ? 1 : 0)};
}

Codelet Merge::code(const MachineConfig& machine) const {
  WorkerCode code(machine);
  MergeCode(code, key_words).emit();
  Codelet codelet = code.finish("merge");
  codelet.divide = MergeDivision{machine.tile.workers, key_words};
  return codelet;
}

void Merge::interpret(const StateView& state) const {
  using Key = std::vector<std::int32_t>;
  const std::int64_t length = state.number(1), first = state.number(3), count = state.number(4);
  const std::int64_t key_bytes = std::int64_t{4} * key_words;
  for (std::int64_t at = first; at < first + count;) {
    const std::int64_t row = at / length;
    std::vector<Key> keys;
    for (std::int64_t i = 0; i < length; ++i) {
      Key& key = keys.emplace_back(key_words);
      state.pointer(0)
          .plus((row * length + i) * key_bytes)
          .read(key.data(), sizeof(std::int32_t) * key_words);
    }
    std::ranges::sort(keys);
    const bool descends = (state.number(5) ^ (state.number(6) & row & 1)) != 0;
    if (descends) std::ranges::reverse(keys);
    for (; at < first + count && at / length == row; ++at) {
      const Key& key = keys[static_cast<std::size_t>(at % length)];
      state.pointer(2)
          .plus((at - first) * key_bytes)
          .write(key.data(), sizeof(std::int32_t) * key_words);
    }
  }
}

}  // namespace superstep::vertex
