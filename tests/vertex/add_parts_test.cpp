#include "compiler/vertex/add_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/vertex/vertex_run.h"

namespace superstep::vertex {
namespace {

void check_sum(std::int64_t parts, std::int64_t elements, std::uint32_t workers) {
  SCOPED_TRACE(::testing::Message()
               << parts << " parts of " << elements << ", " << workers << " workers");
  VertexRun tile(workers);
  const std::int64_t pitch = (elements + 3) / 4 * 4, groups = pitch / 4;
  std::mt19937 random(3);
  std::vector<float> values(static_cast<std::size_t>(parts * pitch));
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  HostTensor source({DType::kF32, {parts * pitch}});
  std::memcpy(source.data.data(), values.data(), source.data.size());
  const std::uint32_t from = tile.put(source);
  const TensorType sums_type{DType::kF32, {elements}};
  const std::uint32_t to = tile.put(HostTensor(sums_type));
  std::vector<std::uint32_t> state;
  std::int64_t cycles = 0;
  for (std::int64_t w = 0; w < workers; ++w) {
    const std::int64_t first = w * groups / workers, last = (w + 1) * groups / workers;
    const std::int64_t end = std::min(last * 4, (elements + 1) / 2 * 2);
    state.push_back(static_cast<std::uint32_t>(last - first - 1));
    state.push_back(from + static_cast<std::uint32_t>(first * 16));
    state.push_back(to + static_cast<std::uint32_t>(first * 16));
    state.push_back(to + static_cast<std::uint32_t>((end - 2) * 4));
    state.push_back(static_cast<std::uint32_t>(pitch / 4));
    state.push_back(static_cast<std::uint32_t>(add_parts_back(parts, pitch * 4)));
    cycles =
        std::max(cycles, w + tile.machine().issue_period() * add_parts_slots(parts, last - first));
  }
  EXPECT_EQ(tile.run(add_parts(parts), state, kAddPartsStateWords),
            static_cast<std::uint64_t>(cycles) + tile.machine().costs.runall);
  const HostTensor got = tile.get(to, sums_type);
  for (std::int64_t e = 0; e < elements; ++e) {
    float want = 0;
    for (std::int64_t p = 0; p < parts; ++p) {
      want += values[static_cast<std::size_t>(p * pitch + e)];
    }
    float sum = 0;
    std::memcpy(&sum, got.data.data() + 4 * e, 4);
    ASSERT_EQ(sum, want) << "element " << e;
  }
}

TEST(AddParts, AddsInOrderOfParts) {
  for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) {
    for (const std::int64_t elements : {1, 2, 3, 4, 5, 6, 7, 32, 48, 178}) {
      check_sum(1, elements, workers);
      check_sum(2, elements, workers);
      check_sum(3, elements, workers);
      check_sum(20, elements, workers);
      check_sum(33, elements, workers);
    }
  }
}

}  // namespace
}  // namespace superstep::vertex
