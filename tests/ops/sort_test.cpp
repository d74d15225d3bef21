#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "compiler/lower/merge_by_columns.h"
#include "compiler/ops/comparator.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/sorting_network.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;

/// Few different numbers, so that there are ties.
HostTensor drawn(DType dtype, const Shape& shape, std::mt19937& random) {
  HostTensor tensor(TensorType{dtype, shape});
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.type.elements()); ++i) {
    const double number = static_cast<double>(random() % 7) - 3;
    if (is_complex(dtype)) {
      write_complex(tensor, i, {number, static_cast<double>(random() % 3)});
    } else if (is_float(dtype)) {
      write_float(tensor, i, number == 0 && random() % 2 == 0 ? -0.0 : number);
    } else {
      write_int(tensor, i, dtype == kI1 ? number > 0 : static_cast<std::int64_t>(number));
    }
  }
  return tensor;
}

HostTensor numbered(const Shape& shape, std::int64_t dimension) {
  Graph graph;
  GraphBuilder builder(graph, {});
  graph.set_results({builder.iota({kI32, shape}, dimension).id});
  return evaluate(graph, {})[0];
}

/// Ascending; complex numbers by their real parts, then by the imaginary ones. Of a second operand
/// nothing depends.
Graph ascending(DType dtype) {
  return region_of({{dtype, {}}, {dtype, {}}, {kI32, {}}, {kI32, {}}},
                   [&](std::span<const Tensor> a) {
                     if (!is_complex(dtype)) return std::vector{compare("LT", a[0], a[1])};
                     const auto part = [](const char* name, Tensor x) {
                       return x.builder->apply(*find_op(name), {x});
                     };
                     const Tensor x = part("stablehlo.real", a[0]);
                     const Tensor y = part("stablehlo.real", a[1]);
                     const Tensor less =
                         compare("LT", part("stablehlo.imag", a[0]), part("stablehlo.imag", a[1]));
                     return std::vector{compare("LT", x, y) | (compare("EQ", x, y) & less)};
                   });
}

OpCase sort_of(std::vector<HostTensor> operands, std::int64_t dimension, Graph comparator) {
  OpCase use{"stablehlo.sort",       "", std::move(operands), {{"dimension", dimension}}, {}, 0,
             {std::move(comparator)}};
  for (const HostTensor& operand : use.operands) use.declared.push_back(operand.type);
  return use;
}

class SortOf : public ::testing::TestWithParam<DType> {};

TEST_P(SortOf, ByPlacesAndByANetworkGivesTheOrderOfTheReference) {
  std::mt19937 random(7);
  const Shape shape{2, 21, 3};
  const Graph comparator = ascending(GetParam());
  const OpCase use = sort_of({drawn(GetParam(), shape, random), numbered(shape, 1)}, 1, comparator);
  const Graph graph = graph_of(use);
  const std::vector<HostTensor> expected = evaluate(graph, use.operands);

  const std::vector<HostTensor> by_places = run_lowering(graph.ops()[0], graph, use.operands);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(by_places[i], expected[i], 0));

  Graph network;
  GraphBuilder builder(network, {});
  const std::vector<Tensor> operands = {builder.argument(use.operands[0].type),
                                        builder.argument(use.operands[1].type)};
  const Comparator keys(comparator);
  const SortedRows rows = sort_by_network(keys.keys(operands), true, keys);
  network.set_results({window(*rows.numbers, {0, 0, 0}, shape).id});
  EXPECT_TRUE(close(evaluate_split(std::move(network), use.operands)[0], expected[1], 0));
}

/// Those of tiles: narrow ones are bytes before anything is sorted.
std::vector<DType> sorted_dtypes() {
  std::vector<DType> dtypes;
  std::ranges::copy_if(kAllDTypes, std::back_inserter(dtypes),
                       [](DType dtype) { return !is_narrow(dtype); });
  return dtypes;
}

INSTANTIATE_TEST_SUITE_P(Ops, SortOf, ::testing::ValuesIn(sorted_dtypes()), [](const auto& info) {
  std::string name(name_of(info.param));
  std::ranges::replace_if(
      name, [](char c) { return c == '<' || c == '>'; }, '_');
  return name;
});

