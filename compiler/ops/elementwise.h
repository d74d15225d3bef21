#pragma once

#include <complex>
#include <span>
#include <vector>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "compiler/ops/verify.h"

namespace superstep {

/// The common shape of operands of which those of rank 0 count for every element. `infer` of most
/// ops allows no mixture; `reduce` evaluates its region with one.
[[nodiscard]] Shape common_shape(std::span<const HostTensor> operands);

/// Number of the element of `operand` that belongs to element `element` of the result.
[[nodiscard]] inline std::size_t element_of(const HostTensor& operand, std::size_t element) {
  return operand.type.shape.empty() ? 0 : element;
}

/// A result of `dtype` whose elements are `compute(i)`, stored by `write`.
template <class Write, class Compute>
std::vector<HostTensor> map_elements(std::span<const HostTensor> operands, DType dtype, Write write,
                                     Compute compute) {
  HostTensor result(TensorType{dtype, common_shape(operands)});
  const auto elements = static_cast<std::size_t>(result.type.elements());
  for (std::size_t i = 0; i < elements; ++i) write(result, i, compute(i));
  return {std::move(result)};
}

/// Infers an op whose operands and result have one type.
std::vector<TensorType> infer_same_type(const Op& op, std::span<const TensorType> operands);

using Complex = std::complex<double>;

/// Reference of an op on one float, computed in double and rounded once; or on a complex number.
template <double (*kFunction)(double), Complex (*kOfComplex)(Complex) = nullptr>
std::vector<HostTensor> evaluate_float(const Op&, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  if constexpr (kOfComplex != nullptr) {
    if (is_complex(x.type.dtype)) {
      return map_elements(operands, x.type.dtype, write_complex, [&](std::size_t i) {
        return kOfComplex(read_complex(x, element_of(x, i)));
      });
    }
  }
  return map_elements(operands, x.type.dtype, write_float,
                      [&](std::size_t i) { return kFunction(read_float(x, element_of(x, i))); });
}

/// Reference of an op on two numbers: floats in double, rounded once; integers in 64 bits, wrapped.
template <double (*kFloat)(double, double),
          std::int64_t (*kInteger)(DType, std::int64_t, std::int64_t),
          Complex (*kOfComplex)(Complex, Complex) = nullptr>
std::vector<HostTensor> evaluate_binary(const Op&, std::span<const HostTensor> operands) {
  const HostTensor& a = operands[0];
  const HostTensor& b = operands[1];
  const DType dtype = a.type.dtype;
  if constexpr (kOfComplex != nullptr) {
    if (is_complex(dtype)) {
      return map_elements(operands, dtype, write_complex, [&](std::size_t i) {
        return kOfComplex(read_complex(a, element_of(a, i)), read_complex(b, element_of(b, i)));
      });
    }
  }
  if (is_float(dtype)) {
    return map_elements(operands, dtype, write_float, [&](std::size_t i) {
      return kFloat(read_float(a, element_of(a, i)), read_float(b, element_of(b, i)));
    });
  }
  return map_elements(operands, dtype, write_int, [&](std::size_t i) {
    return kInteger(dtype, read_int(a, element_of(a, i)), read_int(b, element_of(b, i)));
  });
}

/// Lowers to one primitive of the operands' dtype.
template <vertex::Primitive kPrimitive>
std::vector<vertex::Node> emit_primitive(const Op&, const Graph&, vertex::Expression& expression,
                                         std::span<const vertex::Node> operands) {
  return {expression.apply(kPrimitive, {operands.begin(), operands.end()})};
}

/// A constant of any dtype that has this value.
vertex::Node emit_number(vertex::Expression& expression, DType dtype, std::int64_t value);

using Formula = vertex::Node (*)(vertex::Expression&, std::span<const vertex::Node>);

/// Lowers floats to a formula over f32; narrower ones are converted before and after.
template <Formula kFormula>
std::vector<vertex::Node> emit_in_f32(const Op&, const Graph&, vertex::Expression& expression,
                                      std::span<const vertex::Node> operands) {
  const DType dtype = expression.dtype(operands[0]);
  if (dtype == DType::kF32) return {kFormula(expression, operands)};
  std::vector<vertex::Node> wide;
  for (const vertex::Node operand : operands) {
    wide.push_back(expression.convert(operand, DType::kF32));
  }
  return {expression.convert(kFormula(expression, wide), dtype)};
}

/// One primitive as a formula.
template <vertex::Primitive kPrimitive>
vertex::Node primitive_formula(vertex::Expression& expression,
                               std::span<const vertex::Node> operands) {
  return expression.apply(kPrimitive, {operands.begin(), operands.end()});
}

}  // namespace superstep
