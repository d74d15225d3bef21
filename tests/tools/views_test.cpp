#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "report/numbers.h"
#include "report/text_table.h"
#include "tests/tools/views.h"

namespace superstep {
namespace {

TEST_F(Views, OperationsAddUpToTheDeviceHoweverTheyAreGrouped) {
  for (const char* by : {"operation", "opcode", "python", "source", "call"}) {
    for (const char* top : {"0", "2"}) {
      const json table = tables("--view ops --group-by " + std::string(by) + " --top " + top)[0];
      EXPECT_EQ(sum(column(table, "cycles")), attribute("device_cycles")) << by << " " << top;
      EXPECT_EQ(sum(column(table, "compute")), attribute("compute_cycles")) << by << " " << top;
      EXPECT_EQ(sum(column(table, "host")), attribute("host_cycles")) << by << " " << top;
    }
  }
  EXPECT_EQ(tables("--view ops --group-by call --top 0")[0]["rows"].size(), 3u);
}

TEST_F(Views, BoundsAndWhatIsLostAddUpToTheCyclesOfOperations) {
  for (const char* top : {"0", "3"}) {
    const json table = tables(std::string("--view bounds --top ") + top)[0];
    const std::vector<double> cycles = column(table, "cycles"), bound = column(table, "bound");
    double lost = 0;
    for (const char* part : {"imbalance", "schedule", "barriers"}) lost += sum(column(table, part));
    EXPECT_EQ(sum(cycles), attribute("device_cycles"));
    EXPECT_EQ(sum(bound) + lost, sum(cycles));
    for (std::size_t i = 0; i < cycles.size(); ++i) EXPECT_LE(bound[i], cycles[i]);
  }
  // The words of the busiest ports are those of the trace's exchanges.
  const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
  const auto runs = file.read_all<std::uint64_t>("/summary/step/count", Hdf5Type::kU64);
  const auto words = file.read_all<std::uint64_t>("/program/step/bound_cycles", Hdf5Type::kU64);
  std::uint64_t all = 0;
  for (std::size_t s = 0; s < runs.size(); ++s) all += runs[s] * words[s];
  const json table = tables("--view bounds --top 0")[0];
  EXPECT_EQ(sum(column(table, "schedule")), attribute("exchange_cycles") - all);
}

TEST_F(Views, BoundsHaveTheSameSumsHoweverOperationsAreGrouped) {
  const std::string digits = (scratch_folder() / "digits_of_bounds.h5").string();
  const ProgramRun run = superstep(
      "run models/digits_mlp/train_step.mlir -m small64 --input models/digits_mlp/train.h5 "
      "--repeat 44 --trace superstep -q -o " +
      digits);
  ASSERT_EQ(run.code, 0) << run.err;
  std::map<std::string, double> sums;
  for (const std::string by : {"operation", "opcode", "python", "source"}) {
    const ProgramRun view =
        superstep("report " + digits + " --json --view bounds --top 0 --group-by " + by);
    const json table = json::parse(view.out)["tables"][0];
    const std::vector<double> cycles = column(table, "cycles");
    for (const char* part : {"cycles", "bound", "imbalance", "schedule", "barriers"}) {
      const std::vector<double> parts = column(table, part);
      for (std::size_t i = 0; i < cycles.size(); ++i) EXPECT_LE(parts[i], cycles[i]) << by << part;
      const auto [first, is_first] = sums.emplace(part, sum(parts));
      EXPECT_EQ(sum(parts), first->second) << by << ' ' << part;
    }
  }
}

TEST_F(Views, SharesOfIssueAreInstructionsOfSuperstepsByTheirComputeCycles) {
  const json issue = json::parse(superstep("report " + trace() + " --json").out)["issue"];
  const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
  const auto all = [&](const std::string& column) {
    const auto rows = file.read_all<std::uint64_t>("/supersteps/" + column, Hdf5Type::kU64);
    return static_cast<double>(std::accumulate(rows.begin(), rows.end(), std::uint64_t{0}));
  };
  const double cycles = all("compute_cycles_sum"), aux = all("aux_instructions");
  ASSERT_GT(aux, 0);
  EXPECT_DOUBLE_EQ(issue["auxiliary"].get<double>(), aux / cycles);
  EXPECT_DOUBLE_EQ(issue["amp"].get<double>(), all("amp_instructions") / cycles);
  EXPECT_DOUBLE_EQ(issue["main"].get<double>(), (all("instructions") - aux) / cycles);
}

TEST_F(Views, OfOperationsHaveTheSharesInWhichTheirStepsIssue) {
  const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
  const auto of_steps = [&](const std::string& column) {
    return file.read_all<std::uint64_t>("/summary/step/" + column, Hdf5Type::kU64);
  };
  const auto cycles = of_steps("compute_cycles_sum"), all = of_steps("instructions"),
             aux = of_steps("aux_instructions"), amp = of_steps("amp_instructions");
  const auto operation_of = file.read_all<std::uint32_t>("/program/step/operation", Hdf5Type::kU32);
  const std::vector<std::string> names = file.read_text("/program/operation/name");
  struct Issued {
    double cycles = 0, main = 0, aux = 0, amp = 0;
  };
  std::map<std::string, Issued> expected;
  for (std::size_t s = 0; s < cycles.size(); ++s) {
    Issued& sums = expected[names.at(operation_of[s])];
    sums.cycles += static_cast<double>(cycles[s]);
    sums.main += static_cast<double>(all[s] - aux[s]);
    sums.aux += static_cast<double>(aux[s]);
    sums.amp += static_cast<double>(amp[s]);
  }
  const json table = tables("--view ops --top 0")[0];
  const std::vector<double> main = column(table, "main"), auxiliary = column(table, "aux"),
                            of_amp = column(table, "AMP");
  double most = 0;
  for (std::size_t i = 0; i < main.size(); ++i) {
    // Those whose words only move in exchanges of others have no step of their own.
    const Issued sums = expected[table["rows"][i][0]];
    if (sums.cycles == 0) {
      EXPECT_EQ(main[i] + auxiliary[i] + of_amp[i], 0) << table["rows"][i];
      continue;
    }
    EXPECT_DOUBLE_EQ(main[i], sums.main / sums.cycles) << table["rows"][i];
    EXPECT_DOUBLE_EQ(auxiliary[i], sums.aux / sums.cycles) << table["rows"][i];
    EXPECT_DOUBLE_EQ(of_amp[i], sums.amp / sums.cycles) << table["rows"][i];
    most = std::max(most, main[i]);
  }
  EXPECT_GT(most, 0);
}

TEST_F(Views, HaveTimesBesideTheirCycles) {
  const auto text = [](const std::string& words) {
    return superstep("report " + words, "COLUMNS=100").out;
  };
  for (const char* view :
       {"ops", "steps", "supersteps", "tiles", "exchange", "host", "bounds", "bsp"})
    EXPECT_NE(text(trace() + " --view " + view).find("time ("), std::string::npos) << view;
  const std::string whole = text(trace());
  EXPECT_NE(whole.find("time (", whole.find("operations of")), std::string::npos) << whole;
  // Cycles of gc200 and small64 are of 1.325 GHz.
  const std::string insights = text(trace() + " --view insights");
  const json rows = tables("--view insights")[0]["rows"];
  const auto known = std::ranges::find_if(rows, [](const json& row) { return !row[3].is_null(); });
  ASSERT_NE(known, rows.end());
  const Cycles cycles((*known)[3].get<std::uint64_t>());
  EXPECT_NE(insights.find("cycles: " + grouped(cycles) + " ("), std::string::npos) << insights;
}

TEST_F(Views, OfOperationsAndTheReportCountTheSame) {
  const std::size_t operations = tables("--view ops --top 0")[0]["rows"].size();
  const std::string report = superstep("report " + trace()).out;
  EXPECT_NE(report.find(" of " + std::to_string(operations) + " operations"), std::string::npos)
      << report;
}

TEST_F(Views, OfOperationsHaveOneRowForEachThatTakesCycles) {
  const ProgramRun run = superstep(
      "run models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 "
      "--json");
  const json report = json::parse(run.out);
  std::set<std::string> names;
  for (const json& operation : report["operations"]) names.insert(operation["name"]);
  // `add.4.arrange` is a step of add.4.
  EXPECT_EQ(names, (std::set<std::string>{"host", "dot_general.3", "add.4", "control"}));
}

TEST_F(Views, OfCallsHaveNoPlaces) {
  const auto text = [](const std::string& by) {
    return superstep("report " + trace() + " --view ops --group-by " + by, "COLUMNS=300").out;
  };
  EXPECT_NE(text("operation").find("  place"), std::string::npos);
  EXPECT_EQ(text("call").find("  place"), std::string::npos) << text("call");
}

TEST_F(Views, AndTheReportHaveTheSameInsightsFirst) {
  const json rows = tables("--view insights")[0]["rows"];
  const std::string report = superstep("report " + trace(), "COLUMNS=500").out;
  ASSERT_FALSE(rows.empty());
  for (std::size_t i = 0; i < std::min<std::size_t>(3, rows.size()); ++i)
    EXPECT_NE(
        report.find("  " + rows[i][0].get<std::string>() + ": " + rows[i][1].get<std::string>()),
        std::string::npos)
        << rows[i] << report;
  const std::string more = "  " + std::to_string(rows.size() - 3) + " more\n";
  EXPECT_EQ(report.ends_with(more), rows.size() > 3) << report;
  const json document = json::parse(superstep("report " + trace() + " --json").out)["insights"];
  ASSERT_EQ(document.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json cells = {document[i]["rule"], document[i]["found"], document[i]["operation"],
                        document[i]["cycles"], document[i]["advice"]};
    for (std::size_t c = 0; c < cells.size(); ++c)
      EXPECT_EQ(cells[c], rows[i][c].is_null() ? json(0) : rows[i][c]) << rows[i];
  }
  // Also where a run has just ended.
  const std::string again = (scratch_folder() / "again.h5").string();
  const std::string run = superstep(
                              "run models/linear_regression/train_step.mlir -m small64 --input "
                              "models/linear_regression/train.h5 --repeat 3 --trace tile -q -o " +
                                  again,
                              "COLUMNS=500")
                              .out;
  EXPECT_NE(run.find(rows[0][1].get<std::string>()), std::string::npos) << run;
}

TEST_F(Views, OfSuperstepsKeepTheLongestWhateverTheirOrder) {
  const json all = tables("--view supersteps --top 0")[0]["rows"];
  for (const std::size_t top : {1u, 2u, 5u, 9u}) {
    const json some = tables("--view supersteps --top " + std::to_string(top))[0]["rows"];
    ASSERT_EQ(some.size(), std::min(top, all.size()));
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], all[i]) << top;
  }
  const std::string text = superstep("report " + trace() + " --view supersteps --top 2").out;
  EXPECT_NE(text.find(std::to_string(all.size() - 2) + " more (`--top 0`)."), std::string::npos)
      << text;
}

