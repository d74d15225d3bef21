// Wide types as pairs: on the host against the reference, on tiles, and the arithmetic of f64
// against the host's.

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/split/host_word.h"
#include "compiler/passes/split/soft_double.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

constexpr std::uint64_t kInteresting[] = {
    // integers
    0, 1, 2, 3, 7, 10, 31, 32, 33, 63, 64, 65, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
    0x100000001, 0x123456789abcdef, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001,
    0xffffffff00000000, 0xfffffffffffffffe, 0xffffffffffffffff,
    // doubles: 1 and its neighbours, 1.5, 3, 0.5, powers of two at the ends of integers
    0x3ff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff, 0x3ff8000000000000,
    0x4008000000000000, 0x3fe0000000000000, 0x41e0000000000000, 0x41efffffffe00000,
    0x43e0000000000000, 0x43f0000000000000, 0xc1e0000000000000, 0xc3e0000000000000,
    // ends of the range, subnormals, infinities, NaN
    0x7fefffffffffffff, 0xffefffffffffffff, 0x0010000000000000, 0x000fffffffffffff,
    0x800fffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
    0x7ff0000000000001, 0xfff8000000000001,
    // f32 halfway, at the ends of its range and of its subnormals
    0x3ff0000010000000, 0x3ff0000030000000, 0x3ff0000010000001, 0x47efffffefffffff,
    0x47effffff0000000, 0x380fffffe0000000, 0x36a0000000000000, 0x3690000000000000,
    0x3690000000000001};

/// All pairs of interesting numbers, then random ones of all sizes, then doubles of like exponents.
std::vector<HostTensor> wide_pairs(DType dtype, std::size_t random_pairs) {
  std::vector<std::uint64_t> a, b;
  for (const std::uint64_t x : kInteresting) {
    for (const std::uint64_t y : kInteresting) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < random_pairs; ++i) {
    std::uint64_t x = random(), y = random();
    if (i % 3 == 1) {
      x >>= random() % 64;
      y >>= random() % 64;
    } else if (i % 3 == 2) {
      y = (y & 0x800fffffffffffff) | ((x + ((random() % 5) << 52)) & 0x7ff0000000000000);
    }
    a.push_back(x);
    b.push_back(y);
  }
  return {bits_of(dtype, a), bits_of(dtype, b)};
}

std::vector<HostTensor> complex_pairs(DType dtype) {
  std::mt19937 random(11);
  const auto part = [&] { return static_cast<float>(random()) / 0x1p31F * 4 - 4; };
  std::vector<HostTensor> operands(2, HostTensor({dtype, {300}}));
  for (HostTensor& operand : operands) {
    for (std::size_t i = 0; i < 300; ++i) {
      write_complex(operand, i, {i % 7 == 0 ? 0 : part(), i % 5 == 0 ? 0 : part()});
    }
  }
  return operands;
}

::testing::AssertionResult near(const HostTensor& found, const HostTensor& expected,
                                double tolerance) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(expected.type.elements()); ++i) {
    const bool parts = is_complex(expected.type.dtype);
    const std::complex<double> x = parts ? read_complex(found, i) : read_float(found, i);
    const std::complex<double> y = parts ? read_complex(expected, i) : read_float(expected, i);
    const bool is_far = !std::isfinite(std::abs(y));
    if (is_far ? !std::isfinite(std::abs(x)) : std::abs(x - y) <= tolerance * (1 + std::abs(y)))
      continue;
    return ::testing::AssertionFailure() << "element " << i << " is " << x << ", expected " << y;
  }
  return ::testing::AssertionSuccess();
}

/// Uses of an op on one wide dtype: with one, two and three operands, as far as it takes them.
std::vector<OpCase> uses(const OpDefinition& op, DType dtype,
                         const std::vector<HostTensor>& operands) {
  std::vector<Attributes> attributes = {{}};
  if (op.name == "stablehlo.compare") {
    attributes.clear();
    for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      attributes.push_back({{"comparison_direction", std::string(direction)}});
      if (dtype == kF64) {
        attributes.push_back({{"comparison_direction", std::string(direction)},
                              {"compare_type", std::string("TOTALORDER")}});
      }
    }
  }
  std::vector<OpCase> all;
  for (std::size_t count = 1; count <= 3; ++count) {
    std::vector<HostTensor> some = {operands[0]};
    if (count > 1) some.push_back(operands[1]);
    if (count > 2) some.push_back(operands[0]);
    for (const Attributes& choice : attributes) {
      all.push_back({std::string(op.name), std::string(name_of(dtype)), some, choice, {}, 0, {}});
    }
  }
  return all;
}

