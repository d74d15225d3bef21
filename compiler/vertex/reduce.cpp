#include <algorithm>
#include <optional>

#include "base/error.h"
#include "compiler/vertex/lane.h"
#include "compiler/vertex/packed_output.h"
#include "compiler/vertex/reduce_operation.h"
#include "compiler/vertex/reduce_plan.h"

namespace superstep::vertex {
namespace {

std::uint32_t bytes_of(DType dtype) { return static_cast<std::uint32_t>(size_of(dtype)); }
Form accumulator_form(DType dtype) { return is_float(dtype) ? Form::kArith : Form::kMain; }

bool can_repeat(const Expression& expression) {
  const auto& steps = expression.steps();
  return std::none_of(steps.begin(), steps.end(), [](const Expression::Step& step) {
    return step.primitive == Primitive::kRem && is_float(step.dtype);
  });
}

/// What the expression takes as elements.
std::vector<DType> element_dtypes(const Expression& expression, const std::vector<DType>& dtypes) {
  std::vector<DType> elements = dtypes;
  for (const Expression::Step& step : expression.steps()) {
    if (step.primitive == Primitive::kInput && step.bits >= dtypes.size()) {
      elements[step.bits - dtypes.size()] = step.dtype;
    }
  }
  return elements;
}

/// What a worker's list has: addresses of outputs and, for narrow ones, how many bits the last word
/// lacks, then commands, then -1. A command is {turns - 1, addresses of inputs, what `count` says,
/// stride in loads (of one operation on floats: negative without pairs), what to add to addresses
/// behind a column, outer rows - 1, what to add behind a row}; additions are bytes for each size of
/// element.
struct ListLayout {
  std::vector<DType> dtypes;
  std::vector<DType> elements;  ///< as they are stored

  [[nodiscard]] std::vector<std::uint32_t> sizes() const {
    std::vector<std::uint32_t> result;
    for (const DType dtype : elements) {
      if (std::find(result.begin(), result.end(), bytes_of(dtype)) == result.end())
        result.push_back(bytes_of(dtype));
    }
    return result;
  }
  [[nodiscard]] std::uint32_t lanes() const {
    std::uint32_t most = 1;
    for (const DType dtype : dtypes) most = std::max(most, 4 / bytes_of(dtype));
    return most;
  }
};

/// Everything that reductions have in common: the walk over lists and columns.
class Reduction {
 public:
  Reduction(WorkerCode& code, const Expression& expression, const std::vector<Node>& outputs,
            const std::vector<DType>& dtypes, bool by_repeat)
      : code_(code),
        expression_(expression),
        outputs_(outputs),
        dtypes_(dtypes),
        layout_{dtypes, element_dtypes(expression, dtypes)},
        lane_(code, expression, std::vector<Access>(2 * dtypes.size(), Access::kVector), {}),
        by_repeat_(by_repeat) {}

  void emit() {
    const Label next = code_.label(), done = code_.label(), singles = code_.label();
    list_ = code_.m("ld32", {"$mvertex_base", "$mzero", 0});
    for (const DType dtype : dtypes_) {
      const Reg address = word();
      to_.emplace_back(code_, dtype, address, size_of(dtype) < 4 ? word() : Reg{});
    }
    for (std::size_t i = 0; i < dtypes_.size(); ++i) initial_.push_back(load_initial(i));
    const auto operation = single_operation(expression_, outputs_, dtypes_);
    code_.place(next);
    const Reg turns = word();
    code_.branch("brneg", {turns}, done);
    std::vector<Reg> from;
    for (std::size_t i = 0; i < dtypes_.size(); ++i) from.push_back(word());
    const Reg count = word();
    if (operation) {
      reduce_floats(*operation, next, turns, from[0], count, singles);
    } else {
      const Reg stride = word();
      columns(next, turns, from, [&] { fold(from, count, stride); });
    }
    code_.place(done);
    for (PackedOutput& to : to_) to.finish();
    code_.exit();
  }

 private:
  Reg word() { return code_.m("ld32step", {"$mzero", step(list_), 1}); }

  Reg load_initial(std::size_t i) {
    const Form form = loadable(dtypes_[i], accumulator_form(dtypes_[i]));
    const Reg raw = load_element(code_, dtypes_[i], form, word(), "$mzero", 0);
    return dtypes_[i] == DType::kF16 ? code_.a("f16tof32", {raw}) : raw;
  }

