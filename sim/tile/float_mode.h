#pragma once

#include <array>
#include <cstdint>

#include <xmmintrin.h>

#include "isa/rounding.h"
#include "isa/values.h"
#include "sim/tile/worker_context.h"

namespace superstep {

/// How the results of a worker's instructions are settled: f32 that go to f16 registers are rounded
/// here. This is the ordinary mode: to nearest even, and nobody asks for exceptions.
struct OrdinaryFloats {
  static isa::F16x4 settle(WorkerContext&, const isa::F32x4& value) {
    return {halves_of_floats(value.lane)};
  }
  static isa::F16x2 settle(WorkerContext&, const isa::F32x2& value) {
    const auto bits = halves_of_floats({value.lane[0], value.lane[1], 0.0F, 0.0F});
    return {{bits[0], bits[1]}};
  }
  static isa::F16x2 settle(WorkerContext&, const isa::F32Twice& value) {
    const std::uint16_t bits = half_bits(value.value);
    return {{bits, bits}};
  }
};

/// Every mode of FP_CTL. f32 arithmetic is that of the host, whose rounding direction and exception
/// flags follow the worker; one step of the random generator serves an instruction's f16 results
/// when rounding is stochastic, 16 bits a lane.
struct ModedFloats {
  template <std::size_t kCount>
  static std::array<std::uint16_t, kCount> round(WorkerContext& context,
                                                 const std::array<float, kCount>& values) {
    const isa::Rounding rounding(context.fp.control);
    const std::uint64_t random = rounding.stochastic ? context.next_random() : 0;
    std::array<std::uint16_t, kCount> bits;
    for (std::size_t i = 0; i < kCount; ++i) {
      bits[i] = isa::rounded_half(values[i], rounding, static_cast<isa::U32>(random >> (16 * i)));
    }
    return bits;
  }
  static isa::F16x4 settle(WorkerContext& context, const isa::F32x4& value) {
    return {round(context, value.lane)};
  }
  static isa::F16x2 settle(WorkerContext& context, const isa::F32x2& value) {
    return {round(context, value.lane)};
  }
  static isa::F16x2 settle(WorkerContext& context, const isa::F32Twice& value) {
    const auto bits = round(context, std::array<float, 1>{value.value});
    return {{bits[0], bits[0]}};
  }
};

/// Marks in `WorkerContext::cause` that $FP_CTL went from the ordinary mode to another one or back:
/// the steps that follow are decoded differently.
extern const char* const kFloatModeChange;

/// While it lives the host computes as IEEE 754 has it: to nearest even, with subnormal numbers,
/// and nothing traps. A program around the simulator may have asked for other things; it gets them
/// back, also from a worker that an exception stopped in a mode of its own.
class HostFloatMode {
 public:
  HostFloatMode() {
    if (differs(before_, kAllMasked)) _mm_setcsr(kAllMasked);
  }
  ~HostFloatMode() {
    if (differs(_mm_getcsr(), before_)) _mm_setcsr(before_);
  }
  HostFloatMode(const HostFloatMode&) = delete;
  HostFloatMode& operator=(const HostFloatMode&) = delete;

 private:
  static constexpr unsigned kAllMasked = 0x1f80;  ///< of MXCSR, after a reset of the host
  static constexpr unsigned kRaised = 0x3f;       ///< of MXCSR: changes no result

  /// Setting the mode takes longer than looking at it.
  [[nodiscard]] static bool differs(unsigned a, unsigned b) { return ((a ^ b) & ~kRaised) != 0; }

  unsigned before_ = _mm_getcsr();
};

/// A new value of $FP_CTL: the host rounds as it says.
void set_float_control(WorkerContext& context, std::uint32_t value);
/// From now on exceptions are noticed: code that reads $FP_STS.
void watch_float_status(WorkerContext& context);
/// The host goes on with a worker, in its mode.
void enter_float_mode(const WorkerContext& context);
/// The host goes on as others expect it.
void leave_float_mode();
/// Takes what the last instruction raised into $FP_STS; the cause of a trap that FP_CTL asks for,
/// or null.
[[nodiscard]] const char* take_float_exceptions(WorkerContext& context);

}  // namespace superstep
