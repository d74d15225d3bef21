#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "isa/assembly_tokens.h"

namespace superstep::isa {

/// A number, or an address in the text (`labels` of them added up: 0 or 1 where it is used).
struct AssemblyValue {
  std::int64_t number = 0;
  std::int64_t labels = 0;
};

/// What an expression means where it stands.
struct AssemblyScope {
  std::function<std::optional<AssemblyValue>(const Token&)>
      value_of;  ///< of a word, `$name` or local label; `.` is a word
};

/// The value of an expression, or what is wrong with it (and the token where).
struct AssemblyResult {
  AssemblyValue value;
  std::string error;
  const Token* where = nullptr;
};

[[nodiscard]] AssemblyResult evaluate(std::span<const Token> tokens, const AssemblyScope& scope);

}  // namespace superstep::isa
