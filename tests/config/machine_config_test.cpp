#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.h"
#include "isa/machine_config.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

class MachineFile : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    const auto path = scratch_folder() / ("machine_" + std::to_string(++count_) + ".toml");
    std::ofstream(path) << text;
    return path.string();
  }
  std::string error_of(const std::string& text) {
    try {
      (void)load_machine(write(text));
    } catch (const MalformedInput& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  int count_ = 0;
};

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

TEST(Builtin, DefaultsAreThoseOfGc200) {
  MachineConfig defaults;
  const MachineConfig gc200 = load_machine("gc200");
  defaults.name = gc200.name;
  defaults.description = gc200.description;
  EXPECT_EQ(to_toml(defaults), to_toml(gc200));
}

TEST(Override, ChangesOneKeyAndTakesAUnitWithoutQuotes) {
  const MachineConfig machine = load_machine("tiny4", {"tile.workers=8", "tile.clock=1.5 GHz"});
  EXPECT_EQ(machine.tile.workers, 8u);
  EXPECT_EQ(machine.tile.clock_hz, 1'500'000'000u);
}

TEST_F(MachineFile, ReportsAllMistakesAtOnceWithPlaceAndSuggestion) {
  const std::string text = error_of(
      "extends = \"builtin:tiny4\"\n[tile]\nwrokers = 6\nmemory = 624\nclock = \"2 KB\"\n");
  EXPECT_NE(text.find(":3:1: error: unknown key 'tile.wrokers'; did you mean 'tile.workers'?"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(":4:1: error: 'tile.memory' needs a unit; write \"624 KiB\""),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(":5:1: error: 'tile.clock': unknown unit 'KB'; write KiB (1024) or kB (1000)"),
      std::string::npos)
      << text;
}

TEST_F(MachineFile, RefusesAValueOutOfRange) {
  EXPECT_NE(
      error_of("[tile]\nworkers = 0\n").find("'tile.workers' must be a whole number from 1 to 8"),
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
  EXPECT_THROW((void)load_machine(path.string()), MalformedInput);
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
