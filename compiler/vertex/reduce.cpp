#include "compiler/vertex/reduce.h"

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

/// What a worker's list has: addresses of outputs and, for narrow ones, how many bits the last word
/// lacks, then commands, then -1. A command is {turns - 1, addresses of inputs, what `count` says,
/// stride in loads (of one operation on floats: negative where columns go one by one), what to add
/// to addresses behind a column, outer rows - 1, what to add behind a row}; additions are bytes for
/// each size of element.
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
  /// With `operation` columns are folded by its instructions, else one element at a time; then
  /// `reads_again` keeps in registers only what changes, and loads the rest for each column.
  Reduction(WorkerCode& code, const Expression& expression, const std::vector<Node>& outputs,
            const std::vector<DType>& dtypes, const std::optional<SingleOperation>& operation,
            bool by_repeat, bool reads_again)
      : code_(code),
        outputs_(outputs),
        dtypes_(dtypes),
        layout_{dtypes, element_dtypes(expression, dtypes)},
        lane_(code, expression, std::vector<Access>(2 * dtypes.size(), Access::kVector), {}),
        operation_(operation),
        by_repeat_(by_repeat),
        reads_again_(reads_again) {}

  void emit() {
    const Label next = code_.label(), done = code_.label();
    list_ = code_.m("ld32", {"$mvertex_base", "$mzero", 0});
    for (const DType dtype : dtypes_) {
      const Reg address = word();
      to_.emplace_back(code_, dtype, address, size_of(dtype) < 4 ? word() : Reg{});
    }
    for (std::size_t i = 0; i < dtypes_.size(); ++i) initial_.push_back(load_initial(i));
    code_.place(next);
    if (operation_) {
      reduce_floats(*operation_, next, done);
    } else if (reads_again_) {
      command_in_place(next, done);
    } else {
      command(next, done);
    }
    code_.place(done);
    for (PackedOutput& to : to_) to.finish();
    code_.exit();
  }

 private:
  Reg word() { return code_.m("ld32step", {"$mzero", step(list_), 1}); }

  void command(Label next, Label done) {
    const Label again = code_.label();
    const Reg turns = word();
    code_.branch("brneg", {turns}, done);
    std::vector<Reg> from, skips, outer_skips;
    for (std::size_t i = 0; i < dtypes_.size(); ++i) from.push_back(word());
    const Reg count = word(), stride = word();
    for (std::size_t i = 0; i < layout_.sizes().size(); ++i) skips.push_back(word());
    const Reg outers = word();
    for (std::size_t i = 0; i < layout_.sizes().size(); ++i) outer_skips.push_back(word());
    const Reg left = code_.fresh(File::kM);
    code_.move(left, turns);
    code_.place(again);
    fold(from, count, stride);
    advance(from, skips);
    code_.branch("brnzdec", {both(left)}, again);
    code_.branch("brz", {outers}, next);
    advance(from, outer_skips);
    code_.emit("add", {def(outers), outers, -1});
    code_.move(left, turns);
    code_.branch("bri", {}, again);
  }

  // The same, of a list whose address stays at the command until it is done.
  void command_in_place(Label next, Label done) {
    const Reg left = load(0);
    code_.branch("brneg", {left}, done);
    const std::vector<Reg> from = load_all(1, dtypes_.size());
    columns(next, left, from, [&] {
      fold(from, load(count_word()), load(count_word() + 1));
      advance(from, load_all(skip_word(), layout_.sizes().size()));
    });
  }

  [[nodiscard]] std::size_t count_word() const { return dtypes_.size() + 1; }
  [[nodiscard]] std::size_t skip_word() const { return count_word() + 2; }
  Reg load(std::size_t word) {
    return code_.m("ld32", {list_, "$mzero", static_cast<std::int64_t>(word)});
  }
  std::vector<Reg> load_all(std::size_t first, std::size_t count) {
    std::vector<Reg> words;
    for (std::size_t i = 0; i < count; ++i) words.push_back(load(first + i));
    return words;
  }

  // Runs `column` for each column of the command at the list's address, `left` of a row after this
  // one; it leaves addresses at the next column. Then the list's address is behind the command.
  template <class Column>
  void columns(Label next, Reg left, const std::vector<Reg>& from, const Column& column) {
    const std::size_t sizes = layout_.sizes().size(), outers_word = skip_word() + sizes;
    const Label again = code_.label(), last = code_.label();
    const Reg outers = load(outers_word);
    code_.place(again);
    column();
    code_.branch("brnzdec", {both(left)}, again);
    code_.branch("brz", {outers}, last);
    advance(from, load_all(outers_word + 1, sizes));
    code_.emit("add", {def(outers), outers, -1});
    code_.emit("ld32", {def(left), list_, "$mzero", 0});
    code_.branch("bri", {}, again);
    code_.place(last);
    code_.emit("add", {def(list_), list_, 4 * static_cast<std::int64_t>(outers_word + 1 + sizes)});
    code_.branch("bri", {}, next);
  }

  // `by`: bytes for each size of element.
  void advance(const std::vector<Reg>& from, const std::vector<Reg>& by) {
    const auto sizes = layout_.sizes();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto at = std::find(sizes.begin(), sizes.end(), bytes_of(layout_.elements[i]));
      code_.emit("add", {def(from[i]), from[i], by[static_cast<std::size_t>(at - sizes.begin())]});
    }
  }

  Reg load_initial(std::size_t i) {
    const Form form = loadable(dtypes_[i], accumulator_form(dtypes_[i]));
    const Reg raw = load_element(code_, dtypes_[i], form, word(), "$mzero", 0);
    return is_short_float(dtypes_[i]) ? widened(code_, dtypes_[i], raw) : raw;
  }

  void reduce_floats(const SingleOperation& operation, Label next, Label done) {
    const Label singles = code_.label();
    const Reg left = load(0);
    code_.branch("brneg", {left}, done);
    const Reg from = load(1), count = load(count_word()), stride = load(count_word() + 1),
              skip = load(skip_word());
    const Reg upper = code_.m("shr", {count, 16});
    const bool is_half = operation.result == DType::kF16;
    const Reg initial = is_half ? code_.a("f32tof16", {initial_[0]}) : initial_[0];
    code_.branch("brneg", {stride}, singles);
    const Reg pair = code_.fresh(File::kPair);
    code_.emit("mov", {low(def(pair)), initial});
    code_.emit("mov", {high(def(pair)), initial});
    columns(next, left, {from}, [&] {
      for (const Reg sum : accumulate(operation, pair, from, count, upper, stride))
        code_.emit("st64step", {sum, "$mzero", step(to_[0].address()), 1});
      advance({from}, {skip});
    });

    code_.place(singles);
    code_.emit("sub", {def(stride), "$mzero", stride});
    columns(next, left, {from}, [&] {
      const Reg sum = accumulate(operation, initial, from, count, upper, stride)[0];
      to_[0].put(is_half ? code_.a("f16tof32", {sum}) : sum);
      advance({from}, {skip});
    });
  }

  // Folds one column into `initial`, or neighbouring ones into pairs of it: the load of the next
  // elements goes with the last operation on these. One slot a load, two where NaNs have to be
  // noticed; more where f16 are summed in f32.
  std::vector<Reg> accumulate(const SingleOperation& operation, Reg initial, Reg from, Reg count,
                              Reg upper, const Arg& stride) {
    const bool in_pairs = initial.file == File::kPair, is_half = operation.result == DType::kF16;
    const std::string_view type = in_pairs ? operation.pair_type() : is_half ? "f16v2" : "f32";
    const Reg x = code_.fresh(initial.file);
    const char* load_one = operation.element == DType::kF16 ? "ldb16step" : "ld32step";
    const Instruction load(in_pairs ? "ld64step" : load_one,
                           {def(x), "$mzero", step(from), stride});
    code_.emit(load);
    std::vector<Instruction> body;
    Reg sizes;  // sums of absolute values: NaN where an element is
    if (operation.drops_nan) {
      const std::string absadd = mnemonic(type, "absadd");
      sizes = code_.fresh(initial.file);
      code_.emit(absadd, {def(sizes), initial, in_pairs ? "$azeros" : "$azero"});
      body.push_back({absadd, {def(sizes), sizes, x}});
    }
    // Widened elements take the same registers one after another.
    std::vector<Arg> widened;
    if (operation.widens())
      widened = in_pairs ? std::vector{low(Arg(x)), high(Arg(x))} : std::vector{Arg(x)};
    const Reg element = operation.widens() ? code_.fresh(initial.file) : x;
    std::vector<Reg> sums;
    std::size_t last_use = 0;  // of what was loaded
    for (std::size_t i = 0; i < std::max<std::size_t>(widened.size(), 1); ++i) {
      last_use = body.size();
      if (operation.widens())
        body.push_back({in_pairs ? "f16v2tof32" : "f16tof32", {def(element), widened[i]}});
      sums.push_back(code_.fresh(initial.file));
      code_.move(sums.back(), initial);
      body.push_back({mnemonic(type, operation.name), {def(sums.back()), sums.back(), element}});
    }
    code_.repeat_long(count, upper, [&] {
      for (std::size_t i = 0; i < body.size(); ++i)
        code_.bundle(i == last_use ? load : idle_main(), body[i]);
    });
    for (const Instruction& instruction : body) code_.emit(instruction);
    if (operation.drops_nan) sums[0] = canonical(operation, type, sums[0], sizes);
    return sums;
  }

  // The sum with the negative zero is the operand, or the canonical NaN where `sizes` is one.
  Reg canonical(const SingleOperation& operation, std::string_view type, Reg sum, Reg sizes) {
    const bool is_half = operation.result == DType::kF16;
    const Reg not_number = code_.fresh(sum.file), marked = code_.fresh(sum.file),
              result = code_.fresh(sum.file);
    const Reg zero = lane_.prologue_constant(File::kA, is_half ? kNegativeZeroF16 : kNegativeZero);
    const Arg zeros = is_half                   ? broadcast(zero, ":BL")
                      : sum.file == File::kPair ? broadcast(zero)
                                                : Arg(zero);
    code_.emit(mnemonic(type, "cmpne"), {def(not_number), sizes, sizes});
    code_.emit(sum.file == File::kPair ? "or64" : "or", {def(marked), sum, not_number});
    code_.emit(mnemonic(type, "add"), {def(result), zeros, marked});
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
  const std::vector<Node>& outputs_;
  const std::vector<DType>& dtypes_;
  ListLayout layout_;
  Lane lane_;
  const std::optional<SingleOperation>& operation_;
  bool by_repeat_, reads_again_;
  Reg list_;
  std::vector<PackedOutput> to_;
  std::vector<Reg> initial_;
};