  // Runs `column` for each column of a command; it leaves addresses behind its column.
  template <class Column>
  void columns(Label next, Reg turns, const std::vector<Reg>& from, const Column& column) {
    const Label again = code_.label();
    std::vector<Reg> skips, outer_skips;
    for (std::size_t i = 0; i < layout_.sizes().size(); ++i) skips.push_back(word());
    const Reg outers = word();
    for (std::size_t i = 0; i < layout_.sizes().size(); ++i) outer_skips.push_back(word());
    const Reg left = code_.fresh(File::kM);
    code_.move(left, turns);
    code_.place(again);
    column();
    const auto advance = [&](const std::vector<Reg>& by) {
      for (std::size_t i = 0; i < from.size(); ++i) {
        const auto sizes = layout_.sizes();
        const auto at = std::find(sizes.begin(), sizes.end(), bytes_of(layout_.elements[i]));
        code_.emit("add",
                   {def(from[i]), from[i], by[static_cast<std::size_t>(at - sizes.begin())]});
      }
    };
    advance(skips);
    code_.branch("brnzdec", {both(left)}, again);
    code_.branch("brz", {outers}, next);
    advance(outer_skips);
    code_.emit("add", {def(outers), outers, -1});
    code_.move(left, turns);
    code_.branch("bri", {}, again);
  }

  void reduce_floats(const SingleOperation& operation, Label next, Reg turns, Reg from, Reg count,
                     Label singles) {
    code_.begin_prologue();
    // The sum with the negative zero is the operand, or the canonical NaN.
    const Reg zero = operation.drops_nan ? code_.constant(File::kA, kNegativeZero) : Reg{};
    code_.end_prologue();
    const Reg stride = word();
    const Reg upper = code_.m("shr", {count, 16});
    code_.branch("brneg", {stride}, singles);
    const Reg initial_pair = code_.fresh(File::kPair);
    code_.emit("mov", {low(def(initial_pair)), initial_[0]});
    code_.emit("mov", {high(def(initial_pair)), initial_[0]});
    columns(next, turns, {from}, [&] {
      const Reg sum = accumulate(operation, true, initial_pair, from, count, upper, stride);
      code_.emit("st64step", {canonical(sum, true, zero), "$mzero", step(to_[0].address()), 1});
    });

    code_.place(singles);
    const Reg positive = code_.m("sub", {"$mzero", stride});
    columns(next, turns, {from}, [&] {
      const Reg sum = accumulate(operation, false, initial_[0], from, count, upper, positive);
      code_.emit("st32step", {canonical(sum, false, zero), "$mzero", step(to_[0].address()), 1});
    });
  }

  // Folds a column into `initial`: the load of the next element goes with the operation on this
  // one. One slot a load, two where NaNs have to be noticed.
  Reg accumulate(const SingleOperation& operation, bool two, Reg initial, Reg from, Reg count,
                 Reg upper, const Arg& stride) {
    const File file = two ? File::kPair : File::kA;
    const char* name = two ? operation.two : operation.one;
    const char* absadd = two ? "f32v2absadd" : "f32absadd";
    const Reg x = code_.fresh(file), sum = code_.fresh(file);
    const Instruction load(two ? "ld64step" : "ld32step", {def(x), "$mzero", step(from), stride});
    code_.emit(load);
    code_.move(sum, initial);
    sizes_ = code_.fresh(file);
    const Instruction note(absadd, {def(sizes_), sizes_, x});
    if (operation.drops_nan) code_.emit(absadd, {def(sizes_), initial, two ? "$azeros" : "$azero"});
    code_.repeat_long(count, upper, [&] {
      if (operation.drops_nan) code_.bundle(idle_main(), note);
      code_.bundle(load, {name, {def(sum), sum, x}});
    });
    code_.emit(name, {def(sum), sum, x});
    if (operation.drops_nan) code_.emit(note);
    return sum;
  }

  Reg canonical(Reg sum, bool two, Reg zero) {
    if (!zero.valid()) return sum;
    const Reg not_number = code_.fresh(sum.file), marked = code_.fresh(sum.file),
              result = code_.fresh(sum.file);
    code_.emit(two ? "f32v2cmpne" : "f32cmpne", {def(not_number), sizes_, sizes_});
    code_.emit(two ? "or64" : "or", {def(marked), sum, not_number});
    code_.emit(two ? "f32v2add" : "f32add",
               {def(result), two ? broadcast(zero) : Arg(zero), marked});
    return result;
  }

  // Any expression, one element at a time.
  void fold(const std::vector<Reg>& from, Reg count, Reg stride) {
    const std::size_t k = dtypes_.size();
    std::vector<Reg> accumulators;
    for (const Reg initial : initial_) {
      accumulators.push_back(code_.fresh(initial.file));
      code_.move(accumulators.back(), initial);
    }
    if (by_repeat_) {
      code_.repeat_long(count, code_.m("shr", {count, 16}),
                        [&] { fold_element(from, stride, accumulators); });
    } else {
      const Label loop = code_.label();
      const Reg left = code_.m("add", {count, -1});
      code_.place(loop);
      fold_element(from, stride, accumulators);
      code_.branch("brnzdec", {both(left)}, loop);
    }
    for (std::size_t i = 0; i < k; ++i) to_[i].put(accumulators[i]);
  }

