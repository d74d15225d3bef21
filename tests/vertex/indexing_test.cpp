#include <gtest/gtest.h>

#include <cstring>

#include "compiler/vertex/interpret.h"
#include "compiler/vertex/put.h"
#include "compiler/vertex/select_offsets.h"
#include "compiler/vertex/take.h"
#include "compiler/vertex/turns.h"
#include "tests/vertex/values.h"
#include "tests/vertex/vertex_run.h"

namespace superstep::vertex {
namespace {

HostTensor words_of(const std::vector<std::int32_t>& values) {
  HostTensor tensor(TensorType{DType::kI32, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.set(i, values[i]);
  return tensor;
}

std::vector<std::uint32_t> numbers(const VertexState& state,
                                   const std::vector<std::uint32_t>& addresses) {
  std::vector<std::uint32_t> words;
  for (const StateWord& word : state) {
    words.push_back(word.base == StateWord::Base::kBuffer
                        ? addresses[static_cast<std::size_t>(word.buffer)] + word.value
                        : word.value);
  }
  return words;
}
StateWord at(std::uint32_t buffer) { return StateWord::address(BufferId{buffer}); }

struct TakeCase {
  std::int64_t groups, count, positions, position_words, run_words;
  std::int64_t first = 0;
  bool has_part = false;
};

std::uint64_t check_take(const TakeCase& c, std::uint32_t unit, std::uint32_t workers) {
  VertexRun tile(workers);
  if (c.has_part) tile.let_data_decide();
  const std::int64_t words = c.positions * c.position_words;
  const HostTensor table = sample({DType::kU32, {c.groups * words}}, 1);
  const HostTensor to = sample({DType::kU32, {c.groups * c.count * c.run_words}}, 2);
  const std::int64_t windows = c.positions - (c.run_words - 1) / c.position_words;
  std::vector<std::int32_t> offsets;
  for (std::int64_t i = 0; i < c.groups * c.count; ++i) {
    const std::int64_t all = c.has_part ? 3 * c.positions : windows;
    offsets.push_back(static_cast<std::int32_t>(i * 7919 % all));
  }
  const std::vector<std::uint32_t> addresses{tile.put(to), tile.put(table),
                                             tile.put(words_of(offsets))};
  const Take::State state{.to = at(0),
                          .table = at(1),
                          .offsets = at(2),
                          .groups = c.groups,
                          .offsets_a_group = c.count,
                          .group_bytes = 4 * words,
                          .position_bytes = 4 * c.position_words,
                          .run_bytes = 4 * c.run_words,
                          .first = c.first,
                          .positions = c.positions};
  const std::uint64_t cycles =
      tile.run(Take{unit, c.has_part}.code(tile.machine()), numbers(state.words(), addresses));
  const HostTensor got = tile.get(addresses[0], to.type);
  for (std::int64_t i = 0; i < c.groups * c.count; ++i) {
    const std::int64_t position = offsets[static_cast<std::size_t>(i)] - c.first;
    const bool is_there = position >= 0 && position < c.positions;
    for (std::int64_t w = 0; w < c.run_words; ++w) {
      const std::int64_t from = i / c.count * words + position * c.position_words + w;
      const std::uint32_t expected =
          is_there ? table.get<std::uint32_t>(static_cast<std::size_t>(from)) : 0;
      EXPECT_EQ(got.get<std::uint32_t>(static_cast<std::size_t>(i * c.run_words + w)), expected)
          << "window " << i << ", word " << w;
    }
  }
  return cycles;
}

TEST(Take, CopiesRunsFromWhereOffsetsSay) {
  for (const std::uint32_t workers : {1U, 4U, 6U}) {
    for (const std::int64_t count : {1, 2, 5, 6, 7, 40}) {
      check_take({1, count, 30, 1, 1}, 4, workers);
      check_take({1, count, 30, 3, 3}, 4, workers);
      check_take({3, count, 30, 2, 6}, 4, workers);
      check_take({1, count, 30, 2, 2}, 8, workers);
      check_take({4, count, 30, 4, 12}, 8, workers);
      check_take({2, count, 9, 64, 64}, 8, workers);
    }
  }
}

TEST(Take, GivesZerosForPositionsThatAPartHasNot) {
  for (const std::uint32_t workers : {1U, 6U}) {
    check_take({1, 50, 20, 1, 1, 25, true}, 4, workers);
    check_take({1, 50, 20, 3, 3, 0, true}, 4, workers);
    check_take({1, 50, 20, 2, 2, 30, true}, 8, workers);
    check_take({1, 3, 20, 6, 6, 11, true}, 8, workers);
  }
}

// 137 offsets for a worker, three slots each.
TEST(Take, TakesThreeSlotsForAWord) {
  EXPECT_LT(check_take({1, 819, 4000, 1, 1}, 4, 6), 6 * (137 * 3 + 30));
}

struct PutCase {
  std::int64_t groups, count, positions, position_elements, run_elements;
  Put::Sharing sharing = Put::Sharing::kNone;
  std::int64_t first = 0;
  bool is_listed = false;
};

/// What `SelectOffsets` leaves at an address.
HostTensor listed(const std::vector<std::int32_t>& offsets, const PutCase& c, std::uint32_t address,
                  std::uint32_t workers) {
  const std::int64_t words = SelectOffsets::list_words(c.count, workers);
  HostTensor lists(TensorType{DType::kU32, {words * workers}});
  for (std::uint32_t w = 0; w < workers; ++w) {
    const Turns turns = turns_of(static_cast<std::uint64_t>(c.count), workers, w);
    const auto head = static_cast<std::size_t>(words) * w;
    std::size_t end = head + 1;
    for (std::uint64_t n = turns.first; n < turns.first + turns.count; ++n) {
      const std::int64_t position = offsets[n] - c.first;
      if (position < 0 || position >= c.positions) continue;
      lists.set(end++, static_cast<std::uint32_t>(n));
    }
    lists.set(head, address + 4 * static_cast<std::uint32_t>(end));
  }
  return lists;
}

/// Gives the cycles.
std::uint64_t check_put(const PutCase& c, Put put, std::uint32_t workers) {
  SCOPED_TRACE(name_of(put.dtypes[0]));
  VertexRun tile(workers);
  tile.let_data_decide();
  const DType dtype = put.dtypes[0];
  const std::int64_t part = c.positions * c.position_elements;
  const HostTensor table = sample({dtype, {c.groups * part}}, 1);
  const HostTensor runs = sample({dtype, {c.groups * c.count * c.run_elements}}, 2);
  std::vector<std::int32_t> offsets;
  for (std::int64_t i = 0; i < c.groups * c.count; ++i) {
    const bool is_unique = c.sharing == Put::Sharing::kOffsets;
    const std::int64_t all =
        c.is_listed ? 3 * c.positions : c.positions - c.run_elements / c.position_elements + 1;
    offsets.push_back(static_cast<std::int32_t>(is_unique ? i % c.count : i * i * 31 % all));
    if (i % 5 == 3) offsets.back() = -1;
  }
  const std::int64_t list_words = SelectOffsets::list_words(c.count, workers);
  const HostTensor lists = sample({DType::kU32, {list_words * workers}}, 3);
  const std::vector<std::uint32_t> addresses{tile.put(table), tile.put(runs),
                                             tile.put(words_of(offsets)), tile.put(lists)};
  if (c.is_listed) {
    put.lists = workers;
    tile.set(addresses[3], listed(offsets, c, addresses[3], workers));
  }
  const Put::State state{.offsets = at(2),
                         .lists = at(3),
                         .groups = c.groups,
                         .offsets_a_group = c.count,
                         .first = c.first,
                         .positions = c.positions,
                         .position_elements = c.position_elements,
                         .run_elements = c.run_elements,
                         .sharing = c.sharing,
                         .values = {{at(0), at(1)}}};
  const std::uint64_t cycles =
      tile.run(put.code(tile.machine()), numbers(state.words(), addresses));
  const HostTensor got = tile.get(addresses[0], table.type);

  std::vector<HostTensor> expected;
  const std::size_t bytes = size_of(dtype);
  const auto scalar = [&](const HostTensor& from, std::int64_t i) {
    HostTensor element(TensorType{dtype, {}});
    std::memcpy(element.data.data(), from.data.data() + static_cast<std::size_t>(i) * bytes, bytes);
    return element;
  };
  for (std::int64_t i = 0; i < c.groups * part; ++i) expected.push_back(scalar(table, i));
  for (std::int64_t i = 0; i < c.groups * c.count; ++i) {
    const std::int64_t position = offsets[static_cast<std::size_t>(i)] - c.first;
    if (position < 0 || position >= c.positions) continue;
    for (std::int64_t e = 0; e < c.run_elements; ++e) {
      const std::int64_t to = i / c.count * part + position * c.position_elements + e;
      HostTensor& element = expected[static_cast<std::size_t>(to)];
      element = evaluate_expression(put.expression, put.outputs[0],
                                    std::vector{element, scalar(runs, i * c.run_elements + e)});
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (hex(got, i) == hex(expected[i], 0)) continue;
    ADD_FAILURE() << "element " << i << ": " << hex(got, i) << ", not " << hex(expected[i], 0);
    break;
  }
  return cycles;
}

Put replacing(DType dtype, std::uint32_t unit) {
  Put put;
  put.expression.input(0, dtype);
  put.outputs = {put.expression.input(1, dtype)};
  put.dtypes = {dtype};
  put.unit_bytes = unit;
  return put;
}

Put combining(Primitive primitive, DType dtype) {
  Put put;
  const Node a = put.expression.input(0, dtype);
  put.outputs = {put.expression.apply(primitive, {a, put.expression.input(1, dtype)})};
  put.dtypes = {dtype};
  return put;
}

TEST(Put, ReplacesRunsInAscendingOrder) {
  for (const std::uint32_t workers : {1U, 6U}) {
    check_put({1, 40, 30, 1, 1}, replacing(DType::kI32, 4), workers);
    check_put({1, 40, 30, 1, 1, Put::Sharing::kPositions}, replacing(DType::kI32, 4), workers);
    check_put({2, 9, 30, 4, 12}, replacing(DType::kF16, 8), workers);
    check_put({1, 20, 30, 4, 4, Put::Sharing::kOffsets}, replacing(DType::kI8, 4), workers);
    check_put({1, 1, 9, 64, 128}, replacing(DType::kF32, 8), workers);
  }
}

TEST(Put, CombinesElementsOfEveryWidth) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI16, DType::kU8, DType::kI32}) {
    check_put({1, 40, 30, 4, 4}, combining(Primitive::kAdd, dtype), 6);
    check_put({3, 8, 10, 8, 16}, combining(Primitive::kAdd, dtype), 6);
    check_put({1, 40, 10, 4, 4, Put::Sharing::kPositions}, combining(Primitive::kMax, dtype), 6);
  }
}

TEST(Put, CombinesPairsOfRegisters) {
  for (const Primitive primitive : {Primitive::kAdd, Primitive::kMul, Primitive::kMax}) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32}) {
      Put put = combining(primitive, dtype);
      put.unit_bytes = 8;
      check_put({1, 40, 10, 8, 8}, put, 6);
      check_put({1, 40, 10, 4, 4, Put::Sharing::kPositions}, put, 6);
      check_put({2, 9, 30, 4, 12}, put, 6);
      check_put({1, 100, 20, 4, 4, Put::Sharing::kPositions, 17, true}, put, 6);
    }
  }
}

