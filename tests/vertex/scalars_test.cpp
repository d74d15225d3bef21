#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "compiler/image/supervisor_registers.h"
#include "compiler/vertex/interpret.h"
#include "compiler/vertex/scalars.h"
#include "isa/instruction_word.h"
#include "tests/tile_run.h"

namespace superstep::vertex {
namespace {

constexpr std::array kEdges = {0U, 1U, 2U, 31U, 32U, 33U, 0x7fffffffU, 0x80000000U, 0xffffffffU};

std::uint32_t address_of(BufferId buffer) {
  return testing::kData + 4 * static_cast<std::uint32_t>(buffer);
}

/// Runs on a tile whose words 0 and 1 are a and b.
std::vector<std::uint32_t> run(const Scalars& scalars, std::uint32_t a, std::uint32_t b,
                               std::size_t words) {
  const auto code = scalar_code(scalars, supervisor::kScalars);
  EXPECT_TRUE(code.has_value());
  std::vector<std::uint32_t> program;
  for (const auto& [word, buffer] : code->instructions) {
    program.push_back(word | (buffer ? address_of(*buffer) : 0));
  }
  program.push_back(encode("sync", {15}));
  testing::TileRun tile;
  tile.put(testing::kProgram, program);
  tile.put(testing::kData, std::vector<std::uint32_t>{a, b});
  tile.tile().boot(testing::kProgram);
  EXPECT_EQ(tile.tile().run(0).kind, TileStop::Kind::kSync) << tile.cause();
  return tile.get(testing::kData, words);
}

HostTensor word(DType dtype, std::uint32_t bits) {
  HostTensor tensor(TensorType{dtype, {}});
  std::memcpy(tensor.data.data(), &bits, tensor.data.size());
  return tensor;
}

class EachPrimitive : public ::testing::TestWithParam<DType> {};

TEST_P(EachPrimitive, IsWhatItIsOnTheHost) {
  const DType dtype = GetParam();
  using enum Primitive;
  for (const Primitive primitive :
       {kAdd, kSub, kMul, kNeg,        kAbs,           kMin, kMax,      kAnd, kOr,
        kXor, kNot, kShl, kShrLogical, kShrArithmetic, kClz, kPopcount, kEq,  kNe,
        kLt,  kLe,  kGt,  kGe,         kSelect}) {
    Scalars scalars;
    Expression& expression = scalars.expression;
    const Node a = scalars.input(BufferId{0}, dtype), b = scalars.input(BufferId{1}, dtype);
    Node result;
    if (primitive == kSelect) {
      result = expression.apply(kSelect, {expression.apply(kLt, {a, b}), a, b});
    } else if (primitive == kNeg || primitive == kAbs || primitive == kNot || primitive == kClz ||
               primitive == kPopcount) {
      result = expression.apply(primitive, {a});
    } else {
      result = expression.apply(primitive, {a, b});
    }
    if (!is_scalar(expression, expression.steps().back())) {
      EXPECT_TRUE(dtype == DType::kU32 && primitive == kAbs);
      continue;
    }
    if (expression.dtype(result) == DType::kI1) result = expression.convert(result, DType::kU32);
    scalars.stores.push_back({BufferId{2}, result});
    for (const std::uint32_t x : kEdges) {
      for (const std::uint32_t y : kEdges) {
        const std::array inputs{word(dtype, x), word(dtype, y)};
        EXPECT_EQ(run(scalars, x, y, 3)[2],
                  evaluate_expression(expression, result, inputs).get<std::uint32_t>(0))
            << static_cast<int>(primitive) << " of " << x << " and " << y;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, EachPrimitive, ::testing::Values(DType::kI32, DType::kU32),
                         [](const auto& info) { return std::string(name_of(info.param)); });

class EachPowerOfTwo : public ::testing::TestWithParam<DType> {};

TEST_P(EachPowerOfTwo, Divides) {
  const DType dtype = GetParam();
  for (const std::uint32_t divisor : {0U, 1U, 2U, 8U, 65536U, 0x40000000U, 0x80000000U, 0xc0000000U,
                                      0xfffffff8U, 0xfffffffeU, 0xffffffffU}) {
    for (const Primitive primitive : {Primitive::kDiv, Primitive::kRem}) {
      Scalars scalars;
      const Node a = scalars.input(BufferId{0}, dtype);
      const Node result =
          scalars.expression.apply(primitive, {a, scalars.expression.constant(dtype, divisor)});
      if (!is_scalar(scalars.expression, scalars.expression.steps().back())) {
        EXPECT_TRUE(dtype == DType::kU32 && divisor > 0x80000000U);
        continue;
      }
      scalars.stores.push_back({BufferId{2}, result});
      std::vector<std::uint32_t> numbers(kEdges.begin(), kEdges.end());
      for (const std::uint32_t near : {divisor, 0 - divisor, 2 * divisor, 1000 * divisor}) {
        numbers.insert(numbers.end(), {near - 1, near, near + 1});
      }
      for (const std::uint32_t x : numbers) {
        EXPECT_EQ(run(scalars, x, 0, 3)[2],
                  evaluate_expression(scalars.expression, result, std::array{word(dtype, x)})
                      .get<std::uint32_t>(0))
            << x << (primitive == Primitive::kDiv ? " / " : " % ") << divisor;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, EachPowerOfTwo, ::testing::Values(DType::kI32, DType::kU32),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Scalars, AreDividedByPowersOfTwoOnly) {
  Scalars scalars;
  Expression& expression = scalars.expression;
  const Node a = scalars.input(BufferId{0}, DType::kI32);
  for (const Node b :
       {scalars.input(BufferId{1}, DType::kI32), expression.constant(DType::kI32, 3)}) {
    expression.apply(Primitive::kRem, {a, b});
    EXPECT_FALSE(is_scalar(expression, expression.steps().back()));
  }
}

TEST(Scalars, OfBooleansAreBytesWhateverIsBesideThem) {
  for (const Primitive primitive : {Primitive::kAnd, Primitive::kOr, Primitive::kXor,
                                    Primitive::kEq, Primitive::kMin, Primitive::kMax}) {
    for (const std::uint32_t x : {0U, 1U}) {
      for (const std::uint32_t y : {0U, 1U}) {
        Scalars scalars;
        const Node a = scalars.input(BufferId{0}, DType::kI1);
        const Node b = scalars.input(BufferId{1}, DType::kI1);
        const Node result = scalars.expression.apply(Primitive::kNot,
                                                     {scalars.expression.apply(primitive, {a, b})});
        scalars.stores.push_back({BufferId{2}, result});
        const std::array inputs{word(DType::kI1, x), word(DType::kI1, y)};
        const HostTensor expected = evaluate_expression(scalars.expression, result, inputs);
        EXPECT_EQ(run(scalars, 0xabcdef00 | x, 0x12345600 | y, 3)[2],
                  std::to_integer<std::uint32_t>(expected.data[0]))
            << static_cast<int>(primitive) << " of " << x << " and " << y;
      }
    }
  }
}

TEST(Scalars, AreStoredAtOnceAfterAllIsRead) {
  Scalars scalars;
  const Node a = scalars.input(BufferId{0}, DType::kI32);
  const Node b = scalars.input(BufferId{1}, DType::kI32);
  scalars.stores = {{BufferId{0}, b}, {BufferId{1}, a}};
  EXPECT_EQ(run(scalars, 3, 5, 2), (std::vector<std::uint32_t>{5, 3}));
}

TEST(Scalars, HaveConstantsOf32Bits) {
  Scalars scalars;
  const Node a = scalars.input(BufferId{0}, DType::kU32);
  const Node constant = scalars.expression.constant(DType::kU32, 0xfedcba98);
  scalars.stores = {{BufferId{1}, scalars.expression.apply(Primitive::kXor, {a, constant})}};
  EXPECT_EQ(run(scalars, 0x0f0f0f0f, 0, 2)[1], 0x0f0f0f0f ^ 0xfedcba98);
}

TEST(Scalars, ThatNobodyUsesAreNotLoaded) {
  Scalars scalars;
  static_cast<void>(scalars.input(BufferId{0}, DType::kU32));
  scalars.decision = scalars.expression.constant(DType::kI1, 1);
  const auto code = scalar_code(scalars, supervisor::kScalars);
  ASSERT_TRUE(code.has_value());
  EXPECT_EQ(code->instructions.size(), 1U);
}

/// A sum of `count` words, all of which are needed until the end.
Scalars sum_of(std::uint32_t count, bool is_chain) {
  Scalars scalars;
  std::vector<Node> words;
  Node sum = scalars.input(BufferId{0}, DType::kU32);
  for (std::uint32_t i = 1; i < count; ++i) {
    words.push_back(scalars.input(BufferId{i}, DType::kU32));
    if (is_chain) sum = scalars.expression.apply(Primitive::kAdd, {sum, words.back()});
  }
  for (std::size_t i = words.size(); !is_chain && i-- > 0;) {
    sum = scalars.expression.apply(Primitive::kAdd, {sum, words[i]});
  }
  scalars.decision = sum;
  return scalars;
}

TEST(Scalars, ThatNeedMoreThanTheRegistersAreRefused) {
  const auto fits = [](const Scalars& scalars) {
    return scalar_code(scalars, supervisor::kScalars).has_value();
  };
  EXPECT_TRUE(fits(sum_of(static_cast<std::uint32_t>(supervisor::kScalars.size()), false)));
  EXPECT_FALSE(fits(sum_of(static_cast<std::uint32_t>(supervisor::kScalars.size()) + 1, false)));
  EXPECT_TRUE(fits(sum_of(100, true)));
}

TEST(Scalars, OfFloatsAreNoneOfASupervisor) {
  Expression expression;
  const Node x = expression.input(0, DType::kF32);
  expression.apply(Primitive::kAdd, {x, x});
  EXPECT_FALSE(is_scalar(expression, expression.steps().back()));
}

}  // namespace
}  // namespace superstep::vertex
