#include <set>
#include <span>

#include "compiler/lower/elementwise.h"
#include "compiler/lower/reductions/reduce.h"
#include "compiler/ops/emit_graph.h"
#include "compiler/ops/op.h"

namespace superstep {
namespace {

std::uint64_t mask_of(DType dtype) { return (std::uint64_t{1} << (8 * size_of(dtype))) - 1; }

/// Bits of the lowest and highest value of a dtype: infinities for floats.
struct Bounds {
  std::uint64_t low, high;
};

Bounds bounds_of(DType dtype) {
  if (dtype == DType::kF32) return {0xff800000, 0x7f800000};
  if (dtype == DType::kF16) return {0xfc00, 0x7c00};
  if (dtype == DType::kBF16) return {0xff80, 0x7f80};
  if (dtype == DType::kI1) return {0, 1};
  const std::uint64_t mask = mask_of(dtype);
  if (!is_signed(dtype)) return {0, mask};
  return {(mask + 1) / 2, mask / 2};
}

/// The one primitive that a reducer applies to accumulator and element, if it is that simple.
std::optional<vertex::Primitive> primitive_of(const vertex::Expression& expression,
                                              const std::vector<vertex::Node>& outputs) {
  if (expression.steps().size() != 3 || outputs.size() != 1 || outputs[0].id != 2) {
    return std::nullopt;
  }
  const vertex::Expression::Step& step = expression.steps()[2];
  const std::set<std::uint32_t> operands(step.operands.begin(), step.operands.end());
  if (operands != std::set<std::uint32_t>{0, 1}) return std::nullopt;
  return step.primitive;
}

}  // namespace

std::optional<std::uint64_t> identity_of(vertex::Primitive primitive, DType dtype) {
  using vertex::Primitive;
  switch (primitive) {
    case Primitive::kAdd:
      // x + -0 is x even where x is -0.
      if (dtype == DType::kF32) return 0x80000000;
      if (is_short_float(dtype)) return 0x8000;
      return 0;
    case Primitive::kMul:
      if (dtype == DType::kF32) return 0x3f800000;
      if (dtype == DType::kF16) return 0x3c00;
      if (dtype == DType::kBF16) return 0x3f80;
      return 1;
    case Primitive::kMax:
      return bounds_of(dtype).low;
    case Primitive::kMin:
      return bounds_of(dtype).high;
    case Primitive::kOr:
    case Primitive::kXor:
      return 0;
    case Primitive::kAnd:
      return dtype == DType::kI1 ? 1 : mask_of(dtype);
    default:
      return std::nullopt;
  }
}

Combine combine_with(vertex::Primitive primitive, DType dtype) {
  Combine combine;
  const vertex::Node a = combine.reduce.expression.input(0, dtype);
  const vertex::Node b = combine.reduce.expression.input(1, dtype);
  combine.reduce.outputs = {combine.reduce.expression.apply(primitive, {a, b})};
  combine.reduce.dtypes = {dtype};
  combine.key = "reduce " + expression_key(combine.reduce.expression, combine.reduce.outputs);
  combine.identity = identity_of(primitive, dtype);
  return combine;
}

Combine combine_of(const Graph& region) {
  Combine combine;
  std::vector<vertex::Node> arguments;
  for (const ValueId argument : region.arguments()) {
    arguments.push_back(combine.reduce.expression.input(
        static_cast<std::uint32_t>(arguments.size()), region.type(argument).dtype));
  }
  combine.reduce.outputs = emit_graph(region, combine.reduce.expression, arguments);
  for (const ValueId result : region.results()) {
    combine.reduce.dtypes.push_back(region.type(result).dtype);
  }
  combine.key = "reduce " + expression_key(combine.reduce.expression, combine.reduce.outputs);
  if (const auto primitive = primitive_of(combine.reduce.expression, combine.reduce.outputs)) {
    combine.identity = identity_of(*primitive, combine.reduce.dtypes[0]);
  }
  return combine;
}

vertex::Reduce combine_converted(const Graph& graph, const Graph& region, const Op& convert) {
  vertex::Reduce reduce;
  const DType dtype = region.type(region.results()[0]).dtype;
  const vertex::Node accumulator = reduce.expression.input(0, dtype);
  const vertex::Node element = reduce.expression.input(1, graph.type(convert.operands[0]).dtype);
  const auto* lowering = lowering_as<ElementwiseLowering>(convert, graph);
  const std::vector<vertex::Node> operands{element};
  const std::vector<vertex::Node> converted =
      lowering->emit(convert, graph, reduce.expression, operands);
  const std::vector<vertex::Node> inputs{accumulator, converted[0]};
  reduce.outputs = emit_graph(region, reduce.expression, inputs);
  reduce.dtypes = {dtype};
  return reduce;
}

}  // namespace superstep
