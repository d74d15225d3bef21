#include <unistd.h>

#include <string_view>

#include "base/error.h"

// Built for every x86-64 processor, unlike the rest of the program: says what is wrong where the
// rest would stop at an illegal instruction.

#ifdef SUPERSTEP_NEEDS_V3

namespace {

/// Runs before any other initialisation.
__attribute__((constructor(101))) void check_host() {
  __builtin_cpu_init();
  // Every processor with AVX2, FMA and BMI2 has the rest of x86-64-v3.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return;
  }
  constexpr std::string_view kMessage =
      "error: this build needs an x86-64-v3 processor (AVX2, FMA, BMI2), which this host is not; "
      "build with -DSUPERSTEP_MARCH=x86-64, which gives the same results more slowly\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(static_cast<int>(superstep::ExitCode::kUnsupported));
}

}  // namespace

#endif
