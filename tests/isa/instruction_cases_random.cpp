#include "tests/isa/instruction_case.h"

namespace superstep::testing {

// The first four steps of the generator after seed 1 (graphcore/ipu_assembly_support, $PRNG_SEED;
// arXiv 2203.04058), computed in Python: 0xffffbffe00003ff9, 0x0f023fe1f0f3bfde, …
std::vector<InstructionCase> random_cases() {
  const std::string seed = "uput $PRNG_SEED, $a12\n---\n ";
  return {
      {seed + "urand64 $a2:3\n urand32 $a4", "a12=1", "a2=0x00003ff9,0xffffbffe,0xf0f3bfde"},
      // Sums of twelve 5-bit fields, less 186, over 32.
      {seed + "f32v2grand $a0:1\n f32v2grand $a2:3", "a12=1",
       "a0=1.9375f,1.5f,-0.34375f,-0.84375f"},
      {seed + "f16v2grand $a0\n f16v2grand $a1", "a12=1", "a0=1.9375h|1.5h,-0.34375h|-0.84375h"},
      {"f16v2grand $a0", "", "a0=-5.8125h|-5.8125h"},
      {"f32v2grand $a0:1", "", "a0=-5.8125f,-5.8125f"},
      // (2 u + 1) / 2^33 - 1/2 and (2 u + 1) / 2^17 - 1/2, rounded once.
      {"f32sufromui $a1, $a0", "a0=0", "a1=-0.5f"},
      {"f32sufromui $a1, $a0", "a0=0xffffffff", "a1=0.5f"},
      {"f32sufromui $a1, $a0", "a0=0x12345678", "a1=0xbedb9753"},
      {"f32v2sufromui $a2:3, $a0:1", "a0=0x7fffffff,0x80000000", "a2=0xaf000000,0x2f000000"},
      {"f16v2sufromui $a1, $a0", "a0=0x7fff|0x8000", "a1=0x8080|0x0080"},
      {"f16v4sufromui $a2:3, $a0:1", "a0=0|0xffff,0x1234|1", "a2=-0.5h|0.5h,0xb6dd|-0.5h"},
      // The fields of the first step are 0x3ff9, 0, 0xbffe, 0xffff.
      {seed + "f16v4rmask $a2:3, $a0:1, $a4", "a12=1 a0=1h|2h,3h|4h a4=0xbffe", "a2=1h|2h,0"},
      {seed + "f16v4rmask $a2:3, $a0:1, $a4", "a12=1 a0=1h|2h,3h|4h a4=0xbfff", "a2=1h|2h,3h|0"},
      {seed + "f16v4rmask $a2:3, $a0:1, $a4", "a12=1 a0=1h|2h,3h|0xfdff a4=0x10000",
       "a2=1h|2h,3h|0xfdff"},
      {"f16v4rmask $a2:3, $a0:1, $a4", "a0=1h|2h,3h|4h a2=7,7", "a2=0,0"},
      {seed + "f32v2rmask $a2:3, $a0:1, $a4", "a12=1 a0=1f,2f a4=0x4000", "a2=1f,0"},
      {seed + "f32v2rmask $a2:3, $a0:1, $a4", "a12=1 a0=1f,2f a4=0xbfff", "a2=1f,2f"},
      {seed + "f32v2rmask $a2:3, $a0:1, $a4\n urand32 $a5", "a12=1 a0=1f,0xff800001 a4=0xffff0000",
       "a2=1f,0xff800001,0xffff0000,0xf0f3bfde"},
      {"f32v2rmask $a2:3, $a0:1, $a4", "a0=1f,2f a2=7,7", "a2=0,0"},
  };
}

}  // namespace superstep::testing
