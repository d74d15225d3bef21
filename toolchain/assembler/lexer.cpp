#include "toolchain/assembler/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>

#include "base/float16.h"
#include "base/text.h"

namespace superstep::assembler {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}
bool ends_statement(char c) { return c == '\0' || c == '\n' || c == ';' || c == '{' || c == '}'; }

}  // namespace

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    const char c = ++at < text.size() ? text[at] : '\0';
    constexpr std::string_view kLetters = "ntrbf\\\"'", kMeanings = "\n\t\r\b\f\\\"'";
    if (const std::size_t letter = kLetters.find(c);
        letter != std::string_view::npos && c != '\0') {
      out += kMeanings[letter];
      continue;
    }
    // As many digits as there are of a hexadecimal number, of which the lowest 8 bits count; up to
    // three octal ones.
    const bool is_hex = c == 'x' || c == 'X';
    std::size_t end = is_hex ? ++at : at;
    std::uint32_t value = 0;
    const std::size_t most = is_hex ? text.size() : std::min(at + 3, text.size());
    for (; end < most; ++end) {
      const char digit = text[end];
      if (digit >= '0' && digit <= (is_hex ? '9' : '7')) {
        value = value * (is_hex ? 16 : 8) + static_cast<std::uint32_t>(digit - '0');
      } else if (const char letter = static_cast<char>(digit | 0x20);
                 is_hex && letter >= 'a' && letter <= 'f') {
        value = value * 16 + static_cast<std::uint32_t>(letter - 'a' + 10);
      } else {
        break;
      }
    }
    if (end == at) return std::nullopt;
    out += static_cast<char>(value & 0xffU);
    at = end - 1;
  }
  return out;
}

std::size_t length_of_character(std::string_view text) {
  if (text.size() < 3 || text[0] != '\'' || text[1] == '\n') return 0;
  const std::size_t length = text[1] == '\\' ? 4 : 3;
  return text.size() >= length && text[length - 2] != '\n' && text[length - 1] == '\'' ? length : 0;
}

bool is_name_character(char c) { return starts_name(c) || is_digit(c) || c == '$'; }

bool Lexer::find_statement() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      skip_line();
    } else if (is_blank(c) || c == '\n' || c == ';') {
      ++at_;
    } else {
      return true;
    }
  }
  return false;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

void Lexer::skip_line() {
  const std::size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
}

char Lexer::peek() {
  skip_blanks();
  return ends_statement(at(0)) && at(0) != '{' && at(0) != '}' ? '\0' : at(0);
}

std::string_view Lexer::rest() {
  skip_blanks();
  const std::size_t begin = at_;
  int open = 0;
  bool quoted = false;
  for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
    const char c = text_[at_];
    if (c == '\\' && quoted) {
      ++at_;
      if (at(0) == '\n') break;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      continue;
    } else if (const std::size_t length = length_of_character(text_.substr(at_)); length != 0) {
      at_ += length - 1;
    } else if (c == ';' || (c == '}' && open == 0)) {
      break;
    } else {
      open += c == '{' ? 1 : c == '}' ? -1 : 0;
    }
  }
  at_ = std::min(at_, text_.size());
  std::size_t end = at_;
  while (end > begin && is_blank(text_[end - 1])) --end;
  return text_.substr(begin, end - begin);
}

Token Lexer::next() {
  skip_blanks();
  const char c = at(0);
  if (ends_statement(c)) return {Token::Kind::kEnd, {}, {}, place()};
  if (starts_name(c) && !begins_real()) {
    std::size_t length = 1;
    while (is_name_character(at(length))) ++length;
    Token token = take(Token::Kind::kWord, length);
    if (token.text == "infh" || token.text == "nanh") {
      token.kind = Token::Kind::kHalf;
      token.value.number = token.text == "infh" ? 0x7c00 : 0x7e00;
    }
    return token;
  }
  if (is_digit(c) || c == '.') return take_number();
  if (c == '"') return take_string();
  if (const std::size_t length = length_of_character(text_.substr(at_)); length != 0) {
    return take_character(length);
  }
  if (c != '$') return take_punctuation();
  std::size_t blanks = 1;
  while (is_blank(at(blanks))) ++blanks;
  std::size_t length = 0;
  while (is_name_character(at(blanks + length))) ++length;
  if (length == 0) return malformed(1, "a name is missing after `$`");
  return take(Token::Kind::kRegister, length, blanks);
}

Token Lexer::take(Token::Kind kind, std::size_t length, std::size_t skipped) {
  const Token token{kind, text_.substr(at_ + skipped, length), {}, place()};
  at_ = std::min(at_ + skipped + length, text_.size());
  return token;
}

Token Lexer::malformed(std::size_t length, std::string_view message) {
  Token token = take(Token::Kind::kMalformed, length);
  token.text = message;
  return token;
}

/// `.5`, unlike `.5byte`.
bool Lexer::begins_real() const {
  if (at(0) != '.' || !is_digit(at(1))) return false;
  std::size_t length = 2;
  while (is_digit(at(length))) ++length;
  return !is_name_character(at(length)) ||
         std::string_view("eEfFh").find(at(length)) != std::string_view::npos;
}

