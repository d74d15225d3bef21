#include "compiler/vertex/append_runs.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/vertex/vertex_run.h"
#include "tests/vertex/values.h"

namespace superstep::vertex {
namespace {

/// In elements.
struct Rows {
  std::int32_t rows, count, from, stride, row_stride;
};

void check_runs(const std::vector<Rows>& commands, std::uint32_t bytes, std::uint32_t workers) {
  SCOPED_TRACE(fmt::format("{} bytes, {} workers", bytes, workers));
  const DType dtype = bytes == 1 ? DType::kU8 : DType::kU16;
  VertexRun tile(workers);
  const HostTensor from = sample({dtype, {800}}, 1);
  std::vector<std::size_t> wanted;
  for (const Rows& c : commands) {
    for (std::int32_t r = 0; r < c.rows; ++r) {
      for (std::int32_t e = 0; e < c.count; ++e) {
        wanted.push_back(static_cast<std::size_t>(c.from + r * c.row_stride + e * c.stride));
      }
    }
  }
  const HostTensor to = sample({dtype, {static_cast<std::int64_t>(wanted.size())}}, 2);
  const std::uint32_t from_address = tile.put(from), to_address = tile.put(to);
  std::vector<std::uint32_t> state{to_address, static_cast<std::uint32_t>(commands.size()),
                                   VertexRun::kState + 12};
  const auto scaled = [&](std::int32_t n) { return static_cast<std::uint32_t>(n) * bytes; };
  for (const Rows& c : commands) {
    state.insert(state.end(),
                 {static_cast<std::uint32_t>(c.rows), static_cast<std::uint32_t>(c.count),
                  from_address + scaled(c.from), scaled(c.stride), scaled(c.row_stride)});
  }
  tile.run(append_runs(tile.machine(), bytes), state);
  const HostTensor got = tile.get(to_address, to.type);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(hex(got, i), hex(from, wanted[i])) << "element " << i;
  }
}

void check_runs_everywhere(const std::vector<Rows>& commands) {
  for (const std::uint32_t bytes : {1U, 2U}) {
    for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) check_runs(commands, bytes, workers);
  }
}

TEST(AppendRuns, OneRowOfAnyLength) {
  for (const std::int32_t n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 100}) {
    check_runs_everywhere({{1, n, 3, 1, 0}});
    check_runs_everywhere({{1, n, 799, -7, 0}});
  }
}

TEST(AppendRuns, RowsOfATransposition) {
  check_runs_everywhere({{20, 30, 1, 20, 1}});
  check_runs_everywhere({{7, 3, 0, 7, 1}});
  check_runs_everywhere({{100, 1, 0, 0, 7}});
}

TEST(AppendRuns, CommandsFollowEachOtherInsideWords) {
  check_runs_everywhere(
      {{3, 5, 10, 2, 100}, {1, 1, 4, 1, 0}, {9, 7, 500, -1, 30}, {2, 2, 0, 0, 0}});
}

}  // namespace
}  // namespace superstep::vertex
