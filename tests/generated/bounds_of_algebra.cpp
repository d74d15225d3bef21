// Bounds by the norm of what goes in, for ops that are many steps.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "tests/generated/accuracy.h"
#include "tests/generated/bounding.h"

namespace superstep {
namespace {

/// The greatest size of an element.
double greatest(const HostTensor& tensor) {
  double size = 0;
  for (std::size_t i = 0; i < elements_of(tensor); ++i) {
    size = std::max(size, size_at(tensor, i));
  }
  return size;
}

double least(const HostTensor& tensor) {
  double size = HUGE_VAL;
  for (std::size_t i = 0; i < elements_of(tensor); ++i) {
    size = std::min(size, size_at(tensor, i));
  }
  return size;
}

/// Roundoff of what is computed in f32 at least, and of the result.
double roundoff(DType dtype, double steps) {
  const bool is_short = is_short_float(dtype) || is_narrow_float(dtype);
  if (!is_short) return steps * unit_roundoff(dtype);
  return steps * unit_roundoff(DType::kF32) + 2 * unit_roundoff(dtype);
}

/// Numbers within an error, others exact.
std::optional<Bounded> bound_number(HostTensor value, double error) {
  if (is_float(value.type.dtype) || is_complex(value.type.dtype)) {
    return within(std::move(value), error);
  }
  return exactly(std::move(value));
}

/// Which results of a call are not compared: vectors with signs and orders of their own.
struct Call {
  std::string_view name;
  std::vector<std::size_t> free;
  bool has_pivots = false;  ///< its first result has a triangular factor, of which each row is as
                            ///< wrong as the pivots above it are small
};
const std::array kCalls = {
    Call{"ApproxTopK", {}},
    Call{"Eigh", {0}},
    Call{"LuDecomposition", {}, true},
    Call{"Qr", {}, true},
    Call{"Sharding", {}},
    Call{"lapack_sgeqrf_ffi", {}, true},
    Call{"lapack_cgeqrf_ffi", {}, true},
    Call{"lapack_sgetrf_ffi", {}, true},
    Call{"lapack_spotrf_ffi", {}},
    Call{"lapack_strsm_ffi", {}},
    Call{"lapack_ssyevd_ffi", {0}},
    Call{"lapack_cheevd_ffi", {0}},
    Call{"lapack_sgtsv_ffi", {}},
    Call{"lapack_sgesdd_ffi", {0, 2, 3}},
};

/// The least size on the diagonals of matrices.
double least_pivot(const HostTensor& matrices) {
  const Shape& shape = matrices.type.shape;
  const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]);
  const auto columns = static_cast<std::size_t>(shape.back());
  double size = HUGE_VAL;
  for (std::size_t first = 0; first < elements_of(matrices); first += rows * columns) {
    for (std::size_t i = 0; i < std::min(rows, columns); ++i) {
      size = std::min(size, size_at(matrices, first + i * columns + i));
    }
  }
  return size;
}

/// Whether no pivot of a Cholesky factor is as small as roundings: else it is chance whether tiles
/// find it above 0.
bool has_clear_pivots(const HostTensor& a, const HostTensor& factor) {
  const double n = static_cast<double>(a.type.shape.back());
  const double least = std::pow(least_pivot(factor), 2);
  return least > roundoff(a.type.dtype, 32 * (n + 1)) * greatest(a);
}

/// The last reflector of a complex matrix that is not taller than wide has but an imaginary part to
/// take away. Where that rounds to 0 there is none, and the sign of its row of R is another.
void free_last_reflectors(std::vector<Bounded>& factors) {
  const Shape& shape = factors[0].value.type.shape;
  const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]);
  const auto columns = static_cast<std::size_t>(shape.back());
  if (!is_complex(factors[0].value.type.dtype) || rows > columns) return;
  const auto free_last = [&](Bounded& x, std::size_t block, std::size_t count) {
    for (std::size_t i = 0; i < elements_of(x.error); ++i) {
      if (i % block >= block - count) x.error.set(i, std::numeric_limits<float>::infinity());
    }
  };
  free_last(factors[0], rows * columns, columns - rows + 1);
  free_last(factors[1], rows, 1);
}

}  // namespace

BoundedResults bound_fft(const Op& op, std::span<const Bounded> operands,
                         std::vector<HostTensor> values) {
  if (!are_exact(operands)) return std::nullopt;
  const HostTensor& x = operands[0].value;
  const auto& lengths = std::get<std::vector<std::int64_t>>(op.attributes.at("fft_length"));
  const auto& type = std::get<std::string>(op.attributes.at("fft_type"));
  std::size_t block = 1;
  double count = 1;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    block *= static_cast<std::size_t>(x.type.shape[x.type.shape.size() - 1 - i]);
    count *= static_cast<double>(lengths[i]);
  }
  double most_squares = 0, most_sizes = 0;
  for (std::size_t first = 0; block > 0 && first < elements_of(x); first += block) {
    double squares = 0, sizes = 0;
    for (std::size_t i = first; i < first + block; ++i) {
      squares += std::pow(size_at(x, i), 2);
      sizes += size_at(x, i);
    }
    most_squares = std::max(most_squares, squares);
    most_sizes = std::max(most_sizes, sizes);
  }
  // The other half of what IRFFT is given.
  if (type == "IRFFT") {
    most_squares *= 2;
    most_sizes *= 2;
  }
  // Short ones are sums of products, whose roundings add up where terms are alike.
  constexpr double kMostTerms = 256;
  const double units = 16 + 4 * std::log2(std::max(count, 1.0));
  const double terms = std::min(count, kMostTerms) / 4;
  double error =
      unit_roundoff(x.type.dtype) * (units * std::sqrt(most_squares) + terms * most_sizes);
  if (type == "IFFT" || type == "IRFFT") error /= std::max(count, 1.0);
  auto result = within(std::move(values[0]), error);
  if (!result) return std::nullopt;
  return std::vector<Bounded>{std::move(*result)};
}

