#include "compiler/ops/library/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/verify.h"

namespace superstep {

std::int64_t setting(const Op& op, std::string_view name) {
  for (const std::string_view where : {"mhlo.backend_config", "backend_config"}) {
    if (!op.attributes.contains(where)) continue;
    const std::string& text = attribute<std::string>(op, where);
    const std::string key = std::string(name) + " = ";
    const std::size_t at = text.find(key);
    if (at == std::string::npos) continue;
    const std::string_view value = std::string_view(text).substr(at + key.size());
    if (value.starts_with("true")) return 1;
    std::int64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
  }
  malformed(op, fmt::format("its backend_config does not say {}", name));
}

void require_operands(const Op& op, std::span<const TensorType> operands, std::size_t count) {
  if (operands.size() == count) return;
  malformed(op, fmt::format("has another number of operands than {}", count));
}

void require_matrices(const Op& op, const TensorType& type) {
  if (type.shape.size() >= 2) return;
  malformed(op, fmt::format("the operand is {}, expected matrices", type.text()));
}

void require_square(const Op& op, const TensorType& type) {
  require_matrices(op, type);
  if (type.shape.back() == type.shape[type.shape.size() - 2]) return;
  malformed(op, fmt::format("the operand is {}, expected square matrices", type.text()));
}

void require_type(const Op& op, const TensorType& found, const TensorType& expected) {
  if (found == expected) return;
  malformed(op, fmt::format("an operand is {}, expected {}", found.text(), expected.text()));
}

void require_columns(const Op& op, std::string_view name, std::span<const TensorType> types,
                     std::size_t batch) {
  if (!op.attributes.contains(name)) return;
  // `[dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]`
  const std::string& text = attribute<std::string>(op, name);
  std::size_t at = 0;
  for (const TensorType& type : types) {
    // From the innermost dimension on.
    Indices expected;
    for (std::size_t d = type.shape.size(); d > 0; --d) {
      expected.push_back(static_cast<std::int64_t>(d - 1));
    }
    if (expected.size() == batch + 2) std::swap(expected[0], expected[1]);
    constexpr std::string_view kOpening = "dense<";
    at = text.find(kOpening, at);
    if (at == std::string::npos) malformed(op, fmt::format("{} is too short", name));
    at += kOpening.size();
    Indices found;
    const char* const end = text.data() + std::min(text.find('>', at), text.size());
    for (const char* digit = text.data() + at; digit < end;) {
      std::int64_t number = 0;
      const std::from_chars_result read = std::from_chars(digit, end, number);
      if (read.ec == std::errc()) found.push_back(number);
      digit = read.ec == std::errc() ? read.ptr : digit + 1;
    }
    if (found == expected) continue;
    unsupported(op, fmt::format("{} has [{}] for {}, expected [{}]", name, fmt::join(found, ", "),
                                type.text(), fmt::join(expected, ", ")));
  }
}

Shape batch_of(const TensorType& matrices) {
  return {matrices.shape.begin(), matrices.shape.end() - 2};
}

TensorType of_batch(const TensorType& matrices, DType dtype, const Shape& sizes) {
  TensorType type{dtype, batch_of(matrices)};
  type.shape.insert(type.shape.end(), sizes.begin(), sizes.end());
  return type;
}

TensorType info_type(const TensorType& matrices) { return of_batch(matrices, DType::kI32, {}); }

HostMatrix::HostMatrix(const HostTensor& tensor, std::size_t number)
    : HostMatrix(static_cast<std::size_t>(tensor.type.shape[tensor.type.shape.size() - 2]),
                 static_cast<std::size_t>(tensor.type.shape.back())) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = read_number(tensor, number * elements.size() + i);
  }
}

void HostMatrix::write_to(HostTensor& tensor, std::size_t number) const {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    write_number(tensor, number * elements.size() + i, elements[i]);
  }
}

HostMatrix HostMatrix::adjoint() const {
  HostMatrix result(columns, rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < columns; ++k) result.at(k, i) = std::conj(at(i, k));
  }
  return result;
}

std::size_t matrices_in(const TensorType& type) {
  return static_cast<std::size_t>(TensorType{{}, batch_of(type)}.elements());
}

}  // namespace superstep
