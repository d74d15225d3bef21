#include "report/insights.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>

#include "base/hdf5_file.h"
#include "report/numbers.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

StepTotals step(const std::string& name, std::uint64_t peak, std::uint64_t of_tiles) {
  StepTotals out;
  out.info.name = out.operation_name = name;
  out.count = out.runs = 1;
  out.compute = Cycles(peak);
  out.peak_cycles = peak;
  out.tile_cycles = of_tiles;
  return out;
}

/// A run of 1,000 cycles on four tiles that all compute as long.
TraceSummary even_run() {
  TraceSummary t;
  t.outcome = "ok";
  t.tiles = t.tiles_used = 4;
  t.tile_memory_bytes = 1000;
  t.totals.cycles = t.totals.compute = Cycles(1000);
  t.totals.supersteps = 2;
  t.steps = {step("even", 500, 2000), step("uneven", 500, 2000)};
  return t;
}

const Insight* found(const std::vector<Insight>& insights, std::string_view rule) {
  const auto at = std::ranges::find(insights, rule, &Insight::rule);
  return at == insights.end() ? nullptr : &*at;
}

TEST(Insights, SayNothingOfAnEvenRun) { EXPECT_TRUE(insights_of(even_run()).empty()); }

TEST(Insights, FindUnevenWorkAndTheStepThatLosesMost) {
  TraceSummary t = even_run();
  t.steps[1].tile_cycles = 500;  // one tile of four: 500 cycles in place of 125
  const std::vector<Insight> insights = insights_of(t);
  const Insight* imbalance = found(insights, "imbalance");
  ASSERT_NE(imbalance, nullptr);
  EXPECT_EQ(imbalance->cycles, Cycles(375));
  EXPECT_EQ(imbalance->operation, "uneven");
  t.steps[1].tile_cycles = 1600;  // 100 of 1,000 cycles: no more than a tenth
  EXPECT_EQ(found(insights_of(t), "imbalance"), nullptr);
}

TEST(Insights, CountWhatVisitsToTheHostTakeWithTheirBeginnings) {
  TraceSummary t = even_run();
  t.totals.host = Cycles(150);
  t.totals.sync = t.visits.begin = Cycles(150);
  t.totals.cycles = Cycles(1300);
  t.visits.count = 2;
  const std::vector<Insight> insights = insights_of(t);
  const Insight* host = found(insights, "host");
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->cycles, Cycles(300));
  EXPECT_EQ(found(insights, "sync"), nullptr) << "beginnings of visits are the host's";
}

/// The run with an exchange of so many cycles in each of two runs, 100 of them words.
TraceSummary run_that_moves(std::uint64_t cycles) {
  TraceSummary t = even_run();
  StepTotals moved = step("moved", 0, 0);
  moved.info.kind = StepInfo::Kind::kExchange;
  moved.info.operation = "stablehlo.dot_general";
  moved.info.source.python = {"net.py", 7, 0};
  moved.info.bound_cycles = 100;
  moved.info.exchange_bytes = 3200;
  moved.runs = 2;
  moved.exchange = Cycles(2 * cycles);
  t.steps.push_back(moved);
  t.totals.exchange = Cycles(2 * cycles);
  t.totals.cycles += t.totals.exchange;
  return t;
}

TEST(Insights, FindExchangesThatTakeLongerThanTheWordsOfTheirBusiestPorts) {
  const std::vector<Insight> insights = insights_of(run_that_moves(300));
  const Insight* latency = found(insights, "exchange-latency");
  ASSERT_NE(latency, nullptr);
  EXPECT_EQ(latency->cycles, Cycles(400));
  EXPECT_EQ(found(insights_of(run_that_moves(120)), "exchange-latency"), nullptr);
}

TEST(Insights, NameTheOperationsWhoseExchangesTakeMostAndWhatFewerWordsTake) {
  const std::vector<Insight> insights = insights_of(run_that_moves(120));
  const Insight* exchange = found(insights, "exchange");
  ASSERT_NE(exchange, nullptr) << "also where computing takes longer";
  EXPECT_EQ(exchange->cycles, Cycles(240));
  EXPECT_EQ(exchange->operation, "moved");
  EXPECT_NE(exchange->found.find(
                "19 % of device cycles, 83 % of them for the words of the busiest ports; "
                "computing takes 81 %"),
            std::string::npos)
      << exchange->found;
  EXPECT_NE(exchange->found.find("moved (240 cycles, 6,400 bytes, net.py:7)"), std::string::npos)
      << exchange->found;
  EXPECT_NE(exchange->advice.find("larger batch"), std::string::npos) << exchange->advice;
  const std::vector<Insight> of_latency = insights_of(run_that_moves(300));
  EXPECT_NE(found(of_latency, "exchange")->advice.find("fewer and larger exchanges"),
            std::string::npos);
  // 110 of 1,110 cycles are less than a tenth.
  EXPECT_EQ(found(insights_of(run_that_moves(55)), "exchange"), nullptr);
}

