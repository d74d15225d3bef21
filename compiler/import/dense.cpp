#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "compiler/import/number.h"
#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/vertex/number.h"

namespace superstep::import {
namespace {

constexpr std::size_t kMaxConstantBytes = std::size_t{1} << 30;

/// Offset of the `>` that closes a literal whose contents begin at `begin`.
std::size_t end_of_literal(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '>') return at;
    if (text[at] == '"') at = text.find('"', at + 1);
    if (at == std::string_view::npos) break;
    if (text[at] == '/' && text.compare(at, 2, "//") == 0) at = text.find('\n', at);
    if (at == std::string_view::npos) break;
  }
  throw SyntaxError{begin, "this constant is never closed by `>`"};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void fill_raw(HostTensor& tensor, const Token& blob) {
  const std::string_view digits = blob.text.substr(1, blob.text.size() - 2);
  if (digits.substr(0, 2) != "0x" || digits.size() % 2 != 0) {
    throw SyntaxError{blob.offset, "expected raw bytes as a string \"0x…\" of whole bytes"};
  }
  std::vector<std::byte> bytes(digits.size() / 2 - 1);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_digit(digits[2 * i + 2]);
    const int low = hex_digit(digits[2 * i + 3]);
    if (high < 0 || low < 0) {
      throw SyntaxError{blob.offset + 2 * i + (high < 0 ? 3 : 4),
                        "expected hexadecimal digits of raw bytes"};
    }
    bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  const std::size_t elements = static_cast<std::size_t>(tensor.type.elements());
  const std::size_t size = size_of(tensor.type.dtype);
  const bool is_boolean = tensor.type.dtype == DType::kI1;
  if (bytes.size() == tensor.data.size()) {
    tensor.data = std::move(bytes);
    if (is_boolean) {
      for (std::byte& value : tensor.data) value = std::byte{value != std::byte{0}};
    }
    if (is_narrow_integer(tensor.type.dtype)) {
      for (std::size_t i = 0; i < elements; ++i) write_int(tensor, i, read_int(tensor, i));
    }
  } else if (is_boolean && bytes.size() == (elements + 7) / 8) {
    // Printed by LLVM before 2026: eight elements in a byte.
    for (std::size_t i = 0; i < elements; ++i) {
      tensor.data[i] = (bytes[i / 8] >> (i % 8)) & std::byte{1};
    }
  } else if (bytes.size() == size) {
    if (is_boolean) bytes[0] = std::byte{bytes[0] != std::byte{0}};
    for (std::size_t i = 0; i < elements; ++i) {
      std::memcpy(tensor.data.data() + i * size, bytes.data(), size);
    }
  } else {
    throw SyntaxError{blob.offset, "raw constant of " + std::to_string(bytes.size()) +
                                       " bytes, but " + tensor.type.text() + " has " +
                                       std::to_string(tensor.data.size())};
  }
}

template <class T>
void put_integer(HostTensor& tensor, std::size_t i, const Token& token) {
  const std::int64_t value = integer_value(token);
  using Unsigned = std::make_unsigned_t<T>;
  // Like MLIR: a signless integer may be written by its unsigned value.
  if (sizeof(T) < sizeof value &&
      (value < static_cast<std::int64_t>(std::numeric_limits<T>::min()) ||
       value > static_cast<std::int64_t>(std::numeric_limits<Unsigned>::max()))) {
    throw SyntaxError{token.offset, std::string(token.text) + " does not fit " +
                                        std::string(name_of(tensor.type.dtype))};
  }
  tensor.set(i, static_cast<T>(value));
}

void put_narrow_integer(HostTensor& tensor, std::size_t i, const Token& token) {
  const DType dtype = tensor.type.dtype;
  const std::int64_t value = integer_value(token);
  const std::int64_t end = std::int64_t{1} << bit_width(dtype);
  if (value < (is_signed(dtype) ? -end / 2 : 0) || value >= end) {
    throw SyntaxError{token.offset,
                      std::string(token.text) + " does not fit " + std::string(name_of(dtype))};
  }
  write_int(tensor, i, value);
}

/// The bits of an element of a float type.
std::uint64_t float_bits(DType dtype, const Token& token) {
  if (token.kind == TokenKind::kFloat) {
    return vertex::bits_of_float(dtype, parse_double(token.text));
  }
  if (token.kind != TokenKind::kInteger || token.text.substr(0, 2) != "0x") {
    throw SyntaxError{token.offset, "expected a floating-point number such as " +
                                        std::string(token.text) + ".0, or its bits in hexadecimal"};
  }
  const auto bits = static_cast<std::uint64_t>(integer_value(token));
  if (!is_wide(dtype) && bits >> (8 * size_of(dtype)) != 0) {
    throw SyntaxError{token.offset,
                      std::string(token.text) + " does not fit " + std::string(name_of(dtype))};
  }
  return bits;
}

void put_element(HostTensor& tensor, std::size_t i, const Token& token) {
  const DType dtype = tensor.type.dtype;
  if (token.is_word("true") || token.is_word("false")) {
    if (dtype != DType::kI1) {
      throw SyntaxError{token.offset, "found " + std::string(token.text) + " in a constant of " +
                                          tensor.type.text()};
    }
    tensor.set<std::uint8_t>(i, token.text == "true" ? 1 : 0);
    return;
  }
  if (token.kind != TokenKind::kInteger && (token.kind != TokenKind::kFloat || !is_float(dtype))) {
    throw SyntaxError{token.offset, "expected an element of " + tensor.type.text() + ", found `" +
                                        std::string(token.text) + "`"};
  }
  switch (dtype) {
    case DType::kI1: {
      const std::int64_t value = integer_value(token);
      if (value < -1 || value > 1) throw SyntaxError{token.offset, "expected true or false"};
      tensor.set<std::uint8_t>(i, value == 0 ? 0 : 1);
      break;
    }
    case DType::kI2:
    case DType::kI4:
    case DType::kU2:
    case DType::kU4:
      put_narrow_integer(tensor, i, token);
      break;
    case DType::kI8:
      put_integer<std::int8_t>(tensor, i, token);
      break;
    case DType::kI16:
      put_integer<std::int16_t>(tensor, i, token);
      break;
    case DType::kI32:
      put_integer<std::int32_t>(tensor, i, token);
      break;
    case DType::kI64:
      put_integer<std::int64_t>(tensor, i, token);
      break;
    case DType::kU8:
      put_integer<std::uint8_t>(tensor, i, token);
      break;
    case DType::kU16:
      put_integer<std::uint16_t>(tensor, i, token);
      break;
    case DType::kU32:
      put_integer<std::uint32_t>(tensor, i, token);
      break;
    case DType::kU64:
      put_integer<std::uint64_t>(tensor, i, token);
      break;
    case DType::kBF16:
    case DType::kF16:
    case DType::kF32:
    case DType::kF64:
    case DType::kF4E2M1FN:
    case DType::kF6E2M3FN:
    case DType::kF6E3M2FN:
    case DType::kF8E3M4:
    case DType::kF8E4M3:
    case DType::kF8E4M3B11FNUZ:
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kF8E8M0FNU:
      write_bits(tensor, i, float_bits(dtype, token));
      break;
    case DType::kC64:
    case DType::kC128:
      throw SyntaxError{token.offset, "expected a complex number such as (1.0,0.0)"};
  }
}

void splat(HostTensor& tensor) {
  const std::size_t size = size_of(tensor.type.dtype);
  for (std::size_t at = size; at < tensor.data.size(); at += size) {
    std::memcpy(tensor.data.data() + at, tensor.data.data(), size);
  }
}

}  // namespace