/// Ops on f64 that other functions than the host's compute, or that take long.
bool is_function(std::string_view name) {
  return is_transcendental(name) || name == "stablehlo.remainder";
}
/// The interesting doubles, each with another one, and some of ordinary size.
std::vector<HostTensor> double_pairs() {
  std::vector<std::uint64_t> a, b;
  std::mt19937_64 random(13);
  const auto ordinary = [&] {
    return std::bit_cast<std::uint64_t>(static_cast<double>(random()) / 0x1p60 - 8);
  };
  for (std::size_t i = 0; i < std::size(kInteresting); ++i) {
    for (const std::size_t step : {0U, 1U, 7U}) {
      a.push_back(kInteresting[i]);
      b.push_back(kInteresting[(i + step) % std::size(kInteresting)]);
    }
    a.push_back(ordinary());
    b.push_back(ordinary());
  }
  return {bits_of(kF64, a), bits_of(kF64, b)};
}

class WideOps : public ::testing::TestWithParam<DType> {};

TEST_P(WideOps, OfPartsAgreeWithTheReference) {
  const DType dtype = GetParam();
  const std::vector<HostTensor> all =
      is_complex(dtype) ? complex_pairs(dtype) : wide_pairs(dtype, 3000);
  const std::vector<HostTensor> few = double_pairs();
  std::size_t tried = 0;
  for (const OpDefinition* op : all_ops()) {
    if (op->name == "stablehlo.complex" || op->name == "stablehlo.convert") continue;
    if (op->name == "stablehlo.bitcast_convert") continue;
    const auto is_elementwise = [](const Lowering& lowering) {
      return std::holds_alternative<ElementwiseLowering>(lowering);
    };
    if (std::ranges::none_of(op->lowerings, is_elementwise)) continue;
    const bool is_approximate = dtype == kF64 && is_function(op->name);
    for (const OpCase& use : uses(*op, dtype, is_approximate ? few : all)) {
      Graph graph;
      std::vector<HostTensor> found;
      try {
        graph = graph_of(use);
        found = evaluate_split(graph, use.operands);
      } catch (const UserError&) {
        continue;  // not of this dtype, or refused
      }
      const HostTensor expected = evaluate(graph, use.operands)[0];
      ++tried;
      if (is_complex(dtype) && expected.type.dtype != kI1) {
        EXPECT_TRUE(near(found[0], expected, dtype == kC64 ? 1e-5 : 1e-13)) << op->name;
      } else {
        EXPECT_TRUE(close(found[0], expected, is_approximate ? 3 : 0))
            << op->name << " on " << use.what;
      }
    }
  }
  EXPECT_GE(tried, is_complex(dtype) ? 16U : 24U);
}

INSTANTIATE_TEST_SUITE_P(Types, WideOps, ::testing::Values(kI64, kU64, kF64, kC64, kC128),
                         [](const auto& info) {
                           if (info.param == kC64) return std::string("c64");
                           if (info.param == kC128) return std::string("c128");
                           return std::string(name_of(info.param));
                         });

HostTensor convertible(DType dtype) {
  if (is_complex(dtype)) return complex_pairs(dtype)[0];
  std::vector<std::uint64_t> bits;
  std::mt19937_64 random(5);
  for (const std::uint64_t x : kInteresting) bits.push_back(x);
  for (int i = 0; i < 2000; ++i) bits.push_back(random() >> (i % 2 == 0 ? 0 : random() % 64));
  if (dtype == kI1) {
    for (std::uint64_t& x : bits) x &= 1;
  }
  return bits_of(dtype, bits);
}

