#pragma once

namespace superstep {

/// Takes four f32 from an infeed in each call, and returns them.
inline constexpr const char* kFedProgram =
    "func.func @main() -> tensor<4xf32> {\n"
    "  %t = stablehlo.after_all : !stablehlo.token\n"
    "  %a:2 = \"stablehlo.infeed\"(%t) : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)\n"
    "  return %a#0 : tensor<4xf32>\n}\n";

/// Gives its argument to an outfeed in each call.
inline constexpr const char* kGivingProgram =
    "func.func @main(%x: tensor<4xf32>) {\n  %t = stablehlo.after_all : !stablehlo.token\n"
    "  %u = \"stablehlo.outfeed\"(%x, %t) : (tensor<4xf32>, !stablehlo.token) -> "
    "!stablehlo.token\n  return\n}\n";

}  // namespace superstep