TEST(Insights, SayWhatRulesWithoutAWordMeasured) {
  const Insights insights = look_for_insights(run_that_moves(55));
  const auto of = [&](std::string_view name) {
    const auto at = std::ranges::find(insights.silent, name,
                                      [](const SilentRule& silent) { return silent.rule->name; });
    EXPECT_NE(at, insights.silent.end()) << name;
    return at->measured;
  };
  EXPECT_DOUBLE_EQ(of("exchange").value(), 110.0 / 1110);
  EXPECT_DOUBLE_EQ(of("host").value(), 0);
  EXPECT_FALSE(of("hot-receiver").has_value()) << "there are no tiles to look at";
  EXPECT_EQ(insights.found.size() + insights.silent.size(), insight_rules().size());
}

TEST(Insights, FindATileThatIsNearlyFull) {
  TraceSummary t = even_run();
  t.worst_tile_memory = {{"codelets", 100}, {"variables", 801}};
  t.worst_tile_bytes = 901;
  EXPECT_NE(found(insights_of(t), "near-full"), nullptr);
  t.worst_tile_bytes = 900;
  EXPECT_EQ(found(insights_of(t), "near-full"), nullptr);
}

TEST(Insights, ComeWithMostCyclesFirst) {
  TraceSummary t = even_run();
  t.steps[1].tile_cycles = 500;
  t.totals.host = Cycles(500);
  t.totals.cycles = Cycles(1500);
  const std::vector<Insight> insights = insights_of(t);
  ASSERT_EQ(insights.size(), 2u);
  EXPECT_EQ(insights[0].rule, "host");
  EXPECT_EQ(insights[1].rule, "imbalance");
}

