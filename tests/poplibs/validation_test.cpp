// PopLibs' assembly codelets on the simulated tile against PopLibs' C++ codelets and estimators.
// `--update` writes docs/poplibs.md, `--only TEXT` prints the page of some entry points.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/poplibs/checkout.h"
#include "tests/poplibs/cycle_differences.h"
#include "tests/poplibs/cycle_exceptions.h"
#include "tests/poplibs/hardware.h"
#include "tests/poplibs/harness.h"

namespace superstep::poplibs {
namespace {

const char* const kPage = SUPERSTEP_SOURCE_DIR "/docs/poplibs.md";

const std::vector<EntryResult>& all_results() {
  static const std::vector<EntryResult> results = judge(checkout_codelets(), "");
  return results;
}

std::string whole_page() {
  return validation_page(all_results()) + hardware_text(run_hardware_kernels(checkout_codelets()));
}

class PopLibsValidation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!poplibs_checkout()) GTEST_SKIP() << kNoPoplibs;
  }
};

TEST_F(PopLibsValidation, ResultsAndCyclesAreThoseOfThePage) {
  std::stringstream page;
  page << std::ifstream(kPage).rdbuf();
  EXPECT_TRUE(whole_page() == page.str())
      << "poplibs_tests --update rewrites docs/poplibs.md when the change is right";
}

TEST_F(PopLibsValidation, CyclesBeyondTheirLimitAreExplained) {
  const std::vector<std::optional<std::size_t>> reasons = explanations(all_results());
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    const EntryResult& result = all_results()[i];
    EXPECT_TRUE(result.within_limit() || reasons[i])
        << result.type << ": " << result.largest().simulated << " cycles, PopLibs estimates "
        << result.largest().estimated;
  }
}

TEST_F(PopLibsValidation, CyclesAreTheEstimatePlusTheDifferenceThatIsStated) {
  for (const EntryResult& result : all_results()) {
    const std::optional<CycleDifference> difference = cycle_difference(result);
    if (!difference || result.within_limit()) continue;
    for (const CyclePoint& point : points_of_difference(result)) {
      EXPECT_EQ(static_cast<double>(point.simulated),
                static_cast<double>(point.estimated) + difference->of(point))
          << result.type << ", n = " << point.n;
    }
  }
}

/// The class that does the same out of place; empty for others.
std::string type_out_of_place(const std::string& type) {
  constexpr std::string_view kPlace = "InPlaceSupervisor<";
  const std::size_t at = type.find(kPlace);
  if (!type.starts_with("popfloat") || at == std::string::npos) return {};
  const std::string arguments = type.substr(at + kPlace.size());
  // Of 16 bits, the type of the data is given once in place; of 32, it is f32 and not given.
  const std::string data = type.find("CastToGfloat32") != std::string::npos
                               ? "float,float,"
                               : arguments.substr(0, arguments.find(',') + 1);
  return type.substr(0, at) + "Supervisor<" + data + arguments;
}

TEST_F(PopLibsValidation, CastsInPlaceTakeTheCyclesOfThoseOutOfPlace) {
  std::map<std::string, const EntryResult*> by_type;
  for (const EntryResult& result : all_results()) by_type.emplace(result.type, &result);
  std::size_t compared = 0;
  for (const EntryResult& result : all_results()) {
    const auto other = by_type.find(type_out_of_place(result.type));
    if (result.type.empty() || other == by_type.end() || other->first.empty()) continue;
    ++compared;
    // The cases are the same by size; the last are the whole ones.
    EXPECT_EQ(result.simulated.back(), other->second->simulated.back()) << result.type;
  }
  EXPECT_EQ(compared, 102U);
}

TEST_F(PopLibsValidation, AnEntryPointDoesTheSameInProductionOrIsRefused) {
  for (const EntryResult& result : all_results()) {
    if (!result.executed) continue;
    EXPECT_TRUE(result.same_in_production || result.is_refused_in_production)
        << result.symbol << ": " << result.production_problem;
  }
}

TEST_F(PopLibsValidation, TheSummaryHasTheCountsOfThePage) {
  std::stringstream file;
  file << std::ifstream(SUPERSTEP_SOURCE_DIR "/docs/validation.md").rdbuf();
  const std::string page = std::regex_replace(file.str(), std::regex("\\s+"), " ");
  const EstimateCounts counts = count_estimates(all_results());
  const std::string sentences[] = {
      fmt::format("C++ for {} of its {},{:03} entry points", counts.executed - counts.own_reference,
                  counts.executed / 1000, counts.executed % 1000),
      fmt::format("that {} of {} entry points lie within 2 %", counts.within_limit, counts.all),
      fmt::format("{} of {} such differences are sums", counts.sums,
                  counts.all - counts.within_limit),
      fmt::format("{} of the sums have as many numbers as cases", counts.none_left),
      fmt::format("Of {} that could be tried", counts.held_out),
      fmt::format("no part in it, {} hold to the clock", counts.hold_there),
  };
  for (const std::string& sentence : sentences) {
    EXPECT_NE(page.find(sentence), std::string::npos) << sentence;
  }
}

TEST_F(PopLibsValidation, ExplanationsOfCyclesAreNeeded) {
  const std::vector<std::optional<std::size_t>> reasons = explanations(all_results());
  for (std::size_t i = 0; i < cycle_exceptions().size(); ++i) {
    EXPECT_TRUE(std::find(reasons.begin(), reasons.end(), i) != reasons.end())
        << cycle_exceptions()[i].types << " are within their limit";
  }
}

}  // namespace
}  // namespace superstep::poplibs

int main(int argc, char** argv) {
  using namespace superstep::poplibs;
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2 && std::strcmp(argv[1], "--update") == 0) {
    std::ofstream(kPage) << whole_page();
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--only") == 0) {
    std::cout << validation_page(judge(checkout_codelets(), argv[2]));
    return 0;
  }
  return RUN_ALL_TESTS();
}
