#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ops/op.h"

namespace superstep {

/// One use of an op with the results it must give.
struct OpCase {
  std::string op;
  std::string what;  ///< the end of the test's name
  std::vector<HostTensor> operands;
  Attributes attributes;
  std::vector<HostTensor> expected;
  std::uint64_t ulp = 0;
  std::vector<Graph> regions;
  /// Result types; empty: those of `expected`.
  std::vector<TensorType> declared = {};
};

/// A tensor of the numbers (rounded or wrapped to the dtype), row-major.
HostTensor numbers(DType dtype, const Shape& shape, const std::vector<double>& values);
inline HostTensor i32(const Shape& shape, const std::vector<double>& values) {
  return numbers(DType::kI32, shape, values);
}
inline HostTensor vector_of(DType dtype, const std::vector<double>& values) {
  return numbers(dtype, {static_cast<std::int64_t>(values.size())}, values);
}
/// A vector of the bit patterns.
HostTensor bits_of(DType dtype, const std::vector<std::uint64_t>& values);

/// Zero when every element is within `ulp` of the expected one; NaN matches any NaN.
::testing::AssertionResult close(const HostTensor& found, const HostTensor& expected,
                                 std::uint64_t ulp);

/// Ops on floats whose results are rounded from approximations.
bool is_transcendental(std::string_view op);

/// A graph with one op, its arguments as operands and its results as results.
Graph graph_of(const OpCase& use);

/// What a graph gives once its ops are expanded and it has no wide types, evaluated on the host.
std::vector<HostTensor> evaluate_split(Graph graph, std::vector<HostTensor> arguments);

/// What the op's lowering gives: its expression run on the host, its boxes copied, or what it
/// expands to, or becomes without wide types, evaluated. Empty for other lowerings.
std::vector<HostTensor> run_lowering(const Op& op, const Graph& graph,
                                     const std::vector<HostTensor>& operands);

/// Hand-computed uses, at least one for each op.
std::vector<OpCase> elementwise_cases();
std::vector<OpCase> rearrange_cases();
std::vector<OpCase> contraction_cases();
std::vector<OpCase> special_function_cases();
std::vector<OpCase> expansion_cases();
std::vector<OpCase> control_cases();
std::vector<OpCase> wide_cases();
std::vector<OpCase> indexing_cases();
std::vector<OpCase> window_cases();
std::vector<OpCase> library_cases();
std::vector<OpCase> sort_cases();
std::vector<OpCase> device_cases();
std::vector<OpCase> composed_cases();
std::vector<OpCase> all_cases();

}  // namespace superstep
