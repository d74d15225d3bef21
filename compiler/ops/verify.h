#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ops/op.h"

namespace superstep {

/// Throws MalformedInput at the op; the message starts with the op's name.
[[noreturn]] void malformed(const Op& op, const std::string& message);
/// Throws Unsupported at the op; the message starts with the op's name.
[[noreturn]] void unsupported(const Op& op, const std::string& message);

/// The attribute as T, or MalformedInput that names it.
template <class T>
const T& attribute(const Op& op, std::string_view name) {
  const auto found = op.attributes.find(name);
  if (found == op.attributes.end()) malformed(op, "misses attribute " + std::string(name));
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) malformed(op, "attribute " + std::string(name) + " is of another kind");
  return *value;
}

using Indices = std::vector<std::int64_t>;

/// A list of integers; `count` of them.
const Indices& index_list(const Op& op, std::string_view name, std::size_t count);
/// A list of different dimensions of a tensor of rank `rank`; empty when the attribute is absent.
Indices dimension_list(const Op& op, std::string_view name, std::size_t rank);
/// One dimension of a tensor of rank `rank`.
std::size_t dimension(const Op& op, std::string_view name, std::size_t rank);

void require_operands(const Op& op, std::span<const TensorType> operands, std::size_t count);

/// A set of dtypes.
using DTypeSet = std::uint32_t;
constexpr DTypeSet only(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
constexpr DTypeSet kFloats = only(DType::kF16) | only(DType::kF32);
constexpr DTypeSet kSignedIntegers = only(DType::kI8) | only(DType::kI16) | only(DType::kI32);
constexpr DTypeSet kIntegers =
    kSignedIntegers | only(DType::kU8) | only(DType::kU16) | only(DType::kU32);
constexpr DTypeSet kBooleans = only(DType::kI1);

/// Requires the dtype of an operand to be one of `allowed`.
void require_dtype(const Op& op, DType found, DTypeSet allowed);

/// The type that the module declares for the result; empty when it declares none.
std::optional<TensorType> declared_result(const Op& op);
/// The declared type, for ops whose result does not follow from their operands.
TensorType required_result(const Op& op);
/// `inferred` as the only result, after a check against the declared type.
std::vector<TensorType> single_result(const Op& op, TensorType inferred);

}  // namespace superstep
