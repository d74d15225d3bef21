#include "compiler/ops/graph_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/graph/append_copy.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

Op with(Attributes attributes) {
  Op op;
  op.attributes = std::move(attributes);
  return op;
}

Op declaring(TensorType type, Attributes attributes = {}) {
  Op op = with(std::move(attributes));
  op.declared = {std::move(type)};
  return op;
}

/// Appends the sizes of the dimensions that neither batch nor contract.
void add_free(Shape& shape, const Shape& operand, const Indices& batching,
              const Indices& contracting) {
  for (std::size_t i = 0; i < operand.size(); ++i) {
    const auto d = static_cast<std::int64_t>(i);
    if (!contains(batching, d) && !contains(contracting, d)) shape.push_back(operand[i]);
  }
}

Tensor unary(const OpDefinition& definition, Tensor x) { return x.builder->apply(definition, {x}); }
Tensor binary(const OpDefinition& definition, Tensor a, Tensor b) {
  return a.builder->apply(definition, {a, b});
}

}  // namespace

TensorType Tensor::type() const { return builder->graph().type(id); }

Tensor Tensor::like(double value) const {
  return broadcast(builder->number(dtype(), value), shape(), {});
}

std::vector<Tensor> GraphBuilder::append(const OpDefinition& definition,
                                         std::span<const Tensor> operands, Op rest) {
  rest.definition = &definition;
  rest.operands.clear();
  rest.results.clear();
  for (const Tensor& operand : operands) {
    SUPERSTEP_CHECK(operand.builder == this, "an operand of another builder");
    rest.operands.push_back(operand.id);
  }
  rest.location = at_;
  std::vector<Tensor> results;
  for (const ValueId result : graph_.add_op(std::move(rest)).results) {
    results.push_back(value(result));
  }
  return results;
}

Tensor GraphBuilder::apply(const OpDefinition& definition, std::initializer_list<Tensor> operands,
                           Op rest) {
  const std::vector<Tensor> list(operands);
  return append(definition, list, std::move(rest)).front();
}

std::vector<Tensor> GraphBuilder::append_graph(const Graph& graph,
                                               std::span<const Tensor> arguments) {
  std::vector<ValueId> values(graph.values().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values[index(graph.arguments()[i])] = arguments[i].id;
  }
  for (const Op& op : graph.ops()) append_copy(graph_, op, values);
  std::vector<Tensor> results;
  for (const ValueId result : graph.results()) results.push_back(value(values[index(result)]));
  return results;
}

Tensor GraphBuilder::constant(HostTensor value) {
  return apply(kConstantOp, {}, with({{"value", SharedTensor(std::move(value))}}));
}

Tensor GraphBuilder::number(DType dtype, double value) {
  HostTensor element(TensorType{dtype, {}});
  if (is_complex(dtype)) {
    write_complex(element, 0, value);
  } else if (is_float(dtype)) {
    write_float(element, 0, value);
  } else {
    write_int(element, 0, static_cast<std::int64_t>(value));
  }
  return constant(std::move(element));
}

Tensor GraphBuilder::iota(TensorType type, std::int64_t dimension) {
  return apply(kIotaOp, {}, declaring(std::move(type), {{"iota_dimension", dimension}}));
}

Tensor operator+(Tensor a, Tensor b) { return binary(kAddOp, a, b); }
Tensor operator-(Tensor a, Tensor b) { return binary(kSubtractOp, a, b); }
Tensor operator*(Tensor a, Tensor b) { return binary(kMultiplyOp, a, b); }
Tensor operator/(Tensor a, Tensor b) { return binary(kDivideOp, a, b); }
Tensor operator-(Tensor a) { return unary(kNegateOp, a); }
Tensor operator&(Tensor a, Tensor b) { return binary(kAndOp, a, b); }
Tensor operator|(Tensor a, Tensor b) { return binary(kOrOp, a, b); }
Tensor operator^(Tensor a, Tensor b) { return binary(kXorOp, a, b); }
Tensor operator<<(Tensor a, int bits) { return binary(kShiftLeftOp, a, a.like(bits)); }
Tensor operator>>(Tensor a, int bits) { return binary(kShiftRightLogicalOp, a, a.like(bits)); }

