#include <regex>

#include "tests/tools/program.h"

namespace superstep {
namespace {

/// Text without its numbers and spacing: what stays the same while cycles move.
std::string shape_of(const std::string& text) {
  const std::string plain = std::regex_replace(text, std::regex("[0-9][0-9.,]*"), "N");
  return std::regex_replace(plain, std::regex(" +"), " ");
}

TEST(Readme, ShowsWhatTheCommandPrints) {
  std::istringstream readme(text_of(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "README.md"));
  std::string line, words;
  while (std::getline(readme, line) && words.empty())
    if (line.starts_with("$ superstep ")) words = line.substr(12);
  const ProgramRun run = superstep(words);
  ASSERT_EQ(run.code, 0);
  const std::string printed = shape_of(run.out);
  // The loop above has read the first line of output already.
  for (; line != "```"; std::getline(readme, line)) {
    ASSERT_TRUE(readme);
    if (line == "...") continue;
    EXPECT_NE(printed.find(shape_of(line)), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace superstep
