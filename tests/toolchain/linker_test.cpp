#include "toolchain/linker.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

using Kind = Object::RelocationKind;

constexpr std::uint32_t kLimit = 0x80000;

Object::Symbol defined(const std::string& name, std::optional<std::uint32_t> section,
                       std::uint32_t offset = 0) {
  return {name, section, offset, 0, true, true, Object::Mode::kWorker};
}
Object::Symbol undefined(const std::string& name) {
  return {name, {}, 0, 0, true, false, Object::Mode::kWorker};
}

std::vector<std::uint8_t> bytes_of(std::initializer_list<std::uint32_t> words) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t word : words) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
  return bytes;
}

LinkedCode linked(const std::vector<LinkInput>& inputs, const std::vector<std::string>& entries,
                  std::uint32_t address = 0x4c000) {
  return link(inputs, entries, gc200(), address, kLimit);
}

std::vector<std::string> errors(const std::vector<LinkInput>& inputs,
                                const std::vector<std::string>& entries) {
  try {
    (void)linked(inputs, entries);
  } catch (const UserError& error) {
    std::vector<std::string> out;
    for (const Problem& problem : error.problems()) {
      out.push_back(problem.where.text() + ": " + problem.message);
    }
    return out;
  }
  return {};
}

/// One word with one relocation to the absolute address `value`, as the link leaves it.
std::uint32_t relocated(Kind kind, std::uint32_t word, std::uint32_t value) {
  Object object;
  object.sections.push_back({".text", "ax", 8, bytes_of({word, 0})});
  object.symbols = {defined("f", 0), defined("x", std::nullopt, value)};
  object.relocations.push_back({0, 0, kind, 1, 0});
  const LinkedCode code = linked({{"a.o", object}}, {"f"});
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= static_cast<std::uint32_t>(code.bytes[static_cast<std::size_t>(i)]) << (8 * i);
  }
  return result;
}

// Words of graphcore/llvm-project-fork, lld/test/ELF (Colossus relocations).
TEST(Link, FieldsHaveThePublishedPlaces) {
  EXPECT_EQ(relocated(Kind::k19S2, 0x40800000, 0x4), 0x40800001U);
  EXPECT_EQ(relocated(Kind::k19S2, 0x40800000, 0x42000), 0x40810800U);
  EXPECT_EQ(relocated(Kind::k19S2, 0x40800000, 0xffff4), 0x4083fffdU);
  EXPECT_EQ(relocated(Kind::k19S2, 0x40800000, 0x1ffffc), 0x4087ffffU);
  EXPECT_EQ(relocated(Kind::k20, 0x19000000, 1048575), 0x190fffffU);
  constexpr std::uint32_t kBase = 0x4c000;
  EXPECT_EQ(relocated(Kind::kRun, 0x14000000, kBase + 4 * 1), 0x14000001U);
  EXPECT_EQ(relocated(Kind::kRun, 0x14000000, kBase + 4 * 4096), 0x14010000U);
  EXPECT_EQ(relocated(Kind::kRun, 0x14000000, kBase + 4 * 4660), 0x14010234U);
  EXPECT_EQ(relocated(Kind::kRun, 0x14005000, kBase + 4 * 65535), 0x140f5fffU);
}

TEST(Link, DataFieldsAreScaledAndTheirNeighboursStay) {
  EXPECT_EQ(relocated(Kind::k8, 0xaaaaaaaa, 0x7f), 0xaaaaaa7fU);
  EXPECT_EQ(relocated(Kind::k16, 0xaaaaaaaa, 0x1234), 0xaaaa1234U);
  EXPECT_EQ(relocated(Kind::k21, 0xffffffff, 0x54321), 0xffe54321U);
  EXPECT_EQ(relocated(Kind::k18S2, 0xffffffff, 0x80004), 0xfffe0001U);
  EXPECT_EQ(relocated(Kind::k32, 0xffffffff, 0x80004), 0x80004U);
  EXPECT_EQ(relocated(Kind::kRelative16S2, 0xffffffff, 0x4c010), 0xffff0004U);
  EXPECT_EQ(relocated(Kind::k16S3, 0xffffffff, 0x4c010), 0xffff9802U);
  EXPECT_EQ(relocated(Kind::k16S4, 0xffffffff, 0x80010), 0xffff8001U);
  EXPECT_EQ(relocated(Kind::k16S5, 0xffffffff, 0x80020), 0xffff4001U);
}

