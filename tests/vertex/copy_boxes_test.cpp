#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/copy_plan.h"
#include "compiler/vertex/timing_analysis.h"
#include "tests/gc200.h"
#include "tests/vertex/vertex_run.h"
#include "tests/vertex/values.h"

namespace superstep::vertex {
namespace {

struct Box {
  std::int32_t to, from, sizes[3], to_strides[3],
      from_strides[3];  ///< in elements, from the start of the tensors
};

std::vector<std::uint64_t> slots_of(const std::vector<WorkerTiming>& workers) {
  std::vector<std::uint64_t> slots;
  for (const WorkerTiming& worker : workers) slots.push_back(worker.slots);
  return slots;
}

void check_boxes(const std::vector<Box>& boxes, std::uint32_t bytes, std::uint32_t workers,
                 std::int64_t elements = 800) {
  SCOPED_TRACE(fmt::format("{} bytes, {} workers", bytes, workers));
  const DType dtype = bytes == 1 ? DType::kU8 : bytes == 2 ? DType::kU16 : DType::kU32;
  VertexRun tile(workers);
  HostTensor from = sample({dtype, {elements}}, 1), to = sample({dtype, {elements}}, 2);
  const std::uint32_t from_address = tile.put(from), to_address = tile.put(to);
  std::vector<std::uint32_t> table;
  const auto scaled = [&](std::int32_t n) { return static_cast<std::uint32_t>(n) * bytes; };
  for (const Box& b : boxes) {
    table.insert(table.end(), {to_address + scaled(b.to), from_address + scaled(b.from)});
    for (const std::int32_t n : b.sizes) table.push_back(static_cast<std::uint32_t>(n));
    for (const std::int32_t n : b.to_strides) table.push_back(scaled(n));
    for (const std::int32_t n : b.from_strides) table.push_back(scaled(n));
    table.push_back(0);
    for (std::int32_t i = 0; i < b.sizes[0]; ++i) {
      for (std::int32_t j = 0; j < b.sizes[1]; ++j) {
        for (std::int32_t k = 0; k < b.sizes[2]; ++k) {
          const std::int32_t t =
              b.to + i * b.to_strides[0] + j * b.to_strides[1] + k * b.to_strides[2];
          const std::int32_t f =
              b.from + i * b.from_strides[0] + j * b.from_strides[1] + k * b.from_strides[2];
          std::memcpy(to.data.data() + static_cast<std::uint32_t>(t) * bytes,
                      from.data.data() + static_cast<std::uint32_t>(f) * bytes, bytes);
        }
      }
    }
  }
  std::vector<std::uint32_t> state = {static_cast<std::uint32_t>(boxes.size()),
                                      VertexRun::kState + 8};
  state.insert(state.end(), table.begin(), table.end());
  tile.run(copy_boxes(tile.machine(), bytes), state);
  // What the division among workers weighs is what the code takes.
  EXPECT_EQ(slots_of(TimingAnalysis(tile.machine(), copy_boxes(tile.machine(), bytes))
                         .launch(state, VertexRun::kState, 0)),
            plan_copies(table, bytes, workers).slots);
  const HostTensor got = tile.get(to_address, to.type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i)
    ASSERT_EQ(hex(got, i), hex(to, i)) << "element " << i;
}

void check_boxes_everywhere(const std::vector<Box>& boxes) {
  for (const std::uint32_t bytes : {1U, 2U, 4U}) {
    for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) check_boxes(boxes, bytes, workers);
  }
}

TEST(CopyBoxes, NoBoxAndEmptyBoxesMoveNothing) {
  check_boxes_everywhere({});
  check_boxes_everywhere(
      {{0, 0, {0, 4, 4}, {16, 4, 1}, {16, 4, 1}}, {0, 0, {4, 4, 0}, {16, 4, 1}, {16, 4, 1}}});
}

TEST(CopyBoxes, DenseRowsOfAnyLengthAndAlignment) {
  for (const std::int32_t n : {1, 2, 3, 4, 5, 8, 13, 300}) {
    for (const std::int32_t to : {0, 1, 3, 6}) {
      for (const std::int32_t from : {0, 1, 5})
        check_boxes_everywhere({{to, from, {1, 1, n}, {0, 0, 1}, {0, 0, 1}}});
    }
  }
}

TEST(CopyBoxes, TransposesAndReverses) {
  check_boxes_everywhere({{0, 0, {1, 20, 30}, {0, 30, 1}, {0, 1, 20}}});
  check_boxes_everywhere({{0, 0, {1, 20, 30}, {0, 1, 20}, {0, 30, 1}}});
  check_boxes_everywhere({{0, 699, {1, 1, 700}, {0, 0, 1}, {0, 0, -1}}});
  check_boxes_everywhere({{699, 0, {1, 1, 700}, {0, 0, -1}, {0, 0, 1}}});
  check_boxes_everywhere({{0, 0, {5, 6, 7}, {42, 7, 1}, {1, 5, 30}}});
  check_boxes_everywhere({{0, 0, {5, 6, 7}, {1, 5, 30}, {42, 7, 1}}});
}

TEST(CopyBoxes, BroadcastsAndPads) {
  check_boxes_everywhere({{0, 3, {1, 8, 60}, {0, 60, 1}, {0, 1, 0}}});
  check_boxes_everywhere({{0, 3, {1, 8, 60}, {0, 64, 1}, {0, 0, 1}}});
  check_boxes_everywhere({{5, 0, {4, 5, 3}, {100, 20, 2}, {15, 3, 1}}});
}

TEST(CopyBoxes, SeveralBoxes) {
  std::vector<Box> boxes;
  for (std::int32_t b = 0; b < 20; ++b)
    boxes.push_back({b * 40 + b % 3, 790 - b * 7, {1, 2, 5}, {0, 20, 3}, {0, -3, -1}});
  check_boxes_everywhere(boxes);
}

TEST(CopyBoxes, RandomBoxesWithAnyStrides) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    // Dense in the target in some order of dimensions, with gaps; anything in the source.
    std::int32_t sizes[3], strides[3], order[3] = {0, 1, 2};
    for (std::int32_t& n : sizes)
      n = static_cast<std::int32_t>(random() % 3 == 0 ? 1 : random() % 9 + 1);
    std::shuffle(std::begin(order), std::end(order), random);
    std::int32_t reach = 1;
    for (const std::int32_t d : order) {
      strides[d] = reach + (random() % 3 == 0 ? static_cast<std::int32_t>(random() % 4) : 0);
      if (random() % 4 == 0) strides[d] = (strides[d] + 3) / 4 * 4;
      reach = strides[d] * sizes[d];
    }
    const auto any = [&](std::uint32_t n) { return static_cast<std::int32_t>(random() % n); };
    Box box{any(8),
            400 + any(8),
            {sizes[0], sizes[1], sizes[2]},
            {strides[0], strides[1], strides[2]},
            {any(40) - 20, any(40) - 20, any(3) - 1}};
    if (random() % 3 == 0) std::copy(strides, strides + 3, box.from_strides);
    if (random() % 3 == 0) std::swap(box.from_strides[0], box.from_strides[2]);
    for (const std::uint32_t bytes : {1U, 2U, 4U}) check_boxes({box}, bytes, 1 + seed % 8, 6000);
  }
}

TEST(CopyBoxes, RunsTakeTwoSlotsAPair) {
  const MachineConfig machine = gc200();
  const Codelet code = copy_boxes(machine, 4);
  const auto words = [&](std::uint32_t n, std::uint32_t from_stride) {
    const std::vector<std::uint32_t> state{
        1, VertexRun::kState + 8, 0x80000, 0x81000, 1, 1, n, 0, 0, 4, 0, 0, from_stride, 0};
    return launch_cycles(machine,
                         TimingAnalysis(machine, code).launch(state, VertexRun::kState, 0));
  };
  EXPECT_EQ(words(12 * 110, 4) - words(12 * 10, 4), 100 * 2 * 6);
  EXPECT_EQ(words(12 * 110, 0) - words(12 * 10, 0), 100 * 6);
}

}  // namespace
}  // namespace superstep::vertex
