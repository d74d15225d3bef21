#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "isa/instruction_word.h"
#include "isa/table.h"
#include "tests/isa/published_words.h"
#include "toolchain/assembler.h"

namespace superstep {
namespace {

std::uint32_t word_of(const std::string& text) {
  const Assembly code = assemble(text, "test.S");
  return code.words.empty() ? 0 : code.words[0];
}

const isa::InstructionInfo& record_of(const std::string& text) {
  return *isa::find_instruction(word_of(text));
}

TEST(Encoding, RecordsKnowWhatTheyDoToMemory) {
  EXPECT_EQ(record_of("ld64step $a0:1, $mzero, $m0+=, 1").memory, isa::Memory::kLoad);
  EXPECT_EQ(record_of("st32 $a0, $m0, $mzero, 0").memory, isa::Memory::kStore);
  EXPECT_EQ(record_of("ldst64pace $a0:1, $a2:3, $m0:1+=, $m2, 0").memory, isa::Memory::kBoth);
  EXPECT_EQ(record_of("f32v2add $a0:1, $a2:3, $a4:5").memory, isa::Memory::kNone);
}

TEST(Encoding, RecordsKnowStateThatTheirOperandsDoNotShow) {
  for (const char* text :
       {"f32v2gina $a0:1, $azeros, 0", "f16v8acc $a0:3", "f32v2axpy $a0:1, $a2:3, $a4:5",
        "urand32 $a0", "uput $TAS, $a0", "get $m0, $WSR", "brz $m0, 0"}) {
    EXPECT_TRUE(record_of(text).has_hidden_state) << text;
  }
  for (const char* text : {"f16v4add $a0:1, $a2:3, $a4:5", "f32exp $a0, $a1", "add $m0, $m1, 1",
                           "ld32 $m0, $m1, $mzero, 0", "f32v2tof16 $a0, $a2:3"}) {
    EXPECT_FALSE(record_of(text).has_hidden_state) << text;
  }
}

// Words: graphcore/llvm-project-fork llvm/test (objdump and MC tests) and osmarks/ipu-stack.
TEST(Encoding, GivesThePublishedWords) {
  EXPECT_EQ(word_of("add $m1, $m2, $m3"), 0x44203011U);
  EXPECT_EQ(word_of("exitz $mzero"), 0x43f04000U);
  EXPECT_EQ(word_of("br $m10"), 0x43a00000U);
  EXPECT_EQ(word_of("setzi $m3, 0x12345"), 0x19312345U);
  EXPECT_EQ(word_of("setzi $a3, 0x12345"), 0x1a312345U);
  EXPECT_EQ(word_of("brnzdec $m1, 0x4c568"), 0x1319315aU);
  EXPECT_EQ(word_of("st64 $a2:3, $m2, $m15, 0"), 0x5f20f020U);
  EXPECT_EQ(word_of("f32v2add $a0:1, $a14:15, $a14:15"), 0x58e0e003U);
  EXPECT_EQ(word_of("f32v2mul $a2:3, $a4:5, $a6:7"), 0x58406323U);
  EXPECT_EQ(word_of("sync 3"), 0x41800003U);
  EXPECT_EQ(word_of("sans 1"), 0x40c00001U);
  EXPECT_EQ(word_of("put 0xa0, $m4"), 0x434080a0U);
}

/// Whether the toolchain takes another form for the text of this word: the signed one of two 16-bit
/// immediates, the lower one of two 12-bit ones.
bool is_second_choice(std::uint32_t word) {
  static const std::set<std::string_view> kTwoForms = {"add", "cmpeq", "max", "min", "sub"};
  const isa::InstructionInfo& info = *isa::find_instruction(word);
  if (info.spec.syntax.ends_with("i<<20")) return info.operands[2].decode(word) == 0;
  if (!kTwoForms.contains(info.mnemonic)) return false;
  const isa::OperandInfo& last = info.operands[info.mnemonic == "sub" ? 1 : 2];
  return !last.is_register && !last.is_signed && last.decode(word) < 0x8000;
}

TEST(Encoding, WritesThePublishedWordsAsTheToolchainDoes) {
  for (const auto& [word, text] : testing::published_words()) {
    EXPECT_EQ(disassemble(word, 0), text) << std::hex << word;
  }
}

TEST(Encoding, ReadsThePublishedTexts) {
  for (const auto& [word, text] : testing::published_words()) {
    const bool repeats = isa::find_instruction(word)->spec.control == isa::Control::kRepeat;
    if (repeats || is_second_choice(word)) continue;
    EXPECT_EQ(word_of(text), word) << text;
  }
}

// Of every form that is called published the sample has a word.
TEST(Encoding, HasAWordOfEveryPublishedForm) {
  std::set<std::size_t> seen;
  for (const auto& [word, text] : testing::published_words()) {
    const isa::InstructionInfo* info = isa::find_instruction(word);
    if (info != nullptr) seen.insert(info->number);
  }
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    if (info.spec.encoding_source != isa::Source::kPublished) continue;
    EXPECT_TRUE(seen.contains(info.number)) << info.spec.syntax << " " << info.spec.encoding;
  }
}

TEST(Encoding, MarksBothHalvesOfABundle) {
  const Assembly code =
      assemble("{ add $m1, $m2, $m3\n  f32v2add $a0:1, $a14:15, $a14:15 }", "test.S");
  ASSERT_EQ(code.words.size(), 2U);
  EXPECT_EQ(code.words[0], 0xc4203011U);
  EXPECT_EQ(code.words[1], 0xd8e0e003U);
}

TEST(Encoding, EncodesByMnemonicOrByWholeSyntax) {
  EXPECT_EQ(encode("setzi", {3, 0x12345}), 0x19312345U);
  EXPECT_EQ(encode("add $d, $a, $b", {1, 2, 3}), 0x44203011U);
  EXPECT_EQ(encode("ld32", {1, 2, 15, 5}), word_of("ld32 $m1, $m2, $mzero, 5"));
  EXPECT_EQ(encode("st32", {1, 2, 15, 5}), word_of("st32 $m1, $m2, $mzero, 5"));
  EXPECT_EQ(encode("add", {1, 1, -4}), word_of("add $m1, $m1, -4"));
}

// Immediates at their greatest: small ones fit several forms of one mnemonic.
TEST(Encoding, EveryInstructionSurvivesTheDisassemblerAndTheAssembler) {
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    if (info.spec.control == isa::Control::kRepeat) continue;
    for (const std::int64_t number : {0, 4, 8}) {
      std::uint32_t word = info.pattern.value;
      for (const isa::OperandInfo& operand : info.operands) {
        word |= operand.is_register ? operand.encode(number)
                                    : operand.field.insert(operand.field.mask());
      }
      const std::string text = disassemble(word, 0x4c000);
      EXPECT_EQ(word_of(text), word) << info.spec.syntax << " as " << text;
    }
  }
}

TEST(Encoding, WritesAnUnknownWordAsData) {
  EXPECT_EQ(disassemble(0x3fffffff, 0), ".word 0x3fffffff");
}

TEST(Encoding, RelocatesBranchesAndSetzi) {
  const Assembly code = assemble("nop\nloop: bri loop\n setzi $m1, loop", "test.S");
  ASSERT_EQ(code.relocations, (std::vector<std::uint32_t>{1, 2}));
  const std::vector<std::uint32_t> words = code.words_at(0x4c000);
  EXPECT_EQ(words[0], code.words[0]);
  EXPECT_EQ(words[1] & 0x7ffffU, (0x4c000U + 4) / 4);
  EXPECT_EQ(words[2], 0x1914c004U);
  EXPECT_EQ(code.symbols.at("loop"), 4U);
}

}  // namespace
}  // namespace superstep
