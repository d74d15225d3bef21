#include <algorithm>
#include <array>
#include <string>

#include "compiler/import/parser.h"
#include "compiler/import/refused_ops.h"
#include "compiler/ops/op.h"

namespace superstep::import {
namespace {

/// `key = value` of a pretty form and the attributes it stands for.
struct Key {
  std::string_view op, key;
  enum class Value { kIntegers, kPair, kInteger, kWord, kWords, kAngles } value;
  std::string_view attribute, second = {};
};

// Facts: openxla/stablehlo stablehlo/dialect/StablehloOps.td and AssemblyFormat.h.
constexpr std::array kKeys = {
    Key{"stablehlo.broadcast_in_dim", "dims", Key::Value::kIntegers, "broadcast_dimensions"},
    Key{"stablehlo.broadcast", "sizes", Key::Value::kIntegers, "broadcast_sizes"},
    Key{"stablehlo.transpose", "dims", Key::Value::kIntegers, "permutation"},
    Key{"stablehlo.reverse", "dims", Key::Value::kIntegers, "dimensions"},
    Key{"stablehlo.concatenate", "dim", Key::Value::kInteger, "dimension"},
    Key{"stablehlo.iota", "dim", Key::Value::kInteger, "iota_dimension"},
    Key{"stablehlo.dynamic_slice", "sizes", Key::Value::kIntegers, "slice_sizes"},
    Key{"stablehlo.pad", "low", Key::Value::kIntegers, "edge_padding_low"},
    Key{"stablehlo.pad", "high", Key::Value::kIntegers, "edge_padding_high"},
    Key{"stablehlo.pad", "interior", Key::Value::kIntegers, "interior_padding"},
    Key{"stablehlo.reduce_precision", "format", Key::Value::kWord, "format"},
    Key{"stablehlo.dot_general", "batching_dims", Key::Value::kPair, "lhs_batching_dimensions",
        "rhs_batching_dimensions"},
    Key{"stablehlo.dot_general", "contracting_dims", Key::Value::kPair,
        "lhs_contracting_dimensions", "rhs_contracting_dimensions"},
    Key{"stablehlo.dot_general", "precision", Key::Value::kWords, "precision_config"},
    Key{"stablehlo.dot_general", "algorithm", Key::Value::kAngles, "algorithm"},
    Key{"stablehlo.dot", "precision", Key::Value::kWords, "precision_config"},
};

constexpr std::array<std::string_view, 6> kComparisons = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::array<std::string_view, 4> kCompareTypes = {"FLOAT", "TOTALORDER", "SIGNED",
                                                           "UNSIGNED"};

/// One name for an op however it was printed.
std::string canonical_name(std::string name) {
  if (name == "func.call") return "call";
  if (name == "func.return" || name == "stablehlo.return") return "return";
  return name;
}

void complete_dot(SyntaxOp& op) {
  for (const char* name : {"lhs_batching_dimensions", "rhs_batching_dimensions",
                           "lhs_contracting_dimensions", "rhs_contracting_dimensions"}) {
    op.attributes.try_emplace(name, std::vector<std::int64_t>{});
  }
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
    if (op.name != "call" && op.name != "return" && find_op(op.name) == nullptr) {
      if (op.name.find('.') == std::string::npos) fail("expected an op, found " + found());
      throw SyntaxError{op.offset, refusal_of(op.name), true};
    }
    if (generic) {
      parse_generic(op, depth);
    } else {
      parse_pretty(op, depth);
    }
    op.location = parse_optional_location();
    if (op.name == "stablehlo.dot_general") complete_dot(op);
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
  if (accept('<')) {
    add_dictionary(op);
    expect('>', "behind properties");
  }
  if (accept('(')) {
    do {
      expect('{', "in front of a region");
      parse_block(op.regions.emplace_back(), depth + 1);
      expect('}', "at the end of a region");
    } while (accept(','));
    expect(')', "behind regions");
  }
  if (token().is('{')) add_dictionary(op);
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
  if (op.name == "stablehlo.constant") return parse_constant(op);
  if (op.name == "call") return parse_call(op);
  if (op.name == "return") return parse_return(op);
  if (op.name == "stablehlo.reduce") return parse_reduce(op, depth);
  if (token().is('(')) {
    // Properties and regions have no pretty form, operands in parentheses have.
    op.operands = parse_values_in_parentheses();
    if (token().is('{')) add_dictionary(op);
    return parse_types(op);
  }
  parse_items(op);
  if (token().is('{')) add_dictionary(op);
  parse_types(op);
}

void Parser::parse_constant(SyntaxOp& op) {
  if (accept('(')) {
    expect(')', "behind `stablehlo.constant(`");
    if (accept('<')) {
      add_dictionary(op);
      expect('>', "behind properties");
    }
    if (token().is('{')) add_dictionary(op);
    return parse_function_type(op);
  }
  if (token().is('{')) add_dictionary(op);
  if (!token().is_word("dense") && !token().is_word("dense_resource")) {
    fail("expected dense<…>, found " + found());
  }
  SyntaxAttribute value = parse_attribute(0);
  op.result_types = {value.type};
  add_attribute(op, "value", std::move(value));
}

void Parser::parse_call(SyntaxOp& op) {
  if (token().kind != TokenKind::kSymbol) fail("expected a function such as @f, found " + found());
  op.callee = parse_attribute(0).text;
  op.operands = parse_values_in_parentheses();
  if (token().is('{')) add_dictionary(op);
  parse_function_type(op);
}

void Parser::parse_return(SyntaxOp& op) {
  if (token().is('{')) add_dictionary(op);
  if (token().kind != TokenKind::kValue || token().first_on_line) return;
  do {
    op.operands.push_back(parse_value());
  } while (accept(','));
  if (token().is('{')) add_dictionary(op);
  expect(':', "and types behind returned values");
  do {
    op.operand_types.push_back(parse_type());
  } while (accept(','));
}

void Parser::parse_items(SyntaxOp& op) {
  if (token().is(':') || token().is('{')) return;
  do {
    if (token().kind == TokenKind::kValue) {
      op.operands.push_back(parse_value());
      if (op.name == "stablehlo.slice" && token().is('[')) parse_slice_ranges(op);
    } else if (token().kind == TokenKind::kWord && op.name == "stablehlo.compare") {
      const std::string_view word = token().text;
      if (std::find(kComparisons.begin(), kComparisons.end(), word) != kComparisons.end()) {
        op.attributes.insert_or_assign("comparison_direction", std::string(word));
      } else if (std::find(kCompareTypes.begin(), kCompareTypes.end(), word) !=
                 kCompareTypes.end()) {
        op.attributes.insert_or_assign("compare_type", std::string(word));
      } else {
        fail("expected EQ, NE, GE, GT, LE or LT, or FLOAT, TOTALORDER, SIGNED or UNSIGNED, found " +
             found());
      }
      advance();
    } else if (token().kind == TokenKind::kWord) {
      parse_keyed(op);
    } else {
      fail("expected a value such as %0, found " + found());
    }
  } while (accept(','));
}

void Parser::parse_keyed(SyntaxOp& op) {
  const auto at = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) {
    return key.op == op.name && key.key == token().text;
  });
  if (at == kKeys.end()) {
    std::string allowed;
    for (const Key& key : kKeys) {
      if (key.op == op.name) allowed += (allowed.empty() ? "" : ", ") + std::string(key.key);
    }
    fail("unexpected " + found() + " in " + op.name +
         (allowed.empty() ? std::string() : "; it takes " + allowed));
  }
  advance();
  expect('=', "behind `" + std::string(at->key) + "`");
  const std::string name(at->attribute);
  switch (at->value) {
    case Key::Value::kIntegers:
      op.attributes.insert_or_assign(name, parse_integer_list());
      break;
    case Key::Value::kPair: {
      op.attributes.insert_or_assign(name, parse_integer_list());
      if (!accept_word("x")) fail("expected `x` between two lists, found " + found());
      op.attributes.insert_or_assign(std::string(at->second), parse_integer_list());
      break;
    }
    case Key::Value::kInteger:
      op.attributes.insert_or_assign(name, expect_integer("an integer"));
      break;
    case Key::Value::kWords:
      op.attributes.insert_or_assign(name, parse_word_list());
      break;
    case Key::Value::kAngles:
      if (!token().is('<')) fail("expected `<`, found " + found());
      op.attributes.insert_or_assign(name, skip_angles());
      break;
    case Key::Value::kWord: {
      // e8m10: the bits of exponent and mantissa.
      Token number = token();
      const std::size_t middle = number.text.find('m');
      const bool two_numbers =
          number.kind == TokenKind::kWord && number.text.front() == 'e' &&
          middle != std::string_view::npos && middle > 1 && middle + 1 < number.text.size() &&
          number.text.find_first_not_of("0123456789", 1) == middle &&
          number.text.find_first_not_of("0123456789", middle + 1) == std::string_view::npos;
      if (!two_numbers) fail("expected a format such as e8m10, found " + found());
      const std::string_view text = number.text;
      number.text = text.substr(1, middle - 1);
      op.attributes.insert_or_assign("exponent_bits", integer_value(number));
      number.text = text.substr(middle + 1);
      op.attributes.insert_or_assign("mantissa_bits", integer_value(number));
      advance();
      break;
    }
  }
}

