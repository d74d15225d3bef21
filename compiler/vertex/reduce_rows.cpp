#include <algorithm>

#include "base/error.h"
#include "compiler/vertex/lane.h"
#include "compiler/vertex/packed_output.h"
#include "compiler/vertex/reduce_operation.h"
#include "compiler/vertex/turns.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

/// A worker's state: {rows - 1, addresses of output, input and initial value, pairs of a row - 1},
/// and for an output narrower than a word how many bits the last one lacks.
constexpr std::uint32_t kStateWords = 5;
/// What `rpt` counts to, and the pair in front of it.
constexpr std::uint32_t kMostPairs = 65536;

class Rows {
 public:
  Rows(WorkerCode& code, const SingleOperation& operation, bool is_odd)
      : code_(code), operation_(operation), is_odd_(is_odd) {}

  void emit() {
    const Label again = code_.label(), done = code_.label();
    const Reg turns = state(0);
    code_.branch("brneg", {turns}, done);
    const Reg to = state(1), from = state(2), pairs = state(4);
    PackedOutput output(code_, operation_.result, to, is_half() ? state(5) : Reg{});
    load_initial();
    // The sum with the negative zero is the operand, or the canonical NaN.
    const Reg zero = operation_.drops_nan ? code_.constant(File::kA, kNegativeZero) : Reg{};
    code_.place(again);
    Reg result = combined(operation_.name, accumulate(from, pairs));
    if (operation_.drops_nan) {
      const Reg sizes = combined("absadd", sizes_);
      const Reg not_number = code_.a("f32cmpne", {sizes, sizes});
      result = code_.a("f32add", {zero, code_.a("or", {result, not_number})});
    }
    output.put(result);
    code_.branch("brnzdec", {both(turns)}, again);
    output.finish();
    code_.place(done);
    code_.exit();
  }

 private:
  Reg state(std::uint32_t word) { return code_.m("ld32", {"$mvertex_base", "$mzero", word}); }
  [[nodiscard]] bool is_half() const { return operation_.result == DType::kF16; }

  // The initial value and then neutral ones.
  void load_initial() {
    const Form form = is_half() ? Form::kHalf : Form::kArith;
    const Reg initial = load_element(code_, operation_.result, form, state(3), "$mzero", 0);
    const std::uint32_t neutral = operation_.neutral;
    initial_ = code_.fresh(File::kPair);
    if (is_half()) {
      const Reg others = code_.constant(File::kA, neutral | neutral << 16);
      code_.emit("sort4x16lo", {low(def(initial_)), initial, others});
      code_.emit("mov", {high(def(initial_)), others});
    } else {
      code_.emit("mov", {low(def(initial_)), initial});
      code_.emit("mov", {high(def(initial_)), code_.constant(File::kA, neutral)});
    }
  }

  // The load of the next pair goes with the operation on this one.
  Reg accumulate(Reg from, Reg pairs) {
    const std::string_view type = operation_.pair_type();
    const Reg x = code_.fresh(File::kPair), sum = code_.fresh(File::kPair);
    const Instruction load("ld64step", {def(x), "$mzero", step(from), 1});
    code_.emit(load);
    code_.move(sum, initial_);
    std::vector<Instruction> body;
    if (operation_.drops_nan) {
      const std::string absadd = mnemonic(type, "absadd");
      sizes_ = code_.fresh(File::kPair);
      code_.emit(absadd, {def(sizes_), initial_, "$azeros"});
      body.push_back({absadd, {def(sizes_), sizes_, x}});
    }
    Reg element = x;
    if (operation_.widens()) {
      element = code_.fresh(File::kPair);
      body.push_back({"f16v4sum", {def(element), x}});
    }
    const std::size_t last_use = operation_.widens() ? 0 : body.size();
    body.push_back({mnemonic(type, operation_.name), {def(sum), sum, element}});
    code_.begin_repeat(pairs);
    for (std::size_t i = 0; i < body.size(); ++i)
      code_.bundle(i == last_use ? load : idle_main(), body[i]);
    code_.end_repeat();
    for (const Instruction& instruction : body) code_.emit(instruction);
    if (is_odd_) append_single(from, sum);
    return sum;
  }