TEST(WideTypes, ConvertFromAndToEveryType) {
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) {
      if (!is_wide(from) && !is_wide(to)) continue;
      if (is_narrow(from) || is_narrow(to)) continue;  // which are gone before
      const HostTensor x = convertible(from);
      Graph graph;
      GraphBuilder builder(graph, {});
      graph.set_results({convert(builder.argument(x.type), to).id});
      if (from == to) continue;
      const HostTensor expected = evaluate(graph, std::vector{x})[0];
      const HostTensor found = evaluate_split(graph, {x})[0];
      if (is_complex(to)) {
        EXPECT_TRUE(near(found, expected, 0)) << name_of(from) << " to " << name_of(to);
      } else {
        EXPECT_TRUE(close(found, expected, 0)) << name_of(from) << " to " << name_of(to);
      }
    }
  }
}

TEST(WideTypes, ConvertNumbersThatFitOneWordToEveryType) {
  for (const DType from : {kI1, kI8, kU8, kI16, kU16, kI32}) {
    for (const DType to : kAllDTypes) {
      const HostTensor x = convertible(from);
      Graph graph;
      GraphBuilder builder(graph, {});
      graph.set_results({convert(convert(builder.argument(x.type), kI64), to).id});
      const HostTensor expected = evaluate(graph, std::vector{x})[0];
      const std::vector<HostTensor> found = evaluate_split(graph, {x});
      ASSERT_EQ(found.size(), 1U) << name_of(from) << " to " << name_of(to);
      if (is_complex(to)) {
        EXPECT_TRUE(near(found[0], expected, 0)) << name_of(from) << " to " << name_of(to);
      } else {
        EXPECT_TRUE(close(found[0], expected, 0)) << name_of(from) << " to " << name_of(to);
      }
    }
  }
}

TEST(WideTypes, ShiftsAndProductsOfKnownNumbersAgreeWithTheReference) {
  const HostTensor x = bits_of(kU64, {0x123456789abcdef0, 0xffffffffffffffff, 0x80000000});
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor argument = builder.argument(x.type);
  std::vector<ValueId> results;
  for (const int bits : {0, 1, 31, 32, 33, 63, 64}) {
    results.push_back((argument << bits).id);
    results.push_back((argument >> bits).id);
  }
  for (const double factor : {0.0, 1.0, 3.0, 4294967296.0}) {
    results.push_back((argument * factor).id);
    results.push_back((argument + factor).id);
    results.push_back((argument - factor).id);
    results.push_back((argument & argument.like(factor)).id);
    results.push_back((argument | argument.like(factor)).id);
  }
  graph.set_results(results);
  const std::vector<HostTensor> expected = evaluate(graph, std::vector{x});
  const std::vector<HostTensor> found = evaluate_split(graph, {x});
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(close(found[i], expected[i], 0)) << "result " << i;
  }
}

TEST(WideTypes, WordsOfCountersOfRandomBitsTakeNoOps) {
  // The upper words of 0, 1, 2, … times 1 are nothing, their lower words the numbers themselves.
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor counts = builder.iota({kU64, {5}}, 0) * 1.0;
  graph.set_results({convert(counts >> 32, kU32).id, convert(counts, kU32).id});
  const Graph words = remove_unused_ops(split_wide_types(graph));
  for (const Op& op : words.ops()) {
    EXPECT_TRUE(op.definition == &kConstantOp || op.definition == &kBroadcastInDimOp)
        << op.definition->name;
  }
}

TEST(WideTypes, AreMovedPartByPart) {
  const HostTensor x = numbers(kI64, {2, 3}, {1, -2, 3e12, 4, -5e13, 6});
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor a = builder.argument(x.type);
  const Tensor t = transpose(a, {1, 0});
  const std::vector<Tensor> twice = {t, reverse(t, {0})};
  const Tensor joined = concatenate(twice, 0);
  const Tensor padded = pad(joined, builder.number(kI64, -7e14), {1, 0}, {0, 2}, {0, 1});
  const Tensor chosen =
      select(padded < 0, padded, broadcast(builder.number(kI64, 9), padded.shape(), {}));
  graph.set_results({chosen.id, slice(chosen, {0, 0}, {4, 3}, {2, 1}).id, a.id});
  const std::vector<HostTensor> expected = evaluate(graph, std::vector{x});
  const std::vector<HostTensor> found = evaluate_split(graph, {x});
  const std::vector<HostTensor> on_tiles = run_on("tiny4", graph, std::vector{x});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(close(found[i], expected[i], 0));
    EXPECT_TRUE(close(on_tiles[i], expected[i], 0));
  }
}