// Two words of a key are compared by a network; narrow integers are words.
TEST(Sort, OfManyRowsOfAnyKeyOnMachines) {
  std::mt19937 random(3);
  const Shape shape{450};
  const OpCase by_key =
      sort_of({drawn(kC64, shape, random), numbered(shape, 0)}, 0, ascending(kC64));
  OpCase alone = sort_of({drawn(kI16, shape, random)}, 0,
                         region_of({{kI16, {}}, {kI16, {}}}, [](std::span<const Tensor> a) {
                           return std::vector{compare("GT", a[0], a[1])};
                         }));
  for (const OpCase& use : {by_key, alone}) {
    const Graph graph = graph_of(use);
    const std::vector<HostTensor> expected = evaluate(graph, use.operands);
    const std::vector<HostTensor> found = run_on("tiny4", graph, use.operands);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(found[i], expected[i], 0));
  }
}

Graph one_compared(DType dtype, const char* direction) {
  return region_of({{dtype, {}}, {dtype, {}}}, [&](std::span<const Tensor> a) {
    return std::vector{compare(direction, a[0], a[1])};
  });
}

// Zeros of both signs and NaNs have equal keys, so that numbers decide; without them keys are all.
TEST(Sort, OfManyRowsMergesRunsOnMachines) {
  std::mt19937 random(11);
  HostTensor zeros = drawn(kF32, {700}, random), numbers = zeros;
  for (std::size_t i = 0; i < 700; ++i) {
    if (i % 50 == 7) write_float(zeros, i, std::numeric_limits<double>::quiet_NaN());
    if (read_float(numbers, i) == 0) write_float(numbers, i, 0.5);
  }
  const Shape batched{3, 500, 2};
  for (const OpCase& use :
       {sort_of({zeros}, 0, one_compared(kF32, "LT")),
        sort_of({numbers}, 0, one_compared(kF32, "LT")),
        sort_of({drawn(kU32, {1000}, random)}, 0, one_compared(kU32, "LT")),
        sort_of({drawn(kU32, {1000}, random)}, 0, one_compared(kU32, "GT")),
        sort_of({drawn(kF16, {4, 600}, random)}, 1, one_compared(kF16, "GT")),
        sort_of({drawn(kI32, batched, random), numbered(batched, 1)}, 1, ascending(kI32)),
        sort_of({drawn(kI32, {5000}, random)}, 0, one_compared(kI32, "LT"))}) {
    const Graph graph = graph_of(use);
    const std::vector<HostTensor> expected = evaluate(graph, use.operands);
    for (const char* machine : {"tiny4", "small64"}) {
      const std::vector<HostTensor> found = run_on(machine, graph, use.operands);
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].data, expected[i].data) << machine;
      }
    }
  }
}

/// Rows of which one half ascends and one descends.
HostTensor opposed_runs(const Shape& shape, std::mt19937& random) {
  HostTensor tensor(TensorType{kI32, shape});
  const auto length = static_cast<std::size_t>(shape[1]),
             words = static_cast<std::size_t>(shape[2]);
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape[0]); ++row) {
    std::vector<std::vector<std::int64_t>> keys(length, std::vector<std::int64_t>(words));
    for (auto& key : keys) {
      for (std::int64_t& word : key) word = static_cast<std::int64_t>(random() % 900) - 450;
    }
    const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(length / 2);
    std::sort(keys.begin(), middle);
    std::sort(middle, keys.end(), std::greater<>());
    for (std::size_t i = 0; i < length * words; ++i) {
      write_int(tensor, row * length * words + i, keys[i / words][i % words]);
    }
  }
  return tensor;
}

Graph merge_graph(const TensorType& type, const std::function<Tensor(Tensor)>& merge) {
  Graph graph;
  GraphBuilder builder(graph, {});
  graph.set_results({merge(builder.argument(type)).id});
  return graph;
}

