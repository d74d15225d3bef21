#include "tests/isa/instruction_case.h"

namespace superstep::testing {

namespace {

// Bit patterns of f32: 0x7f800000 infinity, 0x7fc00000 the canonical NaN, 0x7f800001 a signalling
// one, 0xffc12345 a quiet one with a payload, 0x7f7fffff the greatest number, 0x00800000 the least
// normal and 1 the least subnormal one.

void add_arithmetic(std::vector<InstructionCase>& cases) {
  const std::vector<InstructionCase> more = {
      // 2^-24 is half a last place of 1: to even, up from 1 + 2^-23.
      {"f32add $a2, $a0, $a1", "a0=1f,0x33800000", "a2=1f"},
      {"f32add $a2, $a0, $a1", "a0=0x3f800001,0x33800000", "a2=0x3f800002"},
      {"f32add $a2, $a0, $a1", "a0=1f,0x33800001", "a2=0x3f800001"},
      {"f32add $a2, $a0, $a1", "a0=0x7f7fffff,0x73000000", "a2=0x7f800000"},
      {"f32add $a2, $a0, $a1", "a0=0x7f7fffff,0x72ffffff", "a2=0x7f7fffff"},
      {"f32add $a2, $a0, $a1", "a0=1,1", "a2=2"},
      {"f32add $a2, $a0, $a1", "a0=0x80000000,0x80000000", "a2=0x80000000"},
      {"f32add $a2, $a0, $a1", "a0=0x7f800000,0xff800000", "a2=0x7fc00000"},
      {"f32add $a2, $a0, $a1", "a0=0xffc12345,1f", "a2=0x7fc00000"},
      {"f32add $a2, $a0, $a1", "a0=0x7f800001,1f", "a2=0x7fc00000"},
      {"f32sub $a2, $a0, $a1", "a0=1.5f,1.5f a2=7", "a2=0"},
      {"f32sub $a2, $a0, $a1", "a0=0x00800000,1", "a2=0x007fffff"},
      {"f32sub $a2, $a0, $a1", "a0=0x7f800000,0x7f800000", "a2=0x7fc00000"},
      {"f32sub $a2, $a0, $a1", "a0=0x80000000,0", "a2=0x80000000"},
      // (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46; least normal times 1/2.
      {"f32mul $a2, $a0, $a1", "a0=0x3f800001,0x3f800001", "a2=0x3f800002"},
      {"f32mul $a2, $a0, $a1", "a0=0x00800000,0.5f", "a2=0x00400000"},
      {"f32mul $a2, $a0, $a1", "a0=1,0.5f a2=7", "a2=0"},
      {"f32mul $a2, $a0, $a1", "a0=3,0.5f", "a2=2"},
      {"f32mul $a2, $a0, $a1", "a0=0x7f7fffff,-2f", "a2=0xff800000"},
      {"f32mul $a2, $a0, $a1", "a0=0,0x7f800000", "a2=0x7fc00000"},
      {"f32mul $a2, $a0, $a1", "a0=-1f,0", "a2=0x80000000"},
      {"f32div $a2, $a0, $a1", "a0=1f,3f", "a2=0x3eaaaaab"},
      {"f32div $a2, $a0, $a1", "a0=-1f,0", "a2=0xff800000"},
      {"f32div $a2, $a0, $a1", "a0=0,0", "a2=0x7fc00000"},
      {"f32div $a2, $a0, $a1", "a0=1,2f a2=7", "a2=0"},
      {"f32div $a2, $a0, $a1", "a0=0x00800000,3f", "a2=0x002aaaab"},
      {"f32absadd $a2, $a0, $a1", "a0=-1f,-2f", "a2=3f"},
      {"f32absadd $a2, $a0, $a1", "a0=0x80000000,0x80000000 a2=7", "a2=0"},
      {"f32absadd $a2, $a0, $a1", "a0=0xff800000,1f", "a2=0x7f800000"},
      {"f32absadd $a2, $a0, $a1", "a0=0xffc12345,1f", "a2=0x7fc00000"},
      {"f32v2add $a2:3, $a0:1, $a4:5", "a0=1f,0x7f800000 a4=2f,0xff800000", "a2=3f,0x7fc00000"},
      {"f32v2sub $a2:3, $a0:1, $a4:5", "a0=1f,5f a4=2f,3f", "a2=-1f,2f"},
      {"f32v2mul $a2:3, $a0:1, $a4:5", "a0=1.5f,-5f a4=2f,3f", "a2=3f,-15f"},
      {"f32v2absadd $a2:3, $a0:1, $a4:5", "a0=-1f,5f a4=2f,-3f", "a2=3f,8f"},
      {"f32v2add $a2:3, $a1:B, $a4:5", "a0=9f,1f a4=2f,0xffc12345", "a2=3f,0x7fc00000"},
      {"f32v2sub $a2:3, $a0:B, $a4:5", "a0=1f,9f a4=2f,3f", "a2=-1f,-2f"},
      {"f32v2mul $a4:5, $a4:B, $a4:5", "a4=2f,3f", "a4=4f,6f"},
  };
  cases.insert(cases.end(), more.begin(), more.end());
}

// A number wins against NaN and +0 is greater than -0, as IEEE 754-2008 maxNum allows; the sources
// leave both open.
void add_choices(std::vector<InstructionCase>& cases) {
  const std::vector<InstructionCase> more = {
      {"f32max $a2, $a0, $a1", "a0=1f,-2f", "a2=1f"},
      {"f32max $a2, $a0, $a1", "a0=0x80000000,0 a2=7", "a2=0"},
      {"f32max $a2, $a0, $a1", "a0=0,0x80000000 a2=7", "a2=0"},
      {"f32max $a2, $a0, $a1", "a0=0x7fc00000,-3f", "a2=-3f"},
      {"f32max $a2, $a0, $a1", "a0=-3f,0xffc12345", "a2=-3f"},
      {"f32max $a2, $a0, $a1", "a0=0xffc12345,0x7f800001", "a2=0x7fc00000"},
      {"f32max $a2, $a0, $a1", "a0=0xff800000,0xff7fffff", "a2=0xff7fffff"},
      {"f32min $a2, $a0, $a1", "a0=1f,-2f", "a2=-2f"},
      {"f32min $a2, $a0, $a1", "a0=0,0x80000000", "a2=0x80000000"},
      {"f32min $a2, $a0, $a1", "a0=0x80000000,0", "a2=0x80000000"},
      {"f32min $a2, $a0, $a1", "a0=0x7fc00000,-3f", "a2=-3f"},
      {"f32min $a2, $a0, $a1", "a0=0x7fc00000,0x7f800000", "a2=0x7f800000"},
      {"f32absmax $a2, $a0, $a1", "a0=-4f,3f", "a2=4f"},
      {"f32absmax $a2, $a0, $a1", "a0=0xff800000,3f", "a2=0x7f800000"},
      {"f32absmax $a2, $a0, $a1", "a0=0x80000000,0x80000000 a2=7", "a2=0"},
      {"f32v2max $a2:3, $a0:1, $a4:5", "a0=1f,-0f a4=2f,0", "a2=2f,0"},
      {"f32v2min $a2:3, $a0:1, $a4:5", "a0=1f,0 a4=2f,-0f", "a2=1f,-0f"},
      {"f32v2absmax $a2:3, $a0:1, $a4:5", "a0=-1f,3f a4=0.5f,-7f", "a2=1f,7f"},
      // The lower bound first, then the upper one.
      {"f32clamp $a2, $a0, $a4:5", "a0=-9f a4=-1f,1f", "a2=-1f"},
      {"f32clamp $a2, $a0, $a4:5", "a0=9f a4=-1f,1f", "a2=1f"},
      {"f32clamp $a2, $a0, $a4:5", "a0=0.5f a4=-1f,1f", "a2=0.5f"},
      {"f32clamp $a2, $a0, $a4:5", "a0=0.5f a4=2f,1f", "a2=1f"},
      {"f32clamp $a2, $a0, $a4:5", "a0=0x7fc00000 a4=-1f,1f", "a2=0x7fc00000"},
      {"f32v2clamp $a2:3, $a0:1, $a4:5", "a0=-9f,0.25f a4=-1f,1f", "a2=-1f,0.25f"},
      {"f32v2clamp $a2:3, $a0:1, $a4:5", "a0=9f,0x7f800000 a4=-1f,1f", "a2=1f,1f"},
      {"f32v2clamp $a2:3, $a0:1, $a4:5", "a0=9f,0x7fd9c07e a4=-1f,1f", "a2=1f,0x7fc00000"},
  };
  cases.insert(cases.end(), more.begin(), more.end());
}

void add_comparisons(std::vector<InstructionCase>& cases) {
  struct Comparison {
    std::string name;
    bool less, equal, greater, unordered;
  };
  for (const Comparison& c :
       {Comparison{"eq", false, true, false, false}, Comparison{"ne", true, false, true, true},
        Comparison{"lt", true, false, false, false}, Comparison{"le", true, true, false, false},
        Comparison{"gt", false, false, true, false}, Comparison{"ge", false, true, true, false}}) {
    const auto mask = [](bool holds) { return std::string(holds ? "0xffffffff" : "0"); };
    const auto one = [&](const std::string& operands, bool holds) {
      cases.push_back(
          {"f32cmp" + c.name + " $a2, $a0, $a1", operands + " a2=7", "a2=" + mask(holds)});
    };
    one("a0=-1f,1f", c.less);
    one("a0=1,2", c.less);
    one("a0=0xff800000,0xff7fffff", c.less);
    one("a0=0x80000000,0", c.equal);
    one("a0=0x7f800000,0x7f800000", c.equal);
    one("a0=2f,-3f", c.greater);
    one("a0=0x7fc00000,0x7fc00000", c.unordered);
    one("a0=1f,0x7f800001", c.unordered);
    cases.push_back({"f32v2cmp" + c.name + " $a2:3, $a0:1, $a4:5", "a0=1f,2f a4=3f,2f a2=7,7",
                     "a2=" + mask(c.less) + "," + mask(c.equal)});
    cases.push_back({"f32v2cmp" + c.name + " $a2:3, $a0:1, $a4:5",
                     "a0=9f,0x7fc00000 a4=3f,2f a2=7,7",
                     "a2=" + mask(c.greater) + "," + mask(c.unordered)});
  }
}

}  // namespace

std::vector<InstructionCase> float_cases() {
  std::vector<InstructionCase> cases;
  add_arithmetic(cases);
  add_choices(cases);
  add_comparisons(cases);
  return cases;
}

std::vector<InstructionCase> conversion_cases() {
  return {
      // Modes: 0 nearest even, 1 up, 2 down, 3 to zero, 4 nearest away.
      {"f32int $a1, $a0, 0", "a0=2.5f", "a1=2f"},
      {"f32int $a1, $a0, 0", "a0=-3.5f", "a1=-4f"},
      {"f32int $a1, $a0, 1", "a0=2.25f", "a1=3f"},
      {"f32int $a1, $a0, 1", "a0=-2.75f", "a1=-2f"},
      {"f32int $a1, $a0, 1", "a0=-0.75f", "a1=0x80000000"},
      {"f32int $a1, $a0, 2", "a0=2.75f", "a1=2f"},
      {"f32int $a1, $a0, 2", "a0=-2.25f", "a1=-3f"},
      {"f32int $a1, $a0, 3", "a0=2.75f", "a1=2f"},
      {"f32int $a1, $a0, 3", "a0=-2.75f", "a1=-2f"},
      {"f32int $a1, $a0, 4", "a0=2.5f", "a1=3f"},
      {"f32int $a1, $a0, 4", "a0=-0.5f", "a1=-1f"},
      {"f32int $a1, $a0, 4", "a0=0x3effffff a1=7", "a1=0"},
      {"f32int $a1, $a0, 0", "a0=0x4b000001", "a1=0x4b000001"},
      {"f32int $a1, $a0, 0", "a0=0xff800000", "a1=0xff800000"},
      {"f32int $a1, $a0, 3", "a0=0xffc12345", "a1=0x7fc00000"},
      {"f32toi32 $a1, $a0", "a0=2.5f", "a1=2"},
      {"f32toi32 $a1, $a0", "a0=-3.5f", "a1=-4"},
      {"f32toi32 $a1, $a0", "a0=0x4effffff", "a1=0x7fffff80"},
      // What is out of range saturates and NaN gives 0: no source says so.
      {"f32toi32 $a1, $a0", "a0=2147483648f", "a1=0x7fffffff"},
      {"f32toi32 $a1, $a0", "a0=-2147483648f", "a1=0x80000000"},
      {"f32toi32 $a1, $a0", "a0=0xff800000", "a1=0x80000000"},
      {"f32toi32 $a1, $a0", "a0=0x7fc00000 a1=7", "a1=0"},
      {"f32toui32 $a1, $a0", "a0=3.5f", "a1=4"},
      {"f32toui32 $a1, $a0", "a0=4294967040f", "a1=0xffffff00"},
      {"f32toui32 $a1, $a0", "a0=4294967296f", "a1=0xffffffff"},
      {"f32toui32 $a1, $a0", "a0=-0.5f a1=7", "a1=0"},
      {"f32toui32 $a1, $a0", "a0=-7f a1=7", "a1=0"},
      {"f32toui32 $a1, $a0", "a0=0x7fc00000 a1=7", "a1=0"},
      // 2^24 + 1 is a tie, 2^25 + 3 nearer to 2^25 + 4; above 2^31 the spacing is 256.
      {"f32fromi32 $a1, $a0", "a0=16777217", "a1=16777216f"},
      {"f32fromi32 $a1, $a0", "a0=-33554435", "a1=-33554436f"},
      {"f32fromi32 $a1, $a0", "a0=0x7fffffff", "a1=2147483648f"},
      {"f32fromi32 $a1, $a0", "a0=0x80000000", "a1=-2147483648f"},
      {"f32fromui32 $a1, $a0", "a0=0xffffffff", "a1=4294967296f"},
      {"f32fromui32 $a1, $a0", "a0=0x80000080", "a1=2147483648f"},
      {"f32fromui32 $a1, $a0", "a0=0x80000180", "a1=0x4f000002"},
      {"f32class $a1, $a0", "a0=0x7f800001", "a1=1"},
      {"f32class $a1, $a0", "a0=0xffc12345", "a1=2"},
      {"f32class $a1, $a0", "a0=0xff800000", "a1=3"},
      {"f32class $a1, $a0", "a0=0x7f800000", "a1=4"},
      {"f32class $a1, $a0", "a0=0x80000000", "a1=5"},
      {"f32class $a1, $a0", "a0=0", "a1=6"},
      {"f32class $a1, $a0", "a0=0x807fffff", "a1=7"},
      {"f32class $a1, $a0", "a0=1", "a1=8"},
      {"f32class $a1, $a0", "a0=-1f", "a1=9"},
      {"f32class $a1, $a0", "a0=0x00800000", "a1=10"},
      {"f32v2class $a2, $a0:1", "a0=0x80000000,0x7fc00000", "a2=0x205"},
      {"f16v2class $a2, $a0", "a0=0x8000|0x7e00", "a2=0x205"},
      {"f16v2class $a2, $a0", "a0=0x7c01|0xfc00", "a2=0x301"},
      {"f16v4class $a2, $a0:1", "a0=0x7c00|0,0x8001|0x0001", "a2=0x08070604"},
      {"f16v4class $a2, $a0:1", "a0=-1h|1h,0x83ff|0x8400", "a2=0x09070a09"},
      {"f16tof32 $a1, $a0", "a0=-1.5h|7h", "a1=-1.5f"},
      {"f16tof32 $a1, $a0", "a0=0x0001|7h", "a1=0x33800000"},
      {"f16tof32 $a1, $a0", "a0=0x03ff|7h", "a1=0x387fc000"},
      {"f16tof32 $a1, $a0", "a0=0xfc00", "a1=0xff800000"},
      {"f16tof32 $a1, $a0", "a0=0xfd01", "a1=0x7fc00000"},
      {"f16v2tof32 $a2:3, $a0", "a0=0x8000|65504h", "a2=0x80000000,65504f"},
      // 1 + 2^-11 is a tie, 65520 too; 2^-25 is half the least subnormal f16.
      {"f32tof16 $a1, $a0", "a0=0x3f801000", "a1=1h|1h"},
      {"f32tof16 $a1, $a0", "a0=0x3f801001", "a1=0x3c01|0x3c01"},
      {"f32tof16 $a1, $a0", "a0=0x3f803000", "a1=0x3c02|0x3c02"},
      {"f32tof16 $a1, $a0", "a0=65519f", "a1=0x7bff|0x7bff"},
      {"f32tof16 $a1, $a0", "a0=65520f", "a1=0x7c00|0x7c00"},
      {"f32tof16 $a1, $a0", "a0=0x33000000 a1=7", "a1=0"},
      {"f32tof16 $a1, $a0", "a0=0xb3000001", "a1=0x8001|0x8001"},
      {"f32tof16 $a1, $a0", "a0=0x387fe000", "a1=0x0400|0x0400"},
      {"f32tof16 $a1, $a0", "a0=0x7f800001", "a1=0x7e00|0x7e00"},
      {"f32v2tof16 $a2, $a0:1", "a0=1f,-65536f", "a2=1h|0xfc00"},
      {"f32v4tof16 $a4:5, $a0:3", "a0=1f,2f,-3f,0x80000000", "a4=1h|2h,-3h|0x8000"},
  };
}

}  // namespace superstep::testing
