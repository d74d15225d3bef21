#include "compiler/ops/dot_algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

constexpr const char* kLeft = "lhs_precision_type";
constexpr const char* kRight = "rhs_precision_type";
constexpr const char* kSums = "accumulation_type";
constexpr const char* kLeftParts = "lhs_component_count";
constexpr const char* kRightParts = "rhs_component_count";
constexpr const char* kProducts = "num_primitive_operations";
// It allows what no product here makes use of.
constexpr const char* kImprecise = "allow_imprecise_accumulation";
constexpr std::array kFields = {kLeft,       kRight,    kSums,     kLeftParts,
                                kRightParts, kProducts, kImprecise};

constexpr PartsAlgorithm::Product kOne[] = {{0, 0}};
constexpr PartsAlgorithm::Product kThree[] = {{1, 0}, {0, 1}, {0, 0}};
constexpr PartsAlgorithm::Product kSix[] = {{1, 1}, {0, 2}, {2, 0}, {0, 1}, {1, 0}, {0, 0}};
constexpr PartsAlgorithm::Product kNine[] = {{2, 2}, {1, 2}, {2, 1}, {1, 1}, {0, 2},
                                             {2, 0}, {0, 1}, {1, 0}, {0, 0}};
constexpr PartsAlgorithm kOfParts[] = {
    {"bf16", 7, 1, kOne},  {"bf16", 7, 2, kThree}, {"bf16", 7, 3, kSix},
    {"bf16", 7, 3, kNine}, {"tf32", 10, 1, kOne},  {"tf32", 10, 2, kThree},
};

constexpr std::int64_t kExponentBits = 8, kFractionBits = 23;  // of f32

/// The bits of an f32 that a part has.
std::uint32_t mask_of(const PartsAlgorithm& algorithm) {
  return ~std::uint32_t{0} << (kFractionBits - algorithm.fraction_bits);
}

float cut_off(float x, const PartsAlgorithm& algorithm) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & mask_of(algorithm));
}

/// The last part of what is left of an operand, as a reduce_precision.
Op last_part(const PartsAlgorithm& algorithm) {
  Op op;
  op.attributes = {{"exponent_bits", kExponentBits}, {"mantissa_bits", algorithm.fraction_bits}};
  return op;
}

}  // namespace

std::optional<PartsAlgorithm> parts_algorithm(const Op& op, DType lhs, DType rhs) {
  const auto has_parts = [](DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16; };
  if (!op.attributes.contains(kLeft) || !has_parts(lhs) || !has_parts(rhs)) return std::nullopt;
  if (lhs == DType::kBF16 && rhs == DType::kBF16) return std::nullopt;
  const std::string& precision = attribute<std::string>(op, kLeft);
  if (attribute<std::string>(op, kRight) != precision ||
      attribute<std::string>(op, kSums) != name_of(DType::kF32) ||
      attribute<std::int64_t>(op, kLeftParts) * attribute<std::int64_t>(op, kRightParts) != 1) {
    return std::nullopt;
  }
  const auto products = static_cast<std::size_t>(attribute<std::int64_t>(op, kProducts));
  const auto* const found = std::ranges::find_if(kOfParts, [&](const PartsAlgorithm& one) {
    return one.precision == precision && one.products.size() == products;
  });
  return found == std::end(kOfParts) ? std::nullopt : std::optional(*found);
}

std::vector<Tensor> parts_of(Tensor x, const PartsAlgorithm& algorithm) {
  Tensor rest = convert(x, DType::kF32);
  std::vector<Tensor> parts;
  while (parts.size() + 1 < algorithm.parts) {
    const Tensor bits = bitcast(rest, {DType::kU32, rest.shape()});
    parts.push_back(bitcast(bits & bits.like(mask_of(algorithm)), rest.type()));
    rest = rest - parts.back();
  }
  parts.push_back(rest.builder->apply(kReducePrecisionOp, {rest}, last_part(algorithm)));
  return parts;
}

std::vector<HostTensor> parts_of(const HostTensor& x, const PartsAlgorithm& algorithm) {
  std::vector<HostTensor> parts(algorithm.parts, HostTensor({DType::kF32, x.type.shape}));
  HostTensor& last = parts.back();
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.type.elements()); ++i) {
    auto rest = static_cast<float>(read_float(x, i));
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
      const float part = cut_off(rest, algorithm);
      write_float(parts[p], i, part);
      rest -= part;
    }
    write_float(last, i, rest);
  }
  last = kReducePrecisionOp.evaluate(last_part(algorithm), std::array{last})[0];
  return parts;
}

void check_algorithm(const Op& op, DType lhs, DType rhs, DType result) {
  // Products of integers are exact, whatever floats are named.
  if (!op.attributes.contains(kLeft) || is_integer(result)) return;
  if (parts_algorithm(op, lhs, rhs)) return;
  const DType sums = result == DType::kF64 ? DType::kF64 : DType::kF32;
  // Those of a narrower result are of its type.
  if (lhs == DType::kF64) lhs = result;
  if (rhs == DType::kF64) rhs = result;
  const std::string &left = attribute<std::string>(op, kLeft),
                    &right = attribute<std::string>(op, kRight),
                    &asked = attribute<std::string>(op, kSums);
  const std::int64_t parts = attribute<std::int64_t>(op, kLeftParts) *
                             attribute<std::int64_t>(op, kRightParts),
                     products = attribute<std::int64_t>(op, kProducts);
  if (left == name_of(lhs) && right == name_of(rhs) && asked == name_of(sums) && parts == 1 &&
      products == 1) {
    return;
  }
  const char* of_parts = lhs == DType::kF32 && rhs == DType::kF32
                             ? ", also bf16 x bf16 with 1, 3, 6 or 9 and tf32 x tf32 with 1 or 3"
                             : "";
  unsupported(op, fmt::format("algorithm {} x {} with sums in {}, {} product{} of each pair; of {} "
                              "and {} there is {} x {} with sums in {}, 1 product of each pair{}: "
                              "convert the operands, or leave the algorithm out",
                              left, right, asked, products, products == 1 ? "" : "s", name_of(lhs),
                              name_of(rhs), name_of(lhs), name_of(rhs), name_of(sums), of_parts));
}

void erase_algorithm(Op& op) {
  for (const char* field : kFields) op.attributes.erase(field);
}

}  // namespace superstep
