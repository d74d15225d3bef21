// How much each number of a machine moves the cycles of a program.

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/hdf5.h"
#include "tests/tools/feed_programs.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

using nlohmann::json;

const std::string kProgram =
    "sensitivity models/quickstart/affine.mlir --input random:1 -q --json ";

json row_of(const json& document, const std::string& key) {
  for (const json& row : document["keys"]) {
    if (row["key"] == key) return row;
  }
  return {};
}

TEST(Sensitivity, OfTheExternalBarrierIsItsTwoOpeningsThatTheDeviceWaitsFor) {
  const ProgramRun run = superstep(kProgram + "-m tiny4");
  ASSERT_EQ(run.code, 0) << run.err;
  const json document = json::parse(run.out);
  const auto device = document["device_cycles"].get<std::int64_t>();
  const json row = row_of(document, "sync.external_latency");
  // 300 ns are 398 cycles of 1.325 GHz, 150 ns 199 and 600 ns 795.
  EXPECT_EQ(row["outcomes"][0]["device_cycles"].get<std::int64_t>(), device - 2 * 199);
  EXPECT_EQ(row["outcomes"][1]["device_cycles"].get<std::int64_t>(), device + 2 * 397);
  EXPECT_EQ(row["source"], "assumed: no source gives it");
  EXPECT_TRUE(row_of(document, "host.packet_overhead")["compiled_again"] == false);
}

TEST(Sensitivity, LooksAtOtherNumbersWhenItIsAskedForAll) {
  const json assumed = json::parse(superstep(kProgram + "-m tiny4").out);
  EXPECT_TRUE(row_of(assumed, "costs.runall").is_null());
  const json all = json::parse(superstep(kProgram + "-m tiny4 --all").out);
  const json row = row_of(all, "costs.runall");
  ASSERT_FALSE(row.is_null());
  EXPECT_LT(row["outcomes"][0]["device_cycles"], all["device_cycles"]);
  EXPECT_GT(row["outcomes"][1]["device_cycles"], all["device_cycles"]);
}

TEST(Sensitivity, LeavesOutNumbersOfOtherFabrics) {
  const auto has_hops = [](const std::string& machine) {
    const ProgramRun run = superstep(kProgram + "-m tiny4" + machine);
    return !row_of(json::parse(run.out), "exchange.hop_latency").is_null();
  };
  EXPECT_FALSE(has_hops(""));
  EXPECT_TRUE(has_hops(" --set exchange.fabric=mesh"));
}

TEST(Sensitivity, TakesTheValuesOfInfeeds) {
  const std::filesystem::path folder = scratch_folder();
  const std::string program = folder / "fed.mlir", values = folder / "fed.h5";
  std::ofstream(program) << kFedProgram;
  write_tensors(values, {{"infeed0", HostTensor(TensorType{DType::kF32, {1, 4}})}});
  const std::string words = "sensitivity " + program + " -m tiny4 -q --json";
  EXPECT_EQ(superstep(words).code, 5);
  const ProgramRun run = superstep(words + " --infeed " + values);
  ASSERT_EQ(run.code, 0) << run.err;
  // Twice 60 us are 79,500 cycles of 1.325 GHz more.
  const json document = json::parse(run.out);
  EXPECT_EQ(row_of(document, "host.callback_latency")["outcomes"][1]["device_cycles"],
            document["device_cycles"].get<std::int64_t>() + 79'500);
}

TEST(Sensitivity, SaysWhyANumberHasNoRun) {
  const ProgramRun run =
      superstep("sensitivity models/quickstart/affine.mlir --input random:1 -q -m tiny4");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("no run with 2 x grid.lanes"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("0, which no factor changes: "), std::string::npos) << run.out;
}

TEST(Sensitivity, SaysWhichNumbersItRounds) {
  const std::string options = "-m tiny4 --all --set costs.f32div=3 --set costs.f32sqrt=1 ";
  const json all = json::parse(superstep(kProgram + options).out);
  const json rounded = row_of(all, "costs.f32div")["outcomes"];
  EXPECT_EQ(rounded[0]["value"], "2");
  EXPECT_EQ(rounded[1]["value"], "6");
  const json same = row_of(all, "costs.f32sqrt")["outcomes"];
  EXPECT_EQ(same[0]["problem"], "rounded it is 1");
  EXPECT_FALSE(same[0].contains("device_cycles"));
  const ProgramRun run =
      superstep("sensitivity models/quickstart/affine.mlir --input random:1 -q " + options);
  EXPECT_NE(run.out.find("rounded: costs.f32div x 0.5 of 3 is 2"), std::string::npos) << run.out;
}

TEST(Sensitivity, LooksAtAssumedNumbersThatWereScaled) {
  const json document =
      json::parse(superstep(kProgram + "-m tiny4 --set 'sync.external_latency=x1'").out);
  EXPECT_FALSE(row_of(document, "sync.external_latency").is_null());
}

}  // namespace
}  // namespace superstep