/// `Codelet::divide` of reductions.
struct ReduceDivision {
  std::uint32_t workers;
  ListLayout layout;
  std::uint32_t neighbours;  ///< columns that may be reduced at a time

  [[nodiscard]] WorkerStates operator()(std::span<const std::uint32_t> state,
                                        std::uint32_t address) const {
    const std::uint32_t reduced = state[1], inner = state[2];
    SUPERSTEP_CHECK(reduced > 0, "a reduction combines something");
    const std::size_t k = layout.dtypes.size();
    const ReducePlan plan =
        plan_reduction(state[0], reduced, inner, neighbours, layout.lanes(), workers);
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
        put(neighbours > 1 ? reduced - 1 : reduced);
        const auto stride = static_cast<std::int64_t>(inner / c.columns_per_turn);
        put(neighbours > 1 && c.columns_per_turn == 1 ? -stride : stride);
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
  std::optional<SingleOperation> operation = single_operation(expression, outputs, dtypes);
  std::optional<Codelet> codelet;
  const auto attempt = [&](bool by_repeat) {
    // What is on the stack is loaded and stored for each use.
    for (const bool reads_again : {false, true}) {
      if (reads_again && operation) break;
      WorkerCode code(machine);
      Reduction(code, expression, outputs, dtypes, operation, by_repeat, reads_again).emit();
      std::optional<Codelet> one = code.try_finish(by_repeat ? "reduce_repeat" : "reduce");
      if (one && (!codelet || one->stack_bytes < codelet->stack_bytes)) codelet = std::move(one);
    }
  };
  if (operation) attempt(true);
  if (!codelet) operation.reset();
  if (!codelet && !expression.has_branches()) attempt(true);
  if (!codelet) attempt(false);
  SUPERSTEP_CHECK(codelet.has_value(), "registers of a reduction");
  codelet->divide = ReduceDivision{machine.tile.workers,
                                   {dtypes, element_dtypes(expression, dtypes)},
                                   operation ? operation->lanes() : 1};
  return *std::move(codelet);
}

}  // namespace superstep::vertex
