#include "base/error.h"
#include "compiler/vertex/lane.h"

namespace superstep::vertex {
namespace {

constexpr std::uint32_t kFloatInfinity = 0x7f800000;

// `chosen` where the mask is set, else `other`.
Reg blend(WorkerCode& code, Reg mask, Reg chosen, Reg other) {
  const Reg kept = code.a("and", {chosen, mask});
  return code.a("or", {kept, code.a("andc", {other, mask})});
}

// `chosen` when the condition is not zero, else `other`.
Reg choose(WorkerCode& code, Reg condition, Reg chosen, Reg other) {
  const Reg result = code.fresh(File::kM);
  code.move(result, chosen);
  code.emit("movz", {both(result), condition, other});
  return result;
}

Reg invert(WorkerCode& code, Reg boolean) { return code.m("cmpeq", {boolean, 0}); }

}  // namespace

bool Lane::is_number(std::uint32_t node) const {
  const Step& step = expression_.steps()[node];
  if (step.primitive != Primitive::kConstant) return false;
  return step.dtype == DType::kF16    ? (step.bits & 0x7fff) <= 0x7c00
         : step.dtype == DType::kBF16 ? (step.bits & 0x7fff) <= kFloatInfinity >> 16
                                      : (step.bits & 0x7fffffff) <= kFloatInfinity;
}

void Lane::ensure(std::uint32_t node) {
  if (forms(node).any()) return;
  const Step& step = expression_.steps()[node];
  const bool arithmetic =
      is_float(step.dtype) || (step.primitive == Primitive::kConstant && step.dtype == DType::kI1);
  const Form form = arithmetic ? Form::kArith : Form::kMain;
  if (step.primitive == Primitive::kConstant) {
    (void)value(node, form);
  } else if (step.primitive == Primitive::kInput) {
    (void)value(node, loadable(step.dtype, form));
  } else {
    const bool to_prologue = invariant_[node];
    if (to_prologue) code_.begin_prologue();
    compute(node);
    if (to_prologue) code_.end_prologue();
  }
}

Reg Lane::prologue_constant(File file, std::uint32_t value) {
  const auto key = std::make_pair(file, value);
  if (const auto known = constants_.find(key); known != constants_.end()) return known->second;
  code_.begin_prologue();
  const Reg r = code_.constant(file, value);
  code_.end_prologue();
  constants_.emplace(key, r);
  return r;
}

void Lane::compute(std::uint32_t node) {
  const Step& step = expression_.steps()[node];
  const DType from = dtype(step.operands[0]);
  if (step.primitive == Primitive::kSelect) return compute_select(node);
  if (step.primitive == Primitive::kConvert) return compute_convert(node);
  if (step.primitive == Primitive::kBitcast) return compute_bitcast(node);
  if (step.primitive == Primitive::kCallWhere) return compute_call(node);
  if (step.primitive == Primitive::kIsFinite || is_comparison(step.primitive))
    return compute_compare(node);
  if (is_float(from)) return compute_float(node);
  if (from == DType::kI1) return compute_boolean(node);
  compute_integer(node);
}

Reg Lane::extreme(bool maximum, Reg x, Reg y, bool y_is_number) {
  // The instruction prefers numbers. Ones where an operand is none make a NaN.
  const Reg number = code_.a(maximum ? "f32max" : "f32min", {x, y});
  Reg not_number = code_.a("f32cmpne", {x, x});
  if (!y_is_number) not_number = code_.a("or", {not_number, code_.a("f32cmpne", {y, y})});
  return canonical(code_.a("or", {number, not_number}));
}

Reg Lane::canonical(Reg x) {
  return code_.a("f32add", {x, prologue_constant(File::kA, 0x80000000)});
}

Reg Lane::float_to_integer(Reg x, DType to) {
  // The instructions saturate and take NaN to 0, but round.
  const Reg whole = code_.a("f32int", {x, kTruncate});
  if (to == DType::kU32) return code_.a("f32toui32", {whole});
  const Reg integer = code_.a("f32toi32", {whole});
  if (to == DType::kI32) return integer;
  const int width = 8 * static_cast<int>(size_of(to));
  const int highest = is_signed(to) ? (1 << (width - 1)) - 1 : (1 << width) - 1;
  const int lowest = is_signed(to) ? -highest - 1 : 0;
  const Reg above = code_.m("max", {code_.to_m(integer), lowest});
  if (to != DType::kU16) return code_.m("min", {above, highest});
  return code_.m("min", {above, prologue_constant(File::kM, 65535)});
}

void Lane::compute_float(std::uint32_t node) {
  const Step& step = expression_.steps()[node];
  const Reg x = arith(step.operands[0]);
  const Reg y = step.operands.size() > 1 ? arith(step.operands[1]) : Reg{};
  // What is exact in both dtypes is not rounded again.
  const auto exact = [&](Reg r) { forms(node)[Form::kArith] = r; };
  const auto rounded = [&](Reg r) { set_rounded(node, r); };
  switch (step.primitive) {
    case Primitive::kAdd:
      return rounded(code_.a("f32add", {x, y}));
    case Primitive::kSub:
      return rounded(code_.a("f32sub", {x, y}));
    case Primitive::kMul:
      return rounded(code_.a("f32mul", {x, y}));
    case Primitive::kDiv:
      return rounded(code_.a("f32div", {x, y}));
    case Primitive::kExp:
      return rounded(code_.a("f32exp", {x}));
    case Primitive::kLog:
      return rounded(code_.a("f32ln", {x}));
    case Primitive::kSqrt:
      return rounded(code_.a("f32sqrt", {x}));
    case Primitive::kRsqrt:
      return rounded(code_.a("f32oorx", {x}));
    case Primitive::kReciprocal:
      return rounded(code_.a("f32oox", {x}));
    case Primitive::kTanh:
      return rounded(code_.a("f32tanh", {x}));
    case Primitive::kSigmoid:
      return rounded(code_.a("f32sigm", {x}));
    case Primitive::kNeg:
      return exact(code_.a("f32sub", {prologue_constant(File::kA, 0x80000000), x}));
    case Primitive::kAbs:
      return exact(code_.a("f32absadd", {x, "$azero"}));
    case Primitive::kMin:
      return exact(extreme(false, x, y, is_number(step.operands[1])));
    case Primitive::kMax:
      return exact(extreme(true, x, y, is_number(step.operands[1])));
    case Primitive::kFloor:
      return exact(code_.a("f32int", {x, kRoundDown}));
    case Primitive::kCeil:
      return exact(code_.a("f32int", {x, kRoundUp}));
    case Primitive::kRoundEven:
      return exact(code_.a("f32int", {x, kRoundEven}));
    case Primitive::kTruncate:
      return exact(code_.a("f32int", {x, kTruncate}));
    case Primitive::kRoundAway:
      return exact(code_.a("f32int", {x, kRoundAway}));
    case Primitive::kRem: {
      // Widened operands have an exact remainder, which needs no more bits than they do.
      const Reg bits = float_remainder(code_, code_.to_m(x), code_.to_m(y));
      if (is_short_float(dtype(node))) return exact(code_.to_a(bits));
      forms(node)[Form::kMain] = bits;
      return;
    }
    default:
      SUPERSTEP_CHECK(false, "no such primitive on floats");
  }
}

void Lane::compute_compare(std::uint32_t node) {
  const Step& step = expression_.steps()[node];
  const std::uint32_t first = step.operands[0];
  if (step.primitive == Primitive::kIsFinite) {
    const Reg magnitude = code_.a("f32absadd", {arith(first), "$azero"});
    forms(node)[Form::kArith] =
        code_.a("f32cmplt", {magnitude, prologue_constant(File::kA, kFloatInfinity)});
    return;
  }
  const std::uint32_t second = step.operands[1];
  const auto index =
      static_cast<std::size_t>(step.primitive) - static_cast<std::size_t>(Primitive::kEq);
  if (is_float(dtype(first))) {
    static constexpr const char* kNames[] = {"f32cmpeq", "f32cmpne", "f32cmplt",
                                             "f32cmple", "f32cmpgt", "f32cmpge"};
    const Reg x = arith(first), y = arith(second);
    forms(node)[Form::kArith] = code_.a(kNames[index], {x, y});
    return;
  }
  const Reg x = main(first), y = main(second);
  const char* less = is_signed(dtype(first)) ? "cmpslt" : "cmpult";
  const auto result = [&] {
    switch (step.primitive) {
      case Primitive::kEq:
        return code_.m("cmpeq", {x, y});
      case Primitive::kNe:
        return code_.m("cmpne", {x, y});
      case Primitive::kLt:
        return code_.m(less, {x, y});
      case Primitive::kGt:
        return code_.m(less, {y, x});
      case Primitive::kLe:
        return invert(code_, code_.m(less, {y, x}));
      default:
        return invert(code_, code_.m(less, {x, y}));
    }
  };
  forms(node)[Form::kMain] = result();
}

void Lane::compute_boolean(std::uint32_t node) {
  const Step& step = expression_.steps()[node];
  const std::uint32_t first = step.operands[0];
  const std::uint32_t second = step.operands.size() > 1 ? step.operands[1] : first;
  const Primitive p = step.primitive;
  // Arithmetic modulo 2 comes down to the bitwise operations.
  const bool all = p == Primitive::kAnd || p == Primitive::kMul || p == Primitive::kMin;
  const bool any = p == Primitive::kOr || p == Primitive::kMax;
  if (all || any) {
    ensure(first);
    ensure(second);
    const char* name = all ? "and" : "or";
    if (has(first, Form::kArith) && has(second, Form::kArith)) {
      forms(node)[Form::kArith] = code_.a(name, {arith(first), arith(second)});
    } else {
      const Reg x = main(first), y = main(second);
      forms(node)[Form::kMain] = code_.m(name, {x, y});
    }
    return;
  }
  const Reg x = main(first), y = main(second);
  const auto result = [&] {
    switch (p) {
      case Primitive::kAdd:
      case Primitive::kSub:
      case Primitive::kXor:
        return code_.m("xor", {x, y});
      case Primitive::kNot:
        return invert(code_, x);
      case Primitive::kNeg:
      case Primitive::kAbs:
        return x;
      default:
        SUPERSTEP_CHECK(false, "no such primitive on i1");
        return x;
    }
  };
  forms(node)[Form::kMain] = result();
}

std::optional<std::uint32_t> Lane::shift_amount(const Step& step, std::uint32_t width) const {
  const bool shifts = step.primitive == Primitive::kShl ||
                      step.primitive == Primitive::kShrLogical ||
                      step.primitive == Primitive::kShrArithmetic;
  if (!shifts) return std::nullopt;
  const Step& amount = expression_.steps()[step.operands[1]];
  if (amount.primitive != Primitive::kConstant || amount.bits >= width) return std::nullopt;
  return static_cast<std::uint32_t>(amount.bits);
}

void Lane::compute_integer(std::uint32_t node) {
  const Step& step = expression_.steps()[node];
  const DType type = dtype(node);
  const std::uint32_t width = 8 * static_cast<std::uint32_t>(size_of(type));
  const DType unsigned_type = width == 8 ? DType::kU8 : width == 16 ? DType::kU16 : DType::kU32;
  const DType signed_type = width == 8 ? DType::kI8 : width == 16 ? DType::kI16 : DType::kI32;
  const Reg x = main(step.operands[0]);
  const auto wrapped = [&](Reg r) { return normalize(code_, r, type); };
  if (const std::optional<std::uint32_t> amount = shift_amount(step, width)) {
    const bool left = step.primitive == Primitive::kShl;
    const bool keeps_sign = step.primitive == Primitive::kShrArithmetic;
    const Reg from = left ? x : normalize(code_, x, keeps_sign ? signed_type : unsigned_type);
    forms(node)[Form::kMain] = wrapped(code_.m(left         ? "shl"
                                               : keeps_sign ? "shrs"
                                                            : "shr",
                                               {from, *amount}));
    return;
  }
  const Reg y = step.operands.size() > 1 ? main(step.operands[1]) : x;
  const auto result = [&] {
    switch (step.primitive) {
      case Primitive::kAdd:
        return wrapped(code_.m("add", {x, y}));
      case Primitive::kSub:
        return wrapped(code_.m("sub", {x, y}));
      case Primitive::kMul:
        return wrapped(code_.m("mul", {x, y}));
      case Primitive::kNeg:
        return wrapped(code_.m("sub", {"$mzero", x}));
      case Primitive::kDiv:
        return divide(code_, x, y, type).quotient;
      case Primitive::kRem:
        return divide(code_, x, y, type).remainder;
      case Primitive::kAbs: {
        if (!is_signed(type)) return x;
        const Reg sign = code_.m("shrs", {x, 31});
        return wrapped(code_.m("sub", {code_.m("xor", {x, sign}), sign}));
      }
      case Primitive::kMin:
      case Primitive::kMax: {
        const bool maximum = step.primitive == Primitive::kMax;
        if (type != DType::kU32) return code_.m(maximum ? "max" : "min", {x, y});
        const Reg less = code_.m("cmpult", {x, y});
        return maximum ? choose(code_, less, y, x) : choose(code_, less, x, y);
      }
      case Primitive::kAnd:
        return code_.m("and", {x, y});
      case Primitive::kOr:
        return code_.m("or", {x, y});
      case Primitive::kXor:
        return code_.m("xor", {x, y});
      case Primitive::kNot:
        return wrapped(code_.m("xnor", {x, "$mzero"}));
      case Primitive::kShl:
      case Primitive::kShrLogical: {
        // A negative amount is a great one, and a mask takes away what shifts beyond the register
        // give.
        const bool left = step.primitive == Primitive::kShl;
        const Reg shifted =
            code_.m(left ? "shl" : "shr", {left ? x : normalize(code_, x, unsigned_type), y});
        const bool to_prologue = invariant_[step.operands[1]];
        if (to_prologue) code_.begin_prologue();
        const Reg mask = code_.m("sub", {"$mzero", code_.m("cmpult", {y, width})});
        if (to_prologue) code_.end_prologue();
        return wrapped(code_.m("and", {shifted, mask}));
      }
      case Primitive::kShrArithmetic: {
        const Reg within = code_.m("cmpult", {y, width});
        const Reg amount = choose(code_, within, y, prologue_constant(File::kM, 31));
        return wrapped(code_.m("shrs", {normalize(code_, x, signed_type), amount}));
      }
      case Primitive::kClz: {
        const Reg zeros = code_.m("clz", {normalize(code_, x, unsigned_type)});
        return width == 32 ? zeros : code_.m("add", {zeros, static_cast<int>(width) - 32});
      }
      case Primitive::kPopcount:
        return code_.m("popc", {normalize(code_, x, unsigned_type)});
      default:
        SUPERSTEP_CHECK(false, "no such primitive on integers");
        return x;
    }
  };
  forms(node)[Form::kMain] = result();
}

void Lane::compute_select(std::uint32_t node) {
  const Step& step = expression_.steps()[node];
  const std::uint32_t condition = step.operands[0], chosen = step.operands[1],
                      other = step.operands[2];
  ensure(condition);
  if (is_float(dtype(node)) && has(condition, Form::kArith)) {
    // Halves are chosen by their bits, so that a NaN keeps its payload.
    const Form form = is_short_float(dtype(node)) ? Form::kHalf : Form::kArith;
    const Reg x = value(chosen, form), y = value(other, form);
    forms(node)[form] = blend(code_, arith(condition), x, y);
    return;
  }
  const Reg x = main(chosen), y = main(other);
  forms(node)[Form::kMain] = choose(code_, main(condition), x, y);
}

void Lane::compute_convert(std::uint32_t node) {
  const std::uint32_t operand = expression_.steps()[node].operands[0];
  const DType from = dtype(operand), to = dtype(node);
  if (is_float(to)) {
    if (is_float(from)) {
      // Reading the numbers of one dtype as the same dtype still makes a NaN canonical; f16 have
      // instructions that do so.
      const Reg x = arith(operand);
      const bool by_f16 = from == DType::kF16 || to == DType::kF16;
      return set_rounded(node, by_f16 ? x : canonical(x));
    }
    if (from == DType::kI1) {
      ensure(operand);
      forms(node)[Form::kArith] =
          code_.a("and", {arith(operand), prologue_constant(File::kA, 0x3f800000)});
      return;
    }
    // Every integer that does not overflow an f16 is exact in f32, so rounding twice is rounding
    // once.
    const Reg x = arith(operand);
    return set_rounded(node, code_.a(from == DType::kU32 ? "f32fromui32" : "f32fromi32", {x}));
  }
  if (to == DType::kI1) {
    if (is_float(from)) {
      forms(node)[Form::kArith] = code_.a("f32cmpne", {arith(operand), "$azero"});
    } else {
      forms(node)[Form::kMain] = code_.m("cmpne", {main(operand), "$mzero"});
    }
    return;
  }
  if (is_float(from)) {
    const Reg integer = float_to_integer(arith(operand), to);
    forms(node)[integer.file == File::kM ? Form::kMain : Form::kArith] = integer;
  } else {
    forms(node)[Form::kMain] = normalize(code_, main(operand), to);
  }
}

void Lane::compute_bitcast(std::uint32_t node) {
  const std::uint32_t operand = expression_.steps()[node].operands[0];
  const DType from = dtype(operand), to = dtype(node);
  SUPERSTEP_CHECK(size_of(from) == size_of(to), "kBitcast keeps the width");
  ensure(operand);
  if (size_of(to) == 4 && has(operand, Form::kArith)) {
    forms(node)[Form::kArith] = arith(operand);
    return;
  }
  if (is_short_float(from) && is_short_float(to)) {
    forms(node)[Form::kHalf] = half(operand);
    return;
  }
  forms(node)[Form::kMain] =
      is_short_float(to) ? main(operand) : normalize(code_, main(operand), to);
}

void Lane::compute_call(std::uint32_t node) {
  const Step& step = expression_.steps()[node];
  const Label called = subroutine(step.bits), done = code_.label();
  const Reg condition = main(step.operands[0]), argument = arith(step.operands[2]);
  const Reg otherwise = arith(step.operands[1]), result = code_.fresh(File::kA);
  code_.move(result, otherwise);
  code_.branch("brz", {condition}, done);
  code_.emit("st32", {argument, "$mworker_base", "$mzero", 0});
  code_.call(called);
  code_.emit("ld32", {def(result), "$mworker_base", "$mzero", 0});
  code_.place(done);
  forms(node)[Form::kArith] = result;
}

}  // namespace superstep::vertex