TEST_F(Views, OfSuperstepsHaveTheNumbersOfTheTraceLongestFirst) {
  const json table = tables("--view supersteps --top 0")[0];
  const std::vector<double> number = column(table, "superstep"), cycles = column(table, "cycles");
  const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
  const auto compute = file.read_all<std::uint64_t>("/supersteps/compute_cycles", Hdf5Type::kU64);
  const std::vector<double> computed = column(table, "compute");
  ASSERT_EQ(number.size(), compute.size());
  EXPECT_EQ(sum(cycles), attribute("device_cycles"));
  EXPECT_TRUE(std::ranges::is_sorted(cycles, std::ranges::greater{}));
  for (std::size_t i = 0; i < number.size(); ++i)
    EXPECT_EQ(computed[i], compute[static_cast<std::size_t>(number[i])]) << number[i];
  EXPECT_EQ(tables("--view supersteps --top 2")[0]["rows"].size(), 2u);
}

TEST_F(Views, BoundsShareTheWaitOfASuperstepAmongAllThatIsLaunchedInIt) {
  const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
  const auto of_superstep = [&](const char* name) {
    return file.read_all<std::uint64_t>(std::string("/supersteps/") + name, Hdf5Type::kU64);
  };
  const auto compute = of_superstep("compute_cycles"), most = of_superstep("compute_cycles_max"),
             work = of_superstep("compute_cycles_sum");
  const auto superstep_of = file.read_all<std::uint64_t>("/launches/superstep", Hdf5Type::kU64);
  const auto step_of = file.read_all<std::uint32_t>("/launches/step", Hdf5Type::kU32);
  const auto launched = file.read_all<std::uint64_t>("/launches/cycles", Hdf5Type::kU64);
  const auto operation_of = file.read_all<std::uint32_t>("/program/step/operation", Hdf5Type::kU32);
  const auto begins = file.read_all<std::uint32_t>("/supersteps/step", Hdf5Type::kU32);
  const std::vector<std::string> names = file.read_text("/program/operation/name");
  const auto tiles = static_cast<double>(file.dims("/program/used_tile")[0]);
  std::map<std::string, double> lost;
  std::set<std::string> uneven_later;
  for (std::size_t i = 0; i < launched.size(); ++i) {
    const std::uint64_t s = superstep_of[i];
    if (compute[s] == 0) continue;
    const double wait = static_cast<double>(most[s]) - static_cast<double>(work[s]) / tiles;
    const std::string& name = names[operation_of[step_of[i]]];
    lost[name] += std::min(static_cast<double>(compute[s]), wait) *
                  static_cast<double>(launched[i]) / static_cast<double>(compute[s]);
    if (step_of[i] != begins[s]) uneven_later.insert(name);
  }
  for (const std::uint32_t step : begins) uneven_later.erase(names[operation_of[step]]);
  std::erase_if(uneven_later, [&](const std::string& name) { return lost[name] < 2; });
  EXPECT_FALSE(uneven_later.empty()) << "no operation tells sharing from booking on the first";

  const json table = tables("--view bounds --top 0")[0];
  const std::vector<double> imbalance = column(table, "imbalance");
  for (std::size_t i = 0; i < imbalance.size(); ++i) {
    const std::string name = table["rows"][i][0];
    EXPECT_NEAR(imbalance[i], lost[name], 1.5) << name;
  }
}

