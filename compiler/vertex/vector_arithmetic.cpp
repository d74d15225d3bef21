#include "compiler/vertex/vector_arithmetic.h"

#include <algorithm>
#include <utility>

namespace superstep::vertex {
namespace {

constexpr std::uint32_t kNegativeZeroF32 = 0x80000000, kNegativeZeroF16 = 0x8000;
constexpr std::uint32_t kInfinityF32 = 0x7f800000, kInfinityF16 = 0x7c00;

/// The instruction on two f16 for a function, empty when there is none.
std::string_view half_function(Primitive primitive) {
  switch (primitive) {
    case Primitive::kExp:
      return "f16v2exp";
    case Primitive::kLog:
      return "f16v2ln";
    case Primitive::kTanh:
      return "f16v2tanh";
    case Primitive::kSigmoid:
      return "f16v2sigm";
    default:
      return {};
  }
}

/// A function of one operand that f32 have an instruction for, and its last operand.
struct SingleFunction {
  std::string_view mnemonic;
  std::vector<Arg> more = {};
};

SingleFunction single_function(Primitive primitive) {
  switch (primitive) {
    case Primitive::kExp:
      return {"f32exp"};
    case Primitive::kLog:
      return {"f32ln"};
    case Primitive::kSqrt:
      return {"f32sqrt"};
    case Primitive::kRsqrt:
      return {"f32oorx"};
    case Primitive::kReciprocal:
      return {"f32oox"};
    case Primitive::kTanh:
      return {"f32tanh"};
    case Primitive::kSigmoid:
      return {"f32sigm"};
    case Primitive::kFloor:
      return {"f32int", {kRoundDown}};
    case Primitive::kCeil:
      return {"f32int", {kRoundUp}};
    case Primitive::kRoundEven:
      return {"f32int", {kRoundEven}};
    case Primitive::kRoundAway:
      return {"f32int", {kRoundAway}};
    case Primitive::kTruncate:
      return {"f32int", {kTruncate}};
    default:
      return {};
  }
}

bool is_logic(Primitive p) {
  return p == Primitive::kAnd || p == Primitive::kOr || p == Primitive::kNot;
}

/// Floats that there are instructions on pairs for.
bool has_vectors(DType dtype) { return dtype == DType::kF16 || dtype == DType::kF32; }
/// Integers that vectors hold as the bits of an f32.
bool is_word_integer(DType dtype) { return dtype == DType::kI32 || dtype == DType::kU32; }

}  // namespace

VectorArithmetic::VectorArithmetic(WorkerCode& code, const Expression& expression,
                                   const std::vector<Node>& outputs, Lane& lane)
    : code_(code),
      expression_(expression),
      outputs_(outputs),
      lane_(lane),
      uses_(expression.steps().size()),
      forms_(expression.steps().size()) {
  for (const Node output : outputs) ++uses_[output.id];
  for (auto n = static_cast<std::uint32_t>(uses_.size()); n-- > 0;) {
    if (!is_used(n)) continue;
    for (const std::uint32_t operand : step(n).operands) ++uses_[operand];
    if (dtype(n) == DType::kF16) elements_ = 4;
  }
  for (std::uint32_t n = 0; n < uses_.size(); ++n) widths_.push_back(find_width(n));
}

bool VectorArithmetic::is_vector_step(std::uint32_t node) const {
  const Primitive p = step(node).primitive;
  if (is_scalar(node)) {
    return has_vectors(dtype(node)) || (p == Primitive::kConstant && is_word_integer(dtype(node)));
  }
  if (p == Primitive::kInput) return has_vectors(dtype(node));
  const DType from = dtype(step(node).operands[0]);
  if (p == Primitive::kBitcast) return size_of(from) == 4 && size_of(dtype(node)) == 4;
  if (is_logic(p)) return from == DType::kI1 || (is_word_integer(from) && p != Primitive::kNot);
  if (p == Primitive::kConvert && is_word_integer(dtype(node))) return from == DType::kF32;
  if (p == Primitive::kSelect || p == Primitive::kConvert) {
    return has_vectors(dtype(node)) && (p == Primitive::kSelect || has_vectors(from));
  }
  switch (p) {
    case Primitive::kAdd:
    case Primitive::kSub:
    case Primitive::kMul:
    case Primitive::kDiv:
    case Primitive::kMin:
    case Primitive::kMax:
    case Primitive::kNeg:
    case Primitive::kAbs:
    case Primitive::kEq:
    case Primitive::kNe:
    case Primitive::kLt:
    case Primitive::kLe:
    case Primitive::kGt:
    case Primitive::kGe:
    case Primitive::kIsFinite:
      return has_vectors(from);
    case Primitive::kCallWhere:
      return true;
    default:
      return has_vectors(from) && !single_function(p).mnemonic.empty();
  }
}

bool VectorArithmetic::is_possible() const {
  for (std::uint32_t n = 0; n < uses_.size(); ++n) {
    if (is_used(n) && !is_vector_step(n)) return false;
  }
  return std::ranges::none_of(outputs_, [&](Node output) {
    return !has_vectors(dtype(output.id)) || is_scalar(output.id);
  });
}

VectorArithmetic::Width VectorArithmetic::find_width(std::uint32_t node) const {
  const Step& s = step(node);
  const auto of = [](bool half) { return half ? Width::kHalf : Width::kSingle; };
  if (s.primitive == Primitive::kInput || is_scalar(node)) return of(s.dtype == DType::kF16);
  if (is_logic(s.primitive)) {
    return of(std::ranges::all_of(
        s.operands, [&](std::uint32_t operand) { return natural_width(operand) == Width::kHalf; }));
  }
  if (s.primitive == Primitive::kSelect || s.primitive == Primitive::kCallWhere)
    return of(s.dtype == DType::kF16);
  if (dtype(s.operands[0]) != DType::kF16 || s.primitive == Primitive::kDiv) return Width::kSingle;
  const bool is_function = !single_function(s.primitive).mnemonic.empty();
  return of(!is_function || !half_function(s.primitive).empty());
}

void VectorArithmetic::provide(std::uint32_t node, std::uint32_t part, Reg pair) {
  (dtype(node) == DType::kF16 ? forms_[node].half : forms_[node].single.at(part)) = pair;
}

Reg VectorArithmetic::value(std::uint32_t node, std::uint32_t part) {
  return dtype(node) == DType::kF16 ? half(node) : single(node, part);
}

Reg VectorArithmetic::half(std::uint32_t node) {
  if (!forms_[node].half.valid()) {
    const Reg made = make_half(node);
    forms_[node].half = made;
  }
  return forms_[node].half;
}

Reg VectorArithmetic::single(std::uint32_t node, std::uint32_t part) {
  if (!forms_[node].single.at(part).valid()) {
    Reg made;
    if (is_scalar(node)) {
      const Reg scalar = lane_.arith(node);
      code_.begin_prologue();
      made = code_.fresh(File::kPair);
      code_.emit("mov", {low(def(made)), scalar});
      code_.emit("mov", {high(def(made)), scalar});
      code_.end_prologue();
      forms_[node].single = {made, made};
    } else if (dtype(node) == DType::kF16 ||
               (dtype(node) == DType::kI1 && natural_width(node) == Width::kHalf)) {
      made = widened(node, part);
    } else {
      made = compute(node, Width::kSingle, part);
    }
    forms_[node].single.at(part) = made;
  }
  return forms_[node].single.at(part);
}

Reg VectorArithmetic::make_half(std::uint32_t node) {
  const Step& s = step(node);
  if (is_scalar(node)) {
    const Reg scalar = lane_.half(node);
    code_.begin_prologue();
    const Reg both = code_.a("sort4x16lo", {scalar, scalar});
    const Reg pair = code_.fresh(File::kPair);
    code_.emit("mov", {low(def(pair)), both});
    code_.emit("mov", {high(def(pair)), both});
    code_.end_prologue();
    return pair;
  }
  if (s.primitive == Primitive::kConvert && dtype(s.operands[0]) == DType::kF32) {
    // A function in f32 of what was an f16, rounded to f16, is one on f16.
    const Step& function = step(s.operands[0]);
    const std::string_view mnemonic = half_function(function.primitive);
    if (!mnemonic.empty() && !is_scalar(function.operands[0])) {
      const Step& argument = step(function.operands[0]);
      if (argument.primitive == Primitive::kConvert && dtype(argument.operands[0]) == DType::kF16)
        return each_word(mnemonic, half(argument.operands[0]));
    }
    return narrowed(s.operands[0]);
  }
  return natural_width(node) == Width::kHalf ? compute(node, Width::kHalf, 0) : narrowed(node);
}

// Four f16 of four f32, or masks likewise.
Reg VectorArithmetic::narrowed(std::uint32_t node) {
  const Reg result = code_.fresh(File::kPair);
  for (std::uint32_t part = 0; part < 2; ++part) {
    const bool is_mask = dtype(node) == DType::kI1;
    const Reg x =
        dtype(node) == DType::kF16 ? compute(node, Width::kSingle, part) : single(node, part);
    const Arg to = part == 0 ? low(def(result)) : high(def(result));
    if (is_mask) {
      instructions_.push_back({"sort4x16lo", {to, low(Arg(x)), high(Arg(x))}});
    } else {
      instructions_.push_back({"f32v2tof16", {to, x}});
    }
  }
  return result;
}

Reg VectorArithmetic::widened(std::uint32_t node, std::uint32_t part) {
  const Reg x = half(node);
  const Arg word = part == 0 ? low(Arg(x)) : high(Arg(x));
  if (dtype(node) == DType::kF16) return emit("f16v2tof32", {word});
  const Reg result = code_.fresh(File::kPair);
  instructions_.push_back({"sort4x16lo", {low(def(result)), word, word}});
  instructions_.push_back({"sort4x16hi", {high(def(result)), word, word}});
  return result;
}

Reg VectorArithmetic::compute(std::uint32_t node, Width width, std::uint32_t part) {
  const Step& s = step(node);
  const std::uint32_t x = s.operands[0];
  const std::uint32_t y = s.operands.size() > 1 ? s.operands[1] : x;
  const auto logic = [&](std::string_view mnemonic) {
    const Reg first = get(x, width, part);
    return emit(mnemonic, {first, get(y, width, part)});
  };
  switch (s.primitive) {
    case Primitive::kAdd:
      return symmetric("add", "add", x, y, width, part);
    case Primitive::kMul:
      return symmetric("mul", "mul", x, y, width, part);
    case Primitive::kSub:
      return binary("sub", x, y, width, part);
    case Primitive::kNeg:
      return with_negative_zero("sub", get(x, width, part), width);
    case Primitive::kAbs:
      return vector(width, "absadd", {get(x, width, part), "$azeros"});
    case Primitive::kMin:
    case Primitive::kMax:
      return extreme(node, width, part);
    case Primitive::kEq:
      return symmetric("cmpeq", "cmpeq", x, y, width, part);
    case Primitive::kNe:
      return symmetric("cmpne", "cmpne", x, y, width, part);
    case Primitive::kLt:
      return symmetric("cmplt", "cmpgt", x, y, width, part);
    case Primitive::kLe:
      return symmetric("cmple", "cmpge", x, y, width, part);
    case Primitive::kGt:
      return symmetric("cmpgt", "cmplt", x, y, width, part);
    case Primitive::kGe:
      return symmetric("cmpge", "cmple", x, y, width, part);
    case Primitive::kAnd:
      return is_word_integer(dtype(node)) && is_scalar(y) ? with_bits("and", x, y, part)
                                                          : logic("and64");
    case Primitive::kOr:
      return is_word_integer(dtype(node)) && is_scalar(y) ? with_bits("or", x, y, part)
                                                          : logic("or64");
    case Primitive::kBitcast:
      return single(x, part);
    case Primitive::kNot:
      return emit("not64", {get(x, width, part)});
    case Primitive::kSelect: {
      const Reg mask = get(x, width, part), chosen = get(y, width, part);
      const Step& other = step(s.operands[2]);
      if (other.primitive == Primitive::kConstant && other.bits == 0)
        return emit("and64", {chosen, mask});
      return blend(mask, chosen, get(s.operands[2], width, part));
    }
    case Primitive::kCallWhere:
      return call(s, part);
    case Primitive::kIsFinite: {
      const Reg size = vector(width, "absadd", {get(x, width, part), "$azeros"});
      return vector(width, "cmplt", {size, infinity(width)});
    }
    case Primitive::kConvert:
      if (is_word_integer(dtype(node))) {
        // The instruction rounds.
        const Reg whole = each_word("f32int", single(x, part), {kTruncate});
        return each_word(dtype(node) == DType::kI32 ? "f32toi32" : "f32toui32", whole);
      }
      // Of the same dtype, which makes a NaN canonical, or from f16.
      if (dtype(x) == DType::kF16 && width == Width::kSingle) return single(x, part);
      return with_negative_zero("add", get(x, width, part), width);
    case Primitive::kDiv: {
      const Reg first = single(x, part), second = single(y, part), p = code_.fresh(File::kPair);
      instructions_.push_back({"f32div", {low(def(p)), low(Arg(first)), low(Arg(second))}});
      instructions_.push_back({"f32div", {high(def(p)), high(Arg(first)), high(Arg(second))}});
      return p;
    }
    default:
      break;
  }
  if (width == Width::kHalf) return each_word(half_function(s.primitive), half(x));
  const SingleFunction function = single_function(s.primitive);
  return each_word(function.mnemonic, single(x, part), function.more);
}

Reg VectorArithmetic::with_bits(std::string_view mnemonic, std::uint32_t x, std::uint32_t constant,
                                std::uint32_t part) {
  // An immediate operand has the upper 12 bits of a word or the lower ones.
  const auto bits = static_cast<std::uint32_t>(step(constant).bits);
  const bool is_immediate = (bits & 0xfffff) == 0 || bits >> 12 == 0;
  const Arg second = is_immediate ? Arg(bits) : Arg(lane_.arith(constant));
  return each_word(mnemonic, single(x, part), {second});
}

// Conditions go to the main file, so that they need no pair while the rest is computed.
Reg VectorArithmetic::call(const Step& s, std::uint32_t part) {
  const Label called = lane_.subroutine(s.bits), done = code_.label();
  const Reg condition = single(s.operands[0], part), argument = single(s.operands[2], part);
  const std::array<Reg, 2> is_called{code_.fresh(File::kM), code_.fresh(File::kM)};
  const Reg any = code_.fresh(File::kM);
  instructions_.push_back({"atom", {def(is_called[0]), low(Arg(condition))}});
  instructions_.push_back({"atom", {def(is_called[1]), high(Arg(condition))}});
  const Reg otherwise = single(s.operands[1], part), result = code_.fresh(File::kPair);
  instructions_.push_back({"or", {def(any), is_called[0], is_called[1]}});
  instructions_.push_back({"mov", {def(result), otherwise}});
  instructions_.push_back({"brz", {any, done}});
  for (const bool upper : {false, true}) {
    const Label next = code_.label();
    const Arg from = upper ? high(Arg(argument)) : low(Arg(argument));
    const Arg to = upper ? high(both(result)) : low(both(result));
    instructions_.push_back({"brz", {is_called[upper ? 1 : 0], next}});
    instructions_.push_back({"st32", {from, "$mworker_base", "$mzero", 0}});
    instructions_.push_back({"call", {"$mlink", called}});
    instructions_.push_back({"ld32", {to, "$mworker_base", "$mzero", 0}});
    labels_.push_back({instructions_.size(), next});
  }
  labels_.push_back({instructions_.size(), done});
  return result;
}

Reg VectorArithmetic::emit(std::string_view mnemonic, const std::vector<Arg>& args) {
  const Reg p = code_.fresh(File::kPair);
  std::vector<Arg> all{def(p)};
  all.insert(all.end(), args.begin(), args.end());
  instructions_.emplace_back(mnemonic, std::move(all));
  return p;
}

Reg VectorArithmetic::vector(Width width, std::string_view operation,
                             const std::vector<Arg>& args) {
  return emit(std::string(width == Width::kHalf ? "f16v4" : "f32v2").append(operation), args);
}

Reg VectorArithmetic::each_word(std::string_view mnemonic, Reg x, const std::vector<Arg>& more) {
  const Reg p = code_.fresh(File::kPair);
  std::vector<Arg> lower{low(def(p)), low(Arg(x))}, upper{high(def(p)), high(Arg(x))};
  lower.insert(lower.end(), more.begin(), more.end());
  upper.insert(upper.end(), more.begin(), more.end());
  instructions_.emplace_back(mnemonic, std::move(lower));
  instructions_.emplace_back(mnemonic, std::move(upper));
  return p;
}

Reg VectorArithmetic::binary(std::string_view operation, std::uint32_t x, std::uint32_t y,
                             Width width, std::uint32_t part) {
  // In program order, which holds fewer values at a time.
  if (!is_scalar(x) && x < y) (void)get(x, width, part);
  const Reg second = get(y, width, part);
  if (!is_scalar(x)) return vector(width, operation, {get(x, width, part), second});
  const Arg first =
      width == Width::kHalf ? broadcast(lane_.half(x), ":BL") : broadcast(lane_.arith(x), ":B");
  return vector(width, operation, {first, second});
}

Reg VectorArithmetic::symmetric(std::string_view operation, std::string_view swapped,
                                std::uint32_t x, std::uint32_t y, Width width, std::uint32_t part) {
  if (is_scalar(y) && !is_scalar(x)) return binary(swapped, y, x, width, part);
  return binary(operation, x, y, width, part);
}

Reg VectorArithmetic::blend(Reg mask, Reg chosen, Reg other) {
  const Reg kept = emit("and64", {chosen, mask});
  const Reg rest = emit("andc64", {other, mask});
  return emit("or64", {kept, rest});
}

bool VectorArithmetic::is_extreme(std::uint32_t node) const {
  const Step& s = step(node);
  return (s.primitive == Primitive::kMax || s.primitive == Primitive::kMin) &&
         std::ranges::none_of(s.operands, [&](std::uint32_t x) { return lane_.is_number(x); });
}

// `clamp` keeps NaNs, others drop them: then the sum of sizes is no number where an operand is
// none, ones in its place make a NaN, and the sum with the negative zero makes that canonical.
Reg VectorArithmetic::extreme(std::uint32_t node, Width width, std::uint32_t part) {
  if (!is_extreme(node)) {
    const Step& s = step(node);
    std::uint32_t x = s.operands[0], bound = s.operands[1];
    if (lane_.is_number(x)) std::swap(x, bound);
    const Reg value = get(x, width, part);
    const bool maximum = s.primitive == Primitive::kMax;
    return vector(width, "clamp", {value, clamp_bounds(maximum, step(bound).bits, width)});
  }
  const Extreme all = extreme_number(node, width, part);
  const Reg not_number = vector(width, "cmpne", {all.sizes, all.sizes});
  return with_negative_zero("add", emit("or64", {all.number, not_number}), width);
}

VectorArithmetic::Extreme VectorArithmetic::extreme_number(std::uint32_t node, Width width,
                                                           std::uint32_t part) {
  const auto operand = [&](std::uint32_t x) {
    if (uses_[x] == 1 && !is_scalar(x) && is_extreme(x)) return extreme_number(x, width, part);
    const Reg value = get(x, width, part);
    return Extreme{value, value};
  };
  const Step& s = step(node);
  const Extreme x = operand(s.operands[0]), y = operand(s.operands[1]);
  const bool maximum = s.primitive == Primitive::kMax;
  const Reg number = vector(width, maximum ? "max" : "min", {x.number, y.number});
  return {number, vector(width, "absadd", {x.sizes, y.sizes})};
}

Reg VectorArithmetic::clamp_bounds(bool maximum, std::uint64_t bits, Width width) {
  for (const Bounds& known : bounds_) {
    if (known.maximum == maximum && known.width == width && known.bits == bits) return known.reg;
  }
  const auto bound = static_cast<std::uint32_t>(bits);
  const bool is_half = width == Width::kHalf;
  const std::uint32_t greatest = is_half ? kInfinityF16 : kInfinityF32;
  const std::uint32_t sign = is_half ? kNegativeZeroF16 : kNegativeZeroF32;
  const std::uint32_t least = maximum ? bound : greatest | sign;
  const std::uint32_t most = maximum ? greatest : bound;
  code_.begin_prologue();
  Reg reg;
  if (is_half) {
    reg = code_.constant(File::kA, least | most << 16);
  } else {
    reg = code_.fresh(File::kPair);
    code_.emit("mov", {low(def(reg)), lane_.prologue_constant(File::kA, least)});
    code_.emit("mov", {high(def(reg)), lane_.prologue_constant(File::kA, most)});
  }
  code_.end_prologue();
  bounds_.push_back({maximum, width, bits, reg});
  return reg;
}

Reg VectorArithmetic::with_negative_zero(std::string_view operation, Reg x, Width width) {
  const bool is_half = width == Width::kHalf;
  const Reg zero = lane_.prologue_constant(File::kA, is_half ? kNegativeZeroF16 : kNegativeZeroF32);
  return vector(width, operation, {broadcast(zero, is_half ? ":BL" : ":B"), x});
}

Reg VectorArithmetic::infinity(Width width) {
  Reg& pair = infinities_.at(static_cast<std::size_t>(width));
  if (pair.valid()) return pair;
  const std::uint32_t word =
      width == Width::kHalf ? kInfinityF16 | kInfinityF16 << 16 : kInfinityF32;
  const Reg scalar = lane_.prologue_constant(File::kA, word);
  code_.begin_prologue();
  pair = code_.fresh(File::kPair);
  code_.emit("mov", {low(def(pair)), scalar});
  code_.emit("mov", {high(def(pair)), scalar});
  code_.end_prologue();
  return pair;
}

}  // namespace superstep::vertex