TEST(WideTypes, AreReduced) {
  const std::vector<HostTensor> pairs = wide_pairs(kI64, 551);
  HostTensor x = pairs[0];
  x.type.shape = {x.type.elements() / 8, 8};
  x.data.resize(x.type.bytes());
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor a = builder.argument(x.type);
  graph.set_results(
      {sum(a, {0}).id,
       reduce(a, builder.number(kI64, 0), {1}, [](Tensor l, Tensor r) { return maximum(l, r); }).id,
       sum(convert(a, kC64), {0}).id});
  const std::vector<HostTensor> expected = evaluate(graph, std::vector{x});
  const std::vector<HostTensor> found = evaluate_split(graph, {x});
  const std::vector<HostTensor> on_tiles = run_on("tiny4", graph, std::vector{x});
  for (const std::vector<HostTensor>& results : {found, on_tiles}) {
    EXPECT_TRUE(close(results[0], expected[0], 0));
    EXPECT_TRUE(close(results[1], expected[1], 0));
    EXPECT_TRUE(near(results[2], expected[2], 1e-5));
  }
}

/// Counts with i64 from 0 to an argument, or to 6, and sums f64 on the way.
Graph counting(bool to_argument) {
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor given = builder.argument({kI64, {}});
  const Tensor limit = to_argument ? given : builder.number(kI64, 6);
  const Tensor step = builder.argument({kF64, {5}});
  Op loop;
  const std::vector<TensorType> types = {{kI64, {}}, {kF64, {5}}, {kI64, {}}, {kF64, {5}}};
  loop.regions = {
      region_of(types,
                [](std::span<const Tensor> a) { return std::vector{compare("LT", a[0], a[2])}; }),
      region_of(types, [](std::span<const Tensor> a) {
        return std::vector{a[0] + 1.0, a[1] + a[3]};
      })};
  const std::vector<Tensor> operands = {builder.number(kI64, 0),
                                        broadcast(builder.number(kF64, 0), {5}, {}), limit, step};
  const std::vector<Tensor> results = builder.append(kWhileOp, operands, std::move(loop));
  graph.set_results({results[0].id, results[1].id});
  return graph;
}

TEST(WideTypes, AreCarriedByLoops) {
  const Graph graph = counting(true);
  const std::vector<HostTensor> arguments = {numbers(kI64, {}, {6}),
                                             vector_of(kF64, {0.1, -0.3, 1e300, 1e-310, 3})};
  const std::vector<HostTensor> expected = evaluate(graph, arguments);
  const std::vector<HostTensor> found = evaluate_split(graph, arguments);
  const std::vector<HostTensor> on_tiles = run_on("tiny4", graph, arguments);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(close(found[i], expected[i], 0));
    EXPECT_TRUE(close(on_tiles[i], expected[i], 0));
  }
}

TEST(WideTypes, OfCountersStayOneWord) {
  const std::vector<HostTensor> arguments = {numbers(kI64, {}, {0}),
                                             vector_of(kF64, {0.1, -0.3, 1e300, 1e-310, 3})};
  const Graph graph = counting(false);
  const Graph split = split_wide_types(graph);
  const auto loop = std::ranges::find(split.ops(), &kWhileOp, &Op::definition);
  ASSERT_NE(loop, split.ops().end());
  EXPECT_EQ(split.type(loop->operands[0]), (TensorType{kI32, {}}));
  const std::vector<HostTensor> expected = evaluate(graph, arguments);
  const std::vector<HostTensor> found = evaluate_split(graph, arguments);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(close(found[i], expected[i], 0));
}

