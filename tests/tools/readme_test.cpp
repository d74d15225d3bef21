#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/tools/program.h"
#include "report/numbers.h"

namespace superstep {
namespace {

TEST(Readme, ShowsWhatTheCommandPrints) {
  std::istringstream readme(text_of(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "README.md"));
  std::string line, words;
  while (std::getline(readme, line) && words.empty())
    if (line.starts_with("$ superstep ")) words = line.substr(12);
  const ProgramRun run = superstep(words);
  ASSERT_EQ(run.code, 0);
  // The loop above has read the first line of output already.
  for (; line != "```"; std::getline(readme, line)) {
    ASSERT_TRUE(readme);
    if (line == "...") continue;
    EXPECT_NE(run.out.find(line + "\n"), std::string::npos) << line;
  }
}

TEST(Readme, CyclesThatPagesOfModelsNameAreThoseOfTheBaseline) {
  const std::filesystem::path root = SUPERSTEP_SOURCE_DIR;
  const auto baseline = nlohmann::json::parse(text_of(root / "tests/baseline/cycles.json"));
  const std::regex cycles("([0-9][0-9,]*)\\s+device\\s+cycles");
  int found = 0;
  for (const auto& folder : std::filesystem::directory_iterator(root / "models")) {
    if (!std::filesystem::exists(folder.path() / "README.md")) continue;
    // Of a call, up to a half.
    std::set<std::string> taken;
    for (const auto& [name, row] : baseline["benchmarks"].items()) {
      const std::filesystem::path program = row["program"].get<std::string>();
      if (root / program.parent_path() != folder.path()) continue;
      const auto total = row["counts"]["device_cycles"].get<std::uint64_t>();
      const auto calls = row["calls"].get<std::uint64_t>();
      taken.insert(grouped(total / calls));
      taken.insert(grouped((total + calls - 1) / calls));
    }
    const std::string page = text_of(folder.path() / "README.md");
    for (std::sregex_iterator match(page.begin(), page.end(), cycles), end; match != end; ++match) {
      EXPECT_TRUE(taken.contains((*match)[1])) << folder.path() << ": " << (*match)[0];
      ++found;
    }
  }
  EXPECT_GE(found, 12);
}

}  // namespace
}  // namespace superstep
