#include <gtest/gtest.h>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/dense_product.h"
#include "compiler/vertex/interpret.h"
#include "compiler/vertex/number.h"
#include "tests/vertex/vertex_run.h"
#include "tests/vertex/values.h"

namespace superstep::vertex {
namespace {

std::uint64_t bits_at(const HostTensor& tensor, std::size_t i) {
  std::uint64_t bits = 0;
  const std::size_t size = size_of(tensor.type.dtype);
  std::memcpy(&bits, tensor.data.data() + i * size, size);
  return bits;
}

HostTensor numbers(DType dtype, std::int64_t n, std::uint32_t seed) {
  if (!is_float(dtype)) return sample({dtype, {n}}, seed);
  HostTensor tensor({dtype, {n}});
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const std::uint64_t bits =
        bits_of_float(dtype, static_cast<double>(random() % 2001) / 1000 - 1);
    std::memcpy(tensor.data.data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  return tensor;
}

void check_dense(DType operands, DType result, std::int64_t rows, std::int64_t columns,
                 std::int64_t depth, std::uint32_t workers) {
  SCOPED_TRACE(fmt::format("{} to {}: {} x {} x {}, {} workers", name_of(operands), name_of(result),
                           rows, columns, depth, workers));
  VertexRun tile(workers);
  const HostTensor a = numbers(operands, rows * depth, 1),
                   b = numbers(operands, columns * depth, 2);
  const HostTensor out = numbers(result, rows * columns, 3);
  const std::vector<std::uint32_t> state = {static_cast<std::uint32_t>(rows),
                                            static_cast<std::uint32_t>(columns),
                                            static_cast<std::uint32_t>(depth),
                                            tile.put(a),
                                            tile.put(b),
                                            tile.put(out)};
  tile.run(dense_product(tile.machine(), operands, result), state);
  const HostTensor got = tile.get(state[5], out.type);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto o = static_cast<std::size_t>(r * columns + c);
      std::uint64_t want = 0;
      if (is_float(operands)) {
        float sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          const float product =
              static_cast<float>(
                  float_of(operands, bits_at(a, static_cast<std::size_t>(r * depth + k)))) *
              static_cast<float>(
                  float_of(operands, bits_at(b, static_cast<std::size_t>(c * depth + k))));
          sum += product;
        }
        want = bits_of_float(result, static_cast<double>(sum));
      } else {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          const std::int64_t product =
              int_of(operands, bits_at(a, static_cast<std::size_t>(r * depth + k))) *
              int_of(operands, bits_at(b, static_cast<std::size_t>(c * depth + k)));
          sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                          static_cast<std::uint64_t>(product));
        }
        want = bits_of_int(result, sum);
      }
      ASSERT_EQ(bits_at(got, o), want) << "row " << r << " column " << c;
    }
  }
}

void check_shapes(DType operands, DType result) {
  for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) {
    check_dense(operands, result, 1, 1, 1, workers);
    check_dense(operands, result, 3, 5, 7, workers);
    check_dense(operands, result, 2, 7, 1, workers);
    check_dense(operands, result, 0, 4, 3, workers);
    check_dense(operands, result, 9, 11, 64, workers);
    check_dense(operands, result, 1, 40, 2, workers);
  }
}

TEST(DenseProduct, FloatsAddInOrderOfDepth) {
  check_shapes(DType::kF32, DType::kF32);
  check_shapes(DType::kF16, DType::kF16);
  check_shapes(DType::kF16, DType::kF32);
}

// The start of the codelet and of rows is not among the slots; narrow results are packed besides.
TEST(DenseProduct, TakesTheSlotsThatPlannersExpect) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI32, DType::kI8}) {
    for (const std::int64_t depth : {8, 64}) {
      const auto cycles = [&](std::int64_t columns) {
        VertexRun tile(6);
        const HostTensor a = numbers(dtype, depth, 1), b = numbers(dtype, columns * depth, 2);
        const HostTensor out({is_float(dtype) ? DType::kF32 : DType::kI32, {columns}});
        return tile.run(dense_product(tile.machine(), dtype, out.type.dtype),
                        {1, static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(depth),
                         tile.put(a), tile.put(b), tile.put(out)});
      };
      EXPECT_EQ(cycles(30) - cycles(12), 6 * dense_product_slots(dtype, 3, depth))
          << name_of(dtype) << " " << depth;
    }
  }
}

// More products than one `rpt` counts.
TEST(DenseProduct, DepthMayExceedARepeatCount) {
  check_dense(DType::kF16, DType::kF32, 1, 1, 65'537, 6);
  check_dense(DType::kF16, DType::kF16, 1, 2, 70'001, 6);
}

TEST(DenseProduct, IntegersWrap) {
  for (const DType dtype :
       {DType::kI8, DType::kI16, DType::kI32, DType::kU8, DType::kU16, DType::kU32}) {
    check_shapes(dtype, dtype);
    check_shapes(dtype, DType::kI32);
  }
}

}  // namespace
}  // namespace superstep::vertex
