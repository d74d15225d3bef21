#include "isa/assembly_expression.h"

#include <array>

namespace superstep::isa {

namespace {

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr std::array<Operator, 14> kOperators = {{{"||", 1},
                                                  {"&&", 2},
                                                  {"|", 3},
                                                  {"&", 4},
                                                  {"==", 5},
                                                  {"!=", 5},
                                                  {"<", 6},
                                                  {">", 6},
                                                  {"<<", 7},
                                                  {">>", 7},
                                                  {"+", 8},
                                                  {"-", 8},
                                                  {"*", 9},
                                                  {"/", 9}}};

class Evaluator {
 public:
  Evaluator(std::span<const Token> tokens, const AssemblyScope& scope)
      : tokens_(tokens), scope_(scope) {}

  AssemblyResult run() {
    if (tokens_.empty()) return {{}, "a value is missing", nullptr};
    const AssemblyValue value = binary(1);
    if (error_.empty() && at_ < tokens_.size()) fail("something is left over after the value");
    return {value, error_, where_};
  }

 private:
  AssemblyValue fail(std::string error) {
    if (error_.empty()) {
      error_ = std::move(error);
      where_ = &tokens_[std::min(at_, tokens_.size() - 1)];
    }
    at_ = tokens_.size();
    return {};
  }

  AssemblyValue binary(int least) {
    AssemblyValue left = unary();
    while (at_ < tokens_.size()) {
      const Operator* found = nullptr;
      for (const Operator& candidate : kOperators) {
        if (candidate.precedence >= least && tokens_[at_].is(candidate.text)) found = &candidate;
      }
      if (found == nullptr) break;
      ++at_;
      const AssemblyValue right = binary(found->precedence + 1);
      left = apply(found->text, left, right);
    }
    return left;
  }

  AssemblyValue apply(std::string_view op, AssemblyValue a, AssemblyValue b) {
    if (op == "+") return {a.number + b.number, a.labels + b.labels};
    if (op == "-") return {a.number - b.number, a.labels - b.labels};
    if (a.labels != 0 || b.labels != 0) {
      return fail("only + and - work on a label; a difference of two labels is a number");
    }
    const std::int64_t x = a.number, y = b.number;
    if (op == "*") return {x * y};
    if (op == "/") return y == 0 ? fail("division by zero") : AssemblyValue{x / y};
    if (op == "<<")
      return {y < 0 || y > 63 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << y)};
    if (op == ">>") return {y < 0 || y > 63 ? 0 : x >> y};
    if (op == "&") return {x & y};
    if (op == "|") return {x | y};
    if (op == "&&") return {x != 0 && y != 0 ? 1 : 0};
    if (op == "||") return {x != 0 || y != 0 ? 1 : 0};
    if (op == "==") return {x == y ? 1 : 0};
    if (op == "!=") return {x != y ? 1 : 0};
    if (op == "<") return {x < y ? 1 : 0};
    return {x > y ? 1 : 0};
  }

  AssemblyValue unary() {
    if (at_ >= tokens_.size()) return fail("a value is missing");
    const Token& token = tokens_[at_];
    if (token.is("-") || token.is("~") || token.is("!") || token.is("+")) {
      ++at_;
      const AssemblyValue value = unary();
      if (token.is("-")) return {-value.number, -value.labels};
      if (token.is("+")) return value;
      if (value.labels != 0) return fail("only + and - work on a label");
      return {token.is("~") ? ~value.number : value.number == 0 ? 1 : 0};
    }
    if (token.is("(")) {
      ++at_;
      const AssemblyValue value = binary(1);
      if (at_ >= tokens_.size() || !tokens_[at_].is(")")) return fail("`)` is missing");
      ++at_;
      return value;
    }
    if (token.kind == Token::Kind::kNumber) {
      ++at_;
      return {token.value};
    }
    if (token.kind == Token::Kind::kWord || token.kind == Token::Kind::kRegister ||
        token.kind == Token::Kind::kLocalLabel) {
      const std::optional<AssemblyValue> value = scope_.value_of(token);
      if (!value) {
        return fail("`" + spelled(token) + "` is not defined");
      }
      ++at_;
      return *value;
    }
    return fail("`" + token.text + "` where a value is expected");
  }

  static std::string spelled(const Token& token) {
    if (token.kind == Token::Kind::kRegister) return "$" + token.text;
    if (token.kind == Token::Kind::kLocalLabel) return std::to_string(token.value) + token.text;
    return token.text;
  }

  std::span<const Token> tokens_;
  const AssemblyScope& scope_;
  std::size_t at_ = 0;
  std::string error_;
  const Token* where_ = nullptr;
};

}  // namespace

AssemblyResult evaluate(std::span<const Token> tokens, const AssemblyScope& scope) {
  return Evaluator(tokens, scope).run();
}

}  // namespace superstep::isa
