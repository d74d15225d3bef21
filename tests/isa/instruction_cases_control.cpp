#include "tests/isa/instruction_case.h"

namespace superstep::testing {

namespace {

/// A branch over the instruction that sets $m1.
void add_branch(std::vector<InstructionCase>& cases, const std::string& mnemonic,
                const std::string& value, bool taken) {
  cases.push_back(
      {mnemonic + " $m0, 1f\n setzi $m1, 1\n1:", "m0=" + value, taken ? "m1=0" : "m1=1"});
}

}  // namespace

std::vector<InstructionCase> control_cases() {
  // Instructions of a case stand at 0x4d080, 0x4d084, …
  std::vector<InstructionCase> cases = {
      {"br $m0\n setzi $m1, 1\n setzi $m2, 1", "m0=0x4d088", "m2=1"},
      {"br $m0\n nop", "m0=0x80000", "fault=execution at 0x80000, which is not executable",
       On::kWorker},
      {"br $m0\n nop", "m0=0x4d086", "fault=execution at 0x4d086, which is not executable",
       On::kWorker},
      {"br $m0\n nop", "m0=0x80000", "fault=execution outside the executable region",
       On::kSupervisor},
      {"bri 1f\n setzi $m1, 1\n1:", "", ""},
      {"call $m5, 1f\n setzi $m1, 1\n1:", "", "m5=0x4d084"},
      {"{ call $m5, 1f; setzi $a0, 3 }\n setzi $m1, 1\n1:", "", "m5=0x4d088 a0=3"},
      // Decremented only when the branch is taken.
      {"brnzdec $m0, 1f\n setzi $m1, 1\n1:", "m0=0", "m1=1"},
      {"brnzdec $m0, 1f\n setzi $m1, 1\n1:", "m0=1", "m0=0"},
      {"brnzdec $m0, 1f\n setzi $m1, 1\n1:", "m0=0x80000000", "m0=0x7fffffff"},
      {"1: add $m1, $m1, 5\n---\n brnzdec $m0, 1b", "m0=4", "m0=0 m1=25"},
      // The body starts at an 8-byte boundary; what is issued beside `rpt` is executed once.
      {"{ rpt $m0, 0; setzi $a0, 5 }\n{ add $m1, $m1, 1; fnop }", "m0=3", "m1=3 a0=5"},
      {"{ rpt $m0, 0; setzi $a0, 5 }\n{ add $m1, $m1, 1; fnop }", "m0=0", "a0=5"},
      {"{ rpt $m0, 0; fnop }\n{ add $m1, $m1, 1; fnop }", "m0=0xfff0002", "m1=2"},
      {"{ rpt $m0, 0; fnop }\n{ add $m1, $m1, 1; fnop }", "m0=65535", "m1=65535"},
      {"{ rpt $m0, 0; fnop }\n{ setzi $m0, 9; fnop }", "m0=3", "m0=9"},
      {"{ rpt 4095, 0; fnop }\n{ add $m1, $m1, 1; fnop }", "", "m1=4095"},
      {"{ rpt 0, 1; fnop }\n{ add $m1, $m1, 1; fnop }\n{ add $m1, $m1, 1; fnop }", "", ""},
      {"{ rpt 3, 1; fnop }\n{ add $m1, $m1, 1; fnop }\n{ add $m2, $m2, $m1; fnop }", "",
       "m1=3 m2=6"},
      // A worker that has ended does nothing more, not even the stores that would follow.
      {"exitz $m0\n setzi $m1, 1", "", ""},
      {"exitnz $m0\n setzi $m1, 1", "", ""},
      {"exitneg $m0\n setzi $m1, 1", "", ""},
      {"exitpos $m0\n setzi $m1, 1", "", ""},
      {"trap 0", "", "fault=trap instruction 0"},
      {"trap 15", "", "fault=trap instruction 15"},
      {"get $m0, $WSR", "m0=7", "m0=0", On::kWorker},
      {"get $m0, $VERTEX_BASE", "", "m0=0x50000", On::kWorker},
      {"get $m0, $WORKER_BASE", "m0=7", "m0=0", On::kWorker},
      {"get $m0, $PC", "", "m0=0x4d080"},
      {"get $m0, $REPEAT_FIRST", "m0=7", "m0=0", On::kWorker},
      {"{ rpt 3, 0; fnop }\n { nop; fnop }\n get $m0, $REPEAT_COUNT\n get $m1, $REPEAT_FIRST\n"
       " get $m2, $REPEAT_END",
       "m0=7", "m0=0,0x4d088,0x4d090", On::kWorker},
      {"put $CCCSLOAD, $m0", "m0=5", "fault=a control register that a worker cannot write",
       On::kWorker},
      {"uput $TAS, $a0\n uget $a1, $TAS", "a0=0xffc12345", "a1=0xffc12345"},
      {"uput $FP_CTL, $a0\n uget $a1, $FP_CTL", "a0=0x180007", "a1=0x180007"},
      {"uput $FP_CTL, $a0", "a0=0x40000",
       "fault=a rounding mode of FP_CTL.RND above 3, which is not modelled"},
      {"uput $FP_NFMT, $a0\n uput $FP_SCL, $a1\n uget $a2, $FP_NFMT\n uget $a3, $FP_SCL",
       "a0=3,0xff", "a2=3,0xff"},
      {"uget $a1, $FP_STS", "a1=7", "a1=0"},
      {"uput 99, $a0", "", "fault=a control register that a worker cannot write"},
      {"uget $a0, 99", "", "fault=a control register that a worker does not have"},
      {"uget $a1, $FP_CTL", "a1=7", "a1=0"},
      {"uget $a1, $FP_CLR", "a1=7", "a1=0"},
      {"uget $a1, $PRNG_SEED", "a1=7", "a1=0"},
      // graphcore/ipu_assembly_support, $PRNG_SEED; xoroshiro128aox (arXiv 2203.04058) from there,
      // computed in Python.
      {"uput $PRNG_SEED, $a0\n uget $a1, $PRNG_0_0\n uget $a2, $PRNG_0_1\n uget $a3, $PRNG_1_0\n"
       "uget $a4, $PRNG_1_1",
       "a0=0x12345678", "a1=0x12345678,0xedcba987,0x8acf1db9,0x7530e246"},
      {"uput $PRNG_SEED, $a0\n---\n urand64 $a2:3\n urand64 $a4:5", "a0=0x12345678",
       "a2=0x94e33330,0x46f88bdd,0x3136cdc3,0xe5324405"},
      {"uput $PRNG_SEED, $a0\n---\n urand32 $a2\n urand32 $a3", "a0=0x12345678",
       "a2=0x94e33330,0x3136cdc3"},
  };
  for (const char* const value : {"0", "1", "0x7fffffff", "0x80000000", "0xffffffff"}) {
    const bool zero = value == std::string("0");
    const bool negative = value == std::string("0x80000000") || value == std::string("0xffffffff");
    add_branch(cases, "brz", value, zero);
    add_branch(cases, "brnz", value, !zero);
    add_branch(cases, "brneg", value, negative);
    // Zero counts as positive: graphcore/llvm-project-fork llvm/test/CodeGen/Colossus/br.ll.
    add_branch(cases, "brpos", value, !negative);
  }
  return cases;
}

}  // namespace superstep::testing