// Rows lie whole on a tile, or are merged on many.
TEST(Sort, MergesOpposedRunsOnMachines) {
  std::mt19937 random(2);
  for (const Shape& shape : {Shape{64, 6, 1}, Shape{7, 10, 2}, Shape{3, 96, 1}, Shape{2, 96, 2},
                             Shape{1, 2560, 1}, Shape{4, 2560, 2}}) {
    for (const bool alternates : {false, true}) {
      if (alternates && shape[0] % 2 == 1) continue;
      const HostTensor keys = opposed_runs(shape, random);
      const Graph graph =
          merge_graph(keys.type, [&](Tensor x) { return merged(x, x.shape(), alternates); });
      EXPECT_EQ(run_on("small64", graph, std::vector{keys})[0].data,
                evaluate(graph, std::vector{keys})[0].data)
          << keys.type.text() << (alternates ? ", alternates" : "");
    }
  }
}

TEST(Sort, MergesByColumnsAsAtOnce) {
  std::mt19937 random(4);
  for (const Shape& shape :
       {Shape{1, 16, 1}, Shape{2, 80, 1}, Shape{4, 160, 2}, Shape{6, 768, 1}}) {
    const HostTensor keys = opposed_runs(shape, random);
    for (const bool alternates : {false, true}) {
      if (alternates && shape[0] % 2 == 1) continue;
      const auto at_once = [&](Tensor x) { return merged(x, x.shape(), alternates); };
      const std::vector<HostTensor> expected =
          evaluate(merge_graph(keys.type, at_once), std::vector{keys});
      for (std::int64_t columns = 2; shape[1] % (8 * columns) == 0; columns *= 2) {
        const auto by_columns = [&](Tensor x) { return merged_by_columns(x, columns, alternates); };
        EXPECT_EQ(evaluate(merge_graph(keys.type, by_columns), std::vector{keys})[0].data,
                  expected[0].data)
            << keys.type.text() << " by " << columns << (alternates ? ", alternates" : "");
      }
    }
  }
}

TEST(Sort, ComparesKeysThatAreMadeOnceOfEachRow) {
  // Twice the element on both sides: one key, that is not the element.
  const Graph region = region_of({{kI32, {}}, {kI32, {}}}, [](std::span<const Tensor> a) {
    return std::vector{compare("GT", a[1] * 2, a[0] * 2)};
  });
  const Comparator comparator(region);
  Graph graph;
  GraphBuilder builder(graph, {});
  const std::vector<Tensor> operands = {builder.argument({kI32, {4}})};
  const std::vector<Tensor> keys = comparator.keys(operands);
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(graph.producer_of(keys[0].id)->definition->name, "stablehlo.multiply");
  EXPECT_FALSE(comparator.operand_of(0, keys));
  EXPECT_TRUE(comparator.decides_alone());
  const Tensor last = comparator.last_key(keys[0]);
  EXPECT_EQ(read_int(*constant_value(graph, last.id), 0), INT32_MAX);
}

HostTensor scalar_of(const HostTensor& tensor, std::size_t i) {
  HostTensor scalar(TensorType{tensor.type.dtype, {}});
  copy_element(scalar, 0, tensor, i);
  return scalar;
}

Graph no_order(DType dtype, const std::function<Tensor(Tensor, Tensor)>& is_before) {
  return region_of({{dtype, {}}, {dtype, {}}, {kI32, {}}, {kI32, {}}},
                   [&](std::span<const Tensor> a) { return std::vector{is_before(a[0], a[1])}; });
}

// Nothing says which order they get, but no row is lost and none is there twice.
TEST(Sort, OfAnyComparatorPermutesRows) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  std::mt19937 random(5);
  HostTensor floats = drawn(kF32, {100}, random);
  for (const std::size_t i : {5U, 17U, 18U, 80U}) write_float(floats, i, kNaN);
  const HostTensor integers = drawn(kI32, {100}, random);
  const auto directed = [](const char* direction) {
    return [=](Tensor x, Tensor y) { return compare(direction, x, y); };
  };
  const auto is_third = [](Tensor x, Tensor y) {
    return x.builder->apply(*find_op("stablehlo.remainder"), {x - y, x.like(3)}) == 1.0;
  };
  for (const auto& [keys, is_before] :
       std::initializer_list<std::pair<HostTensor, std::function<Tensor(Tensor, Tensor)>>>{
           {floats, directed("LE")},
           {floats, directed("GE")},
           {floats, directed("NE")},
           {integers, directed("NE")},
           {integers, directed("EQ")},
           {integers, is_third}}) {
    const OpCase use = sort_of({keys, numbered({100}, 0)}, 0, no_order(keys.type.dtype, is_before));
    const std::vector<HostTensor> found = run_on("tiny4", graph_of(use), use.operands);
    std::vector<bool> is_there(100);
    for (std::size_t i = 0; i < 100; ++i) {
      const auto number = static_cast<std::size_t>(read_int(found[1], i));
      ASSERT_LT(number, 100U);
      EXPECT_FALSE(is_there[number]) << "row " << number << " is there twice";
      is_there[number] = true;
      EXPECT_TRUE(close(scalar_of(found[0], i), scalar_of(keys, number), 0));
    }
  }
}

