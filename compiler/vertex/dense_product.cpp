#include "compiler/vertex/dense_product.h"

#include "base/error.h"
#include "compiler/vertex/interpret.h"
#include "compiler/vertex/lane.h"
#include "compiler/vertex/packed_output.h"
#include "compiler/vertex/turns.h"

namespace superstep::vertex {
namespace {

/// Words of a worker's state.
enum State : std::uint32_t {
  kMoreOutputs,  ///< -1 for a worker without outputs
  kRow,          ///< addresses
  kColumn,
  kOutput,
  kMoreInRow,  ///< outputs of the first row of A behind the first
  kFirstColumn,
  kMoreColumns,  ///< columns - 1
  kMoreDepth,    ///< depth - 1
  kMissing,      ///< of PackedOutput, for narrow results
  kStateWords,
};

class DenseProductCode {
 public:
  DenseProductCode(WorkerCode& code, DType operands, DType result)
      : code_(code), operands_(operands), result_(result) {}

  void emit() {
    const Label done = code_.label(), loop = code_.label(), same_row = code_.label();
    const Reg more = state(kMoreOutputs);
    PackedOutput out(code_, result_, state(kOutput),
                     size_of(result_) < 4 ? state(kMissing) : Reg{});
    code_.branch("brneg", {more}, done);
    const Reg row = state(kRow), column = state(kColumn), in_row = state(kMoreInRow);
    const Reg more_depth = state(kMoreDepth);
    const Reg upper = is_float(operands_) ? code_.m("shr", {more_depth, 16}) : Reg{};
    sum_ = code_.fresh(is_float(operands_) ? File::kA : File::kM);

    code_.place(loop);
    const Reg from = code_.fresh(File::kM);
    code_.move(from, row);
    code_.set_constant(sum_, 0);
    if (operands_ == DType::kF32) {
      multiply_f32(from, column, more_depth, upper);
    } else if (operands_ == DType::kF16) {
      multiply_f16(from, column, more_depth, upper);
    } else {
      multiply_integers(from, column, more_depth);
    }
    out.put(sum_);
    code_.branch("brnzdec", {both(in_row)}, same_row);
    code_.move(row, from);
    reload(column, kFirstColumn);
    reload(in_row, kMoreColumns);
    code_.place(same_row);
    code_.branch("brnzdec", {both(more)}, loop);
    code_.place(done);
    out.finish();
    code_.exit();
  }

 private:
  Reg state(std::uint32_t word) { return code_.m("ld32", {"$mvertex_base", "$mzero", word}); }
  void reload(Reg reg, std::uint32_t word) {
    code_.emit("ld32", {def(reg), "$mvertex_base", "$mzero", word});
  }

  // Loads of the next pair go with the arithmetic of this one.
  void multiply_f32(Reg row, Reg column, Reg more_depth, Reg upper) {
    const Reg a = code_.fresh(File::kA), b = code_.fresh(File::kA), product = code_.fresh(File::kA);
    const Instruction load_a("ld32step", {def(a), "$mzero", step(row), 1});
    const Instruction load_b("ld32step", {def(b), "$mzero", step(column), 1});
    const Instruction multiply("f32mul", {def(product), a, b});
    const Instruction add("f32add", {def(sum_), sum_, product});
    code_.emit(load_a);
    code_.emit(load_b);
    code_.repeat_long(more_depth, upper, [&] {
      code_.bundle(load_a, multiply);
      code_.bundle(load_b, add);
    });
    code_.emit(multiply);
    code_.emit(add);
  }

  void multiply_f16(Reg row, Reg column, Reg more_depth, Reg upper) {
    const Reg a = code_.fresh(File::kA), b = code_.fresh(File::kA), product = code_.fresh(File::kA);
    const Reg a_half = code_.fresh(File::kA), b_half = code_.fresh(File::kA);
    const Instruction load_a("ldb16step", {def(a_half), "$mzero", step(row), 1});
    const Instruction load_b("ldb16step", {def(b_half), "$mzero", step(column), 1});
    const Instruction widen_a("f16tof32", {def(a), a_half});
    const Instruction widen_b("f16tof32", {def(b), b_half});
    const Instruction multiply("f32mul", {def(product), a, b});
    const Instruction add("f32add", {def(sum_), sum_, product});
    code_.emit(load_a);
    code_.emit(load_b);
    code_.repeat_long(more_depth, upper, [&] {
      code_.bundle(load_a, widen_a);
      code_.bundle(load_b, widen_b);
      code_.bundle(idle_main(), multiply);
      code_.bundle(idle_main(), add);
    });
    for (const Instruction& i : {widen_a, widen_b, multiply, add}) code_.emit(i);
  }