TEST_F(Views, OfBoundsAndInsightsHaveTheSameImbalance) {
  const json found = json::parse(superstep("report " + trace() + " --json").out)["insights"];
  const auto imbalance = std::ranges::find_if(
      found, [](const json& insight) { return insight["rule"] == "imbalance"; });
  ASSERT_NE(imbalance, found.end());
  EXPECT_EQ((*imbalance)["cycles"].get<double>(),
            sum(column(tables("--view bounds --top 0")[0], "imbalance")));
}

TEST_F(Views, StepsAreThoseOfTheTrace) {
  const json table = tables("--view steps")[0];
  const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
  const auto compute = file.read_all<std::uint64_t>("/summary/step/compute_cycles", Hdf5Type::kU64);
  const auto exchange =
      file.read_all<std::uint64_t>("/summary/step/exchange_cycles", Hdf5Type::kU64);
  const auto sync = file.read_all<std::uint64_t>("/summary/step/sync_cycles", Hdf5Type::kU64);
  std::uint64_t all = 0;
  for (std::size_t s = 0; s < compute.size(); ++s) all += compute[s] + exchange[s] + sync[s];
  EXPECT_EQ(sum(column(table, "cycles")), all);
}

// The tile that counts trips takes longest, but in the last: tanh runs beside it in the others.
TEST_F(Views, OfStepsHaveCyclesOfARunWhereTheCriticalTileRunsThem) {
  const std::filesystem::path module = scratch_folder() / "beside.mlir";
  std::ofstream(module) << R"(module @nest {
  func.func public @main(%a: tensor<16x16xf32>, %v: tensor<16xf32>, %s: tensor<f32>) -> tensor<16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %least = stablehlo.constant dense<0.0> : tensor<f32>
    %square = stablehlo.multiply %s, %s : tensor<f32>
    %always = stablehlo.compare GE, %square, %least : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.select %always, %one, %three : tensor<i1>, tensor<i32>
    %end:2 = stablehlo.while(%i = %zero, %x = %v) : tensor<i32>, tensor<16xf32>
    cond {
      %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %in:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<16xf32>
      cond {
        %m = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %m : tensor<i1>
      } do {
        %z = stablehlo.dot_general %a, %y, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16xf32>
        %t = stablehlo.tanh %z : tensor<16xf32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %t : tensor<i32>, tensor<16xf32>
      }
      %odd = stablehlo.remainder %i, %n : tensor<i32>
      %iz = stablehlo.compare EQ, %odd, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %b = "stablehlo.if"(%iz) ({
        %e = stablehlo.exponential %in#1 : tensor<16xf32>
        stablehlo.return %e : tensor<16xf32>
      }, {
        %q = stablehlo.dot_general %a, %in#1, contracting_dims = [0] x [0] : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16xf32>
        stablehlo.return %q : tensor<16xf32>
      }) : (tensor<i1>) -> tensor<16xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %b : tensor<i32>, tensor<16xf32>
    }
    return %end#1 : tensor<16xf32>
  }
}
)";
  const std::string path = (scratch_folder() / "beside.h5").string();
  const std::string words = "run " + module.string() + " -m tiny4 --input random:1 -q -o " + path;
  ASSERT_EQ(superstep(words + " --trace superstep").code, 0);
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> expected;  // runs, cycles
  {
    const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
    const auto step_of = file.read_all<std::uint32_t>("/launches/step", Hdf5Type::kU32);
    const auto cycles = file.read_all<std::uint64_t>("/launches/cycles", Hdf5Type::kU64);
    const auto runs = file.read_all<std::uint64_t>("/launches/runs", Hdf5Type::kU64);
    const std::vector<std::string> names = file.read_text("/program/step/name");
    for (std::size_t i = 0; i < cycles.size(); ++i) {
      // Without cycles only other tiles launch it.
      if (runs[i] == 0 || cycles[i] == 0) continue;
      expected[names.at(step_of[i])].first += runs[i];
      expected[names.at(step_of[i])].second += cycles[i];
    }
  }
  const json table =
      json::parse(superstep("report " + path + " --view steps --top 0 --json").out)["tables"][0];
  const std::vector<double> all_runs = column(table, "runs"), of_run = column(table, "a_run");
  std::set<std::string> fewer, none;
  for (std::size_t i = 0; i < of_run.size(); ++i) {
    if (table["rows"][i][1] != "compute") continue;
    std::string name = table["rows"][i][2];
    name.erase(0, name.find_first_not_of(' '));
    const auto [runs, cycles] = expected[name];
    EXPECT_DOUBLE_EQ(of_run[i], ratio(cycles, runs)) << name;
    if (runs == 0) none.insert(name);
    if (runs != 0 && static_cast<double>(runs) < all_runs[i]) fewer.insert(name);
  }
  EXPECT_TRUE(fewer.contains("tanh.5")) << table;
  EXPECT_TRUE(none.contains("while.10.copy")) << table;
  // Without supersteps nothing says which tile was critical.
  ASSERT_EQ(superstep(words + " --trace summary").code, 0);
  const std::string text = superstep("report " + path + " --view steps", "COLUMNS=200").out;
  EXPECT_NE(text.find("is in traces of level superstep"), std::string::npos) << text;
}