SyntaxAttribute Parser::parse_dense() {
  SyntaxAttribute out;
  out.kind = SyntaxAttribute::Kind::kTensor;
  const std::size_t begin = token().offset;
  advance();
  if (!token().is('<')) fail("expected `<` behind `dense`, found " + found());
  const Lexer elements = lexer_;
  // The type follows the elements and says how to read them.
  const std::size_t close = end_of_literal(lexer_.text(), lexer_.end_of_token());
  lexer_.seek(close + 1);
  expect(':', "and a type behind a constant");
  out.type = parse_type();
  const Lexer behind = lexer_;
  if (out.type.type) {
    if (static_cast<std::size_t>(out.type.type->elements()) > kMaxConstantBytes / 4) {
      throw SyntaxError{begin,
                        "constant of " + out.type.type->text() +
                            " is too large; pass it "
                            "as an argument",
                        true};
    }
    out.tensor = HostTensor(*out.type.type);
    lexer_ = elements;
    parse_elements(out);
    const DType dtype = out.type.type->dtype;
    if (dtype == DType::kI64 || dtype == DType::kU64) {
      // Indices and paddings, unless the value of a constant.
      out.kind = SyntaxAttribute::Kind::kIntegers;
      for (std::size_t i = 0; i < static_cast<std::size_t>(out.tensor.type.elements()); ++i) {
        out.integers.push_back(read_int(out.tensor, i));
      }
    }
  }
  lexer_ = behind;
  return out;
}