  // The last element goes with those of its lane.
  void append_single(Reg from, Reg sum) {
    const Reg last = code_.fresh(File::kA);
    code_.emit("ld32step", {def(last), "$mzero", step(from), 1});
    if (operation_.drops_nan) code_.emit("f32absadd", {low(def(sizes_)), low(Arg(sizes_)), last});
    code_.emit(mnemonic("f32", operation_.name), {low(def(sum)), low(Arg(sum)), last});
  }

  // `operation` on what is in a pair, as an f32.
  Reg combined(std::string_view operation, Reg pair) {
    if (is_half()) {
      const Reg halves = code_.a(mnemonic("f16v2", operation), {low(Arg(pair)), high(Arg(pair))});
      pair = code_.fresh(File::kPair);
      code_.emit("f16v2tof32", {def(pair), halves});
    }
    return code_.a(mnemonic("f32", operation), {low(Arg(pair)), high(Arg(pair))});
  }

  WorkerCode& code_;
  const SingleOperation& operation_;
  bool is_odd_;
  Reg initial_;
  Reg sizes_;  ///< sums of absolute values: NaN where an element is
};

struct RowDivision {
  std::uint32_t workers, lanes;
  DType element, result;
  bool is_odd;

  [[nodiscard]] WorkerStates operator()(std::span<const std::uint32_t> state) const {
    const std::uint32_t rows = state[0], reduced = state[1];
    SUPERSTEP_CHECK(reduced >= lanes && reduced / lanes <= kMostPairs && state[2] == 1 &&
                        (is_odd ? rows == 1 && reduced % lanes == 1 : reduced % lanes == 0),
                    "rows of pairs");
    const auto size = static_cast<std::uint32_t>(size_of(result));
    const std::uint32_t unit = 4 / size;  // results of a word
    WorkerStates states{unit > 1 ? kStateWords + 1 : kStateWords, {}, 0};
    for (std::uint32_t w = 0; w < workers; ++w) {
      const Turns turns = turns_of((rows + unit - 1) / unit, workers, w);
      const std::uint32_t first = std::min(static_cast<std::uint32_t>(turns.first) * unit, rows);
      const std::uint32_t count =
          std::min(static_cast<std::uint32_t>(turns.count) * unit, rows - first);
      if (count > 0) states.busy = w + 1;
      const auto element_bytes = static_cast<std::uint32_t>(size_of(element));
      states.words.insert(states.words.end(), {count - 1, state[4] + size * first,
                                               state[5] + element_bytes * first * reduced, state[3],
                                               reduced / lanes - 1});
      if (unit > 1) states.words.push_back(PackedOutput::missing_bits(result, count));
    }
    return states;
  }
};

}  // namespace

std::uint32_t row_lanes(const Expression& expression, const std::vector<Node>& outputs,
                        const std::vector<DType>& dtypes) {
  const auto operation = single_operation(expression, outputs, dtypes);
  return operation ? operation->lanes() : 0;
}

ReduceBy reduce_by(const Expression& expression, const std::vector<Node>& outputs,
                   const std::vector<DType>& dtypes, std::uint64_t rows, std::uint64_t reduced) {
  const std::uint32_t lanes = row_lanes(expression, outputs, dtypes);
  if (lanes == 0 || reduced < lanes || reduced / lanes > kMostPairs) return ReduceBy::kColumns;
  if (reduced % lanes == 0) return ReduceBy::kRows;
  return lanes == 2 && rows == 1 ? ReduceBy::kOddRow : ReduceBy::kColumns;
}

Codelet reduce_rows(const MachineConfig& machine, const Expression& expression,
                    const std::vector<Node>& outputs, const std::vector<DType>& dtypes,
                    bool is_odd) {
  const auto operation = single_operation(expression, outputs, dtypes);
  SUPERSTEP_CHECK(operation.has_value(), "rows are reduced by one operation");
  WorkerCode code(machine);
  Rows(code, *operation, is_odd).emit();
  Codelet codelet = code.finish(is_odd ? "reduce_odd_row" : "reduce_rows");
  codelet.divide = [division = RowDivision{machine.tile.workers, operation->lanes(),
                                           operation->element, operation->result, is_odd}](
                       std::span<const std::uint32_t> state, std::uint32_t) {
    return division(state);
  };
  return codelet;
}

}  // namespace superstep::vertex