TEST_F(Views, TilesAreSpreadAsTheirProfilesSay) {
  const json views = tables("--view tiles --top 0");
  ASSERT_EQ(views.size(), 2u);
  const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
  const auto used = file.dims("/program/used_tile")[0];
  const auto cycles = file.read_all<std::uint64_t>("/profiles/compute/cycles", Hdf5Type::kU64);
  const auto numbers = file.read_all<std::uint32_t>("/supersteps/compute_profile", Hdf5Type::kU32);
  std::vector<std::uint64_t> sums(used);
  for (const std::uint32_t profile : numbers)
    for (std::size_t t = 0; t < used; ++t) sums[t] += cycles[profile * used + t];
  EXPECT_EQ(column(views[0], "most")[0], static_cast<double>(std::ranges::max(sums)));
  EXPECT_EQ(column(views[0], "least")[0], static_cast<double>(std::ranges::min(sums)));
  const std::uint64_t all = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  EXPECT_DOUBLE_EQ(column(views[0], "mean")[0],
                   static_cast<double>(all) / static_cast<double>(used));
  EXPECT_EQ(sum(column(views[1], "compute_then")),
            static_cast<double>(attribute("compute_cycles")));
}

TEST_F(Views, MemoryOfTheWorstTileAddsUp) {
  const std::vector<double> worst = column(tables("--view memory")[0], "worst_tile");
  ASSERT_GT(worst.size(), 1u);
  EXPECT_EQ(sum(worst), 2 * worst.back());
  EXPECT_EQ(worst.back(), static_cast<double>(attribute("peak_tile_bytes")));
}

