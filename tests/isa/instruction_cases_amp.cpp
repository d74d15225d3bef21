#include <string>

#include "tests/isa/instruction_case.h"

namespace superstep::testing {

// Accumulators are read by `gina` with immediate 0, two at a time: 0 and 2, then 4 and 6, …
// (graphcore/ipu_assembly_support). Which ones the accumulating instructions write follows from how
// PopLibs reads them back; sums are exact but where a comment says otherwise.
std::vector<InstructionCase> accumulator_cases() {
  const std::string read = "\n f32v2gina $a8:9, $azeros, 0";
  const std::string read4 = read + "\n f32v2gina $a10:11, $azeros, 0";
  const std::string read8 =
      read4 + "\n f32v2gina $a12:13, $azeros, 0\n f32v2gina $a0:1, $azeros, 0";
  return {
      {"f32mac $a0, $a1\n f32mac $a0, $a2" + read, "a0=2f,3f,-0.5f a9=7", "a8=5f,0"},
      // (1 + 2^-23)^2 is rounded to 1 + 2^-22 before the addition.
      {"f32mac $a0, $a1\n f32mac $a2, $a2" + read, "a0=0xbf800002,1f,0x3f800001 a8=7", "a8=0"},
      {"f32mac $a0, $a1" + read, "a0=0x7f800000,0", "a8=0x7fc00000"},
      {"f32v2mac $a0:1, $a2:3\n f32v2mac $a0:1, $a0:1" + read, "a0=1f,2f,3f,4f", "a8=4f,12f"},
      {"f16v2cmac $a0, $a1" + read, "a0=1h|2h,3h|-4h a9=7", "a8=-5f,0"},
      // Products of f16 are exact: (1 + 2^-10)^2 - 1.
      {"f16v2cmac $a0, $a1" + read, "a0=0x3c01|1h,0x3c01|-1h", "a8=0x3b001000"},
      {"f16v4cmac $a0:1, $a2:3" + read, "a0=1h|2h,3h|4h a2=5h|6h,7h|8h", "a8=17f,53f"},
      {"f32v4acc $a0:3\n f32v4acc $a0:3" + read4, "a0=1f,2f,3f,4f", "a8=2f,4f,6f,8f"},
      {"f32v4sqacc $a0:3" + read4, "a0=1f,-2f,3f,4f", "a8=1f,4f,9f,16f"},
      {"f32v4absacc $a0:3" + read4, "a0=1f,-2f,0xff800000,-0f a11=7", "a8=1f,2f,0x7f800000,0"},
      {"f16v4acc $a0:1" + read4, "a0=1h|2h,-3h|65504h", "a8=1f,2f,-3f,65504f"},
      {"f16v4absacc $a0:1" + read4, "a0=1h|-2h,-3h|0xfc00", "a8=1f,2f,3f,0x7f800000"},
      {"f16v8acc $a0:3" + read8, "a0=1h|2h,3h|4h,5h|6h,7h|8h", "a8=1f,2f,3f,4f,5f,6f a0=7f,8f"},
      {"f16v8sqacc $a0:3" + read8, "a0=1h|2h,3h|4h,5h|6h,7h|-8h",
       "a8=1f,4f,9f,16f,25f,36f a0=49f,64f"},
      {"f16v8absacc $a0:3" + read8, "a0=1h|-2h,3h|4h,5h|-6h,7h|-8h",
       "a8=1f,2f,3f,4f,5f,6f a0=7f,8f"},
      // Four in, then the first again.
      {"f32v2gina $a8:9, $a0:1, 0\n f32v2gina $a8:9, $a2:3, 0\n f32v2gina $a8:9, $a4:5, 0\n"
       "f32v2gina $a8:9, $a6:7, 0\n f32v2gina $a8:9, $a0:1, 0\n f32v2gina $a10:11, $a0:1, 0",
       "a0=1f,2f,3f,4f,5f,6f,7f,8f", "a8=1f,2f,3f,4f"},
      // The odd ones (1) and those of the second set (2) are others.
      {"f32v2gina $a8:9, $a0:1, 1\n f32v2gina $a8:9, $a2:3, 0\n f32v2gina $a8:9, $azeros, 1\n"
       "f32v2gina $a8:9, $azeros, 1\n f32v2gina $a8:9, $azeros, 1\n f32v2gina $a8:9, $azeros, 1",
       "a0=1f,2f,3f,4f", "a8=1f,2f"},
      {"f32v2gina $a8:9, $a0:1, 2\n f32v2gina $a8:9, $a2:3, 3\n f32v2gina $a8:9, $azeros, 2\n"
       "f32v2gina $a8:9, $azeros, 2\n f32v2gina $a8:9, $azeros, 2\n f32v2gina $a8:9, $azeros, 2",
       "a0=1f,2f,3f,4f", "a8=1f,2f"},
      {"f32mac $a0, $a1\n---\n f16v2gina $a8, $azero, 0", "a0=0x3f801000,1f a8=7", "a8=1h|0"},
      {"f16v2gina $a8, $a0, 0\n f16v2gina $a8, $azero, 0\n f16v2gina $a8, $azero, 0\n"
       "f16v2gina $a8, $azero, 0\n f32v2gina $a8:9, $azeros, 0",
       "a0=1.5h|-2h", "a8=1.5f,-2f"},
      {"uput $FP_CLR, $a4\n f32mac $a0, $a1\n uput $FP_CLR, $a4" + read, "a0=2f,3f a4=8 a8=7",
       "a8=0"},
      // The destination gets what the accumulators held before.
      {"f32v2axpy $a8:9, $a0:1, $a2:3", "a0=1f,2f,3f,4f a8=7,7", "a8=0,0"},
      {"uput $TAS, $a4\n---\n f32v2axpy $a8:9, $a0:1, $a2:3\n f32v2axpy $a8:9, $a0:1, $a2:3",
       "a0=1f,2f,3f,4f,10f", "a8=13f,24f"},
      {"uput $TAS, $a4\n---\n f32v2axpy $a8:9, $a4:5, $a0:1\n f32v2axpy $a8:9, $a0:1, $a0:1",
       "a0=0xbf800002,0 a4=0x3f800001,0 a8=7", "a8=0"},
  };
}

namespace {

/// The registers of the matrix product instructions in a case.
struct AmpOperands {
  std::string name;
  unsigned phases, last;  ///< of a block; the last one at which results leave
  std::string first_input, last_input, first_partials, last_partials;
  std::string first_results, last_results;
  std::string no_input, no_partials, sink;
};

/// Three blocks of phases: partials enter at the first and the last phase of block 0, inputs at
/// those of block 1, results leave at those of block 2.
std::string three_blocks(const AmpOperands& amp) {
  std::string code;
  for (unsigned block = 0; block < 3; ++block) {
    for (unsigned phase = 0; phase < amp.phases; ++phase) {
      const bool first = phase == 0, last = phase == amp.last;
      const std::string& results = block != 2 ? amp.sink
                                   : first    ? amp.first_results
                                   : last     ? amp.last_results
                                              : amp.sink;
      const std::string& input = block != 1                ? amp.no_input
                                 : first                   ? amp.first_input
                                 : phase == amp.phases - 1 ? amp.last_input
                                                           : amp.no_input;
      const std::string& partials = block != 0 ? amp.no_partials
                                    : first    ? amp.first_partials
                                    : last     ? amp.last_partials
                                               : amp.no_partials;
      code += amp.name + " " + results + ", " + input + ", " + partials + ", " +
              std::to_string(phase) + "\n";
    }
  }
  return code;
}

}  // namespace

// Weight (channel, input) stands at 0x80000 + 32 channel + 4 or 2 input; all sums are small
// integers, so that no order of additions matters. Channels are the units 0 to 7, or both sets of 8
// two by two: 0, 1, 8, 9, 2, 3, 10, … Channels 0 and 1 get 1 + 2 + 3 + 4 + 5 and
// 1 - 2 + 3 - 4 + 16 in f16, 2 x 5 + 3 x 1 and 2 x -1 + 3 x 4 in f32.
std::vector<InstructionCase> amp_cases() {
  const std::string f32_weights = " [0x80000]=5f,0,0,0,0,0,0,1f,-1f,0,0,0,0,0,0,4f";
  const std::string f32_last = "=0,0,0,0,0,0,0,2f";  // 3 x 2
  const std::string f16_weights =
      " [0x80000]=1h|1h,1h|1h,0,0,0,0,1h|0,0,1h|-1h,1h|-1h,0,0,0,0,0,0|2h";
  const std::string f16_last = "=2h|0,0,0,0,0,0,0,0|0.5h";  // 1 x 2 + 8 x 0.5
  const std::string f16_inputs = "a0=1h|2h,3h|4h a2=5h|6h,7h|8h";
  return {
      {three_blocks({"f32sisoamp", 8, 6, "$a0", "$a2", "$a4:5", "$a6:7", "$a8:9", "$a10:11",
                     "$azero", "$azeros", "$azeros"}),
       "a0=2f a2=3f a4=100f,200f,300f,400f" + f32_weights + " [0x800c0]" + f32_last,
       "a8=113f,210f,306f,400f"},
      {three_blocks({"f32sisov2amp", 8, 7, "$a0", "$a2", "$a4:5", "$a6:7", "$a8:9", "$a10:11",
                     "$azero", "$azeros", "$azeros"}),
       "a0=2f a2=3f a4=100f,200f,300f,400f" + f32_weights + " [0x801c0]" + f32_last,
       "a8=113f,210f,306f,400f"},
      {three_blocks({"f16v4sisoamp", 4, 3, "$a0:1", "$a2:3", "$a4:5", "$a6:7", "$a8:9", "$a10:11",
                     "$azeros", "$azeros", "$azeros"}),
       f16_inputs + " a4=100f,200f,300f,400f" + f16_weights + " [0x800c0]" + f16_last,
       "a8=115f,214f,306f,400f"},
      {three_blocks({"f16v4hihoamp", 4, 3, "$a0:1", "$a2:3", "$a4", "$a5", "$a8", "$a9", "$azeros",
                     "$azero", "$azero"}),
       f16_inputs + " a4=100h|200h,300h|400h" + f16_weights + " [0x800c0]" + f16_last,
       "a8=115h|214h,306h|400h"},
      {three_blocks({"f16v4hihov4amp", 4, 3, "$a0:1", "$a2:3", "$a4:5", "$a6:7", "$a8:9", "$a10:11",
                     "$azeros", "$azeros", "$azeros"}),
       f16_inputs + " a4=100h|200h,10h|20h,300h|400h,30h|40h" + f16_weights + " [0x800c0]" +
           f16_last + " [0x80100]=0|3h [0x801e0]=0,0,0,0,0,0,0,2h|0",
       "a8=115h|214h,16h|20h,306h|400h,30h|54h"},
  };
}

}  // namespace superstep::testing
