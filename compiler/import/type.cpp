#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "compiler/import/parser.h"

namespace superstep::import {
namespace {

// Above this no machine holds a tensor, and products of dimensions stay far from overflow.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

constexpr int kMaxTupleDepth = 32;

class Nested {
 public:
  explicit Nested(int& depth) : depth_(depth) { ++depth_; }
  ~Nested() { --depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int& depth_;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<DType> dtype_of(std::string_view name) {
  const auto at = std::ranges::find(kAllDTypes, name, [](DType d) { return name_of(d); });
  return at == kAllDTypes.end() ? std::nullopt : std::optional(*at);
}

std::string all_dtypes() {
  std::string out;
  for (const DType dtype : kAllDTypes)
    out += (out.empty() ? "" : ", ") + std::string(name_of(dtype));
  return out;
}

// Element types of StableHLO that Superstep does not have, as against misspelt ones.
bool is_foreign_dtype(std::string_view name) {
  if (name == "complex" || name == "index" || name == "tf32") return true;
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos) return false;
  const std::string_view head = name.substr(0, digits);
  if (head == "i" || head == "ui" || head == "si") {
    return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(digits), name.end(), is_digit);
  }
  if (head != "f") return false;
  const std::string_view tail = name.substr(digits);
  return tail == "80" || tail == "128" || tail.find('E') != std::string_view::npos;
}

}  // namespace

TypeUse Parser::parse_type() {
  TypeUse out;
  out.offset = token().offset;
  const auto rest_of_text = [&](std::size_t begin) {
    const std::string_view text = lexer_.text().substr(begin, token().offset - begin);
    constexpr std::size_t kLongest = 100;
    return shortened(text.substr(0, text.find_last_not_of(" \t\r\n") + 1), kLongest);
  };
  if (token().kind == TokenKind::kType && token().text == "!stablehlo.token") {
    advance();
    out.is_group = true;
    return out;
  }
  if (accept_word("tuple")) {
    out.is_group = true;
    if (tuple_depth_ == kMaxTupleDepth) {
      throw SyntaxError{out.offset, "tuples nested too deeply", true};
    }
    expect('<', "behind `tuple`");
    const Nested nested(tuple_depth_);
    out.parts = parse_type_list('>');
    return out;
  }
  if (token().kind == TokenKind::kType ||
      (token().kind == TokenKind::kWord && token().text != "tensor" &&
       (dtype_of(token().text) || is_foreign_dtype(token().text)))) {
    advance();
    if (token().is('<')) skip_angles();
    out.unsupported = "type " + rest_of_text(out.offset) +
                      " is not supported; values are tensors, for example tensor<2x3xf32>";
    return out;
  }
  if (!accept_word("tensor")) fail("expected a type such as tensor<2x3xf32>, found " + found());
  if (!token().is('<')) fail("expected `<` behind `tensor`, found " + found());

  // Dimensions are read from characters: `2x3xf32` is no sequence of MLIR tokens.
  const std::string_view text = lexer_.text();
  std::size_t at = lexer_.end_of_token();
  TensorType type;
  bool dynamic = false;
  bool huge = false;
  std::int64_t elements = 1;
  while (at < text.size() && (is_digit(text[at]) || text[at] == '?')) {
    std::int64_t dimension = 0;
    if (text[at] == '?') {
      dynamic = true;
      ++at;
    } else {
      for (; at < text.size() && is_digit(text[at]); ++at) {
        dimension = std::min(dimension * 10 + (text[at] - '0'), kMaxElements + 1);
      }
    }
    if (at >= text.size() || text[at] != 'x') {
      throw SyntaxError{at, "expected `x` and an element type behind a dimension of a tensor type"};
    }
    ++at;
    huge =
        huge || dimension > kMaxElements || (elements > 0 && dimension > kMaxElements / elements);
    if (!huge) elements *= dimension;
    type.shape.push_back(dimension);
  }
  lexer_.seek(at);
  if (token().kind != TokenKind::kWord && token().kind != TokenKind::kType) {
    fail("expected an element type, found " + found());
  }
  const std::size_t element_offset = token().offset;
  std::string element(token().text);
  const bool is_complex = token().is_word("complex");
  if (is_complex) {
    advance();
    if (token().is('<')) skip_angles();
    element = std::string(text.substr(element_offset, token().offset - element_offset));
    std::erase(element, ' ');
  }
  const std::optional<DType> dtype = dtype_of(element);
  if (!dtype && !is_complex && token().kind == TokenKind::kWord && !is_foreign_dtype(element)) {
    fail("unknown element type `" + element + "`; supported are " + all_dtypes());
  }
  if (!is_complex) advance();
  if (token().is('<')) skip_angles();
  bool encoded = false;
  if (token().is(',')) {
    encoded = true;
    advance();
    while (!token().is('>') && token().kind != TokenKind::kEnd) {
      if (token().is('<')) {
        skip_angles();
      } else {
        advance();
      }
    }
  }
  expect('>', "at the end of a tensor type");
  const std::string written = rest_of_text(out.offset);
  if (!dtype) {
    out.unsupported =
        "element type " + element + " is not supported; supported are " + all_dtypes();
  } else if (dynamic || encoded) {
    out.unsupported = written + " has no static shape; Superstep compiles static shapes only";
  } else if (huge) {
    out.unsupported = written + " has more elements than any machine can hold";
  } else {
    type.dtype = *dtype;
    out.type = std::move(type);
  }
  return out;
}

std::vector<TypeUse> Parser::parse_type_list(char close) {
  std::vector<TypeUse> out;
  if (accept(close)) return out;
  do {
    out.push_back(parse_type());
  } while (accept(','));
  expect(close, "behind a list of types");
  return out;
}

std::vector<TypeUse> Parser::parse_result_types() {
  if (accept('(')) return parse_type_list(')');
  return {parse_type()};
}

}  // namespace superstep::import
