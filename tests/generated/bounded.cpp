#include "tests/generated/bounded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"
#include "tests/generated/accuracy.h"
#include "tests/generated/bounding.h"
#include "tests/regions.h"

namespace superstep {
namespace {

std::size_t element_of(const HostTensor& tensor, std::size_t element) {
  return tensor.type.shape.empty() ? 0 : element;
}

std::vector<HostTensor> errors_of(std::span<const Bounded> operands) {
  std::vector<HostTensor> errors;
  for (const Bounded& operand : operands) errors.push_back(operand.error);
  return errors;
}

/// How far the result of one element may be off when an operand is; empty when no bound is known.
std::optional<double> elementwise_error(std::string_view name, DType dtype, double result,
                                        std::span<const Operand> x) {
  for (const Operand& operand : x) {
    if (!(std::abs(operand.value) + operand.error < largest(dtype) / 4)) return std::nullopt;
  }
  const auto rounded = [&](double error, double ulps) {
    return error + ulps * ulp(dtype, std::abs(result) + error);
  };
  const double ulps = is_short_float(dtype) || is_narrow_float(dtype) ? 1 : 3;
  const auto [a, ea] = x[0];
  // A value that is not well above its error may be 0 or of the other sign.
  const auto positive = [](const Operand& operand) { return operand.value > 2 * operand.error; };
  if (name == "stablehlo.negate" || name == "stablehlo.real" || name == "stablehlo.imag") return ea;
  if (name == "stablehlo.add" || name == "stablehlo.subtract") {
    return rounded(ea + x[1].error, 1);
  }
  if (name == "stablehlo.complex") return ea + x[1].error;
  if (is_complex(dtype)) return std::nullopt;
  if (name == "stablehlo.abs") return ea;
  if (name == "stablehlo.exponential" && ea < 1) {
    return rounded(std::abs(result) * std::expm1(ea), ulps);
  }
  if (name == "stablehlo.log" && positive(x[0])) return rounded(ea / (a - ea), ulps);
  if (name == "stablehlo.tanh" || name == "stablehlo.sine" || name == "stablehlo.cosine") {
    return rounded(ea, ulps);
  }
  if (name == "stablehlo.logistic") return rounded(ea / 4, ulps);
  if (name == "stablehlo.sqrt" && positive(x[0])) {
    return rounded(ea / (2 * std::sqrt(a - ea)), 1);
  }
  if (x.size() == 1) return std::nullopt;
  const auto [b, eb] = x[1];
  if (name == "stablehlo.multiply") {
    return rounded(std::abs(a) * eb + std::abs(b) * ea + ea * eb, 1);
  }
  if (name == "stablehlo.divide" && positive({std::abs(b), eb})) {
    return rounded((ea + std::abs(a / b) * eb) / (std::abs(b) - eb), 1);
  }
  if (name == "stablehlo.maximum" || name == "stablehlo.minimum") return std::max(ea, eb);
  if (name == "stablehlo.clamp") return std::max({ea, eb, x[2].error});
  return std::nullopt;
}

/// The value of a float, else the size.
double number_at(const HostTensor& tensor, std::size_t i) {
  return is_float(tensor.type.dtype) ? read_float(tensor, i) : size_at(tensor, i);
}

/// The error of element `i` of an elementwise op.
std::optional<double> error_of_element(const Op& op, std::span<const Bounded> operands,
                                       const HostTensor& result, std::size_t i) {
  const std::string_view name = op.definition->name;
  std::vector<Operand> x;
  bool exact = true;
  for (const Bounded& operand : operands) {
    const std::size_t at = element_of(operand.value, i);
    x.push_back({number_at(operand.value, at), error_at(operand, at)});
    exact = exact && x.back().error == 0;
  }
  const DType dtype = result.type.dtype, from = operands[0].value.type.dtype;
  const bool is_number = is_float(dtype) || is_complex(dtype);
  const bool takes_numbers = is_float(from) || is_complex(from);
  const double value = number_at(result, i);
  if (exact) {
    if (!is_number || !takes_numbers || name == "stablehlo.convert") return 0;
    const DType of = is_complex(from) ? from : dtype;
    if (is_rounded_once(name, of)) return 0;
    if (is_complex(of) && !is_complex(dtype) && !std::isfinite(value)) return std::nullopt;
    const auto error = function_error(name, of, value, x.data(), x.size());
    return error && *error < double{std::numeric_limits<float>::max()} ? error : std::nullopt;
  }
  if (!is_number) return std::nullopt;
  if (name == "stablehlo.convert") {
    if (!takes_numbers || !(std::abs(value) < largest(dtype) / 4)) return std::nullopt;
    const bool is_wider = unit_roundoff(dtype) <= unit_roundoff(from);
    return is_wider ? x[0].error : x[0].error + ulp(dtype, std::abs(value) + x[0].error);
  }
  const auto error = elementwise_error(name, dtype, value, x);
  if (!error || !(std::abs(value) + *error < largest(dtype) / 4)) return std::nullopt;
  return error;
}

BoundedResults bound_elementwise(const Op& op, std::span<const Bounded> operands,
                                 std::vector<HostTensor> values) {
  Bounded result = exactly(std::move(values[0]));
  for (std::size_t i = 0; !operands.empty() && i < elements_of(result.error); ++i) {
    const auto error = error_of_element(op, operands, result.value, i);
    if (!error) return std::nullopt;
    write_error(result.error, i, *error);
  }
  // Which NaN it makes of one is not said.
  if (op.definition->name == "stablehlo.reduce_precision") free_payloads(result);
  return std::vector<Bounded>{std::move(result)};
}

/// Results follow from shapes alone.
BoundedResults bound_nothing(const Op&, std::span<const Bounded>, std::vector<HostTensor> values) {
  return std::vector<Bounded>{exactly(std::move(values[0]))};
}

/// What has no bound unless all operands are exact.
BoundedResults bound_exact(const Op&, std::span<const Bounded> operands,
                           std::vector<HostTensor> values) {
  if (!are_exact(operands)) return std::nullopt;
  std::vector<Bounded> results;
  for (HostTensor& value : values) results.push_back(exactly(std::move(value)));
  return results;
}

/// Errors move as elements do.
BoundedResults bound_movement(const Op& op, std::span<const Bounded> operands,
                              std::vector<HostTensor> values) {
  Op moving = op;
  for (TensorType& type : moving.declared) type.dtype = DType::kF32;
  std::vector<HostTensor> errors = op.definition->evaluate(moving, errors_of(operands));
  std::vector<Bounded> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    results.push_back({std::move(values[i]), std::move(errors[i])});
  }
  return results;
}

BoundedResults bound_select(const Op& op, std::span<const Bounded> operands,
                            std::vector<HostTensor> values) {
  if (!are_exact(operands.first(1))) return std::nullopt;
  std::vector<HostTensor> errors = errors_of(operands);
  errors[0] = operands[0].value;
  return std::vector<Bounded>{{std::move(values[0]), evaluate_as_f32(op, errors)}};
}

/// Elements that are moved keep their errors; what is combined in one order must be exact. The
/// first `moved` operands, and the last of a scatter, move; the others say where.
BoundedResults bound_indexing(const Op& op, std::span<const Bounded> operands,
                              std::vector<HostTensor> values) {
  const std::string_view name = op.definition->name;
  const bool is_scatter = name == "stablehlo.scatter";
  // Narrow floats are combined as f32 and rounded once, complex products are made of several.
  const bool combines = is_scatter && !op.regions[0].ops().empty();
  const DType dtype = values[0].type.dtype;
  if (combines &&
      (is_narrow_float(dtype) ||
       (is_complex(dtype) && op.regions[0].ops()[0].definition->name == "stablehlo.multiply"))) {
    return std::nullopt;
  }
  const bool is_of_floats = is_float(dtype) || is_complex(dtype);
  if (combines && is_of_floats && operands.size() == 3 && op.regions[0].ops().size() == 1) {
    const std::string_view kind = op.regions[0].ops()[0].definition->name;
    // A product of floats rounds by its order.
    if (kind == "stablehlo.multiply") return std::nullopt;
    if (kind == "stablehlo.add") {
      if (!are_exact(operands.subspan(1, 1))) return std::nullopt;
      return bound_scatter_sum(op, operands, std::move(values[0]));
    }
  }
  if (is_scatter && (!op.regions[0].ops().empty() || operands.size() != 3)) {
    if (!are_exact(operands)) return std::nullopt;
    std::vector<Bounded> results;
    for (HostTensor& value : values) {
      results.push_back(exactly(std::move(value)));
      free_payloads(results.back());
    }
    return results;
  }
  Op moving = op;
  if (is_scatter) moving.regions = {replacing_reducer(DType::kF32)};
  std::vector<HostTensor> errors = errors_of(operands);
  const std::size_t first = name == "stablehlo.dynamic_update_slice" ? 2 : 1;
  const std::size_t last = is_scatter ? 2 : operands.size();
  if (!are_exact(operands.subspan(first, last - first))) return std::nullopt;
  for (std::size_t i = first; i < last; ++i) errors[i] = operands[i].value;
  return std::vector<Bounded>{{std::move(values[0]), evaluate_as_f32(moving, errors)}};
}

/// The results of a region.
BoundedResults propagate_region(const Graph& region, std::span<const Bounded> arguments) {
  auto values = propagate(region, arguments);
  if (!values) return std::nullopt;
  std::vector<Bounded> results;
  for (const ValueId result : region.results()) results.push_back((*values)[index(result)]);
  return results;
}

/// As the ops that it is made of.
BoundedResults bound_expanded(const Op& op, std::span<const Bounded> operands,
                              std::vector<HostTensor>) {
  Graph graph;
  GraphBuilder builder(graph, {});
  std::vector<Tensor> arguments;
  for (const Bounded& operand : operands) arguments.push_back(builder.argument(operand.value.type));
  const auto& lowering = std::get<ExpandLowering>(*op.definition->lowerings.begin());
  std::vector<ValueId> results;
  for (const Tensor& result : lowering.expand(builder, op, arguments)) results.push_back(result.id);
  graph.set_results(std::move(results));
  return propagate_region(graph, operands);
}

struct RuleOf {
  std::string_view op;
  BoundRule rule;
};
/// Ops that are not elementwise.
constexpr std::array kRules = {
    RuleOf{"chlo.conj", bound_expanded},
    RuleOf{"chlo.constant_like", bound_expanded},
    RuleOf{"chlo.ragged_dot", bound_expanded},
    RuleOf{"chlo.scan", bound_expanded},
    RuleOf{"chlo.top_k", bound_exact},
    RuleOf{"sdy.sharding_constraint", bound_movement},
    RuleOf{"stablehlo.all_gather", bound_movement},
    RuleOf{"stablehlo.all_reduce", bound_movement},
    RuleOf{"stablehlo.all_to_all", bound_movement},
    RuleOf{"stablehlo.batch_norm_grad", bound_batch_norm},
    RuleOf{"stablehlo.batch_norm_inference", bound_batch_norm},
    RuleOf{"stablehlo.batch_norm_training", bound_batch_norm},
    RuleOf{"stablehlo.bitcast_convert", bound_exact},
    RuleOf{"stablehlo.broadcast", bound_expanded},
    RuleOf{"stablehlo.broadcast_in_dim", bound_movement},
    RuleOf{"stablehlo.cholesky", bound_cholesky},
    RuleOf{"stablehlo.collective_broadcast", bound_movement},
    RuleOf{"stablehlo.collective_permute", bound_movement},
    RuleOf{"stablehlo.collective_reduce", bound_movement},
    RuleOf{"stablehlo.concatenate", bound_movement},
    RuleOf{"stablehlo.convolution", bound_convolution},
    RuleOf{"stablehlo.cross-replica-sum", bound_movement},
    RuleOf{"stablehlo.custom_call", bound_call},
    RuleOf{"stablehlo.dot", bound_expanded},
    RuleOf{"stablehlo.dot_general", bound_dot_general},
    RuleOf{"stablehlo.dynamic_slice", bound_indexing},
    RuleOf{"stablehlo.dynamic_update_slice", bound_indexing},
    RuleOf{"stablehlo.einsum", bound_expanded},
    RuleOf{"stablehlo.fft", bound_fft},
    RuleOf{"stablehlo.gather", bound_indexing},
    RuleOf{"stablehlo.get_dimension_size", bound_nothing},
    RuleOf{"stablehlo.map", bound_exact},
    RuleOf{"stablehlo.optimization_barrier", bound_movement},
    RuleOf{"stablehlo.pad", bound_movement},
    RuleOf{"stablehlo.reduce", bound_reduce},
    RuleOf{"stablehlo.reduce_scatter", bound_movement},
    RuleOf{"stablehlo.reduce_window", bound_reduce_window},
    RuleOf{"stablehlo.reshape", bound_movement},
    RuleOf{"stablehlo.reverse", bound_movement},
    RuleOf{"stablehlo.rng", bound_random},
    RuleOf{"stablehlo.rng_bit_generator", bound_exact},
    RuleOf{"stablehlo.scatter", bound_indexing},
    RuleOf{"stablehlo.select", bound_select},
    RuleOf{"stablehlo.select_and_scatter", bound_select_and_scatter},
    RuleOf{"stablehlo.slice", bound_movement},
    RuleOf{"stablehlo.sort", bound_exact},
    RuleOf{"stablehlo.torch_index_select", bound_expanded},
    RuleOf{"stablehlo.transpose", bound_movement},
    RuleOf{"stablehlo.triangular_solve", bound_factors},
    RuleOf{"stablehlo.unary_einsum", bound_expanded},
};

BoundedResults propagate_while(const Op& op, std::span<const Bounded> operands) {
  constexpr int kMostTrips = 16;
  std::vector<Bounded> carried(operands.begin(), operands.end());
  for (int trip = 0; trip <= kMostTrips; ++trip) {
    const auto goes_on = propagate_region(op.regions[0], carried);
    if (!goes_on || !are_exact(*goes_on)) return std::nullopt;
    if ((*goes_on)[0].value.get<std::uint8_t>(0) == 0) {
      carried.resize(op.regions[1].results().size());
      return carried;
    }
    auto next = propagate_region(op.regions[1], carried);
    if (!next) return std::nullopt;
    std::ranges::move(*next, carried.begin());
  }
  return std::nullopt;
}

BoundedResults propagate_branch(const Op& op, std::span<const Bounded> operands) {
  if (!are_exact(operands.first(1))) return std::nullopt;
  const HostTensor& decision = operands[0].value;
  // The first region of an `if` is that of true.
  const std::size_t region =
      decision.type.dtype == DType::kI1
          ? std::size_t{decision.get<std::uint8_t>(0) == 0}
          : std::min<std::size_t>(decision.get<std::uint32_t>(0), op.regions.size() - 1);
  return propagate_region(op.regions[region], operands.subspan(1));
}

bool same_part(double found, double expected) {
  return (found == expected && std::signbit(found) == std::signbit(expected)) ||
         (std::isnan(found) && std::isnan(expected));
}

}  // namespace

