#include <array>
#include <limits>

#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

/// The message of the error that the op is refused with.
std::string refusal(const std::string& op, std::vector<HostTensor> operands, Attributes attributes,
                    ExitCode expected = ExitCode::kMalformed, std::vector<Graph> regions = {},
                    std::vector<TensorType> declared = {}) {
  try {
    static_cast<void>(graph_of({"stablehlo." + op,
                                "",
                                std::move(operands),
                                std::move(attributes),
                                {},
                                0,
                                std::move(regions),
                                std::move(declared)}));
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    return error.what();
  }
  ADD_FAILURE() << op << " is not refused";
  return "";
}

const HostTensor kX = numbers(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});

TEST(OpErrors, NameThePlaceTheOpAndBothTypes) {
  EXPECT_EQ(
      refusal("add", {kX, vector_of(kF32, {1})}, {}),
      "case.mlir:3:7: error: stablehlo.add: operands have types tensor<2x3xf32> and tensor<1xf32>, "
      "expected equal ones");
}

TEST(OpErrors, NameTheDTypeAndThoseAllowed) {
  EXPECT_EQ(
      refusal("tanh", {vector_of(kI8, {1})}, {}),
      "case.mlir:3:7: error: stablehlo.tanh: element type i8 is not one of bf16, f16, f32, f64, "
      "complex<f32>, complex<f64>, f4, f6, f8");
}

TEST(OpErrors, NameADimensionPaddedByMoreThanAnyTensorHolds) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const auto& [low, high, interior] :
       {std::array{kMost, 0L, 0L}, {-kMost, 0L, 0L}, {0L, kMost, 0L}, {0L, 0L, kMost}}) {
    EXPECT_EQ(
        refusal("pad", {vector_of(kF32, {1, 2, 3}), numbers(kF32, {}, {0})},
                {{"edge_padding_low", Indices{low}},
                 {"edge_padding_high", Indices{high}},
                 {"interior_padding", Indices{interior}}}),
        "case.mlir:3:7: error: stablehlo.pad: pads dimension 0 by more than any tensor holds");
  }
}

TEST(OpErrors, NameTheNumberOfOperands) {
  EXPECT_EQ(refusal("add", {kX}, {}),
            "case.mlir:3:7: error: stablehlo.add: has 1 operands, expected 2");
}

TEST(OpErrors, NameADeclaredResultThatDiffers) {
  EXPECT_EQ(refusal("negate", {kX}, {}, ExitCode::kMalformed, {}, {{kF32, {3, 2}}}),
            "case.mlir:3:7: error: stablehlo.negate: declares result tensor<3x2xf32>, but its "
            "operands give "
            "tensor<2x3xf32>");
}

TEST(OpErrors, NameTheNumberOfResultsThatAreDeclared) {
  EXPECT_EQ(refusal("negate", {kX}, {}, ExitCode::kMalformed, {}, {kX.type, kX.type}),
            "case.mlir:3:7: error: stablehlo.negate: declares 2 results, but has 1");
}

TEST(OpErrors, NameTheNumberOfRegions) {
  EXPECT_EQ(refusal("negate", {kX}, {}, ExitCode::kMalformed, {Graph()}),
            "case.mlir:3:7: error: stablehlo.negate: has 1 regions, expected 0");
}

TEST(OpErrors, NameAMissingAttribute) {
  EXPECT_EQ(refusal("transpose", {kX}, {}),
            "case.mlir:3:7: error: stablehlo.transpose: misses attribute permutation");
  EXPECT_EQ(refusal("reshape", {kX}, {}),
            "case.mlir:3:7: error: stablehlo.reshape: needs a result type");
}

TEST(OpErrors, NameADimensionThatIsOutOfRangeOrTwice) {
  EXPECT_EQ(refusal("transpose", {kX}, {{"permutation", Indices{0, 2}}}),
            "case.mlir:3:7: error: stablehlo.transpose: permutation names dimension 2 of a tensor "
            "of rank 2");
  EXPECT_EQ(refusal("transpose", {kX}, {{"permutation", Indices{1, 1}}}),
            "case.mlir:3:7: error: stablehlo.transpose: permutation names dimension 1 twice");
  EXPECT_EQ(
      refusal("concatenate", {kX}, {{"dimension", std::int64_t{2}}}),
      "case.mlir:3:7: error: stablehlo.concatenate: dimension is 2, but the tensor has rank 2");
}

