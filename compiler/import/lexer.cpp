#include "compiler/import/lexer.h"

#include <algorithm>

#include "base/text.h"

namespace superstep::import {
namespace {

// Not <cctype>: the result must not depend on the host's locale, and bytes above 127 are legal in.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr bool is_word_part(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }
constexpr bool is_name_part(char c) { return is_word_part(c) || c == '-'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  return (c >= 'a' ? c - 'a' : c - 'A') + 10;
}

}  // namespace

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') token_.first_on_line = true;
    if (is_blank(c)) {
      ++position_;
    } else if (text_.compare(position_, 2, "//") == 0) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (text_.compare(position_, 3, "{-#") == 0) {
      // Resource blobs behind the module; a constant that refers to one is refused where it does.
      const std::size_t end = text_.find("#-}", position_);
      position_ = end == std::string_view::npos ? text_.size() : end + 3;
    } else {
      return;
    }
  }
}

void Lexer::take_number() {
  if (text_[position_] == '-') ++position_;
  if (text_.compare(position_, 2, "0x") == 0 && position_ + 2 < text_.size() &&
      is_hex(text_[position_ + 2])) {
    position_ += 2;
    while (position_ < text_.size() && is_hex(text_[position_])) ++position_;
    return;
  }
  const auto digits = [&] {
    while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
  };
  digits();
  if (position_ >= text_.size() || text_[position_] != '.') return;
  token_.kind = TokenKind::kFloat;
  ++position_;
  digits();
  if (position_ < text_.size() && (text_[position_] == 'e' || text_[position_] == 'E')) {
    std::size_t exponent = position_ + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && is_digit(text_[exponent])) {
      position_ = exponent;
      digits();
    }
  }
}

void Lexer::advance() {
  token_.first_on_line = position_ == 0;
  skip_blanks();
  const std::size_t start = position_;
  token_.offset = start;
  if (start == text_.size()) {
    token_.kind = TokenKind::kEnd;
    token_.text = {};
    return;
  }
  const auto take_while = [&](auto predicate) {
    while (position_ < text_.size() && predicate(text_[position_])) ++position_;
  };
  const auto next_is = [&](auto predicate) {
    return start + 1 < text_.size() && predicate(text_[start + 1]);
  };
  const char c = text_[start];
  if (is_letter(c)) {
    token_.kind = TokenKind::kWord;
    take_while(is_word_part);
  } else if (is_digit(c) || (c == '-' && next_is(is_digit))) {
    token_.kind = TokenKind::kInteger;
    take_number();
  } else if (c == '"') {
    token_.kind = TokenKind::kString;
    std::size_t end = start + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) {
      token_.kind = TokenKind::kUnknown;
      end = text_.size() - 1;
    }
    position_ = end + 1;
  } else if (c == '-' && next_is([](char n) { return n == '>'; })) {
    token_.kind = TokenKind::kArrow;
    position_ += 2;
  } else if (c == '@' && next_is([](char n) { return n == '"'; })) {
    const std::size_t end = text_.find('"', start + 2);
    token_.kind = end == std::string_view::npos ? TokenKind::kUnknown : TokenKind::kSymbol;
    position_ = end == std::string_view::npos ? text_.size() : end + 1;
  } else if (std::string_view("%@#!^").find(c) != std::string_view::npos && next_is(is_name_part)) {
    token_.kind = c == '%'   ? TokenKind::kValue
                  : c == '@' ? TokenKind::kSymbol
                  : c == '#' ? TokenKind::kAlias
                  : c == '!' ? TokenKind::kType
                             : TokenKind::kBlock;
    ++position_;
    take_while(is_name_part);
  } else {
    token_.kind = std::string_view("()[]{}<>,:=?*+-#|;").find(c) == std::string_view::npos
                      ? TokenKind::kUnknown
                      : TokenKind::kPunctuation;
    ++position_;
  }
  token_.text = text_.substr(start, position_ - start);
}

LineTable::LineTable(std::string_view text, const std::string& file)
    : file_(printable(file)), starts_{0} {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    starts_.push_back(at + 1);
  }
}

SourceLocation LineTable::locate(std::size_t offset) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<std::size_t>(next - starts_.begin());
  return {file_, static_cast<std::uint32_t>(line),
          static_cast<std::uint32_t>(offset - starts_[line - 1] + 1)};
}

std::string unquote(std::string_view quoted) {
  std::string out;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      out += quoted[i];
    } else if (i + 3 < quoted.size() && is_hex(quoted[i + 1]) && is_hex(quoted[i + 2])) {
      out += static_cast<char>(hex_value(quoted[i + 1]) * 16 + hex_value(quoted[i + 2]));
      i += 2;
    } else if (i + 2 < quoted.size()) {
      ++i;
      out += quoted[i] == 'n' ? '\n' : quoted[i] == 't' ? '\t' : quoted[i];
    }
  }
  return out;
}

}  // namespace superstep::import
