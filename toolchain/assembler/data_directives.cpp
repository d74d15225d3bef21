#include <bit>
#include <cstdlib>

#include <fmt/format.h>

#include "toolchain/assembler/text_assembler.h"

namespace superstep::assembler {

namespace {

constexpr std::uint64_t kMaxSection = 16U << 20U;  // bytes; tiles have less memory

unsigned width_of(std::string_view directive) {
  if (directive == ".byte") return 1;
  if (directive == ".quad" || directive == ".8byte" || directive == ".double") return 8;
  const bool is_half = directive == ".half" || directive == ".short" || directive == ".hword" ||
                       directive == ".2byte";
  return is_half ? 2 : 4;
}

Object::RelocationKind kind_of(unsigned bytes) {
  if (bytes == 1) return Object::RelocationKind::k8;
  if (bytes == 2) return Object::RelocationKind::k16;
  return bytes == 4 ? Object::RelocationKind::k32 : Object::RelocationKind::k64;
}

/// What `strtof` reads besides digits.
bool is_special_real(const Token& token) {
  return token.kind == Token::Kind::kWord &&
         (token.text == "inf" || token.text == "infinity" || token.text == "nan");
}

bool fits(std::int64_t value, unsigned bytes) {
  if (bytes == 8) return true;
  const std::int64_t bound = std::int64_t{1} << 8 * bytes;
  return value >= -(bound / 2) && value < bound;
}

}  // namespace

bool TextAssembler::has_room(std::uint64_t bytes, Place place) {
  if (in_bundle_) {
    fail(place, "data inside a bundle");
    return false;
  }
  if (bytes <= kMaxSection && output_.offset() + bytes <= kMaxSection) return true;
  fail(place, fmt::format("a section of more than {} MiB", kMaxSection >> 20U));
  return false;
}

void TextAssembler::add_integers(const Token& directive) {
  if (!read_tokens()) return;
  const unsigned bytes = width_of(directive.text);
  for (const KeptExpression& item : split_tokens(0)) {
    if (has_room(bytes, directive.place)) add_integer(item, bytes);
  }
}

/// `(label + 4)@relative@16@s2`: the field of a pointer (graphcore/llvm-project-fork
/// llvm/test/MC/Colossus).
std::optional<Object::RelocationKind> TextAssembler::take_modifier(KeptExpression& range,
                                                                   unsigned bytes) {
  std::uint32_t at = 0;
  while (at < range.tokens && !tokens_[range.first + at].is("@")) ++at;
  if (at == range.tokens) return kind_of(bytes);
  std::string modifier;
  for (std::uint32_t i = at; i < range.tokens; ++i) modifier += spelled(tokens_[range.first + i]);
  const Place place = tokens_[range.first + at].place;
  range.tokens = at;
  if (modifier == "@relative@16@s2" && bytes == 2) return Object::RelocationKind::kRelative16S2;
  if (modifier == "@abs18@s2" && bytes == 4) return Object::RelocationKind::k18S2;
  if (modifier == "@abs19@s2" && bytes == 4) return Object::RelocationKind::k19S2;
  if (modifier == "@abs@21" && bytes == 4) return Object::RelocationKind::k21;
  fail(place, "`" + modifier +
                  "`: `@relative@16@s2` of 2 bytes, `@abs18@s2`, `@abs19@s2` and "
                  "`@abs@21` of 4 bytes are known");
  return std::nullopt;
}

void TextAssembler::add_integer(KeptExpression range, unsigned bytes) {
  KeptData data{output_.current(), output_.offset(), bytes, {}, {}, tokens_[range.first].place};
  dot_ = data.offset;
  const std::optional<Object::RelocationKind> kind = take_modifier(range, bytes);
  output_.add_filled(bytes, 0);
  if (!kind) return;
  if (range.tokens == 0) return fail(data.place, "a value is missing");
  data.kind = *kind;
  const Value value = evaluate_tokens(tokens_, range);
  if (value.is_known()) return put_integer(data, value);
  data.value = keep(range);
  kept_data_.push_back(data);
}

void TextAssembler::put_integer(const KeptData& data, Value value) {
  if (!value.is_number()) {
    return wait_for({data.section, data.offset, data.kind, value, nullptr, data.place});
  }
  if (data.kind != kind_of(data.bytes)) return fail(data.place, "a label is expected");
  if (!fits(value.number, data.bytes)) {
    return fail(data.place, fmt::format("{} does not fit {} bits", value.number, 8 * data.bytes));
  }
  output_.set(data.section, data.offset, static_cast<std::uint64_t>(value.number), data.bytes);
}

/// `.float 1.5, -2` and `.double`.
void TextAssembler::add_reals(const Token& directive) {
  if (!read_tokens()) return;
  const unsigned bytes = width_of(directive.text);
  for (const KeptExpression& item : split_tokens(0)) {
    const bool minus = tokens_[item.first].is("-");
    const bool sign = minus || tokens_[item.first].is("+");
    const Token& token = tokens_[item.first + item.tokens - 1];
    const bool is_real = token.kind == Token::Kind::kReal || token.kind == Token::Kind::kSingle ||
                         token.kind == Token::Kind::kNumber || is_special_real(token);
    if (!is_real || item.tokens != (sign ? 2U : 1U)) {
      fail(tokens_[item.first].place, "a real number is expected, or `inf` or `nan`");
      continue;
    }
    if (!has_room(bytes, directive.place)) return;
    const std::string text = (minus ? "-" : "") + std::string(token.text);
    if (bytes == 4) {
      output_.add_bytes(std::bit_cast<std::uint32_t>(std::strtof(text.c_str(), nullptr)), 4);
    } else {
      output_.add_bytes(std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)), 8);
    }
  }
}