void write_error(HostTensor& error, std::size_t element, double bound) {
  const double raised = bound * 1.00001;
  float value = static_cast<float>(raised);
  if (double{value} < raised) value = std::nextafter(value, std::numeric_limits<float>::infinity());
  error.set(element, value);
}

bool are_exact(std::span<const Bounded> operands) {
  for (const Bounded& x : operands) {
    for (std::size_t i = 0; i < elements_of(x.error); ++i) {
      if (error_at(x, i) != 0) return false;
    }
  }
  return true;
}

HostTensor errors_for(const HostTensor& tensor) {
  return HostTensor(TensorType{DType::kF32, tensor.type.shape});
}

double size_at(const HostTensor& tensor, std::size_t element) {
  const DType dtype = tensor.type.dtype;
  return is_float(dtype) || is_complex(dtype) ? std::abs(read_number(tensor, element)) : 0;
}

HostTensor magnitudes(const Bounded& x) {
  HostTensor result = errors_for(x.value);
  for (std::size_t i = 0; i < elements_of(result); ++i) {
    write_error(result, i, size_at(x.value, i) + error_at(x, i));
  }
  return result;
}

HostTensor evaluate_as_f32(Op op, const std::vector<HostTensor>& operands) {
  if (!op.declared.empty()) op.declared[0].dtype = DType::kF32;
  return op.definition->evaluate(op, operands)[0];
}

