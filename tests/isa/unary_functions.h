#pragma once

#include <mpfr.h>

#include <bit>
#include <cstdint>

#include "isa/instructions/float.h"
#include "isa/instructions/half.h"

// The one-operand functions of the machine beside those of MPFR.

namespace superstep::testing {

/// A number of MPFR of 200 bits: more than any exact sum or product here has.
class Real {
 public:
  Real() { mpfr_init2(value_, 200); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

/// `value` rounded once to a binary format with subnormals: `precision` bits, least unit
/// 2^`least_unit`, infinite from 2^`exponents` on.
inline double rounded(mpfr_srcptr value, int precision, int least_unit, int exponents,
                      mpfr_rnd_t direction = MPFR_RNDN) {
  const mpfr_exp_t least = mpfr_get_emin(), greatest = mpfr_get_emax();
  Real out;
  mpfr_set_prec(out.get(), precision);
  int inexact = mpfr_set(out.get(), value, direction);
  mpfr_set_emin(least_unit + 1);
  mpfr_set_emax(exponents);
  inexact = mpfr_check_range(out.get(), inexact, direction);
  mpfr_subnormalize(out.get(), inexact, direction);
  const double result = mpfr_get_d(out.get(), MPFR_RNDN);
  mpfr_set_emin(least);
  mpfr_set_emax(greatest);
  return result;
}

inline float to_f32(mpfr_srcptr value, mpfr_rnd_t direction = MPFR_RNDN) {
  const auto result = static_cast<float>(rounded(value, 24, -149, 128, direction));
  return result != result ? std::bit_cast<float>(0x7fc00000U) : result;
}
inline float to_f16(mpfr_srcptr value) { return static_cast<float>(rounded(value, 11, -24, 16)); }

inline int logistic(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t) {
  mpfr_neg(out, x, MPFR_RNDN);
  mpfr_exp(out, out, MPFR_RNDN);
  mpfr_add_ui(out, out, 1, MPFR_RNDN);
  mpfr_ui_div(out, 1, out, MPFR_RNDN);
  return 0;
}
inline int reciprocal(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t) {
  return mpfr_ui_div(out, 1, x, MPFR_RNDZ);
}
/// The machine's has the sign of a zero.
inline int reciprocal_root(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t) {
  if (mpfr_zero_p(x) != 0) {
    mpfr_set_inf(out, mpfr_signbit(x) != 0 ? -1 : 1);
    return 0;
  }
  return mpfr_rec_sqrt(out, x, MPFR_RNDZ);
}

/// An instruction, and what it computes.
struct Unary {
  const char* name;
  float (*single)(float);
  isa::F32x2 (*halves)(isa::F16x2);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};

inline const Unary kUnary[] = {
    {"exp", isa::F32exp::execute, isa::F16v2exp::execute, mpfr_exp},
    {"exp2", isa::F32exp2::execute, isa::F16v2exp2::execute, mpfr_exp2},
    {"ln", isa::F32ln::execute, isa::F16v2ln::execute, mpfr_log},
    {"log2", isa::F32log2::execute, isa::F16v2log2::execute, mpfr_log2},
    {"tanh", isa::F32tanh::execute, isa::F16v2tanh::execute, mpfr_tanh},
    {"sigm", isa::F32sigm::execute, isa::F16v2sigm::execute, logistic},
    {"sqrt", isa::F32sqrt::execute, nullptr, mpfr_sqrt},
    {"oox", isa::F32oox::execute, nullptr, reciprocal},
    {"oorx", isa::F32oorx::execute, nullptr, reciprocal_root},
};

inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace superstep::testing
