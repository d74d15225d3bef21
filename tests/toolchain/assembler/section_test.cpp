#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/toolchain/assembler/assembling.h"

namespace superstep {
namespace {

using Kind = Object::RelocationKind;

TEST(AssemblerSections, KeepTheirNamesFlagsAndOrder) {
  const Object object = object_of(
      ".section .text.one, \"ax\"\n nop\n.section \".data.two\", \"a\", @progbits\n.int 7\n"
      ".section .text.one\n fnop");
  ASSERT_EQ(object.sections.size(), 3U);
  EXPECT_EQ(object.sections[1].name, ".text.one");
  EXPECT_EQ(object.sections[1].flags, "ax");
  EXPECT_EQ(object.sections[1].bytes.size(), 8U);
  EXPECT_EQ(object.sections[2].name, ".data.two");
  EXPECT_EQ(object.sections[2].flags, "a");
}

TEST(AssemblerSections, HaveTheFlagsThatAreGiven) {
  const Object object = object_of(".section .text.a\n.section .text.b, \"\"\n.section .x, \"axG\"");
  ASSERT_EQ(object.sections.size(), 4U);
  EXPECT_EQ(object.sections[1].flags, "ax");
  EXPECT_EQ(object.sections[2].flags, "");
  EXPECT_EQ(object.sections[3].flags, "axG");
  EXPECT_NE(problems_of(".section .x, \"ab\"").at(0).find("`b` is no flag of a section"),
            std::string::npos);
}

TEST(AssemblerSections, ComeBackAfterOthers) {
  const Object object =
      object_of("nop\n.pushsection .data\n.int 1\n.popsection\nnop\n.data\n.int 2\n.previous\nnop");
  EXPECT_EQ(object.sections[0].bytes.size(), 12U);
  EXPECT_EQ(object.sections[1].bytes.size(), 8U);
}

TEST(AssemblerSections, AlignCodeWithNopsAndDataWithZeros) {
  // graphcore/llvm-project-fork llvm/test/MC/Colossus: padding that is no multiple of 4 begins
  // with zero bytes.
  const Object object = object_of(".byte 1\n.align 8\n nop\n.data\n.byte 1\n.align 4\n.byte 2");
  const std::vector<std::uint8_t>& code = object.sections[0].bytes;
  ASSERT_EQ(code.size(), 12U);
  EXPECT_EQ(std::vector<std::uint8_t>(code.begin(), code.begin() + 4),
            (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_TRUE(std::equal(code.begin() + 4, code.begin() + 8, code.begin() + 8));
  EXPECT_EQ(object.sections[0].alignment, 8U);
  EXPECT_EQ(object.sections[1].bytes, (std::vector<std::uint8_t>{1, 0, 0, 0, 2}));
  EXPECT_NE(problems_of(".align 3").at(0).find("power of two"), std::string::npos);
}

TEST(AssemblerSections, WithARepeatBeginAtEightBytes) {
  EXPECT_EQ(object_of("nop\nrpt $m0, 0\n{ nop ; fnop }").sections[0].alignment, 8U);
  EXPECT_EQ(object_of("nop").sections[0].alignment, 4U);
}

TEST(AssemblerData, HasEveryWidth) {
  const Object object = object_of(
      ".data\n.byte 1, -1\n.short 0x102\n.half 1.0h\n.int 5\n.quad -2\n.float 1.5, -2\n"
      ".ascii \"a\\n\\x41\\101\"\n.string \"b\"\n.zero 2\n.space 2, 9\n.fill 2, 2, 0x304");
  const std::vector<std::uint8_t> expected = {
      1,    255,  2,    1,    0, 0x3c, 5,    0,    0, 0, 0xfe, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff, 0xff, 0, 0,    0xc0, 0x3f, 0, 0, 0,    0xc0, 'a',  '\n',
      'A',  'A',  'b',  0,    0, 0,    9,    9,    4, 3, 4,    3};
  EXPECT_EQ(object.sections.at(1).bytes, expected);
}

TEST(AssemblerData, IsRefusedWhereItDoesNotFit) {
  EXPECT_NE(problems_of(".byte 256").at(0).find("256 does not fit 8 bits"), std::string::npos);
  EXPECT_NE(problems_of(".int 4294967296").at(0).find("does not fit"), std::string::npos);
  EXPECT_NE(problems_of(".zero 999999999999").at(0).find("more than 16 MiB"), std::string::npos);
  EXPECT_NE(problems_of(".ascii bare").at(0).find("string in quotes"), std::string::npos);
  EXPECT_NE(problems_of(".byte 1\nnop").at(0).find("multiple of 4"), std::string::npos);
}

TEST(AssemblerSymbols, CarryTheirSectionOffsetSizeAndMode) {
  const Object object = object_of(
      ".globl f, g\n.type f, @function\n.supervisor\nf: nop\n.size f, . - f\n.worker\ng: nop\nnop\n"
      "local: nop\n.Lhidden: nop\n.size g, . - g");
  const Object::Symbol* f = symbol_of(object, "f");
  const Object::Symbol* g = symbol_of(object, "g");
  ASSERT_TRUE(f != nullptr && g != nullptr);
  EXPECT_TRUE(f->is_global);
  EXPECT_EQ(f->size, 4U);
  EXPECT_EQ(f->mode, Object::Mode::kSupervisor);
  EXPECT_EQ(g->offset, 4U);
  EXPECT_EQ(g->size, 16U);
  EXPECT_EQ(g->mode, Object::Mode::kWorker);
  ASSERT_NE(symbol_of(object, "local"), nullptr);
  EXPECT_FALSE(symbol_of(object, "local")->is_global);
  EXPECT_EQ(symbol_of(object, ".Lhidden"), nullptr);
}

TEST(AssemblerSymbols, HaveTheModeOfWhatFollowsThem) {
  const Object object = object_of("f:\n.supervisor\nnop\n.worker\ng: nop\nh:\n.supervisor\nnop");
  EXPECT_EQ(symbol_of(object, "f")->mode, Object::Mode::kSupervisor);
  EXPECT_EQ(symbol_of(object, "g")->mode, Object::Mode::kWorker);
  EXPECT_EQ(symbol_of(object, "h")->mode, Object::Mode::kSupervisor);
}

// Who has which: graphcore/llvm-project-fork llvm/test/MC/Colossus/csrs_ipu21.s and
// csr-mode-checking.s.
TEST(AssemblerModes, HaveOnlyTheirOwnControlRegisters) {
  const auto problem = [](const std::string& text) {
    const std::vector<std::string> problems = problems_of(text);
    return problems.size() == 1 ? problems[0] : std::to_string(problems.size()) + " problems";
  };
  EXPECT_EQ(problem(".worker\nput $CCCSLOAD, $m0"),
            "test.S:2:5 `$CCCSLOAD` is a register of the supervisor; this is `.worker` code");
  EXPECT_EQ(problem(".worker\n get $m0, $CTXT_STS"),
            "test.S:2:11 `$CTXT_STS` is a register of the supervisor; this is `.worker` code");
  EXPECT_EQ(problem(".supervisor\nget $m0, $WSR"),
            "test.S:2:10 `$WSR` is a register of workers; this is `.supervisor` code");
  EXPECT_EQ(problem(".supervisor\nget $m0, COUNT_L"),
            "test.S:2:10 `$COUNT_L` is a register of workers; this is `.supervisor` code");
  EXPECT_EQ(problem("put $WSR, $m0"), "test.S:1:5 `$WSR` can only be read");
  EXPECT_EQ(problem(".supervisor\nput $TILE_ID, $m0"), "test.S:2:5 `$TILE_ID` can only be read");
  EXPECT_EQ(problem("put $FP_CTL, $m0"),
            "test.S:1:5 `$FP_CTL` is read by `uget` and written by `uput`, with an $a register");
  EXPECT_EQ(problem("uget $a0, $WSR"),
            "test.S:1:11 `$WSR` is read by `get` and written by `put`, with an $m register");
  EXPECT_NO_THROW(object_of(
      ".worker\nget $m0, $WSR\nget $m1, $COUNT_L\nput $TAS, $a0\nuget $a1, $FP_STS\nput 80, $m0\n"
      ".supervisor\nget $m0, $SCOUNT_L\nput $CCCSLOAD, $m0\nput $CR, $m0\nput $WORKER6_BASE, $m0"));
  EXPECT_NO_THROW(object_of(".worker\n.allow_invalid_execution_mode\nput $CCCSLOAD, $m0"));
  // A name of the text hides the register's.
  EXPECT_NO_THROW(object_of(".worker\n.set CR, 8\nget $m0, CR"));
}

TEST(AssemblerModes, HaveOnlyTheirOwnInstructions) {
  EXPECT_EQ(problems_of(".supervisor\nnop\n  f32add $a0, $a1, $a2").at(0),
            "test.S:3:3 `f32add` is for workers only; this is `.supervisor` code");
  EXPECT_EQ(problems_of(".supervisor\nand $a0, $a1, $a2").at(0),
            "test.S:2:1 this form of `and` is for workers only; this is `.supervisor` code");
  EXPECT_EQ(problems_of(".supervisor\n.worker\nsync 2").at(0),
            "test.S:3:1 `sync` is for the supervisor only; this is `.worker` code");
  // A label that comes later: the mode is that where the instruction stands.
  EXPECT_EQ(problems_of(".worker\nrun $m0, $m1, f\n.supervisor\n.set f, 4").at(0),
            "test.S:2:1 `run` is for the supervisor only; this is `.worker` code");
  EXPECT_NO_THROW(object_of("sync 2\nf32add $a0, $a1, $a2"));
  EXPECT_NO_THROW(object_of(".worker\n.allow_invalid_execution_mode\nsync 2"));
  EXPECT_EQ(problems_of(".worker\n.allow_invalid_execution_mode\n"
                        ".error_on_invalid_execution_mode\nsync 2")
                .size(),
            1U);
}

TEST(AssemblerRelocations, NameTheSectionOfALabelOrAnOtherObject) {
  const Object object = object_of(
      ".section .text.a, \"ax\"\n nop\nhere: bri here\n call $lr, elsewhere\n setzi $m0, here + 8");
  ASSERT_EQ(object.relocations.size(), 3U);
  const auto& [branch, call, address] =
      std::tie(object.relocations[0], object.relocations[1], object.relocations[2]);
  EXPECT_EQ(branch.kind, Kind::k19S2);
  EXPECT_EQ(branch.offset, 4U);
  EXPECT_EQ(branch.addend, 4);
  EXPECT_EQ(object.symbols[branch.symbol].name, ".text.a");
  EXPECT_EQ(call.kind, Kind::k19S2);
  EXPECT_EQ(object.symbols[call.symbol].name, "elsewhere");
  EXPECT_FALSE(object.symbols[call.symbol].is_defined);
  EXPECT_EQ(address.kind, Kind::k20);
  EXPECT_EQ(address.addend, 12);
}

TEST(AssemblerRelocations, HaveTheKindsOfDataPointers) {
  // graphcore/llvm-project-fork llvm/test/MC/Colossus: modifiers of symbols in data.
  const Object object = object_of(
      ".data\n.int x\n.short x\n.byte x\n.quad x + 1\n.short (x + 4)@relative@16@s2\n"
      ".long x@abs18@s2, x@abs19@s2\n.long x@abs@21");
  std::vector<Kind> kinds;
  for (const Object::Relocation& relocation : object.relocations) kinds.push_back(relocation.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::k32, Kind::k16, Kind::k8, Kind::k64,
                                      Kind::kRelative16S2, Kind::k18S2, Kind::k19S2, Kind::k21}));
  EXPECT_EQ(object.relocations[3].addend, 1);
  EXPECT_EQ(object.relocations[4].addend, 4);
  EXPECT_NE(problems_of(".int x@abs99").at(0).find("are known"), std::string::npos);
}

TEST(AssemblerRelocations, DoNotExistForOtherFields) {
  EXPECT_NE(problems_of("ld32 $m0, $m1, later").at(0).find("1:16 `later` is not defined"),
            std::string::npos);
  EXPECT_NE(problems_of("here: ld32 $m0, $m1, here").at(0).find("a label where `ld32` takes"),
            std::string::npos);
}

TEST(AssemblerSymbols, AreDefinedOnce) {
  EXPECT_EQ(problems_of("a: nop\na: nop").at(0),
            "test.S:2:1 `a` is defined twice, first at test.S:1:1");
  EXPECT_NE(problems_of("a: nop\n.equ a, 1").at(0).find("is a label already"), std::string::npos);
}

}  // namespace
}  // namespace superstep