  // Products and sums are right modulo 2^32, so also modulo the width of a narrower result.
  void multiply_integers(Reg row, Reg column, Reg more_depth) {
    const Label loop = code_.label();
    const Reg left = code_.fresh(File::kM);
    code_.move(left, more_depth);
    code_.place(loop);
    const Reg a = load_stepping(code_, operands_, Form::kMain, row);
    const Reg b = load_stepping(code_, operands_, Form::kMain, column);
    code_.emit("add", {def(sum_), sum_, code_.m("mul", {a, b})});
    code_.branch("brnzdec", {both(left)}, loop);
  }

  WorkerCode& code_;
  DType operands_, result_;
  Reg sum_;
};

/// `Codelet::divide` of dense products.
struct DenseProductDivision {
  std::uint32_t workers;
  DType operands, result;

  [[nodiscard]] WorkerStates operator()(std::span<const std::uint32_t> state, std::uint32_t) const {
    const std::uint32_t rows = state[0], columns = state[1], depth = state[2];
    SUPERSTEP_CHECK(depth > 0, "a product adds something");
    const std::uint64_t outputs = std::uint64_t{rows} * columns;
    const std::uint64_t lanes = 4 / size_of(result);
    const auto row_bytes = depth * static_cast<std::uint32_t>(size_of(operands));
    WorkerStates states{kStateWords, std::vector<std::uint32_t>(kStateWords * workers), 0};
    for (std::uint32_t w = 0; w < workers; ++w) {
      const Turns words = turns_of((outputs + lanes - 1) / lanes, workers, w);
      const std::uint64_t first = words.first * lanes;
      const std::uint64_t count = std::min(words.count * lanes, outputs - std::min(first, outputs));
      const auto put = [&](State word, std::uint64_t value) {
        states.words[w * kStateWords + word] = static_cast<std::uint32_t>(value);
      };
      put(kMoreOutputs, count - 1);
      if (count == 0) continue;
      states.busy = w + 1;
      put(kRow, state[3] + first / columns * row_bytes);
      put(kColumn, state[4] + first % columns * row_bytes);
      put(kOutput, state[5] + first * size_of(result));
      put(kMoreInRow, columns - 1 - first % columns);
      put(kFirstColumn, state[4]);
      put(kMoreColumns, columns - 1);
      put(kMoreDepth, depth - 1);
      put(kMissing, PackedOutput::missing_bits(result, count));
    }
    return states;
  }
};

}  // namespace

Codelet dense_product(const MachineConfig& machine, DType operands, DType result) {
  SUPERSTEP_CHECK(
      operands != DType::kI1 && result != DType::kI1 && is_float(operands) == is_float(result),
      "a product of floats is a float, of integers an integer");
  WorkerCode code(machine);
  DenseProductCode(code, operands, result).emit();
  Codelet codelet = code.finish("dense_product");
  codelet.divide = DenseProductDivision{machine.tile.workers, operands, result};
  return codelet;
}

std::int64_t dense_product_slots(DType operands, std::int64_t outputs, std::int64_t depth) {
  // Two loads for each product, which go with the arithmetic of floats; f16 is widened besides.
  const std::int64_t a_product = !is_float(operands) ? 5 : operands == DType::kF16 ? 4 : 2;
  // To begin and end an output; of floats also the product behind the last loads.
  const std::int64_t an_output = is_float(operands) ? 8 : 6;
  return outputs * (a_product * depth + an_output);
}

void DenseProduct::interpret(const StateView& state) const {
  const std::int64_t rows = state.number(0), columns = state.number(1), depth = state.number(2);
  const DType sum = is_float(input) ? DType::kF32 : output;
  Expression expression;
  const Node a = expression.convert(expression.input(0, input), sum);
  const Node b = expression.convert(expression.input(1, input), sum);
  const Node product = expression.apply(Primitive::kMul, {a, b});
  const Node next = expression.apply(Primitive::kAdd, {expression.input(2, sum), product});
  Expression last;
  const Node result = last.convert(last.input(0, sum), output);
  const auto size = static_cast<std::int64_t>(size_of(input));
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t n = 0; n < columns; ++n) {
      HostTensor total(TensorType{sum, {}});
      for (std::int64_t d = 0; d < depth; ++d) {
        const std::vector<HostTensor> inputs{
            state.pointer(3).plus((m * depth + d) * size).element(input),
            state.pointer(4).plus((n * depth + d) * size).element(input), total};
        total = evaluate_expression(expression, next, inputs);
      }
      const std::vector<HostTensor> inputs{total};
      const HostTensor value = evaluate_expression(last, result, inputs);
      state.pointer(5)
          .plus((m * columns + n) * static_cast<std::int64_t>(value.data.size()))
          .write(value.data.data(), value.data.size());
    }
  }
}

}  // namespace superstep::vertex
