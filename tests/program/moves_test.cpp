#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/lower/moves/move.h"
#include "compiler/lower/moves/widen.h"
#include "compiler/program/blocks.h"
#include "tests/program/plan_check.h"

namespace superstep {
namespace {

std::string reversal(const std::string& from, const std::string& to, const std::string& dims) {
  return "func.func @main(%a: tensor<" + from + ">) -> tensor<" + to +
         "> {\n  %0 = stablehlo.transpose %a, dims = [" + dims + "] : (tensor<" + from +
         ">) -> tensor<" + to + ">\n  return %0 : tensor<" + to + ">\n}\n";
}

/// Bytes of region 0 that a program takes on its worst tile besides codelets.
std::uint32_t code_and_state(const ProgramImage& image) {
  std::uint32_t worst = 0;
  for (std::size_t t = 0; t < image.machine.tiles(); ++t) {
    std::uint32_t bytes = 0;
    for (const MemoryCategory& category : image.info.memory) {
      if (category.name == "vertex_state" || category.name == "exchange_code") {
        bytes += static_cast<std::uint32_t>(category.bytes_by_tile[t]);
      }
    }
    worst = std::max(worst, bytes);
  }
  return worst;
}

TEST(LoweredModel, ScatteredElementsArePackedBeforeTheyTravel) {
  // Each element that a tile wants lies alone: more than 8,000 transfers to each tile.
  const std::string words = reversal("20x20x20x6xf32", "6x20x20x20xf32", "3, 2, 1, 0");
  const std::string halves = reversal("91x503xf16", "503x91xf16", "1, 0");
  const std::string bytes = reversal("101x1003xi8", "1003x101xi8", "1, 0");
  for (const std::string& text : {words, halves, bytes}) {
    expect_plan_computes(text, grid_machine(1, 1));
    // Less than the 4 bytes of an instruction for each of some thousand transfers.
    EXPECT_LT(code_and_state(compile(import_stablehlo(text, "t.mlir"), grid_machine(1, 1))),
              24'000U);
  }
}

TEST(LoweredModel, ScatteredElementsMoveInPassesWhereTheyFillTheMemory) {
  // Both ends take 384 KB of a tile, what is packed and received as much again.
  const std::string text = reversal("20x20x20x24xf32", "24x20x20x20xf32", "3, 2, 1, 0");
  expect_plan_computes(text, grid_machine(1, 1));
  EXPECT_NO_THROW((void)compile(import_stablehlo(text, "t.mlir"), grid_machine(1, 1)));
}

/// A tensor that lies where nothing else decides.
BufferId add_buffer(ProgramBuilder& builder, Buffer::Kind kind, const TensorType& type) {
  return builder.add_buffer({.kind = kind,
                             .name = "t",
                             .type = type,
                             .element_bytes = static_cast<std::uint32_t>(size_of(type.dtype)),
                             .layout = builder.layouts().of(type),
                             .contents = {},
                             .source = {}});
}

TEST(LoweredModel, ScatteredElementsArePackedWhereverInTheDestinationTheyLie) {
  // What is scattered goes to the first or the last two of eight tiles.
  constexpr std::int64_t kTurned = 52'800, kStraight = 158'400;
  for (const bool is_turned_first : {true, false}) {
    const MachineConfig machine = grid_machine(1, 2);
    ProgramBuilder builder(machine);
    const auto add = [&](Buffer::Kind kind, std::int64_t elements) {
      return add_buffer(builder, kind, {DType::kF32, {elements}});
    };
    const BufferId turned = add(Buffer::Kind::kArgument, kTurned),
                   straight = add(Buffer::Kind::kArgument, kStraight),
                   result = add(Buffer::Kind::kTemporary, kTurned + kStraight);
    const std::int64_t turned_at = is_turned_first ? 0 : kStraight,
                       straight_at = is_turned_first ? kTurned : 0;
    // A reversal of the axes of 24 x 20 x 11 x 10.
    const Box turn{0, turned_at, {{10, 1, 5280}, {11, 10, 480}, {20, 110, 24}, {24, 2200, 1}}};
    (void)move(builder, result, {{turned, turn}, {straight, {0, straight_at, {{kStraight, 1, 1}}}}},
               {}, {});
    LoweredProgram program = builder.finish(StepOrder::kEarliest);
    program.arguments = {turned, straight};
    program.results = {result};
    std::size_t transfers = 0;
    for (const Superstep* step : supersteps_of(program)) transfers += step->movements.size();
    EXPECT_LT(transfers, 1000U) << "of 52,800 elements";
    const std::vector<HostTensor> arguments{random_tensor(program.buffers[0].type, 1),
                                            random_tensor(program.buffers[1].type, 2)};
    const std::vector<TensorType> types{{DType::kF32, {kTurned + kStraight}}};
    const HostTensor found = PlanInterpreter(program).run(arguments, types)[0];
    for (std::int64_t i = 0; i < kTurned; ++i) {
      const std::int64_t from = i / 5280 + i / 480 % 11 * 10 + i / 24 % 20 * 110 + i % 24 * 2200;
      ASSERT_EQ(found.get<float>(static_cast<std::size_t>(turned_at + i)),
                arguments[0].get<float>(static_cast<std::size_t>(from)));
    }
    for (std::int64_t i = 0; i < kStraight; ++i) {
      ASSERT_EQ(found.get<float>(static_cast<std::size_t>(straight_at + i)),
                arguments[1].get<float>(static_cast<std::size_t>(i)));
    }
  }
}

TEST(LoweredModel, NarrowElementsBecomeWordsAndComeBack) {
  for (const DType dtype : {DType::kI8, DType::kF16, DType::kI1}) {
    const MachineConfig machine = grid_machine(1, 1);
    ProgramBuilder builder(machine);
    const TensorType type{dtype, {1003}};
    const BufferId argument = add_buffer(builder, Buffer::Kind::kArgument, type);
    const BufferId result = add_buffer(builder, Buffer::Kind::kTemporary, type);
    const BufferId words = add_words(builder, builder.layouts().of(type), {});
    const Time wide = copy_bits(builder, argument, words, {}, {});
    (void)copy_bits(builder, words, result, wide, {});
    LoweredProgram program = builder.finish(StepOrder::kEarliest);
    program.arguments = {argument};
    program.results = {result};
    const std::vector<HostTensor> elements{random_tensor(type, 1)};
    const std::vector<TensorType> types{type};
    expect_equal(PlanInterpreter(program).run(elements, types)[0], elements[0], 0);
  }
}

}  // namespace
}  // namespace superstep
