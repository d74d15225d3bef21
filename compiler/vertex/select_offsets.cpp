#include "compiler/vertex/select_offsets.h"

#include "base/error.h"
#include "compiler/vertex/turns.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

/// Offsets that are looked at between two branches back.
constexpr std::uint32_t kUnrolled = 4;

/// A worker's state: {address of its list, of its offsets, number of the first, first position,
/// positions, turns of `kUnrolled` - 1, offsets that remain - 1}.
void emit(WorkerCode& code) {
  const Label again = code.label(), rest = code.label(), one = code.label(), done = code.label();
  const auto word = [&](std::uint32_t i) { return code.m("ld32", {"$mvertex_base", "$mzero", i}); };
  const Reg list = word(0), offsets = word(1), number = word(2), first = word(3),
            positions = word(4), turns = word(5), left = word(6);
  const Reg end = code.m("add", {list, 4});
  const auto look_at = [&](std::uint32_t k) {
    const Label next = code.label();
    const Reg offset = code.m("ld32", {offsets, "$mzero", k});
    const Reg position = code.m("sub", {offset, first});
    code.branch("brz", {code.m("cmpult", {position, positions})}, next);
    code.emit("st32step", {code.m("add", {number, k}), "$mzero", step(end), 1});
    code.place(next);
  };
  code.branch("brneg", {turns}, rest);
  code.place(again);
  for (std::uint32_t k = 0; k < kUnrolled; ++k) look_at(k);
  code.emit("add", {def(offsets), offsets, 4 * kUnrolled});
  code.emit("add", {def(number), number, kUnrolled});
  code.branch("brnzdec", {both(turns)}, again);
  code.place(rest);
  code.branch("brneg", {left}, done);
  code.place(one);
  look_at(0);
  code.emit("add", {def(offsets), offsets, 4});
  code.emit("add", {def(number), number, 1});
  code.branch("brnzdec", {both(left)}, one);
  code.place(done);
  code.emit("st32", {end, list, "$mzero", 0});
  code.exit();
}

}  // namespace

VertexState SelectOffsets::State::words() const {
  return {lists,
          offsets,
          StateWord::number(count),
          StateWord::number(first),
          StateWord::number(positions),
          StateWord::number(table_positions)};
}

Codelet SelectOffsets::code(const MachineConfig& machine) const {
  SUPERSTEP_CHECK(workers == machine.tile.workers, "a list for each worker");
  WorkerCode code(machine);
  emit(code);
  Codelet codelet = code.finish("select_offsets");
  codelet.divide = [all = workers](std::span<const std::uint32_t> state, std::uint32_t) {
    SUPERSTEP_CHECK(state.size() == kSelectWords, "the state of a selection");
    const double share = static_cast<double>(state[4]) / state[5];
    WorkerStates states{7, {}, all, std::vector<double>(all, share)};
    const auto list = static_cast<std::uint32_t>(4 * list_words(state[2], all));
    for (std::uint32_t w = 0; w < all; ++w) {
      const Turns turns = turns_of(state[2], all, w);
      const auto first = static_cast<std::uint32_t>(turns.first);
      const auto count = static_cast<std::uint32_t>(turns.count);
      states.words.insert(states.words.end(),
                          {state[0] + w * list, state[1] + 4 * first, first, state[3], state[4],
                           count / kUnrolled - 1, count % kUnrolled - 1});
    }
    return states;
  };
  return codelet;
}

/// The end of a list, an address for the machine, is its length here.
void SelectOffsets::interpret(const StateView& state) const {
  const std::int64_t count = state.number(2), first = state.number(3), positions = state.number(4);
  for (std::uint32_t w = 0; w < workers; ++w) {
    const Turns turns = turns_of(static_cast<std::uint64_t>(count), workers, w);
    const Pointer list = state.pointer(0).plus(4 * w * list_words(count, workers));
    std::int32_t length = 0;
    for (std::uint64_t n = turns.first; n < turns.first + turns.count; ++n) {
      const auto number = static_cast<std::int32_t>(n);
      const std::int64_t position =
          state.pointer(1).plus(std::int64_t{4} * number).get<std::int32_t>() - first;
      if (position < 0 || position >= positions) continue;
      list.plus(std::int64_t{4} * ++length).write(&number, sizeof number);
    }
    list.write(&length, sizeof length);
  }
}

}  // namespace superstep::vertex
