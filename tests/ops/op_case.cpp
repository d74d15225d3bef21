#include "tests/ops/op_case.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/vertex/interpret.h"

namespace superstep {
namespace {

/// Distance in representable values; floats of both signs lie on one line.
std::uint64_t distance(DType dtype, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  const auto place = [sign](std::uint64_t bits) {
    const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
    return (bits & sign) != 0 ? -magnitude : magnitude;
  };
  return static_cast<std::uint64_t>(std::abs(place(a) - place(b)));
}

HostTensor copy_boxes(const std::vector<StridedBox>& boxes, const TensorType& type,
                      const std::vector<HostTensor>& operands) {
  HostTensor result(type);
  for (const StridedBox& box : boxes) {
    std::vector<std::int64_t> index(box.sizes.size());
    do {
      const std::size_t from =
          static_cast<std::size_t>(box.from_offset) + element_at(index, box.from_strides);
      const std::size_t to =
          static_cast<std::size_t>(box.to_offset) + element_at(index, box.to_strides);
      copy_element(result, to, operands[box.operand], from);
    } while (next_index(index, box.sizes));
  }
  return result;
}

}  // namespace

HostTensor numbers(DType dtype, const Shape& shape, const std::vector<double>& values) {
  HostTensor tensor(TensorType{dtype, shape});
  EXPECT_EQ(values.size(), static_cast<std::size_t>(tensor.type.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_float(dtype)) {
      write_float(tensor, i, values[i]);
    } else {
      write_int(tensor, i, static_cast<std::int64_t>(values[i]));
    }
  }
  return tensor;
}

HostTensor bits_of(DType dtype, const std::vector<std::uint64_t>& values) {
  HostTensor tensor(TensorType{dtype, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) write_bits(tensor, i, values[i]);
  return tensor;
}

::testing::AssertionResult close(const HostTensor& found, const HostTensor& expected,
                                 std::uint64_t ulp) {
  if (found.type != expected.type) {
    return ::testing::AssertionFailure()
           << "is " << found.type.text() << ", expected " << expected.type.text();
  }
  const DType dtype = found.type.dtype;
  if (dtype == DType::kC128) {
    const auto parts = [](HostTensor tensor) {
      tensor.type.dtype = DType::kF64;
      tensor.type.shape.push_back(2);
      return tensor;
    };
    return close(parts(found), parts(expected), ulp);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
    const std::uint64_t a = read_bits(found, i);
    const std::uint64_t b = read_bits(expected, i);
    if (a == b) continue;
    if (is_float(dtype)) {
      const double x = read_float(found, i);
      const double y = read_float(expected, i);
      if (std::isnan(x) && std::isnan(y)) continue;
      const bool comparable = !std::isnan(x) && !std::isnan(y) && (x != 0 || y != 0);
      if (ulp != 0 && comparable && distance(dtype, a, b) <= ulp) continue;
      return ::testing::AssertionFailure() << "element " << i << " is " << x << ", expected " << y
                                           << " (" << std::hex << a << ", expected " << b << ")";
    }
    return ::testing::AssertionFailure() << "element " << i << " is " << read_int(found, i)
                                         << ", expected " << read_int(expected, i);
  }
  return ::testing::AssertionSuccess();
}

bool is_transcendental(std::string_view op) {
  constexpr std::string_view kOps[] = {"chlo.acos",
                                       "chlo.acosh",
                                       "chlo.asin",
                                       "chlo.asinh",
                                       "chlo.atan",
                                       "chlo.atanh",
                                       "chlo.cosh",
                                       "chlo.erf",
                                       "chlo.erf_inv",
                                       "chlo.erfc",
                                       "chlo.sinh",
                                       "chlo.tan",
                                       "stablehlo.atan2",
                                       "stablehlo.cbrt",
                                       "stablehlo.cosine",
                                       "stablehlo.exponential",
                                       "stablehlo.exponential_minus_one",
                                       "stablehlo.log",
                                       "stablehlo.log_plus_one",
                                       "stablehlo.logistic",
                                       "stablehlo.power",
                                       "stablehlo.rsqrt",
                                       "stablehlo.sine",
                                       "stablehlo.tan",
                                       "stablehlo.tanh"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

Graph graph_of(const OpCase& use) {
  Graph graph;
  Op op;
  op.definition = find_op(use.op);
  if (op.definition == nullptr) throw MalformedInput("no op " + use.op);
  for (const HostTensor& operand : use.operands) {
    op.operands.push_back(graph.add_argument(operand.type, ""));
  }
  op.attributes = use.attributes;
  op.regions = use.regions;
  op.declared = use.declared;
  if (op.declared.empty()) {
    for (const HostTensor& result : use.expected) op.declared.push_back(result.type);
  }
  op.location = {{"case.mlir", 3, 7}};
  const Op& added = graph.add_op(std::move(op));
  graph.set_results(added.results);
  return graph;
}

std::vector<HostTensor> evaluate_split(Graph graph, std::vector<HostTensor> arguments) {
  // The same bytes as another type.
  const auto become = [](HostTensor& tensor, const TensorType& type) {
    EXPECT_EQ(tensor.data.size(), type.bytes());
    tensor.type = type;
  };
  std::vector<TensorType> types;
  for (const ValueId result : graph.results()) types.push_back(graph.type(result));
  const Graph split = split_wide_types(apply_with_regions(std::move(graph), expand_ops));
  for (const Value& value : split.values()) EXPECT_FALSE(is_wide(value.type.dtype));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    become(arguments[i], split.type(split.arguments()[i]));
  }
  std::vector<HostTensor> results = evaluate(split, arguments);
  for (std::size_t i = 0; i < results.size(); ++i) become(results[i], types[i]);
  return results;
}

std::vector<HostTensor> run_lowering(const Op& op, const Graph& graph,
                                     const std::vector<HostTensor>& operands) {
  const auto emitted = [&](const ElementwiseLowering& elementwise) {
    vertex::Expression expression;
    std::vector<vertex::Node> inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      inputs.push_back(expression.input(static_cast<std::uint32_t>(i), operands[i].type.dtype));
    }
    std::vector<HostTensor> results;
    for (const vertex::Node output : elementwise.emit(op, graph, expression, inputs)) {
      results.push_back(vertex::evaluate_expression(expression, output, operands));
    }
    return results;
  };
  const auto copied = [&](const RearrangeLowering& rearrange) -> std::vector<HostTensor> {
    return {copy_boxes(rearrange.boxes(op, graph), graph.type(op.results[0]), operands)};
  };
  const auto expanded = [&](const ExpandLowering&) {
    Graph alone;
    Op copy = op;
    for (ValueId& operand : copy.operands) operand = alone.add_argument(graph.type(operand), "");
    alone.set_results(alone.add_op(std::move(copy)).results);
    return evaluate_split(std::move(alone), operands);
  };
  const auto is_wide_value = [&](ValueId v) { return is_wide(graph.type(v).dtype); };
  if (std::ranges::any_of(op.operands, is_wide_value) ||
      std::ranges::any_of(op.results, is_wide_value)) {
    return expanded({});
  }
  return std::visit(Overloaded{emitted, copied, expanded,
                               [](const ConstantLowering&) { return std::vector<HostTensor>(); },
                               [](const StepLowering&) { return std::vector<HostTensor>(); }},
                    lowering_of(op, graph));
}

std::vector<OpCase> all_cases() {
  std::vector<OpCase> all = elementwise_cases();
  for (const auto& family :
       {rearrange_cases(), contraction_cases(), special_function_cases(), expansion_cases(),
        control_cases(), wide_cases(), indexing_cases(), window_cases(), library_cases(),
        sort_cases(), device_cases(), composed_cases()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace superstep
