#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "compiler/import/flatten.h"
#include "compiler/import/parser.h"
#include "compiler/import/refused_ops.h"
#include "compiler/ops/op.h"

namespace superstep::import {
namespace {

constexpr std::string_view kComposite = "stablehlo.composite";

/// A composite does what the function does that says what it is made of.
void become_call(SyntaxOp& op) {
  const auto at = op.attributes.find("decomposition");
  const auto* callee = at == op.attributes.end() ? nullptr : std::get_if<std::string>(&at->second);
  if (callee == nullptr) {
    throw SyntaxError{op.offset, "stablehlo.composite misses its decomposition = @function"};
  }
  op.callee = *callee;
  op.name = "call";
  op.attributes.clear();
}

/// One name for an op however it was printed.
std::string canonical_name(std::string name) {
  if (name == "func.call") return "call";
  if (name == "chlo.constant") return "stablehlo.constant";
  if (name == "func.return" || name == "stablehlo.return") return "return";
  return name;
}

}  // namespace

SyntaxOp Parser::parse_op(int depth) {
  SyntaxOp op;
  op.offset = token().offset;
  const Lexer begin = lexer_;
  Lexer name = lexer_;
  try {
    parse_results(op);
    name = lexer_;
    op.offset = token().offset;
    const bool generic = token().kind == TokenKind::kString;
    if (!generic && token().kind != TokenKind::kWord) fail("expected an op, found " + found());
    op.name = canonical_name(generic ? unquote(token().text) : std::string(token().text));
    const bool is_composite = op.name == kComposite;
    if (op.name != "call" && op.name != "return" && !is_composite && !is_check(op.name) &&
        !is_flattened(op.name) && find_op(op.name) == nullptr) {
      if (op.name.find('.') == std::string::npos) fail("expected an op, found " + found());
      throw SyntaxError{op.offset, refusal_of(op.name), true};
    }
    if (generic) {
      parse_generic(op, depth);
    } else {
      parse_pretty(op, depth);
    }
    if (is_composite) become_call(op);
    op.location = parse_optional_location();
  } catch (SyntaxError& error) {
    error.op = op.offset;
    report(std::move(error));
    op.broken = true;
    lexer_ = op.name.empty() ? begin : name;
    op.location = skip_op();
  }
  return op;
}

bool Parser::starts_op() const {
  const Token& first = token();
  if (first.kind == TokenKind::kAlias || first.kind == TokenKind::kBlock) return true;
  if (first.kind == TokenKind::kWord) {
    return first.text.find('.') != std::string_view::npos || first.text == "return" ||
           first.text == "call" || first.text == "module";
  }
  Lexer ahead = lexer_;
  if (first.kind == TokenKind::kString) {
    ahead.advance();
    return ahead.token().is('(');
  }
  if (first.kind != TokenKind::kValue) return false;
  // `%a:2, %b = name`, as against an operand at the beginning of a line.
  while (ahead.token().kind == TokenKind::kValue) {
    ahead.advance();
    if (ahead.token().is(':')) {
      ahead.advance();
      if (ahead.token().kind != TokenKind::kInteger) return false;
      ahead.advance();
    }
    if (!ahead.token().is(',')) break;
    ahead.advance();
  }
  if (!ahead.token().is('=')) return false;
  ahead.advance();
  return ahead.token().kind == TokenKind::kWord || ahead.token().kind == TokenKind::kString;
}

SyntaxLocation Parser::skip_op() {
  SyntaxLocation location;
  std::vector<char> open;
  int braces = 0;
  bool first = true;
  while (token().kind != TokenKind::kEnd) {
    if (!first && braces == 0 && token().first_on_line && starts_op()) return location;
    if (open.empty() && token().is_word("loc")) {
      const Lexer begin = lexer_;
      try {
        location = parse_optional_location();
        first = false;
        continue;
      } catch (const SyntaxError&) {
        lexer_ = begin;
      }
    }
    if (token().is('(') || token().is('[') || token().is('{')) {
      open.push_back(token().text.front());
      braces += token().is('{') ? 1 : 0;
    } else if (token().is(')') || token().is(']')) {
      // A bracket that closes nothing is part of what is wrong.
      if (!open.empty() && open.back() != '{') open.pop_back();
    } else if (token().is('}')) {
      if (braces == 0) {
        // Always moves on, so that whoever called it cannot meet the same place again.
        if (first) advance();
        return location;
      }
      while (open.back() != '{') open.pop_back();
      open.pop_back();
      --braces;
    }
    first = false;
    advance();
  }
  return location;
}

void Parser::parse_results(SyntaxOp& op) {
  if (token().kind != TokenKind::kValue) return;
  do {
    if (token().kind != TokenKind::kValue) fail("expected a result such as %0, found " + found());
    ResultGroup group{token().text.substr(1), 1, token().offset};
    advance();
    if (accept(':')) {
      constexpr std::int64_t kMaxResults = 1 << 16;
      const std::int64_t count = expect_integer("the number of results");
      if (count < 1 || count > kMaxResults) {
        throw SyntaxError{group.offset, "expected 1 to 65536 results"};
      }
      group.count = static_cast<std::uint32_t>(count);
    }
    op.results.push_back(group);
  } while (accept(','));
  expect('=', "behind the results of an op");
}

ValueUse Parser::parse_value() {
  if (token().kind != TokenKind::kValue) fail("expected a value such as %0, found " + found());
  ValueUse use{token().text.substr(1), 0, token().offset};
  const std::size_t end = lexer_.end_of_token();
  advance();
  if (token().kind == TokenKind::kAlias && token().offset == end) {
    Token number = token();
    number.text.remove_prefix(1);
    if (number.text.find_first_not_of("0123456789") != std::string_view::npos ||
        number.text.size() > 6) {
      fail("expected the number of a result behind `#`, found " + found());
    }
    use.number = static_cast<std::uint32_t>(integer_value(number));
    advance();
  }
  return use;
}

std::vector<ValueUse> Parser::parse_values_in_parentheses() {
  std::vector<ValueUse> out;
  expect('(', "in front of operands");
  if (accept(')')) return out;
  do {
    out.push_back(parse_value());
  } while (accept(','));
  expect(')', "behind operands");
  return out;
}

void Parser::parse_generic(SyntaxOp& op, int depth) {
  advance();
  op.operands = parse_values_in_parentheses();
  add_optional_properties(op);
  if (accept('(')) {
    do {
      expect('{', "in front of a region");
      parse_block(op.regions.emplace_back(), depth + 1);
      expect('}', "at the end of a region");
    } while (accept(','));
    expect(')', "behind regions");
  }
  add_optional_dictionary(op);
  parse_function_type(op);
}

void Parser::parse_function_type(SyntaxOp& op) {
  expect(':', "and types behind an op");
  expect('(', "in front of the operands' types");
  op.operand_types = parse_type_list(')');
  if (token().kind != TokenKind::kArrow) fail("expected `->` and result types, found " + found());
  advance();
  op.result_types = parse_result_types();
}

void Parser::parse_pretty(SyntaxOp& op, int depth) {
  advance();
  if (op.name == "call") return parse_call(op);
  if (is_flattened(op.name)) return parse_flattened(op);
  if (op.name == "return") return parse_return(op);
  if (op.name == kComposite) return parse_composite(op);
  if (is_check(op.name)) return parse_check(op);
  const Syntax& syntax = find_op(op.name)->syntax;
  if (syntax.parse != nullptr) return syntax.parse(*this, op, depth);
  parse_usual(op);
}

void Parser::parse_usual(SyntaxOp& op) {
  parse_items(op);
  parse_types(op);
}

void Parser::parse_call(SyntaxOp& op) {
  if (token().kind != TokenKind::kSymbol) fail("expected a function such as @f, found " + found());
  op.callee = parse_attribute(0).text;
  op.operands = parse_values_in_parentheses();
  add_optional_dictionary(op);
  parse_function_type(op);
}

/// `"name" %a, %b {composite_attributes = {…}, decomposition = @f} : types`
void Parser::parse_composite(SyntaxOp& op) {
  if (token().kind != TokenKind::kString) {
    fail("expected the name of a composite as a string, found " + found());
  }
  advance();
  while (token().kind == TokenKind::kValue) {
    op.operands.push_back(parse_value());
    if (!accept(',')) break;
  }
  add_optional_dictionary(op);
  parse_function_type(op);
}

// `%a, %b : type of the result`, `%tuple[0] : types`.
void Parser::parse_flattened(SyntaxOp& op) {
  if (token().kind == TokenKind::kValue) {
    do {
      op.operands.push_back(parse_value());
    } while (accept(','));
    if (accept('[')) {
      op.attributes.insert_or_assign("index", expect_integer("the number of an element"));
      expect(']', "behind the number of an element");
    }
  }
  add_optional_dictionary(op);
  const auto types = parse_listed_types(op);
  if (!types) return;
  op.result_types = *types;
  const bool is_tuple = !types->empty() && !types->front().parts.empty();
  op.operand_types =
      is_tuple ? types->front().parts : std::vector<TypeUse>(op.operands.size(), types->front());
}

void Parser::parse_return(SyntaxOp& op) {
  add_optional_dictionary(op);
  if (token().kind != TokenKind::kValue || token().first_on_line) return;
  do {
    op.operands.push_back(parse_value());
  } while (accept(','));
  add_optional_dictionary(op);
  expect(':', "and types behind returned values");
  do {
    op.operand_types.push_back(parse_type());
  } while (accept(','));
}

void Parser::parse_items(SyntaxOp& op) {
  if (token().is('(')) {
    // Properties and regions have no pretty form, operands in parentheses have.
    op.operands = parse_values_in_parentheses();
  } else if (!token().is(':') && !token().is('{')) {
    do {
      if (token().kind == TokenKind::kValue) {
        op.operands.push_back(parse_value());
      } else if (!op.operands.empty() && token().is(',')) {
        // A list of no operands, as of the start indices of a scalar: `%a, , sizes = []`.
        advance();
        parse_keyword(op);
      } else if (token().kind == TokenKind::kWord) {
        parse_keyword(op);
      } else {
        fail("expected a value such as %0, found " + found());
      }
    } while (accept(','));
  }
  add_optional_dictionary(op);
}

void Parser::parse_keyword(SyntaxOp& op) {
  const std::span<const Keyword> keywords = find_op(op.name)->syntax.keywords;
  const auto at = std::ranges::find(keywords, token().text, &Keyword::key);
  if (at == keywords.end()) {
    std::string allowed;
    for (const Keyword& keyword : keywords) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(keyword.key);
    }
    fail("unexpected " + found() + " in " + op.name +
         (allowed.empty() ? std::string() : "; it takes " + allowed));
  }
  advance();
  expect('=', "behind `" + std::string(at->key) + "`");
  const std::string name(at->attribute);
  switch (at->value) {
    case Keyword::Value::kIntegers:
      op.attributes.insert_or_assign(name, parse_integer_list());
      break;
    case Keyword::Value::kPair: {
      op.attributes.insert_or_assign(name, parse_integer_list());
      if (!accept_word("x")) fail("expected `x` between two lists, found " + found());
      op.attributes.insert_or_assign(std::string(at->second), parse_integer_list());
      break;
    }
    case Keyword::Value::kInteger:
      op.attributes.insert_or_assign(name, expect_integer("an integer"));
      break;
    case Keyword::Value::kString:
      if (token().kind != TokenKind::kString) fail("expected a string, found " + found());
      op.attributes.insert_or_assign(name, unquote(token().text));
      advance();
      break;
    case Keyword::Value::kWords:
      op.attributes.insert_or_assign(name, parse_word_list());
      break;
    case Keyword::Value::kFields:
      expect('<', "in front of fields");
      add_fields(op, parse_fields('>', 0));
      break;
  }
}

std::optional<std::vector<TypeUse>> Parser::parse_listed_types(SyntaxOp& op) {
  expect(':', "and types behind an op");
  std::vector<TypeUse> types;
  if (accept('(')) {
    types = parse_type_list(')');
  } else {
    do {
      types.push_back(parse_type());
    } while (accept(','));
  }
  if (token().kind != TokenKind::kArrow) return types;
  advance();
  op.operand_types = std::move(types);
  op.result_types = parse_result_types();
  return std::nullopt;
}

void Parser::parse_types(SyntaxOp& op) {
  const std::size_t offset = token().offset;
  const std::optional<std::vector<TypeUse>> types = parse_listed_types(op);
  if (!types) return;
  if (types->size() != 1) {
    throw SyntaxError{offset, "expected one type, or operand types, `->` and result types"};
  }
  op.operand_types.assign(op.operands.size(), types->front());
  op.result_types = *types;
}

}  // namespace superstep::import
