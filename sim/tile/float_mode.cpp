#include "sim/tile/float_mode.h"

#include <xmmintrin.h>

#include <cfenv>

#include "isa/registers.h"

namespace superstep {

namespace {

/// For MXCSR: none of the tiles' arithmetic goes by that of the x87.
unsigned host_direction(std::uint32_t fp_control) {
  switch (fp_control >> isa::kFpCtlRndShift & 7U) {
    case isa::kRoundUp:
      return _MM_ROUND_UP;
    case isa::kRoundDown:
      return _MM_ROUND_DOWN;
    case isa::kRoundToZero:
      return _MM_ROUND_TOWARD_ZERO;
    default:
      return _MM_ROUND_NEAREST;
  }
}

constexpr int kNoticed = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

}  // namespace

const char* const kFloatModeChange = "a change of the floating-point mode beside `rpt`";

void set_float_control(WorkerContext& context, std::uint32_t value) {
  context.fp.control = value;
  const bool moded = (value & isa::kFpCtlModes) != 0 || context.fp_status_watched;
  if (moded || context.moded) enter_float_mode(context);
  context.moded = moded;
}

void watch_float_status(WorkerContext& context) {
  context.fp_status_watched = true;
  set_float_control(context, context.fp.control);
}

void enter_float_mode(const WorkerContext& context) {
  _MM_SET_ROUNDING_MODE(host_direction(context.fp.control));
  std::feclearexcept(kNoticed);
}

void leave_float_mode() { _MM_SET_ROUNDING_MODE(_MM_ROUND_NEAREST); }

const char* take_float_exceptions(WorkerContext& context) {
  const int raised = std::fetestexcept(kNoticed);
  if (raised == 0) return nullptr;
  std::feclearexcept(kNoticed);
  std::uint32_t flags = 0;
  if ((raised & FE_INVALID) != 0) flags |= isa::kFpInvalid;
  if ((raised & FE_DIVBYZERO) != 0) flags |= isa::kFpDivisionByZero;
  if ((raised & FE_OVERFLOW) != 0) flags |= isa::kFpOverflow;
  context.fp.status |= flags;
  const std::uint32_t trapped = flags & context.fp.control;
  if ((trapped & isa::kFpInvalid) != 0) return "floating-point exception: invalid operation";
  if ((trapped & isa::kFpDivisionByZero) != 0) return "floating-point exception: division by zero";
  if ((trapped & isa::kFpOverflow) != 0) return "floating-point exception: overflow";
  return nullptr;
}

}  // namespace superstep
