#include "toolchain/assembler/expression.h"

#include <array>

namespace superstep::assembler {

namespace {

constexpr int kDeepestExpression = 200;  // of parentheses and unary operators: the parser recurses

struct Operator {
  std::string_view text;
  int precedence;
};
// GNU as manual, "Infix Operators"; graphcore/llvm-project-fork llvm/lib/MC/MCParser/AsmParser.cpp
// puts comparisons below + and -. `a ++ b` is `a + +b`.
constexpr std::array<Operator, 21> kOperators = {
    {{"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<>", 3}, {"<", 3},  {">", 3},
     {"<=", 3}, {">=", 3}, {"+", 4},  {"++", 4}, {"-", 4},  {"|", 5},  {"&", 5},
     {"^", 5},  {"!", 5},  {"*", 6},  {"/", 6},  {"%", 6},  {"<<", 6}, {">>", 6}}};

const Operator* operator_of(const Token& token) {
  if (token.kind != Token::Kind::kPunctuation) return nullptr;
  for (const Operator& candidate : kOperators) {
    if (candidate.text == token.text) return &candidate;
  }
  return nullptr;
}

Value number(std::int64_t value) { return {value, Value::Base::kNone, 0}; }
constexpr Value kUnknown = {0, Value::Base::kUnknown, 0};

std::int64_t wrap(std::uint64_t value) { return static_cast<std::int64_t>(value); }

class Evaluator {
 public:
  Evaluator(std::span<const Token> tokens, ExpressionScope& scope)
      : tokens_(tokens), scope_(scope) {}

  ExpressionResult run() {
    if (tokens_.empty()) return {{}, "a value is missing", {}};
    const Value value = binary(1);
    if (error_.empty() && at_ < tokens_.size()) {
      fail("`" + spelled(tokens_[at_]) + "` is left over after the value");
    }
    return {error_.empty() ? value : Value{}, error_, where_};
  }

 private:
  Value fail(std::string error) {
    if (error_.empty()) {
      error_ = std::move(error);
      where_ = tokens_[std::min(at_, tokens_.size() - 1)].place;
    }
    at_ = tokens_.size();
    return {};
  }

  Value binary(int least) {
    Value left = unary();
    while (at_ < tokens_.size()) {
      const Operator* found = operator_of(tokens_[at_]);
      if (found == nullptr || found->precedence < least) break;
      ++at_;
      const Value right = binary(found->precedence + 1);
      left = apply(found->text, left, right);
    }
    return left;
  }

  Value apply(std::string_view op, Value a, Value b) {
    if (!error_.empty()) return {};
    if (!a.is_known() || !b.is_known()) return kUnknown;
    const auto x = static_cast<std::uint64_t>(a.number), y = static_cast<std::uint64_t>(b.number);
    if (op.starts_with('+') && (a.is_number() || b.is_number())) {
      Value sum = a.is_number() ? b : a;
      sum.number = wrap(x + y);
      return sum;
    }
    if (op == "-" && b.is_number()) return {wrap(x - y), a.base, a.index};
    if (op == "-" && a.base == b.base && a.index == b.index) return number(wrap(x - y));
    if (!a.is_number() || !b.is_number()) {
      return fail(
          "a label takes only + and - of numbers; the difference of two labels of one section "
          "is a number");
    }
    return arithmetic(op, a.number, b.number);
  }

