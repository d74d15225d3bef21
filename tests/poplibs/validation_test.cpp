// PopLibs' assembly codelets on the simulated tile against PopLibs' C++ codelets and estimators.
// `--update` writes docs/validation.md, `--only TEXT` prints the page of some entry points.

#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/poplibs/checkout.h"
#include "tests/poplibs/harness.h"

namespace superstep::poplibs {
namespace {

const char* const kPage = SUPERSTEP_SOURCE_DIR "/docs/validation.md";

std::string judged_page(const std::string& only) {
  return validation_page(judge(Codelets(*poplibs_checkout()), only));
}

TEST(PopLibsValidation, ResultsAndCyclesAreThoseOfThePage) {
  if (!poplibs_checkout()) GTEST_SKIP() << kNoPoplibs;
  std::stringstream page;
  page << std::ifstream(kPage).rdbuf();
  EXPECT_EQ(judged_page(""), page.str())
      << "poplibs_tests --update rewrites docs/validation.md when the change is right";
}

}  // namespace
}  // namespace superstep::poplibs

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2 && std::strcmp(argv[1], "--update") == 0) {
    std::ofstream(superstep::poplibs::kPage) << superstep::poplibs::judged_page("");
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--only") == 0) {
    std::cout << superstep::poplibs::judged_page(argv[2]);
    return 0;
  }
  return RUN_ALL_TESTS();
}
