// The trace that docs/views.md and docs/page.md look at.

#include <filesystem>

#include "tests/tools/program.h"
#include "tests/tools/same_traces.h"

namespace superstep {
namespace {

TEST(ShippedTrace, IsWhatItsCommandMakesToday) {
  const std::filesystem::path shipped =
      std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models/karate/run.h5";
  const std::filesystem::path made = scratch_folder() / "run.h5";
  const ProgramRun run = superstep(
      "run models/karate/train.mlir -m small64 --input models/karate/input.h5 --trace tile -q -o " +
      made.string());
  ASSERT_EQ(run.code, 0) << run.err;
  expect_same_traces(shipped, made, TraceLevel::kTile);
  EXPECT_LT(std::filesystem::file_size(shipped), 200'000u);
}

}  // namespace
}  // namespace superstep
