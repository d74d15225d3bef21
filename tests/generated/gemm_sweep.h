#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"

namespace superstep {

/// Products of two matrices, small and large, whole multiples of codelets or not, in f16 and f32,
/// with their names.
inline std::vector<std::pair<std::string, Module>> gemm_sweep() {
  std::vector<std::pair<std::string, Module>> sweep;
  for (const int m : {16, 100, 256}) {
    for (const int n : {64, 250}) {
      for (const int k : {32, 300}) {
        for (const char* dtype : {"f16", "f32"}) {
          std::string name = fmt::format("{}x{}x{}x{}", m, n, k, dtype);
          const std::string text = fmt::format(
              "func.func @main(%a: tensor<{0}x{2}x{3}>, %b: tensor<{2}x{1}x{3}>) -> "
              "tensor<{0}x{1}x{3}> {{\n"
              "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
              "(tensor<{0}x{2}x{3}>, tensor<{2}x{1}x{3}>) -> tensor<{0}x{1}x{3}>\n"
              "return %c : tensor<{0}x{1}x{3}>\n}}",
              m, n, k, dtype);
          sweep.emplace_back(name, import_stablehlo(text, name));
        }
      }
    }
  }
  return sweep;
}

}  // namespace superstep
