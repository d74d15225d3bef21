#include "base/error.h"
#include "compiler/vertex/output_block.h"

namespace superstep::vertex {
namespace {

class Matmul {
 public:
  Matmul(WorkerCode& code, DType operands, DType result)
      : code_(code), operands_(operands), result_(result) {}

  void emit() {
    const auto size = static_cast<std::uint32_t>(size_of(operands_));
    const Label done = code_.label(), loop = code_.label(), same_row = code_.label(),
                from_zero = code_.label();
    const Reg rows = state(0), columns = state(1), depth = state(2);
    const Reg total = code_.m("mul", {rows, columns});
    code_.branch("brz", {total}, done);
    OutputBlock block(code_, total, 4 / static_cast<std::uint32_t>(size_of(result_)), done);
    const Division place = divide_small(code_, block.element(), columns);
    const Reg row_bytes = code_.m("mul", {depth, size});
    Reg column = place.remainder;
    const Reg first_column = state(4), out = state(5);
    Reg a_row = code_.m("add", {state(3), code_.m("mul", {place.quotient, row_bytes})});
    Reg b_row = code_.m("add", {first_column, code_.m("mul", {column, row_bytes})});
    OutputCursor cursor(code_, result_, out, block);
    accumulator_ = code_.fresh(is_float(operands_) ? File::kA : File::kM);

    code_.place(loop);
    code_.set_constant(accumulator_, 0);
    code_.branch("brz", {state(6)}, from_zero);
    load_old(out, block);
    code_.place(from_zero);
    if (operands_ == DType::kF32) {
      multiply_f32(a_row, b_row, depth);
    } else if (operands_ == DType::kF16) {
      multiply_f16(a_row, b_row, depth);
    } else {
      multiply_integers(a_row, b_row, depth);
    }
    cursor.put(
        result_ == DType::kF16 ? code_.to_m(code_.a("f32tof16", {accumulator_})) : accumulator_,
        block);
    code_.emit("add", {def(b_row), b_row, row_bytes});
    code_.emit("add", {def(column), column, 1});
    code_.branch("brnz", {code_.m("cmpult", {column, columns})}, same_row);
    code_.set_constant(column, 0);
    code_.move(b_row, first_column);
    code_.emit("add", {def(a_row), a_row, row_bytes});
    code_.place(same_row);
    block.next(loop);
    code_.place(done);
    code_.exit();
  }

 private:
  Reg state(std::uint32_t word) { return code_.m("ld32", {"$mvertex_base", "$mzero", word}); }

  void load_old(Reg out, const OutputBlock& block) {
    const Form form = loadable(result_, is_float(result_) ? Form::kArith : Form::kMain);
    const Reg old = load_element(code_, result_, form, out, "$mzero", block.element());
    if (result_ == DType::kF16) {
      code_.emit("f16tof32", {def(accumulator_), old});
    } else {
      code_.move(accumulator_, old);
    }
  }

  // Loads of the next pair go with the arithmetic of this one.
  void multiply_f32(Reg a_row, Reg b_row, Reg depth) {
    const Label none = code_.label(), last = code_.label();
    const Reg a_delta = code_.constant(File::kM, 0), b_delta = code_.constant(File::kM, 0);
    const Reg a = code_.fresh(File::kA), b = code_.fresh(File::kA), product = code_.fresh(File::kA);
    code_.branch("brz", {depth}, none);
    code_.emit("ld32step", {def(a), a_row, step(a_delta), 1});
    code_.emit("ld32step", {def(b), b_row, step(b_delta), 1});
    const Reg count = code_.m("add", {depth, -1});
    code_.branch("brz", {count}, last);
    repeat(code_, count, [&] {
      code_.bundle({"ld32step", {def(a), a_row, step(a_delta), 1}},
                   {"f32mul", {def(product), a, b}});
      code_.bundle({"ld32step", {def(b), b_row, step(b_delta), 1}},
                   {"f32add", {def(accumulator_), accumulator_, product}});
    });
    code_.place(last);
    code_.emit("f32mul", {def(product), a, b});
    code_.emit("f32add", {def(accumulator_), accumulator_, product});
    code_.place(none);
  }

  void multiply_f16(Reg a_row, Reg b_row, Reg depth) {
    const Label none = code_.label();
    const Reg a_delta = code_.constant(File::kM, 0), b_delta = code_.constant(File::kM, 0);
    const Reg a = code_.fresh(File::kA), b = code_.fresh(File::kA), product = code_.fresh(File::kA);
    const Reg a_half = code_.fresh(File::kA), b_half = code_.fresh(File::kA);
    code_.branch("brz", {depth}, none);
    const Reg count = code_.m("add", {depth, 0});
    repeat(code_, count, [&] {
      code_.bundle({"ldb16step", {def(a_half), a_row, step(a_delta), 1}}, idle_aux());
      code_.bundle({"ldb16step", {def(b_half), b_row, step(b_delta), 1}},
                   {"f16tof32", {def(a), a_half}});
      code_.bundle({"nop", {}}, {"f16tof32", {def(b), b_half}});
      code_.bundle({"nop", {}}, {"f32mul", {def(product), a, b}});
      code_.bundle({"nop", {}}, {"f32add", {def(accumulator_), accumulator_, product}});
    });
    code_.place(none);
  }

  // Products and sums are right modulo 2^32, so also modulo the width of a narrower result.
  void multiply_integers(Reg a_row, Reg b_row, Reg depth) {
    const Label none = code_.label(), loop = code_.label();
    const Reg index = code_.constant(File::kM, 0);
    code_.branch("brz", {depth}, none);
    const Reg count = code_.m("add", {depth, -1});
    code_.place(loop);
    const Reg a = load_element(code_, operands_, Form::kMain, a_row, "$mzero", index);
    const Reg b = load_element(code_, operands_, Form::kMain, b_row, "$mzero", index);
    code_.emit("add", {def(accumulator_), accumulator_, code_.m("mul", {a, b})});
    code_.emit("add", {def(index), index, 1});
    code_.branch("brnzdec", {both(count)}, loop);
    code_.place(none);
  }

  WorkerCode& code_;
  DType operands_, result_;
  Reg accumulator_;
};

}  // namespace

Codelet matmul(const MachineConfig& machine, DType operands, DType result) {
  SUPERSTEP_CHECK(
      operands != DType::kI1 && result != DType::kI1 && is_float(operands) == is_float(result),
      "a product of floats is a float, of integers an integer");
  WorkerCode code(machine);
  Matmul(code, operands, result).emit();
  return code.finish("matmul");
}

}  // namespace superstep::vertex
