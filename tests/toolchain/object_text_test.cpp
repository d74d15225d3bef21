#include "toolchain/object_text.h"

#include <gtest/gtest.h>

#include <cstring>

#include "isa/instruction_word.h"
#include "isa/table.h"
#include "toolchain/assembler/object_assembler.h"
#include "toolchain/elf.h"

namespace superstep {
namespace {

Object assembled(const std::string& text) { return assemble_object(text, "t.s").object; }

Object code_of(const std::vector<std::uint32_t>& words) {
  Object object;
  object.sections.push_back({".text", "ax", 8, {}});
  for (const std::uint32_t word : words) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      object.sections[0].bytes.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
    }
  }
  return object;
}

constexpr const char* kText =
    ".section .text.f, \"ax\"\n"
    "    .align 4\n"
    "    .globl f\n"
    "    .supervisor\n"
    "f:\n"
    "    setzi $m0, g\n"
    "    setzi $m1, .L3_4\n"
    "    call $m10, elsewhere + 0x8\n"
    ".L1_c:\n"
    "    brnz $m0, .L1_c\n"
    "    run $m0, $m1, g\n"
    "    br $m10\n"
    "    .size f, 24\n"
    ".section .text.g, \"ax\"\n"
    "    .align 8\n"
    "    .worker\n"
    "g:\n"
    ".L2_0:\n"
    "    { nop ; fnop }\n"
    "    { bri g ; f32v2add $a0:1, $a2:3, $a4:5 }\n"
    "    .int 0x3fffffff\n"
    "    exitz $m15\n"
    ".section .data.x, \"aw\"\n"
    "    .align 4\n"
    "    .int 0x7\n"
    ".L3_4:\n"
    "    .int (.L2_0 + 4)\n"
    "    .short (g)@relative@16@s2\n"
    "    .byte 0x3\n";

TEST(ObjectText, NamesTargetsAndKeepsBundlesTogether) {
  EXPECT_EQ(text_of(read_elf(write_elf(assembled(kText)), "t.o")), kText);
}

TEST(ObjectText, TheAssemblerMakesTheSameObjectOfIt) {
  const std::vector<std::uint8_t> elf = write_elf(assembled(kText));
  EXPECT_EQ(write_elf(assembled(text_of(read_elf(elf, "t.o")))), elf);
}

TEST(ObjectText, EveryInstructionComesBackAloneAndInBundles) {
  std::vector<std::uint32_t> words;
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    if (info.spec.words != 1 || info.spec.control == isa::Control::kRepeat) continue;
    for (const std::uint32_t fill : {0U, ~0U, 0x5a5a5a5aU}) {
      std::uint32_t word = info.pattern.value;
      for (const isa::OperandInfo& operand : info.operands) {
        std::uint32_t bits = fill & operand.field.mask();
        if (operand.is_register) bits = operand.count == 1 ? bits : 8;
        word |= operand.field.insert(bits);
      }
      if (isa::find_instruction(word) == &info) words.push_back(word);
    }
  }
  const std::uint32_t nop = 0x19e00000, fnop = 0x1ad00000, bundled = 0x80000000;
  std::vector<std::uint32_t> all = words;
  for (const std::uint32_t word : words) {
    const isa::InstructionInfo& info = *isa::find_instruction(word);
    if ((info.pattern.mask & bundled) != 0) continue;
    const bool is_main = info.spec.pipe == isa::Pipe::kMain;
    all.push_back((is_main ? word : nop) | bundled);
    all.push_back((is_main ? fnop : word) | bundled);
  }
  const Object object = code_of(all);
  const Object again = assembled(text_of(object));
  ASSERT_EQ(again.sections.at(0).bytes.size(), object.sections[0].bytes.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, &again.sections[0].bytes[4 * i], sizeof(word));
    EXPECT_EQ(word, all[i]) << std::hex << word << " " << all[i] << " " << disassemble(all[i], 0);
  }
}

TEST(ObjectText, WritesAsDataWhatTheAssemblerWouldRefuse) {
  // { ld32 $a1, … ; setzi $a1, 0 }, `rpt` off 8 bytes, and `rpt` before what is no bundle.
  EXPECT_EQ(text_of(code_of({0x83d1f000, 0x9a100000})),
            ".section .text, \"ax\"\n    .align 8\n    .int 0x83d1f000\n    .int 0x9a100000\n");
  EXPECT_NE(text_of(code_of({0x40000500, 0xc4203011, 0xd8e0e003})).find(".int 0x40000500"),
            std::string::npos);
  EXPECT_NE(text_of(code_of({0x19e00000, 0x40000500, 0x44203011})).find(".int 0x40000500"),
            std::string::npos);
  EXPECT_NE(text_of(code_of({0x19e00000, 0x40000500, 0xc4203011, 0xd8e0e003})).find("rpt 5, 0"),
            std::string::npos);
}

TEST(ObjectText, InstructionsInDataKeepTheBitsBesideTheFieldOfALink) {
  const Object object = assembled(
      ".data\n.byte 1\n.align 4\nx: brnz $m3, y\nrun $m1, $m2, x\n{ call $m10, x ; fnop }\n"
      ".long x@abs19@s2\n.byte 3");
  const Object again = assembled(text_of(read_elf(write_elf(object), "t.o")));
  ASSERT_EQ(again.sections.size(), object.sections.size());
  EXPECT_EQ(again.sections[1].bytes, object.sections[1].bytes);
  EXPECT_EQ(again.relocations.size(), object.relocations.size());
}

TEST(ObjectText, AnyWordsComeBack) {
  std::vector<std::uint32_t> words;
  std::uint32_t random = 1;
  for (int i = 0; i < 60'000; ++i) {
    random = random * 1664525U + 1013904223U;
    words.push_back(random ^ random >> 16);
  }
  EXPECT_EQ(assembled(text_of(code_of(words))).sections.at(0).bytes,
            code_of(words).sections[0].bytes);
}

TEST(ObjectText, CodeOfBothModesBehindOneLabelComesBack) {
  const std::vector<std::uint8_t> elf = write_elf(
      assembled(".globl f, g\n.supervisor\nf: nop\n.allow_invalid_execution_mode\n exitz $m0\n"));
  const std::string text = text_of(read_elf(elf, "t.o"));
  EXPECT_EQ(text.find("    .allow_invalid_execution_mode\n"), 0U);
  EXPECT_EQ(write_elf(assembled(text)), elf);
}

}  // namespace
}  // namespace superstep
