#include <algorithm>

#include "base/error.h"
#include "compiler/vertex/output_block.h"

namespace superstep::vertex {
namespace {

std::uint32_t bytes_of(DType dtype) { return static_cast<std::uint32_t>(size_of(dtype)); }
Form accumulator_form(DType dtype) { return is_float(dtype) ? Form::kArith : Form::kMain; }

class Reduction {
 public:
  Reduction(WorkerCode& code, const Expression& expression, const std::vector<Node>& outputs,
            const std::vector<DType>& dtypes)
      : code_(code),
        expression_(expression),
        outputs_(outputs),
        dtypes_(dtypes),
        lane_(code, expression, std::vector<Access>(2 * dtypes.size(), Access::kVector), {}) {}

  void emit() {
    const std::size_t k = dtypes_.size();
    std::uint32_t lanes = 1;
    for (const DType dtype : dtypes_) lanes = std::max(lanes, 4 / bytes_of(dtype));
    const Label done = code_.label(), loop = code_.label(), same_row = code_.label();
    code_.begin_prologue();
    const Reg outer = state(0), inner = state(2);
    reduced_ = state(1);
    const Reg total = code_.m("mul", {outer, inner});
    code_.branch("brz", {total}, done);
    OutputBlock block(code_, total, lanes, done);
    const Division place = divide_small(code_, block.element(), inner);
    column_ = place.remainder;
    // First element of the current column of the input.
    first_ = code_.m("mul", {code_.m("mul", {place.quotient, inner}), reduced_});
    first_ = code_.m("add", {first_, column_});
    const Reg skip = code_.m("sub", {code_.m("mul", {reduced_, inner}), inner});
    stride_ = inner;
    std::vector<OutputCursor> cursors;
    std::vector<Reg> initial;
    for (std::size_t i = 0; i < k; ++i) {
      cursors.emplace_back(code_, dtypes_[i], state(3 + k + i), block);
      from_.push_back(state(3 + 2 * k + i));
      initial.push_back(load_initial(i));
      accumulators_.push_back(code_.fresh(code_.file(initial[i])));
    }
    code_.end_prologue();

    code_.place(loop);
    for (std::size_t i = 0; i < k; ++i) code_.move(accumulators_[i], initial[i]);
    if (const char* operation = single_operation()) {
      fold_in_pairs(operation);
    } else {
      fold();
    }
    for (std::size_t i = 0; i < k; ++i) cursors[i].put(storable(i), block);
    code_.emit("add", {def(first_), first_, 1});
    code_.emit("add", {def(column_), column_, 1});
    code_.branch("brnz", {code_.m("cmpult", {column_, inner})}, same_row);
    code_.set_constant(column_, 0);
    code_.emit("add", {def(first_), first_, skip});
    code_.place(same_row);
    block.next(loop);
    code_.place(done);
    code_.exit();
  }

 private:
  Reg state(std::size_t word) {
    return code_.m("ld32", {"$mvertex_base", "$mzero", static_cast<std::uint32_t>(word)});
  }

  Reg load_initial(std::size_t i) {
    const Form form = accumulator_form(dtypes_[i]);
    const Reg raw =
        load_element(code_, dtypes_[i], loadable(dtypes_[i], form), state(3 + i), "$mzero", 0);
    return dtypes_[i] == DType::kF16 ? code_.a("f16tof32", {raw}) : raw;
  }

  Reg storable(std::size_t i) {
    return dtypes_[i] == DType::kF16 ? code_.to_m(code_.a("f32tof16", {accumulators_[i]}))
                                     : accumulators_[i];
  }

  // The instruction for `accumulator op element` of f32, if that is all.
  [[nodiscard]] const char* single_operation() const {
    if (dtypes_.size() != 1 || dtypes_[0] != DType::kF32) return nullptr;
    const Expression::Step& step = expression_.steps()[outputs_[0].id];
    if (step.operands.size() != 2) return nullptr;
    const Expression::Step& x = expression_.steps()[step.operands[0]];
    const Expression::Step& y = expression_.steps()[step.operands[1]];
    if (x.primitive != Primitive::kInput || y.primitive != Primitive::kInput || x.bits == y.bits)
      return nullptr;
    switch (step.primitive) {
      case Primitive::kAdd:
        return "f32add";
      case Primitive::kMul:
        return "f32mul";
      case Primitive::kMax:
        return "f32max";
      case Primitive::kMin:
        return "f32min";
      default:
        return nullptr;
    }
  }

