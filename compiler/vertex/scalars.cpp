#include "compiler/vertex/scalars.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "isa/instruction_word.h"
#include "isa/registers.h"

namespace superstep::vertex {
namespace {

using Step = Expression::Step;

/// An instruction of two registers, whose operands may change places.
struct Binary {
  std::string_view syntax;
  bool is_swapped = false;
  bool is_negated = false;  ///< gives 1 for 0
};

std::optional<Binary> binary_of(Primitive primitive, DType dtype) {
  const std::string_view less = dtype == DType::kI32 ? "cmpslt $d, $a, $b" : "cmpult $d, $a, $b";
  switch (primitive) {
    case Primitive::kAdd:
      return Binary{"add $d, $a, $b"};
    case Primitive::kSub:
      return Binary{"sub $d, $a, $b"};
    case Primitive::kMul:
      return Binary{"mul $d, $a, $b"};
    case Primitive::kAnd:
      return Binary{"and $d, $a, $b"};
    case Primitive::kOr:
      return Binary{"or $d, $a, $b"};
    case Primitive::kXor:
      return Binary{"xor $d, $a, $b"};
    case Primitive::kShl:
      return Binary{"shl $d, $a, $b"};
    case Primitive::kShrLogical:
      return Binary{"shr $d, $a, $b"};
    case Primitive::kShrArithmetic:
      return Binary{"shrs $d, $a, $b"};
    case Primitive::kMin:
      if (dtype == DType::kU32) return std::nullopt;
      return Binary{dtype == DType::kI1 ? "and $d, $a, $b" : "min $d, $a, $b"};
    case Primitive::kMax:
      if (dtype == DType::kU32) return std::nullopt;
      return Binary{dtype == DType::kI1 ? "or $d, $a, $b" : "max $d, $a, $b"};
    case Primitive::kEq:
      return Binary{"cmpeq $d, $a, $b"};
    case Primitive::kNe:
      return Binary{"cmpne $d, $a, $b"};
    case Primitive::kLt:
      return Binary{less};
    case Primitive::kGt:
      return Binary{less, true};
    case Primitive::kLe:
      return Binary{less, true, true};
    case Primitive::kGe:
      return Binary{less, false, true};
    default:
      return std::nullopt;
  }
}

/// Whether shifts divide by a number, whatever its sign, or nothing has to.
bool divides_by_shifts(std::uint32_t divisor, DType dtype) {
  const bool is_negative = dtype == DType::kI32 && divisor >> 31 != 0;
  return divisor == 0 || std::has_single_bit(is_negative ? 0 - divisor : divisor);
}

bool is_division(Primitive primitive) {
  return primitive == Primitive::kDiv || primitive == Primitive::kRem;
}

bool is_word(DType dtype) {
  return dtype == DType::kI32 || dtype == DType::kU32 || dtype == DType::kI1;
}

/// Instructions over any number of registers, numbered from 0.
class Translation {
 public:
  struct Operand {
    enum class Kind : std::uint8_t { kResult, kUpdated, kSource, kNumber } kind;
    std::int64_t value;
  };
  struct Item {
    std::string_view syntax;
    std::vector<Operand> operands;
    std::optional<BufferId> address = {};
  };

