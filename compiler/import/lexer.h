#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace superstep::import {

/// What is wrong with a piece of text, before its place is known by line and column.
struct SyntaxError {
  std::size_t offset = 0;
  std::string message;
  bool unsupported = false;            ///< well-formed, but not modelled
  std::optional<std::size_t> op = {};  ///< offset of the op that it is part of
};

enum class TokenKind : std::uint8_t {
  kEnd,
  kWord,     ///< `stablehlo.add`, `dense`, `x`
  kInteger,  ///< `-3`, `0xFF`
  kFloat,    ///< `1.0e-5`
  kString,   ///< with its quotes
  kValue,    ///< `%arg0`
  kSymbol,   ///< `@main`
  kAlias,    ///< `#loc3`, `#stablehlo.dot`, `#` alone in front of `stablehlo<…>` is part of it
  kType,     ///< `!stablehlo.token`
  kBlock,    ///< `^bb0`
  kArrow,    ///< `->`
  kPunctuation,
  kUnknown,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::size_t offset = 0;
  bool first_on_line = false;

  [[nodiscard]] bool is(char c) const {
    return kind == TokenKind::kPunctuation && text.front() == c;
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return kind == TokenKind::kWord && text == word;
  }
};

/// Splits MLIR text into tokens one at a time; copying a lexer remembers a place to come back to.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  [[nodiscard]] const Token& token() const { return token_; }
  void advance();

  [[nodiscard]] std::string_view text() const { return text_; }
  /// Offset of the first character behind the current token.
  [[nodiscard]] std::size_t end_of_token() const { return position_; }
  /// Continues at a character that the caller found by itself.
  void seek(std::size_t offset) {
    position_ = offset;
    advance();
  }

 private:
  void skip_blanks();
  void take_number();

  std::string_view text_;
  std::size_t position_ = 0;
  Token token_;
};

/// Finds line and column of an offset, both counted from 1 in bytes.
class LineTable {
 public:
  LineTable(std::string_view text, const std::string& file);
  [[nodiscard]] SourceLocation locate(std::size_t offset) const;

 private:
  std::string file_;
  std::vector<std::size_t> starts_;
};

/// The text of a string token without quotes and escapes.
[[nodiscard]] std::string unquote(std::string_view quoted);

}  // namespace superstep::import
