// Every form of load and store, with each of its accesses misaligned, outside the memory or in the
// element of another: a trap, solo, in a bundle and in the body of an `rpt`.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "isa/instruction_word.h"
#include "isa/table.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using Addresses = std::array<std::uint32_t, 3>;

/// How a form comes by its addresses.
enum class Shape : std::uint8_t { kOne, kPacked, kDelta, kTwoDeltas };

/// A form of memory access: bytes of what it accesses, in the order of its addresses. An address
/// that is not used has 0.
struct Form {
  const isa::InstructionInfo* info;
  Shape shape;
  std::array<std::uint32_t, 3> bytes;
};

std::vector<Form> forms() {
  struct Family {
    std::string_view begin;
    Shape shape;
    std::array<std::uint32_t, 3> bytes;
  };
  // The first that fits.
  constexpr Family kFamilies[] = {{"ld2xst64pace", Shape::kPacked, {8, 8, 8}},
                                  {"ld2x64pace", Shape::kPacked, {8, 8, 0}},
                                  {"ld64a32pace", Shape::kPacked, {8, 4, 0}},
                                  {"ld64b16pace", Shape::kPacked, {8, 2, 0}},
                                  {"ldst64pace", Shape::kPacked, {8, 0, 8}},
                                  {"st64pace", Shape::kPacked, {0, 0, 8}},
                                  {"ldd16v2a32", Shape::kDelta, {4, 4, 0}},
                                  {"ldd16a32", Shape::kDelta, {2, 4, 0}},
                                  {"ldd16a64", Shape::kDelta, {2, 8, 0}},
                                  {"ldd16b16", Shape::kDelta, {2, 2, 0}},
                                  {"ld64a32", Shape::kDelta, {8, 4, 0}},
                                  {"ldb16b16", Shape::kTwoDeltas, {2, 2, 0}},
                                  {"ldz8", Shape::kOne, {1, 0, 0}},
                                  {"lds8", Shape::kOne, {1, 0, 0}},
                                  {"ldb8", Shape::kOne, {1, 0, 0}},
                                  {"ldz16", Shape::kOne, {2, 0, 0}},
                                  {"lds16", Shape::kOne, {2, 0, 0}},
                                  {"ldb16", Shape::kOne, {2, 0, 0}},
                                  {"ld32", Shape::kOne, {4, 0, 0}},
                                  {"ld64", Shape::kOne, {8, 0, 0}},
                                  {"ld128", Shape::kOne, {16, 0, 0}},
                                  {"st32", Shape::kOne, {4, 0, 0}},
                                  {"stm32", Shape::kOne, {4, 0, 0}},
                                  {"st64", Shape::kOne, {8, 0, 0}}};
  std::vector<Form> out;
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    if (info.mnemonic.ends_with("putcs")) continue;  // trap_test.cpp
    for (const Family& family : kFamilies) {
      if (!info.mnemonic.starts_with(family.begin)) continue;
      out.push_back({&info, family.shape, family.bytes});
      break;
    }
  }
  return out;
}

/// $m0 and $m1 the first two addresses, $m2 0 or deltas, $m4:5 all three packed.
std::string text_of(const Form& form) {
  std::uint32_t word = form.info->pattern.value;
  for (const isa::OperandInfo& operand : form.info->operands) {
    if (!operand.is_register) continue;
    const bool is_main = operand.file == isa::File::kMain;
    std::int64_t number = 15;
    switch (operand.letter) {
      case 'd':
        number = is_main ? 6 : 0;
        break;
      case 'e':
        number = 8;
        break;
      case 'p':
        number = form.shape == Shape::kPacked ? 4 : 0;
        break;
      case 'b':
        number = form.shape == Shape::kDelta ? 1 : 0;
        break;
      case 'o':
        number = 2;
        break;
      default:  // strides, offsets and what is stored
        number = operand.count == 2 ? 8 : 15;
        break;
    }
    word |= operand.encode(number);
  }
  return disassemble(word, 0);
}

enum class IssuedAs : std::uint8_t { kSolo, kBundle, kRepeat };

std::string cause_of(const Form& form, const Addresses& at, IssuedAs issued) {
  const std::uint32_t deltas = form.shape == Shape::kTwoDeltas ? (at[1] - at[0]) << 16 : 0;
  std::string code;
  const std::array<std::uint32_t, 3> values = {at[0], at[1], deltas};
  for (std::size_t i = 0; i < values.size(); ++i) {
    code += "ldconst $m" + std::to_string(i) + ", " + std::to_string(values[i]) + "\n";
  }
  code += "ldconst $m7, " + std::to_string(at[2]) + "\n tapack $m4:5, $m0, $m1, $m7\n";
  const std::string text = text_of(form);
  const std::string bundle = "{ " + text + " ; f32v2add $a12:13, $a10:11, $a10:11 }";
  switch (issued) {
    case IssuedAs::kSolo:
      code += text;
      break;
    case IssuedAs::kBundle:
      code += bundle;
      break;
    case IssuedAs::kRepeat:
      code += ".align 8\n nop\n rpt 1, 0\n" + bundle;
      break;
  }
  return testing::worker_cause(code + "\n exitz $mzero");
}