TEST(Put, SharesGroupsWhereThereAreManyOfThem) {
  for (const std::int64_t groups : {2, 4, 6, 13}) {
    for (const auto sharing : {Put::Sharing::kNone, Put::Sharing::kPositions}) {
      check_put({groups, 9, 7, 1, 1, sharing}, combining(Primitive::kAdd, DType::kI32), 6);
      check_put({groups, 9, 7, 2, 2, sharing}, combining(Primitive::kSub, DType::kF32), 6);
    }
    check_put({groups, 5, 7, 1, 1, Put::Sharing::kOffsets}, replacing(DType::kI32, 4), 6);
    check_put({groups, 5, 9, 1, 3}, replacing(DType::kF32, 4), 6);
  }
}

// Each of six workers has one position of six, which at most a third of the offsets name.
TEST(Put, TakesSixSlotsForAnOffsetOfAnotherWorker) {
  const PutCase c{1, 500, 6, 1, 1, Put::Sharing::kPositions};
  EXPECT_LT(check_put(c, combining(Primitive::kAdd, DType::kF32), 6),
            6 * (500 * (6 + 13 / 3) + 30));
  EXPECT_LT(check_put(c, combining(Primitive::kAdd, DType::kI32), 6),
            6 * (500 * (6 + 16 / 3) + 30));
}

