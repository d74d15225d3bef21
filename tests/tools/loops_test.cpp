// What compile, run and traces say of loops and branches.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hdf5_file.h"
#include "sim/trace/schema.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

using nlohmann::json;

/// A program of %x that makes %r of it by `body`.
std::string program(const std::string& name, const std::string& body) {
  const std::string path = (scratch_folder() / name).string();
  std::ofstream(path) << "func.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {\n"
                         "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
                         "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
                         "  %n = stablehlo.constant dense<0.0> : tensor<f32>\n"
                      << body << "  return %r : tensor<512xf32>\n}\n";
  return path;
}

/// A loop of so many trips.
std::string loop(int trips, const std::string& body) {
  const std::string limit =
      "  %limit = stablehlo.constant dense<" + std::to_string(trips) + "> : tensor<i32>\n";
  return limit +
         "  %l:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<512xf32> cond {\n"
         "    %p = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> "
         "tensor<i1>\n"
         "    stablehlo.return %p : tensor<i1>\n  } do {\n" +
         body +
         "    %j = stablehlo.add %i, %one : tensor<i32>\n"
         "    stablehlo.return %j, %z : tensor<i32>, tensor<512xf32>\n  }\n"
         "  %r = stablehlo.negate %l#1 : tensor<512xf32>\n";
}

constexpr const char* kMoves =
    "    %s = stablehlo.reduce(%y init: %n) applies stablehlo.maximum across dimensions = [0] : "
    "(tensor<512xf32>, tensor<f32>) -> tensor<f32>\n"
    "    %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<512xf32>\n"
    "    %z = stablehlo.add %y, %b : tensor<512xf32>\n";
constexpr const char* kComputes = "    %z = stablehlo.sqrt %y : tensor<512xf32>\n";

json of(const std::string& words) {
  const ProgramRun run = superstep(words + " -m tiny4 --json");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  return json::parse(run.out);
}

TEST(Loops, APlanHasTheirStepsInsideAndTheirTrips) {
  const json answer = of("compile " + program("moves.mlir", loop(10, kMoves)));
  const json& plan = answer["plan"];
  const auto its = std::ranges::find(plan, json("loop"), [](const json& s) { return s["kind"]; });
  ASSERT_NE(its, plan.end());
  EXPECT_EQ((*its)["trips"], 10);
  const auto number = its - plan.begin();
  std::uint64_t inside = 0, barriers = 0;
  for (const json& step : plan) {
    if (step["parent"] != number) continue;
    inside += step["predicted_cycles"].get<std::uint64_t>();
    if (step["kind"] == "exchange") barriers += 68;  // sync.internal_latency
  }
  EXPECT_GT(barriers, 0U);
  EXPECT_EQ((*its)["predicted_cycles"], inside + barriers);
  EXPECT_GT(answer["predicted_cycles"], 9 * (*its)["predicted_cycles"].get<std::uint64_t>());
}

TEST(Loops, AreOneRowAndTheirStepsAreIndentedInTheColumnsThatThereAre) {
  const ProgramRun run =
      superstep("compile " + program("moves.mlir", loop(1000, kMoves)) + " -m tiny4 -q");
  std::istringstream lines(run.out);
  std::string line;
  bool has_loop = false, is_indented = false;
  while (std::getline(lines, line)) {
    if (!line.starts_with("Plan of ")) {
      EXPECT_LE(line.size(), 80U) << line;
    }
    has_loop = has_loop || line.find("1,000 trips") != std::string::npos;
    is_indented = is_indented || line.find("compute     reduce") != std::string::npos;
  }
  EXPECT_TRUE(has_loop) << run.out;
  EXPECT_TRUE(is_indented) << run.out;
}

TEST(Loops, PredictionsTakeTheTripsThatAreKnown) {
  for (const int trips : {1, 10, 100}) {
    const json run = of("run --input random:1 " + program("moves.mlir", loop(trips, kMoves)));
    const double predicted = run["cycles"]["predicted"], device = run["cycles"]["device"];
    EXPECT_GT(predicted, 0.8 * device) << trips;
    EXPECT_LE(predicted, device) << trips;
  }
}

TEST(Loops, OfABranchTheLongestArmIsPredicted) {
  const std::string arms =
      "  %0 = \"stablehlo.case\"(%zero) ({\n"
      "    %a = stablehlo.negate %x : tensor<512xf32>\n"
      "    stablehlo.return %a : tensor<512xf32>\n"
      "  }, {\n"
      "    %b = stablehlo.tanh %x : tensor<512xf32>\n"
      "    %c = stablehlo.reverse %b, dims = [0] : tensor<512xf32>\n"
      "    stablehlo.return %c : tensor<512xf32>\n"
      "  }) : (tensor<i32>) -> tensor<512xf32>\n"
      "  %r = stablehlo.negate %0 : tensor<512xf32>\n";
  const json plan = of("compile " + program("arms.mlir", arms))["plan"];
  std::vector<std::uint64_t> cycles;
  std::uint64_t branch = 0;
  for (const json& step : plan) {
    if (step["kind"] == "arm") cycles.push_back(step["predicted_cycles"]);
    if (step["kind"] == "branch") branch = step["predicted_cycles"];
  }
  ASSERT_EQ(cycles.size(), 2U);
  EXPECT_GT(cycles[1], cycles[0]);
  EXPECT_EQ(branch, cycles[1]);
}