TEST(Sort, ByADifferenceBesideZeroIsThatOfItsKeys) {
  std::mt19937 random(6);
  constexpr std::size_t kBatches = 2100, kRows = 8;
  const HostTensor x = drawn(kI32, {kBatches, kRows}, random);
  const Graph is_before = region_of({{kI32, {}}, {kI32, {}}}, [](std::span<const Tensor> a) {
    return std::vector{(a[0] & a[0].like(3)) - (a[1] & a[1].like(3)) < 0.0};
  });
  const OpCase use = sort_of({x}, 1, is_before);
  const std::vector<HostTensor> found = run_on("small64", graph_of(use), use.operands);
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    std::array<std::int64_t, kRows> rows{};
    for (std::size_t i = 0; i < kRows; ++i) rows[i] = read_int(x, batch * kRows + i);
    std::ranges::stable_sort(rows, {}, [](std::int64_t row) { return row & 3; });
    for (std::size_t i = 0; i < kRows; ++i)
      ASSERT_EQ(read_int(found[0], batch * kRows + i), rows[i]) << batch << " " << i;
  }
}

TEST(Sort, RefusesWhatIsNoOrder) {
  const HostTensor x = vector_of(kF32, {2, 1});
  const auto refused = [&](OpCase use) {
    EXPECT_THROW(static_cast<void>(graph_of(use)), MalformedInput);
  };
  refused(sort_of({x}, 1, binary_reducer("stablehlo.add", kF32)));
  refused(sort_of({x}, 0, binary_reducer("stablehlo.add", kF32)));
  refused(sort_of({x}, -2, ascending(kF32)));
  refused(sort_of({x}, 0, ascending(kF32)));
  refused(sort_of({x, numbered({3}, 0)}, 0, ascending(kF32)));
  refused(sort_of({x, vector_of(kF32, {1, 2})}, 0, ascending(kF32)));
}

// NaN is neither before nor behind a number: without an order of them places would collide.
TEST(Sort, PutsNaNsBehindOthersWhereOnlyNumbersAreCompared) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : {kF32, kF16, kF64}) {
    const HostTensor x = vector_of(dtype, {3, nan, 2, 1, nan, 5, -0.0, 0});
    const std::vector<HostTensor> operands = {x, numbered(x.type.shape, 0)};
    const OpCase use = sort_of(operands, 0, ascending(dtype));
    const std::vector<HostTensor> want = {vector_of(dtype, {-0.0, 0, 1, 2, 3, 5, nan, nan}),
                                          vector_of(kI32, {6, 7, 3, 2, 0, 5, 1, 4})};
    Graph graph;
    GraphBuilder builder(graph, {});
    std::vector<Tensor> arguments;
    for (const HostTensor& operand : operands) arguments.push_back(builder.argument(operand.type));
    Op sort;
    sort.attributes = use.attributes;
    sort.regions = use.regions;
    sort.declared = use.declared;
    std::vector<ValueId> results;
    for (const Tensor& r : builder.append(*find_op("stablehlo.sort"), arguments, std::move(sort))) {
      results.push_back(r.id);
    }
    graph.set_results(std::move(results));
    const std::vector<HostTensor> reference = evaluate(graph, operands);
    const std::vector<HostTensor> found = run_on("tiny4", graph, operands);
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_TRUE(close(reference[i], want[i], 0)) << i;
      EXPECT_TRUE(close(found[i], want[i], 0)) << i;
    }
  }
}

}  // namespace
}  // namespace superstep
