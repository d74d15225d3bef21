// Complex numbers from their parts and back.

#include <cstring>
#include <fmt/format.h>

#include "compiler/import/parser.h"
#include "compiler/ops/elementwise.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/zeros.h"

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Node;

constexpr DTypeSet kParts = only(DType::kF32) | only(DType::kF64);

std::vector<TensorType> infer_complex(const Op& op, std::span<const TensorType> operands) {
  if (operands[0] != operands[1]) {
    malformed(op, fmt::format("operands have types {} and {}, expected equal ones",
                              operands[0].text(), operands[1].text()));
  }
  return {{complex_of(operands[0].dtype), operands[0].shape}};
}

std::vector<TensorType> infer_part(const Op&, std::span<const TensorType> operands) {
  const DType dtype = operands[0].dtype;
  return {{real_of(dtype), operands[0].shape}};
}

std::vector<HostTensor> evaluate_complex(const Op&, std::span<const HostTensor> operands) {
  const HostTensor &real = operands[0], &imaginary = operands[1];
  const DType dtype = complex_of(real.type.dtype);
  HostTensor result(TensorType{dtype, common_shape(operands)});
  // Parts are the elements of a tensor of floats.
  const std::size_t size = size_of(real.type.dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
    std::byte* const at = result.data.data() + 2 * i * size;
    std::memcpy(at, real.data.data() + element_of(real, i) * size, size);
    std::memcpy(at + size, imaginary.data.data() + element_of(imaginary, i) * size, size);
  }
  return {std::move(result)};
}

std::vector<HostTensor> parts_of(const HostTensor& x, std::size_t part) {
  const DType dtype = real_of(x.type.dtype);
  HostTensor numbers = x;
  numbers.type.dtype = dtype;
  numbers.type.shape.push_back(2);
  HostTensor result(TensorType{dtype, x.type.shape});
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.type.elements()); ++i) {
    copy_element(result, i, numbers, 2 * i + part);
  }
  return {std::move(result)};
}

std::vector<HostTensor> evaluate_real(const Op&, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  if (!is_complex(x.type.dtype)) return {x};
  return parts_of(x, 0);
}

std::vector<HostTensor> evaluate_imag(const Op&, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  if (!is_complex(x.type.dtype)) return {zeros(x.type)};
  return parts_of(x, 1);
}

std::vector<HostTensor> evaluate_conjugate(const Op&, std::span<const HostTensor> operands) {
  HostTensor result = operands[0];
  if (is_complex(result.type.dtype)) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
      write_complex(result, i, std::conj(read_complex(operands[0], i)));
    }
  }
  return {std::move(result)};
}
std::vector<Tensor> expand_conjugate(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {conjugate(operands[0])};
}

// Wide results are split before anything is emitted.
std::vector<Node> emit_complex(const Op& op, const Graph&, Expression&, std::span<const Node>) {
  unsupported(op, "of complex numbers that were not split");
}

std::vector<Node> emit_real(const Op&, const Graph&, Expression&, std::span<const Node> operands) {
  return {operands[0]};
}

std::vector<Node> emit_imag(const Op&, const Graph&, Expression& expression,
                            std::span<const Node> operands) {
  return {emit_number(expression, expression.dtype(operands[0]), 0)};
}

// `%a, %b : type of the result`, or all types.
void parse_complex(import::Parser& parser, import::SyntaxOp& op, int) {
  parser.parse_items(op);
  const auto types = parser.parse_listed_types(op);
  if (!types) return;
  import::TypeUse part = types->back();
  if (part.type) part.type->dtype = real_of(part.type->dtype);
  op.operand_types = {part, part};
  op.result_types = {types->back()};
}

}  // namespace

const OpDefinition kConjOp{
    .name = "chlo.conj",
    .summary = "Each element with its imaginary part negated.",
    .infer = infer_same_type,
    .evaluate = evaluate_conjugate,
    .lowerings = {ExpandLowering{expand_conjugate}},
    .traits = {.operands = {kFloats | kComplex}, .is_shorthand = true},
};
const OpDefinition kComplexOp{
    .name = "stablehlo.complex",
    .summary = "Complex numbers of real and imaginary parts.",
    .infer = infer_complex,
    .evaluate = evaluate_complex,
    .lowerings = {ElementwiseLowering{emit_complex}},
    .traits = {.operands = {kParts, kParts}},
    .syntax = {.parse = parse_complex},
};
const OpDefinition kRealOp{
    .name = "stablehlo.real",
    .summary = "The real part of each element.",
    .infer = infer_part,
    .evaluate = evaluate_real,
    .lowerings = {ElementwiseLowering{emit_real}},
    .traits = {.operands = {kFloats | kComplex}},
};
const OpDefinition kImagOp{
    .name = "stablehlo.imag",
    .summary = "The imaginary part of each element; 0 of a float.",
    .infer = infer_part,
    .evaluate = evaluate_imag,
    .lowerings = {ElementwiseLowering{emit_imag}},
    .traits = {.operands = {kFloats | kComplex}},
};

}  // namespace superstep