// A number, or the two of a complex one: `(1.0,-2.0)`.
void Parser::parse_element(HostTensor& tensor, std::size_t i) {
  if (!is_complex(tensor.type.dtype) || !accept('(')) {
    put_element(tensor, i, token());
    advance();
    return;
  }
  HostTensor parts(TensorType{real_of(tensor.type.dtype), {2}});
  put_element(parts, 0, token());
  advance();
  expect(',', "between the parts of a complex number");
  put_element(parts, 1, token());
  advance();
  expect(')', "behind a complex number");
  std::memcpy(tensor.data.data() + i * parts.data.size(), parts.data.data(), parts.data.size());
}

void Parser::parse_elements(SyntaxAttribute& out) {
  HostTensor& tensor = out.tensor;
  const Shape& shape = tensor.type.shape;
  const auto elements = static_cast<std::size_t>(tensor.type.elements());
  advance();  // `<`
  if (token().is('>')) {
    if (elements != 0) fail("constant of " + tensor.type.text() + " has no elements");
    return;
  }
  if (token().kind == TokenKind::kString) {
    fill_raw(tensor, token());
    advance();
  } else if (!token().is('[')) {
    // With no element to hold it, a splat says nothing.
    if (elements == 0) {
      HostTensor none(TensorType{tensor.type.dtype, {}});
      parse_element(none, 0);
    } else {
      parse_element(tensor, 0);
      splat(tensor);
    }
  } else {
    // `seen[d]` counts what the open list at depth d holds so far.
    std::vector<std::int64_t> seen;
    std::size_t next = 0;
    do {
      if (token().is('[')) {
        if (seen.size() == shape.size()) fail("constant is nested deeper than its type");
        seen.push_back(0);
        advance();
        if (!token().is(']')) continue;
      } else if (!token().is(']')) {
        if (seen.size() != shape.size() || next == elements) {
          fail("constant does not have the shape of " + tensor.type.text());
        }
        parse_element(tensor, next++);
        ++seen.back();
      }
      while (!seen.empty() && token().is(']')) {
        if (seen.back() != shape[seen.size() - 1]) {
          fail("this list of a constant has " + std::to_string(seen.back()) +
               " entries, but its type " + tensor.type.text() + " has " +
               std::to_string(shape[seen.size() - 1]));
        }
        seen.pop_back();
        if (!seen.empty()) ++seen.back();
        advance();
      }
      if (!seen.empty()) expect(',', "between elements of a constant");
    } while (!seen.empty());
  }
  if (!token().is('>')) fail("expected `>` at the end of a constant, found " + found());
}

}  // namespace superstep::import
