#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "report/numbers.h"
#include "tests/tools/views.h"

namespace superstep {
namespace {

TEST_F(Views, OfASummarySayWhatItLacksAndWhatToTraceWith) {
  const std::string file = (scratch_folder() / "summary.h5").string();
  ASSERT_EQ(superstep("run models/linear_regression/train_step.mlir -m small64 --input "
                      "models/linear_regression/train.h5 --repeat 3 --trace summary -q -o " +
                      file)
                .code,
            0);
  for (const std::string view : {"supersteps", "tiles", "host", "bounds", "bsp"}) {
    const ProgramRun run = superstep("report " + file + " --view " + view, "COLUMNS=200");
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.out, "--view " + view +
                           " takes a trace of level superstep, this one is of level summary: run "
                           "again with `--trace superstep`.\n");
    const json table =
        json::parse(superstep("report " + file + " --json --view " + view).out)["tables"][0];
    EXPECT_TRUE(table["rows"].empty());
    EXPECT_EQ(table["notes"].size(), 1u);
    // With another trace it is said of which one.
    if (view == "supersteps" || view == "bounds" || view == "bsp") continue;
    const ProgramRun diff = superstep("report diff " + trace() + " " + file + " --view " + view);
    EXPECT_EQ(diff.code, 0);
    std::string words;
    std::istringstream text(diff.out);
    for (std::string word; text >> word;) words += word + ' ';
    EXPECT_NE(words.find(file + ": --view " + view + " takes a trace of level superstep"),
              std::string::npos)
        << diff.out;
  }
  EXPECT_NE(
      superstep("report " + file + " --view ops --group-by call").out.find("`--trace superstep`"),
      std::string::npos);
  for (const std::string view : {"ops", "steps", "memory", "exchange"})
    EXPECT_EQ(superstep("report " + file + " --view " + view).out.find("takes a trace"),
              std::string::npos)
        << view;
}

TEST_F(Views, OfStreamsHaveTheLongestFirstWithTheirShares) {
  const json table = tables("--view host")[0];
  EXPECT_TRUE(std::ranges::is_sorted(column(table, "cycles"), std::ranges::greater{}));
  EXPECT_NEAR(sum(column(table, "%")), 1, 1e-9);
  EXPECT_EQ(tables("--view host --top 2")[0]["rows"].size(), 2u);
}

TEST_F(Views, OfCodeletsAddUpWhatWorkersDo) {
  const std::string file = (scratch_folder() / "vertices.h5").string();
  ASSERT_EQ(
      superstep("run models/quickstart/affine.mlir -m tiny4 --input "
                "models/quickstart/affine_input.h5 --trace instruction --trace-tiles 0-3 -q -o " +
                file)
          .code,
      0);
  const Hdf5File trace = Hdf5File::open(file, Hdf5File::Access::kRead);
  const auto read = [&](const std::string& name) {
    return trace.read_all<std::uint64_t>(name, Hdf5Type::kU64);
  };
  const std::vector<std::uint64_t> cycles = read("/vertices/cycles"),
                                   type = read("/vertices/vertex_type"),
                                   superstep_of = read("/vertices/superstep"),
                                   tile = read("/vertices/tile"), step = read("/vertices/step"),
                                   worker = read("/vertices/worker"),
                                   launch = read("/vertices/launch_cycle");
  const std::vector<std::string> names = trace.read_text("/program/vertex_type/name"),
                                 steps = trace.read_text("/program/step/name");
  const json views =
      json::parse(superstep("report " + file + " --json --view codelets --top 0").out)["tables"];
  ASSERT_EQ(views.size(), 2u) << "codelets and instructions";
  const json& table = views[0];
  EXPECT_EQ(sum(column(table, "cycles")), static_cast<double>(sum_of(cycles)));
  EXPECT_EQ(sum(column(table, "runs")), static_cast<double>(cycles.size()));
  EXPECT_NEAR(sum(column(table, "%")), 1, 1e-9);
  // The codelet with most, by hand.
  const std::string codelet = table["rows"][0][0];
  std::map<std::array<std::uint64_t, 3>, std::map<std::uint64_t, std::uint64_t>> busy;
  std::set<std::array<std::uint64_t, 3>> launches;
  std::uint64_t longest = 0, of_codelet = 0;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    if (names.at(type[i]) != codelet) continue;
    busy[{superstep_of[i], tile[i], step[i]}][worker[i]] += cycles[i];
    launches.insert({superstep_of[i], tile[i], launch[i]});
    longest = std::max(longest, cycles[i]);
    of_codelet += cycles[i];
  }
  std::uint64_t slots = 0;
  for (const auto& [place, by_worker] : busy)
    slots +=
        6 * std::ranges::max_element(by_worker, {}, [](const auto& w) { return w.second; })->second;
  EXPECT_EQ(column(table, "cycles")[0], static_cast<double>(of_codelet));
  EXPECT_EQ(column(table, "launches")[0], static_cast<double>(launches.size()));
  EXPECT_EQ(column(table, "longest")[0], static_cast<double>(longest));
  EXPECT_DOUBLE_EQ(column(table, "balance")[0],
                   static_cast<double>(of_codelet) / static_cast<double>(slots));
  EXPECT_EQ(sum(column(views[1], "issued")),
            static_cast<double>(trace.dims("/instructions/cycle")[0]));
  EXPECT_EQ(sum(column(views[1], "slot_wait")),
            static_cast<double>(sum_of(read("/instructions/slot_wait_cycles"))));
  const std::string report = superstep("report " + file).out;
  EXPECT_NE(report.find(grouped(cycles.size()) + " of their runs and "), std::string::npos)
      << report;
  EXPECT_EQ(superstep("report " + Views::trace()).out.find("of their runs"), std::string::npos);
  EXPECT_NE(superstep("report " + Views::trace() + " --view codelets").out.find("`--trace vertex`"),
            std::string::npos);
}