TEST(Put, UsesTheOffsetsThatAreListedOfAPart) {
  for (const std::int64_t count : {1, 7, 24, 100, 601}) {
    check_put({1, count, 20, 2, 2, Put::Sharing::kPositions, 17, true},
              combining(Primitive::kAdd, DType::kF16), 6);
    check_put({1, count, 20, 2, 2, Put::Sharing::kNone, 30, true}, replacing(DType::kF32, 8), 6);
  }
}

TEST(SelectOffsets, ListsWhatNamesAPositionOfAPart) {
  constexpr std::uint32_t kWorkers = 6;
  for (const std::int64_t count : {1, 6, 23, 24, 601}) {
    const PutCase c{1, count, 20, 1, 1, Put::Sharing::kPositions, 17, true};
    VertexRun tile(kWorkers);
    tile.let_data_decide();
    std::vector<std::int32_t> offsets;
    for (std::int64_t i = 0; i < count; ++i) {
      offsets.push_back(i % 5 == 3 ? -1 : static_cast<std::int32_t>(i * 31 % 60));
    }
    const std::int64_t words = SelectOffsets::list_words(count, kWorkers);
    const HostTensor empty(TensorType{DType::kU32, {words * kWorkers}});
    const std::vector<std::uint32_t> addresses{tile.put(empty), tile.put(words_of(offsets))};
    const SelectOffsets::State state{.lists = at(0),
                                     .offsets = at(1),
                                     .count = count,
                                     .first = c.first,
                                     .positions = c.positions};
    tile.run(SelectOffsets{kWorkers}.code(tile.machine()), numbers(state.words(), addresses));
    const HostTensor got = tile.get(addresses[0], empty.type);
    const HostTensor expected = listed(offsets, c, addresses[0], kWorkers);
    EXPECT_EQ(got.data, expected.data) << count << " offsets";
  }
}

}  // namespace
}  // namespace superstep::vertex
