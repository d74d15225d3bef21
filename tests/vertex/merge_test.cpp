#include "compiler/vertex/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tests/vertex/vertex_run.h"

namespace superstep::vertex {
namespace {

using Key = std::vector<std::int32_t>;
using Row = std::vector<Key>;

HostTensor words_of(const std::vector<Row>& rows) {
  std::vector<std::int32_t> words;
  for (const Row& row : rows) {
    for (const Key& key : row) words.insert(words.end(), key.begin(), key.end());
  }
  HostTensor tensor(TensorType{DType::kI32, {static_cast<std::int64_t>(words.size())}});
  for (std::size_t i = 0; i < words.size(); ++i) tensor.set(i, words[i]);
  return tensor;
}

struct MergeCase {
  std::uint32_t key_words, workers;
  std::int64_t rows, length, first, count;
  bool descends = false, alternates = false;
  std::int32_t most = 1000;  ///< of a word
};

/// Cycles of a merge, the keys of which are compared with sorted rows.
std::uint64_t check_merge(const MergeCase& c) {
  std::mt19937 random(5);
  std::uniform_int_distribution<std::int32_t> word(-c.most, c.most);
  std::vector<Row> rows(static_cast<std::size_t>(c.rows)), expected;
  for (Row& row : rows) {
    row.assign(static_cast<std::size_t>(c.length), Key(c.key_words));
    for (Key& key : row) std::ranges::generate(key, [&] { return word(random); });
    Row all = row;
    std::ranges::sort(all);
    if (c.descends != (c.alternates && expected.size() % 2 == 1)) std::ranges::reverse(all);
    expected.push_back(std::move(all));
    const auto middle = row.begin() + c.length / 2;
    std::sort(row.begin(), middle);
    std::sort(middle, row.end(), std::greater<>());
  }
  VertexRun tile(c.workers);
  const std::uint32_t from = tile.put(words_of(rows));
  const TensorType made{DType::kI32, {c.count * c.key_words}};
  const std::uint32_t to = tile.put(HostTensor(made));
  const std::uint64_t cycles =
      tile.run(Merge{c.key_words}.code(tile.machine()),
               {from, static_cast<std::uint32_t>(c.length), to, static_cast<std::uint32_t>(c.first),
                static_cast<std::uint32_t>(c.count), c.descends ? 1U : 0U, c.alternates ? 1U : 0U});
  const HostTensor got = tile.get(to, made), all = words_of(expected);
  for (std::int64_t i = 0; i < c.count * c.key_words; ++i) {
    EXPECT_EQ(got.get<std::int32_t>(static_cast<std::size_t>(i)),
              all.get<std::int32_t>(static_cast<std::size_t>(c.first * c.key_words + i)))
        << "word " << i;
  }
  return cycles;
}

TEST(Merge, PutsTheKeysOfBothHalvesInOrder) {
  for (const std::uint32_t words : {1U, 2U}) {
    for (const std::uint32_t workers : {1U, 4U, 6U}) {
      for (const std::int64_t length : {2, 4, 6, 10, 64, 250}) {
        check_merge({words, workers, 1, length, 0, length});
        check_merge({words, workers, 1, length, 0, length, true});
        check_merge({words, workers, 5, length, 0, 5 * length, false, true});
        check_merge({words, workers, 4, length, 0, 4 * length, true, true});
      }
    }
  }
}

TEST(Merge, MakesAnyPartOfARow) {
  for (const std::uint32_t words : {1U, 2U}) {
    for (const bool descends : {false, true}) {
      for (std::int64_t first = 0; first < 24; ++first) {
        for (const std::int64_t count : {std::int64_t{1}, std::int64_t{7}, 24 - first}) {
          if (first + count <= 24) check_merge({words, 6, 1, 24, first, count, descends});
        }
      }
    }
  }
}

// Where many keys are equal any of them will do, but none may come twice.
TEST(Merge, TakesEachOfEqualKeysOnce) {
  for (const std::uint32_t words : {1U, 2U}) {
    for (const std::int32_t most : {0, 1, 3}) {
      check_merge({words, 6, 3, 40, 0, 120, false, true, most});
    }
  }
}

// 1,000 keys for a worker, six slots each.
TEST(Merge, TakesSixSlotsForAWord) {
  EXPECT_LT(check_merge({1, 6, 1, 6000, 0, 6000}), 6 * (1000 * 6 + 200));
}

}  // namespace
}  // namespace superstep::vertex
