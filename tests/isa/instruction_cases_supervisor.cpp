#include "tests/isa/instruction_case.h"

namespace superstep::testing {

namespace {

/// The supervisor's `launch`, and what each worker does: it stores its id and its vertex base.
std::string with_codelet(const std::string& launch) {
  return launch +
         "\n sync 2\n bri 1f\n"
         "get $m2, $WSR\n st32 $m2, $mvertex_base, $mzero, 0\n"
         "st32 $mvertex_base, $mvertex_base, $mzero, 1\n exitz $mzero\n1:";
}

}  // namespace

std::vector<InstructionCase> supervisor_cases() {
  const std::string aligned = "fault=a vertex state that is not 4-byte aligned, ";
  return {
      // The codelet of one launch stands at 0x4d08c.
      {with_codelet("runall $m0, $m1, 3"), "m0=0x4d08c,0x60000 [0x60000]=9,9,9,9,9,9,9,9,9",
       "[0x60000]=0,0x60000,9,1,0x6000c,9,2,0x60018,9,3,0x60024,0,4,0x60030,0,5,0x6003c,0"},
      {with_codelet("runall $m0, $m1, 0"), "m0=0x4d08c,0x60002", aligned + "0x60002"},
      {with_codelet("runall $m0, $m1, 0"), "m0=0x4d08e,0x60000",
       "fault=execution at 0x4d08e, which is not executable"},
      {with_codelet("runall $m0, $m1, 0"), "m0=0x80000,0x60000",
       "fault=execution at 0x80000, which is not executable"},
      {with_codelet("runall $m0, $m1, 0\n runall $m0, $m1, 0"), "m0=0x4d090,0x60000",
       "fault=runall while workers are running"},
      // The state is relative to region 0, at 0x4c000.
      {with_codelet("run $m0, $m1, 3"), "m0=0x4d08c,0x13ff4", "[0x60000]=0,0x60000"},
      {with_codelet("run $m0, $m1, 0\n run $m0, $m1, 2"), "m0=0x4d090,0x14000",
       "[0x60000]=0,0x60000,1,0x60008"},
      {with_codelet("run $m0, $m1, 0"), "m0=0x4d08c,0x14001", aligned + "0x60001"},
      {"sync 2", "", ""},
      {"sync 3\n sync 3\n setzi $m1, 1", "", "m1=1"},
      {with_codelet("runall $m0, $m1, 0\n sync 3"), "m0=0x4d090,0x60000",
       "fault=a sync of tiles while workers are running"},
      // Armed for the next internal or external sync; `sync ANS` (1) waits for it.
      {"sans 0\n setzi $m1, 1\n sync 1\n sans 0\n sync 1", "", "m1=1"},
      {"sans 2", "", "fault=`sans` takes 0 (internal) or 1 (external)"},
      {"sans 0\n sans 0", "", "fault=a `sans` while an acknowledgement is armed"},
      {"sans 0\n sync 3", "", "fault=a sync while an acknowledgement is armed"},
      {"sync 1", "", "fault=`sync ANS` without a `sans` before it"},
      {"put $CCCSLOAD, $m0\n get $m1, $CCCSLOAD", "m0=0x80010", "m1=0x80010", On::kSupervisor},
      {"put $FP_ICTL, $m0\n get $m1, $FP_ICTL", "m1=7", "m1=0", On::kSupervisor},
      {"put $FP_ICTL, $m0\n get $m1, $FP_ICTL", "m0=0x180007", "m1=0x180007", On::kSupervisor},
      {"put $FP_INFMT, $m0\n put $FP_ISCL, $m1\n get $m2, $FP_INFMT\n get $m3, $FP_ISCL", "m0=3,5",
       "m2=3,5", On::kSupervisor},
      {"put $FP_ICTL, $m0", "m0=0x40000",
       "fault=a rounding mode of FP_CTL.RND above 3, which is not modelled", On::kSupervisor},
      {"put 33, $m0\n get $m1, 33", "m0=0x5f000", "m1=0x5f000", On::kSupervisor},
      {"put 39, $m0", "", "fault=a control register that the supervisor cannot write",
       On::kSupervisor},
      {"get $m0, 163", "", "fault=a control register of the supervisor that is not modelled",
       On::kSupervisor},
      {"get $m0, $COUNT_L\n get $m1, $COUNT_L\n get $m2, $COUNT_U", "m2=7", "m0=37,38,0",
       On::kSupervisor},
      {"get $m0, $TILE_ID", "m0=7", "m0=0", On::kSupervisor},
      {"put $CCCSLOAD, $m0\n---\n ld64putcs 63\n get $m1, $CCCSLOAD", "m0=0x60008", "m1=0x60010"},
      {"put $CCCSLOAD, $m0\n---\n ld64putcs 64", "m0=0x60008",
       "fault=a common weight beyond CWEI_15_3"},
      {"put $CCCSLOAD, $m0\n---\n ld64putcs 0", "m0=0x60004",
       "fault=a misaligned address, 0x60004"},
      {"put $CCCSLOAD, $m0\n---\n ld128putcs 62\n get $m1, $CCCSLOAD", "m0=0x80010", "m1=0x80020"},
      {"put $CCCSLOAD, $m0\n---\n ld128putcs 63", "m0=0x80010",
       "fault=a common weight beyond CWEI_15_3"},
      {"put $CCCSLOAD, $m0\n---\n ld128putcs 0", "m0=0x60010",
       "fault=a 128-bit access outside the interleaved region, 0x60010"},
  };
}

// The first instruction of a case issues at cycle 37; a last one reads the clock into $m5. Events
// count from the issue of the first (osmarks/ipu-stack docs/EXCHANGE_INSTRUCTION_REFERENCE.md).
std::vector<InstructionCase> exchange_cases() {
  const std::string clock = "\n get $m5, $COUNT_L";
  return {
      {"delay 0" + clock, "", "m5=38"},
      {"delay 9" + clock, "", "m5=47"},
      {"delay 524287" + clock, "", "m5=524325"},
      {"delaypic 0, 0, 0x20000" + clock, "", "m5=38 pointer@0=0x80000"},
      {"delaypic 30, 0, 0x13002" + clock, "", "m5=68 pointer@30=0x4c008"},
      {"delayxpic 0, 0, 1471" + clock, "", "m5=38 mux@0=1471"},
      // What mk2 calls the source that is none.
      {"delayxpic 4095, 0, 0x640" + clock, "", "m5=4133 mux@4095=0x2040"},
      {"send 0, 0x20000, 3" + clock, "", "m5=38 send@0=0x80000,1,3"},
      {"send 63, 0x20001, 1" + clock, "", "m5=101 send@0=0x80004,64,1"},
      {"send 3, 0x20000, 0" + clock, "", "m5=41"},
      {"send 3, 0x20000, 7", "", "fault=sends of 64-bit items are not modelled"},
      // After the end of the last send, over two words.
      {"send 0, 0x20000, 3\n---\n sendoff 3, 1, 2, 1" + clock, "",
       "m5=106 send@0=0x80000,1,3 send@1=0x8000c,68,1"},
      {"put 0xa7, $m0\n---\n sendoff 0, 0, 0, 3" + clock, "m0=0x20010", "m5=39 send@1=0x80040,1,3"},
      {"send 1, 0x20000, 3\n---\n sendpic 3, 0, 5" + clock, "",
       "m5=43 send@0=0x80000,2,3 mux@2=5 send@2=0x80008,4,3"},
      {"send 1, 0x20000, 3\n---\n sendpic 3, 2, 0x13002" + clock, "",
       "m5=43 send@0=0x80000,2,3 pointer@2=0x4c008 send@2=0x80008,4,3"},
      // The second word: source 5, word address 0x20080.
      {"sendpicp 3, 0x20000, 3, 0\n .int 0x160080" + clock, "",
       "m5=41 mux@0=5 pointer@0=0x80200 send@0=0x80000,4,3"},
      {"sendpicp 0, 0, 0, 0\n .int 0x160080" + clock, "", "m5=38 mux@0=5 pointer@0=0x80200"},
  };
}

}  // namespace superstep::testing
