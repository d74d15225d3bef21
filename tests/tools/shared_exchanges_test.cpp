// Operations that share an exchange, in the trace and in what is made of it.

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "base/hdf5_file.h"
#include "report/shares.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

using nlohmann::json;

/// Two transposes in one exchange, the second of three times as many words.
class SharedExchanges : public ::testing::Test {
 protected:
  static std::string trace() {
    static const std::string path = [] {
      const std::filesystem::path module = scratch_folder() / "transposes.mlir";
      std::ofstream(module)
          << R"(func.func @main(%a: tensor<64x64xf32>, %b: tensor<128x128xf32>) -> (tensor<64x64xf32>, tensor<128x128xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %2 = stablehlo.add %a, %0 : tensor<64x64xf32>
  %3 = stablehlo.add %b, %1 : tensor<128x128xf32>
  return %2, %3 : tensor<64x64xf32>, tensor<128x128xf32>
})";
      const std::string file = (scratch_folder() / "transposes.h5").string();
      const ProgramRun run = superstep("run " + module.string() +
                                       " -m tiny4 --input random:1 --repeat 3 -q -o " + file);
      EXPECT_EQ(run.code, 0) << run.err;
      return file;
    }();
    return path;
  }
  static std::vector<std::uint64_t> numbers(const std::string& column) {
    return Hdf5File::open(trace(), Hdf5File::Access::kRead)
        .read_all<std::uint64_t>(column, Hdf5Type::kU64);
  }
  static std::vector<std::string> texts(const std::string& column) {
    return Hdf5File::open(trace(), Hdf5File::Access::kRead).read_text(column);
  }
  /// The exchange that both transposes share.
  static std::size_t shared_step() {
    const std::vector<std::string> names = texts("/program/step/name");
    const auto at = std::ranges::find(names, "transpose.2 +1");
    EXPECT_NE(at, names.end());
    return static_cast<std::size_t>(at - names.begin());
  }
};

TEST_F(SharedExchanges, HaveTheWordsThatTheyWriteForEachOperation) {
  const std::size_t step = shared_step();
  std::map<std::string, std::uint64_t> words;
  const std::vector<std::uint64_t> steps = numbers("/program/fused/step"),
                                   weights = numbers("/program/fused/cycles_alone"),
                                   operations = numbers("/program/fused/operation");
  const std::vector<std::string> names = texts("/program/fused/name"),
                                 of = texts("/program/operation/name");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] != step) continue;
    words[names[i]] = weights[i];
    EXPECT_EQ(of.at(operations[i]), names[i]);
  }
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words["transpose.3"], 3 * words["transpose.2"]);
  EXPECT_EQ(4 * (words["transpose.2"] + words["transpose.3"]),
            numbers("/program/step/exchange_bytes").at(step));
}

TEST_F(SharedExchanges, AreBookedOnEachOperationAndAddUpToTheRun) {
  const json report = json::parse(superstep("report " + trace() + " --json").out);
  std::map<std::string, json> by_name;
  std::uint64_t bytes = 0, cycles = 0;
  for (const json& operation : report["operations"]) {
    by_name[operation["name"]] = operation;
    bytes += operation["exchange_bytes"].get<std::uint64_t>();
    cycles += operation["exchange_cycles"].get<std::uint64_t>();
  }
  EXPECT_EQ(bytes, report["exchange_bytes"]);
  EXPECT_EQ(cycles, report["cycles"]["exchange"]);
  const std::uint64_t whole = numbers("/summary/step/exchange_cycles").at(shared_step());
  EXPECT_EQ(by_name["transpose.2"]["exchange_cycles"], whole / 4);
  EXPECT_EQ(by_name["transpose.3"]["exchange_cycles"], whole - whole / 4);
  EXPECT_EQ(by_name["transpose.3"]["exchange_bytes"].get<std::uint64_t>(),
            3 * by_name["transpose.2"]["exchange_bytes"].get<std::uint64_t>());
  // As the trace itself has it.
  EXPECT_EQ(json::parse(texts("/summary/json").at(0))["operations"], report["operations"]);
}

TEST_F(SharedExchanges, HaveAFrameForEachOperationInStacks) {
  const ProgramRun run = superstep("trace export " + trace() + " --to folded -o " +
                                   (scratch_folder() / "transposes.folded").string());
  ASSERT_EQ(run.code, 0) << run.err;
  std::istringstream lines(text_of(scratch_folder() / "transposes.folded"));
  const std::uint64_t whole = numbers("/summary/step/exchange_cycles").at(shared_step());
  const std::string stack = "transpose.2;transpose.2 +1;exchange;";
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(stack)) found.push_back(line.substr(stack.size()));
  }
  EXPECT_EQ(found, (std::vector{"transpose.2 " + std::to_string(whole / 4),
                                "transpose.3 " + std::to_string(whole - whole / 4)}));
}

TEST(Shares, OfEveryNumberAddUpToIt) {
  const std::vector<FusedOperation> operations = {
      {"a", "", {}, 3}, {"b", "", {}, 0}, {"c", "", {}, 4}};
  const std::vector<Share> shares = shares_of(operations);
  ASSERT_EQ(shares.size(), 3U);
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10}, std::uint64_t{UINT64_MAX}}) {
    EXPECT_EQ(shares[0].of(number) + shares[1].of(number) + shares[2].of(number), number);
    EXPECT_EQ(shares[1].of(number), 0U);
  }
  EXPECT_EQ(shares[0].of(14), 6U);
  EXPECT_TRUE(shares_of(std::vector<FusedOperation>{{"a", "", {}, 0}}).empty());
}

TEST(Shares, AreNamedWithTheirPercentWhereWeightsAreKnown) {
  EXPECT_EQ(shares_text(std::vector<FusedOperation>{{"a", "", {}, 3}, {"b", "", {}, 1}}),
            "a 75 %, b 25 %");
  EXPECT_EQ(shares_text(std::vector<FusedOperation>{{"a", "", {}, 0}, {"b", "", {}, 0}}), "a, b");
}

}  // namespace
}  // namespace superstep
