#include "isa/assembly_tokens.h"

#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/float16.h"

namespace superstep::isa {

namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}
bool continues_word(char c) {
  return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '$';
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Tokenizer {
 public:
  Tokenizer(std::string_view text, const std::string& file, std::vector<Problem>& problems)
      : text_(text), file_(file), problems_(problems) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    add(Token::Kind::kEndOfStatement, "");
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] std::uint32_t column() const {
    return static_cast<std::uint32_t>(at_ - line_start_ + 1);
  }

  void add(Token::Kind kind, std::string text, std::int64_t value = 0) {
    tokens_.push_back({kind, std::move(text), value, line_, column()});
  }

  void new_line() {
    ++at_;
    ++line_;
    line_start_ = at_;
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      add(Token::Kind::kEndOfStatement, "");
      new_line();
    } else if (c == ';') {
      add(Token::Kind::kEndOfStatement, "");
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (c == '#' || (c == '/' && peek(1) == '/')) {
      while (at_ < text_.size() && peek() != '\n') ++at_;
    } else if (c == '/' && peek(1) == '*') {
      skip_block_comment();
    } else if (c == '$') {
      take_word(Token::Kind::kRegister, 1);
    } else if (starts_word(c)) {
      take_word(Token::Kind::kWord, 0);
    } else if (is_digit(c)) {
      take_number();
    } else {
      take_punctuation();
    }
  }

  void skip_block_comment() {
    const Problem unclosed{{file_, line_, column()}, "a comment is not closed by `*/`"};
    at_ += 2;
    while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/')) {
      if (peek() == '\n') {
        new_line();
      } else {
        ++at_;
      }
    }
    if (at_ >= text_.size()) problems_.push_back(unclosed);
    at_ = std::min(at_ + 2, text_.size());
  }

  void take_word(Token::Kind kind, std::size_t prefix) {
    std::size_t end = at_ + prefix;
    while (end < text_.size() && continues_word(text_[end])) ++end;
    add(kind, std::string(text_.substr(at_ + prefix, end - at_ - prefix)));
    at_ = end;
  }

  void take_number() {
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) return take_integer(2, 16);
    if (peek() == '0' && peek(1) == 'b' && (peek(2) == '0' || peek(2) == '1')) {
      return take_integer(2, 2);
    }
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    const char after = end < text_.size() ? text_[end] : '\0';
    const char next = end + 1 < text_.size() ? text_[end + 1] : '\0';
    if ((after == 'b' || after == 'f') && !continues_word(next)) {
      std::int64_t number = 0;
      std::from_chars(text_.data() + at_, text_.data() + end, number);
      add(Token::Kind::kLocalLabel, std::string(1, after), number);
      at_ = end + 1;
    } else if (after == '.') {
      take_real(end);
    } else {
      take_integer(0, 10);
    }
  }

  void take_integer(std::size_t prefix, int base) {
    std::uint64_t value = 0;
    const char* begin = text_.data() + at_ + prefix;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value, base);
    if (error != std::errc{} || (end < text_.data() + text_.size() && continues_word(*end))) {
      problems_.push_back({{file_, line_, column()}, "a malformed number"});
    }
    add(Token::Kind::kNumber, "", static_cast<std::int64_t>(value));
    at_ = static_cast<std::size_t>(end - text_.data());
    while (at_ < text_.size() && continues_word(peek())) ++at_;
  }

  /// `1.5h` is the bits of an f16, `1.5f` those of an f32.
  void take_real(std::size_t point) {
    std::size_t end = point + 1;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    const float value = std::strtof(std::string(text_.substr(at_, end - at_)).c_str(), nullptr);
    const char kind = end < text_.size() ? text_[end] : '\0';
    if (kind != 'h' && kind != 'f') {
      problems_.push_back({{file_, line_, column()},
                           "a real number needs a suffix: `1.0h` for f16, `1.0f` for f32"});
    }
    add(Token::Kind::kNumber, "",
        kind == 'h' ? half_bits(value) : std::int64_t{std::bit_cast<std::uint32_t>(value)});
    at_ = kind == 'h' || kind == 'f' ? end + 1 : end;
  }

  void take_punctuation() {
    constexpr std::array<std::string_view, 26> kPunctuation = {
        "+=", "++", "<<", ">>", "==", "!=", "&&", "||", "{", "}", "(", ")", ",",
        ":",  "@",  "+",  "-",  "*",  "/",  "&",  "|",  "~", "!", "<", ">", "="};
    for (const std::string_view mark : kPunctuation) {
      if (text_.substr(at_, mark.size()) != mark) continue;
      add(Token::Kind::kPunctuation, std::string(mark));
      at_ += mark.size();
      return;
    }
    problems_.push_back(
        {{file_, line_, column()}, std::string("`") + peek() + "` has no meaning in assembly"});
    ++at_;
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<Problem>& problems_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, const std::string& file,
                            std::vector<Problem>& problems) {
  return Tokenizer(text, file, problems).run();
}

}  // namespace superstep::isa
