#include "tests/generated/bounded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "tests/regions.h"

namespace superstep {
namespace {

constexpr std::array<std::string_view, 7> kMovement = {
    "stablehlo.broadcast_in_dim", "stablehlo.concatenate", "stablehlo.pad",
    "stablehlo.reshape",          "stablehlo.reverse",     "stablehlo.slice",
    "stablehlo.transpose"};
constexpr std::array<std::string_view, 4> kIndexing = {"stablehlo.dynamic_slice",
                                                       "stablehlo.dynamic_update_slice",
                                                       "stablehlo.gather", "stablehlo.scatter"};
constexpr std::array<std::string_view, 10> kTranscendental = {
    "stablehlo.atan2", "stablehlo.cbrt",         "stablehlo.exponential",
    "stablehlo.log",   "stablehlo.log_plus_one", "stablehlo.exponential_minus_one",
    "stablehlo.power", "stablehlo.logistic",     "stablehlo.rsqrt",
    "stablehlo.tanh"};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

double largest(DType dtype) {
  if (dtype == DType::kBF16) return 0x1.fep127;
  return dtype == DType::kF16 ? 65504.0 : double{std::numeric_limits<float>::max()};
}
int fraction_bits(DType dtype) {
  return dtype == DType::kBF16 ? 7 : dtype == DType::kF16 ? 10 : 23;
}
/// Half the distance of 1 to the next number.
double unit_roundoff(DType dtype) { return std::ldexp(1, -1 - fraction_bits(dtype)); }

/// The distance to the next number of a float type.
double ulp(DType dtype, double x) {
  const int bits = fraction_bits(dtype);
  const int lowest = (dtype == DType::kF16 ? -14 : -126) - bits;
  return x == 0 ? std::ldexp(1, lowest) : std::ldexp(1, std::max(std::ilogb(x) - bits, lowest));
}

/// Rounds a bound up, with room for the roundings of its computation.
void write_error(HostTensor& error, std::size_t element, double bound) {
  const double raised = bound * 1.00001;
  float value = static_cast<float>(raised);
  if (double{value} < raised) value = std::nextafter(value, std::numeric_limits<float>::infinity());
  error.set(element, value);
}
double error_at(const Bounded& x, std::size_t element) {
  return double{x.error.get<float>(element)};
}
bool is_exact(const Bounded& x) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.error.type.elements()); ++i) {
    if (error_at(x, i) != 0) return false;
  }
  return true;
}

std::size_t element_of(const HostTensor& tensor, std::size_t element) {
  return tensor.type.shape.empty() ? 0 : element;
}

HostTensor like(const HostTensor& x) { return HostTensor(TensorType{DType::kF32, x.type.shape}); }

/// |x| + its error.
HostTensor magnitudes(const Bounded& x) {
  HostTensor result = like(x.value);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
    write_error(result, i, std::abs(read_float(x.value, i)) + error_at(x, i));
  }
  return result;
}

HostTensor evaluate_as_f32(Op op, const std::vector<HostTensor>& operands) {
  if (!op.declared.empty()) op.declared[0].dtype = DType::kF32;
  return op.definition->evaluate(op, operands)[0];
}

/// Where a float operand of an elementwise op may lie.
struct Operand {
  double value, error;
};