Tensor abs(Tensor x) { return unary(kAbsOp, x); }
Tensor sqrt(Tensor x) { return unary(kSqrtOp, x); }
Tensor rsqrt(Tensor x) { return unary(kRsqrtOp, x); }
Tensor maximum(Tensor a, Tensor b) { return binary(kMaximumOp, a, b); }
Tensor minimum(Tensor a, Tensor b) { return binary(kMinimumOp, a, b); }

Tensor compare(const char* direction, Tensor a, Tensor b) {
  return a.builder->apply(kCompareOp, {a, b},
                          with({{"comparison_direction", std::string(direction)}}));
}

Tensor select(Tensor condition, Tensor if_true, Tensor if_false) {
  return condition.builder->apply(kSelectOp, {condition, if_true, if_false});
}

Tensor convert(Tensor x, DType to) {
  return x.dtype() == to ? x : x.builder->apply(kConvertOp, {x}, declaring({to, x.shape()}));
}

Tensor bitcast(Tensor x, TensorType to) {
  if (x.type() == to) return x;
  return x.builder->apply(kBitcastConvertOp, {x}, declaring(std::move(to)));
}

Tensor conjugate(Tensor x) {
  if (!is_complex(x.dtype())) return x;
  return binary(kComplexOp, unary(kRealOp, x), -unary(kImagOp, x));
}

Tensor reshape(Tensor x, Shape shape) {
  if (x.shape() == shape) return x;
  return x.builder->apply(kReshapeOp, {x}, declaring({x.dtype(), std::move(shape)}));
}

Tensor broadcast(Tensor x, Shape shape, Indices dimensions) {
  if (shape.empty()) return x;
  return x.builder->apply(
      kBroadcastInDimOp, {x},
      declaring({x.dtype(), std::move(shape)}, {{"broadcast_dimensions", std::move(dimensions)}}));
}

Tensor transpose(Tensor x, Indices permutation) {
  return x.builder->apply(kTransposeOp, {x}, with({{"permutation", std::move(permutation)}}));
}

Tensor reverse(Tensor x, Indices dimensions) {
  return x.builder->apply(kReverseOp, {x}, with({{"dimensions", std::move(dimensions)}}));
}

Tensor slice(Tensor x, Indices start, Indices limit, Indices strides) {
  return x.builder->apply(kSliceOp, {x},
                          with({{"start_indices", std::move(start)},
                                {"limit_indices", std::move(limit)},
                                {"strides", std::move(strides)}}));
}

Tensor window(Tensor x, const Indices& start, const Shape& sizes) {
  if (sizes == x.shape()) return x;
  Indices limit = start;
  for (std::size_t i = 0; i < limit.size(); ++i) limit[i] += sizes[i];
  return slice(x, start, std::move(limit), Indices(start.size(), 1));
}

Tensor dynamic_window(Tensor x, std::span<const Tensor> start, Shape sizes) {
  std::vector<Tensor> operands = {x};
  operands.insert(operands.end(), start.begin(), start.end());
  return x.builder->append(kDynamicSliceOp, operands, with({{"slice_sizes", std::move(sizes)}}))
      .front();
}

Tensor element_of_last(Tensor x, std::int64_t i) {
  Indices start(x.shape().size());
  start.back() = i;
  Shape sizes = x.shape();
  sizes.back() = 1;
  const Tensor element = window(x, start, sizes);
  sizes.pop_back();
  return reshape(element, sizes);
}

Tensor concatenate(std::span<const Tensor> parts, std::int64_t dimension) {
  return parts.front()
      .builder->append(kConcatenateOp, parts, with({{"dimension", dimension}}))
      .front();
}

