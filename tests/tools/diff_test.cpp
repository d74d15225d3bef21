#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "report/numbers.h"
#include "tests/tools/views.h"

namespace superstep {
namespace {

TEST_F(Views, OfTwoRunsSayWhichOperationAndPartMoved) {
  const std::string slower = (scratch_folder() / "slower.h5").string();
  ASSERT_EQ(superstep("run models/linear_regression/train_step.mlir -m small64 --input "
                      "models/linear_regression/train.h5 --repeat 3 -q --set "
                      "'sync.internal_latency=168 cycles' -o " +
                      slower)
                .code,
            0);
  const ProgramRun run = superstep("report diff " + trace() + " " + slower + " --top 0 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const json document = json::parse(run.out)["tables"];
  const json& parts = document[0];
  const std::vector<double> before = column(parts, "before"), after = column(parts, "after");
  // Of device, compute, exchange, sync, host and total.
  EXPECT_EQ(before[1], after[1]);
  EXPECT_GT(after[3], before[3]);
  const std::vector<double> was = column(document[1], "before"), is = column(document[1], "after");
  EXPECT_EQ(sum(is) - sum(was), after[0] - before[0]);
  EXPECT_EQ(sum(column(document[1], "moved")), after[0] - before[0]);
  // Of a run with itself nothing moves.
  const ProgramRun same = superstep("report diff " + trace() + " " + trace());
  EXPECT_NE(same.out.find("Operations: nothing moved"), std::string::npos) << same.out;
}

TEST_F(Views, OfTwoRunsSayHowManyCallsEachHas) {
  const std::string once = (scratch_folder() / "once.h5").string();
  ASSERT_EQ(superstep("run models/linear_regression/train_step.mlir -m small64 --input random:1 -q "
                      "-o " +
                      once)
                .code,
            0);
  const std::string text = superstep("report diff " + once + " " + trace()).out;
  EXPECT_NE(text.find("Before: 1 call, after: 3."), std::string::npos) << text;
}

TEST_F(Views, OfTwoRunsCompareTablesRowByRow) {
  const std::string fewer = (scratch_folder() / "fewer.h5").string();
  ASSERT_EQ(superstep("run models/linear_regression/train_step.mlir -m small64 --input "
                      "models/linear_regression/train.h5 --repeat 4 -q --trace tile -o " +
                      fewer)
                .code,
            0);
  const auto rows_of = [](const std::string& file, const std::string& view) {
    const std::string words = "report " + file + " --json --top 0 --view " + view;
    return json::parse(superstep(words).out)["tables"];
  };
  const auto whole = [](const std::string& words) {
    const ProgramRun run = superstep("report diff " + words);
    EXPECT_EQ(run.code, 0) << run.err;
    return json::parse(run.out)["tables"];
  };
  struct Case {
    const char *view, *main;
    std::size_t table;
  };
  for (const auto& [view, main, number] :
       {Case{"steps", "cycles", 0}, Case{"exchange", "cycles", 0}, Case{"host", "cycles", 0},
        Case{"memory", "bytes", 2}, Case{"tiles", "compute_then", 1}}) {
    const json before = rows_of(trace(), view)[number], after = rows_of(fewer, view)[number];
    const std::string words = trace() + " " + fewer + " --json --view " + view;
    const json all = whole(words + " --top 0");
    ASSERT_EQ(all.size(), rows_of(fewer, view).size() + 1) << view;
    const json& table = all[number + 1];
    EXPECT_EQ(sum(column(table, "moved")), sum(column(after, main)) - sum(column(before, main)))
        << view;
    EXPECT_EQ(sum(column(table, "after")) - sum(column(table, "before")),
              sum(column(table, "moved")))
        << view;
    if (std::string(view) == "tiles" || table["rows"].size() < 3) continue;
    EXPECT_EQ(sum(column(whole(words + " --top 2")[number + 1], "moved")),
              sum(column(table, "moved")))
        << view << ": the last row has the rest";
  }
  for (const char* view : {"steps", "tiles", "memory", "exchange", "host"}) {
    const json same = whole(trace() + " " + trace() + " --json --view " + view);
    for (std::size_t i = 1; i < same.size(); ++i) EXPECT_TRUE(same[i]["rows"].empty()) << same[i];
  }
  // A tile for which nobody waits has no row there: what it computes in all is not 0.
  for (const json& column : whole(trace() + " " + fewer + " --json --view tiles")[2]["columns"])
    EXPECT_NE(column["name"], "compute_in_all");
  const std::string none =
      superstep("report diff " + trace() + " " + fewer + " --match 'zzz*'").out;
  EXPECT_NE(none.find("Nothing here has a name like 'zzz*'."), std::string::npos) << none;
  EXPECT_EQ(none.find("nothing moved"), std::string::npos) << none;
  const std::string text = superstep("report diff " + trace() + " " + fewer, "COLUMNS=300").out;
  EXPECT_TRUE(text.starts_with("From " + trace() + " (jit_train_step on small64) to " + fewer +
                               " (jit_train_step on small64)\n"))
      << text;
  EXPECT_EQ(superstep("report diff " + trace() + " " + fewer + " --view bounds").code, 2);
  EXPECT_EQ(
      superstep("report diff " + trace() + " " + fewer + " --view host --group-by opcode").code, 2);
}

TEST_F(Views, KeepWhatTellsRowsApartAndWhatExplainsThem) {
  const std::string steps = superstep("report " + trace() + " --view steps --top 0").out;
  const std::string heading = steps.substr(steps.find('\n') + 1, 80);
  EXPECT_NE(heading.find("#  kind "), std::string::npos) << steps;
  const std::string few = (scratch_folder() / "few_tiles.h5").string();
  ASSERT_EQ(superstep("run models/linear_regression/train_step.mlir -m small64 --input "
                      "models/linear_regression/train.h5 --repeat 3 -q --set grid.tiles=16 -o " +
                      few)
                .code,
            0);
  for (const std::string by : {"operation", "opcode", "python"}) {
    const std::string words = "report diff " + trace() + " " + few + " --group-by " + by;
    const json table = json::parse(superstep(words + " --json --top 0").out)["tables"][1];
    std::string most;
    double of_most = 0;
    for (const char* part : {"compute", "exchange", "sync"}) {
      double moved = 0;
      for (const double by_row : column(table, part)) moved += std::abs(by_row);
      if (moved > of_most) most = part;
      of_most = std::max(of_most, moved);
    }
    const std::string text = superstep(words).out;
    const std::string line = text.substr(text.find('\n', text.find("Operations: ")) + 1);
    EXPECT_NE(line.substr(0, line.find('\n')).find(most), std::string::npos) << text;
  }
}

TEST_F(Views, OfTwoProgramsPairWhatIsInBothAndShowWhatIsNew) {
  const auto run = [](const std::string& name, const std::string& put_in) {
    const std::filesystem::path module = scratch_folder() / (name + ".mlir");
    std::ofstream(module) << "func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n" +
                                 put_in + R"(
  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.sine %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
})";
    const std::string file = (scratch_folder() / (name + ".h5")).string();
    EXPECT_EQ(superstep("run " + module.string() + " -m tiny4 --input random:1 -q -o " + file).code,
              0);
    return file;
  };
  const std::string dot =
      "stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, "
      "tensor<64x64xf32>) -> tensor<64x64xf32>\n";
  const std::string before = run("before", "  %0 = " + dot);
  const std::string after =
      run("after", "  %9 = " + dot + "  %0 = stablehlo.exponential %9 : tensor<64x64xf32>");
  const json table = json::parse(
      superstep("report diff " + before + " " + after + " --top 0 --json").out)["tables"][1];
  const auto at = [&](const char* name) {
    const json& columns = table["columns"];
    return std::ranges::find_if(columns, [&](const json& c) { return c["name"] == name; }) -
           columns.begin();
  };
  std::size_t exponentials = 0;
  for (const json& row : table["rows"]) {
    const bool is_new = row[static_cast<std::size_t>(at("before"))].is_null();
    const bool is_exponential = row[0].get<std::string>().starts_with("exponential");
    exponentials += is_exponential ? 1 : 0;
    EXPECT_EQ(is_new, is_exponential) << row;
    EXPECT_FALSE(row[static_cast<std::size_t>(at("after"))].is_null()) << "gone: " << row;
  }
  EXPECT_EQ(exponentials, 1u) << table;
  const std::string text = superstep("report diff " + before + " " + after).out;
  EXPECT_NE(text.find("  was  "), std::string::npos) << "names before: " << text;
  EXPECT_EQ(superstep("report diff " + before + " " + after + " --group-by call").code, 2);
  // What is not shown is in the last row.
  const auto of_others = [&](const std::string& top) {
    const std::string words = "report diff " + trace() + " " + after + " --json --top " + top;
    return json::parse(superstep(words).out)["tables"][1];
  };
  const json all = of_others("0"), few = of_others("2");
  EXPECT_GT(all["rows"].size(), 3u);
  EXPECT_EQ(few["rows"].size(), 3u);
  for (const char* name : {"before", "after", "moved", "compute", "exchange", "sync"})
    EXPECT_EQ(sum(column(few, name)), sum(column(all, name))) << name;
}

}  // namespace
}  // namespace superstep