/// How far the result of one element may be off when an operand is; empty when no bound is known.
std::optional<double> elementwise_error(std::string_view name, DType dtype, double result,
                                        std::span<const Operand> x) {
  for (const Operand& operand : x) {
    if (!(std::abs(operand.value) + operand.error < largest(dtype) / 4)) return std::nullopt;
  }
  const auto rounded = [&](double error, double ulps) {
    return error + ulps * ulp(dtype, std::abs(result) + error);
  };
  const double ulps = is_short_float(dtype) ? 1 : 3;
  const auto [a, ea] = x[0];
  // A value that is not well above its error may be 0 or of the other sign.
  const auto positive = [](const Operand& operand) { return operand.value > 2 * operand.error; };
  if (name == "stablehlo.negate" || name == "stablehlo.abs") return ea;
  if (name == "stablehlo.exponential" && ea < 1) {
    return rounded(std::abs(result) * std::expm1(ea), ulps);
  }
  if (name == "stablehlo.log" && positive(x[0])) return rounded(ea / (a - ea), ulps);
  if (name == "stablehlo.tanh") return rounded(ea, ulps);
  if (name == "stablehlo.logistic") return rounded(ea / 4, ulps);
  if (name == "stablehlo.sqrt" && positive(x[0])) {
    return rounded(ea / (2 * std::sqrt(a - ea)), 1);
  }
  if (x.size() == 1) return std::nullopt;
  const auto [b, eb] = x[1];
  if (name == "stablehlo.add" || name == "stablehlo.subtract") return rounded(ea + eb, 1);
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

/// The error of element `i` of an elementwise op.
std::optional<double> error_of_element(const Op& op, std::span<const Bounded> operands,
                                       const HostTensor& result, std::size_t i) {
  const std::string_view name = op.definition->name;
  std::vector<Operand> x;
  bool exact = true;
  for (const Bounded& operand : operands) {
    const std::size_t at = element_of(operand.value, i);
    const bool number = is_float(operand.value.type.dtype);
    x.push_back({number ? read_float(operand.value, at) : 0, error_at(operand, at)});
    exact = exact && x.back().error == 0;
  }
  const DType dtype = result.type.dtype;
  if (exact && !among(kTranscendental, name)) return 0;
  if (!is_float(dtype)) return std::nullopt;
  const double value = read_float(result, i);
  if (exact) {
    if (!std::isfinite(value)) return 0;
    return (is_short_float(dtype) ? 1 : 3) * ulp(dtype, value);
  }
  if (name == "stablehlo.convert") {
    if (!(std::abs(value) < largest(dtype) / 4)) return std::nullopt;
    return dtype == DType::kF32 ? x[0].error
                                : x[0].error + ulp(dtype, std::abs(value) + x[0].error);
  }
  const auto error = elementwise_error(name, dtype, value, x);
  if (!error || !(std::abs(value) + *error < largest(dtype) / 4)) return std::nullopt;
  return error;
}

/// 2 K u times the sum of magnitudes, and the errors of the operands.
std::optional<Bounded> sum_bound(HostTensor value, const HostTensor& magnitude,
                                 const HostTensor& error, std::int64_t terms) {
  const DType dtype = value.type.dtype;
  const double factor = 2 * static_cast<double>(terms) * unit_roundoff(dtype);
  const double smallest = static_cast<double>(terms) * ulp(dtype, 0);
  Bounded result{std::move(value), HostTensor(magnitude.type)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(magnitude.type.elements()); ++i) {
    const double sum = read_float(magnitude, i);
    const double bound = terms == 0 ? 0 : factor * sum + read_float(error, i) + smallest;
    if (!(sum + bound < largest(dtype) / 4)) return std::nullopt;
    write_error(result.error, i, bound);
  }
  return result;
}

/// A reduction may keep the payload of a NaN or not: its f16 accumulators are f32.
void free_payloads(Bounded& x) {
  if (!is_float(x.value.type.dtype)) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.value.type.elements()); ++i) {
    if (std::isnan(read_float(x.value, i))) x.error.set(i, 1.0F);
  }
}

std::optional<std::vector<Bounded>> propagate_reduce(const Op& op,
                                                     std::span<const Bounded> operands,
                                                     std::vector<HostTensor> values) {
  const Graph& region = op.regions[0];
  const std::string_view kind =
      region.ops().size() == 1 ? region.ops()[0].definition->name : std::string_view{};
  const bool floats = is_float(values[0].type.dtype);
  std::vector<Bounded> results;
  if (kind == "stablehlo.add" && floats) {
    Op as_f32 = op;
    as_f32.regions = {binary_reducer("stablehlo.add", DType::kF32)};
    const HostTensor magnitude =
        evaluate_as_f32(as_f32, {magnitudes(operands[0]), magnitudes(operands[1])});
    const HostTensor error = evaluate_as_f32(as_f32, {operands[0].error, operands[1].error});
    const std::int64_t elements = std::max<std::int64_t>(values[0].type.elements(), 1);
    const std::int64_t terms = operands[0].value.type.elements() / elements + 1;
    auto sum = sum_bound(std::move(values[0]), magnitude, error, terms);
    if (!sum) return std::nullopt;
    results.push_back(std::move(*sum));
    return results;
  }
  if ((kind == "stablehlo.maximum" || kind == "stablehlo.minimum") && floats) {
    Op as_f32 = op;
    as_f32.regions = {binary_reducer("stablehlo.maximum", DType::kF32)};
    HostTensor error = evaluate_as_f32(as_f32, {operands[0].error, operands[1].error});
    results.push_back({std::move(values[0]), std::move(error)});
    return results;
  }
  if (!std::ranges::all_of(operands, is_exact)) return std::nullopt;
  // A product of floats rounds by its order.
  if (kind == "stablehlo.multiply" && floats) return std::nullopt;
  for (HostTensor& value : values) {
    results.push_back(exactly(std::move(value)));
    free_payloads(results.back());
  }
  return results;
}

/// Elements that are moved keep their errors; what is combined must be exact, in order.
std::optional<std::vector<Bounded>> propagate_indexing(const Op& op,
                                                       std::span<const Bounded> operands,
                                                       std::vector<HostTensor> values) {
  const bool combines = !op.regions.empty() && !op.regions[0].ops().empty();
  if (combines) {
    if (!std::ranges::all_of(operands, is_exact)) return std::nullopt;
    Bounded result = exactly(std::move(values[0]));
    free_payloads(result);
    return std::vector<Bounded>{std::move(result)};
  }
  Op moving = op;
  if (!op.regions.empty()) moving.regions = {replacing_reducer(DType::kF32)};
  std::vector<HostTensor> errors;
  for (const Bounded& operand : operands) errors.push_back(operand.error);
  const std::string_view name = op.definition->name;
  const bool is_scatter = name == "stablehlo.scatter";
  const std::size_t first = name == "stablehlo.dynamic_update_slice" ? 2 : 1;
  for (std::size_t i = first; i < (is_scatter ? 2 : operands.size()); ++i) {
    errors[i] = operands[i].value;
  }
  return std::vector<Bounded>{{std::move(values[0]), evaluate_as_f32(moving, errors)}};
}

