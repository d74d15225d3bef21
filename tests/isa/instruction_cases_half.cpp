#include "tests/isa/instruction_case.h"

namespace superstep::testing {

namespace {

// Bit patterns of f16: 0x7c00 infinity, 0x7e00 the canonical NaN, 0x7bff the greatest number
// 65504, 0x0400 the least normal and 1 the least subnormal one.

void add_arithmetic(std::vector<InstructionCase>& cases) {
  // Lanes: low half first.
  const std::vector<InstructionCase> more = {
      // 1 + 2^-11 is a tie to even; 65504 + 16 one to infinity.
      {"f16v2add $a2, $a0, $a1", "a0=1h|0x3c01,0x1000|0x1000", "a2=1h|0x3c02"},
      {"f16v2add $a2, $a0, $a1", "a0=0x7bff|0x7bff,16h|0x4bff", "a2=0x7c00|0x7bff"},
      {"f16v2add $a2, $a0, $a1", "a0=0x0001|0x8000,0x03ff|0x8000", "a2=0x0400|0x8000"},
      {"f16v2add $a2, $a0, $a1", "a0=0x7c00|0xfe01,0xfc00|1h", "a2=0x7e00|0x7e00"},
      {"f16v2sub $a2, $a0, $a1", "a0=3h|1h,1h|3h", "a2=2h|-2h"},
      {"f16v2sub $a2, $a0, $a1", "a0=1.5h|0x0400,1.5h|0x0001 a2=7", "a2=0|0x03ff"},
      {"f16v2mul $a2, $a0, $a1", "a0=0x0400|0x0001,0.5h|0.5h", "a2=0x0200|0"},
      {"f16v2mul $a2, $a0, $a1", "a0=0x0003|0x7bff,0.5h|-2h", "a2=0x0002|0xfc00"},
      {"f16v2mul $a2, $a0, $a1", "a0=0x3c01|0,0x3c01|0x7c00", "a2=0x3c02|0x7e00"},
      {"f16v2absadd $a2, $a0, $a1", "a0=-1h|0xfc00,-2h|1h", "a2=3h|0x7c00"},
      {"f16v4add $a2:3, $a0:1, $a4:5", "a0=1h|2h,3h|4h a4=10h|20h,30h|40h", "a2=11h|22h,33h|44h"},
      {"f16v4sub $a2:3, $a0:1, $a4:5", "a0=1h|2h,3h|4h a4=4h|3h,2h|1h", "a2=-3h|-1h,1h|3h"},
      {"f16v4mul $a2:3, $a0:1, $a4:5", "a0=1h|2h,3h|4h a4=0.5h|-2h,3h|0x7e01",
       "a2=0.5h|-4h,9h|0x7e00"},
      {"f16v4absadd $a2:3, $a0:1, $a4:5", "a0=-1h|2h,3h|-4h a4=1h|-1h,-1h|1h", "a2=2h|3h,4h|5h"},
      {"f16v2add $a2, $a0:BL, $a1", "a0=1h|9h,2h|3h", "a2=3h|4h"},
      {"f16v2sub $a2, $a0:BL, $a1", "a0=1h|9h,2h|3h", "a2=-1h|-2h"},
      {"f16v2mul $a2, $a0:BL, $a1", "a0=2h|9h,2h|0x7c01", "a2=4h|0x7e00"},
      {"f16v4add $a2:3, $a1:BL, $a4:5", "a0=8h|9h,1h|7h a4=1h|2h,3h|4h", "a2=2h|3h,4h|5h"},
      {"f16v4sub $a2:3, $a0:BL, $a4:5", "a0=1h|9h a4=1h|2h,3h|4h", "a2=0h|-1h,-2h|-3h"},
      {"f16v4mul $a2:3, $a0:BL, $a4:5", "a0=2h|9h a4=1h|2h,3h|65504h", "a2=2h|4h,6h|0x7c00"},
      // A number wins against NaN, +0 is greater than -0: our choice, as for f32.
      {"f16v2max $a2, $a0, $a1", "a0=1h|0x8000,-2h|0", "a2=1h|0"},
      {"f16v2max $a2, $a0, $a1", "a0=0x7e00|0xfe01,-3h|0x7c01", "a2=-3h|0x7e00"},
      {"f16v2min $a2, $a0, $a1", "a0=1h|0,-2h|0x8000", "a2=-2h|0x8000"},
      {"f16v2min $a2, $a0, $a1", "a0=-3h|0xfc00,0x7e00|0xfbff", "a2=-3h|0xfc00"},
      {"f16v2absmax $a2, $a0, $a1", "a0=-4h|1h,3h|-0.5h", "a2=4h|1h"},
      {"f16v4max $a2:3, $a0:1, $a4:5", "a0=1h|2h,3h|4h a4=4h|-3h,2h|5h", "a2=4h|2h,3h|5h"},
      {"f16v4min $a2:3, $a0:1, $a4:5", "a0=1h|2h,3h|4h a4=4h|-3h,2h|5h", "a2=1h|-3h,2h|4h"},
      {"f16v4absmax $a2:3, $a0:1, $a4:5", "a0=-1h|2h,-3h|4h a4=0.5h|-3h,2h|5h", "a2=1h|3h,3h|5h"},
      {"f16v2clamp $a2, $a0, $a1", "a0=-9h|9h,-1h|1h", "a2=-1h|1h"},
      {"f16v2clamp $a2, $a0, $a1", "a0=0.5h|0x7e00,-1h|1h", "a2=0.5h|0x7e00"},
      {"f16v4clamp $a2:3, $a0:1, $a4", "a0=-9h|9h,0.5h|0xfc00 a4=-1h|1h", "a2=-1h|1h,0.5h|-1h"},
      {"f16v4clamp $a2:3, $a0:1, $a4", "a0=0x7c9c|9h,0.5h|2h a4=-1h|1h", "a2=0x7e00|1h,0.5h|1h"},
      // Lateral: sums in f32, maxima of neighbours.
      {"f16v2sum $a2, $a0", "a0=1h|0x0001", "a2=0x3f800000"},
      {"f16v2sum $a2, $a0", "a0=65504h|65504h", "a2=131008f"},
      {"f16v2sum $a2, $a0", "a0=0x7c00|0xfc00", "a2=0x7fc00000"},
      {"f16v4sum $a2:3, $a0:1", "a0=1h|2h,3h|-4h", "a2=3f,-1f"},
      {"f16v2maxc $a2, $a0", "a0=1h|2h", "a2=2h|2h"},
      {"f16v2maxc $a2, $a0", "a0=-1h|0x7e00", "a2=-1h|-1h"},
      {"f16v4maxc $a2, $a0:1", "a0=1h|2h,4h|3h", "a2=2h|4h"},
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
    const auto lanes = [](bool low, bool high) {
      return std::string(low ? "0xffff" : "0") + "|" + (high ? "0xffff" : "0");
    };
    const std::string less_equal = lanes(c.less, c.equal);
    const std::string greater_unordered = lanes(c.greater, c.unordered);
    const std::string two = "f16v2cmp" + c.name + " $a2, $a0, $a1";
    cases.push_back({two, "a0=1h|0x8000,2h|0 a2=7", "a2=" + less_equal});
    cases.push_back({two, "a0=0x0002|0x7e00,0x0001|0x7e00 a2=7", "a2=" + greater_unordered});
    cases.push_back({two, "a0=0xfc00|0x7c00,0xfbff|0x7c00 a2=7", "a2=" + less_equal});
    cases.push_back({"f16v4cmp" + c.name + " $a2:3, $a0:1, $a4:5",
                     "a0=1h|2h,5h|1h a4=3h|2h,4h|0x7c01 a2=7,7",
                     "a2=" + less_equal + "," + greater_unordered});
  }
}

}  // namespace

std::vector<InstructionCase> half_cases() {
  std::vector<InstructionCase> cases;
  add_arithmetic(cases);
  add_comparisons(cases);
  return cases;
}

}  // namespace superstep::testing