  /// What does not depend on anything comes first, as long as there are registers, because each
  /// result takes some cycles until it can be used.
  Translation(const Scalars& scalars, bool inputs_first)
      : scalars_(scalars), steps_(scalars.expression.steps()), values_(steps_.size()) {
    find_needed();
    std::vector<std::int64_t> addresses(steps_.size()), store_addresses;
    if (inputs_first) {
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (!needed_[i]) continue;
        if (steps_[i].primitive == Primitive::kInput) addresses[i] = address(input_of(steps_[i]));
        if (steps_[i].primitive == Primitive::kConstant) values_[i] = constant(bits_of(steps_[i]));
      }
      for (const auto& store : scalars.stores) store_addresses.push_back(address(store.to));
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (!needed_[i] || steps_[i].primitive != Primitive::kInput) continue;
        values_[i] = load(addresses[i], steps_[i].dtype);
      }
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!needed_[i]) continue;
      const Step& step = steps_[i];
      if (step.primitive == Primitive::kInput) {
        if (!inputs_first) values_[i] = load(address(input_of(step)), step.dtype);
      } else if (step.primitive == Primitive::kConstant) {
        if (!inputs_first) values_[i] = constant(bits_of(step));
      } else {
        values_[i] = compute(step);
      }
    }
    first_store_ = items_.size();
    for (std::size_t s = 0; s < scalars.stores.size(); ++s) {
      const auto& [to, value] = scalars.stores[s];
      const std::int64_t at = inputs_first ? store_addresses[s] : address(to);
      items_.push_back(
          {"st32", {source(values_[value.id]), source(at), number(isa::kZero), number(0)}});
    }
  }

  [[nodiscard]] std::optional<ScalarCode> allocated(
      std::span<const std::uint32_t> registers) const {
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::size_t> last_use(static_cast<std::size_t>(count_));
    for (std::size_t i = 0; i < items_.size(); ++i) {
      for (const Operand& operand : items_[i].operands) {
        if (operand.kind != Operand::Kind::kNumber) {
          last_use[static_cast<std::size_t>(operand.value)] = i;
        }
      }
    }
    if (scalars_.decision) {
      last_use[static_cast<std::size_t>(values_[scalars_.decision->id])] = items_.size();
    }
    std::vector<std::uint32_t> free(registers.rbegin(), registers.rend());
    std::vector<std::uint32_t> place(static_cast<std::size_t>(count_), kNone);
    ScalarCode code;
    code.first_store = first_store_;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      for (const Operand& operand : item.operands) {
        const auto its = static_cast<std::size_t>(operand.value);
        if (operand.kind != Operand::Kind::kSource || last_use[its] != i) continue;
        // A value may be both operands.
        if (std::ranges::find(free, place[its]) == free.end()) free.push_back(place[its]);
      }
      std::vector<std::int64_t> numbers;
      for (const Operand& operand : item.operands) {
        if (operand.kind == Operand::Kind::kNumber) {
          numbers.push_back(operand.value);
          continue;
        }
        std::uint32_t& its = place[static_cast<std::size_t>(operand.value)];
        if (operand.kind == Operand::Kind::kResult) {
          if (free.empty()) return std::nullopt;
          its = free.back();
          free.pop_back();
        }
        numbers.push_back(its);
      }
      code.instructions.push_back({encoded(item.syntax, numbers), item.address});
    }
    if (scalars_.decision) {
      code.decision = place[static_cast<std::size_t>(values_[scalars_.decision->id])];
    }
    return code;
  }

 private:
  static Operand source(std::int64_t value) { return {Operand::Kind::kSource, value}; }
  static Operand number(std::int64_t value) { return {Operand::Kind::kNumber, value}; }

  static std::uint32_t encoded(std::string_view syntax, const std::vector<std::int64_t>& n) {
    if (n.size() == 2) return encode(syntax, {n[0], n[1]});
    return n.size() == 3 ? encode(syntax, {n[0], n[1], n[2]})
                         : encode(syntax, {n[0], n[1], n[2], n[3]});
  }

  void find_needed() {
    needed_.resize(steps_.size());
    for (const auto& store : scalars_.stores) needed_[store.value.id] = true;
    if (scalars_.decision) needed_[scalars_.decision->id] = true;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (!needed_[i]) continue;
      for (const std::uint32_t operand : steps_[i].operands) {
        needed_[operand] = true;
        if (is_division(steps_[i].primitive)) break;  // instructions have the divisor
      }
    }
  }

  [[nodiscard]] BufferId input_of(const Step& step) const { return scalars_.inputs[step.bits]; }

  /// The register of the result.
  std::int64_t emit(std::string_view syntax, std::vector<Operand> sources,
                    std::optional<BufferId> its_address = {}) {
    sources.insert(sources.begin(), {Operand::Kind::kResult, count_});
    items_.push_back({syntax, std::move(sources), its_address});
    return count_++;
  }

  std::int64_t address(BufferId buffer) { return emit("setzi", {number(0)}, buffer); }
  std::int64_t load(std::int64_t from, DType dtype) {
    return emit(dtype == DType::kI1 ? "ldz8 $d, $b, $o, i" : "ld32",
                {source(from), number(isa::kZero), number(0)});
  }

  static std::uint32_t bits_of(const Step& step) { return static_cast<std::uint32_t>(step.bits); }

  std::int64_t constant(std::uint32_t bits) {
    constexpr unsigned kLowBits = 20;
    const std::int64_t low = emit("setzi", {number(bits & ((1U << kLowBits) - 1))});
    if (bits >> kLowBits == 0) return low;
    return emit("or $d, $a, i<<20", {source(low), number(bits >> kLowBits << kLowBits)});
  }

  std::int64_t binary(std::string_view syntax, std::int64_t a, std::int64_t b) {
    return emit(syntax, {source(a), source(b)});
  }
  std::int64_t add(std::int64_t a, std::int64_t b) { return binary("add $d, $a, $b", a, b); }
  std::int64_t subtract(std::int64_t a, std::int64_t b) { return binary("sub $d, $a, $b", a, b); }
  std::int64_t shift_left(std::int64_t a, std::uint32_t by) {
    return emit("shl $d, $a, i", {source(a), number(by)});
  }
  std::int64_t shift_right(std::int64_t a, std::uint32_t by) {
    return emit("shr $d, $a, i", {source(a), number(by)});
  }
  std::int64_t shift_signed(std::int64_t a, std::uint32_t by) {
    return emit("shrs $d, $a, i", {source(a), number(by)});
  }
  std::int64_t negative(std::int64_t a) {
    return emit("sub $d, $a, $b", {number(isa::kZero), source(a)});
  }
  /// A quotient towards zero, or a remainder, by a power of two.
  std::int64_t divide(const Step& step) {
    const std::int64_t x = values_[step.operands[0]];
    const std::uint32_t bits = bits_of(steps_[step.operands[1]]);
    const bool divides = step.primitive == Primitive::kDiv;
    if (bits == 0) return divides ? constant(UINT32_MAX) : x;
    const bool is_signed = step.dtype == DType::kI32;
    const auto log = static_cast<std::uint32_t>(std::countr_zero(bits));
    std::int64_t quotient = x;
    if (log > 0 && is_signed) {
      // What rounds negative numbers up.
      const std::int64_t sign = log == 1 ? x : shift_signed(x, 31);
      quotient = shift_signed(add(x, shift_right(sign, 32 - log)), log);
    } else if (log > 0) {
      quotient = shift_right(x, log);
    }
    if (!divides) return subtract(x, shift_left(quotient, log));
    return is_signed && bits >> 31 != 0 ? negative(quotient) : quotient;
  }

  std::int64_t compute(const Step& step) {
    const auto operand = [&](std::size_t i) { return source(values_[step.operands[i]]); };
    const DType from = steps_[step.operands[0]].dtype;
    if (const auto binary = binary_of(step.primitive, from)) {
      const std::size_t first = binary->is_swapped ? 1 : 0;
      const std::int64_t result = emit(binary->syntax, {operand(first), operand(1 - first)});
      return binary->is_negated ? is_zero(source(result)) : result;
    }
    switch (step.primitive) {
      case Primitive::kNeg:
        return negative(values_[step.operands[0]]);
      case Primitive::kAbs:
        return emit("abs $d, $a", {operand(0)});
      case Primitive::kNot:
        return from == DType::kI1 ? is_zero(operand(0))
                                  : emit("xnor $d, $a, $b", {operand(0), number(isa::kZero)});
      case Primitive::kClz:
        return emit("clz $d, $a", {operand(0)});
      case Primitive::kPopcount:
        return emit("popc $d, $a", {operand(0)});
      case Primitive::kSelect:
        return select(operand(0), operand(1), operand(2));
      case Primitive::kMin:
      case Primitive::kMax: {
        const bool is_least = step.primitive == Primitive::kMin;
        const Operand less = source(emit("cmpult $d, $a, $b", {operand(0), operand(1)}));
        return select(less, operand(is_least ? 0 : 1), operand(is_least ? 1 : 0));
      }
      case Primitive::kDiv:
      case Primitive::kRem:
        return divide(step);
      case Primitive::kConvert:
        if (step.dtype == DType::kI1 && from != DType::kI1) {
          return emit("cmpne $d, $a, $b", {operand(0), number(isa::kZero)});
        }
        [[fallthrough]];
      default:  // kBitcast
        return values_[step.operands[0]];
    }
  }

  std::int64_t select(Operand condition, Operand value, Operand otherwise) {
    const std::int64_t result = emit("or $d, $a, $b", {otherwise, number(isa::kZero)});
    items_.push_back({"movnz", {{Operand::Kind::kUpdated, result}, condition, value}});
    return result;
  }
  std::int64_t is_zero(Operand value) { return emit("cmpeq $d, $a, i", {value, number(0)}); }

  const Scalars& scalars_;
  const std::vector<Step>& steps_;
  std::vector<bool> needed_;          ///< by step
  std::vector<std::int64_t> values_;  ///< by step: the register
  std::vector<Item> items_;
  std::size_t first_store_ = 0;
  std::int64_t count_ = 0;  ///< of registers
};

}  // namespace

