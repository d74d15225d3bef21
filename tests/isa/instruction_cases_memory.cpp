#include "tests/isa/instruction_case.h"

namespace superstep::testing {

namespace {

// Memory in most cases: bytes 0x81 0x7f 0xfe 0x01 | 0x10 … 0x17 | 0x20 …
const char* const kBase = "m1=0x60000 [0x60000]=0x01fe7f81,0x13121110,0x17161514,0x8000ffff";

InstructionCase with_base(const std::string& assembly, const std::string& in,
                          const std::string& out) {
  return {assembly, in + " " + kBase, out};
}

void add_loads(std::vector<InstructionCase>& cases) {
  // Base + delta + offset x size of the value.
  const auto add = [&](const std::string& assembly, const std::string& in, const std::string& out) {
    cases.push_back(with_base(assembly, in, out));
  };
  add("ld32 $m0, $m1, $m2, 1", "m2=4", "m0=0x17161514");
  add("ld32 $m0, $m1, $m2, $m3", "m2=4 m3=1", "m0=0x17161514");
  add("ld32 $m0, $m1, $m2, $m3", "m2=12 m3=-3", "m0=0x01fe7f81");
  add("ld32 $a0, $m1, $m2, 1", "m2=4", "a0=0x17161514");
  add("ld32 $a0, $m1, $m2, $m3", "m2=4 m3=1", "a0=0x17161514");
  add("ld64 $a0:1, $m1, $m2, 1", "", "a0=0x17161514,0x8000ffff");
  add("ld64 $a0:1, $m1, $m2, $m3", "m3=1", "a0=0x17161514,0x8000ffff");
  add("ldz8 $m0, $m1, $m2, 2", "", "m0=0xfe");
  add("ldz8 $m0, $m1, $m2, $m3", "m2=1 m3=1", "m0=0xfe");
  add("lds8 $m0, $m1, $m2, 0", "", "m0=0xffffff81");
  add("lds8 $m0, $m1, $m2, $m3", "m3=1", "m0=0x7f");
  add("ldz16 $m0, $m1, $m2, 7", "", "m0=0x8000");
  add("ldz16 $m0, $m1, $m2, $m3", "m3=7", "m0=0x8000");
  add("lds16 $m0, $m1, $m2, 7", "", "m0=0xffff8000");
  add("lds16 $m0, $m1, $m2, $m3", "m3=0", "m0=0x7f81");
  add("ldb8 $a0, $m1, $m2, 2", "", "a0=0xfefefefe");
  add("ldb8 $a0, $m1, $m2, $m3", "m2=4 m3=3", "a0=0x13131313");
  add("ldb16 $a0, $m1, $m2, 1", "", "a0=0x01fe01fe");
  add("ldb16 $a0, $m1, $m2, $m3", "m2=4 m3=1", "a0=0x13121312");
  // The signed step is scaled; the address is that before the step.
  add("ld32step $m0, $m1, $m2+=, 2", "m2=4", "m0=0x13121110 m2=12");
  add("ld32step $m0, $m1, $m2+=, -128", "m2=8", "m0=0x17161514 m2=-504");
  add("ld32step $m0, $m1, $m2+=, $m3", "m2=8 m3=-2", "m0=0x17161514 m2=0");
  add("ld32step $a0, $m1, $m2+=, 127", "", "a0=0x01fe7f81 m2=508");
  add("ld32step $a0, $m1, $m2+=, $m3", "m2=4 m3=1", "a0=0x13121110 m2=8");
  add("ld64step $a0:1, $m1, $m2+=, -1", "m2=8", "a0=0x17161514,0x8000ffff m2=0");
  add("ld64step $a0:1, $m1, $m2+=, $m3", "m3=3", "a0=0x01fe7f81,0x13121110 m2=24");
  add("ldz8step $m0, $m1, $m2+=, 3", "m2=2", "m0=0xfe m2=5");
  add("ldz8step $m0, $m1, $m2+=, $m3", "m2=2 m3=-1", "m0=0xfe m2=1");
  add("lds8step $m0, $m1, $m2+=, 3", "m2=2", "m0=0xfffffffe m2=5");
  add("lds8step $m0, $m1, $m2+=, $m3", "m2=2 m3=4", "m0=0xfffffffe m2=6");
  add("ldz16step $m0, $m1, $m2+=, -1", "m2=2", "m0=0x01fe m2=0");
  add("ldz16step $m0, $m1, $m2+=, $m3", "m2=2 m3=3", "m0=0x01fe m2=8");
  add("lds16step $m0, $m1, $m2+=, 1", "m2=12", "m0=0xffffffff m2=14");
  add("lds16step $m0, $m1, $m2+=, $m3", "m2=14 m3=-7", "m0=0xffff8000 m2=0");
  add("ldb16step $a0, $m1, $m2+=, 2", "m2=2", "a0=0x01fe01fe m2=6");
  add("ldb16step $a0, $m1, $m2+=, $m3", "m2=2 m3=-1", "a0=0x01fe01fe m2=0");
  add("ldb8step $a0, $m1, $m2+=, -2", "m2=2", "a0=0xfefefefe m2=0");
  add("ldb8step $a0, $m1, $m2+=, $m3", "m2=15 m3=3", "a0=0x80808080 m2=18");
  // An address wraps around at 32 bits; an address register alone is a delta too.
  add("ld32 $m0, $m1, $m2, 3", "m2=-8", "m0=0x13121110");
  add("ld32 $m1, $m1, $m2, 0", "", "m1=0x01fe7f81");
  // The register that steps may be the base, which is read before.
  add("ld32step $m0, $m15, $m1+=, 1", "", "m0=0x01fe7f81 m1=0x60004");
}

void add_wide_loads(std::vector<InstructionCase>& cases) {
  const std::string memory = " m1=0x80000 [0x80000]=1,2,3,4,5,6,7,8";
  cases.push_back({"ld128 $a0:3, $m1, $m2, 1", memory, "a0=5,6,7,8"});
  cases.push_back({"ld128 $a4:7, $m1, $m2, $m3", "m2=16 m3=-1" + memory, "a4=1,2,3,4"});
  cases.push_back({"ld128step $a8:11, $m1, $m2+=, -1", "m2=16" + memory, "a8=5,6,7,8 m2=0"});
  cases.push_back({"ld128step $a0:3, $m1, $m2+=, $m3", "m3=2" + memory, "a0=1,2,3,4 m2=32"});
  cases.push_back({"ld128 $a0:3, $m1, 0", "m1=0x60000",
                   "fault=a 128-bit access outside the interleaved region, 0x60000"});
}

void add_stores(std::vector<InstructionCase>& cases) {
  const auto add = [&](const std::string& assembly, const std::string& in, const std::string& out) {
    cases.push_back({assembly, in + " m1=0x60000 [0x60000]=9,9,9,9", out});
  };
  add("st32 $m0, $m1, $m2, 1", "m0=5 m2=4", "[0x60008]=5");
  add("st32 $a0, $m1, $m2, 1", "a0=5 m2=4", "[0x60008]=5");
  add("st32 $a0, $m1, $m2, $m3", "a0=5 m2=8 m3=-1", "[0x60004]=5");
  add("st64 $a0:1, $m1, $m2, 1", "a0=5,6", "[0x60008]=5,6");
  add("st64 $a0:1, $m1, $m2, $m3", "a0=5,6 m2=8 m3=-1", "[0x60000]=5,6");
  add("st64 $azeros, $m1, $m2, 0", "", "[0x60000]=0,0");
  add("st32step $m0, $m1, $m2+=, -1", "m0=5 m2=4", "[0x60004]=5 m2=0");
  add("st32step $a0, $m1, $m2+=, 2", "a0=5 m2=4", "[0x60004]=5 m2=12");
  add("st32step $a0, $m1, $m2+=, $m3", "a0=5 m2=4 m3=-1", "[0x60004]=5 m2=0");
  add("st64step $a0:1, $m1, $m2+=, 1", "a0=5,6", "[0x60000]=5,6 m2=8");
  add("st64step $a0:1, $m1, $m2+=, $m3", "a0=5,6 m2=8 m3=-1", "[0x60008]=5,6 m2=0");
  add("stm32 $m0, $m1, $m3", "m0=5 m3=2", "[0x60008]=5");
  add("stm32step $m0, $m1, $m3", "m0=5 m3=-2", "[0x60000]=5 m1=0x5fff8");
  // The value stored is that before the step.
  add("st32step $m2, $m1, $m2+=, 1", "m2=4", "[0x60004]=4 m2=8");
}

void add_paced(std::vector<InstructionCase>& cases) {
  const std::string memory = " [0x60000]=1,2,3,4 [0x64000]=5,6,7,8 [0x68000]=9,9 [0x68008]=9,9";
  // Selector 0 steps by one atom of 8 bytes, 1 to 3 by a signed 10-bit field of the strides.
  const std::string addresses = "m0=0x60000,0x64000";
  const auto both = [&](const std::string& selectors, const std::string& strides,
                        const std::string& after) {
    cases.push_back({"ld2x64pace $a0:1, $a2:3, $m0:1+=, $m4, " + selectors,
                     addresses + " m4=" + strides + memory, "a0=1,2,5,6 m0=" + after});
  };
  both("0", "0xffffffff", "0x60008,0x64008");
  both("1", "5", "0x60028,0x64008");  // stride 1 of the first
  both("4", "5", "0x60008,0x64028");  // of the second
  // Strides 3, 2, 1: 0x200 (-512), 0x1ff (511), 0x3ff (-1).
  both("0b1110", "0x2007ffff", "0x60ff8,0x63000");
  both("0b0111", "0x2007ffff", "0x5f000,0x63ff8");
  cases.push_back(
      {"ld2x64pace $a0:1, $a2:3, $m0:1+=, $mzero, 0b1011", addresses + memory, "a0=1,2,5,6"});
  cases.push_back(
      {"ld2x64pace $a0:1, $a2:3, $m0:1+=, $m4, 0", "m0=0x60000,0x60008" + memory,
       "fault=two accesses of one instruction to the same memory element, 0x60000 and 0x60008"});
  // Interleaved elements: neighbouring 64-bit words lie in different ones.
  cases.push_back({"ld2x64pace $a0:1, $a2:3, $m0:1+=, $m4, 0",
                   "m0=0x80000,0x80008 [0x80000]=1,2,3,4", "a0=1,2,3,4 m0=0x80008,0x80010"});
  cases.push_back(
      {"ld2x64pace $a0:1, $a2:3, $m0:1+=, $m4, 0", "m0=0x80000,0x80010",
       "fault=two accesses of one instruction to the same memory element, 0x80000 and 0x80010"});
  // A third address, as `tapack` packs it into the high bits of both words, is carried along.
  cases.push_back({"ld2x64pace $a0:1, $a2:3, $m0:1+=, $m4, 0", "m0=0x60060000,0x20064000" + memory,
                   "a0=1,2,5,6 m0=0x60060008,0x20064008"});
  // graphcore/ipu_assembly_support, ld2x64pace: the two destinations must be distinct.
  cases.push_back({"ld2x64pace $a0:1, $a0:1, $m0:1+=, $m4, 0", addresses,
                   "fault=`ld2x64pace $a0:1, $a0:1, $m0:1+=, $m4, 0` has one register twice as its "
                   "destination"});
  // The second address steps by values of its own access.
  cases.push_back({"ld64a32pace $a0:1, $a2, $m0:1+=, $m4, 0b0100", addresses + " m4=3" + memory,
                   "a0=1,2,5 m0=0x60008,0x6400c"});
  cases.push_back({"ld64b16pace $a0:1, $a2, $m0:1+=, $m4, 0b0001",
                   "m0=0x60000,0x64004 m4=3 [0x60000]=1,2,3,4 [0x64000]=5,0x00070006",
                   "a0=1,2,0x00060006 m0=0x60018,0x64006"});
  // Packed: first 0x60000, second 0x64000, third 0x68000 (low 11 bits 0, high 10 bits 0xd0).
  const std::string packed = "m0=0x60000,0x1a064000";
  cases.push_back({"ldst64pace $a0:1, $a4:5, $m0:1+=, $m4, 0", packed + " a4=7,8" + memory,
                   "a0=1,2 [0x68000]=7,8 m0=0x01060008,0x1a064000"});
  cases.push_back({"ldst64pace $a0:1, $a4:5, $m0:1+=, $m4, 0b0110",
                   packed + " a4=7,8 m4=0x7ffff" + memory,
                   "a0=1,2 [0x68000]=7,8 m0=0xff060ff8,0x19e64000"});
  cases.push_back({"st64pace $a4:5, $m0:1+=, $m4, 0", packed + " a4=7,8" + memory,
                   "[0x68000]=7,8 m0=0x01060000,0x1a064000"});
  cases.push_back({"st64pace $a4:5, $m0:1+=, $m4, 1", packed + " a4=7,8 m4=0x100" + memory,
                   "[0x68000]=7,8 m0=0x00060000,0x1a264000"});
  cases.push_back({"ld2xst64pace $a0:3, $a4:5, $m0:1+=, $m4, 0", packed + " a4=7,8" + memory,
                   "a0=1,2,5,6 [0x68000]=7,8 m0=0x01060008,0x1a064008"});
  // Selectors from the lowest: stride 1 (2 atoms) for the first, 2 (-1) for the second, 3 (4) for
  // the third.
  cases.push_back({"ld2xst64pace $a0:3, $a4:5, $m0:1+=, $m4, 0b111001",
                   packed + " a4=7,8 m4=0x004ffc02" + memory,
                   "a0=1,2,5,6 [0x68000]=7,8 m0=0x04060010,0x1a063ff8"});
  cases.push_back(
      {"ld2xst64pace $a0:3, $a4:5, $m0:1+=, $m4, 0", "m0=0x60000,0x1a068000",
       "fault=two accesses of one instruction to the same memory element, 0x68000 and 0x68000"});
}

// The pages of graphcore/ipu_assembly_support; deltas are bytes, as in graphcore/poplibs
// lib/popsparse/codelets/asm/StaticSparseDenseElementWise_half_half.S. Data at 0x60000, deltas in
// another memory element.
void add_delta_loads(std::vector<InstructionCase>& cases) {
  const auto add = [&](const std::string& assembly, const std::string& in, const std::string& out) {
    cases.push_back({assembly,
                     in + " m1=0x64000,0x60000 [0x60000]=0x01fe7f81,2,3,4 "
                          "[0x64000]=0x000c0008,0x00020004",
                     out});
  };
  add("ldd16a32 $a0, $m1++, $m2, $m3@", "m3=4", "a0=2 m1=0x64002 m3=8");
  add("ldd16a32 $a0, $m1++, $m2, $m3@", "m3=0xffff000c", "a0=4 m1=0x64002 m3=8");
  add("ldd16a64 $a0:1, $m1++, $m2, $m3@", "m3=8", "a0=3,4 m1=0x64002 m3=8");
  add("ldd16b16 $a0, $m1++, $m2, $m3@", "m3=2", "a0=0x01fe01fe m1=0x64002 m3=8");
  add("ldd16v2a32 $a0, $m1++, $m2, $m3@", "m3=0x0004000c", "a0=2 m1=0x64004 m3=0x000c0008");
  add("ld64a32 $a0:3, $m1++, $m2, $m3", "m3=0x0004000c a0=7,7,7,7",
      "a0=7,4,0x000c0008,0x00020004 m1=0x64008");
  // One delta steps by a half word, the other by a 4-bit number of them.
  add("ldb16b16 $a0:1, $m2, $m3++, $m5>>", "m3=0x40000002 m5=0x50000023",
      "a0=0x01fe01fe,0x00080008 m3=0x40060004 m5=0x05000002");
  const std::string conflict =
      "fault=two accesses of one instruction to the same memory element, 0x64000 and 0x64000";
  add("ldd16a32 $a0, $m1++, $m2, $m3@", "m3=0x4000", conflict);
  add("ldd16v2a32 $a0, $m1++, $m2, $m3@", "m3=0x40000000", conflict);
  add("ld64a32 $a0:3, $m1++, $m2, $m3", "m3=0x4000", conflict);
}

void add_faults(std::vector<InstructionCase>& cases) {
  const auto fault = [&](const std::string& assembly, const std::string& address,
                         const std::string& cause) {
    cases.push_back({assembly, "m1=" + address, "fault=" + cause + ", " + address});
  };
  const std::string misaligned = "a misaligned address";
  const std::string outside = "an address outside the tile's memory";
  fault("ld32 $m0, $m1, 0", "0x60002", misaligned);
  fault("ldz16 $m0, $m1, 0", "0x60001", misaligned);
  fault("ld64 $a0:1, $m1, 0", "0x60004", misaligned);
  fault("ld128 $a0:3, $m1, 0", "0x80008", misaligned);
  fault("st64 $a0:1, $m1, $m15, 0", "0x60004", misaligned);
  fault("ld32 $m0, $m1, 0", "0x0", outside);
  fault("ldz8 $m0, $m1, 0", "0x4bfff", outside);
  fault("ldz8 $m0, $m1, 0", "0xe8000", outside);
  fault("st32 $m0, $m1, $m15, 0", "0xe8000", outside);
  fault("ld32 $m0, $m1, 0", "0xfffffffc", outside);
}

}  // namespace

std::vector<InstructionCase> memory_cases() {
  std::vector<InstructionCase> cases;
  add_loads(cases);
  add_wide_loads(cases);
  add_stores(cases);
  add_paced(cases);
  add_delta_loads(cases);
  add_faults(cases);
  return cases;
}

}  // namespace superstep::testing
