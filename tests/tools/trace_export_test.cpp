#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "report/export/perfetto.h"
#include "sim/trace/schema.h"
#include "sim/trace/trace_file.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

/// A trace of three calls of linear_regression on tiny4.
std::filesystem::path traced(const std::string& level) {
  const std::filesystem::path path = scratch_folder() / (level + ".h5");
  const ProgramRun run = superstep(
      "run models/linear_regression/train_step.mlir -m tiny4 --input random:1 --repeat 3 -q "
      "--trace " +
      level + " -o " + path.string());
  EXPECT_EQ(run.code, 0) << run.err;
  return path;
}

struct Exported {
  std::string bytes;
  std::vector<std::string> left_out;
};

Exported perfetto(const TraceFile& trace, std::uint64_t most_slices) {
  ExportRequest request;
  request.most_slices = most_slices;
  Exported exported;
  exported.left_out =
      write_perfetto(trace, request, [&](std::string_view bytes) { exported.bytes += bytes; });
  return exported;
}

TEST(TraceExport, KeepsEverythingOfATraceThatIsNotTooLong) {
  const TraceFile trace(traced("tile"));
  EXPECT_TRUE(perfetto(trace, 2'000'000).left_out.empty());
}

TEST(TraceExport, LeavesOutTilesBeforeSuperstepsAndSaysIt) {
  const TraceFile trace(traced("tile"));
  const Exported whole = perfetto(trace, 2'000'000);
  const Exported fewer = perfetto(trace, 90);
  ASSERT_EQ(fewer.left_out.size(), 1U);
  EXPECT_TRUE(fewer.left_out[0].starts_with("tiles from superstep ")) << fewer.left_out[0];
  EXPECT_NE(fewer.bytes.find(fewer.left_out[0]), std::string::npos) << "the file says it too";
  EXPECT_LT(fewer.bytes.size(), whole.bytes.size());
  const Exported fewest = perfetto(trace, 30);
  ASSERT_EQ(fewest.left_out.size(), 2U);
  EXPECT_TRUE(fewest.left_out[0].starts_with("supersteps from superstep "));
  EXPECT_EQ(fewest.left_out[1].find("tiles from superstep 0 on"), 0U) << fewest.left_out[1];
}

TEST(TraceExport, SaysOnStandardErrorWhatIsNotThere) {
  const std::filesystem::path trace = traced("summary"), out = scratch_folder() / "out.pftrace";
  const ProgramRun run =
      superstep("trace export " + trace.string() + " --to perfetto -o " + out.string());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("level superstep"), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(TraceListing, HasEveryDatasetAndWhatTheLevelLacks) {
  const std::filesystem::path path = traced("superstep");
  const ProgramRun run = superstep("trace ls --json " + path.string());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto document = nlohmann::json::parse(run.out);
  std::set<std::string> listed, missing;
  for (const auto& dataset : document["datasets"]) {
    listed.insert(dataset["path"]);
    EXPECT_FALSE(dataset["unit"].get<std::string>().empty()) << dataset;
  }
  for (const auto& part : document["missing"]) {
    missing.insert(part["name"]);
    EXPECT_TRUE(part["reason"] == "level tile" || part["reason"] == "level vertex" ||
                part["reason"] == "level instruction")
        << part;
  }
  for (const TraceColumn& column : trace_columns()) {
    EXPECT_EQ(listed.contains(column.path), column.level < TraceLevel::kTile) << column.path;
    EXPECT_NE(listed.contains(column.path), missing.contains(column.path)) << column.path;
  }
}

TEST(TraceListing, SaysWhatAnOlderFormatLacks) {
  const ProgramRun run = superstep("trace ls --json tests/sim/format_1.0.0.h5.part");
  ASSERT_EQ(run.code, 0) << run.err;
  std::map<std::string, std::string> reasons;
  const auto document = nlohmann::json::parse(run.out);
  for (const auto& part : document["missing"]) {
    reasons.emplace(part["name"], part["reason"]);
  }
  EXPECT_EQ(reasons["/supersteps/trip"], "since format 1.4");
  EXPECT_EQ(reasons["/summary"], "while the run is not over");
  EXPECT_EQ(reasons["/@begins_inside"], "since format 1.6");
  EXPECT_FALSE(reasons.contains("/supersteps/step"));
}

}  // namespace
}  // namespace superstep
