#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "tests/import/importing.h"
#include "compiler/import/checked_module.h"

namespace superstep {
namespace {

std::vector<std::filesystem::path> modules_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".mlir") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// The text without its checks, which are calls of the test driver and no ops of the program.
std::string without_checks(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("stablehlo.custom_call @check.") == std::string::npos) out += line;
    out += '\n';
  }
  return out;
}

TEST(StableHloTestData, IsReadOrRefusedWithPlaces) {
  const char* folder = std::getenv("STABLEHLO_TESTDATA");
  if (folder == nullptr) {
    GTEST_SKIP() << "STABLEHLO_TESTDATA does not name a folder with StableHLO's *.mlir test data";
  }
  const std::vector<std::filesystem::path> paths = modules_below(folder);
  ASSERT_FALSE(paths.empty()) << "no *.mlir below " << folder;
  std::size_t modules = 0;
  std::size_t read = 0;
  const auto check = [](const std::filesystem::path& path, const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    const Refusal result = refusal(text);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << path;
    for (const std::string& problem : result.problems) {
      EXPECT_FALSE(problem.starts_with("unlocated")) << path << ": " << problem;
    }
    return result;
  };
  for (const std::filesystem::path& path : paths) {
    const std::string text = read_text(path);
    check(path, text);
    for (const std::string& section : split_modules(without_checks(text))) {
      if (section.find("func.func") == std::string::npos) continue;
      const Refusal result = check(path, section);
      ++modules;
      read += result.code == ExitCode::kOk ? 1 : 0;
      EXPECT_NE(result.code, ExitCode::kMalformed) << path << ": " << result.problems.front();
    }
  }
  std::cout << read << " of " << modules << " modules in " << paths.size() << " files are read\n";
  EXPECT_GT(read, 0U);
}

}  // namespace
}  // namespace superstep
