#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "report/report.h"
#include "report/text_style.h"
#include "report/text_table.h"
#include "report/view.h"

namespace superstep {
namespace {

TEST(OperationsTable, LeavesOutThoseWithoutDeviceCycles) {
  TraceSummary trace;
  for (const char* name : {"a", "b", "c"}) {
    StepTotals& step = trace.steps.emplace_back();
    step.info.name = step.operation_name = name;
    step.count = step.runs = 1;
    step.compute = Cycles(step.info.name == "b" ? 0 : 10);
  }
  const ViewTable table = operations_table(trace, {.top = 1});
  ASSERT_EQ(table.rows.size(), 2);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "a");
  EXPECT_EQ(std::get<std::string>(table.rows[1][0]), "1 more");
}

TEST(ViewText, CutsLongNamesInTheMiddleAndKeepsTheNumbers) {
  ViewTable table{.title = "T",
                  .columns = {{"name"},
                              {"bytes", ViewColumn::Form::kBytes},
                              {"time", ViewColumn::Form::kTime, "", 1},
                              {"% of all", ViewColumn::Form::kShare, "1"},
                              {"bar", ViewColumn::Form::kBar, "", 2}}};
  table.add("begin" + std::string(200, 'x') + "end", std::uint64_t{3 * 1024 * 1024},
            time_cell(1000, 1'000'000'000), 0.5, 0.5);
  table.add(std::string("short"), std::uint64_t{512}, time_cell(10, 1'000'000'000), 0.1, 0.1);
  for (const std::size_t columns : {40u, 60u, 80u}) {
    const std::string text = view_text(std::vector{table}, {.columns = columns});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
    EXPECT_NE(text.find("beginx"), std::string::npos) << text;
    EXPECT_NE(text.find("xend"), std::string::npos) << text;
    EXPECT_EQ(text.find("% of all %"), std::string::npos) << text;
    // 3 MiB and 512 B in one unit, which the heading names.
    EXPECT_NE(text.find("bytes (KiB)"), std::string::npos) << text;
    EXPECT_NE(text.find("3072.0"), std::string::npos) << text;
    EXPECT_NE(text.find(" 0.5 "), std::string::npos) << text;
    // Times stay where there is room; bars go before them.
    EXPECT_EQ(text.find("time (us)") != std::string::npos, columns > 40) << text;
  }
}

TEST(ViewText, PutsCellsBelowTheNameWhereNoLineHasRoomForThem) {
  ViewTable table{.title = "T",
                  .columns = {{"name"},
                              {"imbalance", ViewColumn::Form::kCycles},
                              {"schedule", ViewColumn::Form::kCycles},
                              {"bar", ViewColumn::Form::kBar}}};
  table.add(std::string("a"), std::uint64_t{1'234'567}, std::uint64_t{7}, 0.5);
  table.add(std::string("b"), ViewCell(), std::uint64_t{8}, 0.1);
  EXPECT_EQ(view_text(std::vector{table}, {.columns = 30}),
            "T\na\n  imbalance: 1,234,567\n  schedule: 7\nb\n  schedule: 8\n");
}

TEST(ViewText, SaysHowManyTimesAsMuchWherePercentsAreMany) {
  ViewTable table{.columns = {{"name"}, {"%", ViewColumn::Form::kMovedShare}}};
  for (const double by : {-0.5, 0.411, 8.99, 9.0, 122.4, 1233.2}) table.add(std::string("a"), by);
  EXPECT_EQ(view_text(std::vector{table}, {}),
            "name        %\na       -50.0\na        41.1\na       899.0\na      x 10.0\n"
            "a       x 123\na     x 1,234\n");
}

TEST(ViewText, HasOnePrecisionInAColumnAndGroupsOfThreeDigits) {
  ViewTable table{.columns = {{"name"}, {"a run", ViewColumn::Form::kReal}}};
  table.add(std::string("a"), 1356.84);
  table.add(std::string("b"), 94.0);
  EXPECT_EQ(view_text(std::vector{table}, {}), "name    a run\na     1,356.8\nb        94.0\n");
  table.add(std::string("c"), 10177.2);
  EXPECT_EQ(view_text(std::vector{table}, {}),
            "name   a run\na      1,357\nb         94\nc     10,177\n");
  table.rows.erase(table.rows.begin());
  table.rows.pop_back();
  EXPECT_EQ(view_text(std::vector{table}, {}), "name  a run\nb     94.00\n");
}

TEST(ViewText, LeavesOutColumnsWithoutACellAndSaysWhatTheOthersMean) {
  ViewTable table{.columns = {{"name"},
                              {"empty", ViewColumn::Form::kCount, "1", 0, "nothing"},
                              {"n", ViewColumn::Form::kCount, "1", 0, "how many"}}};
  table.add(std::string("a"), ViewCell(), std::uint64_t{12});
  EXPECT_EQ(view_text(std::vector{table}, {}), "name   n\na     12\nN: how many.\n");
}

TEST(ViewText, SaysOnceWhatColumnsOfOneMeaningAre) {
  ViewTable table{.columns = {{"codelet"},
                              {"superstep", ViewColumn::Form::kCount, "1", 2, "of the longest run"},
                              {"tile", ViewColumn::Form::kCount, "1", 1, "of the longest run"},
                              {"runs", ViewColumn::Form::kCount, "1", 0, "of workers"}}};
  table.add(std::string("mul"), std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3});
  const auto last_line = [&](std::size_t columns) {
    const std::string text = view_text(std::vector{table}, {.columns = columns});
    return text.substr(text.find("mul"));
  };
  EXPECT_NE(last_line(80).find("\nSuperstep, tile: of the longest run. Runs: of workers.\n"),
            std::string::npos)
      << last_line(80);
  EXPECT_NE(last_line(22).find("\nTile: of the longest\nrun. "), std::string::npos)
      << last_line(22);
}

TEST(ViewText, BreaksCellsBelowTheNameBetweenTheirWords) {
  ViewTable table{.columns = {{"rule"}, {"measured"}, {"of what"}}};
  table.add(std::string("memory-peak"), std::string("12"),
            std::string("memory of the median step: the peak"));
  EXPECT_EQ(view_text(std::vector{table}, {.columns = 24}),
            "memory-peak\n  measured: 12\n  of what: memory of the\n  median step: the peak\n");
}

TEST(ViewText, ShowsPlacesWithTheirFoldersWhereThereIsRoom) {
  ViewTable table{.columns = {{"name"}, {"place", ViewColumn::Form::kPlace, "", 1}}};
  table.add("name of " + std::string(20, 'x'), "some/folder/of/model.py:" + std::string(20, '7'));
  const auto text = [&](std::size_t columns) {
    return view_text(std::vector{table}, {.columns = columns});
  };
  EXPECT_NE(text(80).find("  some/folder/of/model.py:77"), std::string::npos) << text(80);
  EXPECT_NE(text(60).find("  model.py:77"), std::string::npos) << text(60);
}

TEST(ViewText, HasTimesInOneUnitAndTheirSigns) {
  ViewTable table{.columns = {{"name"},
                              {"before", ViewColumn::Form::kTime},
                              {"moved", ViewColumn::Form::kMovedTime}}};
  table.add(std::string("a"), time_cell(2'000'000, 1'000'000'000), -1e6);
  table.add(std::string("b"), time_cell(1000, 1'000'000'000), 100.0);
  EXPECT_EQ(view_text(std::vector{table}, {}),
            "name  before (ms)  moved (ms)\n"
            "a           2.000      -1.000\n"
            "b           0.001     +<0.001\n");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(time_cell(2, 0))) << "without a clock";
}

TEST(ViewText, ShowsControlCharactersOfNamesAsEscapes) {
  const std::string name = "a\x1b]0;title\x07\nb";
  ViewTable table{.title = name, .columns = {{"name"}}, .notes = {name}};
  table.add(name);
  TraceSummary trace;
  trace.module = name;
  trace.outcome = "ok";
  trace.steps.emplace_back();
  trace.steps[0].info.name = trace.steps[0].operation_name = name;
  trace.steps[0].count = trace.steps[0].runs = 1;
  trace.steps[0].compute = trace.totals.compute = trace.totals.cycles = Cycles(10);
  for (const std::string& text : {view_text(std::vector{table}, {}), text_report(trace, {})}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
    EXPECT_NE(text.find("a\\x1b]0;title\\x07\\nb"), std::string::npos) << text;
  }
}

TEST(TextReport, BreaksWordsThatAreLongerThanALine) {
  const std::string name(300, 'x');
  TraceSummary trace;
  trace.module = trace.machine_name = trace.trap = name;
  trace.outcome = "trap";
  trace.tiles_used = 1;
  trace.tile_memory_bytes = 100;
  trace.worst_tile_memory = {{name, 10}};
  trace.events.emplace_back().text = name;
  CompileEvent& choice = trace.plan_events.emplace_back();
  choice.kind = CompileEvent::Kind::kNoAmp;
  choice.operation = choice.reason = choice.advice = name;
  trace.steps.emplace_back();
  trace.steps[0].info.name = trace.steps[0].operation_name = name;
  trace.steps[0].info.source.module.file = name;
  trace.steps[0].count = trace.steps[0].runs = 1;
  trace.steps[0].peak_cycles = 100;
  trace.steps[0].compute = trace.totals.compute = trace.totals.cycles = Cycles(100);
  for (const std::size_t columns : {40u, 80u}) {
    std::istringstream lines(text_report(trace, {.columns = columns}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
  }
}

TEST(TextReport, RoundsTheCyclesOfACall) {
  TraceSummary trace;
  trace.outcome = "ok";
  trace.calls = 3;
  trace.totals.compute = Cycles(5'000);
  trace.totals.host = Cycles(4'000);
  trace.totals.cycles = Cycles(9'000);
  const std::string text = text_report(trace, {});
  EXPECT_NE(text.find("A call    1,667 device and 1,333 host cycles, 3 calls\n"), std::string::npos)
      << text;
}

TEST(TextReport, SaysWhatTheCharactersOfItsBarMean) {
  TraceSummary trace;
  trace.outcome = "ok";
  trace.totals.compute = trace.totals.cycles = Cycles(10);
  EXPECT_NE(text_report(trace, {}).find("Device    " + std::string(60, '#') +
                                        "\n          # compute  = exchange  - sync\n"),
            std::string::npos);
}

TEST(TextReport, SaysHowManyCyclesOfSyncWaitForCallbacksOfTheHost) {
  TraceSummary trace;
  trace.outcome = "ok";
  trace.totals.sync = trace.totals.cycles = Cycles(400'000);
  trace.totals.supersteps = 12;
  EXPECT_EQ(text_report(trace, {}).find("for callbacks"), std::string::npos);
  trace.visits.count = 6;
  trace.visits.begin = Cycles(396'000);
  trace.visits.callbacks = Cycles(393'972);
  EXPECT_NE(text_report(trace, {}).find("12 supersteps; 393,972 for callbacks"), std::string::npos)
      << text_report(trace, {});
}

}  // namespace
}  // namespace superstep
