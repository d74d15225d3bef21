#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/op.h"

namespace superstep {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::filesystem::path model(std::string_view name) {
  return std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models" / name;
}

/// What is wrong with a text: the exit code, then `line:column: message` of each problem.
struct Refusal {
  ExitCode code = ExitCode::kOk;
  std::vector<std::string> problems;
};

inline Refusal refusal(std::string_view text) {
  try {
    (void)import_stablehlo(text, "f.mlir");
  } catch (const UserError& error) {
    Refusal out{error.code(), {}};
    for (const Problem& problem : error.problems()) {
      const std::string where = problem.where.text();
      // Without the file, which the caller chose.
      out.problems.push_back((where.starts_with("f.mlir:") ? where.substr(7) : "unlocated") + ": " +
                             problem.message);
    }
    return out;
  }
  return {};
}

/// Imports `body` as the body of @main with arguments `%a, %b: tensor<2x3xf32>`, `%s: tensor<f32>`
/// and `%p: tensor<2x3xi1>`; the body's first line is line 2.
inline std::string in_main(std::string_view body, std::string_view results = "()") {
  return "func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %s: tensor<f32>, %p: "
         "tensor<2x3xi1>) -> " +
         std::string(results) + " {\n" + std::string(body) + "\nreturn\n}\n";
}

/// Aliases `#loc0` to `#loc<n - 1>`, of which each names the next and the last is `location`.
inline std::string chain_of_aliases(int n, const std::string& location) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    const std::string next = i + 1 < n ? "#loc" + std::to_string(i + 1) : location;
    text += "#loc" + std::to_string(i) + " = loc(" + next + ")\n";
  }
  return text;
}

/// The first op of a body.
inline Op first_op(std::string_view body) {
  return import_stablehlo(in_main(body), "f.mlir").main.ops().at(0);
}

inline std::vector<std::int64_t> integers(const Op& op, const std::string& name) {
  return std::get<std::vector<std::int64_t>>(op.attributes.at(name));
}

inline std::string word(const Op& op, const std::string& name) {
  return std::get<std::string>(op.attributes.at(name));
}

/// What the refusal of an element type ends with.
inline std::string supported_dtypes() {
  std::string text = "supported are ";
  for (const DType dtype : kAllDTypes) {
    text += (dtype == kAllDTypes.front() ? "" : ", ") + std::string(name_of(dtype));
  }
  return text;
}

}  // namespace superstep