Node Scalars::input(BufferId word, DType dtype) {
  inputs.push_back(word);
  return expression.input(static_cast<std::uint32_t>(inputs.size() - 1), dtype);
}

bool is_scalar(const Expression& expression, const Step& step) {
  const auto dtype_of = [&](std::uint32_t operand) { return expression.steps()[operand].dtype; };
  if (!is_word(step.dtype) ||
      !std::ranges::all_of(step.operands, [&](auto o) { return is_word(dtype_of(o)); })) {
    return false;
  }
  switch (step.primitive) {
    case Primitive::kInput:
    case Primitive::kConstant:
    case Primitive::kNeg:
    case Primitive::kNot:
    case Primitive::kClz:
    case Primitive::kPopcount:
    case Primitive::kSelect:
    case Primitive::kConvert:
    case Primitive::kBitcast:
      return true;
    case Primitive::kAbs:
      return step.dtype == DType::kI32;
    case Primitive::kMin:
    case Primitive::kMax:
      return true;
    case Primitive::kDiv:
    case Primitive::kRem: {
      const Step& divisor = expression.steps()[step.operands[1]];
      return divisor.primitive == Primitive::kConstant &&
             divides_by_shifts(static_cast<std::uint32_t>(divisor.bits), step.dtype);
    }
    default:
      return step.operands.size() == 2 &&
             binary_of(step.primitive, dtype_of(step.operands[0])).has_value();
  }
}

std::optional<ScalarCode> scalar_code(const Scalars& scalars,
                                      std::span<const std::uint32_t> registers) {
  for (const bool inputs_first : {true, false}) {
    if (auto code = Translation(scalars, inputs_first).allocated(registers)) return code;
  }
  return std::nullopt;
}

}  // namespace superstep::vertex
