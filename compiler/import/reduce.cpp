#include <string>
#include <utility>

#include "compiler/import/parser.h"
#include "compiler/import/refused_ops.h"
#include "compiler/ops/op.h"

namespace superstep::import {

// `reduce(%x init: %a), (%y init: %b) across dimensions = [0] : types reducer(…) {…}` and
// `reduce(%x init: %a) applies stablehlo.add across dimensions = [0] : types`.
void Parser::parse_reduce(SyntaxOp& op, int depth) {
  std::vector<ValueUse> initial;
  do {
    expect('(', "in front of an operand and its initial value");
    op.operands.push_back(parse_value());
    if (!accept_word("init")) fail("expected `init:` and the initial value, found " + found());
    expect(':', "behind `init`");
    initial.push_back(parse_value());
    expect(')', "behind an initial value");
  } while (accept(','));
  const std::size_t inputs = op.operands.size();
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());

  Token reducer;
  if (accept_word("applies")) {
    reducer = token();
    if (reducer.kind != TokenKind::kWord) fail("expected the op of a reduction, found " + found());
    if (find_op(reducer.text) == nullptr) {
      throw SyntaxError{reducer.offset, refusal_of(reducer.text), true};
    }
    if (inputs != 1) fail("`applies` goes with one operand");
    advance();
  }
  if (!accept_word("across") || !accept_word("dimensions")) {
    fail("expected `across dimensions = […]`, found " + found());
  }
  expect('=', "behind `dimensions`");
  op.attributes.insert_or_assign("dimensions", parse_integer_list());
  if (token().is('{')) add_dictionary(op);
  parse_function_type(op);
  if (reducer.kind == TokenKind::kWord) {
    apply_reducer(op, reducer);
  } else {
    parse_reducer(op, inputs, depth);
  }
}

// The body of the short form: one op over two scalars.
void Parser::apply_reducer(SyntaxOp& op, const Token& reducer) {
  if (op.operand_types.size() != 2) {
    throw SyntaxError{op.offset, "expected the types of an operand and its initial value"};
  }
  const TypeUse scalar = op.operand_types[1];
  SyntaxBlock& block = op.regions.emplace_back();
  block.arguments = {{"lhs", scalar, reducer.offset, {}}, {"rhs", scalar, reducer.offset, {}}};
  SyntaxOp& body = block.ops.emplace_back();
  body.name = std::string(reducer.text);
  body.offset = reducer.offset;
  body.results = {{"result", 1, reducer.offset}};
  body.operands = {{"lhs", 0, reducer.offset}, {"rhs", 0, reducer.offset}};
  body.operand_types = {scalar, scalar};
  body.result_types = {scalar};
  SyntaxOp& end = block.ops.emplace_back();
  end.name = "return";
  end.offset = reducer.offset;
  end.operands = {{"result", 0, reducer.offset}};
  end.operand_types = {scalar};
}

void Parser::parse_reducer(SyntaxOp& op, std::size_t inputs, int depth) {
  if (!accept_word("reducer")) fail("expected `reducer(…) {…}`, found " + found());
  std::vector<SyntaxArgument> right;
  SyntaxBlock block;
  for (std::size_t i = 0; i < inputs; ++i) {
    expect('(', "in front of two arguments of a reducer");
    block.arguments.push_back(parse_argument());
    expect(',', "between two arguments of a reducer");
    right.push_back(parse_argument());
    expect(')', "behind two arguments of a reducer");
  }
  // Printed in pairs; the region takes all left ones first.
  block.arguments.insert(block.arguments.end(), right.begin(), right.end());
  expect('{', "in front of the reducer's body");
  parse_block(block, depth + 1);
  expect('}', "at the end of the reducer's body");
  op.regions.push_back(std::move(block));
}

}  // namespace superstep::import