TEST(OpErrors, NameASliceOutOfBounds) {
  EXPECT_EQ(
      refusal(
          "slice", {vector_of(kF32, {1, 2})},
          {{"start_indices", Indices{0}}, {"limit_indices", Indices{3}}, {"strides", Indices{1}}}),
      "case.mlir:3:7: error: stablehlo.slice: slice 0:3:1 of dimension 0 of tensor<2xf32> does not "
      "satisfy "
      "0 <= start <= limit <= size and stride >= 1");
}

TEST(OpErrors, NameABitcastOfTooFewBooleans) {
  EXPECT_EQ(refusal("bitcast_convert", {vector_of(kI1, {1, 0})}, {}, ExitCode::kMalformed, {},
                    {{kF32, {}}}),
            "case.mlir:3:7: error: stablehlo.bitcast_convert: 32 of i1 are one f32, but the "
            "operand is tensor<2xi1>");
}

TEST(OpErrors, NameABitcastOfTooFewElements) {
  EXPECT_EQ(refusal("bitcast_convert", {vector_of(kF16, {1})}, {}, ExitCode::kMalformed, {},
                    {{kF32, {}}}),
            "case.mlir:3:7: error: stablehlo.bitcast_convert: 2 of f16 are one f32, but the "
            "operand is tensor<1xf16>");
}

/// As JAX prints its `precision="BF16_BF16_F32_X3"` and others.
Attributes product_by(const char* operands, const char* sums, std::int64_t products) {
  return {
      {"lhs_contracting_dimensions", Indices{0}},    {"rhs_contracting_dimensions", Indices{0}},
      {"lhs_precision_type", std::string(operands)}, {"rhs_precision_type", std::string(operands)},
      {"accumulation_type", std::string(sums)},      {"lhs_component_count", std::int64_t{1}},
      {"rhs_component_count", std::int64_t{1}},      {"num_primitive_operations", products},
      {"allow_imprecise_accumulation", false}};
}

TEST(OpErrors, NameAnAlgorithmThatAProductDoesNotHave) {
  const HostTensor single = vector_of(kF32, {1, 2}), half = vector_of(kF16, {1, 2});
  EXPECT_EQ(refusal("dot_general", {single, single}, product_by("bf16", "f32", 4),
                    ExitCode::kUnsupported, {}, {{kF32, {}}}),
            "case.mlir:3:7: error: stablehlo.dot_general: algorithm bf16 x bf16 with sums in f32, "
            "4 products of each pair; of f32 and f32 there is f32 x f32 with sums in f32, 1 "
            "product of each pair, also bf16 x bf16 with 1, 3, 6 or 9 and tf32 x tf32 with 1 or 3: "
            "convert the operands, or leave the algorithm out");
  static_cast<void>(refusal("dot_general", {single, single}, product_by("tf32", "f32", 6),
                            ExitCode::kUnsupported, {}, {{kF32, {}}}));
  static_cast<void>(refusal("dot_general", {half, half}, product_by("f16", "f16", 1),
                            ExitCode::kUnsupported, {}, {{kF16, {}}}));
}

TEST(OpErrors, NameAnAlgorithmOfRandomBits) {
  const HostTensor state = bits_of(kU64, {1, 2}), longer = bits_of(kU64, {1, 2, 3});
  const std::vector<TensorType> types = {state.type, {kU32, {4}}};
  EXPECT_EQ(refusal("rng_bit_generator", {state}, {{"rng_algorithm", std::string("MERSENNE")}},
                    ExitCode::kMalformed, {}, types),
            "case.mlir:3:7: error: stablehlo.rng_bit_generator: rng_algorithm is MERSENNE, "
            "expected DEFAULT, THREE_FRY or PHILOX");
  EXPECT_EQ(refusal("rng_bit_generator", {longer}, {{"rng_algorithm", std::string("THREE_FRY")}},
                    ExitCode::kMalformed, {}, types),
            "case.mlir:3:7: error: stablehlo.rng_bit_generator: the state is tensor<3xui64>, "
            "expected tensor<2xui64>");
}

