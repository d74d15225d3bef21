#include "compiler/vertex/lane.h"

#include <bit>
#include <cmath>

#include "base/error.h"

namespace superstep::vertex {
namespace {

std::uint32_t widened_bits(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::kI1:
      return bits != 0 ? 1 : 0;
    case DType::kI8:
      return static_cast<std::uint32_t>(static_cast<std::int8_t>(bits));
    case DType::kI16:
      return static_cast<std::uint32_t>(static_cast<std::int16_t>(bits));
    case DType::kU8:
      return static_cast<std::uint8_t>(bits);
    case DType::kU16:
    case DType::kBF16:
    case DType::kF16:
      return static_cast<std::uint16_t>(bits);
    default:
      return static_cast<std::uint32_t>(bits);
  }
}

std::uint32_t f32_bits_of(DType dtype, std::uint32_t half) {
  if (dtype == DType::kBF16) return half << 16;
  const std::uint32_t sign = (half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
  if (exponent == 31) return sign | 0x7f800000 | fraction << 13;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(fraction | 0x400),
                                                     static_cast<int>(exponent) - 25);
  return sign | std::bit_cast<std::uint32_t>(magnitude);
}

}  // namespace

Form loadable(DType dtype, Form form) {
  if (is_short_float(dtype)) return form == Form::kMain ? Form::kMain : Form::kHalf;
  return size_of(dtype) == 4 ? form : Form::kMain;
}

namespace {

const char* load_name(DType dtype, Form form) {
  switch (dtype) {
    case DType::kI1:
    case DType::kU8:
      return "ldz8";
    case DType::kI8:
      return "lds8";
    case DType::kU16:
      return "ldz16";
    case DType::kI16:
      return "lds16";
    case DType::kBF16:
    case DType::kF16:
      return form == Form::kMain ? "ldz16" : "ldb16";
    default:
      break;
  }
  return "ld32";
}

File load_file(DType dtype, Form form) {
  return loadable(dtype, form) == Form::kMain ? File::kM : File::kA;
}

}  // namespace

Reg load_element(WorkerCode& code, DType dtype, Form form, const Arg& base, const Arg& delta,
                 const Arg& offset) {
  const Reg result = code.fresh(load_file(dtype, form));
  code.emit(load_name(dtype, form), {def(result), base, delta, offset});
  return result;
}

Reg load_stepping(WorkerCode& code, DType dtype, Form form, Reg pointer, Reg result,
                  const Arg& stride) {
  if (!result.valid()) result = code.fresh(load_file(dtype, form));
  code.emit(std::string(load_name(dtype, form)) + "step",
            {def(result), "$mzero", step(pointer), stride});
  return result;
}

Reg widened(WorkerCode& code, DType dtype, Reg half) {
  return dtype == DType::kBF16 ? code.a("sort4x16lo", {"$azero", half})
                               : code.a("f16tof32", {half});
}

Reg rounded(WorkerCode& code, DType dtype, Reg f32) {
  if (dtype == DType::kF16) return code.a("f32tof16", {f32});
  // Half of the last bit that stays, less one where that bit is 0, carries into it.
  const Reg bits = code.to_m(f32);
  const Reg odd = code.m("and", {code.m("shr", {bits, 16}), 1});
  return code.m("shr", {code.m("add", {code.m("add", {bits, 0x7fff}), odd}), 16});
}

Lane::Lane(WorkerCode& code, const Expression& expression, const std::vector<Access>& inputs,
           Load load_scalar)
    : code_(code), expression_(expression), load_scalar_(std::move(load_scalar)) {
  for (const Step& step : expression.steps()) {
    bool invariant = true;
    if (step.primitive == Primitive::kInput) invariant = inputs.at(step.bits) == Access::kScalar;
    for (const std::uint32_t operand : step.operands) invariant = invariant && invariant_[operand];
    invariant_.push_back(invariant);
  }
  fixed_.resize(invariant_.size());
  moving_.resize(invariant_.size());
}

Lane::Lane(WorkerCode& code, const Expression& function)
    : code_(code),
      expression_(function),
      invariant_(function.steps().size()),
      fixed_(invariant_.size()),
      moving_(invariant_.size()) {}

