#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/program.h"
#include "tools/report.h"

namespace superstep {
namespace {

using nlohmann::json;

std::string type_of(const json& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  if (value.is_string()) return "text";
  return value.is_array() ? "list" : "object";
}

/// Every field of a document by path, with its type.
void collect(const json& value, const std::string& at, std::set<std::string>& fields) {
  for (const auto& [key, child] : value.items()) {
    const std::string path = at.empty() ? key : at + "." + key;
    // Objects only group fields, but for that of categories, whose names depend on the program.
    if (child.is_object() && key != "worst_tile_categories") {
      collect(child, path, fields);
      continue;
    }
    fields.insert(path + " " + type_of(child));
    if (child.is_array()) {
      for (const json& element : child) collect(element, path + "[]", fields);
    }
  }
}

TEST(JsonReport, HasExactlyTheDocumentedFields) {
  const ProgramRun run = superstep(
      "run models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 "
      "--json");
  ASSERT_EQ(run.code, 0);
  std::set<std::string> found, documented;
  collect(json::parse(run.out), "", found);
  // What has events: a program that does not fit.
  const std::string trace = (scratch_folder() / "run.h5").string();
  ASSERT_EQ(
      superstep("run models/mnist_mlp/train_step.mlir -m tiny4 --input random:1 -o " + trace).code,
      4);
  const ProgramRun report = superstep("report --json " + trace);
  EXPECT_EQ(report.code, 0) << report.err;
  const json too_big = json::parse(report.out);
  EXPECT_EQ(too_big["outcome"], "oom");
  EXPECT_EQ(too_big["events"][0]["kind"], "oom");
  collect(too_big, "", found);
  for (const ReportField& field : report_fields())
    documented.insert(std::string(field.path) + " " + std::string(field.type));
  EXPECT_EQ(found, documented);
}

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

}  // namespace
}  // namespace superstep