Tensor pad(Tensor x, Tensor value, Indices low, Indices high, Indices interior) {
  return x.builder->apply(kPadOp, {x, value},
                          with({{"edge_padding_low", std::move(low)},
                                {"edge_padding_high", std::move(high)},
                                {"interior_padding", std::move(interior)}}));
}

Tensor reduce(Tensor x, Tensor initial, Indices dimensions,
              const std::function<Tensor(Tensor, Tensor)>& combine, Op rest) {
  Op op = std::move(rest);
  op.attributes["dimensions"] = std::move(dimensions);
  Graph& region = op.regions.emplace_back();
  GraphBuilder inner(region, x.builder->location());
  const Tensor left = inner.argument(initial.type());
  const Tensor right = inner.argument(initial.type());
  const ValueId result = combine(left, right).id;
  region.set_results({result});
  return x.builder->apply(kReduceOp, {x, initial}, std::move(op));
}

Tensor sum(Tensor x, Indices dimensions) {
  return superstep::reduce(x, x.builder->number(x.dtype(), 0), std::move(dimensions),
                           [](Tensor a, Tensor b) { return a + b; });
}

std::vector<Tensor> repeat_while(
    std::span<const Tensor> values, const std::function<Tensor(std::span<const Tensor>)>& goes_on,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& step) {
  GraphBuilder& builder = *values.front().builder;
  Op op;
  op.regions.resize(2);
  const auto fill = [&](Graph& region, const auto& results_of) {
    GraphBuilder inner(region, builder.location());
    std::vector<Tensor> arguments;
    for (const Tensor& value : values) arguments.push_back(inner.argument(value.type()));
    std::vector<ValueId> results;
    for (const Tensor& result : results_of(arguments)) results.push_back(result.id);
    region.set_results(std::move(results));
  };
  fill(op.regions[0], [&](const std::vector<Tensor>& arguments) {
    return std::vector<Tensor>{goes_on(arguments)};
  });
  fill(op.regions[1], [&](const std::vector<Tensor>& arguments) { return step(arguments); });
  return builder.append(kWhileOp, values, std::move(op));
}

std::vector<Tensor> repeat_counted(
    std::int64_t times, std::span<const Tensor> values,
    const std::function<std::vector<Tensor>(Tensor turn, std::span<const Tensor>)>& step) {
  // The number of a turn, then the values.
  std::vector<Tensor> carried = {values.front().builder->number(DType::kI32, 0)};
  carried.insert(carried.end(), values.begin(), values.end());
  std::vector<Tensor> results = repeat_while(
      carried,
      [&](std::span<const Tensor> arguments) { return arguments[0] < static_cast<double>(times); },
      [&](std::span<const Tensor> arguments) {
        std::vector<Tensor> next = step(arguments[0], arguments.subspan(1));
        next.insert(next.begin(), arguments[0] + 1.0);
        return next;
      });
  results.erase(results.begin());
  return results;
}

std::vector<Tensor> repeat(
    std::int64_t times, std::span<const Tensor> values,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& step) {
  return repeat_counted(times, values,
                        [&](Tensor, std::span<const Tensor> arguments) { return step(arguments); });
}

Tensor dot_general(Tensor left, Tensor right, const ProductDimensions& dimensions, DType dtype) {
  Op op = with({{"lhs_batching_dimensions", dimensions.left_batching},
                {"rhs_batching_dimensions", dimensions.right_batching},
                {"lhs_contracting_dimensions", dimensions.left_contracting},
                {"rhs_contracting_dimensions", dimensions.right_contracting}});
  TensorType type{dtype, {}};
  for (const std::int64_t d : dimensions.left_batching) {
    type.shape.push_back(left.shape()[static_cast<std::size_t>(d)]);
  }
  add_free(type.shape, left.shape(), dimensions.left_batching, dimensions.left_contracting);
  add_free(type.shape, right.shape(), dimensions.right_batching, dimensions.right_contracting);
  op.declared = {std::move(type)};
  return left.builder->apply(kDotGeneralOp, {left, right}, std::move(op));
}

}  // namespace superstep