/// Counts with i64 from 0 in steps, as long as a comparison with a constant holds.
Graph stepping(const char* direction, double limit, double step) {
  Graph graph;
  GraphBuilder builder(graph, {});
  Op loop;
  loop.regions = {
      region_of({{kI64, {}}},
                [&](std::span<const Tensor> a) {
                  return std::vector{compare(direction, a[0], a[0].like(limit))};
                }),
      region_of({{kI64, {}}}, [&](std::span<const Tensor> a) { return std::vector{a[0] + step}; })};
  const std::vector<Tensor> operands = {builder.number(kI64, 0)};
  graph.set_results({builder.append(kWhileOp, operands, std::move(loop))[0].id});
  return graph;
}

TEST(WideTypes, OfCountersStayOneWordWhereNoStepLeavesIt) {
  const auto is_narrow = [](const Graph& graph) {
    const Graph split = split_wide_types(graph);
    const auto loop = std::ranges::find(split.ops(), &kWhileOp, &Op::definition);
    return split.type(loop->operands[0]) == TensorType{kI32, {}};
  };
  struct Case {
    const char* direction;
    double limit, step;
  };
  for (const auto& [direction, limit, step] :
       {Case{"LT", 20, 3}, {"LE", 20, 5}, {"GT", -7, -2}, {"GE", -6, -1}}) {
    const Graph graph = stepping(direction, limit, step);
    EXPECT_TRUE(is_narrow(graph)) << direction;
    EXPECT_TRUE(close(evaluate_split(graph, {})[0], evaluate(graph, {})[0], 0)) << direction;
  }
  constexpr double kMost = 0x7fffffff;
  EXPECT_TRUE(is_narrow(stepping("LT", kMost, 1)));
  EXPECT_TRUE(is_narrow(stepping("GT", -kMost - 1, -1)));
  EXPECT_FALSE(is_narrow(stepping("LE", kMost, 1)));
  EXPECT_FALSE(is_narrow(stepping("LT", kMost, 2)));
  EXPECT_FALSE(is_narrow(stepping("GE", -kMost - 1, -1)));
  EXPECT_FALSE(is_narrow(stepping("NE", 6, 1)));
  EXPECT_FALSE(is_narrow(stepping("GT", -7, 1)));
}

TEST(WideTypes, AreMultipliedAsMatrices) {
  const auto product = [](Tensor a, Tensor b) {
    return dot_general(a, b, {{}, {}, {1}, {0}}, a.dtype());
  };
  for (const DType dtype : {kI64, kF64, kC64, kC128}) {
    std::vector<HostTensor> operands =
        is_complex(dtype) ? complex_pairs(dtype) : wide_pairs(dtype, 0);
    operands[0].type.shape = {6, 8};
    operands[1].type.shape = {8, 5};
    std::vector<HostTensor> arguments = operands;
    Graph graph;
    GraphBuilder builder(graph, {});
    std::vector<Tensor> values;
    for (HostTensor& argument : arguments) {
      argument.data.resize(argument.type.bytes());
      values.push_back(builder.argument(argument.type));
    }
    graph.set_results({product(values[0], values[1]).id});
    const HostTensor expected = evaluate(graph, arguments)[0];
    for (const HostTensor& found :
         {evaluate_split(graph, arguments)[0], run_on("tiny4", graph, arguments)[0]}) {
      if (dtype == kI64) {
        EXPECT_TRUE(close(found, expected, 0));
      } else {
        EXPECT_TRUE(near(found, expected, 1e-5)) << name_of(dtype);
      }
    }
  }
}

