#include "compiler/vertex/lane.h"

namespace superstep::vertex {
namespace {

// 1 - 2^-20: more than the roundings of one quotient estimate, so that no estimate is too large.
constexpr std::uint32_t kBelowOne = 0x3f7ffff0;

struct Estimate {
  WorkerCode& code;
  Reg denominator_f32, factor;

  // A quotient that is at most exact, and too small by less than a 2^-19th of itself and one.
  Reg operator()(Reg numerator) const {
    const Reg n = code.a("f32fromui32", {code.to_a(numerator)});
    const Reg q = code.a("f32div", {n, denominator_f32});
    const Reg below = code.a("f32mul", {q, factor});
    const Reg whole = code.a("f32int", {below, kTruncate});
    return code.to_m(code.a("f32toui32", {whole}));
  }
};

Reg apply_sign(WorkerCode& code, Reg magnitude, Reg sign) {
  return code.m("sub", {code.m("xor", {magnitude, sign}), sign});
}

// The last estimates leave less than twice the denominator: one correction.
Division divide_unsigned(WorkerCode& code, Reg n, Reg d, bool wide) {
  const Reg d_f32 = code.a("f32fromui32", {code.to_a(d)});
  const Estimate estimate{code, d_f32, code.constant(File::kA, kBelowOne)};
  Reg q = estimate(n);
  Reg r = code.m("sub", {n, code.m("mul", {q, d})});
  if (wide) {
    const Reg more = estimate(r);
    r = code.m("sub", {r, code.m("mul", {more, d})});
    q = code.m("add", {q, more});
  }
  const Reg one_more = code.m("cmpeq", {code.m("cmpult", {r, d}), 0});
  q = code.m("add", {q, one_more});
  r = code.m("sub", {r, code.m("mul", {one_more, d})});
  return {q, r};
}

}  // namespace

Reg normalize(WorkerCode& code, Reg x, DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return code.m("shrs", {code.m("shl", {x, 24}), 24});
    case DType::kI16:
      return code.m("shrs", {code.m("shl", {x, 16}), 16});
    case DType::kU8:
      return code.m("and", {x, 255});
    case DType::kU16:
      return code.m("shr", {code.m("shl", {x, 16}), 16});
    default:
      return x;
  }
}

Division divide(WorkerCode& code, Reg numerator, Reg denominator, DType dtype) {
  Reg n = numerator, d = denominator, n_sign, q_sign;
  if (is_signed(dtype)) {
    n_sign = code.m("shrs", {n, 31});
    const Reg d_sign = code.m("shrs", {d, 31});
    q_sign = code.m("xor", {n_sign, d_sign});
    n = apply_sign(code, n, n_sign);
    d = apply_sign(code, d, d_sign);
  }
  const Reg by_zero = code.m("cmpeq", {d, 0});
  d = code.m("add", {d, by_zero});
  auto [q, r] = divide_unsigned(code, n, d, size_of(dtype) == 4);
  if (is_signed(dtype)) {
    q = apply_sign(code, q, q_sign);
    r = apply_sign(code, r, n_sign);
  }
  // -by_zero is all ones exactly when the quotient has to be.
  q = code.m("or", {q, code.m("sub", {"$mzero", by_zero})});
  const Reg remainder = code.fresh(File::kM);
  code.move(remainder, numerator);
  code.emit("movz", {both(remainder), by_zero, r});
  return {normalize(code, q, dtype), remainder};
}

}  // namespace superstep::vertex
