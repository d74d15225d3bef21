#include "tests/isa/instruction_case.h"

namespace superstep::testing {

// Values from the definitions of the formats (arXiv 2206.02915): 1.4.3 with a bias of 8, 1.5.2 with
// a bias of 16, NaN 0x80. $FP_NFMT is $a12, $FP_SCL is $a10.
std::vector<InstructionCase> quarter_cases() {
  const std::string set = "uput $FP_NFMT, $a12\n uput $FP_SCL, $a10\n---\n ";
  return {
      // 1.5.2: the least, 1, -57344, 1.75.
      {"f8v4tof16 $a2:3, $a0", "a0=0xff400001|0", "a2=0x0080|0,1h|-57344h"},
      {"f8v4tof16 $a2:3, $a0", "a0=0x80438100", "a2=0|0x8080,1.75h|0x7e00"},
      {set + "f8v4tof16 $a2:3, $a0", "a12=2 a0=0xff407f01", "a2=0x1400|240h,1h|-240h"},
      {set + "f8v2tof16 $a1, $a0", "a12=2 a0=0x44", "a1=1.5h|0"},
      {"f8v2tof16 $a1, $a0", "a0=0xffff4142", "a1=1.5h|1.25h"},
      // Scales of 2^3 and 2^-2.
      {set + "f8v2tof16 $a1, $a0", "a12=2 a10=3 a0=0x4044", "a1=12h|8h"},
      {set + "f8v2tof16 $a1, $a0", "a12=2 a10=0x3e a0=0x4044", "a1=0.375h|0.25h"},
      {"f16v2tof8 $a1, $a0", "a0=1.25h|-1.5h", "a1=0xc241"},
      // To nearest even, ties: 1.125 and 1.375.
      {"f16v2tof8 $a1, $a0", "a0=1.125h|1.375h", "a1=0x4240"},
      {"f16v2tof8 $a1, $a0", "a0=0x7c00|0x7e00", "a1=0x807f"},
      {"f16v2tof8 $a1, $a0", "a0=65504h|-65504h", "a1=0xff7f"},
      {"f16v2tof8 $a1, $a0", "a0=0x0040|0x8041 a1=7", "a1=0x8100"},
      {set + "f16v2tof8 $a1, $a0", "a12=2 a0=240h|-300h", "a1=0xff7f"},
      {set + "f16v2tof8 $a1, $a0", "a12=2 a10=0x3f a0=2h|480h", "a1=0x7f40"},
      {set + "f16v8tof8 $a4:5, $a0:3", "a12=2 a0=1h|-1h,1.125h|0,1.0625h|1.1875h,0x0001|0x8000",
       "a4=0x0041c040,0x00004240"},
      {"f16v8tof8 $a4:5, $a0:3", "a0=1h|-1h,1.25h|0,1.5h|1.75h,2h|0x8000",
       "a4=0x0041c040,0x00444342"},
      // Eight inputs 1, weights of unit 0 in slice 0 (0x80000) all 1, of unit 8 (0x80100) two 1.5:
      // partials and what the block gives. The second set of units is the upper half of results.
      {"f8v8hihov4amp $azeros, $azeros, $a4:5, 0\n f8v8hihov4amp $azeros, $azeros, $azeros, 1\n"
       "f8v8hihov4amp $azeros, $azeros, $a6:7, 2\n f8v8hihov4amp $azeros, $azeros, $azeros, 3\n"
       "f8v8hihov4amp $azeros, $a0:1, $azeros, 0\n f8v8hihov4amp $azeros, $azeros, $azeros, 1\n"
       "f8v8hihov4amp $azeros, $azeros, $azeros, 2\n f8v8hihov4amp $azeros, $azeros, $azeros, 3\n"
       "f8v8hihov4amp $a8:9, $azeros, $azeros, 0\n f8v8hihov4amp $azeros, $azeros, $azeros, 1\n"
       "f8v8hihov4amp $a10:11, $azeros, $azeros, 2",
       "a0=0x40404040,0x40404040 a4=100h|1h,0|0,0.5h|0,0|2h [0x80000]=0x40404040,0x40404040 "
       "[0x80100]=0x00000042,0x42000000",
       "a8=108h|1h,3h|0 a10=0.5h|0,0|2h"},
      {"f8v8hihov4slic $azeros, $a0:1, $a4:5, 0\n f8v8hihov4slic $azeros, $a2:3, $azeros, 0\n"
       "f8v8hihov4slic $azeros, $azeros, $azeros, 0\n f8v8hihov4slic $azeros, $a0:1, $azeros, 0\n"
       "f8v8hihov4slic $a8:9, $azeros, $azeros, 0",
       "a0=0x00000040,0 a2=0,0x40000000 a4=100h|1h,2h|3h [0x800c0]=0x44 [0x80080]=0,0x48000000 "
       "[0x80000]=0x40 [0x801e0]=0x48",
       "a8=107h|1h,2h|7h"},
  };
}

}  // namespace superstep::testing
