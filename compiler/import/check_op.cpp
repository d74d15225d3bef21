#include <string>
#include <utility>

#include "compiler/import/number.h"
#include "compiler/import/parser.h"

namespace superstep::import {

bool Parser::is_check(std::string_view name) const {
  return dialects_ == Dialects::kChecks &&
         (name.starts_with("check.") || name.starts_with("interpreter."));
}

/// `%found, %expected, tolerance = 0.1 {…} : T`, or a typed constant in place of `%expected : T`.
void Parser::parse_check(SyntaxOp& op) {
  do {
    if (token().kind == TokenKind::kValue) {
      op.operands.push_back(parse_value());
    } else if (token().kind == TokenKind::kWord && !token().is_word("dense")) {
      const std::string name(token().text);
      advance();
      expect('=', "behind `" + name + "`");
      // The type behind the number is that of the operands.
      if (token().kind == TokenKind::kFloat) {
        op.attributes.insert_or_assign(name, parse_double(token().text));
        advance();
      } else if (token().kind == TokenKind::kString) {
        op.attributes.insert_or_assign(name, unquote(token().text));
        advance();
      } else {
        op.attributes.insert_or_assign(name, expect_integer("a number or a string"));
      }
    } else {
      SyntaxAttribute constant = parse_attribute(0);
      op.operand_types.assign(1, constant.type);
      add_attribute(op, "value", std::move(constant));
    }
  } while (accept(','));
  add_optional_dictionary(op);
  if (!token().is(':')) return;
  const std::optional<std::vector<TypeUse>> types = parse_listed_types(op);
  if (!types) return;
  op.operand_types = *types;
  op.operand_types.resize(op.operands.size(), types->front());
  if (!op.results.empty()) op.result_types = op.operand_types;
}

}  // namespace superstep::import