/// All uses that are tried on the host, few elements each, as one program on tiles.
TEST(WideTypes, AgreeOnTiles) {
  for (const DType dtype : {kI64, kF64, kC64, kC128}) {
    std::vector<HostTensor> operands =
        is_complex(dtype) ? complex_pairs(dtype) : wide_pairs(dtype, 0);
    for (HostTensor& operand : operands) {
      // Pairs from all over.
      HostTensor some(TensorType{dtype, {24}});
      for (std::size_t i = 0; i < 24; ++i) {
        const auto count = static_cast<std::size_t>(operand.type.elements());
        copy_element(some, i, operand, i * 131 % count);
      }
      operand = some;
    }
    Graph graph;
    GraphBuilder builder(graph, {});
    const Tensor a = builder.argument(operands[0].type), b = builder.argument(operands[1].type);
    std::vector<Tensor> results = {a + b, a - b, a * b, a / b, compare("EQ", a, b)};
    if (dtype != kI64) results.push_back(sqrt(a));
    if (dtype == kF64) {
      for (const DType to : {kF32, kF16, kI64, kI32}) results.push_back(convert(a, to));
    }
    if (dtype == kI64) {
      results.push_back(builder.apply(kRemainderOp, {a, b}));
      results.push_back(builder.apply(kShiftRightArithmeticOp, {a, builder.iota(a.type(), 0)}));
      results.push_back(convert(a, kF32));
    }
    std::vector<ValueId> ids;
    for (const Tensor& result : results) ids.push_back(result.id);
    graph.set_results(ids);
    const std::vector<HostTensor> expected = evaluate(graph, operands);
    const std::vector<HostTensor> found = run_on("tiny4", graph, operands);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (is_complex(dtype) && expected[i].type.dtype != kI1) {
        EXPECT_TRUE(near(found[i], expected[i], dtype == kC64 ? 1e-5 : 1e-14)) << "result " << i;
      } else {
        EXPECT_TRUE(close(found[i], expected[i], 0)) << name_of(dtype) << ", result " << i;
      }
    }
  }
}

TEST(WideTypes, OfEachElementwiseOpThatTakesThemAreSplit) {
  int split_ops = 0;
  for (const OpDefinition* op : all_ops()) {
    for (const DType dtype : {kI64, kU64, kF64, kC64, kC128}) {
      Graph graph;
      Op use;
      use.definition = op;
      for (std::size_t i = 0; i < op->traits.operands.size(); ++i) {
        // Such as the predicate of a select.
        const bool takes = (op->traits.operands.of(i) & only(dtype)) != 0;
        use.operands.push_back(graph.add_argument({takes ? dtype : kI1, {3}}, "x"));
      }
      try {
        graph.set_results(graph.add_op(std::move(use)).results);
      } catch (const UserError&) {
        continue;  // not of this type, or not without attributes
      }
      if (lowering_as<ElementwiseLowering>(graph.ops()[0], graph) == nullptr) continue;
      EXPECT_NO_THROW(static_cast<void>(split_wide_types(graph)))
          << op->name << " on " << name_of(dtype);
      ++split_ops;
    }
  }
  EXPECT_GT(split_ops, 100);
}

/// The double of the host, with the one NaN.
std::uint64_t canonical_bits(double value) {
  return std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value);
}

TEST(SoftDouble, IsThatOfTheHost) {
  using split::number, split::wide;
  const std::vector<HostTensor> pairs = wide_pairs(kF64, 300000);
  const auto count = static_cast<std::size_t>(pairs[0].type.elements());
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = wide(read_bits(pairs[0], i)), b = wide(read_bits(pairs[1], i));
    const double x = pairs[0].get<double>(i), y = pairs[1].get<double>(i);
    ASSERT_EQ(number(split::add_double(a, b)), canonical_bits(x + y)) << x << " " << y;
    ASSERT_EQ(number(split::subtract_double(a, b)), canonical_bits(x - y)) << x << " " << y;
    ASSERT_EQ(number(split::multiply_double(a, b)), canonical_bits(x * y)) << x << " " << y;
    ASSERT_EQ(number(split::divide_double(a, b)), canonical_bits(x / y)) << x << " " << y;
    ASSERT_EQ(number(split::sqrt_double(a)), canonical_bits(std::sqrt(x))) << x;
    ASSERT_EQ(split::below_double(a, b).value, x < y) << x << " " << y;
    ASSERT_EQ(split::equal_double(a, b).value, x == y) << x << " " << y;
    const auto single = static_cast<float>(x);
    ASSERT_EQ(split::single_of_double(a, false).value,
              std::isnan(single) ? 0x7fc00000 : std::bit_cast<std::uint32_t>(single))
        << x;
  }
}

}  // namespace
}  // namespace superstep