TEST(Loops, AReportSaysHowOftenStepsRanAlsoWithoutABarrier) {
  for (const char* body : {kMoves, kComputes}) {
    const json run = of("run --input random:1 --repeat 2 " + program("runs.mlir", loop(50, body)));
    std::uint64_t most = 0;
    for (const json& step : run["steps"]) most = std::max<std::uint64_t>(most, step["runs"]);
    EXPECT_EQ(most, 100U);
    std::uint64_t sum = 0;
    for (const json& step : run["steps"]) sum += step["compute_cycles"].get<std::uint64_t>();
    EXPECT_EQ(sum, run["cycles"]["compute"]);
  }
  const ProgramRun text = superstep("run --input random:1 " +
                                    program("runs.mlir", loop(50, kComputes)) + " -m tiny4 -q");
  EXPECT_NE(text.out.find("runs"), std::string::npos) << text.out;
}

/// A loop that doubles %x until its largest element is no less than 100.
constexpr const char* kUntilLarge =
    "  %most = stablehlo.constant dense<100.0> : tensor<f32>\n"
    "  %two = stablehlo.constant dense<2.0> : tensor<512xf32>\n"
    "  %r = stablehlo.while(%y = %x) : tensor<512xf32> cond {\n"
    "    %s = stablehlo.reduce(%y init: %n) applies stablehlo.maximum across dimensions = [0] : "
    "(tensor<512xf32>, tensor<f32>) -> tensor<f32>\n"
    "    %p = stablehlo.compare LT, %s, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n  } do {\n"
    "    %z = stablehlo.multiply %y, %two : tensor<512xf32>\n"
    "    stablehlo.return %z : tensor<512xf32>\n  }\n";

TEST(Loops, WhatAConditionThatAVectorDecidesLeavesOutDidNotRun) {
  // Random numbers are below 1, and the largest of so many is above 1/2: doubled seven times.
  const std::string words = "run --input random:1 " + program("until.mlir", kUntilLarge);
  const std::string trace = (scratch_folder() / "until.h5").string();
  const ProgramRun run = superstep(words + " -m tiny4 --json -o " + trace);
  ASSERT_EQ(run.code, 0) << run.err;
  for (const std::string& text : {run.out, superstep("report --json " + trace).out}) {
    const json answer = json::parse(text);
    std::uint64_t flops = 0;
    for (const json& operation : answer["operations"]) {
      const std::string name = operation["name"];
      if (name.starts_with("multiply")) {
        EXPECT_EQ(operation["runs"], 7) << name;
        EXPECT_EQ(operation["flops"], 7 * 512) << name;
      }
      flops += operation["flops"].get<std::uint64_t>();
    }
    EXPECT_EQ(answer["flops"], flops);
  }
}

TEST(Loops, FlopsOfARunAreThoseOfItsOperations) {
  for (const char* body : {kMoves, kComputes}) {
    const json run = of("run --input random:1 --repeat 2 " + program("flops.mlir", loop(50, body)));
    std::uint64_t flops = 0;
    for (const json& operation : run["operations"]) {
      flops += operation["flops"].get<std::uint64_t>();
    }
    EXPECT_EQ(run["flops"], flops);
    EXPECT_GE(flops, 2 * 50 * 512U);
  }
}

TEST(Loops, RowsOfATraceKnowTheirTrip) {
  const std::string trace = (scratch_folder() / "trips.h5").string();
  const ProgramRun run = superstep("run --input random:1 --repeat 2 -q -m tiny4 -o " + trace + " " +
                                   program("trips.mlir", loop(5, kMoves)));
  ASSERT_EQ(run.code, 0) << run.err;
  const Hdf5File file = Hdf5File::open(trace, Hdf5File::Access::kRead);
  const auto trip = file.read_all<std::uint64_t>("/supersteps/trip", Hdf5Type::kU64);
  const auto step = file.read_all<std::uint32_t>("/supersteps/exchange_step", Hdf5Type::kU32);
  const auto parent = file.read_all<std::int32_t>("/program/step/parent", Hdf5Type::kI32);
  const auto trips = file.read_all<std::uint64_t>("/program/step/trips", Hdf5Type::kU64);
  std::map<std::uint32_t, std::vector<std::uint64_t>> of_step;
  for (std::size_t row = 0; row < trip.size(); ++row) {
    if (parent[step[row]] < 0) {
      EXPECT_EQ(trip[row], 0U);
      continue;
    }
    EXPECT_EQ(trips[static_cast<std::size_t>(parent[step[row]])], 5U);
    of_step[step[row]].push_back(trip[row]);
  }
  ASSERT_FALSE(of_step.empty());
  for (const auto& [number, its] : of_step) {
    EXPECT_EQ(its, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4})) << number;
  }
}

TEST(Loops, WithoutABarrierTheyEndAtTheLimitAndSayWhere) {
  const std::string endless =
      program("endless.mlir",
              "  %l = stablehlo.while(%i = %zero) : tensor<i32> cond {\n"
              "    %p = stablehlo.compare GE, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> "
              "tensor<i1>\n"
              "    stablehlo.return %p : tensor<i1>\n  } do {\n"
              "    %j = stablehlo.and %i, %one : tensor<i32>\n"
              "    stablehlo.return %j : tensor<i32>\n  }\n"
              "  %f = stablehlo.convert %l : (tensor<i32>) -> tensor<f32>\n"
              "  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<512xf32>\n"
              "  %r = stablehlo.add %x, %b : tensor<512xf32>\n");
  const ProgramRun run =
      superstep("run " + endless + " -m tiny4 --input random:1 -q --max-supersteps 1000");
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_NE(run.err.find("is not done after 1000 trips without a superstep"), std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("while."), std::string::npos) << run.err;
}

}  // namespace
}  // namespace superstep
