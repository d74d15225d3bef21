#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"
#include "report/numbers.h"
#include "report/report.h"
#include "report/text_table.h"

namespace superstep {
namespace {

using nlohmann::json;

TEST(JsonReport, PartsSumToTheTotal) {
  const json run =
      json::parse(superstep("run models/linear_regression/train_step.mlir -m small64 --input "
                            "models/linear_regression/train.h5 --repeat 3 --json")
                      .out);
  const json& cycles = run["cycles"];
  EXPECT_EQ(run["calls"], 3);
  EXPECT_EQ(
      cycles["device"].get<int>(),
      cycles["compute"].get<int>() + cycles["exchange"].get<int>() + cycles["sync"].get<int>());
  EXPECT_EQ(cycles["total"].get<int>(), cycles["device"].get<int>() + cycles["host"].get<int>());
  for (const char* list : {"operations", "steps"}) {
    for (const char* part : {"compute", "exchange", "sync", "host"}) {
      int sum = 0;
      for (const json& row : run[list]) sum += row[std::string(part) + "_cycles"].get<int>();
      EXPECT_EQ(sum, cycles[part].get<int>()) << list << " " << part;
    }
  }
}

TEST(JsonReport, PredictsEachCallAndTheVisitsAroundIt) {
  const std::string program = "models/linear_regression/train_step.mlir -m small64 --json ";
  const json plan = json::parse(superstep("compile " + program).out);
  const auto predicted = [&](int calls) {
    const std::string words = program + "--input random:1 --repeat " + std::to_string(calls);
    return json::parse(superstep("run " + words).out)["cycles"]["predicted"].get<int>();
  };
  const int call = plan["predicted_cycles"], visit = (predicted(1) - call) / 2;
  EXPECT_GT(visit, 0);
  EXPECT_EQ(predicted(3), 3 * call + 4 * visit);
  // At most one step after the other, and a barrier for each superstep.
  int sum = 0, supersteps = 0;
  for (const json& step : plan["plan"]) {
    sum += step["predicted_cycles"].get<int>();
    if (!step["superstep"].is_null()) supersteps = step["superstep"];
  }
  EXPECT_GT(supersteps, 1);
  EXPECT_LE(call, sum + 68 * supersteps);  // sync.internal_latency
}

constexpr const char* kDigits =
    "run models/digits_mlp/train_step.mlir -m small64 --input models/digits_mlp/train.h5 --repeat "
    "44 ";

std::string line_of(const std::string& file, std::size_t number) {
  std::istringstream lines(text_of(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / file));
  std::string line;
  for (std::size_t i = 0; i < number; ++i) std::getline(lines, line);
  return line;
}

TEST(JsonReport, NamesTheLineOfTheModelThatEachOperationComesFrom) {
  const json run = json::parse(superstep(kDigits + std::string("--json")).out);
  std::size_t products = 0;
  for (const json& operation : run["operations"]) {
    if (operation["opcode"].get<std::string>().empty()) continue;  // of no op
    const std::string place = operation["python"];
    const std::size_t colon = place.rfind(':');
    ASSERT_NE(colon, std::string::npos) << operation["name"];
    const std::string line = line_of(place.substr(0, colon), std::stoul(place.substr(colon + 1)));
    if (operation["opcode"] != "stablehlo.dot_general") continue;
    ++products;
    EXPECT_NE(line.find(" @ "), std::string::npos) << place << ": " << line;
  }
  EXPECT_EQ(products, 5u);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The whole numbers of a line, behind its name.
std::vector<std::uint64_t> numbers_of(std::string line) {
  std::erase(line, ',');
  std::istringstream words(line);
  std::vector<std::uint64_t> numbers;
  for (std::string word; words >> word;) {
    if (word.find_first_not_of("0123456789") == std::string::npos)
      numbers.push_back(std::stoull(word));
  }
  return numbers;
}

TEST(TextReport, RowsOfOperationsAddUpToTheDevice) {
  const std::vector<std::string> lines = lines_of(superstep(kDigits, "COLUMNS=100").out);
  const auto named = [&](const std::string& name) {
    return std::ranges::find_if(lines, [&](const std::string& l) { return l.starts_with(name); });
  };
  const std::uint64_t device = numbers_of(*named("Device")).at(0);
  const std::uint64_t compute = numbers_of(*named("  Compute")).at(0);
  const std::uint64_t exchange = numbers_of(*named("  Exchange")).at(0);
  const std::uint64_t sync = numbers_of(*named("  Sync")).at(0);
  EXPECT_EQ(device, compute + exchange + sync);
  std::vector<std::uint64_t> sums(4);
  auto row = named("Top 8 of ") + 2;
  for (int i = 0; i < 9; ++i, ++row) {
    // The last row begins with the number of operations that are not shown.
    std::vector<std::uint64_t> numbers = numbers_of(*row);
    if (i == 8) numbers.erase(numbers.begin());
    ASSERT_GE(numbers.size(), 4u) << *row;
    EXPECT_EQ(numbers[0], numbers[1] + numbers[2] + numbers[3]) << *row;
    for (std::size_t c = 0; c < 4; ++c) sums[c] += numbers[c];
  }
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{device, compute, exchange, sync}));
}

TEST(TextReport, PutsTheDeviceFirstAndSaysHowMuchRestsOnAssumedNumbers) {
  const std::string report = superstep(kDigits).out;
  const std::size_t device = report.find("\nDevice"), host = report.find("\nHost"),
                    total = report.find("\nTotal"), assumed = report.find("\nAssumed");
  EXPECT_LT(device, host);
  EXPECT_LT(host, total);
  ASSERT_LT(total, assumed);
  ASSERT_NE(assumed, std::string::npos) << report;
  // Each visit to the host begins with an external barrier: before, between and after 44 calls.
  EXPECT_EQ(numbers_of(lines_of(report.substr(assumed + 1)).at(0)),
            (std::vector<std::uint64_t>{
                45 * 398, numbers_of(lines_of(report.substr(host + 1)).at(0)).at(0)}));
}

TEST(TextReport, FitsTheColumnsThatThereAre) {
  const auto widest = [](const std::string& text) {
    std::size_t columns = 0;
    for (const std::string& line : lines_of(text)) columns = std::max(columns, display_width(line));
    return columns;
  };
  const std::string trace = (scratch_folder() / "digits.h5").string();
  superstep(kDigits + ("-o " + trace));
  const std::string narrow = superstep("report " + trace + " | cat").out;
  EXPECT_LE(widest(narrow), 80u);
  EXPECT_NE(narrow.find("  model.py:32"), std::string::npos) << narrow;
  const ProgramRun wide = superstep("report " + trace, "COLUMNS=250");
  EXPECT_LE(widest(wide.out), 250u);
  EXPECT_NE(wide.out.find("  models/digits_mlp/model.py:32"), std::string::npos) << wide.out;
  EXPECT_LE(widest(superstep("compile models/digits_mlp/train_step.mlir -m small64").out), 80u);
}

TEST(TextReport, CutsALongNameOfAModule) {
  const std::filesystem::path module = scratch_folder() / "long.mlir";
  const std::string name(3000, 'x');
  std::ofstream(module) << "module @begin_" << name << "_end {\n"
                        << R"(func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
})";
  const ProgramRun run =
      superstep("run " + module.string() + " -m tiny4 --input random:1 -q", "COLUMNS=80");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string head = run.out.substr(0, run.out.find("Device"));
  EXPECT_TRUE(head.starts_with("begin_xxx")) << head;
  EXPECT_NE(head.find("x_end"), std::string::npos) << head;
  EXPECT_LE(std::ranges::count(head, '\n'), 4) << head;
}

