#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "base/hdf5_file.h"
#include "tests/tools/program.h"

namespace superstep {

using nlohmann::json;

/// Views of a trace of some calls, of level tile.
class Views : public ::testing::Test {
 protected:
  static std::string trace() {
    static const std::string path = [] {
      const std::string file = (scratch_folder() / "views.h5").string();
      const ProgramRun run = superstep(
          "run models/linear_regression/train_step.mlir -m small64 --input "
          "models/linear_regression/train.h5 --repeat 3 --trace tile -q -o " +
          file);
      EXPECT_EQ(run.code, 0) << run.err;
      return file;
    }();
    return path;
  }
  static json tables(const std::string& words) {
    const ProgramRun run = superstep("report " + trace() + " --json " + words);
    EXPECT_EQ(run.code, 0) << run.err;
    return json::parse(run.out)["tables"];
  }
  /// The numbers of a column.
  static std::vector<double> column(const json& table, const std::string& name) {
    const json& columns = table["columns"];
    const auto at = std::ranges::find_if(columns, [&](const json& c) { return c["name"] == name; });
    EXPECT_NE(at, columns.end()) << name;
    std::vector<double> values;
    for (const json& row : table["rows"]) {
      const json& cell = row[static_cast<std::size_t>(at - columns.begin())];
      values.push_back(cell.is_null() ? 0 : cell.get<double>());
    }
    return values;
  }
  static double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  }
  static std::uint64_t sum_of(const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  }
  static std::uint64_t attribute(const std::string& name) {
    const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
    return std::get<std::uint64_t>(file.attribute("/summary", name).value());
  }
};

}  // namespace superstep
