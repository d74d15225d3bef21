#include "compiler/vertex/half_transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/vertex/strip_run.h"
#include "tests/vertex/vertex_run.h"

namespace superstep::vertex {
namespace {

void check_halves(const HalfTransposition& of, std::uint32_t workers) {
  SCOPED_TRACE(::testing::Message()
               << of.inputs << " x " << of.columns << ", " << workers << " workers");
  VertexRun tile(workers);
  HostTensor source({DType::kU16, {of.inputs * of.pitch / 2}});
  std::vector<std::uint16_t> values(static_cast<std::size_t>(of.inputs * of.pitch / 2));
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  std::memcpy(source.data.data(), values.data(), source.data.size());
  const std::int64_t bytes = (of.inputs + of.block_inputs - 1) / of.block_inputs * of.block_bytes +
                             of.columns * of.column_pitch;
  const std::uint32_t from = tile.put(source);
  const std::uint32_t to = tile.put(HostTensor({DType::kU16, {bytes / 2}}));
  const auto strips = half_transpose_strips(workers, of);
  const StripLaunch launch(tile.machine(), strips, half_transpose_strides(of), from, to,
                           half_transpose_slots);
  EXPECT_EQ(
      tile.run(half_transpose(), launch.state, static_cast<std::uint32_t>(launch.worker_words)),
      launch.cycles + tile.machine().costs.runall);
  const HostTensor got = tile.get(to, {DType::kU16, {bytes / 2}});
  for (std::int64_t k = 0; k < of.inputs; ++k) {
    for (std::int64_t c = 0; c < of.columns; ++c) {
      const std::int64_t at =
          k / of.block_inputs * of.block_bytes + k % of.block_inputs * 2 + c * of.column_pitch;
      std::uint16_t value = 0;
      std::memcpy(&value, got.data.data() + at, 2);
      ASSERT_EQ(value, values[static_cast<std::size_t>(k * of.pitch / 2 + c)]) << k << ", " << c;
    }
  }
}

TEST(HalfTranspose, MakesRowsAndBlocksOfWeights) {
  for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) {
    for (const std::int64_t columns : {4, 8, 40}) {
      // Rows of 48 inputs; weights [block][column][16 inputs].
      check_halves({48, columns, columns * 2, 96, 48, 0}, workers);
      check_halves({48, columns, columns * 2 + 8, 32, 16, columns * 32}, workers);
    }
  }
}

}  // namespace
}  // namespace superstep::vertex
