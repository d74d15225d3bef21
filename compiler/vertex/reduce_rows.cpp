#include "base/error.h"
#include "compiler/vertex/reduce_operation.h"
#include "compiler/vertex/turns.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

/// A worker's state: {rows - 1, addresses of output, input and initial value, pairs of a row - 1}.
constexpr std::uint32_t kStateWords = 5;
/// What `rpt` counts to, and the pair in front of it.
constexpr std::uint32_t kMostPairs = 65536;

class Rows {
 public:
  Rows(WorkerCode& code, const SingleOperation& operation) : code_(code), operation_(operation) {}

  void emit() {
    const Label again = code_.label(), done = code_.label();
    const Reg turns = state(0);
    code_.branch("brneg", {turns}, done);
    const Reg to = state(1), from = state(2), pairs = state(4);
    const Reg initial = code_.a("ld32", {state(3), "$mzero", 0});
    initial_ = code_.fresh(File::kPair);
    code_.emit("mov", {low(def(initial_)), initial});
    code_.emit("mov", {high(def(initial_)), code_.constant(File::kA, operation_.neutral)});
    Reg zero;
    // The sum with the negative zero is the operand, or the canonical NaN.
    if (operation_.drops_nan) zero = code_.constant(File::kA, kNegativeZero);
    code_.place(again);
    const Reg sums = accumulate(from, pairs);
    Reg sum = code_.a(operation_.one, {low(Arg(sums)), high(Arg(sums))});
    if (operation_.drops_nan) {
      const Reg sizes = code_.a("f32absadd", {low(Arg(sizes_)), high(Arg(sizes_))});
      const Reg not_number = code_.a("f32cmpne", {sizes, sizes});
      sum = code_.a("f32add", {zero, code_.a("or", {sum, not_number})});
    }
    code_.emit("st32step", {sum, "$mzero", step(to), 1});
    code_.branch("brnzdec", {both(turns)}, again);
    code_.place(done);
    code_.exit();
  }

 private:
  Reg state(std::uint32_t word) { return code_.m("ld32", {"$mvertex_base", "$mzero", word}); }

  // The load of the next pair goes with the operation on this one.
  Reg accumulate(Reg from, Reg pairs) {
    const Reg x = code_.fresh(File::kPair), sum = code_.fresh(File::kPair);
    const Instruction load("ld64step", {def(x), "$mzero", step(from), 1});
    code_.emit(load);
    code_.emit("or64", {def(sum), initial_, "$azeros"});
    const Instruction combine(operation_.two, {def(sum), sum, x});
    sizes_ = code_.fresh(File::kPair);
    const Instruction note("f32v2absadd", {def(sizes_), sizes_, x});
    if (operation_.drops_nan) code_.emit("f32v2absadd", {def(sizes_), initial_, "$azeros"});
    code_.begin_repeat(pairs);
    if (operation_.drops_nan) code_.bundle(idle_main(), note);
    code_.bundle(load, combine);
    code_.end_repeat();
    code_.emit(combine);
    if (operation_.drops_nan) code_.emit(note);
    return sum;
  }

  WorkerCode& code_;
  const SingleOperation& operation_;
  Reg initial_;
  Reg sizes_;  ///< sums of absolute values: NaN where an element is
};

WorkerStates divide_rows(std::span<const std::uint32_t> state, std::uint32_t workers) {
  const std::uint32_t rows = state[0], reduced = state[1];
  SUPERSTEP_CHECK(reduced > 0 && reduced % 2 == 0 && reduced / 2 <= kMostPairs && state[2] == 1,
                  "rows of pairs");
  WorkerStates states{kStateWords, {}, 0};
  for (std::uint32_t w = 0; w < workers; ++w) {
    const Turns turns = turns_of(rows, workers, w);
    const auto first = static_cast<std::uint32_t>(turns.first);
    if (turns.count > 0) states.busy = w + 1;
    states.words.insert(states.words.end(),
                        {static_cast<std::uint32_t>(turns.count) - 1, state[4] + 4 * first,
                         state[5] + 4 * first * reduced, state[3], reduced / 2 - 1});
  }
  return states;
}

}  // namespace

bool can_reduce_rows(const Expression& expression, const std::vector<Node>& outputs,
                     const std::vector<DType>& dtypes, std::uint64_t reduced) {
  return reduced > 0 && reduced % 2 == 0 && reduced / 2 <= kMostPairs &&
         single_operation(expression, outputs, dtypes).has_value();
}

Codelet reduce_rows(const MachineConfig& machine, const Expression& expression,
                    const std::vector<Node>& outputs, const std::vector<DType>& dtypes) {
  const auto operation = single_operation(expression, outputs, dtypes);
  SUPERSTEP_CHECK(operation.has_value(), "rows are reduced by one operation");
  WorkerCode code(machine);
  Rows(code, *operation).emit();
  Codelet codelet = code.finish("reduce_rows");
  codelet.divide = [workers = machine.tile.workers](std::span<const std::uint32_t> state,
                                                    std::uint32_t) {
    return divide_rows(state, workers);
  };
  return codelet;
}

}  // namespace superstep::vertex
