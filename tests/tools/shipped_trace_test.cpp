// The trace that docs/views.md and docs/page.md look at.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/program.h"
#include "tests/tools/same_traces.h"

namespace superstep {
namespace {

std::filesystem::path unpacked() {
  const std::filesystem::path file = scratch_folder() / "shipped.h5";
  const std::string unpack = "gunzip -c " SUPERSTEP_SOURCE_DIR "/models/karate/run.h5.gz >";
  EXPECT_EQ(std::system((unpack + file.string()).c_str()), 0);
  return file;
}

TEST(ShippedTrace, HasTheSameSumsHoweverItIsAddedUp) {
  const std::string trace = unpacked().string();
  const auto document = [](const std::string& words) {
    return nlohmann::json::parse(superstep("report " + words + " --json").out);
  };
  const nlohmann::json all = document(trace);
  for (const std::string by : {"operation", "opcode", "python", "source", "call"}) {
    for (const char* top : {"0", "3"}) {
      const nlohmann::json table =
          document(trace + " --view ops --group-by " + by + " --top " + top)["tables"][0];
      std::map<std::string, std::uint64_t> sums;
      for (const nlohmann::json& row : table["rows"]) {
        for (std::size_t c = 0; c < row.size(); ++c)
          if (row[c].is_number_unsigned())
            sums[table["columns"][c]["name"]] += row[c].get<std::uint64_t>();
      }
      EXPECT_EQ(sums["flop"], all["flops"].get<std::uint64_t>()) << by << ' ' << top;
      for (const std::string part : {"compute", "exchange", "sync", "host"})
        EXPECT_EQ(sums[part], all["cycles"][part].get<std::uint64_t>()) << by << part;
    }
  }
}

TEST(ShippedTrace, IsWhatItsCommandMakesToday) {
  const std::filesystem::path packed =
      std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models/karate/run.h5.gz";
  const std::filesystem::path shipped = unpacked();
  const std::filesystem::path made = scratch_folder() / "run.h5";
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
