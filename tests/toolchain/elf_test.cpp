#include "toolchain/elf.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace superstep {
namespace {

using Kind = Object::RelocationKind;

Object sample() {
  Object object;
  object.sections.push_back({".text.entry", "ax", 8, {1, 2, 3, 4, 5, 6, 7, 8}});
  object.sections.push_back({".rodata", "a", 4, {0, 0, 0, 0, 9}});
  object.symbols.push_back({".rodata", 1, 0, 0, false, true, Object::Mode::kWorker});
  object.symbols.push_back({"entry", 0, 0, 8, true, true, Object::Mode::kSupervisor});
  object.symbols.push_back({"elsewhere", {}, 0, 0, true, false, Object::Mode::kWorker});
  object.symbols.push_back({"constant", {}, 77, 0, false, true, Object::Mode::kWorker});
  object.relocations.push_back({0, 4, Kind::k19S2, 2, 0});
  object.relocations.push_back({1, 0, Kind::k32, 0, -4});
  return object;
}

std::string described(const Object& object) {
  std::string text;
  for (const Object::Section& s : object.sections) {
    text += s.name + "/" + s.flags + "/" + std::to_string(s.alignment) + "/";
    for (const std::uint8_t byte : s.bytes) text += std::to_string(byte) + " ";
    text += "\n";
  }
  const auto name_of_symbol = [](const Object::Symbol& s) {
    return s.name + "/" + (s.section ? std::to_string(*s.section) : "-") + "/" +
           std::to_string(s.offset) + "/" + std::to_string(s.size) + "/" +
           std::to_string(s.is_global) + std::to_string(s.is_defined) +
           std::to_string(static_cast<int>(s.mode));
  };
  // Local symbols first, as in the file.
  for (const bool global : {false, true}) {
    for (const Object::Symbol& s : object.symbols) {
      if (s.is_global == global) text += name_of_symbol(s) + "\n";
    }
  }
  for (const Object::Relocation& r : object.relocations) {
    text += std::to_string(r.section) + "+" + std::to_string(r.offset) + " " + name_of(r.kind) +
            " " + name_of_symbol(object.symbols.at(r.symbol)) + " " + std::to_string(r.addend) +
            "\n";
  }
  return text;
}

std::string error_of(const std::vector<std::uint8_t>& bytes) {
  try {
    (void)read_elf(bytes, "x.o");
  } catch (const UserError& error) {
    return error.problems().at(0).where.text() + ": " + error.problems().at(0).message;
  }
  return "";
}

TEST(Elf, WhatIsWrittenIsReadBack) {
  const std::vector<std::uint8_t> bytes = write_elf(sample());
  EXPECT_EQ(described(read_elf(bytes, "x.o")), described(sample()));
}

TEST(Elf, TheHeaderIsThatOfTheMachine) {
  const std::vector<std::uint8_t> bytes = write_elf(sample());
  ASSERT_GT(bytes.size(), 52U);
  const std::vector<std::uint8_t> ident(bytes.begin(), bytes.begin() + 8);
  EXPECT_EQ(ident, (std::vector<std::uint8_t>{0x7f, 'E', 'L', 'F', 1, 1, 1, 0xff}));
  EXPECT_EQ(bytes[16] | bytes[17] << 8, 1);     // relocatable
  EXPECT_EQ(bytes[18] | bytes[19] << 8, 0xf8);  // the IPU
  EXPECT_EQ(bytes[36], 2);                      // for the Mk2
}

TEST(Elf, ForeignAndTruncatedFilesAreRefusedWithTheirPlace) {
  const std::vector<std::uint8_t> good = write_elf(sample());
  EXPECT_EQ(error_of({}), "x.o: no ELF file: it does not begin with 7f 45 4c 46");
  std::vector<std::uint8_t> bytes(good.begin(), good.begin() + 20);
  EXPECT_EQ(error_of(bytes),
            "x.o: the ELF header at byte 0x0 needs 52 bytes; the file ends at 0x14");
  bytes = good;
  bytes[18] = 62;
  EXPECT_EQ(error_of(bytes), "x.o: an ELF file for machine 0x3e; the IPU's is 0xf8");
  bytes = good;
  bytes[4] = 2;
  EXPECT_NE(error_of(bytes).find("32-bit and little endian"), std::string::npos);
  bytes.assign(good.begin(), good.end() - 1);
  EXPECT_NE(error_of(bytes).find("x.o: the table of sections at byte"), std::string::npos);
}

}  // namespace
}  // namespace superstep
