#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/interpret.h"
#include "compiler/vertex/reduce.h"
#include "tests/vertex/vertex_run.h"
#include "tests/vertex/values.h"

namespace superstep::vertex {
namespace {

struct Dimensions {
  std::int64_t outer, reduced, inner;
};

const std::vector<Dimensions> kDimensions = {
    {1, 1, 1},  {1, 100, 1}, {5, 7, 1},  {1, 3, 13}, {4, 6, 5},   {0, 4, 4},
    {3, 4, 0},  {9, 1, 2},   {7, 33, 8}, {64, 5, 1}, {1, 2, 333}, {3, 10, 1},
    {13, 2, 1}, {5, 7, 6},   {1, 1, 64}, {20, 3, 3}, {1, 3, 1},   {1, 131, 1}};

/// What changes no operand, in f32 or f16.
HostTensor neutral(Primitive p, DType dtype) {
  const bool half = dtype == DType::kF16;
  HostTensor value(TensorType{dtype, {}});
  const std::uint32_t bits = p == Primitive::kAdd   ? (half ? 0x8000 : 0x80000000)
                             : p == Primitive::kMul ? (half ? 0x3c00 : 0x3f800000)
                             : p == Primitive::kMax ? (half ? 0xfc00 : 0xff800000)
                                                    : (half ? 0x7c00 : 0x7f800000);
  std::memcpy(value.data.data(), &bits, value.data.size());
  return value;
}

HostTensor element(const HostTensor& tensor, std::size_t i) {
  HostTensor one(TensorType{tensor.type.dtype, {}});
  const std::size_t size = size_of(tensor.type.dtype);
  std::memcpy(one.data.data(), tensor.data.data() + i * size, size);
  return one;
}

/// What the expression takes as element `i`.
DType element_dtype(const Expression& e, const std::vector<DType>& dtypes, std::size_t i) {
  for (const Expression::Step& step : e.steps()) {
    if (step.primitive == Primitive::kInput && step.bits == dtypes.size() + i) return step.dtype;
  }
  return dtypes[i];
}

/// As `reduce_rows` defines it.
HostTensor reduced_by_rows(const Expression& e, Node output, const HostTensor& initial,
                           std::vector<HostTensor> row) {
  const DType dtype = initial.type.dtype;
  const Primitive p = e.steps()[output.id].primitive;
  Expression same;
  const Node operation = same.apply(p, {same.input(0, dtype), same.input(1, dtype)});
  const auto apply = [&](const HostTensor& x, const HostTensor& y) {
    return evaluate_expression(same, operation, {{x, y}});
  };
  std::size_t lanes = row_lanes(e, {output}, {dtype});
  if (row[0].type.dtype != dtype) {
    Expression widened;
    const Node x = widened.convert(widened.input(0, row[0].type.dtype), dtype);
    const Node sum = widened.apply(
        Primitive::kAdd, {x, widened.convert(widened.input(1, row[0].type.dtype), dtype)});
    std::vector<HostTensor> sums;
    for (std::size_t i = 0; i < row.size(); i += 2)
      sums.push_back(evaluate_expression(widened, sum, {{row[i], row[i + 1]}}));
    row = sums;
    lanes /= 2;
  }
  std::vector<HostTensor> values(lanes, neutral(p, dtype));
  values[0] = initial;
  for (std::size_t i = 0; i < row.size(); ++i) values[i % lanes] = apply(values[i % lanes], row[i]);
  for (; values.size() > 1; values.resize(values.size() / 2)) {
    for (std::size_t i = 0; i < values.size() / 2; ++i)
      values[i] = apply(values[i], values[i + values.size() / 2]);
  }
  return values[0];
}

void check(const Expression& e, const std::vector<Node>& outputs, const std::vector<DType>& dtypes,
           Dimensions d, std::uint32_t workers, ReduceBy by) {
  const bool by_rows = by != ReduceBy::kColumns;
  SCOPED_TRACE(fmt::format("{} x {} x {} of {} on {} workers{}", d.outer, d.reduced, d.inner,
                           name_of(dtypes[0]), workers, by_rows ? ", by rows" : ""));
  VertexRun tile(workers);
  const std::size_t k = dtypes.size();
  std::vector<HostTensor> initial, data, want;
  std::vector<std::uint32_t> state = {static_cast<std::uint32_t>(d.outer),
                                      static_cast<std::uint32_t>(d.reduced),
                                      static_cast<std::uint32_t>(d.inner)};
  for (std::size_t i = 0; i < k; ++i) {
    initial.push_back(sample({dtypes[i], {}}, 5));
    state.push_back(tile.put(initial.back()));
  }
  for (std::size_t i = 0; i < k; ++i) {
    want.emplace_back(TensorType{dtypes[i], {d.outer, d.inner}});
    state.push_back(tile.put(want.back()));
  }
  for (std::size_t i = 0; i < k; ++i) {
    const DType of = element_dtype(e, dtypes, i);
    data.push_back(sample({of, {d.outer, d.reduced, d.inner}}, static_cast<std::uint32_t>(11 + i)));
    // Sums of special values are all alike; keep to numbers.
    for (std::size_t n = 0; is_float(of) && n < static_cast<std::size_t>(data[i].type.elements());
         ++n) {
      if (of == DType::kF32 && n % 50 != 7)
        data[i].set<float>(n, static_cast<float>(static_cast<int>(n * 37 % 101) - 50) / 3);
      if (of == DType::kF16 && (n % 50 != 7 || dtypes[i] != of))
        data[i].set<std::uint16_t>(
            n, static_cast<std::uint16_t>(0x3800 + n * 37 % 1500 + (n % 3 << 15)));
    }
    state.push_back(tile.put(data.back()));
  }
  for (std::int64_t o = 0; o < d.outer; ++o) {
    for (std::int64_t i = 0; i < d.inner; ++i) {
      std::vector<HostTensor> values = initial;
      if (by_rows) {
        std::vector<HostTensor> row;
        for (std::int64_t r = 0; r < d.reduced; ++r)
          row.push_back(element(data[0], static_cast<std::size_t>(o * d.reduced + r)));
        values = {reduced_by_rows(e, outputs[0], initial[0], row)};
      } else {
        for (std::int64_t r = 0; r < d.reduced; ++r) {
          std::vector<HostTensor> inputs = values;
          for (std::size_t n = 0; n < k; ++n) {
            inputs.push_back(
                element(data[n], static_cast<std::size_t>((o * d.reduced + r) * d.inner + i)));
          }
          for (std::size_t n = 0; n < k; ++n)
            values[n] = evaluate_expression(e, outputs[n], inputs);
        }
      }
      for (std::size_t n = 0; n < k; ++n) {
        const std::size_t size = size_of(dtypes[n]);
        std::memcpy(want[n].data.data() + static_cast<std::size_t>(o * d.inner + i) * size,
                    values[n].data.data(), size);
      }
    }
  }
  const Reduce reduce{.expression = e, .outputs = outputs, .dtypes = dtypes, .by = by};
  tile.run(reduce.code(tile.machine()), state);
  for (std::size_t n = 0; n < k; ++n) {
    const HostTensor got = tile.get(state[3 + k + n], want[n].type);
    for (std::size_t i = 0; i < static_cast<std::size_t>(want[n].type.elements()); ++i) {
      ASSERT_EQ(hex(got, i), hex(want[n], i)) << "value " << n << " element " << i;
    }
  }
}

void check(const Expression& e, const std::vector<Node>& outputs, const std::vector<DType>& dtypes,
           Dimensions d, std::uint32_t workers) {
  check(e, outputs, dtypes, d, workers, ReduceBy::kColumns);
  if (d.inner != 1) return;
  const ReduceBy by = reduce_by(e, outputs, dtypes, static_cast<std::uint64_t>(d.outer),
                                static_cast<std::uint64_t>(d.reduced));
  if (by != ReduceBy::kColumns) check(e, outputs, dtypes, d, workers, by);
}

void check_operation(Primitive p, DType dtype) {
  Expression e;
  const Node accumulator = e.input(0, dtype), next = e.input(1, dtype);
  const Node result = e.apply(p, {accumulator, next});
  for (const Dimensions& d : kDimensions) {
    for (const std::uint32_t workers : {1U, 6U, 8U}) check(e, {result}, {dtype}, d, workers);
  }
}

TEST(Reduce, SumsEveryDtypeInOrder) {
  for (const DType dtype : {DType::kI8, DType::kI16, DType::kI32, DType::kU8, DType::kU16,
                            DType::kU32, DType::kF16, DType::kF32}) {
    check_operation(Primitive::kAdd, dtype);
  }
}

TEST(Reduce, MoreElementsThanARepeatCounts) {
  for (const DType dtype : {DType::kF32, DType::kI32}) {
    Expression e;
    const Node sum = e.apply(Primitive::kAdd, {e.input(0, dtype), e.input(1, dtype)});
    check(e, {sum}, {dtype}, {1, 66001, 1}, 6);
  }
}

TEST(Reduce, ExtremesTakeNaN) {
  for (const DType dtype : {DType::kI32, DType::kU32, DType::kF16, DType::kF32}) {
    check_operation(Primitive::kMax, dtype);
    check_operation(Primitive::kMin, dtype);
  }
}

TEST(Reduce, RowsOfEachLengthAreThoseOfTheReferenceWithEachSpecialValueAtEachEnd) {
  constexpr DType kType = DType::kF32;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const HostTensor initial = element(sample({kType, {1}}, 5), 0);
  for (const Primitive p : {Primitive::kAdd, Primitive::kMul, Primitive::kMax, Primitive::kMin}) {
    Expression e;
    const Node result = e.apply(p, {e.input(0, kType), e.input(1, kType)});
    for (std::uint32_t n = 1; n <= 70; ++n) {
      const ReduceBy by = reduce_by(e, {result}, {kType}, 1, n);
      ASSERT_EQ(by, n == 1 ? ReduceBy::kColumns : n % 2 == 0 ? ReduceBy::kRows : ReduceBy::kOddRow);
      if (by == ReduceBy::kColumns) continue;
      const Reduce reduce{.expression = e, .outputs = {result}, .dtypes = {kType}, .by = by};
      HostTensor row(TensorType{kType, {n}}), out(TensorType{kType, {1}});
      for (const float special : {-0.0F, 1.0F, kInfinity, -kInfinity, std::nanf("")}) {
        for (const std::uint32_t at : {0U, n / 2, n - 1}) {
          std::vector<HostTensor> elements;
          for (std::uint32_t i = 0; i < n; ++i) {
            row.set<float>(i, i == at ? special : static_cast<float>(i * 37 % 101) / 50 - 1);
            elements.push_back(element(row, i));
          }
          VertexRun tile(6);
          const std::vector<std::uint32_t> state = {
              1, n, 1, tile.put(initial), tile.put(out), tile.put(row)};
          tile.run(reduce.code(tile.machine()), state);
          ASSERT_EQ(hex(tile.get(state[4], out.type), 0),
                    hex(reduced_by_rows(e, result, initial, elements), 0))
              << n << " elements, " << special << " at " << at;
        }
      }
    }
  }
}

TEST(Reduce, RowsTakeASlotForEachPair) {
  Expression e;
  const Node sum = e.apply(Primitive::kAdd, {e.input(0, DType::kF32), e.input(1, DType::kF32)});
  std::vector<std::uint64_t> cycles;
  for (const std::uint32_t n : {8U, 16U, 32U}) {
    VertexRun tile(6);
    const HostTensor zero(TensorType{DType::kF32, {}}), x(TensorType{DType::kF32, {n}});
    const std::vector<std::uint32_t> state = {1,           n, 1, tile.put(zero), tile.put(zero),
                                              tile.put(x), 0};
    cycles.push_back(tile.run(reduce_rows(tile.machine(), e, {sum}, {DType::kF32}, false), state));
  }
  EXPECT_EQ(cycles[1] - cycles[0], 6 * 4U);
  EXPECT_EQ(cycles[2] - cycles[1], 6 * 8U);
  EXPECT_LE(cycles[0], 120U);
}

TEST(Reduce, HalvesAreSummedInSingles) {
  Expression e;
  const Node sum = e.apply(
      Primitive::kAdd, {e.input(0, DType::kF32), e.convert(e.input(1, DType::kF16), DType::kF32)});
  for (const Dimensions& d : kDimensions) {
    for (const std::uint32_t workers : {1U, 6U, 8U}) check(e, {sum}, {DType::kF32}, d, workers);
  }
}

/// Cycles of one row of `elements`.
std::uint64_t row_cycles(Primitive p, DType result, DType dtype, std::uint32_t elements) {
  Expression e;
  const Node x = e.input(0, result), y = e.input(1, dtype);
  const Node output = e.apply(p, {x, result == dtype ? y : e.convert(y, result)});
  VertexRun tile(6);
  const HostTensor zero(TensorType{result, {}}), data(TensorType{dtype, {elements}});
  const std::vector<std::uint32_t> state = {
      1, elements, 1, tile.put(zero), tile.put(zero), tile.put(data), 0};
  return tile.run(reduce_rows(tile.machine(), e, {output}, {result}, false), state);
}

TEST(Reduce, RowsOfHalvesTakeTwoSlotsForFour) {
  for (const DType result : {DType::kF16, DType::kF32}) {
    const Primitive p = result == DType::kF16 ? Primitive::kMax : Primitive::kAdd;
    const std::uint64_t few = row_cycles(p, result, DType::kF16, 16);
    EXPECT_EQ(row_cycles(p, result, DType::kF16, 416) - few, 6 * 100 * 2U);
  }
}

TEST(Reduce, ColumnsOfWidenedHalvesTakeASlotForEachAndTwoForEachSingleOne) {
  Expression e;
  const Node sum = e.apply(
      Primitive::kAdd, {e.input(0, DType::kF32), e.convert(e.input(1, DType::kF16), DType::kF32)});
  const auto cycles = [&](std::uint32_t depth, std::uint32_t columns) {
    VertexRun tile(6);
    const HostTensor zero(TensorType{DType::kF32, {}}), sums(TensorType{DType::kF32, {columns}}),
        data(TensorType{DType::kF16, {depth, columns}});
    const std::vector<std::uint32_t> state = {
        1, depth, columns, tile.put(zero), tile.put(sums), tile.put(data), 0};
    return tile.run(reduce(tile.machine(), e, {sum}, {DType::kF32}), state);
  };
  EXPECT_EQ(cycles(116, 24) - cycles(16, 24), 6 * 100 * 4U);
  EXPECT_EQ(cycles(116, 6) - cycles(16, 6), 6 * 100 * 2U);
}

TEST(Reduce, IntegersTakeTwoSlotsForEachAndNoStack) {
  Expression e;
  const Node sum = e.apply(Primitive::kAdd, {e.input(0, DType::kI32), e.input(1, DType::kI32)});
  const auto cycles = [&](std::uint32_t n) {
    VertexRun tile(6);
    const HostTensor zero(TensorType{DType::kI32, {}}), x(TensorType{DType::kI32, {n}});
    const std::vector<std::uint32_t> state = {1,           n, 1, tile.put(zero), tile.put(zero),
                                              tile.put(x), 0};
    return tile.run(reduce(tile.machine(), e, {sum}, {DType::kI32}), state);
  };
  EXPECT_EQ(cycles(16) - cycles(8), 6 * 8 * 2U);
  EXPECT_LE(cycles(8), 260U);
}

TEST(Reduce, BooleansByOrAndAnd) {
  check_operation(Primitive::kAnd, DType::kI1);
  check_operation(Primitive::kOr, DType::kI1);
}

TEST(Reduce, ProductsAndSquares) {
  check_operation(Primitive::kMul, DType::kF32);
  Expression e;
  const Node accumulator = e.input(0, DType::kF32), next = e.input(1, DType::kF32);
  const Node result =
      e.apply(Primitive::kAdd, {accumulator, e.apply(Primitive::kMul, {next, next})});
  for (const Dimensions& d : kDimensions) check(e, {result}, {DType::kF32}, d, 6);
}

TEST(Reduce, SeveralValuesTogetherAsForArgmin) {
  for (const DType value : {DType::kF32, DType::kI8}) {
    for (const DType index : {DType::kI32, DType::kI16}) {
      Expression e;
      const Node x = e.input(0, value), i = e.input(1, index), y = e.input(2, value),
                 j = e.input(3, index);
      const Node less = e.apply(Primitive::kLt, {y, x});
      const Node best = e.apply(Primitive::kSelect, {less, y, x}),
                 where = e.apply(Primitive::kSelect, {less, j, i});
      for (const Dimensions& d : kDimensions) check(e, {best, where}, {value, index}, d, 6);
    }
  }
}

}  // namespace
}  // namespace superstep::vertex
