#include "compiler/vertex/lane.h"

namespace superstep::vertex {
namespace {

struct Unpacked {
  Reg exponent, mantissa;  // value = mantissa * 2^(exponent - 150), 2^23 <= mantissa < 2^24; a zero
                           // has mantissa 0
};

Unpacked unpack(WorkerCode& code, Reg magnitude, Reg mantissa_mask) {
  Unpacked u{code.fresh(File::kM), code.fresh(File::kM)};
  code.emit("shr", {def(u.exponent), magnitude, 23});
  code.emit("and", {def(u.mantissa), magnitude, mantissa_mask});
  const Label subnormal = code.label(), done = code.label();
  code.branch("brz", {u.exponent}, subnormal);
  code.emit("add", {def(u.mantissa), u.mantissa, mantissa_mask});
  code.emit("add", {def(u.mantissa), u.mantissa, 1});
  code.branch("bri", {}, done);
  code.place(subnormal);
  const Reg shift = code.m("add", {code.m("clz", {u.mantissa}), -8});
  // The shift of a zero is 24, which is harmless.
  code.emit("shl", {def(u.mantissa), u.mantissa, shift});
  code.emit("sub", {def(u.exponent), 1, shift});
  code.place(done);
  return u;
}

// x = x - y if that is not negative.
void subtract_if_possible(WorkerCode& code, Reg x, Reg y) {
  const Reg difference = code.m("sub", {x, y});
  code.emit("movz", {both(x), code.m("cmpslt", {difference, 0}), difference});
}

}  // namespace

// Long division of the mantissas: one bit of the quotient a turn, as many as the exponents differ.
Reg float_remainder(WorkerCode& code, Reg x_bits, Reg y_bits) {
  const Reg no_sign = code.constant(File::kM, 0x7fffffff);
  const Reg mask = code.constant(File::kM, 0x007fffff);
  const Reg infinity = code.constant(File::kM, 0x7f800000);
  const Reg x = code.m("and", {x_bits, no_sign});
  const Reg y = code.m("and", {y_bits, no_sign});
  const Reg sign = code.m("sub", {x_bits, x});
  const Reg result = code.fresh(File::kM);
  const Label nan = code.label(), same = code.label(), zero = code.label(), tiny = code.label(),
              done = code.label();

  code.branch("brz", {y}, nan);
  code.branch("brz", {code.m("cmpult", {x, infinity})}, nan);
  code.branch("brnz", {code.m("cmpult", {infinity, y})}, nan);
  code.branch("brnz", {code.m("cmpult", {x, y})}, same);
  const Unpacked a = unpack(code, x, mask);
  const Unpacked b = unpack(code, y, mask);
  const Reg turns = code.m("sub", {a.exponent, b.exponent});
  const Label loop = code.label(), last = code.label();
  code.branch("brz", {turns}, last);
  code.emit("add", {def(turns), turns, -1});
  code.place(loop);
  subtract_if_possible(code, a.mantissa, b.mantissa);
  code.emit("shl", {def(a.mantissa), a.mantissa, 1});
  code.branch("brnzdec", {both(turns)}, loop);
  code.place(last);
  subtract_if_possible(code, a.mantissa, b.mantissa);

  code.branch("brz", {a.mantissa}, zero);
  const Reg shift = code.m("add", {code.m("clz", {a.mantissa}), -8});
  const Reg mantissa = code.m("shl", {a.mantissa, shift});
  const Reg exponent = code.m("sub", {b.exponent, shift});
  code.branch("brnz", {code.m("cmpslt", {exponent, 1})}, tiny);
  const Reg fraction = code.m("and", {mantissa, mask});
  code.emit("or", {def(result), fraction, code.m("shl", {exponent, 23})});
  code.emit("or", {def(result), result, sign});
  code.branch("bri", {}, done);
  code.place(tiny);
  code.emit("shr", {def(result), mantissa, code.m("sub", {1, exponent})});
  code.emit("or", {def(result), result, sign});
  code.branch("bri", {}, done);
  code.place(zero);
  code.move(result, sign);
  code.branch("bri", {}, done);
  code.place(same);
  code.move(result, x_bits);
  code.branch("bri", {}, done);
  code.place(nan);
  code.set_constant(result, 0x7fc00000);
  code.place(done);
  return result;
}

}  // namespace superstep::vertex