std::optional<Bounded> propagate_dot(const Op& op, std::span<const Bounded> operands,
                                     HostTensor value) {
  if (!is_float(value.type.dtype)) return exactly(std::move(value));
  const Bounded& a = operands[0];
  const Bounded& b = operands[1];
  const HostTensor size_a = magnitudes(a);
  const HostTensor size_b = magnitudes(b);
  HostTensor error = evaluate_as_f32(op, {size_a, b.error});
  const HostTensor more = evaluate_as_f32(op, {a.error, size_b});
  for (std::size_t i = 0; i < static_cast<std::size_t>(error.type.elements()); ++i) {
    write_error(error, i, read_float(error, i) + read_float(more, i));
  }
  std::int64_t terms = 1;
  for (const std::int64_t d :
       std::get<std::vector<std::int64_t>>(op.attributes.at("lhs_contracting_dimensions"))) {
    terms *= a.value.type.shape[static_cast<std::size_t>(d)];
  }
  return sum_bound(std::move(value), evaluate_as_f32(op, {size_a, size_b}), error, terms);
}

/// The results of a region.
std::optional<std::vector<Bounded>> propagate_region(const Graph& region,
                                                     std::span<const Bounded> arguments) {
  auto values = propagate(region, arguments);
  if (!values) return std::nullopt;
  std::vector<Bounded> results;
  for (const ValueId result : region.results()) results.push_back((*values)[index(result)]);
  return results;
}

std::optional<std::vector<Bounded>> propagate_while(const Op& op,
                                                    std::span<const Bounded> operands) {
  constexpr int kMostTrips = 16;
  std::vector<Bounded> carried(operands.begin(), operands.end());
  for (int trip = 0; trip <= kMostTrips; ++trip) {
    const auto goes_on = propagate_region(op.regions[0], carried);
    if (!goes_on || !is_exact((*goes_on)[0])) return std::nullopt;
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

std::optional<std::vector<Bounded>> propagate_case(const Op& op,
                                                   std::span<const Bounded> operands) {
  const std::size_t last = op.regions.size() - 1;
  if (!is_exact(operands[0])) return std::nullopt;
  const auto number = operands[0].value.get<std::uint32_t>(0);
  return propagate_region(op.regions[std::min<std::size_t>(number, last)], operands.subspan(1));
}

}  // namespace

Bounded exactly(HostTensor value) {
  HostTensor error = like(value);
  return {std::move(value), std::move(error)};
}

std::optional<std::vector<Bounded>> propagate(const Op& op, std::span<const Bounded> operands) {
  const std::string_view name = op.definition->name;
  if (name == "stablehlo.while") return propagate_while(op, operands);
  if (name == "stablehlo.case") return propagate_case(op, operands);
  std::vector<HostTensor> values, errors;
  for (const Bounded& operand : operands) {
    values.push_back(operand.value);
    errors.push_back(operand.error);
  }
  std::vector<HostTensor> results = op.definition->evaluate(op, values);
  if (name == "stablehlo.reduce") return propagate_reduce(op, operands, std::move(results));
  if (name == "stablehlo.dot_general") {
    auto dot = propagate_dot(op, operands, std::move(results[0]));
    if (!dot) return std::nullopt;
    return std::vector<Bounded>{std::move(*dot)};
  }
  if (among(kIndexing, name)) return propagate_indexing(op, operands, std::move(results));
  if (among(kMovement, name)) {
    return std::vector<Bounded>{{std::move(results[0]), evaluate_as_f32(op, errors)}};
  }
  if (name == "stablehlo.select") {
    errors[0] = values[0];
    return std::vector<Bounded>{{std::move(results[0]), evaluate_as_f32(op, errors)}};
  }
  Bounded result = exactly(std::move(results[0]));
  if (!operands.empty()) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(result.error.type.elements()); ++i) {
      const auto error = error_of_element(op, operands, result.value, i);
      if (!error) return std::nullopt;
      write_error(result.error, i, *error);
    }
  }
  return std::vector<Bounded>{std::move(result)};
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
  const auto elements = static_cast<std::size_t>(expected.value.type.elements());
  for (std::size_t i = 0; i < elements; ++i) {
    if (read_bits(expected.value, i) == read_bits(found, i)) continue;
    const double error = error_at(expected, i);
    const double want = read_float(expected.value, i), got = read_float(found, i);
    if (is_float(found.type.dtype) && std::isnan(want) && std::isnan(got)) continue;
    // Written so that a NaN on one side is wrong.
    if (error > 0 && std::abs(got - want) <= error) continue;
    return i;
  }
  return std::nullopt;
}

}  // namespace superstep
