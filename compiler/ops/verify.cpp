#include "compiler/ops/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace superstep {
namespace {

constexpr DType kAllDTypes[] = {DType::kI1,  DType::kI8,  DType::kI16, DType::kI32, DType::kU8,
                                DType::kU16, DType::kU32, DType::kF16, DType::kF32};

std::vector<Problem> located(const Op& op, const std::string& message) {
  const std::string_view name = op.definition != nullptr ? op.definition->name : "op";
  return {Problem{op.location.module, fmt::format("{}: {}", name, message)}};
}

std::string names_of(DTypeSet set) {
  std::vector<std::string_view> names;
  for (const DType dtype : kAllDTypes) {
    if ((set & only(dtype)) != 0) names.push_back(name_of(dtype));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void malformed(const Op& op, const std::string& message) {
  throw MalformedInput(located(op, message));
}

void unsupported(const Op& op, const std::string& message) {
  throw Unsupported(located(op, message));
}

const Indices& index_list(const Op& op, std::string_view name, std::size_t count) {
  const Indices& list = attribute<Indices>(op, name);
  if (list.size() != count) {
    malformed(op, fmt::format("{} has {} entries, expected {}", name, list.size(), count));
  }
  return list;
}

Indices dimension_list(const Op& op, std::string_view name, std::size_t rank) {
  if (!op.attributes.contains(name)) return {};
  const Indices& list = attribute<Indices>(op, name);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] < 0 || list[i] >= static_cast<std::int64_t>(rank)) {
      malformed(op,
                fmt::format("{} names dimension {} of a tensor of rank {}", name, list[i], rank));
    }
    if (std::count(list.begin(), list.end(), list[i]) != 1) {
      malformed(op, fmt::format("{} names dimension {} twice", name, list[i]));
    }
  }
  return list;
}

std::size_t dimension(const Op& op, std::string_view name, std::size_t rank) {
  const std::int64_t found = attribute<std::int64_t>(op, name);
  if (found < 0 || found >= static_cast<std::int64_t>(rank)) {
    malformed(op, fmt::format("{} is {}, but the tensor has rank {}", name, found, rank));
  }
  return static_cast<std::size_t>(found);
}

void require_operands(const Op& op, std::span<const TensorType> operands, std::size_t count) {
  if (operands.size() != count) {
    malformed(op, fmt::format("has {} operands, expected {}", operands.size(), count));
  }
}

void require_dtype(const Op& op, DType found, DTypeSet allowed) {
  if ((only(found) & allowed) == 0) {
    malformed(op,
              fmt::format("element type {} is not one of {}", name_of(found), names_of(allowed)));
  }
}

std::optional<TensorType> declared_result(const Op& op) {
  if (!op.attributes.contains("result_dtype")) return std::nullopt;
  const std::string& name = attribute<std::string>(op, "result_dtype");
  const auto* dtype = std::ranges::find(kAllDTypes, std::string_view(name), name_of);
  if (dtype == std::end(kAllDTypes)) {
    unsupported(op, fmt::format("element type {} is not one of {}", name, names_of(~DTypeSet{0})));
  }
  const Shape& shape = attribute<Shape>(op, "result_shape");
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; })) {
    unsupported(op, "the shape of the result must be known");
  }
  return TensorType{*dtype, shape};
}

TensorType required_result(const Op& op) {
  std::optional<TensorType> declared = declared_result(op);
  if (!declared) malformed(op, "needs a result type");
  return *std::move(declared);
}

std::vector<TensorType> single_result(const Op& op, TensorType inferred) {
  const std::optional<TensorType> declared = declared_result(op);
  if (declared && *declared != inferred) {
    malformed(op, fmt::format("declares result {}, but its operands give {}", declared->text(),
                              inferred.text()));
  }
  return {std::move(inferred)};
}

}  // namespace superstep
