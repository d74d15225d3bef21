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

TEST(TraceExport, GoesToStandardOutput) {
  const std::filesystem::path trace = traced("tile"), out = scratch_folder() / "out";
  for (const std::string format : {"perfetto", "csv", "folded", "speedscope"}) {
    const std::string words = "trace export " + trace.string() + " --to " + format + " -o ";
    ASSERT_EQ(superstep(words + out.string()).code, 0);
    const ProgramRun piped = superstep(words + "-");
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_TRUE(piped.out == text_of(out)) << format;
    EXPECT_EQ(superstep(words + "- --json").code, 2) << "its document goes there";
  }
  const ProgramRun full =
      superstep("trace export " + trace.string() + " --to csv -o - > /dev/full");
  EXPECT_EQ(full.code, 74);
  EXPECT_NE(full.err.find("standard output: error: cannot be written"), std::string::npos)
      << full.err;
}

TEST(TraceExport, OfAWindowWithoutSuperstepsIsRefused) {
  const std::string trace = traced("superstep").string(), out = (scratch_folder() / "out").string();
  for (const std::string format : {"perfetto", "folded", "speedscope", "csv --table launches"}) {
    const ProgramRun run =
        superstep("trace export " + trace + " --window 100:200 -o " + out + " --to " + format);
    EXPECT_EQ(run.code, 2) << format;
    EXPECT_NE(run.err.find("none in the window"), std::string::npos) << run.err;
    EXPECT_FALSE(std::filesystem::exists(out)) << format;
  }
}

TEST(TraceExport, ThatIsBinaryDoesNotGoToATerminal) {
  const std::filesystem::path trace = traced("tile");
  const auto on_terminal = [&](const std::string& format) {
    return superstep("version; script -qec '" SUPERSTEP_BINARY " trace export " + trace.string() +
                     " --to " + format + " -o -' /dev/null");
  };
  const ProgramRun binary = on_terminal("perfetto");
  EXPECT_EQ(binary.code, 2) << binary.out;
  EXPECT_NE(binary.out.find("standard output is a terminal"), std::string::npos) << binary.out;
  EXPECT_EQ(on_terminal("csv").code, 0);
}

TEST(Page, GoesToStandardOutput) {
  const std::filesystem::path trace = traced("tile"), out = scratch_folder() / "out.html";
  ASSERT_EQ(superstep("html " + trace.string() + " -o " + out.string()).code, 0);
  const ProgramRun piped = superstep("html " + trace.string() + " -o -");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_TRUE(piped.out == text_of(out));
  EXPECT_EQ(superstep("html " + trace.string() + " -o - --json").code, 2);
}

TEST(Outputs, ThatAreNoExportAreNotStandardOutput) {
  const std::string trace = traced("superstep").string();
  for (const std::string words :
       {"compile models/quickstart/affine.mlir -m tiny4 -o -",
        "run models/quickstart/affine.mlir -m tiny4 --input random:1 --output -",
        "run models/quickstart/affine.mlir -m tiny4 --input random:1 -o -"}) {
    const ProgramRun run = superstep(words);
    EXPECT_EQ(run.code, 2) << words;
    EXPECT_NE(run.err.find("a file of that name is ./-"), std::string::npos) << run.err;
    EXPECT_FALSE(std::filesystem::exists(SUPERSTEP_SOURCE_DIR "/-"));
  }
}

TEST(TraceRepair, OfAFinishedTraceSaysThatThereIsNothingToRepair) {
  const std::string trace = traced("superstep").string();
  const std::filesystem::path out = scratch_folder() / "mended.h5";
  for (const std::string& words : {trace, trace + " " + out.string()}) {
    const ProgramRun run = superstep("trace repair " + words);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_NE(run.err.find(trace + ": error: is a finished trace: there is nothing to repair, and "
                                   "no file is written"),
              std::string::npos)
        << run.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  }
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

TEST(TraceListing, KeepsToTheColumnsThatThereAre) {
  const std::filesystem::path path = traced("superstep");
  for (const std::size_t columns : {40u, 80u, 200u}) {
    for (const char* verb : {"ls", "info"}) {
      const ProgramRun run = superstep("trace " + std::string(verb) + " " + path.string(),
                                       "COLUMNS=" + std::to_string(columns));
      ASSERT_EQ(run.code, 0) << run.err;
      std::istringstream lines(run.out);
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), columns) << verb << ": " << line;
    }
    // Meanings are whole, on as many lines as they need.
    std::istringstream words(
        superstep("trace ls " + path.string(), "COLUMNS=" + std::to_string(columns)).out);
    std::string text;
    for (std::string word; words >> word;) text += word + " ";
    EXPECT_NE(text.find("Compute cycles of the critical tile for its launches of the step, in all"),
              std::string::npos)
        << text;
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
