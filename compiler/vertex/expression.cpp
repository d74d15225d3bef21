#include "compiler/vertex/expression.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace superstep::vertex {
namespace {

bool gives_i1(Primitive primitive) {
  switch (primitive) {
    case Primitive::kEq:
    case Primitive::kNe:
    case Primitive::kLt:
    case Primitive::kLe:
    case Primitive::kGt:
    case Primitive::kGe:
    case Primitive::kIsFinite:
      return true;
    default:
      return false;
  }
}

std::size_t arity(Primitive primitive) {
  switch (primitive) {
    case Primitive::kInput:
    case Primitive::kConstant:
    case Primitive::kConvert:
    case Primitive::kBitcast:
    case Primitive::kCallWhere:
      return 0;
    case Primitive::kAdd:
    case Primitive::kSub:
    case Primitive::kMul:
    case Primitive::kDiv:
    case Primitive::kMin:
    case Primitive::kMax:
    case Primitive::kRem:
    case Primitive::kAnd:
    case Primitive::kOr:
    case Primitive::kXor:
    case Primitive::kShl:
    case Primitive::kShrLogical:
    case Primitive::kShrArithmetic:
    case Primitive::kEq:
    case Primitive::kNe:
    case Primitive::kLt:
    case Primitive::kLe:
    case Primitive::kGt:
    case Primitive::kGe:
      return 2;
    case Primitive::kSelect:
      return 3;
    default:
      return 1;
  }
}

}  // namespace

Node Expression::apply(Primitive primitive, std::vector<Node> operands) {
  SUPERSTEP_CHECK(arity(primitive) != 0,
                  "inputs, constants, casts and calls have their own functions");
  SUPERSTEP_CHECK(operands.size() == arity(primitive), "a primitive takes its number of operands");
  const bool selects = primitive == Primitive::kSelect;
  const DType first = dtype(operands[selects ? 1 : 0]);
  SUPERSTEP_CHECK(operands.size() < 2 || dtype(operands.back()) == first,
                  "the operands of a primitive have one dtype");
  SUPERSTEP_CHECK(!selects || dtype(operands[0]) == DType::kI1, "kSelect chooses by an i1");
  Step step{primitive, gives_i1(primitive) ? DType::kI1 : first, {}};
  for (const Node operand : operands) step.operands.push_back(operand.id);
  return push(std::move(step));
}

Node Expression::call_where(Node condition, Node otherwise, const Expression& function,
                            Node argument) {
  SUPERSTEP_CHECK(dtype(condition) == DType::kI1 && dtype(otherwise) == DType::kF32 &&
                      dtype(argument) == DType::kF32 &&
                      function.steps().back().dtype == DType::kF32,
                  "a function is called where an i1 says so, of an f32");
  SUPERSTEP_CHECK(function.functions().empty(), "a function calls no other");
  auto at = std::ranges::find(functions_, function);
  if (at == functions_.end()) at = functions_.insert(at, function);
  return push({Primitive::kCallWhere,
               DType::kF32,
               {condition.id, otherwise.id, argument.id},
               static_cast<std::uint64_t>(at - functions_.begin())});
}

bool Expression::has_branches() const {
  return std::ranges::any_of(steps_, [](const Step& step) {
    return step.primitive == Primitive::kCallWhere ||
           (step.primitive == Primitive::kRem && is_float(step.dtype));
  });
}

std::uint64_t arithmetic_on_floats(const Expression& expression) {
  constexpr Primitive kArithmetic[] = {Primitive::kAdd, Primitive::kSub, Primitive::kMul,
                                       Primitive::kDiv, Primitive::kRem};
  return static_cast<std::uint64_t>(
      std::ranges::count_if(expression.steps(), [&](const Expression::Step& step) {
        return is_float(step.dtype) &&
               std::ranges::find(kArithmetic, step.primitive) != std::end(kArithmetic);
      }));
}

std::string expression_key(const Expression& expression, const std::vector<Node>& outputs) {
  std::string key;
  for (const Expression::Step& step : expression.steps()) {
    key +=
        std::to_string(static_cast<int>(step.primitive)) + ':' + std::string(name_of(step.dtype));
    for (const std::uint32_t operand : step.operands) key += ' ' + std::to_string(operand);
    key += '#' + std::to_string(step.bits) + ';';
  }
  for (const Expression& function : expression.functions())
    key += "function " + expression_key(function, {}) + ' ';
  for (const Node output : outputs) key += '>' + std::to_string(output.id);
  return key;
}

}  // namespace superstep::vertex
