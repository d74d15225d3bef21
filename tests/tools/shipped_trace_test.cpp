// The trace that docs/views.md and docs/page.md look at.

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/program.h"
#include "tests/tools/same_traces.h"

namespace superstep {
namespace {

TEST(ShippedTrace, IsWhatItsCommandMakesToday) {
  const std::filesystem::path packed =
      std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models/karate/run.h5.gz";
  const std::filesystem::path shipped = scratch_folder() / "shipped.h5";
  const std::filesystem::path made = scratch_folder() / "run.h5";
  const std::string unpack = "gunzip -c " + packed.string() + " >" + shipped.string();
  ASSERT_EQ(std::system(unpack.c_str()), 0);
  const ProgramRun run = superstep(
      "run models/karate/train.mlir -m small64 --input models/karate/input.h5 --trace tile -q -o " +
      made.string());
  ASSERT_EQ(run.code, 0) << run.err;
  expect_same_traces(shipped, made, TraceLevel::kTile);
  // Some of its operations move in exchanges of others, and are computed in steps of others.
  const ProgramRun diff =
      superstep("report diff " + shipped.string() + " " + made.string() + " --json");
  ASSERT_EQ(diff.code, 0) << diff.err;
  EXPECT_TRUE(nlohmann::json::parse(diff.out)["tables"][1]["rows"].empty()) << diff.out;
  EXPECT_LT(std::filesystem::file_size(packed), 200'000u);
}

}  // namespace
}  // namespace superstep