TEST_F(Views, ExchangesAndStreamsAddUp) {
  EXPECT_EQ(sum(column(tables("--view exchange --top 0")[0], "cycles")),
            static_cast<double>(attribute("exchange_cycles")));
  EXPECT_EQ(sum(column(tables("--view host")[0], "bytes")),
            static_cast<double>(attribute("host_bytes")));
}

TEST_F(Views, SuperstepsAsBspHasThemAreWorkPlusWordsPlusABarrier) {
  const json table = tables("--view bsp --top 0")[0];
  const std::vector<double> w = column(table, "w"), h = column(table, "h_bytes"),
                            model = column(table, "w_+_g_h_+_l");
  for (std::size_t i = 0; i < w.size(); ++i)
    EXPECT_NEAR(model[i], w[i] + h[i] / 4 + 68, 1e-6);  // 4 B a cycle, sync.internal_latency
  // Those first that are farthest off in all; the last row is of all kinds.
  const std::vector<double> times = column(table, "times"), measured = column(table, "measured");
  std::vector<double> off;
  for (std::size_t i = 0; i + 1 < w.size(); ++i)
    off.push_back(std::round(times[i] * std::abs(measured[i] - model[i])));
  EXPECT_GT(off.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(off, std::ranges::greater{}));
}

TEST_F(Views, KeepToTheColumnsThatThereAre) {
  const std::string other = (scratch_folder() / "tiny.h5").string();
  ASSERT_EQ(
      superstep("run models/eigenvalues/frequencies.mlir -m tiny4 --input random:1 -q -o " + other)
          .code,
      0);
  for (const std::string& view : {trace(),
                                  trace() + " --view ops",
                                  trace() + " --view ops --group-by source",
                                  trace() + " --view steps",
                                  trace() + " --view supersteps",
                                  trace() + " --view tiles",
                                  trace() + " --view memory",
                                  trace() + " --view exchange",
                                  trace() + " --view host",
                                  trace() + " --view bounds",
                                  trace() + " --view bounds --group-by python",
                                  trace() + " --view bsp",
                                  trace() + " --view insights",
                                  "diff " + trace() + " " + other,
                                  "diff " + trace() + " " + other + " --view steps",
                                  "diff " + trace() + " " + other + " --view memory",
                                  "diff " + trace() + " " + other + " --view tiles",
                                  "diff " + trace() + " " + other + " --view host",
                                  "diff " + trace() + " " + other + " --group-by source",
                                  other,
                                  other + " --view bounds --group-by python",
                                  other + " --view bounds"}) {
    for (const std::size_t columns : {40u, 60u, 80u, 132u}) {
      const ProgramRun run = superstep("report " + view, "COLUMNS=" + std::to_string(columns));
      ASSERT_EQ(run.code, 0) << run.err;
      std::istringstream lines(run.out);
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(display_width(line), columns) << view << ": " << line;
    }
  }
}