namespace {

/// `condition`: how much larger than of a good matrix errors may be.
BoundedResults bound_by_size(std::span<const Bounded> operands, std::vector<HostTensor> values,
                             double condition) {
  if (!are_exact(operands)) return std::nullopt;
  const Shape& shape = operands[0].value.type.shape;
  const double n = shape.empty() ? 1 : static_cast<double>(shape.back()) + 1;
  std::vector<Bounded> results;
  for (HostTensor& value : values) {
    const double size = std::max(greatest(operands[0].value), greatest(value));
    const double steps = 32 * n * condition;
    const DType dtype = value.type.dtype;
    const bool is_number = is_float(dtype) || is_complex(dtype);
    auto bound = bound_number(std::move(value), is_number ? roundoff(dtype, steps) * size : 0);
    if (!bound) return std::nullopt;
    results.push_back(std::move(*bound));
  }
  return results;
}

}  // namespace

BoundedResults bound_factors(const Op&, std::span<const Bounded> operands,
                             std::vector<HostTensor> values) {
  return bound_by_size(operands, std::move(values), 1);
}

BoundedResults bound_cholesky(const Op& op, std::span<const Bounded> operands,
                              std::vector<HostTensor> values) {
  if (!has_clear_pivots(operands[0].value, values[0])) return std::nullopt;
  return bound_factors(op, operands, std::move(values));
}

BoundedResults bound_call(const Op& op, std::span<const Bounded> operands,
                          std::vector<HostTensor> values) {
  if (!are_exact(operands)) return std::nullopt;
  const auto& name = std::get<std::string>(op.attributes.at("call_target_name"));
  const auto* const call = std::ranges::find(kCalls, name, &Call::name);
  if (call == kCalls.end()) return std::nullopt;
  if (name == "lapack_spotrf_ffi" && !has_clear_pivots(operands[0].value, values[0])) {
    return std::nullopt;
  }
  std::vector<HostTensor> kept = values;
  if (name == "Sharding" || name == "ApproxTopK") {
    std::vector<Bounded> results;
    for (HostTensor& value : values) results.push_back(exactly(std::move(value)));
    return results;
  }
  const double condition =
      call->has_pivots ? std::max(1.0, greatest(operands[0].value) / least_pivot(values[0])) : 1;
  BoundedResults results = bound_by_size(operands, std::move(values), condition);
  if (!results) return std::nullopt;
  for (const std::size_t i : call->free) (*results)[i] = unbounded(std::move(kept[i]));
  if (name.ends_with("geqrf_ffi")) free_last_reflectors(*results);
  return results;
}

BoundedResults bound_batch_norm(const Op& op, std::span<const Bounded> operands,
                                std::vector<HostTensor> values) {
  if (!are_exact(operands)) return std::nullopt;
  const std::string_view name = op.definition->name;
  const bool trains = name == "stablehlo.batch_norm_training";
  const bool is_gradient = name == "stablehlo.batch_norm_grad";
  const DType dtype = operands[0].value.type.dtype;
  const double elements = static_cast<double>(elements_of(operands[0].value));
  const double features = std::max(1.0, static_cast<double>(elements_of(operands[1].value)));
  const double members = std::max(1.0, elements / features);
  const auto size = [&](std::size_t i) { return greatest(operands[i].value); };
  // Operands: elements, scales, then offsets or means, means or variances, variances or gradients.
  const double scale = size(1), epsilon = std::get<double>(op.attributes.at("epsilon"));
  const double offset = is_gradient ? 0 : size(2);
  const double spread = size(0) + (trains ? size(0) : size(is_gradient ? 2 : 3));
  const double variance = trains ? least(values[2]) : least(operands[is_gradient ? 3 : 4].value);
  const double inverse = 1 / std::sqrt(std::max(std::min(variance, 1e30), 0.0) + epsilon);
  const double normal = spread * inverse;
  const double unit = 8 * (members + 4) * unit_roundoff(dtype);
  const double off = unit * (1 + normal * normal);
  std::vector<double> errors;
  if (is_gradient) {
    const double gradient = size(4);
    errors = {off * scale * inverse * gradient * (2 + normal * normal) * 2,
              off * members * gradient * normal, unit * members * gradient};
  } else {
    errors = {off * (normal * scale + offset), unit * spread, unit * spread * spread};
  }
  std::vector<Bounded> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto bound = within(std::move(values[i]), errors[i] + 4 * ulp(dtype, 0));
    if (!bound) return std::nullopt;
    results.push_back(std::move(*bound));
  }
  return results;
}

BoundedResults bound_random(const Op& op, std::span<const Bounded> operands,
                            std::vector<HostTensor> values) {
  if (!are_exact(operands)) return std::nullopt;
  if (std::get<std::string>(op.attributes.at("rng_distribution")) == "UNIFORM") {
    return std::vector<Bounded>{exactly(std::move(values[0]))};
  }
  // A normal number of f32 is no more than 6 deviations off, and computed within 3 units.
  const DType dtype = values[0].type.dtype;
  const double size = size_at(operands[0].value, 0) + 6 * size_at(operands[1].value, 0);
  const double units = 16 * unit_roundoff(DType::kF32) + 2 * unit_roundoff(dtype);
  auto bound = within(std::move(values[0]), size * units);
  if (!bound) return std::nullopt;
  return std::vector<Bounded>{std::move(*bound)};
}

}  // namespace superstep