Token Lexer::take_character(std::size_t length) {
  Token token = take(Token::Kind::kNumber, length);
  const std::optional<std::string> text = unescaped(token.text.substr(1, length - 2));
  if (!text) {
    token.kind = Token::Kind::kMalformed;
    token.text = "an escape that has no meaning in a character";
  } else {
    token.value.number = static_cast<unsigned char>(text->front());
  }
  return token;
}

Token Lexer::take_number() {
  if (at(0) == '0' && (at(1) == 'x' || at(1) == 'X')) return take_integer(2, 16);
  if (at(0) == '0' && (at(1) == 'b' || at(1) == 'B') && (at(2) == '0' || at(2) == '1')) {
    return take_integer(2, 2);
  }
  std::size_t length = 0;
  while (is_digit(at(length))) ++length;
  const char after = at(length);
  if ((after == 'b' || after == 'f') && !is_name_character(at(length + 1))) {
    Token token = take(Token::Kind::kLocalLabel, length + 1);
    const char* end = token.text.data() + length;
    if (std::from_chars(token.text.data(), end, token.value.number).ec != std::errc{}) {
      return malformed(0, "a label's number is too large");
    }
    return token;
  }
  const bool exponent =
      (after == 'e' || after == 'E') &&
      (is_digit(at(length + 1)) ||
       ((at(length + 1) == '-' || at(length + 1) == '+') && is_digit(at(length + 2))));
  if (after == '.' || after == 'h' || exponent) return take_real(length);
  return take_integer(0, at(0) == '0' && length > 1 ? 8 : 10);
}

Token Lexer::take_integer(std::size_t prefix, int base) {
  std::uint64_t value = 0;
  std::size_t length = prefix;
  while (is_name_character(at(length))) ++length;
  const char* begin = text_.data() + at_ + prefix;
  const char* end = text_.data() + at_ + length;
  auto [after, error] = std::from_chars(begin, end, value, base);
  while (after < end && (*after == 'u' || *after == 'U' || *after == 'l' || *after == 'L')) ++after;
  if (error != std::errc{} || after != end) return malformed(length, "a malformed number");
  Token token = take(Token::Kind::kNumber, length);
  token.value.number = static_cast<std::int64_t>(value);
  return token;
}

Token Lexer::take_real(std::size_t length) {
  if (at(length) == '.') ++length;
  while (is_digit(at(length))) ++length;
  if (at(length) == 'e' || at(length) == 'E') {
    const std::size_t sign = at(length + 1) == '-' || at(length + 1) == '+' ? 1 : 0;
    if (is_digit(at(length + 1 + sign))) {
      length += 2 + sign;
      while (is_digit(at(length))) ++length;
    }
  }
  const char suffix = at(length);
  const std::string digits(text_.substr(at_, length));
  if (suffix == 'h' && !is_name_character(at(length + 1))) {
    Token token = take(Token::Kind::kHalf, length + 1);
    token.value.number = half_bits(std::strtof(digits.c_str(), nullptr));
    return token;
  }
  if ((suffix == 'f' || suffix == 'F') && !is_name_character(at(length + 1))) {
    Token token = take(Token::Kind::kSingle, length + 1);
    token.value.number = std::bit_cast<std::uint32_t>(std::strtof(digits.c_str(), nullptr));
    return token;
  }
  if (is_name_character(suffix)) {
    while (is_name_character(at(length))) ++length;
    return malformed(length, "a malformed number");
  }
  return take(Token::Kind::kReal, length);
}

Token Lexer::take_string() {
  std::size_t length = 1;
  while (at(length) != '"') {
    if (at(length) == '\n' || at_ + length >= text_.size()) {
      return malformed(length, "a string is not closed by `\"`");
    }
    length += at(length) == '\\' ? 2U : 1U;
  }
  Token token = take(Token::Kind::kString, length + 1);
  token.text = token.text.substr(1, length - 1);
  if (not_utf8(token.text)) {
    token.kind = Token::Kind::kMalformed;
    token.text =
        "a string with a byte that is no UTF-8 text; write it as an escape such as `\\xff`";
  }
  return token;
}

Token Lexer::take_punctuation() {
  constexpr std::array<std::string_view, 29> kPunctuation = {
      "+=", "++", "<<", ">>", "==", "!=", "<>", "<=", ">=", "&&", "||", "(", ")", ",", ":",
      "@",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",  "~",  "!",  "<", ">", "="};
  const std::string_view left = text_.substr(at_, 2);
  for (const std::string_view mark : kPunctuation) {
    if (left.starts_with(mark)) return take(Token::Kind::kPunctuation, mark.size());
  }
  if (at(0) == '\\' && starts_name(at(1))) {
    return malformed(1, "`\\` before what is no parameter of a macro around it");
  }
  if (at(0) == '\'')
    return malformed(1, "a character is written `'a'` or, with an escape, `'\\n'`");
  return malformed(1, "a character that has no meaning in assembly");
}

}  // namespace superstep::assembler
