// Documents of --json: one for every command and every outcome, each as the schema says.

#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/feed_programs.h"
#include "tests/tools/program.h"
#include "tools/command.h"

namespace superstep {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "null") return value.is_null();
  return type == "object" && value.is_object();
}

bool is_of_type(const json& value, const json& type) {
  if (type.is_string()) return has_type(value, type);
  return std::ranges::any_of(type, [&](const json& one) { return has_type(value, one); });
}

/// The words of JSON Schema that `schema_of` uses. Fields that are seen go to `seen`, by path.
void validate(const json& value, const json& schema, const std::string& at,
              std::set<std::string>& seen) {
  static const std::set<std::string> kKnown{
      "type", "properties", "additionalProperties", "items", "required", "const", "description"};
  for (const auto& [word, unused] : schema.items()) {
    ASSERT_TRUE(kKnown.contains(word)) << word;
  }
  if (schema.contains("type")) {
    ASSERT_TRUE(is_of_type(value, schema["type"])) << at << ": " << value.dump();
  }
  if (schema.contains("const")) {
    EXPECT_EQ(value, schema["const"]) << at;
  }
  for (const json& name : schema.value("required", json::array()))
    EXPECT_TRUE(value.contains(name.get<std::string>())) << at << " has no " << name;
  if (value.is_array() && schema.contains("items")) {
    for (const json& element : value) validate(element, schema["items"], at + "[]", seen);
  }
  if (!value.is_object()) return;
  const json properties = schema.value("properties", json::object());
  for (const auto& [name, child] : value.items()) {
    const std::string path = at.empty() ? name : at + "." + name;
    if (properties.contains(name)) {
      seen.insert(path);
      validate(child, properties[name], path, seen);
    } else {
      EXPECT_TRUE(schema.value("additionalProperties", true)) << path << " is in no schema";
    }
  }
}

/// Files that the cases need, by name.
std::string file_of(const std::string& name) {
  const auto path = scratch_folder() / name;
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  if (name == "quantize.mlir")
    write(
        "func.func public @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
        "  %y = stablehlo.uniform_quantize %x : tensor<4x4xf32>\n  return %y : "
        "tensor<4x4xf32>\n}\n");
  if (name == "gives.mlir") write(kGivingProgram);
  if (name == "checked.mlir")
    write(
        "func.func @main() {\n  %0 = stablehlo.constant dense<1> : tensor<2xi32>\n"
        "  %1 = stablehlo.negate %0 : tensor<2xi32>\n"
        "  check.expect_eq_const %1, dense<1> : tensor<2xi32>\n  return\n}\n// -----\n"
        "// RUN-DISABLED(inaccurate)\nfunc.func @main() {\n  return\n}\n");
  if (name == "bad.toml") write("extends = \"builtin:tiny4\"\n[tile]\nworkrs = 3\n");
  if (name == "good.toml") write("extends = \"builtin:tiny4\"\n");
  if (name == "code.S") write("add $m0, $m1, $m2\nexitz $m15\n");
  if (name == "loop.S") write(".globl loop\n.worker\nloop:\n1: add $m0, $m0, 1\n bri 1b\n");
  if (name == "loop.toml") write("source = \"loop.S\"\nentry = \"loop\"\nkind = \"worker\"\n");
  if (name == "empty.toml") write("");
  if (name == "cycles.json")
    write(R"({"schema": "superstep-baseline/1", "benchmarks": {"square": {
"program": "models/quickstart/square_plus_one.mlir", "machine": "tiny4", "calls": 1}, "none": {
"program": "none.mlir", "machine": "tiny4", "calls": 1}, "big": {
"program": "models/mnist_mlp/train_step.mlir", "machine": "tiny4", "calls": 1}}})");
  return path.string();
}

struct Case {
  std::string words;
  int code;
};

