#include "compiler/vertex/take.h"

#include <algorithm>

#include "base/error.h"
#include "compiler/vertex/turns.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

/// A worker's list: {bytes of a position, first position, positions}, then commands {offsets - 1,
/// address of the table, of the offsets, of what is written, units of a run, bytes behind what is
/// written of it}, then -1. A run of -1: one unit, and positions are units.
class TakeCode {
 public:
  TakeCode(WorkerCode& code, const Take& take)
      : code_(code),
        has_part_(take.has_part),
        in_pairs_(take.unit_bytes == 8),
        load_(in_pairs_ ? "ld64" : "ld32"),
        store_(in_pairs_ ? "st64step" : "st32step") {}

  void emit() {
    const Label next = code_.label(), again = code_.label(), singles = code_.label(),
                beyond = code_.label(), written = code_.label(), done = code_.label();
    list_ = code_.m("ld32", {"$mvertex_base", "$mzero", 0});
    const Reg position_bytes = word();
    first_ = word();
    positions_ = word();
    code_.place(next);
    const Reg left = word();
    code_.branch("brneg", {left}, done);
    const Reg table = word(), offsets = word(), to = word(), run = word(), skip = word();
    code_.branch("brneg", {run}, singles);
    code_.place(again);
    Reg position = code_.m("ld32step", {"$mzero", step(offsets), 1});
    if (has_part_) {
      position = code_.m("sub", {position, first_});
      code_.branch("brz", {code_.m("cmpult", {position, positions_})}, beyond);
    }
    const Reg value = code_.fresh(in_pairs_ ? File::kPair : File::kA);
    const Reg from = code_.m("add", {table, code_.m("mul", {position, position_bytes})});
    code_.begin_repeat(run);
    code_.emit(load_ + "step", {def(value), "$mzero", step(from), 1});
    code_.emit(store_, {value, "$mzero", step(to), 1});
    code_.end_repeat();
    code_.place(written);
    code_.emit("add", {def(to), to, skip});
    code_.branch("brnzdec", {both(left)}, again);
    code_.branch("bri", {}, next);
    if (has_part_) {
      code_.place(beyond);
      code_.begin_repeat(run);
      code_.emit(store_, {in_pairs_ ? "$azeros" : "$azero", "$mzero", step(to), 1});
      code_.end_repeat();
      code_.branch("bri", {}, written);
    }

    code_.place(singles);
    const Reg count = code_.m("add", {left, 1});
    code_.begin_repeat(count);
    take_one(table, offsets, to);
    code_.end_repeat();
    code_.branch("bri", {}, next);
    code_.place(done);
    code_.exit();
  }

 private:
  Reg word() { return code_.m("ld32step", {"$mzero", step(list_), 1}); }

  void take_one(Reg table, Reg offsets, Reg to) {
    const Reg at = code_.m("ld32step", {"$mzero", step(offsets), 1});
    if (!has_part_) {
      const Reg value = code_.fresh(in_pairs_ ? File::kPair : File::kA);
      code_.emit(load_, {def(value), table, "$mzero", at});
      code_.emit(store_, {value, "$mzero", step(to), 1});
      return;
    }
    // Beyond the part, the first element times zero.
    const Reg position = code_.m("sub", {at, first_});
    const Reg is_there = code_.m("cmpult", {position, positions_});
    const Reg nearest = code_.m("mul", {position, is_there});
    const Reg value = code_.m("ld32", {table, "$mzero", nearest});
    code_.emit("st32step", {code_.m("mul", {value, is_there}), "$mzero", step(to), 1});
  }

  WorkerCode& code_;
  bool has_part_, in_pairs_;
  std::string load_, store_;
  Reg list_, first_, positions_;
};

/// The state of a launch as words.
struct Words {
  std::uint32_t to, table, offsets, groups, offsets_a_group, group_bytes, position_bytes, run_bytes,
      first, positions;
};

struct TakeDivision {
  std::uint32_t workers, unit_bytes;
  bool has_part;

