#include "compiler/ops/dot_algorithm.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <tuple>

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

}  // namespace

void check_algorithm(const Op& op, DType lhs, DType rhs, DType result) {
  // Products of integers are exact, whatever floats are named.
  if (!op.attributes.contains(kLeft) || is_integer(result)) return;
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
  unsupported(op, fmt::format("algorithm {} x {} with sums in {}, {} product{} of each pair; of {} "
                              "and {} there is {} x {} with sums in {}, 1 product of each pair: "
                              "convert the operands, or leave the algorithm out",
                              left, right, asked, products, products == 1 ? "" : "s", name_of(lhs),
                              name_of(rhs), name_of(lhs), name_of(rhs), name_of(sums)));
}

void erase_algorithm(Op& op) {
  for (const char* field : kFields) op.attributes.erase(field);
}

}  // namespace superstep
