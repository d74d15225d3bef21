#include "tests/generated/reducer.h"

#include "compiler/ops/op.h"

namespace superstep {
namespace {

ValueId append(Graph& graph, std::string_view name, std::vector<ValueId> operands,
               Attributes attributes = {}) {
  Op op;
  op.definition = find_op(name);
  op.operands = std::move(operands);
  op.attributes = std::move(attributes);
  return graph.add_op(std::move(op)).results[0];
}

}  // namespace

Graph binary_reducer(std::string_view op, DType dtype) {
  Graph region;
  const ValueId a = region.add_argument({dtype, {}}, "a");
  const ValueId b = region.add_argument({dtype, {}}, "b");
  region.set_results({append(region, op, {a, b})});
  return region;
}

Graph replacing_reducer(DType dtype) {
  Graph region;
  region.add_argument({dtype, {}}, "a");
  region.set_results({region.add_argument({dtype, {}}, "b")});
  return region;
}

Graph arg_max_reducer(DType value, DType index) {
  Graph region;
  const ValueId a = region.add_argument({value, {}}, "a");
  const ValueId at_a = region.add_argument({index, {}}, "at_a");
  const ValueId b = region.add_argument({value, {}}, "b");
  const ValueId at_b = region.add_argument({index, {}}, "at_b");
  const auto compare = [&](std::string direction, ValueId x, ValueId y) {
    return append(region, "stablehlo.compare", {x, y},
                  {{"comparison_direction", std::move(direction)}});
  };
  const ValueId above = append(region, "stablehlo.or", {compare("GT", a, b), compare("NE", a, a)});
  const ValueId earlier =
      append(region, "stablehlo.and", {compare("EQ", a, b), compare("LT", at_a, at_b)});
  const ValueId keep = append(region, "stablehlo.or", {above, earlier});
  region.set_results({append(region, "stablehlo.select", {above, a, b}),
                      append(region, "stablehlo.select", {keep, at_a, at_b})});
  return region;
}

}  // namespace superstep
