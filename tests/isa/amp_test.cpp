#include <gtest/gtest.h>

#include <bit>

#include "base/float16.h"
#include "tests/isa/tile_run.h"

namespace superstep {
namespace {

using testing::kData;
using testing::TileRun;

/// Loads all 64 common weights from 0x80000, then runs the codelet at kCodelet on one worker.
std::string with_weights() {
  std::string text = "ldconst $m2, 0x80000\n put $CCCSLOAD, $m2\n";
  for (int slice = 0; slice < 64; slice += 2) {
    text += "ld128putcs " + std::to_string(slice) + "\n";
  }
  return text + "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n run $m0, $m1, 0\n sync 2\n sync 15";
}

// Inputs 1 … 8 for one pixel; weight (channel c, input k) = c + 10 k; partials 100 c.
TEST(Amp, F32ProductsLeaveOneBlockAfterTheyEnter) {
  for (const bool wide : {false, true}) {
    const std::uint32_t channels = wide ? 16 : 8;
    TileRun run;
    std::vector<float> weights(128);
    for (std::uint32_t c = 0; c < 16; ++c) {
      for (std::uint32_t k = 0; k < 8; ++k) {
        weights[8 * c + k] = static_cast<float>(c + 10 * k);
      }
    }
    run.put(testing::kInterleaved, weights);
    std::vector<float> state = {1, 2, 3, 4, 5, 6, 7, 8};
    for (std::uint32_t c = 0; c < channels; ++c) state.push_back(static_cast<float>(100 * c));
    run.put(kData, state);
    const std::string name = wide ? "f32sisov2amp" : "f32sisoamp";
    std::string text = "setzi $a0, 8\n uput $FP_CLR, $a0\n";
    const auto phase = [&](int p, bool input, bool store) {
      const int pair = wide ? p : p / 2;
      text += "ld64 $a2:3, $mvertex_base, " + std::to_string(4 + pair) + "\n";
      text += input ? "ld32 $a1, $mvertex_base, " + std::to_string(p) + "\n" : "zero $a1\n";
      text += name + " $a4:5, $a1, $a2:3, TAMP_F32_E4_P" + std::to_string(p) + "\n";
      if (store && (wide || p % 2 == 0)) {
        text += "st64 $a4:5, $mvertex_base, " + std::to_string(64 + pair) + "\n";
      }
    };
    for (int p = 0; p < 8; ++p) phase(p, false, false);
    for (int p = 0; p < 8; ++p) phase(p, true, false);
    for (int p = 0; p < 8; ++p) phase(p, false, true);
    run.load(testing::kCodelet, text + "exitz $mzero");
    ASSERT_EQ(run.supervise(with_weights()).kind, TileStop::Kind::kSync)
        << run.tile().fault()->cause;
    const std::vector<float> out = run.get<float>(kData + 512, channels);
    for (std::uint32_t c = 0; c < channels; ++c) {
      float expected = static_cast<float>(100 * c);
      for (std::uint32_t k = 0; k < 8; ++k) {
        expected += static_cast<float>((k + 1) * (c + 10 * k));
      }
      EXPECT_EQ(out[c], expected) << name << " channel " << c;
    }
  }
}

// 16 inputs, 8 channels of f32 or 16 of f16.
TEST(Amp, F16ProductsLeaveOneBlockAfterTheyEnter) {
  for (const bool wide : {false, true}) {
    const std::uint32_t channels = wide ? 16 : 8;
    TileRun run;
    std::vector<std::uint16_t> weights(256), inputs(16);
    for (std::uint32_t c = 0; c < 16; ++c) {
      for (std::uint32_t k = 0; k < 16; ++k) {
        weights[16 * c + k] = half_bits(static_cast<float>(c) / 4 - static_cast<float>(k % 3));
      }
    }
    for (std::uint32_t k = 0; k < 16; ++k) inputs[k] = half_bits(static_cast<float>(k));
    run.put(testing::kInterleaved, weights);
    run.put(kData, inputs);
    const std::string name = wide ? "f16v4hihov4amp" : "f16v4sisoamp";
    std::string text = "setzi $a0, 8\n uput $FP_CLR, $a0\n";
    for (int block = 0; block < 3; ++block) {
      for (int p = 0; p < 4; ++p) {
        text +=
            block == 1 ? "ld64 $a0:1, $mvertex_base, " + std::to_string(p) + "\n" : "zero $a0:1\n";
        text += name + " $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P" + std::to_string(p) + "\n";
        if (block == 2) text += "st64 $a4:5, $mvertex_base, " + std::to_string(64 + p) + "\n";
      }
    }
    run.load(testing::kCodelet, text + "exitz $mzero");
    ASSERT_EQ(run.supervise(with_weights()).kind, TileStop::Kind::kSync);
    for (std::uint32_t c = 0; c < channels; ++c) {
      float expected = 0;
      for (std::uint32_t k = 0; k < 16; ++k) {
        expected += static_cast<float>(k) * (static_cast<float>(c) / 4 - static_cast<float>(k % 3));
      }
      const float got = wide ? float_of_half(run.get<std::uint16_t>(kData + 512, 16)[c])
                             : run.get<float>(kData + 512, 8)[c];
      EXPECT_EQ(got, expected) << name << " channel " << c;
    }
  }
}

TEST(Accumulators, GinaMovesPairsDown) {
  TileRun run;
  run.put<float>(kData, {1, 2, 3, 4, 5, 6, 7, 8});
  run.slots(
      "setzi $a0, 8\n uput $FP_CLR, $a0\n"
      "ld64 $a0:1, $mvertex_base, 0\n ld64 $a2:3, $mvertex_base, 1\n"
      "f32v4acc $a0:3\n f32v4sqacc $a0:3\n f32v2mac $a0:1, $a2:3\n"
      "f32v2gina $a4:5, $azeros, 0\n st64 $a4:5, $mvertex_base, 4\n"
      "f32v2gina $a4:5, $azeros, 0\n st64 $a4:5, $mvertex_base, 5\n exitz $mzero");
  EXPECT_EQ(run.get<float>(kData + 32, 4), (std::vector<float>{1 + 1 + 3, 2 + 4 + 8, 12, 20}));
}

}  // namespace
}  // namespace superstep