TEST_F(Views, HaveColourWhereItIsAskedFor) {
  const auto text = [](const std::string& colour) {
    return superstep("report " + trace() + " --view ops --color " + colour).out;
  };
  EXPECT_NE(text("always").find("\x1b["), std::string::npos);
  EXPECT_EQ(text("never").find('\x1b'), std::string::npos);
  EXPECT_EQ(text("auto").find('\x1b'), std::string::npos) << "into a pipe";
}

TEST_F(Views, AndTheReportHaveColourOnlyByAWordThatThereIs) {
  const auto run = [](const std::string& words) { return superstep("report " + trace() + words); };
  EXPECT_NE(run(" --color always").out.find("\x1b["), std::string::npos);
  EXPECT_EQ(run(" --color never").out.find('\x1b'), std::string::npos);
  for (const char* what : {"", " --view ops", " --json"}) {
    const ProgramRun wrong = run(std::string(what) + " --color nevr");
    EXPECT_EQ(wrong.code, 2) << what;
    EXPECT_NE((wrong.err + wrong.out).find("did you mean 'never'?"), std::string::npos) << what;
  }
}

TEST_F(Views, RefuseOptionsThatTheyDoNotLookAt) {
  const std::map<std::string, std::string> refused = {{"tiles", "group-by match"},
                                                      {"host", "group-by"},
                                                      {"insights", "group-by match"},
                                                      {"ops", ""},
                                                      {"bounds", ""},
                                                      {"steps", "group-by"},
                                                      {"memory", "group-by"},
                                                      {"exchange", "group-by"},
                                                      {"bsp", "group-by"},
                                                      {"codelets", "group-by"}};
  const std::map<std::string, std::string> values = {
      {"group-by", "opcode"}, {"match", "'*'"}, {"top", "3"}};
  for (const auto& [view, options] : refused) {
    for (const auto& [option, value] : values) {
      const ProgramRun run =
          superstep("report " + trace() + " --view " + view + " --" + option + " " + value);
      const bool is_refused = options.find(option) != std::string::npos;
      EXPECT_EQ(run.code, is_refused ? 2 : 0) << view << " " << option;
      EXPECT_EQ(run.err.find("is not for --view " + view) != std::string::npos, is_refused)
          << run.err;
    }
  }
}