/// Every command, as far as it goes well and in the ways in which it does not.
std::vector<Case> cases() {
  file_of("loop.S");
  const std::string trace = file_of("run.h5"), out = file_of("out.h5"), code = file_of("code.S"),
                    image = file_of("affine.h5");
  return {
      {std::string(kAffine) + " --expect models/quickstart/affine_expected.h5 -o " + trace +
           " --output " + out,
       0},
      {std::string(kAffine) + " --expect models/quickstart/square_plus_one_expected.h5", 1},
      {std::string(kAffine) + " --expect models/quickstart/affine_input.h5", 1},
      {std::string(kAffine) + " --set tile.workers=4", 0},
      {std::string(kAffine) + " --trace tile", 2},
      {"run --nonsense", 2},
      {"run models/mnist_mlp/train_step.mlir -m tiny4 --input random:1 -o " + file_of("oom.h5"), 4},
      {"report " + file_of("oom.h5"), 0},
      {"run models/quickstart/affine.mlir -m tiny4", 5},
      {"run " + file_of("quantize.mlir") + " -m tiny4 --input random:1", 6},
      {"run " + file_of("gives.mlir") + " -m tiny4 --input random:1 --outfeed " + file_of("fed.h5"),
       0},
      {"run none.mlir", 74},
      {std::string(kAffine) + " -o /", 74},
      {std::string(kAffine) + " --at-superstep 1 --save-checkpoint " + file_of("behind.h5"), 0},
      {"compile models/digits_mlp/train_step.mlir -m small64 --set tile.workers=4", 0},
      {"compile models/quickstart/affine.mlir -m tiny4", 0},
      {"compile models/mnist_mlp/train_step.mlir -m tiny4", 4},
      {"compile models/quickstart/affine.mlir -m tiny4 -o " + image, 0},
      {"compile " + image, 0},
      {"compile " + image + " --emit graph", 2},
      {"run " + image + " --input random:1", 0},
      {"run " + image + " --input random:1 -m bow", 2},
      {"run models/quickstart/affine_input.h5", 5},
      {"report " + trace, 0},
      {"report " + trace + " --view ops", 0},
      {"report diff " + trace + " " + trace, 0},
      {"watch " + trace, 0},
      {"html " + trace + " -o " + file_of("page.html"), 0},
      {"report README.md", 7},
      {"trace info " + trace, 0},
      {"trace repair tests/sim/format_1.0.0.h5.part " + file_of("repaired.h5"), 0},
      {"trace repair " + trace + " " + file_of("again.h5"), 2},
      {"trace ls " + trace, 0},
      {"trace ls tests/sim/format_1.0.0.h5.part", 0},
      {"trace validate " + trace, 0},
      {"trace validate tests/sim/format_1.0.0.h5.part", 7},
      {"trace validate README.md", 7},
      {"trace export " + trace + " --to perfetto -o " + file_of("run.pftrace"), 0},
      {"trace export " + trace + " --to csv --table messages -o " + file_of("run.csv"), 2},
      {"trace schema", 0},
      {"config list", 0},
      {"config keys", 0},
      {"config show bow --set tile.workers=8", 0},
      {"config check " + file_of("good.toml"), 0},
      {"config check " + file_of("bad.toml"), 5},
      {"asm " + code, 0},
      {"asm " + code + " -o " + file_of("code.o"), 0},
      {"asm " + code + " -o " + code, 2},
      {"asm README.md", 5},
      {"disasm 0x58e0e003", 0},
      {"disasm " + file_of("code.o"), 0},
      {"run-codelet models/codelets/scale.toml", 0},
      {"run-codelet " + file_of("loop.toml") + " --max-cycles 1000", 1},
      {"run-codelet " + file_of("empty.toml"), 5},
      {"bench " + file_of("cycles.json"), 1},
      {"compile models/quickstart/affine.mlir -m tiny4 --emit=steps", 0},
      {"sensitivity models/quickstart/affine.mlir -m tiny4 --input random:1", 0},
      {"conformance " + file_of("checked.mlir") + " --set tile.workers=4", 1},
      {"docs docs --check", 0},
      {"docs " + scratch_folder().string(), 0},
      {"help run", 0},
      {"run --help", 0},
      {"version", 0},
      {"rnu", 2},
  };
}

TEST(Json, EveryCommandAndOutcomeGivesOneDocumentOfItsSchema) {
  const json schemas = json::parse(text_of(SUPERSTEP_SOURCE_DIR "/docs/schema.json"))["$defs"];
  std::set<std::string> seen;  // `command path`
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.words);
    const ProgramRun run = superstep(c.words + " --json");
    EXPECT_EQ(run.code, c.code) << run.err;
    const json document = json::parse(run.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << run.out;
    std::string command = document["schema"].get<std::string>().substr(10);
    command.resize(command.rfind('/'));
    ASSERT_TRUE(schemas.contains(command));
    std::set<std::string> paths;
    validate(document, schemas[command], "", paths);
    for (const std::string& path : paths) seen.insert(command + " " + path);
    EXPECT_EQ(document["exit_code"], c.code);
    EXPECT_EQ(document["command"], "superstep " + c.words + " --json");
    // What is refused says why, in the document as on standard error.
    EXPECT_EQ(document["problems"].empty(), c.code == 0);
    EXPECT_EQ(document["problems"].empty(), run.err.find("error: ") == std::string::npos);
    if (!document["problems"].empty()) {
      const std::string first = document["problems"][0]["message"];
      EXPECT_NE(run.err.find(first), std::string::npos) << first << "\n" << run.err;
    }
  }
  // A field that no case has may be one that nobody writes.
  std::set<std::string> documented;
  for (const Command& command : all_commands()) {
    for (const AnswerField& field : command.fields()) {
      std::string path(field.path);
      // Those of lists that are empty in every case here.
      if (path.starts_with("events[]") || path == "trap") continue;
      documented.insert(std::string(command.name) + " " + path);
    }
  }
  std::vector<std::string> unseen;
  std::ranges::set_difference(documented, seen, std::back_inserter(unseen));
  EXPECT_EQ(unseen, std::vector<std::string>{});
}

TEST(Json, HoldsTheVerdictOfExpectAndWhatWasRunOnWhat) {
  const json run = json::parse(
      superstep(std::string(kAffine) +
                " --set tile.workers=4 --expect models/quickstart/affine_expected.h5 --json")
          .out);
  EXPECT_EQ(run["expect"]["agrees"], true);
  EXPECT_EQ(run["expect"]["compared"], 1);
  EXPECT_EQ(run["expect"]["results"], 1);
  EXPECT_EQ(run["machine_overrides"], json::array({"tile.workers=4"}));
  EXPECT_EQ(run["machine"], "tiny4 with tile.workers=4");
  // As `sha256sum` says of the file.
  const ProgramRun sum = superstep("version >/dev/null; sha256sum models/quickstart/affine.mlir");
  EXPECT_TRUE(sum.out.starts_with(run["program_sha256"].get<std::string>())) << sum.out;
  EXPECT_GT(run["seconds"].get<double>(), 0);
  const json wrong = json::parse(
      superstep(std::string(kAffine) +
                " --expect models/quickstart/affine_expected.h5 --rtol 0 --atol 0 --json")
          .out);
  EXPECT_EQ(wrong["expect"]["tensors"][0]["name"], "result0");
}

}  // namespace
}  // namespace superstep
