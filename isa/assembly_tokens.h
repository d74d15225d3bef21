#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace superstep::isa {

/// A piece of assembly text.
struct Token {
  enum class Kind : std::uint8_t {
    kWord,         ///< a mnemonic, a label, a directive, `.`
    kRegister,     ///< `$name`, text without the `$`
    kNumber,       ///< `value`
    kLocalLabel,   ///< `1b`, `1f`: `value` is the number, text the letter
    kPunctuation,  ///< longest match: `+=`, `<<`, …
    kEndOfStatement,
  };
  Kind kind = Kind::kEndOfStatement;
  std::string text;
  std::int64_t value = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  [[nodiscard]] bool is(std::string_view punctuation) const {
    return kind == Kind::kPunctuation && text == punctuation;
  }
};

/// The tokens of a text; the last one is an end of statement. Characters that mean nothing are
/// added to `problems`.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text, const std::string& file,
                                          std::vector<Problem>& problems);

}  // namespace superstep::isa