TEST_F(Views, OfCodeletsKeepTheirSharesOfAllWhereSomeAreShown) {
  const std::string file = (scratch_folder() / "shares.h5").string();
  ASSERT_EQ(superstep("run models/quickstart/affine.mlir -m tiny4 --input "
                      "models/quickstart/affine_input.h5 --trace vertex -q -o " +
                      file)
                .code,
            0);
  const auto shares = [&](const std::string& match) {
    const json table = json::parse(
        superstep("report " + file + " --json --view codelets --match " + match).out)["tables"][0];
    return column(table, "%");
  };
  const std::vector<double> all = shares("'*'"), some = shares("'dense_product*'");
  ASSERT_EQ(some.size(), 1u);
  ASSERT_GT(all.size(), 1u);
  EXPECT_EQ(std::ranges::count(all, some[0]), 1);
}

TEST_F(Views, OfWindowsSayThatWorkersAreLeftOut) {
  const auto run = [](const std::string& name, const std::string& window) {
    const std::string file = (scratch_folder() / name).string();
    EXPECT_EQ(superstep("run models/quickstart/affine.mlir -m tiny4 --input "
                        "models/quickstart/affine_input.h5 --trace vertex -q -o " +
                        file + window)
                  .code,
              0);
    return file;
  };
  const std::string whole = run("whole.h5", ""), part = run("part.h5", " --trace-tiles 0");
  const auto words_of = [](const std::string& words) {
    return superstep("report " + words, "COLUMNS=400").out;
  };
  const std::string diff = words_of("diff " + whole + " " + part + " --view codelets");
  EXPECT_NE(diff.find(part + ": The trace has "), std::string::npos) << diff;
  EXPECT_EQ(diff.find(whole + ": The trace has "), std::string::npos) << diff;
  const std::string seen = words_of(part + " --view insights"),
                    all = words_of(whole + " --view insights");
  EXPECT_NE(seen.find("not all of it traced: "), std::string::npos) << seen;
  EXPECT_EQ(seen.find("few-flops (level vertex)"), std::string::npos) << seen;
  EXPECT_NE(seen.find("of the time of workers that are traced they"), std::string::npos) << seen;
  EXPECT_NE(all.find("of the time of workers they"), std::string::npos) << all;
}

}  // namespace
}  // namespace superstep
