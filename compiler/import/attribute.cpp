#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>

#include "base/error.h"
#include "compiler/import/number.h"
#include "compiler/import/parser.h"
#include "compiler/ops/op.h"

namespace superstep::import {
namespace {

constexpr int kMaxAttributeDepth = 64;

using Kind = SyntaxAttribute::Kind;

bool all_of_kind(const std::vector<SyntaxAttribute>& list, Kind kind) {
  return std::all_of(list.begin(), list.end(),
                     [&](const SyntaxAttribute& element) { return element.kind == kind; });
}

Attribute list_attribute(const std::string& name, const SyntaxAttribute& attribute) {
  const std::vector<SyntaxAttribute>& list = attribute.list;
  if (name == "precision_config" || (!list.empty() && all_of_kind(list, Kind::kString))) {
    std::vector<std::string> words;
    for (const SyntaxAttribute& element : list) words.push_back(element.text);
    return words;
  }
  if (all_of_kind(list, Kind::kInteger) || all_of_kind(list, Kind::kBool)) {
    std::vector<std::int64_t> integers;
    for (const SyntaxAttribute& element : list) {
      integers.push_back(element.kind == Kind::kBool ? element.boolean : element.integer);
    }
    return integers;
  }
  return attribute.text;
}

std::vector<std::string> known_attributes(const OpDefinition& definition) {
  std::vector<std::string> names;
  for (const Keyword& keyword : definition.syntax.keywords) {
    names.emplace_back(keyword.attribute);
    if (!keyword.second.empty()) names.emplace_back(keyword.second);
  }
  std::istringstream words{std::string(definition.attributes)};
  names.insert(names.end(), std::istream_iterator<std::string>(words), {});
  return names;
}

/// Refuses an attribute that the op does not have. Those of other dialects, as `mhlo.sharding`, may
/// stand at any op.
void check_name(const SyntaxOp& op, const SyntaxField& field) {
  const OpDefinition* definition = find_op(op.name);
  if (definition == nullptr || field.name.find('.') != std::string::npos) return;
  const std::vector<std::string> known = known_attributes(*definition);
  if (std::ranges::find(known, field.name) != known.end()) return;
  constexpr std::size_t kLongestName = 64;
  const std::string shown = field.name.substr(0, kLongestName);
  const std::string near = nearest(shown, known);
  throw SyntaxError{field.offset, op.name + " has no attribute " + shown +
                                      (near.empty() ? near : "; did you mean " + near + "?")};
}

}  // namespace

std::string Parser::skip_angles() {
  const std::size_t begin = token().offset;
  int depth = 0;
  do {
    if (token().kind == TokenKind::kEnd) throw SyntaxError{begin, "this `<` is never closed"};
    if (token().is('<')) ++depth;
    if (token().is('>')) --depth;
    advance();
  } while (depth > 0);
  return std::string(lexer_.text().substr(begin, token().offset - begin));
}

SyntaxAttribute Parser::parse_attribute(int depth) {
  if (depth > kMaxAttributeDepth) fail("attribute nested too deeply");
  SyntaxAttribute out;
  const std::size_t begin = token().offset;
  const auto skip_type_suffix = [&] {
    if (!accept(':')) return;
    parse_type();
  };
  switch (token().kind) {
    case TokenKind::kInteger:
      out.kind = Kind::kInteger;
      out.integer = integer_value(token());
      advance();
      skip_type_suffix();
      return out;
    case TokenKind::kFloat:
      out.kind = Kind::kFloat;
      out.number = parse_double(token().text);
      advance();
      skip_type_suffix();
      return out;
    case TokenKind::kString:
      out.kind = Kind::kString;
      out.text = unquote(token().text);
      advance();
      skip_type_suffix();
      return out;
    case TokenKind::kSymbol:
      out.kind = Kind::kString;
      out.text = std::string(token().text.substr(1));
      if (out.text.front() == '"') out.text = unquote(out.text);
      advance();
      return out;
    case TokenKind::kAlias:
      return parse_dialect_attribute(depth);
    case TokenKind::kType:
      advance();
      if (token().is('<')) skip_angles();
      break;
    case TokenKind::kWord:
      if (token().text == "dense") return parse_dense();
      if (token().text == "array") return parse_array();
      if (token().text == "loc") {
        parse_optional_location();
        return out;
      }
      if (token().text == "true" || token().text == "false") {
        out.kind = Kind::kBool;
        out.boolean = token().text == "true";
        advance();
        return out;
      }
      if (token().text == "dense_resource") {
        throw SyntaxError{begin,
                          "dense_resource constants are not supported; print the module "
                          "with its constants in the text",
                          true};
      }
      advance();
      if (token().is('<')) skip_angles();
      break;
    default:
      if (accept('[')) {
        out.kind = Kind::kList;
        if (!accept(']')) {
          do {
            out.list.push_back(parse_attribute(depth + 1));
          } while (accept(','));
          expect(']', "at the end of a list");
        }
      } else if (token().is('{')) {
        out.kind = Kind::kDictionary;
        out.dictionary = parse_dictionary(depth + 1);
      } else if (accept('(')) {
        out.kind = Kind::kFunctionType;
        parse_type_list(')');
        if (token().kind != TokenKind::kArrow) fail("expected `->`, found " + found());
        advance();
        out.results = parse_result_types();
      } else {
        fail("expected an attribute, found " + found());
      }
  }
  out.text = std::string(lexer_.text().substr(begin, token().offset - begin));
  out.text.erase(out.text.find_last_not_of(" \t\r\n") + 1);
  return out;
}

SyntaxAttribute Parser::parse_dialect_attribute(int depth) {
  SyntaxAttribute out;
  out.text = std::string(token().text);
  advance();
  if (!token().is('<')) return out;
  const Lexer begin = lexer_;
  advance();
  if (token().kind == TokenKind::kWord) {
    advance();
    if (token().is('=')) {
      // #stablehlo.dot<lhs_contracting_dimensions = [1], …>
      lexer_ = begin;
      advance();
      out.kind = Kind::kDictionary;
      out.dictionary = parse_fields('>', depth + 1);
      return out;
    }
    if (token().kind == TokenKind::kWord) {
      // #stablehlo<comparison_direction EQ>
      out.kind = Kind::kString;
      out.text = std::string(token().text);
      advance();
      expect('>', "at the end of an attribute");
      return out;
    }
  }
  lexer_ = begin;
  out.text += skip_angles();
  return out;
}

SyntaxFields Parser::parse_dictionary(int depth) {
  expect('{', "in front of attributes");
  return parse_fields('}', depth);
}

SyntaxFields Parser::parse_fields(char close, int depth) {
  SyntaxFields out;
  if (accept(close)) return out;
  do {
    if (token().kind != TokenKind::kWord && token().kind != TokenKind::kString) {
      fail("expected the name of an attribute, found " + found());
    }
    SyntaxField& field = out.emplace_back();
    field.offset = token().offset;
    field.name =
        token().kind == TokenKind::kString ? unquote(token().text) : std::string(token().text);
    advance();
    if (accept('=')) {
      field.value = parse_attribute(depth + 1);
    } else {
      field.value.kind = Kind::kBool;
      field.value.boolean = true;
    }
  } while (accept(','));
  expect(close, "at the end of attributes");
  return out;
}

SyntaxAttribute Parser::parse_array() {
  SyntaxAttribute out;
  out.kind = Kind::kIntegers;
  const std::size_t begin = token().offset;
  advance();
  expect('<', "behind `array`");
  if (token().kind != TokenKind::kWord) fail("expected an element type, found " + found());
  const std::string_view type = token().text;
  advance();
  if (accept(':')) {
    do {
      if (token().is_word("true") || token().is_word("false")) {
        out.integers.push_back(token().text == "true" ? 1 : 0);
      } else if (token().kind == TokenKind::kInteger) {
        out.integers.push_back(integer_value(token()));
      } else if (token().kind == TokenKind::kFloat) {
        out.kind = Kind::kOpaque;
      } else {
        fail("expected an element of array<" + std::string(type) + ">, found " + found());
      }
      advance();
    } while (accept(','));
  }
  expect('>', "at the end of an array");
  out.text = std::string(lexer_.text().substr(begin, token().offset - begin));
  return out;
}

std::vector<std::int64_t> Parser::parse_integer_list() {
  std::vector<std::int64_t> out;
  expect('[', "in front of a list of integers");
  if (accept(']')) return out;
  do {
    out.push_back(expect_integer("an integer"));
  } while (accept(','));
  expect(']', "at the end of a list of integers");
  return out;
}

std::vector<std::string> Parser::parse_word_list() {
  std::vector<std::string> out;
  expect('[', "in front of a list");
  if (accept(']')) return out;
  do {
    if (token().kind != TokenKind::kWord) fail("expected a word, found " + found());
    out.emplace_back(token().text);
    advance();
  } while (accept(','));
  expect(']', "at the end of a list");
  return out;
}

void Parser::add_attribute(SyntaxOp& op, const std::string& name, SyntaxAttribute attribute) {
  switch (attribute.kind) {
    case Kind::kBool:
      op.attributes.insert_or_assign(name, attribute.boolean);
      break;
    case Kind::kInteger:
      op.attributes.insert_or_assign(name, attribute.integer);
      break;
    case Kind::kFloat:
      op.attributes.insert_or_assign(name, attribute.number);
      break;
    case Kind::kList:
      op.attributes.insert_or_assign(name, list_attribute(name, attribute));
      break;
    case Kind::kIntegers:
      if (!attribute.type.type || name != "value") {
        op.attributes.insert_or_assign(name, std::move(attribute.integers));
        break;
      }
      [[fallthrough]];
    case Kind::kTensor:
      if (!attribute.type.type) break;
      op.attributes.insert_or_assign(name, std::move(attribute.tensor));
      break;
    case Kind::kDictionary:
      // A structure of the dialect is a set of attributes; a plain dictionary stays one.
      if (attribute.text.front() != '#') {
        op.attributes.insert_or_assign(name, std::move(attribute.text));
        break;
      }
      add_fields(op, std::move(attribute.dictionary));
      break;
    case Kind::kString:
    case Kind::kFunctionType:
    case Kind::kOpaque:
      if (op.name == "call" && name == "callee") op.callee = attribute.text;
      op.attributes.insert_or_assign(name, std::move(attribute.text));
      break;
  }
}

void Parser::add_fields(SyntaxOp& op, SyntaxFields fields) {
  for (SyntaxField& field : fields) {
    check_name(op, field);
    add_attribute(op, field.name, std::move(field.value));
  }
}

void Parser::add_dictionary(SyntaxOp& op) { add_fields(op, parse_dictionary(0)); }

void Parser::add_optional_dictionary(SyntaxOp& op) {
  if (token().is('{')) add_dictionary(op);
}

void Parser::add_optional_properties(SyntaxOp& op) {
  if (!accept('<')) return;
  add_dictionary(op);
  expect('>', "behind properties");
}

}  // namespace superstep::import
