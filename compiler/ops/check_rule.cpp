#include "compiler/ops/check_rule.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "compiler/ops/elements.h"

namespace superstep {
namespace {

constexpr std::uint64_t kApart = std::numeric_limits<std::uint64_t>::max();

/// A complex tensor as one of its parts.
HostTensor parts_of(HostTensor tensor) {
  if (!is_complex(tensor.type.dtype)) return tensor;
  tensor.type.dtype = size_of(tensor.type.dtype) == 8 ? DType::kF32 : DType::kF64;
  tensor.type.shape.push_back(2);
  return tensor;
}

std::string element_text(const HostTensor& tensor, std::size_t i) {
  if (is_float(tensor.type.dtype)) return fmt::format("{:.9g}", read_float(tensor, i));
  if (is_signed(tensor.type.dtype)) return fmt::format("{}", read_int(tensor, i));
  return fmt::format("{}", read_bits(tensor, i));
}

bool holds(const Check& check, const HostTensor& found, const HostTensor& expected, std::size_t i) {
  const std::uint64_t a = read_bits(found, i), b = read_bits(expected, i);
  if (!is_float(found.type.dtype)) return a == b;
  if (check.kind == Check::Kind::kClose) {
    const std::uint64_t ulps = ulp_difference(found.type.dtype, a, b);
    return check.least_ulps <= ulps && ulps <= check.most_ulps;
  }
  const double x = read_float(found, i), y = read_float(expected, i);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  return check.kind == Check::Kind::kAlmostEqual && std::isfinite(x) && std::isfinite(y) &&
         std::fabs(x - y) <= check.tolerance;
}

}  // namespace

std::uint64_t ulp_difference(DType dtype, std::uint64_t a, std::uint64_t b) {
  if (a == b) return 0;
  const auto number = [&](std::uint64_t bits) {
    HostTensor scalar({dtype, {}});
    write_bits(scalar, 0, bits);
    return read_float(scalar, 0);
  };
  const double x = number(a), y = number(b);
  if (std::isnan(x) && std::isnan(y)) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return kApart;
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  const std::uint64_t above = a & ~sign, below = b & ~sign;
  if ((a & sign) != (b & sign)) return above + below;
  return above > below ? above - below : below - above;
}

std::optional<std::string> violation(const Check& check, const HostTensor& found,
                                     const HostTensor& expected) {
  if (found.type != expected.type) {
    return fmt::format("found {}, expected {}", found.type.text(), expected.type.text());
  }
  const HostTensor a = parts_of(found), b = parts_of(expected);
  const auto count = static_cast<std::size_t>(a.type.elements());
  std::size_t wrong = 0, first = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (holds(check, a, b, i)) continue;
    if (wrong++ == 0) first = i;
    if (check.kind == Check::Kind::kClose) {
      most = std::max(most, ulp_difference(a.type.dtype, read_bits(a, i), read_bits(b, i)));
    }
  }
  if (wrong == 0) return std::nullopt;
  std::string text = fmt::format("{} of {} elements; element {} is {}, expected {}", wrong, count,
                                 first, element_text(a, first), element_text(b, first));
  if (most == kApart)
    return text + "; not finite where it should be, or finite where it should not";
  if (check.kind == Check::Kind::kClose) text += fmt::format("; up to {} ULP apart", most);
  return text;
}

}  // namespace superstep
