#pragma once

#include <optional>
#include <span>
#include <string>

#include "toolchain/assembler/lexer.h"

namespace superstep::assembler {

/// What the names of an expression mean where it stands.
class ExpressionScope {
 public:
  /// Of a word, a `$name` or a local label; unknown when it may still be defined, none when it is
  /// an error.
  [[nodiscard]] virtual std::optional<Value> value_of(const Token& token) = 0;

 protected:
  ~ExpressionScope() = default;
};

/// The value of an expression, or what is wrong with it and where.
struct ExpressionResult {
  Value value;
  std::string error;
  Place where;
};

/// Operators bind as in GAS: `* / % << >>`, then `| & ^`, then `+ -`, then comparisons (-1 when
/// they hold), then `&&`, then `||`.
[[nodiscard]] ExpressionResult evaluate(std::span<const Token> tokens, ExpressionScope& scope);

/// A token as the user wrote it, for messages.
[[nodiscard]] std::string spelled(const Token& token);

}  // namespace superstep::assembler