  Value arithmetic(std::string_view op, std::int64_t x, std::int64_t y) {
    const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y);
    if (op == "*") return number(wrap(ux * uy));
    if (op == "/" || op == "%") {
      if (y == 0) return fail("division by zero");
      if (y == -1) return number(op == "/" ? wrap(0 - ux) : 0);
      return number(op == "/" ? x / y : x % y);
    }
    if (op == "<<") return number(uy > 63 ? 0 : wrap(ux << uy));
    if (op == ">>") return number(uy > 63 ? 0 : wrap(ux >> uy));
    if (op == "&") return number(x & y);
    if (op == "|") return number(x | y);
    if (op == "^") return number(x ^ y);
    if (op == "!") return number(x | ~y);
    if (op == "&&") return number(x != 0 && y != 0 ? 1 : 0);
    if (op == "||") return number(x != 0 || y != 0 ? 1 : 0);
    const bool holds = op == "=="   ? x == y
                       : op == "<"  ? x < y
                       : op == ">"  ? x > y
                       : op == "<=" ? x <= y
                       : op == ">=" ? x >= y
                                    : x != y;
    return number(holds ? -1 : 0);
  }

  Value unary() {
    if (at_ >= tokens_.size()) return fail("a value is missing");
    if (++depth_ > kDeepestExpression) return fail("an expression nested too deep");
    const Value value = operand();
    --depth_;
    return value;
  }

  Value operand() {
    const Token& token = tokens_[at_];
    switch (token.kind) {
      case Token::Kind::kNumber:
      case Token::Kind::kHalf:
      case Token::Kind::kSingle:
      case Token::Kind::kValue:
        ++at_;
        return token.value;
      case Token::Kind::kReal:
        return fail("a real number needs a suffix here: `1.0h` for f16, `1.0f` for f32");
      case Token::Kind::kMalformed:
        return fail(std::string(token.text));
      case Token::Kind::kWord:
      case Token::Kind::kRegister:
      case Token::Kind::kLocalLabel:
        return name(token);
      case Token::Kind::kPunctuation:
        return marked(token);
      default:
        return fail("`" + spelled(token) + "` where a value is expected");
    }
  }

  Value name(const Token& token) {
    const std::optional<Value> value = scope_.value_of(token);
    if (!value) return fail("`" + spelled(token) + "` is not defined");
    ++at_;
    return *value;
  }

  Value marked(const Token& token) {
    if (token.is("(")) {
      ++at_;
      const Value value = binary(1);
      if (!error_.empty()) return {};
      if (at_ >= tokens_.size() || !tokens_[at_].is(")")) return fail("`)` is missing");
      ++at_;
      return value;
    }
    const bool minus = token.is("-");
    if (!minus && !token.text.starts_with('+') && !token.is("~") && !token.is("!")) {
      return fail("`" + spelled(token) + "` where a value is expected");
    }
    ++at_;
    if (minus && at_ < tokens_.size() && tokens_[at_].kind == Token::Kind::kHalf) {
      return number(tokens_[at_++].value.number ^ 0x8000);
    }
    if (minus && at_ < tokens_.size() && tokens_[at_].kind == Token::Kind::kSingle) {
      return number(tokens_[at_++].value.number ^ 0x80000000);
    }
    const Value value = unary();
    if (!error_.empty() || !value.is_known() || token.text.starts_with('+')) return value;
    if (!value.is_number()) return fail("a label takes only + and - of numbers");
    if (minus) return number(wrap(0 - static_cast<std::uint64_t>(value.number)));
    return number(token.is("~") ? ~value.number : value.number == 0 ? 1 : 0);
  }

  std::span<const Token> tokens_;
  ExpressionScope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
  Place where_;
};

}  // namespace

ExpressionResult evaluate(std::span<const Token> tokens, ExpressionScope& scope) {
  if (tokens.size() == 1 && tokens[0].kind == Token::Kind::kNumber)
    return {tokens[0].value, {}, {}};
  return Evaluator(tokens, scope).run();
}

std::string spelled(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEnd:
      return "the end of the statement";
    case Token::Kind::kRegister:
      return "$" + std::string(token.text);
    case Token::Kind::kString:
      return "\"" + std::string(token.text) + "\"";
    case Token::Kind::kNumber:
    case Token::Kind::kValue:
      return token.text.empty() ? std::to_string(token.value.number) : std::string(token.text);
    default:
      return std::string(token.text);
  }
}

}  // namespace superstep::assembler
