#include <gtest/gtest.h>

#include "tests/isa/tile_run.h"

namespace superstep {
namespace {

TEST(Worker, ItsIdIsInTheStatusRegister) {
  testing::TileRun run;
  run.work("get $m0, $WSR\n and $m0, $m0, 7\n stm32 $m0, $mvertex_base, $m0\n exitz $mzero");
  EXPECT_EQ(run.get(testing::kData, 6), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Bundle, BothHalvesReadBeforeEitherWrites) {
  const std::vector<std::uint32_t> out = testing::run_worker(
      "ld64 $a0:1, $mvertex_base, 0\n"
      "{ st32 $a0, $mvertex_base, $mzero, 2 ; setzi $a0, 9 }\n"
      "{ ld32 $a2, $mvertex_base, $mzero, 1 ; or $a3, $a2, $a1 }\n"
      "st64 $a2:3, $mvertex_base, 0\n exitz $mzero",
      {0x11, 0x22, 0, 0}, 4);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{0x22, 0x22, 0x11, 0}));
}

}  // namespace
}  // namespace superstep