/// A run of a program as a trace, and what its tables say.
class TraceOf {
 public:
  explicit TraceOf(const std::string& words) : path_(scratch_folder() / "insights.h5") {
    const ProgramRun run = superstep("run " + words + " -q -o " + path_.string());
    EXPECT_EQ(run.code, 0) << run.err;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<Insight> insights() const {
    const TraceFile file(path_);
    return insights_of(file.summary(), &file);
  }
  [[nodiscard]] std::vector<std::uint64_t> column(const std::string& name) const {
    return Hdf5File::open(path_, Hdf5File::Access::kRead)
        .read_all<std::uint64_t>(name, Hdf5Type::kU64);
  }
  void write(const std::string& name, const std::vector<std::uint64_t>& values) const {
    Hdf5File::open(path_, Hdf5File::Access::kWrite).write(name, values.data());
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const {
    return Hdf5File::open(path_, Hdf5File::Access::kRead).read_text(name);
  }

 private:
  std::filesystem::path path_;
};

void expect_words(const Insight& insight, const std::string& words) {
  EXPECT_NE(insight.found.find(words), std::string::npos) << insight.found << "\n" << words;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

/// Cycles of the transfers of streams that move so often.
std::uint64_t moved_cycles(const TraceOf& trace, const std::function<bool(std::uint64_t)>& is_so) {
  const std::vector<std::uint64_t> stream = trace.column("/host/stream"),
                                   cycles = trace.column("/host/cycles");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < stream.size(); ++i)
    if (is_so(static_cast<std::uint64_t>(std::ranges::count(stream, stream[i])))) sum += cycles[i];
  return sum;
}

TEST(InsightsOfTraces, TellWhatMovesOnceARunAndAdviseALongerRepeatThere) {
  const TraceOf trace(
      "models/mnist_mlp/train_step.mlir -m small64 --input random:1 --repeat 2 --trace superstep");
  const std::vector<Insight> insights = trace.insights();
  const Insight* host = found(insights, "host");
  ASSERT_NE(host, nullptr);
  const std::uint64_t once = moved_cycles(trace, [](std::uint64_t n) { return n == 1; }),
                      again = moved_cycles(trace, [](std::uint64_t n) { return n > 1; });
  ASSERT_GT(once, again);
  expect_words(*host, "what moves once a run takes " + grouped(once) + " (most ");
  expect_words(*host, "what moves in several visits " + grouped(again) + " (most ");
  EXPECT_EQ(host->advice.find("a longer `--repeat`"), 0u) << host->advice;
  EXPECT_EQ(host->advice.find("donate"), std::string::npos) << "all that could be donated is";
}

TEST(InsightsOfTraces, OfOneCallDoNotTellWhatOfItMovesOnceARun) {
  const TraceOf trace(
      "models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 "
      "--trace superstep");
  const std::vector<Insight> insights = trace.insights();
  const Insight* host = found(insights, "host");
  ASSERT_NE(host, nullptr);
  expect_words(*host, "what moves once a run takes");
  expect_words(*host, " (most goes_on: ");
  expect_words(*host, "what may move in each call");
  EXPECT_EQ(host->advice.find("whose calls share what moves once"), std::string::npos);
  EXPECT_NE(host->advice.find("a longer `--repeat` tells what moves once a run"), std::string::npos)
      << host->advice;
}

TEST(InsightsOfTraces, OfOneCallAdviseALongerRepeatOnce) {
  const TraceOf trace(
      "models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 "
      "--set host.packet_overhead=1000ns --set host.packets_in_flight=1 --trace superstep");
  const std::vector<Insight> insights = trace.insights();
  const Insight* host = found(insights, "host");
  ASSERT_NE(host, nullptr);
  constexpr std::string_view kRepeat = "a longer `--repeat`";
  const std::size_t first = host->advice.find(kRepeat);
  ASSERT_NE(first, std::string::npos) << host->advice;
  EXPECT_EQ(host->advice.find(kRepeat, first + 1), std::string::npos) << host->advice;
  EXPECT_NE(host->advice.find("tells what moves once a run, and whose calls share it"),
            std::string::npos)
      << host->advice;
}

TEST(InsightsOfTraces, AdviseToDonateWhereAResultOfEachCallHasTheTypeOfAnArgumentThatStays) {
  const std::filesystem::path path = scratch_folder() / "state.mlir";
  const auto advice = [&](const std::string& attribute) {
    std::ofstream(path) << "func.func @main(%a: tensor<4096xf32>" << attribute
                        << ") -> tensor<4096xf32> {\n"
                        << "  %0 = stablehlo.add %a, %a : tensor<4096xf32>\n"
                        << "  return %0 : tensor<4096xf32>\n}\n";
    const TraceOf trace(path.string() + " -m tiny4 --input random:1 --repeat 5 --trace superstep");
    const std::vector<Insight> insights = trace.insights();
    const Insight* host = found(insights, "host");
    return host ? host->advice : std::string();
  };
  EXPECT_NE(advice("").find("donate the argument that takes the value of result0, which has the "
                            "type of arg0"),
            std::string::npos)
      << advice("");
  const std::string donated = advice(" {tf.aliasing_output = 0 : i32}");
  EXPECT_FALSE(donated.empty());
  EXPECT_EQ(donated.find("donate"), std::string::npos) << donated;
}

TEST(InsightsOfTraces, AdviseFewerVisitsWhereTheirLatencyTakesMost) {
  const TraceOf trace(
      "models/linear_regression/train_step.mlir -m small64 --input "
      "models/linear_regression/train.h5 --repeat 3 --trace superstep");
  const std::vector<Insight> insights = trace.insights();
  const Insight* host = found(insights, "host");
  ASSERT_NE(host, nullptr);
  const std::uint64_t waited = sum(trace.column("/supersteps/host_cycles")) +
                               sum(trace.column("/supersteps/visit_begin_cycles"));
  const std::uint64_t moves = sum(trace.column("/host/cycles"));
  ASSERT_LT(moves, waited);
  expect_words(*host, "the latency of visits " + grouped(waited - moves));
  EXPECT_EQ(host->advice.find("fewer visits"), 0u) << host->advice;
}

/// A product of as many elements on each of four tiles.
std::string even_program() {
  const std::filesystem::path path = scratch_folder() / "even.mlir";
  std::ofstream(path) << R"(func.func @main(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<4096xf32>
  return %0 : tensor<4096xf32>
})";
  return path.string() + " -m tiny4 --input random:1";
}

