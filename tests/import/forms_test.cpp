#include <gtest/gtest.h>

#include "compiler/ops/elements.h"
#include "tests/import/importing.h"

namespace superstep {
namespace {

using Integers = std::vector<std::int64_t>;
using Words = std::vector<std::string>;

// The generic texts are what MLIR prints for the pretty ones
// (`operation.get_asm(print_generic_op_form=True)` of JAX 0.10.2).

TEST(PrettyForm, OneTypeStandsForOperandsAndResult) {
  const Module module =
      import_stablehlo(in_main("%0 = stablehlo.add %a, %b : tensor<2x3xf32>"), "f.mlir");
  const Op& op = module.main.ops().at(0);
  EXPECT_EQ(op.definition->name, "stablehlo.add");
  EXPECT_EQ(op.operands, (std::vector<ValueId>{ValueId{0}, ValueId{1}}));
  EXPECT_EQ(module.main.type(op.results.at(0)), (TensorType{DType::kF32, {2, 3}}));
  EXPECT_EQ(module.main.value(op.results.at(0)).name, "0");
  EXPECT_EQ(op.location.module, (SourceLocation{"f.mlir", 2, 6}));
  EXPECT_EQ(op.declared, (std::vector<TensorType>{{DType::kF32, {2, 3}}}));
}

TEST(PrettyForm, CompareKeepsDirectionAndType) {
  const Op op = first_op(
      "%0 = stablehlo.compare  GT, %a, %b,  FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
      "tensor<2x3xi1>");
  EXPECT_EQ(word(op, "comparison_direction"), "GT");
  EXPECT_EQ(word(op, "compare_type"), "FLOAT");
  EXPECT_EQ(op.operands.size(), 2u);
}

TEST(PrettyForm, CompareMayLeaveTheTypeOut) {
  const Op op = first_op(
      "%0 = stablehlo.compare LE, %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>");
  EXPECT_EQ(word(op, "comparison_direction"), "LE");
  EXPECT_FALSE(op.attributes.contains("compare_type"));
}

TEST(PrettyForm, SelectHasTypesOfPredicateAndValue) {
  const Op op = first_op("%0 = stablehlo.select %p, %a, %b : tensor<2x3xi1>, tensor<2x3xf32>");
  EXPECT_EQ(op.operands, (std::vector<ValueId>{ValueId{3}, ValueId{0}, ValueId{1}}));
}

TEST(PrettyForm, DimensionsGetTheirStableHloNames) {
  EXPECT_EQ(integers(first_op("%0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> "
                              "tensor<4xf32>"),
                     "broadcast_dimensions"),
            Integers{});
  EXPECT_EQ(integers(first_op("%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> "
                              "tensor<3x2xf32>"),
                     "permutation"),
            (Integers{1, 0}));
  EXPECT_EQ(
      integers(first_op("%0 = stablehlo.reverse %a, dims = [1] : tensor<2x3xf32>"), "dimensions"),
      Integers{1});
  EXPECT_EQ(std::get<std::int64_t>(
                first_op("%0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xf32>, "
                         "tensor<2x3xf32>) -> tensor<2x6xf32>")
                    .attributes.at("dimension")),
            1);
  EXPECT_EQ(std::get<std::int64_t>(first_op("%0 = stablehlo.iota dim = 1 : tensor<1x10xi32>")
                                       .attributes.at("iota_dimension")),
            1);
}

TEST(PrettyForm, SliceRangesMayHaveStrides) {
  const Op op =
      first_op("%0 = stablehlo.slice %a [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>");
  EXPECT_EQ(integers(op, "start_indices"), (Integers{0, 0}));
  EXPECT_EQ(integers(op, "limit_indices"), (Integers{2, 3}));
  EXPECT_EQ(integers(op, "strides"), (Integers{1, 2}));
}

// As JAX prints slices of scalars.
TEST(PrettyForm, AListOfStartIndicesMayBeEmpty) {
  const Op op = first_op(
      "%0 = stablehlo.dynamic_slice %s, , sizes = [] : (tensor<f32>) -> "
      "tensor<f32>");
  EXPECT_EQ(op.operands.size(), 1U);
  EXPECT_EQ(integers(op, "slice_sizes"), Integers{});
  EXPECT_THROW(
      (void)import_stablehlo(in_main("%0 = stablehlo.add %a, , %b : tensor<2x3xf32>"), "f.mlir"),
      UserError);
}

TEST(PrettyForm, PadHasThreeLists) {
  const Op op = first_op(
      "%0 = stablehlo.pad %a, %s, low = [1, -1], high = [0, 2], interior = [0, 1] : "
      "(tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>");
  EXPECT_EQ(integers(op, "edge_padding_low"), (Integers{1, -1}));
  EXPECT_EQ(integers(op, "edge_padding_high"), (Integers{0, 2}));
  EXPECT_EQ(integers(op, "interior_padding"), (Integers{0, 1}));
}

TEST(PrettyForm, DotNamesEachSidesDimensions) {
  const Op op = first_op(
      "%0 = stablehlo.dot_general %a, %b,\n  batching_dims = [0] x [0],\n"
      "  contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST]\n"
      "  : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>");
  EXPECT_EQ(integers(op, "lhs_batching_dimensions"), Integers{0});
  EXPECT_EQ(integers(op, "rhs_batching_dimensions"), Integers{0});
  EXPECT_EQ(integers(op, "lhs_contracting_dimensions"), Integers{1});
  EXPECT_EQ(integers(op, "rhs_contracting_dimensions"), Integers{1});
  EXPECT_EQ(std::get<Words>(op.attributes.at("precision_config")), (Words{"DEFAULT", "HIGHEST"}));
}

TEST(PrettyForm, AnAlgorithmHasTheFieldsOfTheGenericOne) {
  const std::string fields =
      "lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, "
      "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, "
      "allow_imprecise_accumulation = false>";
  const std::string types = " : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>";
  const Op pretty =
      first_op("%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1], algorithm = <" +
               fields + types);
  const Op generic = first_op(
      "%0 = \"stablehlo.dot_general\"(%a, %b) <{algorithm = #stablehlo.dot_algorithm<" + fields +
      ", dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
      "rhs_contracting_dimensions = [1]>}>" +
      types);
  for (const Op& op : {pretty, generic}) {
    EXPECT_EQ(op.attributes.size(), 9U);
    EXPECT_EQ(word(op, "accumulation_type"), "f32");
    EXPECT_EQ(std::get<std::int64_t>(op.attributes.at("num_primitive_operations")), 1);
    EXPECT_FALSE(std::get<bool>(op.attributes.at("allow_imprecise_accumulation")));
  }
}

TEST(PrettyForm, ConvolutionsSayWhatDimensionsAreAndHowWindowsSlide) {
  const std::string head =
      "func.func @main(%a: tensor<2x7x3xf32>, %b: tensor<3x4x5xf32>) -> () {\n  %0 = ";
  const std::string tail =
      " : (tensor<2x7x3xf32>, tensor<3x4x5xf32>) -> tensor<2x5x4xf32>\nreturn\n}\n";
  const std::string pretty =
      "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[i, o, 0]->[b, 0, f], window = "
      "{stride = [2], pad = [[1, 0]], lhs_dilate = [2], rhs_dilate = [1], reverse = [true]} "
      "{batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = "
      "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}";
  const std::string generic =
      "\"stablehlo.convolution\"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = "
      "#stablehlo.conv<[b, 0, f]x[i, o, 0]->[b, 0, f]>, feature_group_count = 1 : i64, "
      "lhs_dilation = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>, "
      "rhs_dilation = array<i64: 1>, window_reversal = array<i1: true>, "
      "window_strides = array<i64: 2>}>";
  for (const std::string& text : {pretty, generic}) {
    const Op op = import_stablehlo(head + text + tail, "f.mlir").main.ops().at(0);
    EXPECT_EQ(integers(op, "window_strides"), Integers{2});
    EXPECT_EQ(integers(op, "padding"), (Integers{1, 0}));
    EXPECT_EQ(integers(op, "lhs_dilation"), Integers{2});
    EXPECT_EQ(integers(op, "rhs_dilation"), Integers{1});
    EXPECT_EQ(integers(op, "window_reversal"), Integers{1});
    EXPECT_NE(word(op, "dimension_numbers").find("[b, 0, f]x[i, o, 0]->[b, 0, f]"),
              std::string::npos);
  }
}

TEST(PrettyForm, AFormatHasBitsOfExponentAndFraction) {
  const Op op = first_op("%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<2x3xf32>");
  EXPECT_EQ(op.operands, std::vector{ValueId{0}});
  EXPECT_EQ(std::get<std::int64_t>(op.attributes.at("exponent_bits")), 5);
  EXPECT_EQ(std::get<std::int64_t>(op.attributes.at("mantissa_bits")), 10);
}

TEST(PrettyForm, ChloOpsHaveAnArrowBetweenTypes) {
  const Op op = first_op("%0 = chlo.square %a : tensor<2x3xf32> -> tensor<2x3xf32>");
  EXPECT_EQ(op.definition->name, "chlo.square");
}

TEST(GenericForm, ReadsWhatMlirPrintsForAffine) {
  const Module module = import_stablehlo(
      R"(#loc1 = loc("w")
"builtin.module"() <{sym_name = "jit_affine"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {}, {jax.buffer_donor = true}], function_type = (tensor<4xf32>, tensor<3xf32>, tensor<4x3xf32>) -> tensor<4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4xf32> loc("w"), %arg1: tensor<3xf32> loc("x"), %arg2: tensor<4x3xf32> loc("b")):
    %0 = "stablehlo.dot_general"(%arg2, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32> loc(#loc10)
    %1 = "stablehlo.add"(%0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(#loc11)
    "func.return"(%1) : (tensor<4xf32>) -> () loc(#loc12)
  }) : () -> () loc(#loc)
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> () loc(#loc)
#loc = loc(unknown)
#loc4 = loc("models/quickstart/model.py":24:11 to :16)
#loc7 = loc("affine"(#loc4))
#loc10 = loc("jit(affine)/dot_general"(#loc7))
)",
      "f.mlir");
  EXPECT_EQ(module.name, "jit_affine");
  ASSERT_EQ(module.main.ops().size(), 2u);
  const Op& dot = module.main.ops()[0];
  EXPECT_EQ(dot.operands, (std::vector<ValueId>{ValueId{2}, ValueId{1}}));
  EXPECT_FALSE(dot.attributes.contains("lhs_batching_dimensions"));
  EXPECT_EQ(integers(dot, "lhs_contracting_dimensions"), Integers{1});
  EXPECT_EQ(integers(dot, "rhs_contracting_dimensions"), Integers{0});
  EXPECT_EQ(std::get<Words>(dot.attributes.at("precision_config")), (Words{"DEFAULT", "DEFAULT"}));
  EXPECT_EQ(dot.location.python.text(), "models/quickstart/model.py:24");
  EXPECT_EQ(module.main.ops()[1].location.python, SourceLocation{});
  EXPECT_EQ(module.argument_alias,
            (std::vector<std::optional<std::uint32_t>>{0, std::nullopt, std::nullopt}));
}

TEST(GenericForm, ListsComeAsArraysOrDenseTensors) {
  EXPECT_EQ(integers(first_op("%0 = \"stablehlo.transpose\"(%a) {permutation = array<i64: 1,0>} : "
                              "(tensor<2x3xf32>) -> tensor<3x2xf32>"),
                     "permutation"),
            (Integers{1, 0}));
  EXPECT_EQ(integers(first_op("%0 = \"stablehlo.transpose\"(%a) <{permutation = dense<[1, 0]> : "
                              "tensor<2xi64>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>"),
                     "permutation"),
            (Integers{1, 0}));
  const Op compare = first_op(
      "%0 = \"stablehlo.compare\"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, "
      "comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<2x3xf32>, "
      "tensor<2x3xf32>) -> tensor<2x3xi1>");
  EXPECT_EQ(word(compare, "comparison_direction"), "NE");
  EXPECT_EQ(word(compare, "compare_type"), "FLOAT");
}

TEST(Reduce, ShortAndLongAndGenericFormsAreTheSameOp) {
  const std::string_view types = " : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>";
  const std::vector<std::string> texts = {
      "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.maximum across dimensions = [1]" +
          std::string(types),
      "%0 = stablehlo.reduce(%a init: %s) across dimensions = [1]" + std::string(types) +
          "\n reducer(%x: tensor<f32> loc(unknown), %y: tensor<f32> loc(#loc3))  {\n"
          "  %1 = stablehlo.maximum %x, %y : tensor<f32> loc(#loc3)\n"
          "  stablehlo.return %1 : tensor<f32> loc(#loc3)\n}",
      "%0 = \"stablehlo.reduce\"(%a, %s) <{dimensions = array<i64: 1>}> ({\n"
      "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
      "  %1 = \"stablehlo.maximum\"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
      "  \"stablehlo.return\"(%1) : (tensor<f32>) -> ()\n})" +
          std::string(types)};
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const Op op = first_op(text);
    EXPECT_EQ(op.operands, (std::vector<ValueId>{ValueId{0}, ValueId{2}}));
    EXPECT_EQ(integers(op, "dimensions"), Integers{1});
    ASSERT_EQ(op.regions.size(), 1u);
    const Graph& region = op.regions[0];
    EXPECT_EQ(region.arguments().size(), 2u);
    ASSERT_EQ(region.ops().size(), 1u);
    EXPECT_EQ(region.ops()[0].definition->name, "stablehlo.maximum");
    EXPECT_EQ(region.ops()[0].operands, region.arguments());
    EXPECT_EQ(region.results(), region.ops()[0].results);
  }
}

TEST(Reduce, ConstantScalarsOfOutsideTheRegionAreCopiedIntoIt) {
  const Module module = import_stablehlo(R"(
func.func @main(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %half = stablehlo.constant dense<5.0e-1> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %half) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %1 = stablehlo.multiply %y, %half : tensor<f32>
    %2 = stablehlo.multiply %1, %half : tensor<f32>
    %3 = stablehlo.add %x, %2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0 : tensor<2xf32>
})",
                                         "f.mlir");
  HostTensor numbers(TensorType{DType::kF32, {2, 3}});
  for (std::size_t i = 0; i < 6; ++i) write_float(numbers, i, static_cast<double>(i + 1));
  const HostTensor result = evaluate(module.main, std::vector{numbers})[0];
  EXPECT_EQ(read_float(result, 0), 0.5 + 6 * 0.25);
  EXPECT_EQ(read_float(result, 1), 0.5 + 15 * 0.25);
}

TEST(Reduce, PairedReducerArgumentsBecomeLeftOnesThenRightOnes) {
  const Module module = import_stablehlo(R"(
func.func @main(%x: tensor<6xf32>, %i: tensor<6xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %0:2 = stablehlo.reduce(%x init: %a), (%i init: %b) across dimensions = [0] : (tensor<6xf32>, tensor<6xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>)  {
    %1 = stablehlo.add %p, %q : tensor<f32>
    %2 = stablehlo.subtract %r, %s : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
})",
                                         "f.mlir");
  const Op& op = module.main.ops().at(0);
  ASSERT_EQ(op.results.size(), 2u);
  EXPECT_EQ(module.main.results(), op.results);
  EXPECT_EQ(module.main.value(op.results[1]).name, "0#1");
  const Graph& region = op.regions.at(0);
  std::string names;
  for (const ValueId argument : region.arguments()) names += region.value(argument).name;
  EXPECT_EQ(names, "prqs");
  EXPECT_EQ(region.ops().at(1).operands, (std::vector<ValueId>{ValueId{1}, ValueId{3}}));
}

TEST(Calls, AreInlinedAtEveryPlace) {
  const Module module = import_stablehlo(R"(module @m attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, tf.aliasing_output = 1 : i32}) -> (tensor<4xf32> {jax.result_info = "r"}, tensor<4xf32>) {
    %0:2 = call @twice(%arg0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %1:2 = func.call @twice(%0#1) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @twice(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %arg0, %0 : tensor<4xf32>, tensor<4xf32>
  }
})",
                                         "f.mlir");
  EXPECT_EQ(module.name, "m");
  const Graph& graph = module.main;
  ASSERT_EQ(graph.ops().size(), 2u);
  EXPECT_EQ(graph.ops()[1].operands[0], graph.ops()[0].results[0]);
  EXPECT_EQ(graph.ops()[1].location.module, (SourceLocation{"f.mlir", 9, 10}));
  EXPECT_EQ(graph.results(),
            (std::vector<ValueId>{graph.ops()[0].results[0], graph.ops()[1].results[0]}));
  EXPECT_EQ(module.argument_alias, (std::vector<std::optional<std::uint32_t>>{1}));
}

std::string collective_of_mesh(const std::string& mesh) {
  return "module @m {\n  " + mesh + R"(
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
      replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a">]>,
      use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";
}

TEST(Meshes, OfOneDeviceHaveOneGroup) {
  for (const std::string mesh :
       {"sdy.mesh @mesh = <[\"a\"=1, \"b\"=1]>", "sdy.mesh @mesh = <[\"a\"=1], device_ids=[0]>"}) {
    const Module module = import_stablehlo(collective_of_mesh(mesh), "f.mlir");
    EXPECT_EQ(module.main.ops().at(0).definition->name, "stablehlo.all_reduce");
  }
}

TEST(Meshes, OfMoreDevicesOrUnknownOnesAreRefused) {
  for (const std::string mesh :
       {"sdy.mesh @mesh = <[\"a\"=1, \"b\"=2]>", "sdy.mesh @other = <[\"a\"=1]>"}) {
    EXPECT_THROW(static_cast<void>(import_stablehlo(collective_of_mesh(mesh), "f.mlir")),
                 Unsupported);
  }
  EXPECT_THROW(static_cast<void>(
                   import_stablehlo(collective_of_mesh("sdy.mesh @mesh = <[\"a\"=0]>"), "f.mlir")),
               MalformedInput);
}

TEST(Calls, CompositesAreCallsOfWhatTheyAreMadeOf) {
  for (const std::string composite :
       {"stablehlo.composite \"chlo.twice\" %x {composite_attributes = {n = 2 : i64}, "
        "decomposition = @twice, version = 1 : i32} :",
        "\"stablehlo.composite\"(%x) <{composite_attributes = {}, decomposition = @twice, name = "
        "\"chlo.twice\", version = 1 : i32}> :"}) {
    const Module module = import_stablehlo(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = " + composite +
            " (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
            "func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = stablehlo.add %a, %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
        "f.mlir");
    ASSERT_EQ(module.main.ops().size(), 1u);
    EXPECT_EQ(module.main.ops()[0].definition->name, "stablehlo.add");
  }
  EXPECT_EQ(
      refusal(in_main("%0 = stablehlo.composite \"x.y\" %a : (tensor<2x3xf32>) -> "
                      "tensor<2x3xf32>"))
          .problems,
      std::vector<std::string>{"2:6: stablehlo.composite misses its decomposition = @function"});
}

TEST(Entry, IsTheOnlyFunctionWhenNoneIsCalledMain) {
  const Module module = import_stablehlo("func.func @f() { func.return }", "f.mlir");
  EXPECT_TRUE(module.main.ops().empty());
  EXPECT_TRUE(module.main.results().empty());
}

}  // namespace
}  // namespace superstep
