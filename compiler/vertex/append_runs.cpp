#include "compiler/vertex/append_runs.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "compiler/vertex/packed_output.h"
#include "compiler/vertex/turns.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

DType dtype_of(std::uint32_t element_bytes) {
  return element_bytes == 1 ? DType::kU8 : DType::kU16;
}

/// A worker's list: {address of its first word, bits that its last word lacks}, then commands
/// {rows - 1, elements of a row - 1, address, elements from one to the next, bytes from behind a
/// row to the next}, then -1.
void emit(WorkerCode& code, std::uint32_t element_bytes) {
  const Label next = code.label(), row = code.label(), again = code.label(), done = code.label();
  const Reg list = code.m("ld32", {"$mvertex_base", "$mzero", 0});
  const auto word = [&] { return code.m("ld32step", {"$mzero", step(list), 1}); };
  const Reg to = word(), missing = word();
  PackedOutput output(code, dtype_of(element_bytes), to, missing);
  code.place(next);
  const Reg rows = word();
  code.branch("brneg", {rows}, done);
  const Reg count = word(), from = word(), stride = word(), skip = word();
  const Reg left = code.fresh(File::kM);
  code.place(row);
  code.move(left, count);
  code.place(again);
  output.put(code.m(element_bytes == 1 ? "ldz8step" : "ldz16step", {"$mzero", step(from), stride}));
  code.branch("brnzdec", {both(left)}, again);
  code.emit("add", {def(from), from, skip});
  code.branch("brnzdec", {both(rows)}, row);
  code.branch("bri", {}, next);
  code.place(done);
  output.finish();
  code.exit();
}

struct Rows {
  std::uint64_t rows, count;
  std::uint32_t from, stride, row_stride;
};

class RunsDivision {
 public:
  RunsDivision(std::uint32_t workers, std::uint32_t element_bytes)
      : workers_(workers), bytes_(element_bytes) {}

  WorkerStates operator()(std::span<const std::uint32_t> state, std::uint32_t address) const {
    const std::vector<Rows> all = commands(state, address);
    std::uint64_t elements = 0;
    for (const Rows& rows : all) elements += rows.rows * rows.count;
    const std::uint64_t lanes = 4 / bytes_;
    std::vector<std::uint32_t> lists;
    WorkerStates states{1, {}, 0};
    const std::uint32_t begin = worker_states_address(address, state.size()) + 4 * workers_;
    for (std::uint32_t w = 0; w < workers_; ++w) {
      states.words.push_back(begin + 4 * static_cast<std::uint32_t>(lists.size()));
      const Turns turns = turns_of((elements + lanes - 1) / lanes, workers_, w);
      const std::uint64_t first = turns.first * lanes;
      const std::uint64_t last = std::min(first + turns.count * lanes, elements);
      if (turns.count > 0) states.busy = w + 1;
      lists.push_back(state[0] + 4 * static_cast<std::uint32_t>(turns.first));
      lists.push_back(turns.count > 0 ? PackedOutput::missing_bits(dtype_of(bytes_), last - first)
                                      : 0);
      std::uint64_t at = 0;
      for (const Rows& rows : all) {
        const std::uint64_t here = rows.rows * rows.count;
        if (at < last && first < at + here) {
          append(lists, rows, std::max(first, at) - at, std::min(last, at + here) - at);
        }
        at += here;
      }
      lists.push_back(~0U);
    }
    states.words.insert(states.words.end(), lists.begin(), lists.end());
    return states;
  }

 private:
  static std::vector<Rows> commands(std::span<const std::uint32_t> state, std::uint32_t address) {
    const std::size_t first = (state[2] - address) / 4;
    SUPERSTEP_CHECK(first + std::size_t{kAppendCommandWords} * state[1] <= state.size(),
                    "the commands are part of the vertex state");
    std::vector<Rows> all;
    for (std::size_t i = 0; i < state[1]; ++i) {
      const auto words = state.subspan(first + i * kAppendCommandWords, kAppendCommandWords);
      all.push_back({words[0], words[1], words[2], words[3], words[4]});
    }
    return all;
  }

  /// Elements [begin, end) of a command: a part of a row, whole rows, a part of a row.
  void append(std::vector<std::uint32_t>& list, const Rows& rows, std::uint64_t begin,
              std::uint64_t end) const {
    while (begin < end) {
      const std::uint64_t column = begin % rows.count;
      const std::uint64_t whole = column == 0 ? (end - begin) / rows.count : 0;
      const std::uint64_t count =
          whole > 0 ? rows.count : std::min(rows.count - column, end - begin);
      const auto put = [&](std::uint64_t word) {
        list.push_back(static_cast<std::uint32_t>(word));
      };
      put(std::max<std::uint64_t>(whole, 1) - 1);
      put(count - 1);
      put(rows.from + begin / rows.count * rows.row_stride + column * rows.stride);
      put(static_cast<std::uint64_t>(static_cast<std::int32_t>(rows.stride) /
                                     static_cast<std::int32_t>(bytes_)));
      put(rows.row_stride - count * rows.stride);
      begin += std::max<std::uint64_t>(whole, 1) * count;
    }
  }

  std::uint32_t workers_, bytes_;
};

}  // namespace

Codelet append_runs(const MachineConfig& machine, std::uint32_t element_bytes) {
  SUPERSTEP_CHECK(element_bytes == 1 || element_bytes == 2, "elements of 1 or 2 bytes");
  WorkerCode code(machine);
  emit(code, element_bytes);
  Codelet codelet = code.finish("append_runs");
  codelet.divide = RunsDivision(machine.tile.workers, element_bytes);
  return codelet;
}

VertexState AppendRuns::State::words() const {
  std::vector<StateWord> words{to, StateWord::number(static_cast<std::int64_t>(commands.size())),
                               StateWord::own(3)};
  for (const Rows& rows : commands) {
    words.push_back(StateWord::number(rows.rows));
    words.push_back(StateWord::number(rows.count));
    words.push_back(rows.from);
    words.push_back(StateWord::number(rows.stride));
    words.push_back(StateWord::number(rows.row_stride));
  }
  return words;
}

Codelet AppendRuns::code(const MachineConfig& machine) const {
  return append_runs(machine, element_bytes);
}

void AppendRuns::interpret(const StateView& state) const {
  std::int64_t to = 0;
  for (std::size_t command = 3; command < state.size(); command += kAppendCommandWords) {
    const auto number = [&](std::size_t i) { return state.number(command + i); };
    for (std::int64_t r = 0; r < number(0); ++r) {
      for (std::int64_t e = 0; e < number(1); ++e, to += element_bytes) {
        std::uint32_t value = 0;
        state.pointer(command + 2).plus(r * number(4) + e * number(3)).read(&value, element_bytes);
        state.pointer(0).plus(to).write(&value, element_bytes);
      }
    }
  }
}

}  // namespace superstep::vertex