TEST(InsightsOfTraces, FindSuperstepsInWhichFewTilesCompute) {
  const TraceOf trace(
      "models/linear_regression/train_step.mlir -m small64 --input "
      "models/linear_regression/train.h5 --repeat 3 --trace superstep");
  const std::uint64_t tiles = trace.column("/program/used_tile").size();
  const std::vector<std::uint64_t> compute = trace.column("/supersteps/compute_cycles"),
                                   active = trace.column("/supersteps/active_tiles");
  const std::uint64_t all = sum(compute) + sum(trace.column("/supersteps/exchange_cycles")) +
                            sum(trace.column("/supersteps/sync_cycles"));
  std::uint64_t few = 0;
  for (std::size_t i = 0; i < compute.size(); ++i)
    if (10 * active[i] < 9 * tiles) few += compute[i];
  const std::vector<Insight> insights = trace.insights();
  const Insight* idle = found(insights, "idle-tiles");
  ASSERT_NE(idle, nullptr);
  expect_words(*idle, fmt::format("{} % of device cycles", (200 * few + all) / (2 * all)));
  EXPECT_EQ(found(TraceOf(even_program() + " --trace superstep").insights(), "idle-tiles"),
            nullptr);
}

/// Bytes that each tile receives.
std::vector<std::uint64_t> received_bytes(const TraceOf& trace) {
  const std::size_t tiles = trace.column("/program/used_tile").size();
  const std::vector<std::uint64_t> bytes = trace.column("/profiles/exchange/received_bytes");
  std::vector<std::uint64_t> out(tiles);
  for (const std::uint64_t profile : trace.column("/supersteps/exchange_profile"))
    for (std::size_t i = 0; i < tiles; ++i) out[i] += bytes[profile * tiles + i];
  return out;
}

TEST(InsightsOfTraces, FindATileThatReceivesFarMoreThanTheOthers) {
  const TraceOf hot("models/order/top_k.mlir -m small64 --input random:1 --trace tile");
  const std::vector<std::uint64_t> bytes = received_bytes(hot);
  const auto most = std::ranges::max_element(bytes);
  const double times = static_cast<double>(*most) * static_cast<double>(bytes.size()) /
                       static_cast<double>(sum(bytes));
  ASSERT_GE(times, 4);
  const std::vector<Insight> insights = hot.insights();
  const Insight* receiver = found(insights, "hot-receiver");
  ASSERT_NE(receiver, nullptr);
  const auto tile = static_cast<std::size_t>(most - bytes.begin());
  expect_words(*receiver,
               fmt::format("tile {} receives {} bytes, {:.1f} times",
                           hot.column("/program/used_tile")[tile], grouped(*most), times));

  const TraceOf even("models/digits_mlp/train_step.mlir -m small64 --input random:1 --trace tile");
  const std::vector<std::uint64_t> of_even = received_bytes(even);
  ASSERT_LT(std::ranges::max(of_even) * of_even.size(), 4 * sum(of_even));
  EXPECT_EQ(found(even.insights(), "hot-receiver"), nullptr);
}

TEST(InsightsOfTraces, FindTheStepInWhichMemoryPeaksAndItsLargestTensor) {
  const TraceOf trace("models/rows/argmax.mlir -m small64 --input random:1 --trace summary");
  const std::vector<std::uint64_t> peaks = trace.column("/memory/liveness/peak_tile_bytes");
  const std::uint64_t most = std::ranges::max(peaks);
  const auto step = static_cast<std::uint64_t>(std::ranges::find(peaks, most) - peaks.begin());
  const std::vector<std::uint64_t> bytes = trace.column("/program/variable/max_tile_bytes"),
                                   always = trace.column("/program/variable/always_live"),
                                   first = trace.column("/program/variable/first_step"),
                                   last = trace.column("/program/variable/last_step");
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (always[i] != 0 || (first[i] <= step && (last[i] == 0 || step <= last[i])))
      largest = std::max(largest, bytes[i]);
  const std::vector<Insight> insights = trace.insights();
  const Insight* peak = found(insights, "memory-peak");
  ASSERT_NE(peak, nullptr);
  expect_words(*peak, "memory peaks in " + trace.texts("/program/step/name")[step] + ": tile ");
  expect_words(*peak, bytes_text(most) + " in use");
  expect_words(*peak, "(" + bytes_text(largest) + " on the tile with most of it)");
  EXPECT_EQ(found(TraceOf(even_program() + " --trace summary").insights(), "memory-peak"), nullptr);
}