/// Three places in different elements; those of `ldb16b16` lie in reach of 16-bit deltas.
Addresses apart(const Form& form) {
  if (form.shape == Shape::kOne) return {0x90000, 0, 0};
  return {0x50000, form.shape == Shape::kTwoDeltas ? 0x58000U : 0x60000U, 0x80000};
}

TEST(MemoryTrap, CoversEveryFormThatAccessesMemory) {
  std::size_t expected = 0;
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    const std::string_view name = info.mnemonic;
    expected += (name.starts_with("ld") || name.starts_with("st")) && !name.ends_with("putcs");
  }
  EXPECT_EQ(forms().size(), expected);
  EXPECT_EQ(expected, 64U);  // 40 loads, 12 stores, 6 with deltas, 6 with paces
}

class EveryForm : public ::testing::TestWithParam<IssuedAs> {};

TEST_P(EveryForm, IsFineWithAlignedAddressesInDifferentElements) {
  for (const Form& form : forms()) {
    EXPECT_EQ(cause_of(form, apart(form), GetParam()), "none") << text_of(form);
  }
}

TEST_P(EveryForm, TrapsWhereAnAccessIsMisaligned) {
  for (const Form& form : forms()) {
    for (std::size_t i = 0; i < form.bytes.size(); ++i) {
      if (form.bytes[i] < 2) continue;
      Addresses at = apart(form);
      at[i] += form.bytes[i] / 2;
      // What is relative to the first address stays where it was.
      EXPECT_EQ(cause_of(form, at, GetParam()), fmt::format("a misaligned address, {:#x}", at[i]))
          << text_of(form) << i;
    }
  }
}

TEST_P(EveryForm, TrapsWhereAnAccessLiesOutsideTheMemory) {
  for (const Form& form : forms()) {
    for (std::size_t i = 0; i < form.bytes.size(); ++i) {
      if (form.bytes[i] == 0) continue;
      for (const std::uint32_t outside : {0x4c000U - form.bytes[i], 0xe8000U}) {
        Addresses at = apart(form);
        at[i] = outside;
        if (form.shape == Shape::kTwoDeltas) {
          if (i == 0) at[1] = outside + 0x8000;
          if (i == 1) at[0] = outside - 0x8000;
          if (i == 1 && outside < 0x4c000) continue;  // the first one lies lower still
        }
        EXPECT_EQ(cause_of(form, at, GetParam()),
                  fmt::format("an address outside the tile's memory, {:#x}", outside))
            << text_of(form) << i << std::hex << " at " << outside;
      }
      // The last place of the memory.
      Addresses at = apart(form);
      at[i] = 0xe8000 - form.bytes[i];
      if (form.shape == Shape::kTwoDeltas) at[1 - i] = i == 1 ? at[i] - 0x8000 : at[i];
      if (form.shape == Shape::kTwoDeltas && i == 0) continue;
      EXPECT_EQ(cause_of(form, at, GetParam()), "none") << text_of(form) << i;
    }
  }
}

TEST_P(EveryForm, TrapsWhereTwoAccessesFallOnOneElement) {
  for (const Form& form : forms()) {
    for (std::size_t i = 0; i < form.bytes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (form.bytes[i] == 0 || form.bytes[j] == 0) continue;
        Addresses at = apart(form);
        at[i] = at[j] + 0x100;
        EXPECT_EQ(cause_of(form, at, GetParam()),
                  fmt::format("two accesses of one instruction to the same memory element, "
                              "{:#x} and {:#x}",
                              at[j], at[i]))
            << text_of(form) << j << i;
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<IssuedAs>& info) {
  constexpr const char* kNames[] = {"Solo", "Bundle", "Repeat"};
  return kNames[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(MemoryTrap, EveryForm,
                         ::testing::Values(IssuedAs::kSolo, IssuedAs::kBundle, IssuedAs::kRepeat),
                         name_of);

// `ld128` needs two elements at once.
TEST(MemoryTrap, WideAccessesLieInInterleavedMemory) {
  for (const Form& form : forms()) {
    if (form.bytes[0] != 16) continue;
    EXPECT_EQ(cause_of(form, {0x50000, 0, 0}, IssuedAs::kSolo),
              "a 128-bit access outside the interleaved region, 0x50000")
        << text_of(form);
  }
}

}  // namespace
}  // namespace superstep
