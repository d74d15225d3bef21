#include "compiler/vertex/amp_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/float16.h"
#include "tests/vertex/vertex_run.h"

namespace superstep::vertex {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float value(std::mt19937& random) { return static_cast<float>(random() % 2001) / 1000 - 1; }

/// [outer][inner] numbers in the dtype of the operands.
struct Matrix {
  std::int64_t inner;
  std::vector<float> values;

  Matrix(std::int64_t rows, std::int64_t columns)
      : inner(columns), values(static_cast<std::size_t>(rows * columns), kNan) {}
  float& at(std::int64_t r, std::int64_t c) {
    return values[static_cast<std::size_t>(r * inner + c)];
  }
  [[nodiscard]] HostTensor tensor(DType dtype) const {
    HostTensor tensor({dtype, {static_cast<std::int64_t>(values.size())}});
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (dtype == DType::kF32) {
        std::memcpy(tensor.data.data() + 4 * i, &values[i], 4);
      } else {
        const std::uint16_t half = half_bits(values[i]);
        std::memcpy(tensor.data.data() + 2 * i, &half, 2);
      }
    }
    return tensor;
  }
};

/// Columns in groups of 16 (f16: 8), as many blocks of depth as needed; what lies beyond the rows
/// and depth is NaN.
void check_product(AmpProduct product, std::int64_t rows, std::int64_t groups,
                   std::int64_t depth_blocks, bool continues, std::uint32_t workers,
                   std::uint32_t amp_units = 16) {
  SCOPED_TRACE(::testing::Message()
               << name_of(product.operands) << ' ' << product.rows_inside << ' '
               << product.unused_inputs << ": " << rows << " rows, " << groups << " groups, "
               << depth_blocks << " blocks, " << (continues ? "continues, " : "") << workers
               << " workers, " << amp_units << " units");
  MachineConfig with = machine_with(workers);
  with.tile.amp_units = amp_units;
  VertexRun tile(with);
  std::mt19937 random(7);
  const std::int64_t channels = product.channels(), depth = depth_blocks * product.depth();
  const std::int64_t used = depth - product.unused_inputs;
  const std::int64_t padded = product.rows_inside ? (rows + 1) / 2 * 2 : rows;
  Matrix a(rows, depth), b(groups * channels, depth);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < used; ++k) {
      a.at(r, k) = float_of_half(half_bits(value(random)));
    }
  }
  for (std::int64_t c = 0; c < groups * channels; ++c) {
    for (std::int64_t k = 0; k < depth; ++k) {
      b.at(c, k) = k < used ? float_of_half(half_bits(value(random))) : 0;
    }
  }
  Matrix inputs = a;
  if (product.rows_inside) {
    inputs = Matrix(depth, padded);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < depth; ++k) inputs.at(k, r) = a.at(r, k);
    }
  }
  Matrix weights(depth_blocks * groups * channels, product.depth());
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t c = 0; c < groups * channels; ++c) {
      weights.at(k / product.depth() * groups * channels + c, k % product.depth()) = b.at(c, k);
    }
  }
  Matrix sums(groups * padded, channels);
  for (float& s : sums.values) s = value(random);
  const auto bytes = static_cast<std::int64_t>(size_of(product.operands));
  const std::int64_t pitch = bytes * (product.rows_inside ? padded : depth);
  const std::uint32_t at_weights = tile.put(weights.tensor(product.operands));
  const std::uint32_t at_inputs = tile.put_in_region0(inputs.tensor(product.operands));
  tile.align_to_16();
  const std::uint32_t at_sums = tile.put(sums.tensor(DType::kF32));
  std::vector<std::uint32_t> state;
  for (std::int64_t kg = 0; kg < depth_blocks; ++kg) {
    for (std::int64_t g = 0; g < groups; ++g) {
      std::int64_t row = 0;
      for (std::int64_t w = 0; w < workers; ++w) {
        const std::int64_t n = amp_rows_of_worker(product, rows, workers, w);
        const std::int64_t input = product.rows_inside ? kg * product.depth() * pitch + row * bytes
                                                       : row * pitch + kg * product.depth() * bytes;
        state.push_back(at_sums + static_cast<std::uint32_t>((g * padded + row) * channels * 4));
        state.push_back(at_inputs + static_cast<std::uint32_t>(input));
        state.push_back(static_cast<std::uint32_t>(amp_repeats(product, n)));
        state.push_back(amp_strides(product, pitch));
        row += n;
      }
      ASSERT_EQ(row, padded);
    }
  }
  // All blocks but the last take all their inputs.
  AmpProduct whole = product;
  whole.few_rows = amp_has_few_rows(product, rows, workers);
  AmpProduct last = whole;
  whole.unused_inputs = 0;
  last.accumulates = continues || depth_blocks > 1;
  whole.accumulates = continues;
  AmpProduct later = whole;
  later.accumulates = true;
  const MachineConfig& machine = tile.machine();
  const Codelet first_code = amp_product(whole), later_code = amp_product(later),
                last_code = amp_product(last);
  const auto count = static_cast<std::uint32_t>(groups);
  const TileCode::WeightedLaunch launch{
      .stages = {},
      .weights = at_weights,
      .state_words = kAmpStateWords,
      .loads = static_cast<std::uint32_t>(amp_weight_loads(product))};
  std::uint64_t cycles = 0;
  if (depth_blocks == 1) {
    cycles = tile.run_weighted({{last_code, count}}, state, launch);
  } else if (depth_blocks == 2) {
    cycles = tile.run_weighted({{first_code, count}, {last_code, count}}, state, launch);
  } else {
    const auto middle = static_cast<std::uint32_t>(groups * (depth_blocks - 2));
    cycles = tile.run_weighted({{first_code, count}, {later_code, middle}, {last_code, count}},
                               state, launch);
  }
  const HostTensor out = tile.get(at_sums, {DType::kF32, {groups * padded * channels}});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < groups * channels; ++c) {
      const std::int64_t at = (c / channels * padded + r) * channels + c % channels;
      float want = continues ? sums.values[static_cast<std::size_t>(at)] : 0.0F;
      if (product.operands == DType::kF32) {
        for (std::int64_t k = 0; k < used; ++k) want += a.at(r, k) * b.at(c, k);
      } else {
        for (std::int64_t k = 0; k < depth; k += 4) {
          const auto p = [&](std::int64_t i) { return a.at(r, k + i) * b.at(c, k + i); };
          want += (p(0) + p(1)) + (p(2) + p(3));
        }
      }
      float got = 0;
      std::memcpy(&got, out.data.data() + 4 * at, 4);
      ASSERT_EQ(got, want) << "row " << r << " column " << c;
    }
  }
  if (!continues) {
    EXPECT_EQ(static_cast<std::int64_t>(cycles),
              amp_launch_cycles(machine, product, rows, groups, groups * (depth_blocks - 1)));
  }
}