TEST(Link, PlacesWhatTheEntryReachesAndNothingElse) {
  Object first;
  first.sections = {{".text.a", "ax", 4, bytes_of({0x40800000})},
                    {".text.unused", "ax", 4, bytes_of({1, 2, 3})},
                    {".text.entry", "ax", 4, bytes_of({0x40800000, 0x40800000, 5})}};
  first.symbols = {defined("entry", 2), undefined("b"), defined("a", 0), defined("unused", 1),
                   defined(".Lend", 2, 8)};
  first.symbols[4].is_global = false;
  first.relocations = {{2, 0, Kind::k19S2, 2, 0}, {0, 0, Kind::k19S2, 1, 4}};
  Object second;
  second.sections = {{".text.b", "ax", 32, bytes_of({7, 8})}};
  second.symbols = {defined("b", 0)};
  const LinkedCode code = linked({{"one.o", first}, {"two.o", second}}, {"entry"}, 0x4c008);
  EXPECT_EQ(code.address, 0x4c008U);
  ASSERT_NE(code.find("a"), nullptr);
  EXPECT_EQ(code.find("a")->address, 0x4c008U);
  EXPECT_EQ(code.find("entry")->address, 0x4c00cU);
  EXPECT_EQ(code.find("b")->address, 0x4c020U);
  EXPECT_EQ(code.find("unused"), nullptr);
  EXPECT_EQ(code.end(), 0x4c028U);
  // `bri b + 4`, `bri a`
  EXPECT_EQ(code.bytes[0] | code.bytes[1] << 8 | (code.bytes[2] & 7) << 16, 0x4c024 / 4);
  EXPECT_EQ(code.bytes[4] | code.bytes[5] << 8 | (code.bytes[6] & 7) << 16, 0x4c008 / 4);
  EXPECT_EQ(code.place_of(0x4c00c), "entry");
  EXPECT_EQ(code.place_of(0x4c010), "entry+0x4");
  EXPECT_EQ(code.place_of(0x4c014), ".Lend");
  EXPECT_EQ(code.place_of(0x4c000), "0x4c000");
  EXPECT_EQ(code.place_of(0x4c028), "0x4c028");
}

TEST(Link, ReportsEverythingThatIsMissingAtOnce) {
  Object object;
  object.sections = {{".text", "ax", 4, bytes_of({0, 0})}};
  object.symbols = {defined("entry", 0), undefined("entri"), undefined("zzzzzzzz")};
  object.relocations = {{0, 0, Kind::k19S2, 1, 0}, {0, 4, Kind::k19S2, 2, 0}};
  EXPECT_EQ(errors({{"a.o", object}}, {"entry"}),
            (std::vector<std::string>{
                "a.o: undefined symbol `entri` in .text+0x0; did you mean `entry`?",
                "a.o: undefined symbol `zzzzzzzz` in .text+0x4; no source has it"}));
  EXPECT_EQ(errors({{"a.o", object}}, {"entrr"}),
            (std::vector<std::string>{
                "a.o: undefined symbol `entrr`, the entry; did you mean `entry`?"}));
  object.relocations.clear();
  EXPECT_EQ(errors({{"a.o", object}, {"b.o", object}}, {"entry"}),
            (std::vector<std::string>{"b.o: `entry` is defined here and in a.o"}));
}

TEST(Link, RefusesAddressesThatDoNotFitTheirField) {
  Object object;
  object.sections = {{".text", "ax", 4, bytes_of({0, 0, 0})}};
  object.symbols = {defined("entry", 0), defined("far", std::nullopt, 0x200000),
                    defined("odd", std::nullopt, 0x4c002)};
  object.relocations = {{0, 0, Kind::k19S2, 1, 0}, {0, 4, Kind::kRun, 2, 0}};
  EXPECT_EQ(errors({{"a.o", object}}, {"entry"}),
            (std::vector<std::string>{
                "a.o: .text+0x0: `far` is 0x200000 there, R_COLOSSUS_19_S2 takes 0x0 to 0x1ffffc, "
                "a multiple of 4",
                "a.o: .text+0x4: `odd` is 0x4c002 there, R_COLOSSUS_RUN takes 0x4c000 to 0x8bffc, "
                "a multiple of 4"}));
}

TEST(Link, CodeThatDoesNotFitSaysSo) {
  Object object;
  object.sections = {{".text", "ax", 4, std::vector<std::uint8_t>(64)}};
  object.symbols = {defined("entry", 0)};
  EXPECT_THROW((void)link(std::vector<LinkInput>{{"a.o", object}},
                          std::vector<std::string>{"entry"}, gc200(), 0x4c000, 0x4c03f),
               DoesNotFit);
}

}  // namespace
}  // namespace superstep