/// Percent of the time of six workers that they wait for the busiest one of their tile in a step.
double workers_wait(const TraceOf& trace) {
  std::map<std::array<std::uint64_t, 3>, std::array<std::uint64_t, 6>> steps;
  const std::vector<std::uint64_t> superstep = trace.column("/vertices/superstep"),
                                   tile = trace.column("/vertices/tile"),
                                   step = trace.column("/vertices/step"),
                                   worker = trace.column("/vertices/worker"),
                                   cycles = trace.column("/vertices/cycles");
  for (std::size_t i = 0; i < cycles.size(); ++i)
    steps[{superstep[i], tile[i], step[i]}].at(worker[i]) += cycles[i];
  double slots = 0;
  for (const auto& [where, busy] : steps)
    slots += 6.0 * static_cast<double>(std::ranges::max(busy));
  return 100 - 100 * static_cast<double>(sum(cycles)) / slots;
}

TEST(InsightsOfTraces, FindWorkersThatWaitForTheBusiestOneOfTheirTile) {
  const TraceOf few(
      "models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 --trace "
      "vertex");
  ASSERT_GT(workers_wait(few), 20);
  const std::vector<Insight> insights = few.insights();
  const Insight* workers = found(insights, "uneven-workers");
  ASSERT_NE(workers, nullptr);
  expect_words(*workers, fmt::format("{:.0f} % of the time of workers", workers_wait(few)));

  const TraceOf all(even_program() + " --trace vertex");
  ASSERT_LT(workers_wait(all), 20);
  EXPECT_EQ(found(all.insights(), "uneven-workers"), nullptr);
}

TEST(InsightsOfTraces, OfManyWorkerRunsAreInTheirViewAndNotInTheReport) {
  const TraceOf many(
      "models/karate/train.mlir -m small64 --input models/karate/input.h5 --repeat 2 --trace "
      "vertex");
  const std::size_t runs = many.column("/vertices/cycles").size();
  ASSERT_GT(runs, 250'000u);
  ASSERT_NE(found(many.insights(), "few-flops"), nullptr);
  const TraceFile file(many.path());
  const auto has_rule = [&](std::uint64_t most_worker_runs) {
    return found(insights_of(file.summary(), &file, most_worker_runs), "few-flops") != nullptr;
  };
  EXPECT_TRUE(has_rule(runs));
  EXPECT_FALSE(has_rule(runs - 1));
  const std::string report = superstep("report " + many.path().string()).out;
  EXPECT_EQ(report.find("few-flops"), std::string::npos) << report;
  EXPECT_NE(report.find("the " + grouped(runs) + " worker runs"), std::string::npos) << report;
}

/// One operation on as many elements of each of four tiles.
std::string program_of(const std::string& operation) {
  const std::filesystem::path path = scratch_folder() / (operation + ".mlir");
  std::ofstream(path) << "func.func @main(%a: tensor<4096xf32>) -> tensor<4096xf32> {\n"
                      << "  %0 = stablehlo." << operation << " %a : tensor<4096xf32>\n"
                      << "  return %0 : tensor<4096xf32>\n}\n";
  return path.string() + " -m tiny4 --input random:1 --trace vertex";
}

// A quarter of two f32 in each slot that a worker has, one in six cycles.
TEST(InsightsOfTraces, FindOperationsWithFewerFlopsThanAQuarterOfAVector) {
  const TraceOf slow(program_of("exponential"));
  const std::uint64_t cycles = sum(slow.column("/vertices/cycles"));
  std::vector<std::uint64_t> flops = slow.column("/program/step/flops");
  const double rate = 6.0 * static_cast<double>(sum(flops)) / static_cast<double>(cycles);
  ASSERT_LT(rate, 0.5);
  const std::vector<Insight> insights = slow.insights();
  const Insight* few = found(insights, "few-flops");
  ASSERT_NE(few, nullptr);
  EXPECT_EQ(few->operation, "exponential.1");
  expect_words(*few, fmt::format("{:.2f} useful operations in a slot", rate));
  expect_words(*few, "an instruction makes 2 of f32");

  const auto step = std::ranges::max_element(flops);
  *step = (cycles + 11) / 12;
  slow.write("/program/step/flops", flops);
  EXPECT_EQ(found(slow.insights(), "few-flops"), nullptr) << "a quarter is not fewer";
  *step -= 1;
  slow.write("/program/step/flops", flops);
  const std::vector<Insight> below = slow.insights();
  EXPECT_NE(found(below, "few-flops"), nullptr);

  const TraceOf vectors(even_program() + " --trace vertex");
  EXPECT_EQ(found(vectors.insights(), "few-flops"), nullptr);
  const TraceOf part(program_of("exponential") + " --trace-tiles 0");
  EXPECT_EQ(found(part.insights(), "few-flops"), nullptr) << "not all workers are there";
}

}  // namespace
}  // namespace superstep
