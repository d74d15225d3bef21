#include <gtest/gtest.h>

#include <bit>

#include "base/float16.h"
#include "tests/gc200.h"
#include "tests/tile_run.h"

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
  return text + testing::kRunWorker;
}

/// The unit whose weights make result `c` of those that leave, in the order in which they do: both
/// sets of eight units take turns, two results each.
std::uint32_t unit_of(bool wide, std::uint32_t c) {
  return wide ? c % 4 / 2 * 8 + c / 4 * 2 + c % 2 : c;
}

// Inputs 1 … 8 for one pixel; weight (unit u, input k) = u + 10 k; partials 100 c of result c.
TEST(Amp, F32ProductsLeaveOneBlockAfterTheyEnter) {
  struct Case {
    bool wide;
    std::uint32_t units;
  };
  for (const Case& amp : {Case{false, 16}, Case{true, 16}, Case{true, 8}, Case{true, 4}}) {
    const bool wide = amp.wide;
    const std::uint32_t channels = wide ? 16 : 8;
    MachineConfig machine = gc200();
    machine.tile.amp_units = amp.units;
    TileRun run(machine);
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
    ASSERT_EQ(run.supervise(with_weights()).kind, TileStop::Kind::kSync) << run.cause();
    const std::vector<float> out = run.get<float>(kData + 512, channels);
    for (std::uint32_t c = 0; c < channels; ++c) {
      float expected = static_cast<float>(100 * c);
      for (std::uint32_t k = 0; k < 8; ++k) {
        expected += static_cast<float>((k + 1) * (unit_of(wide, c) + 10 * k));
      }
      EXPECT_EQ(out[c], expected) << name << " result " << c;
    }
  }
}

// Four engines take 16 inputs to 8 channels of f32 or 16 of f16, two and one the first 8 and 4 to
// the first half and quarter of them, in as many phases as there are engines.
TEST(Amp, F16ProductsLeaveOneBlockAfterTheyEnter) {
  for (const bool wide : {false, true}) {
    for (const std::uint32_t engines : {4U, 2U, 1U}) {
      const std::uint32_t depth = 4 * engines, channels = (wide ? 4 : 2) * engines;
      TileRun run;
      std::vector<std::uint16_t> weights(256), inputs(16);
      const auto weight = [](std::uint32_t unit, std::uint32_t k) {
        return static_cast<float>(unit) / 4 - static_cast<float>(k % 3);
      };
      for (std::uint32_t u = 0; u < 16; ++u) {
        for (std::uint32_t k = 0; k < 16; ++k) weights[16 * u + k] = half_bits(weight(u, k));
      }
      for (std::uint32_t k = 0; k < 16; ++k) inputs[k] = half_bits(static_cast<float>(k));
      run.put(testing::kInterleaved, weights);
      run.put(kData, inputs);
      const std::string name = wide ? "f16v4hihov4amp" : "f16v4sisoamp";
      const std::string phase = "TAMP_F16V4_E" + std::to_string(engines) + "_P";
      std::string text = "setzi $a0, 8\n uput $FP_CLR, $a0\n";
      for (int block = 0; block < 3; ++block) {
        for (std::uint32_t p = 0; p < engines; ++p) {
          text += block == 1 ? "ld64 $a0:1, $mvertex_base, " + std::to_string(p) + "\n"
                             : "zero $a0:1\n";
          text += name + " $a4:5, $a0:1, $azeros, " + phase + std::to_string(p) + "\n";
          if (block == 2) text += "st64 $a4:5, $mvertex_base, " + std::to_string(64 + p) + "\n";
        }
      }
      run.load(testing::kCodelet, text + "exitz $mzero");
      ASSERT_EQ(run.supervise(with_weights()).kind, TileStop::Kind::kSync);
      for (std::uint32_t c = 0; c < channels; ++c) {
        float expected = 0;
        for (std::uint32_t k = 0; k < depth; ++k) {
          expected += static_cast<float>(k) * weight(unit_of(wide, c), k);
        }
        const float got = wide ? float_of_half(run.get<std::uint16_t>(kData + 512, channels)[c])
                               : run.get<float>(kData + 512, channels)[c];
        EXPECT_EQ(got, expected) << name << " with " << engines << " engines, result " << c;
      }
    }
  }
}

// Two engines: four f32 inputs, four channels, a block of four phases.
TEST(Amp, F32ProductsOfTwoEnginesTakeFourPhases) {
  TileRun run;
  std::vector<float> weights(128);
  for (std::uint32_t c = 0; c < 16; ++c) {
    for (std::uint32_t k = 0; k < 8; ++k) weights[8 * c + k] = static_cast<float>(c + 10 * k);
  }
  run.put(testing::kInterleaved, weights);
  run.put<float>(kData, {1, 2, 3, 4, 100, 200, 300, 400});
  std::string text = "setzi $a0, 8\n uput $FP_CLR, $a0\n";
  for (int block = 0; block < 3; ++block) {
    for (int p = 0; p < 4; ++p) {
      text += block == 1 ? "ld32 $a1, $mvertex_base, " + std::to_string(p) + "\n" : "zero $a1\n";
      text += block == 0 ? "ld64 $a2:3, $mvertex_base, " + std::to_string(2 + p / 2) + "\n"
                         : "zero $a2:3\n";
      text += "f32sisoamp $a4:5, $a1, $a2:3, TAMP_F32_E2_P" + std::to_string(p) + "\n";
      if (block == 2 && p % 2 == 0) {
        text += "st64 $a4:5, $mvertex_base, " + std::to_string(64 + p / 2) + "\n";
      }
    }
  }
  run.load(testing::kCodelet, text + "exitz $mzero");
  ASSERT_EQ(run.supervise(with_weights()).kind, TileStop::Kind::kSync);
  const std::vector<float> out = run.get<float>(kData + 512, 4);
  // c 1 + (c + 10) 2 + (c + 20) 3 + (c + 30) 4 = 10 c + 200
  for (std::uint32_t c = 0; c < 4; ++c) {
    EXPECT_EQ(out[c], static_cast<float>(100 * (c + 1) + 10 * c + 200)) << "channel " << c;
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
