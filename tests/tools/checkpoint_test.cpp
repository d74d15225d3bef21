// `run --save-checkpoint` and `run --from-checkpoint`.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hdf5_file.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

constexpr const char* kProgram = "models/linear_regression/train_step.mlir";
constexpr const char* kCalls = " -m tiny4 --input models/linear_regression/train.h5 --repeat 3 -q ";

class CheckpointCommand : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] ProgramRun run(const std::string& words) const {
    return superstep(std::string("run ") + kProgram + kCalls + words);
  }

 private:
  std::filesystem::path folder_ = scratch_folder();
};

TEST_F(CheckpointCommand, ARunFromItEndsWithTheSameParametersInTheSameCycle) {
  const ProgramRun whole = run("--json --output " + file("whole.h5") + " --save-checkpoint " +
                               file("checkpoint.h5") + " --at-superstep 2");
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto answer = nlohmann::json::parse(whole.out);
  EXPECT_EQ(answer["files"]["checkpoint"], file("checkpoint.h5"));
  const ProgramRun rest = run("--json --output " + file("rest.h5") + " --from-checkpoint " +
                              file("checkpoint.h5") + " -o " + file("trace.h5"));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(text_of(file("whole.h5")), text_of(file("rest.h5"))) << "the first call was going on";
  const auto of_rest = nlohmann::json::parse(rest.out);
  EXPECT_EQ(of_rest["supersteps"].get<int>() + 2, answer["supersteps"].get<int>());
  const ProgramRun report = superstep("report " + file("trace.h5"));
  EXPECT_EQ(report.code, 0) << report.err;
}

TEST_F(CheckpointCommand, OneOfTheSuperstepInFrontOfTheHostsFirstVisitGoesOn) {
  const std::string words =
      "run models/quickstart/affine.mlir -m tiny4 --input random:1 -q --output ";
  ASSERT_EQ(superstep(words + file("whole.h5") + " --save-checkpoint " + file("c.h5") +
                      " --at-superstep 1")
                .code,
            0);
  const ProgramRun rest = superstep(words + file("rest.h5") + " --from-checkpoint " + file("c.h5"));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(text_of(file("whole.h5")), text_of(file("rest.h5")));
  const ProgramRun twice =
      superstep(words + file("rest.h5") + " --repeat 2 --from-checkpoint " + file("c.h5"));
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("made in call 1, the last one, and 2 are asked for"), std::string::npos)
      << twice.err;
}

/// A column of numbers.
std::vector<std::byte> bytes_of(const Hdf5File& file, const std::string& path) {
  const Hdf5Type type = file.type(path);
  const std::uint64_t rows = file.dims(path).at(0);
  std::vector<std::byte> out(rows * size_of(type));
  if (rows != 0) file.read_rows(path, type, 0, rows, out);
  return out;
}

TEST_F(CheckpointCommand, TheTraceOfTheRestIsThatOfTheRunFromThereOn) {
  ASSERT_EQ(run("-o " + file("whole.h5") + " --save-checkpoint " + file("checkpoint.h5") +
                " --at-superstep 6")
                .code,
            0);
  ASSERT_EQ(run("-o " + file("rest.h5") + " --from-checkpoint " + file("checkpoint.h5")).code, 0);
  const Hdf5File whole = Hdf5File::open(file("whole.h5"), Hdf5File::Access::kRead);
  const Hdf5File rest = Hdf5File::open(file("rest.h5"), Hdf5File::Access::kRead);
  int columns = 0;
  for (const std::string& name : rest.datasets("/supersteps")) {
    const std::string path = "/supersteps/" + name;
    if (rest.type(path) == Hdf5Type::kText || rest.dims(path).size() != 1) continue;
    const std::vector<std::byte> all = bytes_of(whole, path), behind = bytes_of(rest, path);
    ASSERT_LT(behind.size(), all.size()) << path;
    EXPECT_TRUE(
        std::equal(behind.begin(), behind.end(), all.end() - static_cast<long>(behind.size())))
        << path;
    ++columns;
  }
  EXPECT_GT(columns, 10);
}