/// Strings that no comma separates are one.
void TextAssembler::add_strings(const Token& directive) {
  if (!read_tokens()) return;
  for (const KeptExpression& item : split_tokens(0)) {
    std::string bytes;
    bool is_string = true;
    for (std::uint32_t i = item.first; i < item.first + item.tokens && is_string; ++i) {
      std::optional<std::string> text;
      if (tokens_[i].kind == Token::Kind::kString) text = unescaped(tokens_[i].text);
      is_string = text.has_value();
      bytes += text.value_or("");
      if (is_string) continue;
      fail(tokens_[i].place,
           "a string in quotes is expected; escapes are \\n \\t \\r \\b \\f \\\\ \\\" "
           "\\x41 \\101");
    }
    if (!is_string) continue;
    if (directive.text != ".ascii") bytes += '\0';
    if (!has_room(bytes.size(), directive.place)) return;
    for (const char c : bytes) output_.add_bytes(static_cast<std::uint8_t>(c), 1);
  }
}

/// `.zero bytes, value`.
void TextAssembler::add_space(const Token& directive) {
  if (!read_tokens()) return;
  const std::vector<KeptExpression> items = split_tokens(0);
  if (items.empty() || items.size() > 2) {
    return fail(directive.place, "a number of bytes, and perhaps their value, is expected");
  }
  const auto bytes = number_of(items[0], directive);
  const auto value = items.size() == 2 ? number_of(items[1], directive) : 0;
  if (!bytes || !value) return;
  if (*bytes < 0) return fail(directive.place, "a negative number of bytes");
  if (!has_room(static_cast<std::uint64_t>(*bytes), directive.place)) return;
  output_.add_filled(static_cast<std::size_t>(*bytes), static_cast<std::uint8_t>(*value));
}

/// `.fill repeat, size, value`.
void TextAssembler::fill(const Token& directive) {
  if (!read_tokens()) return;
  const std::vector<KeptExpression> items = split_tokens(0);
  if (items.empty() || items.size() > 3) {
    return fail(directive.place, "`.fill repeat, size, value` is expected");
  }
  const auto repeat = number_of(items[0], directive);
  const auto size = items.size() > 1 ? number_of(items[1], directive) : 1;
  const auto value = items.size() > 2 ? number_of(items[2], directive) : 0;
  if (!repeat || !size || !value) return;
  if (*repeat < 0 || *size < 0 || *size > 8) {
    return fail(directive.place, "`.fill` takes a size of 0 to 8 bytes and no negative number");
  }
  for (std::int64_t i = 0; i<*repeat&& * size> 0; ++i) {
    if (!has_room(static_cast<std::uint64_t>(*size), directive.place)) return;
    output_.add_bytes(static_cast<std::uint64_t>(*value), static_cast<unsigned>(*size));
  }
}

}  // namespace superstep::assembler