Label Lane::subroutine(std::uint64_t function) {
  if (const auto known = subroutines_.find(function); known != subroutines_.end())
    return known->second;
  const Expression& body = expression_.functions()[function];
  WorkerCode code(code_.machine());
  // Its argument first: moves between register files pass through the same word.
  code.begin_prologue();
  const Reg argument = code.a("ld32", {"$mworker_base", "$mzero", 0});
  code.end_prologue();
  Lane lane(code, body);
  lane.provide(0, Form::kArith, argument);
  const Reg result = lane.arith(static_cast<std::uint32_t>(body.steps().size() - 1));
  code.emit("st32", {result, "$mworker_base", "$mzero", 0});
  const Label entry = code_.subroutine(std::move(code));
  subroutines_.emplace(function, entry);
  return entry;
}

void Lane::begin(Load load_vector) {
  load_vector_ = std::move(load_vector);
  moving_.assign(moving_.size(), {});
}

void Lane::provide(std::uint32_t input, Form form, Reg reg) {
  const auto& steps = expression_.steps();
  for (std::uint32_t n = 0; n < steps.size(); ++n) {
    if (steps[n].primitive == Primitive::kInput && steps[n].bits == input) moving_[n][form] = reg;
  }
}

Reg Lane::value(std::uint32_t node, Form form) {
  if (has(node, form)) return forms(node)[form];
  const bool to_prologue = invariant_[node];
  if (to_prologue) code_.begin_prologue();
  const Step& step = expression_.steps()[node];
  if (step.primitive == Primitive::kConstant) {
    forms(node)[form] = constant(step, form);
  } else if (step.primitive == Primitive::kInput && form == loadable(step.dtype, form) &&
             !forms(node).any()) {
    forms(node)[form] =
        (to_prologue ? load_scalar_ : load_vector_)(static_cast<std::uint32_t>(step.bits), form);
  } else {
    if (!forms(node).any()) {
      if (step.primitive == Primitive::kInput) {
        (void)value(node, loadable(step.dtype, form));
      } else {
        compute(node);
      }
    }
    if (!has(node, form)) {
      const Reg converted = convert_form(node, form);
      forms(node)[form] = converted;
    }
  }
  if (to_prologue) code_.end_prologue();
  return forms(node)[form];
}

Reg Lane::constant(const Step& step, Form form) {
  std::uint32_t bits = widened_bits(step.dtype, step.bits);
  if (form == Form::kArith && is_short_float(step.dtype)) bits = f32_bits_of(step.dtype, bits);
  if (form == Form::kArith && step.dtype == DType::kI1) bits = 0U - bits;
  return code_.constant(form == Form::kMain ? File::kM : File::kA, bits);
}

Reg Lane::convert_form(std::uint32_t node, Form form) {
  if (dtype(node) == DType::kBF16) {
    if (form == Form::kArith && has(node, Form::kMain))
      return code_.to_a(code_.m("shl", {main(node), 16}));
    if (form != Form::kArith && has(node, Form::kArith)) {
      const Reg upper = code_.a("sort4x16hi", {arith(node), arith(node)});
      return form == Form::kHalf ? upper : code_.to_m(upper);
    }
  }
  if (is_short_float(dtype(node))) {
    if (form == Form::kArith) return widened(code_, dtype(node), half(node));
    if (form == Form::kMain) return code_.to_m(half(node));
    return has(node, Form::kArith) ? code_.a("f32tof16", {arith(node)}) : code_.to_a(main(node));
  }
  if (dtype(node) == DType::kI1) {
    if (form == Form::kArith) return code_.to_a(code_.m("sub", {"$mzero", main(node)}));
    return code_.m("and", {code_.to_m(arith(node)), 1});
  }
  return form == Form::kArith ? code_.to_a(main(node)) : code_.to_m(arith(node));
}

void Lane::set_rounded(std::uint32_t node, Reg f32) {
  const DType type = dtype(node);
  if (!is_short_float(type)) {
    forms(node)[Form::kArith] = f32;
  } else {
    const Reg result = rounded(code_, type, f32);
    forms(node)[result.file == File::kM ? Form::kMain : Form::kHalf] = result;
  }
}

}  // namespace superstep::vertex
