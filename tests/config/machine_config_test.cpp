#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "isa/machine_config.h"
#include "isa/machine_keys.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

class MachineFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const auto path = scratch_folder() / ("machine_" + std::to_string(++count_) + ".toml");
    std::ofstream(path) << text;
    return path.string();
  }
  std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
      (void)load_machine(write(text), overrides);
    } catch (const UserError& error) {
      code_ = error.code();
      return error.what();
    }
    return "no error";
  }
  /// The exit code of the last error.
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  int count_ = 0;
  ExitCode code_ = ExitCode::kOk;
};

/// Overrides of a builtin machine: exit code and text of the error.
std::pair<ExitCode, std::string> refusal(const std::string& machine,
                                         const std::vector<std::string>& overrides) {
  try {
    (void)load_machine(machine, overrides);
  } catch (const UserError& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::kOk, "no error"};
}

::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << part << "' is not in:\n" << text;
}

TEST(Builtin, BowIsTheMk2ArrayAt1850Megahertz) {
  const MachineConfig bow = load_machine("bow");
  EXPECT_EQ(bow.name, "bow");
  EXPECT_EQ(bow.tiles(), 1472u);
  EXPECT_EQ(bow.tile.clock_hz, 1'850'000'000u);
  EXPECT_EQ(bow.memory_end(), 0xe8000u);
}

TEST(Builtin, EveryMachineReadsBackFromItsOwnToml) {
  for (const std::string& name : builtin_machines()) {
    const MachineConfig machine = load_machine(name);
    const auto path = scratch_folder() / (name + "_printed.toml");
    std::ofstream(path) << to_toml(machine);
    EXPECT_EQ(to_toml(load_machine(path.string())), to_toml(machine)) << name;
  }
}

TEST(Problems, OfAMachineThatNobodyFilledInAreItsNumbers) {
  std::set<std::string> keys;
  for (const BrokenRule& broken : problems(MachineConfig())) keys.insert(broken.keys[0]);
  for (const char* key : {"grid.rows", "grid.columns", "tile.workers", "tile.memory",
                          "costs.f32exp", "exchange.width", "host.links"})
    EXPECT_TRUE(keys.contains(key)) << key;
}

TEST_F(MachineFile, ReportsAllMistakesAtOnceWithPlaceAndSuggestion) {
  const std::string text = error_of(
      "extends = \"builtin:tiny4\"\n[tile]\nwrokers = 6\nmemory = 624\nclock = \"2 KB\"\n");
  EXPECT_NE(text.find(":3:1: error: unknown key 'tile.wrokers'; did you mean 'tile.workers'?"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(":4:1: error: 'tile.memory' needs a unit, as in \"624 KiB\"; it is "),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(":5:1: error: 'tile.clock': unknown unit 'KB'; write KiB (1024) or kB (1000)"),
      std::string::npos)
      << text;
}

TEST_F(MachineFile, RefusesAValueOutOfRange) {
  EXPECT_NE(
      error_of("[tile]\nworkers = 0\n").find("'tile.workers' must be a whole number from 1 to 16"),
      std::string::npos);
}

TEST_F(MachineFile, RefusesABrokenRuleBetweenKeys) {
  EXPECT_NE(error_of("[tile]\nelement = \"3000 B\"\n").find("tile.element must be a power of two"),
            std::string::npos);
}

TEST_F(MachineFile, ExtendsAFileBesideIt) {
  const std::string base = write("extends = \"builtin:tiny4\"\n[tile]\nworkers = 4\n");
  const std::string file = write("extends = \"" + std::filesystem::path(base).filename().string() +
                                 "\"\nname = \"mine\"\n");
  const MachineConfig machine = load_machine(file);
  EXPECT_EQ(machine.tile.workers, 4u);
  EXPECT_EQ(machine.tiles(), 4u);
  EXPECT_EQ(machine.name, "mine");
}

TEST_F(MachineFile, ACircleOfExtendsIsAnError) {
  const auto path = scratch_folder() / "circle.toml";
  std::ofstream(path) << "extends = \"circle.toml\"\n";
  try {
    (void)load_machine(path.string());
    FAIL();
  } catch (const MalformedInput& error) {
    ASSERT_EQ(error.problems().size(), 1U) << error.what();
    EXPECT_TRUE(contains(error.what(), "'extends' comes back to '")) << error.what();
  }
}

TEST(Machine, UnknownNameSuggestsABuiltin) {
  try {
    (void)load_machine("bwo");
    FAIL();
  } catch (const MalformedInput& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'bow'?"), std::string::npos)
        << error.what();
  }
}

TEST(Builtin, EveryNumberNamesItsSource) {
  for (const std::string& name : builtin_machines()) {
    const MachineSources sources = machine_sources(name);
    for (const ConfigKey& key : config_keys(load_machine(name))) {
      ASSERT_TRUE(sources.contains(key.key)) << name << " " << key.key;
      const std::string kind = sources.at(key.key).substr(0, sources.at(key.key).find(':'));
      EXPECT_NE(std::ranges::find(source_kinds(), kind), source_kinds().end()) << kind;
      EXPECT_NE(kind, "user") << name << " " << key.key;
    }
  }
}

TEST(Limit, OfMk2AreNamedWhereItIsAskedFor) {
  const std::string mk2 = "isa.encoding=mk2";
  EXPECT_EQ(load_machine("gc200", {"grid.rows=24", mk2}).tiles(), 1536U);
  const auto [code, text] = refusal("gc200", {"grid.rows=25", mk2});
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_TRUE(contains(text,
                       "grid.rows 25 x grid.columns 16 x grid.lanes 4 = 1600 tiles; exchange muxes "
                       "name at most 1536 with isa.encoding = \"mk2\" and 8192 with \"wide\""))
      << text;
  EXPECT_EQ(load_machine("gc200", {"tile.memory=720 KiB", mk2}).memory_end(), 0x100000U);
  EXPECT_TRUE(contains(refusal("gc200", {"tile.memory=736 KiB", mk2}).second,
                       "ends at 0x104000; addresses reach at most 0x100000 with"));
  EXPECT_EQ(load_machine("gc200", {"tile.workers=8", mk2}).tile.workers, 8U);
  EXPECT_TRUE(contains(refusal("gc200", {"tile.workers=9", mk2}).second,
                       "tile.workers = 9; their numbers have room for at most 8"));
}

TEST(Limit, OfTheWideEncodingAreThoseOfEveryMachine) {
  EXPECT_EQ(load_machine("gc200", {"grid.rows=128"}).tiles(), 8192U);
  EXPECT_TRUE(contains(refusal("gc200", {"grid.rows=129"}).second, "= 8256 tiles"));
  EXPECT_EQ(load_machine("gc200", {"tile.memory=1744 KiB"}).memory_end(), 0x200000U);
  EXPECT_TRUE(contains(refusal("gc200", {"tile.memory=1760 KiB"}).second,
                       "ends at 0x204000; addresses reach at most"));
}

TEST(Encoding, IsWideWhereThatOfABuiltinMachineHasNoRoom) {
  EXPECT_EQ(load_machine("gc200", {"grid.rows=24"}).isa.encoding, Encoding::kMk2);
  for (const char* beyond : {"grid.rows=25", "tile.memory=736 KiB", "tile.workers=9"}) {
    EXPECT_EQ(load_machine("gc200", {beyond}).isa.encoding, Encoding::kWide) << beyond;
    const std::string source = machine_sources("gc200", {beyond}).at("isa.encoding");
    EXPECT_TRUE(contains(source, "derived: ")) << source;
    EXPECT_TRUE(contains(source, "with isa.encoding = \"mk2\"")) << source;
  }
  EXPECT_EQ(load_machine("gc200", {"grid.rows=25", "grid.lanes=2"}).isa.encoding, Encoding::kMk2);
  EXPECT_EQ(load_machine("gc200", {"isa.encoding=wide"}).isa.encoding, Encoding::kWide);
  EXPECT_TRUE(contains(refusal("gc200", {"isa.encoding=mk3"}).second,
                       "'isa.encoding' is \"mk2\" or \"wide\", found \"mk3\""));
}

TEST(Tiles, AreRowsAndSparePlaces) {
  const MachineConfig machine = load_machine("small64", {"grid.tiles=50"});
  EXPECT_EQ(machine.grid.rows, 4U);
  EXPECT_EQ(machine.grid.spares, 14U);
  EXPECT_EQ(machine.tiles(), 50U);
  EXPECT_EQ(machine.name, "small64 with grid.tiles=50");
  EXPECT_EQ(machine_sources("small64", {"grid.tiles=50"}).at("grid.rows"),
            "user: --set grid.tiles=50");
  EXPECT_EQ(load_machine("bow", {"grid.tiles=8192"}).grid.rows, 128U);
  // Columns and lanes are those of the machine, whenever they are set.
  EXPECT_EQ(load_machine("small64", {"grid.tiles=50", "grid.columns=2"}).grid.rows, 7U);
  for (const char* beside : {"grid.rows=5", "grid.spares=3"}) {
    EXPECT_TRUE(contains(refusal("small64", {"grid.tiles=50", beside}).second,
                         "is set beside 'grid.tiles'"));
    EXPECT_TRUE(contains(refusal("small64", {beside, "grid.tiles=50"}).second,
                         "is set beside 'grid.tiles'"));
  }
  EXPECT_TRUE(contains(refusal("small64", {"grid.tiles=0"}).second,
                       "'grid.tiles' must be a whole number from 1 to 8192, found 0"));
  EXPECT_TRUE(contains(refusal("small64", {"grid.spares=16"}).second, "grid.spares = 16"));
  const std::string no_tiles = refusal("small64", {"grid.spares=500"}).second;
  EXPECT_TRUE(contains(no_tiles, "grid.spares = 500")) << no_tiles;
  EXPECT_FALSE(contains(no_tiles, " tiles;")) << no_tiles;
}

TEST_F(MachineFile, SetsTilesInPlaceOfRowsAndSpares) {
  const std::string file = write("extends = \"builtin:small64\"\n[grid]\ntiles = 50\n");
  EXPECT_EQ(load_machine(file).tiles(), 50U);
  EXPECT_EQ(load_machine(file).grid.rows, 4U);
  EXPECT_EQ(machine_sources(file).at("grid.spares"), "user: " + file + ":3");
  EXPECT_EQ(load_machine(file, {"grid.columns=2"}).tiles(), 50U);
  EXPECT_EQ(load_machine(file, {"grid.tiles=20"}).tiles(), 20U);
  const std::string sourced = write(
      "extends = \"builtin:tiny4\"\n[grid]\n"
      "tiles = { value = 3, source = \"published: data sheet\" }\n");
  EXPECT_EQ(load_machine(sourced).tiles(), 3U);
  EXPECT_EQ(machine_sources(sourced).at("grid.rows"), "published: data sheet");
  EXPECT_TRUE(contains(error_of("extends = \"builtin:small64\"\n[grid]\ntiles = 50\nrows = 4\n"),
                       "'grid.rows' is set beside 'grid.tiles'"));
  EXPECT_TRUE(contains(error_of("extends = \"builtin:small64\"\n[grid]\ntile = 50\n"),
                       "did you mean 'grid.tiles'?"));
}

TEST_F(MachineFile, ThatSetsEveryKeyMaySetTilesForRowsAndSpares) {
  std::string text = to_toml(load_machine("small64"));
  for (const std::string line : {"\nspares = 0\n", "\nrows = 4\n"}) {
    ASSERT_NE(text.find(line), std::string::npos) << line;
    text.replace(text.find(line), line.size(), line[1] == 'r' ? "\ntiles = 50\n" : "\n");
  }
  const std::string file = write(text);
  EXPECT_EQ(load_machine(file).grid.rows, 4U);
  EXPECT_EQ(load_machine(file).tiles(), 50U);
}

TEST_F(MachineFile, RowsThatAreSetLaterTakeThePlaceOfTilesAndAreWhole) {
  const std::string file = write("extends = \"builtin:small64\"\n[grid]\ntiles = 50\n");
  EXPECT_EQ(load_machine(file, {"grid.rows=3"}).tiles(), 48U);
  EXPECT_EQ(machine_sources(file, {"grid.rows=3"}).at("grid.spares"), "user: --set grid.rows=3");
  EXPECT_EQ(load_machine(file, {"grid.rows=3", "grid.spares=1"}).tiles(), 47U);
  EXPECT_EQ(load_machine(file, {"grid.spares=1"}).tiles(), 63U);
  EXPECT_EQ(load_machine(file, {"grid.rows=x2"}).tiles(), 128U);
  const std::string later = write("extends = \"" + std::filesystem::path(file).filename().string() +
                                  "\"\n[grid]\nrows = 3\n");
  EXPECT_EQ(load_machine(later).tiles(), 48U);
  EXPECT_EQ(load_machine(later, {"grid.columns=2"}).grid.rows, 3U);
}

TEST(Machine, TakesEveryDecimalThatIsAWholeNumberOfItsUnit) {
  for (std::uint64_t mega = 1; mega < 4000; mega += 7) {
    const std::string clock = fmt::format("tile.clock={}.{:03} GHz", mega / 1000, mega % 1000);
    ASSERT_EQ(load_machine("tiny4", {clock}).tile.clock_hz, mega * 1'000'000) << clock;
  }
  EXPECT_EQ(load_machine("tiny4", {"host.bandwidth=4.1 GB/s"}).host.bytes_per_second,
            4'100'000'000U);
  EXPECT_TRUE(
      contains(refusal("tiny4", {"tile.clock=1.0000000005 GHz"}).second, "without a fraction"));
}

TEST(Machine, ValuesOfAWrongFormAreToldWhatIsAllowed) {
  EXPECT_TRUE(contains(refusal("small64", {"tile.amp_units=eight"}).second,
                       "\"eight\" does not begin with a number; it is 0, 4, 8 or 16"));
  EXPECT_TRUE(contains(refusal("small64", {"tile.pipeline_depth=12"}).second,
                       "it is \"1 cycle\" to \"64 cycles\""));
  EXPECT_TRUE(contains(refusal("small64", {"exchange.table=[\"20 cycles\"]"}).second,
                       "is a list of numbers without a unit, 1 to 4096, as in [0, 4, 9]"));
  EXPECT_TRUE(contains(refusal("small64", {"exchange.fabric=table", "exchange.table=[0]"}).second,
                       "without a unit, 1 to 4096"));
}

TEST_F(MachineFile, MayScaleWhatItExtends) {
  const std::string file = write(
      "extends = \"builtin:bow\"\n\"exchange.*_latency\" = { scale = 0.5 }\n"
      "[sync]\ninternal_latency = { scale = 2 }\n");
  EXPECT_EQ(load_machine(file).exchange.same_column_latency, 16U);
  EXPECT_EQ(load_machine(file).sync.internal_latency, 136U);
  EXPECT_TRUE(contains(machine_sources(file).at("sync.internal_latency"), "user: 2 x derived: "));
}

TEST_F(MachineFile, SetsNoKeyThatItsFabricDoesNotRead) {
  const std::string extends = "extends = \"builtin:small64\"\n[exchange]\n";
  const std::string unread =
      "nothing reads 'exchange.hop_latency' where exchange.fabric = \"crossbar\"";
  EXPECT_TRUE(
      contains(error_of(extends + "hop_latency = \"2 cycles\"\n"), ".toml:3:1: error: " + unread));
  EXPECT_EQ(code(), ExitCode::kMalformed);
  EXPECT_EQ(refusal("small64", {"exchange.hop_latency=2 cycles"}),
            std::pair(ExitCode::kUsage, "--set exchange.hop_latency=2 cycles: error: " + unread));
  for (const std::string kind : {"mesh", "ring"}) {
    EXPECT_EQ(error_of(extends + "hop_latency = \"2 cycles\"\nfabric = \"" + kind + "\"\n"),
              "no error");
    for (const std::string key :
         {"same_column_latency", "cross_west_per_column", "per_row_latency"})
      EXPECT_TRUE(contains(
          refusal("small64", {"exchange.fabric=" + kind, "exchange." + key + "=2 cycles"}).second,
          "nothing reads 'exchange." + key + "'"));
  }
  const std::vector<std::string> table = {"exchange.fabric=table",
                                          "exchange.table=[9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, "
                                          "9, 9, 9]"};
  EXPECT_EQ(refusal("small64", table).second, "no error");
  EXPECT_TRUE(contains(refusal("small64", {table[1]}).second, "nothing reads 'exchange.table'"));
  EXPECT_EQ(refusal("small64", {table[0], table[1], "exchange.per_row_latency=2 cycles"}).second,
            "no error");
}

TEST_F(MachineFile, MayBeVariedInItsFabric) {
  const std::string meshed = write(
      "extends = \"builtin:small64\"\n[exchange]\nfabric = \"mesh\"\n"
      "hop_latency = \"2 cycles\"\n");
  for (const std::string kind : {"crossbar", "mesh", "ring"})
    EXPECT_EQ(refusal(meshed, {"exchange.fabric=" + kind}).second, "no error");
  EXPECT_EQ(error_of("extends = \"" + meshed + "\"\n[exchange]\nfabric = \"crossbar\"\n"),
            "no error");
  EXPECT_EQ(refusal("small64", {"exchange.hop_latency=x2"}).second, "no error");
}

TEST(Sources, OfLawsOutsideOfTheirGridAreExtrapolated) {
  const auto kind = [](const std::string& key, const std::vector<std::string>& overrides) {
    const std::string source = machine_sources("bow", overrides).at(key);
    return source.substr(0, source.find(':'));
  };
  EXPECT_EQ(kind("exchange.per_row_latency", {"grid.rows=23"}), "derived");
  EXPECT_EQ(kind("exchange.per_row_latency", {"grid.rows=24"}), "extrapolated");
  EXPECT_EQ(kind("sync.column_skew", {"grid.rows=24"}), "extrapolated");
  EXPECT_EQ(kind("sync.skew_per_row", {"grid.rows=24", "sync.skew_per_row=2 cycles"}), "user");
  EXPECT_EQ(kind("tile.memory", {"grid.rows=24"}), "published");
}

TEST(Limit, RegionsBeginWithAnElement) {
  EXPECT_TRUE(contains(refusal("gc200", {"tile.element=64 KiB"}).second,
                       "tile.memory_base 0x4c000 is no multiple of tile.element = \"64 KiB\""));
  EXPECT_TRUE(contains(refusal("gc200", {"tile.region1_base=0x9e800"}).second,
                       "tile.region1_base 0x9e800 is no multiple of tile.element = \"16 KiB\""));
}

TEST(Limit, TheThirdRegionLeavesWholePairsOfElementsToTheSecond) {
  EXPECT_TRUE(contains(refusal("gc200", {"tile.region2=448 KiB"}).second,
                       "tile.region2 = \"448 KiB\" is more than the \"416 KiB\" from "
                       "tile.region1_base 0x80000 to the end of memory"));
  EXPECT_TRUE(contains(refusal("gc200", {"tile.region2=16 KiB"}).second,
                       "tile.region2 = \"16 KiB\" leaves \"400 KiB\" to the interleaved region, "
                       "no multiple of \"32 KiB\": that is made of pairs of memory elements"));
}

TEST(Limit, LessMemoryThanRegion0NamesWhatWasSetAndWhatToSet) {
  const auto [code, text] = refusal("gc200", {"tile.memory=128 KiB"});
  EXPECT_TRUE(contains(text,
                       "--set tile.memory=128 KiB: error: tile.memory = \"128 KiB\" ends at "
                       "0x6c000, below tile.region1_base 0x80000; set tile.region1_base too"));
}

TEST(Override, AllThatAreWrongAreReportedAtOnceAsTheCommandLines) {
  const auto [code, text] =
      refusal("bow", {"tile.worker=8", "tile.workers=99", "grid.rows=400", "tile.clock=fast", "x"});
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_TRUE(contains(text, "--set tile.worker=8: error: unknown key 'tile.worker'"));
  EXPECT_TRUE(contains(text,
                       "--set tile.workers=99: error: 'tile.workers' must be a whole number "
                       "from 1 to 16, found 99"));
  EXPECT_TRUE(contains(text, "--set grid.rows=400: error: grid.rows 400 x"));
  EXPECT_TRUE(contains(text, "--set tile.clock=fast: error: 'tile.clock'"));
  EXPECT_TRUE(contains(text, "--set x: error: expected key=value"));
}

TEST(Override, TheNameOfTheMachineSaysIt) {
  EXPECT_EQ(load_machine("builtin:bow").name, "bow");
  EXPECT_EQ(load_machine("bow", {"tile.workers=8", "tile.clock=1 GHz"}).name,
            "bow with tile.workers=8, tile.clock=1 GHz");
}

TEST(Override, AValueCannotSetASecondKey) {
  EXPECT_EQ(refusal("bow", {"tile.workers=8\ntile.lanes=1"}).first, ExitCode::kUsage);
}

TEST_F(MachineFile, RulesBetweenKeysAreReportedWithTheOtherMistakesAtTheirKeys) {
  const std::string text = error_of(
      "extends = \"builtin:gc200\"\n[tile]\nwrokers = 6\nelement = \"3000 B\"\namp_units = 12\n"
      "[grid]\nrows = 400\n");
  EXPECT_EQ(code(), ExitCode::kMalformed);
  EXPECT_TRUE(contains(text, ":3:1: error: unknown key 'tile.wrokers'"));
  EXPECT_TRUE(contains(text, ":4:1: error: tile.element must be a power of two"));
  EXPECT_TRUE(contains(text, ":5:1: error: 'tile.amp_units' must be 0, 4, 8 or 16, found 12"));
  EXPECT_TRUE(contains(text, ":7:1: error: grid.rows 400 x grid.columns 16"));
  EXPECT_LT(text.find(":3:1:"), text.find(":4:1:"));
  EXPECT_LT(text.find(":5:1:"), text.find(":7:1:"));
}

TEST_F(MachineFile, NoRuleSpeaksOfAKeyThatCouldNotBeRead) {
  const std::string text = error_of(
      "extends = \"builtin:gc200\"\n[tile]\nmemory = \"128 KiB\"\nregion1_bsae = 0x60000\n");
  EXPECT_TRUE(contains(text, "did you mean 'tile.region1_base'"));
  EXPECT_EQ(text.find("ends at"), std::string::npos) << text;
}

TEST_F(MachineFile, MistakesOfFileAndOverrideAreReportedTogetherAsTheFiles) {
  const std::string text =
      error_of("extends = \"builtin:gc200\"\n[tile]\nmemory = 1\n", {"tile.workers=99"});
  EXPECT_EQ(code(), ExitCode::kMalformed);
  EXPECT_TRUE(contains(text, ":3:1: error: 'tile.memory' needs a unit"));
  EXPECT_TRUE(contains(text, "--set tile.workers=99: error:"));
}

TEST_F(MachineFile, ARuleThatOnlyAnOverrideBreaksIsTheOverrides) {
  const std::string good = "extends = \"builtin:gc200\"\n[tile]\nmemory = \"640 KiB\"\n";
  (void)error_of(good, {"tile.region1_base=0xf0000"});
  EXPECT_EQ(code(), ExitCode::kUsage);
  const std::string bad = "extends = \"builtin:gc200\"\n[grid]\nrows = 400\n";
  (void)error_of(bad, {"grid.lanes=3"});
  EXPECT_EQ(code(), ExitCode::kMalformed);
  EXPECT_EQ(error_of(bad, {"grid.lanes=1"}), "no error");
}

TEST_F(MachineFile, OneThatExtendsNothingSetsEveryKey) {
  EXPECT_TRUE(contains(error_of(""),
                       "neither extends another nor sets every key; it leaves out "
                       "isa.encoding, grid.rows, "));
  std::string all = to_toml(load_machine("gc200"));
  EXPECT_EQ(error_of(all), "no error");
  all.erase(all.find("lanes = 4\n"), 10);
  EXPECT_TRUE(contains(error_of(all), "it leaves out grid.lanes; extends = \"builtin:gc200\""));
}

TEST_F(MachineFile, AScaledNumberThatItLeavesOutIsNone) {
  std::string all = to_toml(load_machine("gc200"));
  all.replace(all.find("f32exp = 3\n"), 11, "f32exp = { scale = 2 }\n");
  EXPECT_TRUE(contains(error_of(all), "it leaves out costs.f32exp; extends"));
}

TEST_F(MachineFile, TilesOfColumnsThatItLeavesOutAreRefusedAsThose) {
  EXPECT_TRUE(contains(error_of("[grid]\ntiles = 8\nlanes = 4\n"),
                       "it leaves out isa.encoding, grid.columns, "));
}

TEST_F(MachineFile, ItsNumbersAreTheUsersUnlessItNamesASource) {
  const std::string file = write(
      "extends = \"builtin:gc200\"\n  [tile]\n  workers = 4  # published: no source\n"
      "clock = { value = \"1 GHz\", source = \"measured: on a desk # not in a rack\" }\n"
      "[costs]\nsource = \"assumed: what if\"\nf32exp = 9\n"
      "f32ln = { value = 9, source = \"published: a paper\" }\n");
  const MachineSources sources = machine_sources(file, {"tile.amp_units=8"});
  EXPECT_EQ(sources.at("tile.workers"), "user: " + file + ":3");
  EXPECT_EQ(sources.at("tile.clock"), "measured: on a desk # not in a rack");
  EXPECT_EQ(sources.at("costs.f32exp"), "assumed: what if");
  EXPECT_EQ(sources.at("costs.f32ln"), "published: a paper");
  EXPECT_EQ(sources.at("costs.f32div"), machine_sources("gc200").at("costs.f32div"));
  EXPECT_EQ(sources.at("tile.amp_units"), "user: --set tile.amp_units=8");
}

TEST_F(MachineFile, RefusesASourceOfNoKnownKind) {
  const std::string text = error_of(
      "extends = \"builtin:gc200\"\n[tile]\nsource = \"guessed: yes\"\n"
      "workers = { value = 4, source = \"published\" }\nclock = { source = \"assumed: x\" }\n"
      "amp_units = { value = 8, sauce = 1 }\n");
  EXPECT_TRUE(contains(text,
                       ":3:10: error: a source is a text that begins with its kind "
                       "(measured, published, derived, extrapolated, assumed, user)"));
  EXPECT_TRUE(contains(text, "found \"published\""));
  EXPECT_TRUE(contains(text, ":5:1: error: 'tile.clock' has no value"));
  EXPECT_TRUE(contains(text, ":6:1: error: 'tile.amp_units' has a value and a source, no 'sauce'"));
}

TEST_F(MachineFile, WhatIsPrintedWithSourcesReadsBackWithThem) {
  const std::vector<std::string> overrides = {"tile.workers=8"};
  const MachineConfig machine = load_machine("bow", overrides);
  const MachineSources sources = machine_sources("bow", overrides);
  const std::string file = write(to_toml(machine, sources));
  EXPECT_EQ(machine_sources(file), sources);
  EXPECT_EQ(to_toml(load_machine(file)), to_toml(machine));
  EXPECT_EQ(load_machine(write(to_toml(machine))).name, "bow with tile.workers=8");
}

TEST_F(MachineFile, WhatWasCompiledForAMachineTakesOverridesOfItsRunOnly) {
  const std::vector<std::string> overrides = {"tile.workers=8"};
  const MachineConfig machine = load_machine("bow", overrides);
  const MachineSources sources = machine_sources("bow", overrides);
  const std::string text = to_toml(machine, sources);
  const SourcedMachine same = read_compiled_machine(text, "image.h5");
  EXPECT_EQ(same.machine, machine);
  EXPECT_EQ(same.sources, sources);
  const SourcedMachine other =
      read_compiled_machine(text, "image.h5", {"host.phase_latency=2000 ns"});
  EXPECT_EQ(other.machine.host.phase_latency_ns, 2000U);
  EXPECT_EQ(other.machine.name, "bow with tile.workers=8, host.phase_latency=2000 ns");
  EXPECT_EQ(other.sources.at("host.phase_latency"), "user: --set host.phase_latency=2000 ns");
  for (const ConfigKey& key : file_keys(machine)) {
    if (key.scope == Scope::kRun) continue;
    const std::string setting = key.key + "=" + key.value;
    try {
      (void)read_compiled_machine(text, "image.h5", {setting});
      FAIL() << setting;
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_TRUE(contains(error.what(), "'" + key.key + "' is part of what was compiled"));
    }
  }
}

TEST_F(MachineFile, OnlyABuiltinsNumbersHaveItsNameAlone) {
  const std::string changed = write("extends = \"builtin:bow\"\n[tile]\nworkers = 8\n");
  EXPECT_EQ(load_machine(changed).name,
            "bow with " + std::filesystem::path(changed).filename().string());
  EXPECT_EQ(load_machine(write("extends = \"builtin:bow\"\n")).name, "bow");
  EXPECT_EQ(load_machine(write(to_toml(load_machine("bow")))).name, "bow");
  const std::string named = write("extends = \"builtin:bow\"\nname = \"mine\"\n");
  EXPECT_EQ(load_machine(named, {"tile.workers=8"}).name, "mine with tile.workers=8");
  for (const char* name : {"bow ", " bow", "builtin:bow"}) {
    EXPECT_TRUE(
        contains(error_of("extends = \"builtin:bow\"\nname = \"" + std::string(name) + "\"\n"),
                 ".toml:2:8: error: 'name' has no blanks at its ends"))
        << name;
  }
}

TEST_F(MachineFile, AnUnknownTableIsRefused) {
  EXPECT_TRUE(contains(error_of("extends = \"builtin:bow\"\n[tiel]\n"), "unknown table 'tiel'"));
}

TEST(Keys, TellTheirRangesInTheirUnits) {
  std::map<std::string, std::string> ranges;
  for (const ConfigKey& key : file_keys(load_machine("gc200"))) {
    ranges[key.key] = key.range;
    if (key.unit == Unit::kCount) {
      const std::string setting = fmt::format("{}={}", key.key, key.highest + 1);
      EXPECT_TRUE(contains(refusal("tiny4", {setting}).second, key.range));
    }
  }
  EXPECT_EQ(ranges.at("grid.tiles"), "1 to 8192");
  EXPECT_EQ(ranges.at("tile.workers"), "1 to 16");
  EXPECT_EQ(ranges.at("tile.amp_units"), "0, 4, 8 or 16");
  EXPECT_EQ(ranges.at("isa.encoding"), "\"mk2\" or \"wide\"");
  EXPECT_EQ(ranges.at("host.to_host_packet"), "\"4 B\" to \"256 B\", multiples of \"4 B\"");
  EXPECT_EQ(ranges.at("tile.clock"), "\"1 MHz\" to \"100000 MHz\"");
}

TEST(Problems, NameEachNumberThatIsOutOfItsRange) {
  int numbers = 0;
  MachineConfig machine = load_machine("gc200");
  for_each_key(machine, [&](const Key& key, auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_integral_v<Field>) {
      ++numbers;
      const Field before = field;
      if (key.lowest > 0) {
        field = static_cast<Field>(key.lowest - 1);
        const std::vector<BrokenRule> broken = problems(machine);
        ASSERT_EQ(broken.size(), 1U) << key.name;
        EXPECT_EQ(broken[0].keys, std::vector<std::string>{key.name});
      }
      field = static_cast<Field>(key.highest + 1);
      EXPECT_TRUE(problems(machine).at(0).message.starts_with(std::string(key.name) + " must be "))
          << key.name;
      field = before;
    }
  });
  EXPECT_GT(numbers, 50);
  machine.tile.element_bytes = 0;
  machine.host.links = 0;
  machine.exchange.fabric = FabricKind{9};
  machine.sync.column_skew[3] = 5000;
  const std::vector<BrokenRule> broken = problems(machine);
  ASSERT_EQ(broken.size(), 4U);
  EXPECT_EQ(broken[0].message, "tile.element must be \"1 KiB\" to \"256 KiB\", found \"0 B\"");
  EXPECT_EQ(broken[1].message,
            "exchange.fabric must be \"crossbar\", \"table\", \"mesh\" or \"ring\", found 9");
  EXPECT_TRUE(broken[2].message.starts_with("sync.column_skew must be a list of numbers "));
  EXPECT_EQ(broken[3].message, "host.links must be 1 to 64, found 0");
}

TEST_F(MachineFile, MutatedFilesAreReadOrRefusedNeverCrash) {
  const std::string good = to_toml(load_machine("gc200"));
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (int edit = 0; edit < 3; ++edit)
      text[random() % text.size()] = static_cast<char>(random() % 128);
    text.resize(random() % 4 == 0 ? random() % text.size() : text.size());
    try {
      EXPECT_TRUE(problems(load_machine(write(text))).empty());
    } catch (const MalformedInput&) {
    }
  }
}

}  // namespace
}  // namespace superstep