TEST_F(CheckpointCommand, TheTraceOfTheRestHasItsLaunchesAndTransfers) {
  const std::string level = " --trace tile -o ";
  ASSERT_EQ(run("-o " + file("whole.h5") + " --save-checkpoint " + file("checkpoint.h5") +
                " --at-superstep 6")
                .code,
            0);
  // The level of the trace is not the program's.
  ASSERT_EQ(run(level + file("rest.h5") + " --from-checkpoint " + file("checkpoint.h5")).code, 0);
  const Hdf5File whole = Hdf5File::open(file("whole.h5"), Hdf5File::Access::kRead);
  const Hdf5File rest = Hdf5File::open(file("rest.h5"), Hdf5File::Access::kRead);
  for (const std::string path : {"/launches/superstep", "/host/superstep"}) {
    std::vector<std::uint32_t> all = whole.read_all<std::uint32_t>(path, Hdf5Type::kU32);
    std::erase_if(all, [](std::uint32_t superstep) { return superstep < 6; });
    EXPECT_EQ(rest.read_all<std::uint32_t>(path, Hdf5Type::kU32), all) << path;
    EXPECT_FALSE(all.empty()) << path;
  }
}

TEST_F(CheckpointCommand, AReportOfTheRestCountsTheCallsThatEndThere) {
  const std::string affine =
      "run models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 -q "
      "--repeat 3 ";
  ASSERT_EQ(superstep(affine + "--save-checkpoint " + file("c.h5") + " --at-superstep 5").code, 0);
  const std::string rest = affine + "--from-checkpoint " + file("c.h5") + " -o " + file("t.h5");
  const auto answer = nlohmann::json::parse(superstep(rest + " --json").out);
  EXPECT_EQ(answer["calls"], 2);
  EXPECT_EQ(answer["begins_inside"], true);
  EXPECT_EQ(answer["cycles"]["predicted"], 0);
  for (const ProgramRun& text : {superstep(rest), superstep("report " + file("t.h5"))}) {
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_EQ(text.out.find("A call"), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("predicted"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("goes on from a checkpoint"), std::string::npos) << text.out;
  }
}

TEST_F(CheckpointCommand, BehindAVisitBetweenCallsAReportOfTheRestIsThatOfWholeCalls) {
  const std::string affine =
      "run models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 -q "
      "--json --repeat ";
  const auto answer_of = [&](const std::string& words) {
    return nlohmann::json::parse(superstep(affine + words).out);
  };
  const auto one = answer_of("1"), three = answer_of("3 -o " + file("whole.h5"));
  const Hdf5File whole = Hdf5File::open(file("whole.h5"), Hdf5File::Access::kRead);
  std::vector<std::size_t> visits;
  const auto host = whole.read_all<std::uint64_t>("/supersteps/host_cycles", Hdf5Type::kU64);
  for (std::size_t s = 0; s < host.size(); ++s) {
    if (host[s] != 0) visits.push_back(s);
  }
  ASSERT_EQ(visits.size(), 4u);
  // The host's arrival for the first call, the end of that visit, and that of the next one.
  for (const std::size_t at : {visits[0], visits[0] + 1, visits[1] + 1}) {
    SCOPED_TRACE(at);
    const int calls = at == visits[1] + 1 ? 2 : 3;
    (void)answer_of("3 --save-checkpoint " + file("c.h5") + " --at-superstep " +
                    std::to_string(at));
    const auto rest = answer_of("3 --from-checkpoint " + file("c.h5") + " -o " + file("t.h5"));
    EXPECT_EQ(rest["calls"], calls);
    EXPECT_EQ(rest["begins_inside"], false);
    // A run has one sync in front of its first visit: 300 ns at 1.325 GHz.
    const int predicted = three["cycles"]["predicted"].get<int>();
    EXPECT_EQ(rest["cycles"]["predicted"],
              calls == 3 ? predicted - 398 : predicted - one["cycles"]["predicted"].get<int>());
    const ProgramRun text = superstep("report " + file("t.h5"));
    EXPECT_NE(text.out.find("A call"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("predicted"), std::string::npos) << text.out;
  }
  // A superstep later it is inside the call.
  (void)answer_of("3 --save-checkpoint " + file("c.h5") + " --at-superstep " +
                  std::to_string(visits[1] + 2));
  EXPECT_EQ(answer_of("3 --from-checkpoint " + file("c.h5"))["begins_inside"], true);
}

TEST_F(CheckpointCommand, OneGoesOnWithTheTensorsThatItWasMadeWithAlone) {
  const std::string run = "run models/quickstart/affine.mlir -m tiny4 -q --input ";
  const std::string made = "models/quickstart/affine_input.h5";
  ASSERT_EQ(
      superstep(run + made + " --repeat 2 --save-checkpoint " + file("c.h5") + " --at-superstep 2")
          .code,
      0);
  const std::string from = " --repeat 2 --from-checkpoint " + file("c.h5");
  const ProgramRun other = superstep(run + "random:1" + from + " -o " + file("t.h5"));
  EXPECT_EQ(other.code, 5);
  for (const char* argument : {"arg0", "arg1"}) {
    EXPECT_NE(other.err.find("c.h5: error: was made with another " + std::string(argument)),
              std::string::npos)
        << other.err;
  }
  EXPECT_FALSE(std::filesystem::exists(file("t.h5.part")));
  EXPECT_EQ(superstep(run + made + from).code, 0);
}

TEST_F(CheckpointCommand, AnotherNumberOfCallsOrAPointBehindIsRefused) {
  const std::string from = " --from-checkpoint " + file("checkpoint.h5");
  const std::string affine =
      "run models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 -q ";
  for (const char* at : {"1", "4"}) {
    ASSERT_EQ(superstep(affine + "--repeat 3 --save-checkpoint " + file("checkpoint.h5") +
                        " --at-superstep " + at)
                  .code,
              0);
    EXPECT_EQ(superstep(affine + "--repeat 1" + from).code, 2) << at;
    EXPECT_EQ(superstep(affine + "--repeat 3" + from).code, 0) << at;
  }
  EXPECT_EQ(superstep(affine + "--repeat 3 --max-supersteps 3" + from).code, 2);
  const ProgramRun behind =
      superstep(affine + "--repeat 3 --at-superstep 3 --save-checkpoint " + file("x.h5") + from);
  EXPECT_EQ(behind.code, 2);
  EXPECT_EQ(behind.out, "") << "nothing ran that could be reported";
}

TEST_F(CheckpointCommand, ResultsOfTheRestAreComparedWithThoseOfTheLastCalls) {
  const std::string affine =
      "run models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 -q "
      "--repeat 3 ";
  ASSERT_EQ(superstep(affine + "--output " + file("whole.h5") + " --save-checkpoint " +
                      file("c.h5") + " --at-superstep 4")
                .code,
            0);
  const std::string from = affine + "--from-checkpoint " + file("c.h5") + " --expect ";
  const ProgramRun rest = superstep(from + file("whole.h5") + " --rtol 0 --atol 0");
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(superstep(from + "models/quickstart/affine_input.h5").code, 1);
}

TEST_F(CheckpointCommand, WhatDoesNotGoTogetherIsSaid) {
  EXPECT_EQ(run("--at-superstep 3").code, 2);
  EXPECT_EQ(run("--save-checkpoint " + file("c.h5")).code, 2);
  const ProgramRun late = run("--save-checkpoint " + file("c.h5") + " --at-superstep 100000");
  EXPECT_EQ(late.code, 2);
  EXPECT_NE(late.err.find("smaller --at-superstep"), std::string::npos) << late.err;
  const ProgramRun last = superstep(
      "run models/quickstart/affine.mlir -m tiny4 --input random:1 -q --at-superstep 4 "
      "--save-checkpoint " +
      file("c.h5"));
  EXPECT_EQ(last.code, 2);
  EXPECT_NE(last.err.find("is done after 4 supersteps"), std::string::npos) << last.err;
  EXPECT_FALSE(std::filesystem::exists(file("c.h5")));
  EXPECT_EQ(run("--save-checkpoint " + file("c.h5") + " --at-superstep 3").code, 0);
  const ProgramRun other = superstep("run " + std::string(kProgram) + kCalls +
                                     "--set tile.workers=5 --from-checkpoint " + file("c.h5"));
  EXPECT_EQ(other.code, 5);
  EXPECT_NE(other.err.find("c.h5: error: is a checkpoint of another program"), std::string::npos)
      << other.err;
  EXPECT_EQ(run("-o " + file("trace.h5") + " --from-checkpoint " + file("none.h5")).code, 74);
  EXPECT_FALSE(std::filesystem::exists(file("trace.h5.part")));
  EXPECT_EQ(run("--from-checkpoint models/linear_regression/train.h5").code, 5);
}

}  // namespace
}  // namespace superstep
