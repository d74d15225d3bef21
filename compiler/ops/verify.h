#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ops/indices.h"
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

/// A list of integers; `count` of them.
const Indices& index_list(const Op& op, std::string_view name, std::size_t count);
/// A list of different dimensions of a tensor of rank `rank`; empty when the attribute is absent.
Indices dimension_list(const Op& op, std::string_view name, std::size_t rank);
/// One dimension of a tensor of rank `rank`.
std::size_t dimension(const Op& op, std::string_view name, std::size_t rank);

/// Requires the dtype of an operand to be one of `allowed`.
void require_dtype(const Op& op, DType found, DTypeSet allowed);

/// The type that the module declares for the first result, for ops whose result does not follow
/// from their operands.
const TensorType& required_result(const Op& op);

/// The types of an op's results: its traits hold for the operands, `infer` finds the types, and the
/// declared ones are the same. Throws MalformedInput or Unsupported.
[[nodiscard]] std::vector<TensorType> infer_types(const Op& op,
                                                  std::span<const TensorType> operands);

}  // namespace superstep