TEST(TextReport, OfAProgramThatDoesNotFitNamesItAndShowsNoCycles) {
  const std::string trace = (scratch_folder() / "unfit.h5").string();
  ASSERT_EQ(
      superstep("run models/mnist_mlp/train_step.mlir -m tiny4 --input random:1 -o " + trace).code,
      4);
  const std::string report = superstep("report " + trace).out;
  EXPECT_TRUE(report.starts_with("jit_train_step on tiny4 (4 tiles, 1.325 GHz)\ndoes not fit"))
      << report;
  EXPECT_NE(report.find("variables"), std::string::npos);
  for (const char* word : {"balance", "Total", "0.0"})
    EXPECT_EQ(report.find(word), std::string::npos) << report;
}

TEST(TimeColumn, HasOneUnitAndNoZeroForWhatTookTime) {
  const TimeColumn us(3151);
  EXPECT_STREQ(us.unit(), "us");
  EXPECT_EQ(us.text(3151), "3.151");
  EXPECT_EQ(us.text(34), "0.034");
  EXPECT_EQ(us.text(-34), "-0.034");
  const TimeColumn ms(21'622'000);
  EXPECT_STREQ(ms.unit(), "ms");
  EXPECT_EQ(ms.text(21'622'000), "21.622");
  EXPECT_EQ(ms.text(24), "<0.001");
  EXPECT_EQ(ms.text(0), "0.000");
  EXPECT_STREQ(TimeColumn(100).unit(), "ns");
  EXPECT_DOUBLE_EQ(nanoseconds(4175, 1'325'000'000), 4175 / 1.325);
}

TEST(JsonReport, ShowsNamesThatAreNoUtf8) {
  const auto module = scratch_folder() / "b\xff.mlir", trace = scratch_folder() / "trace.h5";
  std::ofstream(module) << "func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                           "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n"
                           "  return %0 : tensor<4xf32>\n}\n";
  const ProgramRun run = superstep("run '" + module.string() +
                                   "' -m tiny4 --input random:1 -q --json -o " + trace.string());
  ASSERT_EQ(run.code, 0) << run.err;
  const json document = json::parse(run.out);
  EXPECT_NE(document["command"].get<std::string>().find("b\xef\xbf\xbd.mlir"), std::string::npos);
  for (const std::string& text : {run.out, superstep("report --json " + trace.string()).out}) {
    EXPECT_NE(json::parse(text).dump().find(R"(b\\xff.mlir:2:8)"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace superstep