std::optional<Bounded> within(HostTensor value, double error) {
  const double most = largest(value.type.dtype) / 4;
  Bounded result = exactly(std::move(value));
  for (std::size_t i = 0; i < elements_of(result.value); ++i) {
    if (!(size_at(result.value, i) + error < most)) return std::nullopt;
    write_error(result.error, i, error);
  }
  return result;
}

Bounded unbounded(HostTensor value) {
  Bounded result = exactly(std::move(value));
  for (std::size_t i = 0; i < elements_of(result.error); ++i) {
    result.error.set(i, std::numeric_limits<float>::infinity());
  }
  return result;
}

Bounded exactly(HostTensor value) {
  HostTensor error = errors_for(value);
  return {std::move(value), std::move(error)};
}

std::optional<std::vector<Bounded>> propagate(const Op& op, std::span<const Bounded> operands) {
  const std::string_view name = op.definition->name;
  if (name == "stablehlo.while") return propagate_while(op, operands);
  if (name.starts_with("chlo.broadcast_")) return bound_expanded(op, operands, {});
  if (name == "stablehlo.case" || name == "stablehlo.if") return propagate_branch(op, operands);
  std::vector<HostTensor> values;
  for (const Bounded& operand : operands) values.push_back(operand.value);
  std::vector<HostTensor> results = op.definition->evaluate(op, values);
  const auto* const rule = std::ranges::find(kRules, name, &RuleOf::op);
  return (rule == kRules.end() ? bound_elementwise : rule->rule)(op, operands, std::move(results));
}

