#include <gtest/gtest.h>

#include <xmmintrin.h>

#include <stdexcept>

#include "tests/tile_run.h"

namespace superstep::testing {
namespace {

constexpr unsigned kDenormalsAreZero = 1U << 6, kFlushToZero = 1U << 15, kRoundUp = 2U << 13;

TEST(HostFloatMode, OfTheProgramAroundIsNotThatOfTheTiles) {
  const unsigned before = _mm_getcsr();
  // A subnormal number, and 1 plus less than half of its last place.
  const std::vector<std::uint32_t> state = {3, 3, 0x3f800000, 0x33000000};
  const char* codelet =
      "ld64 $a0:1, $mvertex_base, $mzero, 0\n ld64 $a2:3, $mvertex_base, $mzero, 1\n"
      "f32add $a0, $a0, $a1\n f32add $a2, $a2, $a3\n"
      "st32 $a0, $mvertex_base, $mzero, 4\n st32 $a2, $mvertex_base, $mzero, 5\n exitz $mzero";
  for (const unsigned mode : {kDenormalsAreZero | kFlushToZero, kRoundUp}) {
    TileRun run;
    run.put(kData, state);
    _mm_setcsr(before | mode);
    const TileStop stop = run.work_alone(codelet);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(stop.kind, TileStop::Kind::kSync);
    EXPECT_EQ(run.get(kData + 16, 2), (std::vector<std::uint32_t>{6, 0x3f800000}));
    EXPECT_EQ(after, before | mode);
  }
}

TEST(HostFloatMode, OfAWorkerThatAnExceptionStopsIsNotThatOfTheProgramAround) {
  class ThrowsAt : public InstructionObserver {
   public:
    explicit ThrowsAt(std::uint32_t pc) : pc_(pc) {}
    void issued(const IssuedInstruction& instruction) override {
      if (instruction.pc == pc_) throw std::runtime_error("enough");
    }

   private:
    std::uint32_t pc_;
  };
  TileRun run;
  ThrowsAt observer(kCodelet + 8);  // where the mode is up
  const unsigned before = _mm_getcsr();
  run.tile().observe(&observer);
  EXPECT_THROW(run.work_alone("setzi $a0, 0x10000\n uput $FP_CTL, $a0\n nop\n exitz $mzero"),
               std::runtime_error);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace superstep::testing