TEST(OpErrors, NameLengthsOfTransforms) {
  const auto fft = [](const HostTensor& x, const std::string& type,
                      std::vector<std::int64_t> lengths) {
    return refusal("fft", {x}, {{"fft_type", type}, {"fft_length", std::move(lengths)}});
  };
  EXPECT_EQ(fft(kX, "DCT", {3}),
            "case.mlir:3:7: error: stablehlo.fft: fft_type is DCT, expected FFT, IFFT, RFFT or "
            "IRFFT");
  EXPECT_EQ(fft(kX, "FFT", {3}),
            "case.mlir:3:7: error: stablehlo.fft: FFT of tensor<2x3xf32>, expected complex "
            "numbers");
  EXPECT_EQ(fft(kX, "RFFT", {2, 2}),
            "case.mlir:3:7: error: stablehlo.fft: the lengths are [2, 2], which do not fit the "
            "last dimensions of tensor<2x3xf32>");
  EXPECT_EQ(fft(kX, "RFFT", {1, 2, 3}),
            "case.mlir:3:7: error: stablehlo.fft: has 3 lengths, expected 1 to 3, and no more than "
            "tensor<2x3xf32> has dimensions");
}

TEST(OpErrors, NameMatricesThatAreNotSquare) {
  EXPECT_EQ(refusal("cholesky", {kX}, {}),
            "case.mlir:3:7: error: stablehlo.cholesky: the operand is tensor<2x3xf32>, expected "
            "square matrices");
  const HostTensor square = numbers(kF32, {2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(refusal("triangular_solve", {square, numbers(kF32, {3, 2}, {1, 2, 3, 4, 5, 6})},
                    {{"left_side", true},
                     {"lower", true},
                     {"unit_diagonal", false},
                     {"transpose_a", std::string("NO_TRANSPOSE")}}),
            "case.mlir:3:7: error: stablehlo.triangular_solve: the operands are tensor<2x2xf32> "
            "and tensor<3x2xf32>, expected square matrices and columns of as many elements");
}

TEST(OpErrors, NameTheFunctionsThatCanBeCalled) {
  EXPECT_EQ(refusal("custom_call", {kX}, {{"call_target_name", std::string("lapack_sgbtrf_ffi")}},
                    ExitCode::kUnsupported),
            "case.mlir:3:7: error: stablehlo.custom_call: @lapack_sgbtrf_ffi is not supported; the "
            "nearest that is is @lapack_sgetrf_ffi");
  EXPECT_EQ(refusal("custom_call", {kX}, {{"call_target_name", std::string("other")}},
                    ExitCode::kUnsupported),
            "case.mlir:3:7: error: stablehlo.custom_call: @other is not supported");
  EXPECT_EQ(refusal("custom_call", {kX},
                    {{"call_target_name", std::string("xla_ffi_python_cpu_callback")}},
                    ExitCode::kUnsupported),
            "case.mlir:3:7: error: stablehlo.custom_call: @xla_ffi_python_cpu_callback calls "
            "Python, which programs cannot do; return what it needs as results, or give it to the "
            "host by an outfeed");
}

TEST(OpErrors, NameMatricesThatAFunctionOfALibraryDoesNotTake) {
  const HostTensor square = numbers(kF32, {2, 2}, {1, 0, 0, 1});
  const auto call = [](const std::string& name, const std::vector<HostTensor>& operands,
                       Attributes attributes = {}, ExitCode code = ExitCode::kMalformed) {
    attributes["call_target_name"] = name;
    return refusal("custom_call", operands, std::move(attributes), code);
  };
  const std::string place = "case.mlir:3:7: error: stablehlo.custom_call: ";
  EXPECT_EQ(call("lapack_ssyevd_ffi", {kX}),
            place + "the operand is tensor<2x3xf32>, expected square matrices");
  EXPECT_EQ(call("lapack_sgeqrf_ffi", {vector_of(kF32, {1})}),
            place + "the operand is tensor<1xf32>, expected matrices");
  EXPECT_EQ(call("lapack_sgetrf_ffi", {square, square}),
            place + "has another number of operands than 1");
  EXPECT_EQ(call("lapack_sorgqr_ffi", {kX, vector_of(kF32, {1, 1})}),
            place + "tensor<2x3xf32> has more columns than rows");
  EXPECT_EQ(call("lapack_sorgqr_ffi", {square, vector_of(kF32, {1, 1, 1})}),
            place + "there are 3 reflectors in tensor<2x2xf32>");
  EXPECT_EQ(call("lapack_sgesdd_ffi", {kX}, {{"backend_config", std::string("{mode = 79 : ui8}")}}),
            place + "mode is 79, expected 65, 83 or 78 (A, S, N)");
  EXPECT_EQ(call("lapack_sgetrf_ffi", {square},
                 {{"operand_layouts", std::string("[dense<[1, 0]> : tensor<2xindex>]")}},
                 ExitCode::kUnsupported),
            place + "operand_layouts has [1, 0] for tensor<2x2xf32>, expected [0, 1]");
}

TEST(OpErrors, NameTheTypeThatAFunctionOfALibraryTakes) {
  EXPECT_EQ(refusal("custom_call", {numbers(kI32, {2, 2}, {1, 0, 0, 1})},
                    {{"call_target_name", std::string("lapack_spotrf_ffi")}}),
            "case.mlir:3:7: error: stablehlo.custom_call: element type i32 is not one of f32");
}

TEST(OpErrors, NameAnUnknownComparison) {
  EXPECT_EQ(refusal("compare", {kX, kX}, {{"comparison_direction", std::string("LESS")}}),
            "case.mlir:3:7: error: stablehlo.compare: comparison_direction LESS is not one of EQ, "
            "NE, LT, LE, GT, GE");
  EXPECT_EQ(refusal("compare", {kX, kX},
                    {{"comparison_direction", std::string("LT")},
                     {"compare_type", std::string("SIGNED")}}),
            "case.mlir:3:7: error: stablehlo.compare: compare_type SIGNED does not fit f32");
}

TEST(OpErrors, NameAReducerThatDoesNotFit) {
  Graph region;
  const ValueId a = region.add_argument({kF32, {}}, "a");
  region.add_argument({kI32, {}}, "b");
  region.set_results({a});
  EXPECT_EQ(refusal("reduce", {kX, numbers(kF32, {}, {0})}, {{"dimensions", Indices{0}}},
                    ExitCode::kMalformed, {region}),
            "case.mlir:3:7: error: stablehlo.reduce: the reducer has tensor<i32> where tensor<f32> "
            "is expected");
}

TEST(OpErrors, NameAnOpThatAReducerCannotHold) {
  Graph region;
  const ValueId a = region.add_argument({kF32, {}}, "a");
  region.add_argument({kF32, {}}, "b");
  Op reshape;
  reshape.definition = find_op("stablehlo.reshape");
  reshape.operands = {a};
  reshape.declared = {{kF32, {1}}};
  reshape.location = {{"case.mlir", 4, 9}};
  region.add_op(std::move(reshape));
  region.set_results({a});
  EXPECT_EQ(refusal("reduce", {kX, numbers(kF32, {}, {0})}, {{"dimensions", Indices{0}}},
                    ExitCode::kUnsupported, {region}),
            "case.mlir:4:9: error: stablehlo.reshape: within a reducer; only elementwise ops and "
            "constants are "
            "supported there");
}

TEST(OpErrors, NameAnOpThatAReducerCannotHoldThoughThisUseExpands) {
  Graph region;
  Op inner;
  inner.definition = find_op("stablehlo.reduce");
  inner.attributes = {{"dimensions", Indices{}}};
  inner.operands = {region.add_argument({kF32, {}}, "a"), region.add_argument({kF32, {}}, "b")};
  inner.regions = {binary_reducer("stablehlo.add", kF32)};
  inner.location = {{"case.mlir", 4, 9}};
  region.set_results(region.add_op(std::move(inner)).results);
  EXPECT_EQ(refusal("reduce", {kX, numbers(kF32, {}, {0})}, {{"dimensions", Indices{0}}},
                    ExitCode::kUnsupported, {region}),
            "case.mlir:4:9: error: stablehlo.reduce: within a reducer; only elementwise ops and "
            "constants are supported there");
}

TEST(OpErrors, NameContractionsThatDoNotMatch) {
  EXPECT_EQ(refusal("dot_general", {kX, kX},
                    {{"lhs_contracting_dimensions", Indices{1}},
                     {"rhs_contracting_dimensions", Indices{0}}}),
            "case.mlir:3:7: error: stablehlo.dot_general: the batching or contracting dimensions "
            "of tensor<2x3xf32> "
            "and tensor<2x3xf32> do not match");
}

TEST(OpErrors, NameWhatWindowsMayNotBe) {
  const HostTensor zero = numbers(kF32, {}, {0});
  const auto reduce_window = [&](Attributes attributes, std::vector<HostTensor> operands) {
    return refusal("reduce_window", std::move(operands), std::move(attributes),
                   ExitCode::kMalformed, {binary_reducer("stablehlo.add", kF32)});
  };
  const std::string head = "case.mlir:3:7: error: stablehlo.reduce_window: ";
  EXPECT_EQ(reduce_window({{"window_dimensions", Indices{2}}}, {kX, zero}),
            head + "window_dimensions has 1 entries, expected 2");
  EXPECT_EQ(reduce_window({{"window_dimensions", Indices{2, 0}}}, {kX, zero}),
            head + "has windows of 0 places, expected 1 or more");
  EXPECT_EQ(reduce_window({{"window_dimensions", Indices{2, 1}}, {"window_strides", Indices{1, 0}}},
                          {kX, zero}),
            head + "window_strides has 0, expected 1 to 1073741824");
  EXPECT_EQ(reduce_window({{"window_dimensions", Indices{1 << 20, 1}},
                           {"window_dilations", Indices{1 << 20, 1}}},
                          {kX, zero}),
            head + "dilates dimension 0 beyond what any tensor holds");
  EXPECT_EQ(reduce_window({{"window_dimensions", Indices{1, 1}}}, {kX, numbers(kI32, {}, {0})}),
            head + "initial value 0 is tensor<i32>, expected tensor<f32>");
}

TEST(OpErrors, NameTheSourceThatWindowsExpect) {
  EXPECT_EQ(refusal("select_and_scatter", {kX, kX, numbers(kF32, {}, {0})},
                    {{"window_dimensions", Indices{2, 3}}}, ExitCode::kMalformed,
                    {binary_reducer("stablehlo.add", kF32), binary_reducer("stablehlo.add", kF32)}),
            "case.mlir:3:7: error: stablehlo.select_and_scatter: the source is tensor<2x3xf32>, "
            "expected tensor<1x1xf32>, an element for each window");
}

TEST(OpErrors, NameWhatConvolutionsMayNotBe) {
  const auto convolution = [&](const std::string& dimensions, Attributes more) {
    more["dimension_numbers"] = dimensions;
    return refusal("convolution", {kX, numbers(kF32, {3, 4}, std::vector<double>(12, 1))},
                   std::move(more));
  };
  const std::string head = "case.mlir:3:7: error: stablehlo.convolution: ";
  for (const char* wrong : {"", "[b, f]", "[b, b]x[i, o]->[b, f]", "[b, f]x[i, o]->[b, 1]",
                            "[b, 1]x[i, o]->[b, f]", "[b, f]x[i, q]->[b, f]"}) {
    EXPECT_EQ(convolution(wrong, {}), head +
                                          "dimension_numbers are not of the form [b, 0, 1, f]x[0, "
                                          "1, i, o]->[b, 0, 1, f] with each dimension once");
  }
  EXPECT_EQ(convolution("[b, 0, f]x[0, i, o]->[b, 0, f]", {}),
            head +
                "operands of ranks 2 and 2 do not have the dimensions that dimension_numbers "
                "names");
  EXPECT_EQ(convolution("[f, b]x[i, o]->[b, f]", {}),
            head + "the image has 2 features, expected 1 groups of the kernel's 3");
  EXPECT_EQ(convolution("[b, f]x[i, o]->[b, f]", {{"batch_group_count", std::int64_t{3}}}),
            head + "2 batches are not 3 groups");
  EXPECT_EQ(convolution("[b, f]x[i, o]->[b, f]", {{"batch_group_count", std::int64_t{0}}}),
            head + "batch_group_count is 0, expected 1 or more");
}

TEST(Evaluate, RefusesArgumentsOfAnotherType) {
  const Graph graph = graph_of({"stablehlo.negate", "", {kX}, {}, {}, 0, {}});
  const std::vector<HostTensor> none;
  EXPECT_THROW(static_cast<void>(evaluate(graph, none)), MalformedInput);
  const std::vector<HostTensor> other = {vector_of(kF32, {1})};
  EXPECT_THROW(static_cast<void>(evaluate(graph, other)), MalformedInput);
}

}  // namespace
}  // namespace superstep