std::optional<std::vector<Bounded>> propagate(const Graph& graph,
                                              std::span<const Bounded> arguments) {
  std::vector<Bounded> values(graph.values().size());
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    values[index(graph.arguments()[a])] = arguments[a];
  }
  for (const Op& op : graph.ops()) {
    std::vector<Bounded> operands;
    for (const ValueId operand : op.operands) operands.push_back(values[index(operand)]);
    auto results = propagate(op, operands);
    if (!results) return std::nullopt;
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      values[index(op.results[r])] = std::move((*results)[r]);
    }
  }
  return values;
}

std::optional<std::size_t> first_wrong(const Bounded& expected, const HostTensor& found) {
  const DType dtype = found.type.dtype;
  const std::size_t size = size_of(dtype);
  for (std::size_t i = 0; i < elements_of(expected.value); ++i) {
    const double error = error_at(expected, i);
    if (std::memcmp(expected.value.data.data() + i * size, found.data.data() + i * size, size) ==
            0 ||
        std::isinf(error)) {
      continue;
    }
    if (!is_float(dtype) && !is_complex(dtype)) return i;
    const std::complex<double> want = read_number(expected.value, i), got = read_number(found, i);
    if (same_part(got.real(), want.real()) && same_part(got.imag(), want.imag())) continue;
    // Written so that a NaN on one side is wrong.
    if (error > 0 && std::abs(got - want) <= error) continue;
    return i;
  }
  return std::nullopt;
}

}  // namespace superstep
