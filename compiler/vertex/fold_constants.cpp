#include "compiler/vertex/fold_constants.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "compiler/vertex/interpret.h"

namespace superstep::vertex {
namespace {

using Step = Expression::Step;

class Folding {
 public:
  explicit Folding(const Expression& from) : from_(from) {
    for (const Step& step : from.steps()) nodes_.push_back(folded(step));
  }

  [[nodiscard]] Folded result(const std::vector<Node>& outputs) const {
    Folded result{to_, {}};
    for (const Node output : outputs) result.outputs.push_back(nodes_[output.id]);
    return result;
  }

 private:
  [[nodiscard]] Node folded(const Step& step) {
    if (step.primitive == Primitive::kInput) {
      return to_.input(static_cast<std::uint32_t>(step.bits), step.dtype);
    }
    if (step.primitive == Primitive::kConstant) return to_.constant(step.dtype, step.bits);
    std::vector<Node> operands;
    for (const std::uint32_t operand : step.operands) operands.push_back(nodes_[operand]);
    if (std::ranges::all_of(operands, [&](Node n) { return bits(n).has_value(); })) {
      return to_.constant(step.dtype, value(step, operands));
    }
    if (const auto decided = decision(step, operands)) return *decided;
    return append(to_, step, operands);
  }

  /// Of a node of the result, if it is a constant.
  [[nodiscard]] std::optional<std::uint64_t> bits(Node n) const {
    const Step& step = to_.steps()[n.id];
    return step.primitive == Primitive::kConstant ? std::optional(step.bits) : std::nullopt;
  }

  /// The operand that a step is where a constant i1 decides.
  [[nodiscard]] std::optional<Node> decision(const Step& step,
                                             const std::vector<Node>& operands) const {
    if (step.primitive == Primitive::kSelect) {
      const auto condition = bits(operands[0]);
      return condition ? std::optional(operands[*condition != 0 ? 1 : 2]) : std::nullopt;
    }
    const bool is_and = step.primitive == Primitive::kAnd;
    if (step.dtype != DType::kI1 || (!is_and && step.primitive != Primitive::kOr)) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const auto known = bits(operands[i]);
      // False decides an "and", true an "or"; the other one leaves the other operand.
      if (known) return operands[(*known != 0) == is_and ? 1 - i : i];
    }
    return std::nullopt;
  }

  /// The bits of a step of constants.
  [[nodiscard]] std::uint64_t value(const Step& step, const std::vector<Node>& operands) const {
    Expression alone;
    std::vector<Node> constants;
    for (const Node n : operands) constants.push_back(alone.constant(to_.dtype(n), *bits(n)));
    const HostTensor result = evaluate_expression(alone, append(alone, step, constants), {});
    std::uint64_t bits = 0;
    std::memcpy(&bits, result.data.data(), result.data.size());
    return bits;
  }

  [[nodiscard]] Node append(Expression& to, const Step& step,
                            const std::vector<Node>& operands) const {
    switch (step.primitive) {
      case Primitive::kConvert:
        return to.convert(operands[0], step.dtype);
      case Primitive::kBitcast:
        return to.bitcast(operands[0], step.dtype);
      case Primitive::kCallWhere:
        return to.call_where(operands[0], operands[1], from_.functions()[step.bits], operands[2]);
      default:
        return to.apply(step.primitive, operands);
    }
  }

  const Expression& from_;
  Expression to_;
  std::vector<Node> nodes_;  ///< of the result, by step
};

}  // namespace

Folded fold_constants(const Expression& expression, const std::vector<Node>& outputs) {
  return Folding(expression).result(outputs);
}

}  // namespace superstep::vertex