TEST_F(Views, SayThatNothingHasAName) {
  for (const char* view :
       {"ops", "ops --group-by call", "steps", "memory", "exchange", "host", "bounds", "bsp"}) {
    const std::string words = "report " + trace() + " --view " + view + " --match ";
    const ProgramRun run = superstep(words + "'no such*'");
    EXPECT_EQ(run.code, 0) << view;
    EXPECT_NE(run.out.find("Nothing here has a name like 'no such*'."), std::string::npos)
        << view << run.out;
    EXPECT_EQ(superstep(words + "'*'").out.find("Nothing here"), std::string::npos) << view;
  }
}

TEST_F(Views, RefusePatternsThatAreMalformed) {
  for (const char* pattern : {"", "[", "[]", "a[b", "[!]", "a\\"}) {
    for (const std::string words : {" --view ops", " --view steps"}) {
      const ProgramRun run = superstep("report " + trace() + words + " --match '" + pattern + "'");
      EXPECT_EQ(run.code, 2) << pattern;
      EXPECT_NE(run.err.find("--match '" + std::string(pattern) + "': "), std::string::npos)
          << run.err;
    }
    EXPECT_EQ(
        superstep("report diff " + trace() + " " + trace() + " --match '" + pattern + "'").code, 2);
  }
  for (const char* pattern : {"[]]", "[a]*", "\\[*", "[!a]*"})
    EXPECT_EQ(superstep("report " + trace() + " --view ops --match '" + pattern + "'").code, 0)
        << pattern;
}