void Parser::parse_slice_ranges(SyntaxOp& op) {
  std::vector<std::int64_t> start, limit, strides;
  expect('[', "in front of the ranges of a slice");
  if (!accept(']')) {
    do {
      start.push_back(expect_integer("the start of a range"));
      expect(':', "in a range");
      limit.push_back(expect_integer("the limit of a range"));
      strides.push_back(accept(':') ? expect_integer("the stride of a range") : 1);
    } while (accept(','));
    expect(']', "behind the ranges of a slice");
  }
  op.attributes.insert_or_assign("start_indices", std::move(start));
  op.attributes.insert_or_assign("limit_indices", std::move(limit));
  op.attributes.insert_or_assign("strides", std::move(strides));
}

void Parser::parse_types(SyntaxOp& op) {
  expect(':', "and types behind an op");
  const std::size_t offset = token().offset;
  std::vector<TypeUse> types;
  const bool in_parentheses = accept('(');
  if (in_parentheses) {
    types = parse_type_list(')');
  } else {
    do {
      types.push_back(parse_type());
    } while (accept(','));
  }
  if (token().kind == TokenKind::kArrow) {
    advance();
    op.operand_types = std::move(types);
    op.result_types = parse_result_types();
    return;
  }
  if (types.size() == 2 && op.name == "stablehlo.select") {
    op.operand_types = {types[0], types[1], types[1]};
    op.result_types = {types[1]};
    return;
  }
  if (types.size() != 1) {
    throw SyntaxError{offset, "expected one type, or operand types, `->` and result types"};
  }
  // One type for all operands and the result.
  op.operand_types.assign(op.operands.size(), types.front());
  op.result_types = std::move(types);
}

}  // namespace superstep::import