  // The load of the next element goes with the operation on this one: one slot an element, three
  // where NaNs have to be noticed.
  void fold_in_pairs(const char* operation) {
    const Reg accumulator = accumulators_[0];
    const bool drops_nan =
        std::string_view(operation) == "f32max" || std::string_view(operation) == "f32min";
    const Label none = code_.label(), last = code_.label();
    const Reg ordered = code_.fresh(File::kA), is_number = code_.fresh(File::kA);
    if (drops_nan) code_.emit("f32cmpeq", {def(ordered), accumulator, accumulator});
    code_.branch("brz", {reduced_}, none);
    const Reg delta = code_.m("shl", {first_, 2});
    const Reg element = code_.fresh(File::kA);
    code_.emit("ld32step", {def(element), from_[0], step(delta), stride_});
    const Reg count = code_.m("add", {reduced_, -1});
    code_.branch("brz", {count}, last);
    repeat(code_, count, [&] {
      if (drops_nan) {
        code_.bundle({"nop", {}}, {"f32cmpeq", {def(is_number), element, element}});
        code_.bundle({"nop", {}}, {"and", {def(ordered), ordered, is_number}});
      }
      code_.bundle({"ld32step", {def(element), from_[0], step(delta), stride_}},
                   {operation, {def(accumulator), accumulator, element}});
    });
    code_.place(last);
    code_.emit(operation, {def(accumulator), accumulator, element});
    if (drops_nan) {
      code_.emit("f32cmpeq", {def(is_number), element, element});
      code_.emit("and", {def(ordered), ordered, is_number});
    }
    code_.place(none);
    if (!drops_nan) return;
    const Reg nan = code_.constant(File::kA, 0x7fc00000);
    const Reg number = code_.a("and", {accumulator, ordered});
    code_.emit("or", {def(accumulator), number, code_.a("andc", {nan, ordered})});
  }

  void fold() {
    const std::size_t k = dtypes_.size();
    const Label loop = code_.label(), none = code_.label();
    code_.branch("brz", {reduced_}, none);
    const Reg count = code_.m("add", {reduced_, -1});
    Reg deltas[5], strides[5];
    for (const DType dtype : dtypes_) {
      const std::uint32_t size = bytes_of(dtype);
      if (deltas[size].valid()) continue;
      deltas[size] = code_.m("mul", {first_, size});
      code_.begin_prologue();
      strides[size] = code_.m("mul", {stride_, size});
      code_.end_prologue();
    }
    code_.place(loop);
    lane_.begin([&](std::uint32_t input, Form form) {
      const DType dtype = dtypes_[input - k];
      return load_element(code_, dtype, form, from_[input - k], deltas[size_of(dtype)], 0);
    });
    for (std::uint32_t i = 0; i < k; ++i)
      lane_.provide(i, accumulator_form(dtypes_[i]), accumulators_[i]);
    std::vector<Reg> results;
    for (std::size_t i = 0; i < k; ++i) {
      Reg result = lane_.value(outputs_[i].id, accumulator_form(dtypes_[i]));
      // A result that is another accumulator must outlive the moves below.
      if (k > 1) {
        const Reg copy = code_.fresh(code_.file(result));
        code_.move(copy, result);
        result = copy;
      }
      results.push_back(result);
    }
    for (std::size_t i = 0; i < k; ++i) code_.move(accumulators_[i], results[i]);
    for (const std::uint32_t size : {1U, 2U, 4U}) {
      if (deltas[size].valid()) code_.emit("add", {def(deltas[size]), deltas[size], strides[size]});
    }
    code_.branch("brnzdec", {both(count)}, loop);
    code_.place(none);
  }

  WorkerCode& code_;
  const Expression& expression_;
  const std::vector<Node>& outputs_;
  const std::vector<DType>& dtypes_;
  Lane lane_;
  std::vector<Reg> from_, accumulators_;
  Reg reduced_, column_, first_, stride_;
};

}  // namespace

Codelet reduce(const MachineConfig& machine, const Expression& expression,
               const std::vector<Node>& outputs, const std::vector<DType>& dtypes) {
  SUPERSTEP_CHECK(outputs.size() == dtypes.size() && !outputs.empty(),
                  "an output for each reduced value");
  WorkerCode code(machine);
  Reduction(code, expression, outputs, dtypes).emit();
  return code.finish("reduce");
}

}  // namespace superstep::vertex
