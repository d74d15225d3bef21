#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "toolchain/assembler/sources.h"

namespace superstep::assembler {

/// What an expression is worth: a number, or a number of bytes from a section or a symbol.
struct Value {
  enum class Base : std::uint8_t { kUnknown, kNone, kSection, kSymbol };
  std::int64_t number = 0;
  Base base = Base::kNone;
  std::uint32_t index = 0;  ///< of the section or the symbol

  [[nodiscard]] bool is_known() const { return base != Base::kUnknown; }
  [[nodiscard]] bool is_number() const { return base == Base::kNone; }
};

/// A piece of assembly text.
struct Token {
  enum class Kind : std::uint8_t {
    kEnd,          ///< of a statement
    kWord,         ///< a mnemonic, a label, a directive, `.`
    kRegister,     ///< `$name`, text without the `$`
    kNumber,       ///< `value.number`
    kHalf,         ///< `1.0h`: the bits of an f16
    kSingle,       ///< `1.0f`: the bits of an f32
    kReal,         ///< `1.0`, which only `.float` and the like take
    kLocalLabel,   ///< `1b`, `1f`: `value.number` is the number, the last character the direction
    kString,       ///< text without its quotes
    kPunctuation,  ///< longest match: `+=`, `<<`, …
    kValue,        ///< `value`, of a name that was known when the expression was kept for later
    kMalformed,    ///< `text` is what is wrong
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  Value value;
  Place place;

  [[nodiscard]] bool is(std::string_view punctuation) const {
    return kind == Kind::kPunctuation && text == punctuation;
  }
};

/// Whether a character stands between words of a line.
[[nodiscard]] constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
/// Whether a character can be part of a name, a mnemonic, a parameter.
[[nodiscard]] bool is_name_character(char c);

/// The bytes of a string's text with its escapes; nothing when one is unknown.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);

/// How long the character is that begins here, as in `'a'` and `'\n'`; 0 when none does.
[[nodiscard]] std::size_t length_of_character(std::string_view text);

/// Reads one statement of a buffer after the other. A statement ends at a line's end, `;`, or (when
/// asked so) a brace.
class Lexer {
 public:
  Lexer() = default;
  Lexer(std::uint32_t buffer, std::string_view text) : text_(text), buffer_(buffer) {}

  /// Goes to the next statement; false at the end of the text.
  bool find_statement();
  /// The next token of the statement, kEnd at its end; braces end it.
  Token next();
  /// The next character of the statement that is not blank, or `\0` at its end.
  [[nodiscard]] char peek();
  /// What is left of the statement as it stands, without blanks around it; nothing is left then.
  /// A brace that closes more than the text opened ends it.
  std::string_view rest();
  void skip(std::size_t characters) { at_ += characters; }
  /// Goes behind the end of the line.
  void skip_line();

  [[nodiscard]] Place place() const { return {buffer_, static_cast<std::uint32_t>(at_)}; }
  [[nodiscard]] Place place_of(std::string_view part) const {
    return {buffer_, static_cast<std::uint32_t>(part.data() - text_.data())};
  }
  [[nodiscard]] std::uint32_t buffer() const { return buffer_; }
  [[nodiscard]] std::size_t offset() const { return at_; }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  void skip_blanks();
  [[nodiscard]] char at(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Token take(Token::Kind kind, std::size_t length, std::size_t skipped = 0);
  [[nodiscard]] bool begins_real() const;
  Token take_number();
  Token take_integer(std::size_t prefix, int base);
  Token take_real(std::size_t length);
  Token take_string();
  Token take_character(std::size_t length);
  Token take_punctuation();
  Token malformed(std::size_t length, std::string_view message);

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t buffer_ = 0;
};

}  // namespace superstep::assembler