  void fold_element(const std::vector<Reg>& from, Reg stride,
                    const std::vector<Reg>& accumulators) {
    const std::size_t k = dtypes_.size();
    lane_.begin({});
    for (std::uint32_t i = 0; i < k; ++i) {
      const DType element = layout_.elements[i];
      const Form form = loadable(element, accumulator_form(element));
      lane_.provide(static_cast<std::uint32_t>(k) + i, form,
                    load_stepping(code_, element, form, from[i], {}, stride));
      lane_.provide(i, accumulator_form(dtypes_[i]), accumulators[i]);
    }
    std::vector<Reg> results;
    for (std::size_t i = 0; i < k; ++i) {
      Reg result = lane_.value(outputs_[i].id, accumulator_form(dtypes_[i]));
      // A result that is another accumulator must outlive the moves below.
      if (k > 1) {
        const Reg copy = code_.fresh(result.file);
        code_.move(copy, result);
        result = copy;
      }
      results.push_back(result);
    }
    for (std::size_t i = 0; i < k; ++i) {
      if (k > 1 || !code_.retarget(results[i], accumulators[i]))
        code_.move(accumulators[i], results[i]);
    }
  }

  WorkerCode& code_;
  const Expression& expression_;
  const std::vector<Node>& outputs_;
  const std::vector<DType>& dtypes_;
  ListLayout layout_;
  Lane lane_;
  bool by_repeat_;
  Reg list_;
  Reg sizes_;  ///< sums of absolute values: NaN where an element is
  std::vector<PackedOutput> to_;
  std::vector<Reg> initial_;
};

/// `Codelet::divide` of reductions.
struct ReduceDivision {
  std::uint32_t workers;
  ListLayout layout;
  bool in_pairs;

  [[nodiscard]] WorkerStates operator()(std::span<const std::uint32_t> state,
                                        std::uint32_t address) const {
    const std::uint32_t reduced = state[1], inner = state[2];
    SUPERSTEP_CHECK(reduced > 0, "a reduction combines something");
    const std::size_t k = layout.dtypes.size();
    const ReducePlan plan =
        plan_reduction(state[0], reduced, inner, in_pairs, layout.lanes(), workers);
    std::vector<std::uint32_t> lists;
    WorkerStates states{1, {}, 0};
    const std::uint32_t begin = worker_states_address(address, state.size()) + 4 * workers;
    for (const ReducePlan::Worker& worker : plan.workers) {
      states.words.push_back(begin + 4 * static_cast<std::uint32_t>(lists.size()));
      if (!worker.commands.empty()) states.busy = static_cast<std::uint32_t>(states.words.size());
      const auto put = [&](auto value) { lists.push_back(static_cast<std::uint32_t>(value)); };
      for (std::size_t i = 0; i < k; ++i) {
        const std::uint32_t size = bytes_of(layout.dtypes[i]);
        put(state[3 + k + i] + worker.first * size);
        if (size < 4) put(PackedOutput::missing_bits(layout.dtypes[i], worker.outputs));
      }
      for (std::size_t i = 0; i < k; ++i) put(state[3 + i]);
      for (const ReduceCommand& c : worker.commands) {
        put(c.turns - 1);
        for (std::size_t i = 0; i < k; ++i)
          put(state[3 + 2 * k + i] + c.element * bytes_of(layout.elements[i]));
        // One operation on floats has a load before the loop.
        put(in_pairs ? reduced - 1 : reduced);
        const auto stride = static_cast<std::int64_t>(c.in_pairs ? inner / 2 : inner);
        put(in_pairs && !c.in_pairs ? -stride : stride);
        for (const std::uint32_t size : layout.sizes()) put(c.skip * size);
        put(c.outers - 1);
        for (const std::uint32_t size : layout.sizes()) put(c.outer_skip * size);
      }
      put(-1);
    }
    states.words.insert(states.words.end(), lists.begin(), lists.end());
    return states;
  }
};

}  // namespace

Codelet reduce(const MachineConfig& machine, const Expression& expression,
               const std::vector<Node>& outputs, const std::vector<DType>& dtypes) {
  SUPERSTEP_CHECK(outputs.size() == dtypes.size() && !outputs.empty(),
                  "an output for each reduced value");
  std::optional<Codelet> codelet;
  for (const bool by_repeat : {true, false}) {
    WorkerCode code(machine);
    if (by_repeat && !can_repeat(expression)) continue;
    Reduction(code, expression, outputs, dtypes, by_repeat).emit();
    codelet = code.try_finish(by_repeat ? "reduce_repeat" : "reduce");
    if (codelet) break;
  }
  SUPERSTEP_CHECK(codelet.has_value(), "registers of a reduction");
  const bool in_pairs = single_operation(expression, outputs, dtypes).has_value();
  codelet->divide =
      ReduceDivision{machine.tile.workers, {dtypes, element_dtypes(expression, dtypes)}, in_pairs};
  return *std::move(codelet);
}

}  // namespace superstep::vertex
