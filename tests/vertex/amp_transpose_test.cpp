#include "compiler/vertex/amp_transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/vertex/strip_run.h"
#include "tests/vertex/vertex_run.h"

namespace superstep::vertex {
namespace {

void check_transpose(std::int64_t depth, std::int64_t groups, std::uint32_t workers) {
  SCOPED_TRACE(::testing::Message()
               << depth << " x " << groups << " groups, " << workers << " workers");
  VertexRun tile(workers);
  const std::int64_t columns = groups * 16, pitch = columns * 4;
  HostTensor source({DType::kU32, {depth * columns}});
  std::vector<std::uint32_t> values(static_cast<std::size_t>(depth * columns));
  std::iota(values.begin(), values.end(), 1U);
  std::memcpy(source.data.data(), values.data(), source.data.size());
  const std::uint32_t from = tile.put_in_region0(source);
  const std::uint32_t to = tile.put(HostTensor({DType::kU32, {depth * columns}}));
  const auto strips = amp_transpose_strips(workers, pitch, depth, groups);
  const StripLaunch launch(tile.machine(), strips, amp_transpose_strides(pitch, groups), from, to,
                           amp_transpose_slots);
  EXPECT_EQ(
      tile.run(amp_transpose(), launch.state, static_cast<std::uint32_t>(launch.worker_words)),
      launch.cycles + tile.machine().costs.runall);
  const HostTensor got = tile.get(to, source.type);
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t at = ((k / 8 * groups + c / 16) * 16 + c % 16) * 8 + k % 8;
      std::uint32_t value = 0;
      std::memcpy(&value, got.data.data() + 4 * at, 4);
      ASSERT_EQ(value, static_cast<std::uint32_t>(k * columns + c + 1)) << k << ", " << c;
    }
  }
}

TEST(AmpTranspose, MakesBlocksOfWeights) {
  for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) {
    check_transpose(8, 1, workers);
    check_transpose(40, 1, workers);
    check_transpose(32, 2, workers);
    check_transpose(8, 9, workers);
    check_transpose(24, 8, workers);
    check_transpose(16, 3, workers);
  }
}

}  // namespace
}  // namespace superstep::vertex
