// Sums and products: 2 K u sum|a||b| and the errors of operands.

#include <cmath>
#include <string>
#include <string_view>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "tests/generated/accuracy.h"
#include "tests/generated/bounding.h"
#include "tests/regions.h"

namespace superstep {
namespace {

bool is_summed(DType dtype) { return is_float(dtype) || is_complex(dtype); }

/// 2 K u times the sum of magnitudes, and the errors of the operands. Complex products are four.
std::optional<Bounded> sum_bound(HostTensor value, const HostTensor& magnitude,
                                 const HostTensor& error, std::int64_t terms) {
  const DType dtype = value.type.dtype;
  // Narrow floats are added as f32 and rounded once.
  const bool is_narrow = is_narrow_float(dtype);
  const double roundings = static_cast<double>(is_complex(dtype) ? 4 * terms : terms);
  const double factor = 2 * roundings * unit_roundoff(is_narrow ? DType::kF32 : dtype);
  const double smallest = roundings * ulp(is_narrow ? DType::kF32 : dtype, 0);
  Bounded result{std::move(value), HostTensor(magnitude.type)};
  for (std::size_t i = 0; i < elements_of(magnitude); ++i) {
    const double sum = read_float(magnitude, i);
    double bound = terms == 0 ? 0 : factor * sum + read_float(error, i) + smallest;
    if (is_narrow) bound += ulp(dtype, sum + bound);
    if (!(sum + bound < largest(dtype) / 4)) return std::nullopt;
    write_error(result.error, i, bound);
  }
  return result;
}

BoundedResults only(std::optional<Bounded> result) {
  if (!result) return std::nullopt;
  return std::vector<Bounded>{std::move(*result)};
}

std::string_view only_op_of(const Graph& region) {
  return region.ops().size() == 1 ? region.ops()[0].definition->name : std::string_view{};
}

/// Reductions of elements or windows of so many terms each.
BoundedResults bound_combined(const Op& op, std::span<const Bounded> operands,
                              std::vector<HostTensor> values, std::int64_t terms) {
  const std::string_view kind = only_op_of(op.regions[0]);
  const bool floats = is_summed(values[0].type.dtype);
  const auto as_f32 = [&](std::string_view by, const std::vector<HostTensor>& of) {
    Op changed = op;
    changed.regions = {binary_reducer(by, DType::kF32)};
    return evaluate_as_f32(std::move(changed), of);
  };
  if (kind == "stablehlo.add" && floats) {
    const HostTensor magnitude =
        as_f32("stablehlo.add", {magnitudes(operands[0]), magnitudes(operands[1])});
    const HostTensor error = as_f32("stablehlo.add", {operands[0].error, operands[1].error});
    return only(sum_bound(std::move(values[0]), magnitude, error, terms));
  }
  if ((kind == "stablehlo.maximum" || kind == "stablehlo.minimum") &&
      is_float(values[0].type.dtype)) {
    HostTensor error = as_f32("stablehlo.maximum", {operands[0].error, operands[1].error});
    return std::vector<Bounded>{{std::move(values[0]), std::move(error)}};
  }
  if (!are_exact(operands)) return std::nullopt;
  // A product of floats rounds by its order.
  if (kind == "stablehlo.multiply" && floats) return std::nullopt;
  std::vector<Bounded> results;
  for (HostTensor& value : values) {
    results.push_back(exactly(std::move(value)));
    free_payloads(results.back());
  }
  return results;
}

/// Sums of so many products of two operands.
BoundedResults bound_products(const Op& op, std::span<const Bounded> operands, HostTensor value,
                              std::int64_t terms) {
  if (!is_summed(value.type.dtype)) {
    if (!are_exact(operands)) return std::nullopt;
    return std::vector<Bounded>{exactly(std::move(value))};
  }
  const Bounded &a = operands[0], &b = operands[1];
  const HostTensor size_a = magnitudes(a), size_b = magnitudes(b);
  HostTensor error = evaluate_as_f32(op, {size_a, b.error});
  const HostTensor more = evaluate_as_f32(op, {a.error, size_b});
  for (std::size_t i = 0; i < elements_of(error); ++i) {
    write_error(error, i, read_float(error, i) + read_float(more, i));
  }
  return only(sum_bound(std::move(value), evaluate_as_f32(op, {size_a, size_b}), error, terms));
}

}  // namespace

void free_payloads(Bounded& x) {
  if (!is_float(x.value.type.dtype)) return;
  for (std::size_t i = 0; i < elements_of(x.value); ++i) {
    if (std::isnan(read_float(x.value, i))) x.error.set(i, 1.0F);
  }
}

BoundedResults bound_reduce(const Op& op, std::span<const Bounded> operands,
                            std::vector<HostTensor> values) {
  const std::int64_t elements = std::max<std::int64_t>(values[0].type.elements(), 1);
  const std::int64_t terms = operands[0].value.type.elements() / elements + 1;
  return bound_combined(op, operands, std::move(values), terms);
}

BoundedResults bound_scatter_sum(const Op& op, std::span<const Bounded> operands,
                                 HostTensor value) {
  Op sum = op;
  sum.regions = {binary_reducer("stablehlo.add", DType::kF32)};
  const HostTensor& offsets = operands[1].value;
  const auto of = [&](HostTensor table, HostTensor updates) {
    return evaluate_as_f32(sum, {std::move(table), offsets, std::move(updates)});
  };
  HostTensor one(operands[2].error.type);
  for (std::size_t i = 0; i < elements_of(one); ++i) write_error(one, i, 1);
  const HostTensor counts = of(HostTensor(operands[0].error.type), std::move(one));
  double most = 0;
  for (std::size_t i = 0; i < elements_of(counts); ++i) {
    most = std::max(most, read_float(counts, i));
  }
  return only(sum_bound(std::move(value), of(magnitudes(operands[0]), magnitudes(operands[2])),
                        of(operands[0].error, operands[2].error),
                        static_cast<std::int64_t>(most) + 1));
}

BoundedResults bound_reduce_window(const Op& op, std::span<const Bounded> operands,
                                   std::vector<HostTensor> values) {
  std::int64_t terms = 1;
  for (const std::int64_t size :
       std::get<std::vector<std::int64_t>>(op.attributes.at("window_dimensions"))) {
    terms *= size;
  }
  return bound_combined(op, operands, std::move(values), terms + 1);
}

BoundedResults bound_select_and_scatter(const Op& op, std::span<const Bounded> operands,
                                        std::vector<HostTensor> values) {
  if (!are_exact(operands)) return std::nullopt;
  const bool sums = only_op_of(op.regions[1]) == "stablehlo.add";
  if (!sums || !is_summed(values[0].type.dtype)) {
    Bounded result = exactly(std::move(values[0]));
    free_payloads(result);
    return std::vector<Bounded>{std::move(result)};
  }
  // The same places are selected for the magnitudes of what is added.
  std::vector<HostTensor> of_magnitudes{operands[0].value};
  for (const Bounded& operand : operands.subspan(1)) {
    HostTensor size = operand.value;
    for (std::size_t i = 0; i < elements_of(size); ++i) {
      write_number(size, i, size_at(operand.value, i));
    }
    of_magnitudes.push_back(std::move(size));
  }
  const Bounded sum = exactly(op.definition->evaluate(op, of_magnitudes)[0]);
  const HostTensor none = errors_for(sum.value);
  const std::int64_t terms = operands[1].value.type.elements() + 1;
  return only(sum_bound(std::move(values[0]), magnitudes(sum), none, terms));
}

BoundedResults bound_dot_general(const Op& op, std::span<const Bounded> operands,
                                 std::vector<HostTensor> values) {
  std::int64_t terms = 1;
  for (const std::int64_t d :
       std::get<std::vector<std::int64_t>>(op.attributes.at("lhs_contracting_dimensions"))) {
    terms *= operands[0].value.type.shape[static_cast<std::size_t>(d)];
  }
  return bound_products(op, operands, std::move(values[0]), terms);
}

BoundedResults bound_convolution(const Op& op, std::span<const Bounded> operands,
                                 std::vector<HostTensor> values) {
  // All of the kernel but its output features: [b, 0, f]x[i, 0, o]->…
  const auto& dimensions = std::get<std::string>(op.attributes.at("dimension_numbers"));
  const Shape& kernel = operands[1].value.type.shape;
  std::size_t d = 0;
  std::int64_t terms = 1;
  for (std::size_t at = dimensions.find('x') + 2; dimensions[at] != ']'; ++at) {
    if (dimensions[at] == ',' || dimensions[at] == ' ') continue;
    if (dimensions[at] != 'o') terms *= kernel[d];
    ++d;
  }
  return bound_products(op, operands, std::move(values[0]), terms);
}

}  // namespace superstep