void check_rows(AmpProduct product) {
  for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 18, 23, 24, 40}) {
      check_product(product, rows, 1, 1, false, workers);
      check_product(product, rows, 1, 1, true, workers);
      check_product(product, rows, 2, 3, false, workers);
    }
  }
}

TEST(AmpProduct, AddsF32InOrderOfDepth) { check_rows({.operands = DType::kF32}); }

TEST(AmpProduct, TakesRowsAsNeighbours) {
  check_rows({.operands = DType::kF32, .rows_inside = true});
}

TEST(AmpProduct, AddsF16ByFours) { check_rows({.operands = DType::kF16}); }

TEST(AmpProduct, TakesLongerWithFewerUnits) {
  for (const std::uint32_t units : {4U, 8U}) {
    for (const std::int64_t rows : {1, 2, 3, 11, 24}) {
      for (const std::uint32_t workers : {1U, 6U}) {
        check_product({.operands = DType::kF32}, rows, 2, 3, false, workers, units);
        check_product({.operands = DType::kF32, .rows_inside = true}, rows, 1, 2, false, workers,
                      units);
        check_product({.operands = DType::kF16}, rows, 2, 2, false, workers, units);
      }
    }
  }
}

TEST(AmpProduct, LeavesOutTheLastInputsOfABlock) {
  for (const std::uint32_t unused : {1U, 3U, 6U, 7U}) {
    for (const std::int64_t rows : {1, 2, 9, 30}) {
      check_product({.operands = DType::kF32, .unused_inputs = unused}, rows, 2, 1, false, 6);
      check_product({.operands = DType::kF32, .unused_inputs = unused}, rows, 1, 2, true, 6);
      check_product({.operands = DType::kF32, .rows_inside = true, .unused_inputs = unused}, rows,
                    2, 3, false, 6);
    }
  }
}

// 57 rows, 5 blocks of 8 inputs: 10 rows for the busiest workers, 8 slots a row; the first block
// takes 19 slots more, the others 23, and one more when there are workers of few rows.
TEST(AmpProduct, CostsEightCyclesARowAndLittleMore) {
  const AmpProduct product{.operands = DType::kF32};
  AmpProduct first = product;
  first.few_rows = false;
  AmpProduct more = first;
  more.accumulates = true;
  EXPECT_EQ(amp_product_slots(first, 10), 80 + 19);
  EXPECT_EQ(amp_product_slots(more, 10), 80 + 23);
  EXPECT_EQ(amp_product_slots(product, 10), 80 + 20);
  check_product(product, 57, 1, 5, false, 6);
}

}  // namespace
}  // namespace superstep::vertex