  WorkerStates operator()(std::span<const std::uint32_t> state, std::uint32_t address) const {
    SUPERSTEP_CHECK(state.size() == kTakeWords, "the state of a take");
    const Words s{state[0], state[1], state[2], state[3], state[4],
                  state[5], state[6], state[7], state[8], state[9]};
    const std::uint64_t all = std::uint64_t{s.groups} * s.offsets_a_group;
    const std::uint64_t units = s.run_bytes / unit_bytes;
    const auto slots = [](std::uint64_t runs, std::uint64_t of_run) {
      constexpr std::uint64_t kSlotsOfRun = 7;
      return runs * (kSlotsOfRun + 2 * of_run);
    };
    const auto most_of_a_worker = [&](std::uint64_t n) { return (n + workers - 1) / workers; };
    const bool shares_runs =
        slots(all, most_of_a_worker(units)) < slots(most_of_a_worker(all), units);
    WorkerStates states{1, {}, 0};
    std::vector<std::uint32_t> lists;
    const std::uint32_t begin = worker_states_address(address, state.size()) + 4 * workers;
    for (std::uint32_t w = 0; w < workers; ++w) {
      states.words.push_back(begin + 4 * static_cast<std::uint32_t>(lists.size()));
      lists.insert(lists.end(), {s.position_bytes, s.first, s.positions});
      const Turns turns = turns_of(shares_runs ? units : all, workers, w);
      if (turns.count > 0) states.busy = w + 1;
      if (turns.count > 0 && shares_runs) {
        append(lists, s, {0, all}, turns);
      } else if (turns.count > 0) {
        append(lists, s, turns, {0, units});
      }
      lists.push_back(~0U);
    }
    states.words.insert(states.words.end(), lists.begin(), lists.end());
    return states;
  }

 private:
  /// Some offsets, of one group after the other, and some units of each run.
  void append(std::vector<std::uint32_t>& list, const Words& s, Turns offsets, Turns run) const {
    const auto put = [&](std::uint64_t word) { list.push_back(static_cast<std::uint32_t>(word)); };
    const bool is_single = s.run_bytes == unit_bytes && s.position_bytes == unit_bytes &&
                           !(has_part && unit_bytes == 8);
    for (std::uint64_t at = offsets.first; at < offsets.first + offsets.count;) {
      const std::uint64_t group = at / s.offsets_a_group;
      const std::uint64_t end =
          std::min((group + 1) * std::uint64_t{s.offsets_a_group}, offsets.first + offsets.count);
      put(end - at - 1);
      put(s.table + group * s.group_bytes + run.first * unit_bytes);
      put(s.offsets + 4 * at);
      put(s.to + at * s.run_bytes + run.first * unit_bytes);
      put(is_single ? ~0U : run.count);
      put(s.run_bytes - run.count * unit_bytes);
      at = end;
    }
  }
};

}  // namespace

VertexState Take::State::words() const {
  return {to,
          table,
          offsets,
          StateWord::number(groups),
          StateWord::number(offsets_a_group),
          StateWord::number(group_bytes),
          StateWord::number(position_bytes),
          StateWord::number(run_bytes),
          StateWord::number(first),
          StateWord::number(positions)};
}

Codelet Take::code(const MachineConfig& machine) const {
  SUPERSTEP_CHECK(unit_bytes == 4 || unit_bytes == 8, "units of 4 or 8 bytes");
  WorkerCode code(machine);
  TakeCode(code, *this).emit();
  Codelet codelet = code.finish("take");
  codelet.divide = TakeDivision{machine.tile.workers, unit_bytes, has_part};
  return codelet;
}

void Take::interpret(const StateView& state) const {
  const std::int64_t offsets = state.number(4), run = state.number(7);
  const std::int64_t first = state.number(8), positions = state.number(9);
  for (std::int64_t i = 0; i < state.number(3) * offsets; ++i) {
    const std::int64_t offset = state.pointer(2).plus(4 * i).get<std::int32_t>() - first;
    std::vector<std::byte> bytes(static_cast<std::size_t>(run));
    if (!has_part || (offset >= 0 && offset < positions)) {
      state.pointer(1)
          .plus(i / offsets * state.number(5) + offset * state.number(6))
          .read(bytes.data(), bytes.size());
    }
    state.pointer(0).plus(i * run).write(bytes.data(), bytes.size());
  }
}

}  // namespace superstep::vertex
