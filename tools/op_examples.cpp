#include "tools/op_examples.h"

#include <fmt/format.h>

namespace superstep {

std::string OpExample::text() const {
  return fmt::format("func.func @main({}) -> {} {{\n{}\n  return %r : {}\n}}\n", arguments, result,
                     body, result);
}

std::span<const OpExample> op_examples() {
  static constexpr OpExample kExamples[] = {
      {"chlo.ragged_dot", "%a: tensor<256x64xf32>, %b: tensor<4x64x64xf32>, %c: tensor<4xi32>",
       "tensor<256x64xf32>",
       R"(  %r = "chlo.ragged_dot"(%a, %b, %c) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<256x64xf32>, tensor<4x64x64xf32>, tensor<4xi32>) -> tensor<256x64xf32>)"},
      {"chlo.scan", "%a: tensor<16x256xf32>, %b: tensor<256xf32>", "tensor<16x256xf32>",
       R"(  %r, %l = chlo.scan(%a) inits(%b) dimension=0 {
  ^bb0(%x: tensor<256xf32>, %c: tensor<256xf32>):
    %s = stablehlo.add %x, %c : tensor<256xf32>
    stablehlo.return %s, %s : tensor<256xf32>, tensor<256xf32>
  } : (tensor<16x256xf32>, tensor<256xf32>) -> (tensor<16x256xf32>, tensor<256xf32>))"},
      {"chlo.top_k", "%a: tensor<64x256xf32>", "tensor<64x8xf32>",
       R"(  %r, %i = chlo.top_k(%a, k = 8) : tensor<64x256xf32> -> (tensor<64x8xf32>, tensor<64x8xi32>))"},
      {"stablehlo.batch_norm_grad",
       "%a: tensor<8x8x8x64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>, %d: tensor<64xf32>, "
       "%e: tensor<8x8x8x64xf32>",
       "tensor<8x8x8x64xf32>",
       R"(  %r, %s, %t = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) {epsilon = 1.0e-5 : f32, feature_index = 3 : i64} : (tensor<8x8x8x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x8x64xf32>) -> (tensor<8x8x8x64xf32>, tensor<64xf32>, tensor<64xf32>))"},
      {"stablehlo.batch_norm_inference",
       "%a: tensor<8x8x8x64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>, %d: tensor<64xf32>, "
       "%e: tensor<64xf32>",
       "tensor<8x8x8x64xf32>",
       R"(  %r = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) {epsilon = 1.0e-5 : f32, feature_index = 3 : i64} : (tensor<8x8x8x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x8x8x64xf32>)"},
      {"stablehlo.batch_norm_training",
       "%a: tensor<8x8x8x64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>", "tensor<8x8x8x64xf32>",
       R"(  %r, %s, %t = "stablehlo.batch_norm_training"(%a, %b, %c) {epsilon = 1.0e-5 : f32, feature_index = 3 : i64} : (tensor<8x8x8x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<8x8x8x64xf32>, tensor<64xf32>, tensor<64xf32>))"},
      {"stablehlo.broadcast_in_dim", "%a: tensor<256xf32>", "tensor<128x256xf32>",
       "  %r = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<256xf32>) -> "
       "tensor<128x256xf32>"},
      {"stablehlo.case", "%a: tensor<i32>, %b: tensor<128x256xf32>", "tensor<128x256xf32>",
       R"(  %r = "stablehlo.case"(%a) ({
    %x = stablehlo.negate %b : tensor<128x256xf32>
    stablehlo.return %x : tensor<128x256xf32>
  }, {
    %y = stablehlo.abs %b : tensor<128x256xf32>
    stablehlo.return %y : tensor<128x256xf32>
  }) : (tensor<i32>) -> tensor<128x256xf32>)"},
      {"stablehlo.cholesky", "%a: tensor<32x32xf32>", "tensor<32x32xf32>",
       "  %r = stablehlo.cholesky %a, lower = true : tensor<32x32xf32>"},
      {"stablehlo.concatenate", "%a: tensor<128x256xf32>, %b: tensor<128x256xf32>",
       "tensor<256x256xf32>",
       "  %r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<128x256xf32>, "
       "tensor<128x256xf32>) -> tensor<256x256xf32>"},
      {"stablehlo.convolution", "%a: tensor<8x16x16x16xf16>, %b: tensor<3x3x16x32xf16>",
       "tensor<8x14x14x32xf16>",
       R"(  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x16x16xf16>, tensor<3x3x16x32xf16>) -> tensor<8x14x14x32xf16>)"},
      {"stablehlo.dot_general", "%a: tensor<256x256xf16>, %b: tensor<256x256xf16>",
       "tensor<256x256xf16>",
       "  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
       "(tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>"},
      {"stablehlo.dynamic_slice", "%a: tensor<128x256xf32>, %b: tensor<i32>, %c: tensor<i32>",
       "tensor<16x256xf32>",
       "  %r = stablehlo.dynamic_slice %a, %b, %c, sizes = [16, 256] : (tensor<128x256xf32>, "
       "tensor<i32>, tensor<i32>) -> tensor<16x256xf32>"},
      {"stablehlo.dynamic_update_slice",
       "%a: tensor<128x256xf32>, %b: tensor<16x256xf32>, %c: tensor<i32>, %d: tensor<i32>",
       "tensor<128x256xf32>",
       "  %r = stablehlo.dynamic_update_slice %a, %b, %c, %d : (tensor<128x256xf32>, "
       "tensor<16x256xf32>, tensor<i32>, tensor<i32>) -> tensor<128x256xf32>"},
      {"stablehlo.fft", "%a: tensor<16x256xcomplex<f32>>", "tensor<16x256xcomplex<f32>>",
       "  %r = stablehlo.fft %a, type = FFT, length = [256] : (tensor<16x256xcomplex<f32>>) -> "
       "tensor<16x256xcomplex<f32>>"},
      {"stablehlo.gather", "%a: tensor<1024x64xf32>, %b: tensor<128x1xi32>", "tensor<128x64xf32>",
       R"(  %r = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<1024x64xf32>, tensor<128x1xi32>) -> tensor<128x64xf32>)"},
      {"stablehlo.map", "%a: tensor<128x256xf32>", "tensor<128x256xf32>",
       R"(  %r = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>):
    %y = stablehlo.multiply %x, %x : tensor<f32>
    %z = stablehlo.add %y, %x : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<128x256xf32>) -> tensor<128x256xf32>)"},
      {"stablehlo.optimization_barrier", "%a: tensor<128x256xf32>", "tensor<128x256xf32>",
       R"(  %x = stablehlo.negate %a : tensor<128x256xf32>
  %y = stablehlo.optimization_barrier %x : tensor<128x256xf32>
  %r = stablehlo.abs %y : tensor<128x256xf32>)"},
      {"stablehlo.pad", "%a: tensor<128x256xf32>, %b: tensor<f32>", "tensor<130x258xf32>",
       "  %r = stablehlo.pad %a, %b, low = [1, 1], high = [1, 1], interior = [0, 0] : "
       "(tensor<128x256xf32>, tensor<f32>) -> tensor<130x258xf32>"},
      {"stablehlo.reduce", "%a: tensor<128x256xf32>, %b: tensor<f32>", "tensor<128xf32>",
       "  %r = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : "
       "(tensor<128x256xf32>, tensor<f32>) -> tensor<128xf32>"},
      {"stablehlo.reduce_window", "%a: tensor<8x16x16x16xf32>, %b: tensor<f32>",
       "tensor<8x8x8x16xf32>",
       R"(  %r = "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8x16x16x16xf32>, tensor<f32>) -> tensor<8x8x8x16xf32>)"},
      {"stablehlo.reshape", "%a: tensor<128x256xf32>", "tensor<256x128xf32>",
       "  %r = stablehlo.reshape %a : (tensor<128x256xf32>) -> tensor<256x128xf32>"},
      {"stablehlo.reverse", "%a: tensor<128x256xf32>", "tensor<128x256xf32>",
       "  %r = stablehlo.reverse %a, dims = [0] : tensor<128x256xf32>"},
      {"stablehlo.rng", "%a: tensor<f32>, %b: tensor<f32>", "tensor<128x256xf32>",
       R"(  %s = stablehlo.constant dense<[128, 256]> : tensor<2xi64>
  %r = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<128x256xf32>)"},
      {"stablehlo.rng_bit_generator", "%a: tensor<2xui64>", "tensor<128x256xui32>",
       "  %s, %r = stablehlo.rng_bit_generator %a, algorithm = DEFAULT : (tensor<2xui64>) -> "
       "(tensor<2xui64>, tensor<128x256xui32>)"},
      {"stablehlo.scatter",
       "%a: tensor<1024x64xf32>, %b: tensor<128x1xi32>, %c: tensor<128x64xf32>",
       "tensor<1024x64xf32>",
       R"(  %r = "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1024x64xf32>, tensor<128x1xi32>, tensor<128x64xf32>) -> tensor<1024x64xf32>)"},
      {"stablehlo.select_and_scatter",
       "%a: tensor<8x16x16x16xf32>, %b: tensor<8x8x8x16xf32>, %c: tensor<f32>",
       "tensor<8x16x16x16xf32>",
       R"(  %r = "stablehlo.select_and_scatter"(%a, %b, %c) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %g = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %g : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x16x16x16xf32>, tensor<8x8x8x16xf32>, tensor<f32>) -> tensor<8x16x16x16xf32>)"},
      {"stablehlo.slice", "%a: tensor<128x256xf32>", "tensor<64x256xf32>",
       "  %r = stablehlo.slice %a [0:128:2, 0:256] : (tensor<128x256xf32>) -> "
       "tensor<64x256xf32>"},
      {"stablehlo.sort", "%a: tensor<64x256xf32>", "tensor<64x256xf32>",
       R"(  %r = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %l = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<64x256xf32>) -> tensor<64x256xf32>)"},
      {"stablehlo.transpose", "%a: tensor<128x256xf32>", "tensor<256x128xf32>",
       "  %r = stablehlo.transpose %a, dims = [1, 0] : (tensor<128x256xf32>) -> "
       "tensor<256x128xf32>"},
      {"stablehlo.triangular_solve", "%a: tensor<32x32xf32>, %b: tensor<32x32xf32>",
       "tensor<32x32xf32>",
       R"(  %r = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>)"},
      {"stablehlo.while", "%a: tensor<128x256xf32>", "tensor<128x256xf32>",
       R"(  %z = stablehlo.constant dense<0> : tensor<i32>
  %n, %r = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<128x256xf32>
  cond {
    %e = stablehlo.constant dense<10> : tensor<i32>
    %p = stablehlo.compare LT, %i, %e : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    %y = stablehlo.multiply %x, %x : tensor<128x256xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<128x256xf32>
  })"},
  };
  return kExamples;
}

}  // namespace superstep
