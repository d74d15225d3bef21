#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"

namespace superstep {

/// A graph of arguments of these types that returns what `body` makes of them.
inline Graph region_of(const std::vector<TensorType>& types,
                       const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body) {
  Graph graph;
  GraphBuilder builder(graph, {});
  std::vector<Tensor> arguments;
  for (const TensorType& type : types) arguments.push_back(builder.argument(type));
  std::vector<ValueId> results;
  for (const Tensor& result : body(arguments)) results.push_back(result.id);
  graph.set_results(std::move(results));
  return graph;
}

/// The region of a reduction by one binary op, `stablehlo.add`, …
inline Graph binary_reducer(std::string_view op, DType dtype) {
  return region_of({{dtype, {}}, {dtype, {}}}, [&](std::span<const Tensor> a) {
    return std::vector{a[0].builder->apply(*find_op(op), {a[0], a[1]})};
  });
}

/// A region that returns its second argument.
inline Graph replacing_reducer(DType dtype) {
  return region_of({{dtype, {}}, {dtype, {}}},
                   [](std::span<const Tensor> a) { return std::vector{a[1]}; });
}

/// The region JAX prints for argmax: of two (value, index) pairs the one with the larger value, of
/// equal ones the lower index; a NaN counts as the largest.
inline Graph arg_max_reducer(DType value, DType index) {
  const TensorType number{value, {}}, position{index, {}};
  return region_of({number, position, number, position}, [](std::span<const Tensor> pairs) {
    const Tensor a = pairs[0], at_a = pairs[1], b = pairs[2], at_b = pairs[3];
    const Tensor above = compare("GT", a, b) | compare("NE", a, a);
    const Tensor earlier = compare("EQ", a, b) & compare("LT", at_a, at_b);
    return std::vector{select(above, a, b), select(above | earlier, at_a, at_b)};
  });
}

}  // namespace superstep