TEST_F(Views, SayWhatTheyAddUpByWhereTheyRefuseOne) {
  for (const std::string& words : {trace() + " --view bounds", "diff " + trace() + " " + trace()}) {
    const ProgramRun run = superstep("report " + words + " --group-by call");
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.err.find("has no 'call': operation, opcode, python, source"), std::string::npos)
        << run.err;
    EXPECT_EQ(run.err.find("source, call"), std::string::npos) << run.err;
  }
}

TEST_F(Views, OfStepsHaveTheLongestInProgramOrderAndTheRest) {
  const json all = tables("--view steps --top 0")[0], some = tables("--view steps --top 3")[0];
  ASSERT_EQ(some["rows"].size(), 4u);
  EXPECT_EQ(some["rows"][3][2], std::to_string(all["rows"].size() - 3) + " more");
  EXPECT_EQ(sum(column(some, "cycles")), sum(column(all, "cycles")));
  std::vector<double> longest = column(all, "cycles");
  std::ranges::sort(longest, std::ranges::greater{});
  double three = 0;
  for (std::size_t i = 0; i < 3; ++i) three += longest[i];
  const std::vector<double> shown = column(some, "cycles");
  EXPECT_EQ(shown[0] + shown[1] + shown[2], three);
  EXPECT_LT(some["rows"][0][0], some["rows"][2][0]) << "supersteps of the program";
  EXPECT_EQ(tables("--view steps")[0]["rows"].size(),
            std::min<std::size_t>(21, all["rows"].size()));
}

TEST_F(Views, AreRefusedByNameWithWhatThereIs) {
  const ProgramRun view = superstep("report " + trace() + " --view opps");
  EXPECT_EQ(view.code, 2);
  EXPECT_NE(view.err.find("did you mean 'ops'?"), std::string::npos) << view.err;
  EXPECT_EQ(superstep("report " + trace() + " --view ops --group-by nothing").code, 2);
  EXPECT_EQ(superstep("report " + trace() + " --top 3").code, 2);
  EXPECT_EQ(superstep("report diff " + trace()).code, 2);
}

// For two elements a load and a store are two slots of a worker, two loads and a store three; what
// is computed goes beside.
TEST_F(Views, ShareAFusedStepByWhatItsOperationsWouldTakeAlone) {
  const std::filesystem::path module = scratch_folder() / "fused.mlir";
  std::ofstream(module) << R"(func.func @main(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<4096xf32>
  %1 = stablehlo.negate %0 : tensor<4096xf32>
  %2 = stablehlo.multiply %1, %a : tensor<4096xf32>
  return %2 : tensor<4096xf32>
})";
  const std::string file = (scratch_folder() / "fused.h5").string();
  ASSERT_EQ(superstep("run " + module.string() + " -m tiny4 --input random:1 -q -o " + file).code,
            0);
  const auto table = [&](const std::string& words) {
    return json::parse(superstep("report " + file + " --json " + words).out)["tables"][0];
  };
  const json steps = table("--view steps");
  std::vector<std::string> operations;
  for (const json& row : steps["rows"]) operations.push_back(row.back());
  EXPECT_NE(std::ranges::find(operations, "multiply.1 29 %, negate.2 29 %, multiply.3 43 %"),
            operations.end())
      << steps;
  const json opcodes = table("--view ops --group-by opcode --top 0");
  double multiply = 0, negate = 0;
  const std::vector<double> compute = column(opcodes, "compute");
  for (std::size_t i = 0; i < compute.size(); ++i) {
    const std::string opcode = opcodes["rows"][i][0];
    if (opcode == "stablehlo.multiply") multiply = compute[i];
    if (opcode == "stablehlo.negate") negate = compute[i];
  }
  EXPECT_GT(negate, 0);
  EXPECT_NEAR(multiply, 2.5 * negate, 3);
}

}  // namespace
}  // namespace superstep
