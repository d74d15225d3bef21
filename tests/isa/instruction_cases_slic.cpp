#include <string>

#include "tests/isa/instruction_case.h"

namespace superstep::testing {

namespace {

/// The weights of a channel, at 0x80000 + 32 channel.
std::string weights(unsigned channel, const std::string& words) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string address = "0x80000";
  address[4] = kDigits[2 * channel / 16];
  address[5] = kDigits[2 * channel % 16];
  return " [" + address + "]=" + words;
}

/// `name` once for each input, then once with nothing; the last of them gives `results`.
std::string steps(const std::string& name, const std::vector<std::string>& inputs,
                  const std::string& partials, const std::string& flags, const std::string& results,
                  const std::string& nothing) {
  std::string code;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    code += name + " $azeros, " + inputs[i] + ", " + (i == 0 ? partials : nothing) + ", " + flags +
            "\n";
  }
  return code + name + " " + results + ", $azeros, " + nothing + ", " + flags;
}

std::string with_register(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

// Example sequences of graphcore/ipu_assembly_support, f16v4hihoslic and f32sisoslic: what enters
// with the first input leaves four (three) steps later as R0 = P0 + x0 CW6 + x1 CW4 + x2 CW2 +
// x3 CW0 and R1 with CW7, CW5, CW3, CW1.
std::vector<InstructionCase> slic_cases() {
  const std::vector<std::string> four = {"$a0:1", "$a2:3", "$a4:5", "$a6:7"};
  const std::vector<std::string> three = {"$a0:1", "$a2:3", "$a4:5"};
  // Inputs 1, 2, 3, 4 in lane 0 and 1, 1, 1, 1 in lane 3.
  const std::string inputs = "a0=1h|0,0|1h,2h|0,0|1h,3h|0,0|1h,4h|0,0|1h";
  const std::string even = weights(6, "1h|0,0|0.5h") + weights(4, "10h|0,0|0") +
                           weights(2, "100h|0,0|0") + weights(0, "0.25h|0,0|0.25h");
  const std::string odd = weights(7, "-1h|0,0|0") + weights(5, "-10h|0,0|0") +
                          weights(3, "2h|0,0|0") + weights(1, "0|0,0|64h");
  // P0 + 1 + 0.5 + 20 + 300 + 1 + 0.25 and P1 - 1 - 20 + 6 + 64.
  const std::string sums = even + odd;
  const std::string upper = weights(14, "1h|0,0|0") + weights(12, "10h|0,0|0") +
                            weights(10, "100h|0,0|0") + weights(8, "0|0,0|1h") +
                            weights(15, "2h|0,0|0") + weights(13, "20h|0,0|0") +
                            weights(11, "200h|0,0|0") + weights(9, "0|0,0|2h");
  // The same weights in slice 1, channels 4 to 7 there without those of the first stage.
  const std::string slice = weights(4, "0,0,1h|0,0|0") + weights(5, "0,0,-1h|0,0|0") +
                            weights(2, "0,0,10h|0,0|0") + weights(3, "0,0,-10h|0,0|0") +
                            weights(0, "0,0,0|0,0|1h") + weights(1, "0,0,0|0,0|2h");
  const std::string clear = "uput $FP_CLR, $azero\n---\n ";
  const std::string f32_steps =
      "f32sisoslic $azeros, $a0, $a6:7, 4\n f32sisoslic $azeros, $a1, $azeros, 12\n"
      "f32sisoslic $azeros, $a2, $azeros, 4\n f32sisoslic $azeros, $a3, $azeros, 12\n"
      "f32sisoslic $azeros, $a4, $azeros, 4\n f32sisoslic $azeros, $a5, $azeros, 12\n"
      "f32sisoslic $a8:9, $azero, $azeros, 4";
  const std::string f32_weights = weights(4, "1f,10f") + weights(5, "2f,0") + weights(2, "100f,0") +
                                  weights(3, "0,100f") + weights(0, "0,1f") + weights(1, "0.5f,0");
  const std::string f32_inputs = "a0=1f,2f,3f,4f,5f,6f,1000f,2000f";
  return {
      {steps("f16v4sisoslic", four, "$a8:9", "TSLIC_F16V4_1x4_W0", "$a10:11", "$azeros"),
       inputs + " a8=1000f,2000f" + sums, "a10=1322.75f,2049f"},
      {with_register(steps("f16v4hihoslic", four, "$a8", "TSLIC_F16V4_1x4_W0", "$a10", "$azero"),
                     "slic $azeros", "slic $azero"),
       inputs + " a8=500h|1h" + sums, "a10=823h|50h"},
      {with_register(steps("f16v4sihoslic", four, "$a8:9", "TSLIC_F16V4_1x4_W0", "$a10", "$azeros"),
                     "slic $azeros", "slic $azero"),
       inputs + " a8=500f,1f" + sums, "a10=823h|50h"},
      {steps("f16v4hihov4slic", four, "$a8:9", "TSLIC_F16V4_1x4_W0", "$a10:11", "$azeros"),
       inputs + " a8=500h|1h,3h|4h" + sums + upper, "a10=823h|50h,325h|648h"},
      // Three stages, with the weights of another slice.
      {steps("f16v4sisoslic", three, "$a8:9", "TSLIC_F16V4_1x3_W1", "$a10:11", "$azeros"),
       inputs + " a8=1000f,2000f" + slice, "a10=1022f,1981f"},
      // Lower and upper f32 of three steps: 1000 + 1 + 20 + 300 + 6 and 2000 + 2 + 400 + 2.5.
      {f32_steps, f32_inputs + f32_weights, "a8=1327f,2404.5f"},
      {with_register(f32_steps, "f32sisoslic", "f32sisov2slic"), f32_inputs + f32_weights,
       "a8=1327f,2404.5f"},
      {"f16v4sihoamp $azero, $azeros, $a4:5, 0\n f16v4sihoamp $azero, $azeros, $azeros, 1\n"
       "f16v4sihoamp $azero, $azeros, $azeros, 2\n f16v4sihoamp $azero, $azeros, $azeros, 3\n"
       "f16v4sihoamp $azero, $a0:1, $azeros, 0\n f16v4sihoamp $azero, $azeros, $azeros, 1\n"
       "f16v4sihoamp $azero, $azeros, $azeros, 2\n f16v4sihoamp $azero, $azeros, $azeros, 3\n"
       "f16v4sihoamp $a8, $azeros, $azeros, 0",
       "a0=1h|2h,3h|4h a4=100f,200f" + weights(0, "1h|1h,1h|1h") + weights(1, "0|0,0|-1h"),
       "a8=110h|196h"},
      {clear + "f16v4gacc $a0:1", "a0=7,7", "a0=0,0"},
      {"f32v4acc $a0:3\n---\n f16v4gacc $a4:5", "a0=1f,0x3f801000,-3f,0x7f800000 a4=0,0",
       "a4=1h|1h,-3h|0x7c00"},
      // The lower half of $TAS scales the first operand.
      {"uput $TAS, $a4\n---\n f16v4mix $a8:9, $a0:1, $a2:3\n f16v4mix $a10:11, $azeros, $azeros",
       "a0=1h|2h,3h|4h,5h|6h,7h|-8h,10h|0.5h a8=7,7", "a8=0,0 a10=12.5h|23h,33.5h|36h"},
      // Two exact products, added and rounded to f32, then rounded to f16 as they leave.
      {"uput $TAS, $a4\n---\n f16v4mix $azeros, $a0:1, $a2:3\n f32v2gina $a8:9, $azeros, 0",
       "a0=0x3c01|0,0 a2=-1h|0,0 a4=0x3c01|1h a9=7", "a8=0x3b001000,0"},
      {"f32v2aop $a0:1, $a2:3, 0\n f32v2aop $a0:1, $a2:3, 0\n f32v2gina $a8:9, $azeros, 0\n"
       "f32v2gina $a10:11, $azeros, 0",
       "a0=1f,2f,3f,5f", "a8=6f,12f,10f,20f"},
      // Accumulators leave as they are, and stay; those behind them leave through the odd ones.
      {"f32v4acc $a0:3\n---\n f16v4stacc $a8:9, 0\n f32v4acc $a0:3\n f16v4stacc $a8:9, TSTACC_P0\n"
       "f32v2gina $a10:11, $azeros, 1",
       "a0=1f,2f,3f,4f", "a8=2f,4f,6f,8f"},
      // graphcore/poplibs lib/popsparse/codelets/asm/BlockTransposeGradW_half.S: rows in, columns
      // out, two of them while the next rows enter.
      {"f16v4istacc $azeros, $a0:1, $a2:3, TISTACC_P0\n"
       "f16v4istacc $azeros, $a4:5, $a6:7, TISTACC_P1\n f16v4stacc $a8:9, TSTACC_P0\n"
       "f16v4stacc $a10:11, TSTACC_P1\n f16v4istacc $a0:1, $azeros, $azeros, TISTACC_P0\n"
       "f16v4istacc $a2:3, $azeros, $azeros, TISTACC_P1",
       "a0=0x11|0x12,0x13|0x14,0x21|0x22,0x23|0x24,0x31|0x32,0x33|0x34,0x41|0x42,0x43|0x44",
       "a8=0x11|0x21,0x31|0x41,0x12|0x22,0x32|0x42 a0=0x13|0x23,0x33|0x43,0x14|0x24,0x34|0x44"},
  };
}

}  // namespace superstep::testing
