#include "compiler/program/table_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "isa/machine_config.h"

namespace superstep {
namespace {

std::vector<std::vector<TileId>> tiles(std::int64_t count) {
  std::vector<std::vector<TileId>> tiles;
  for (std::int64_t i = 0; i < count; ++i) tiles.push_back({TileId{static_cast<std::uint32_t>(i)}});
  return tiles;
}

/// Where each row-major element is stored.
std::vector<std::int64_t> places(const Layout& layout, std::int64_t elements) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(elements), -1);
  for (const auto& [interval, box] : layout.parts(elements)) {
    for_each_index(box.axes, box.from, box.to, [&](std::int64_t from, std::int64_t to) {
      places[static_cast<std::size_t>(to)] = from;
    });
  }
  return places;
}

std::int64_t elements_of(const Table& table) {
  return table.batches() * table.positions() * table.width();
}

const Table kTables[] = {
    {{50, 12}, {}, {0}},         {{3, 9, 4, 6}, {}, {1, 3}}, {{5, 9, 4}, {0}, {1}},
    {{4, 3, 7}, {1}, {2}},       {{100}, {}, {0}},           {{6, 10}, {0}, {1}},
    {{2, 3, 4, 5}, {3}, {0, 2}}, {{7, 33}, {}, {}}};

TEST(TableLayout, StoresEachElementOnceAndPositionsTogether) {
  Layouts layouts(load_machine("bow"));
  for (const Table& table : kTables) {
    for (const std::int64_t most : {1 << 20, 64, 4}) {
      const TableCut cut = table_cut(table, 4, 2, 40, most);
      const std::int64_t blocks = cut.blocks(table);
      ASSERT_LE(blocks, 40);
      const LayoutPtr layout = table_layout(layouts, table, cut, tiles(blocks));
      const std::int64_t elements = elements_of(table);
      const std::vector<std::int64_t> found = places(*layout, elements);
      EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
      ASSERT_GE(*std::ranges::min_element(found), 0);
      EXPECT_EQ(cut_in(*layout, table, 4), cut);
      if (cut.positions < table.positions() || table.indexed.empty()) continue;
      // One step along the last indexed dimension is one position of the same block.
      std::int64_t stride = 1;
      for (std::size_t d = table.shape.size();
           d-- > static_cast<std::size_t>(table.indexed.back()) + 1;) {
        stride *= table.shape[d];
      }
      EXPECT_EQ(found[static_cast<std::size_t>(stride)] - found[0], cut.width);
    }
  }
}

TEST(TableLayout, CutsPositionsOnlyWhereAWordOfEachIsTooMuch) {
  const Table table{{30'000, 128}, {}, {0}};
  EXPECT_EQ(table_cut(table, 2, 16, 1472, 1 << 20).positions, 30'000);
  const TableCut cut = table_cut(table, 2, 16, 1472, 80'000);
  EXPECT_LT(cut.positions, 30'000);
  EXPECT_GT(cut.blocks(table), 1000);
}

TEST(TableLayout, IsSeenWhereRowsLieWhole) {
  Layouts layouts(load_machine("bow"));
  std::vector<Interval> rows;
  for (std::uint32_t i = 0; i < 64; ++i) rows.push_back({32 * i, 32, {TileId{i}}});
  const LayoutPtr layout = layouts.with(std::move(rows));
  EXPECT_EQ(cut_in(*layout, {{64, 32}, {}, {0}}, 4), (TableCut{1, 32, 1}));
  EXPECT_EQ(cut_in(*layout, {{64, 32}, {}, {1}}, 4), (TableCut{1, 1, 32}));
}

TEST(TableLayout, IsNotSeenWhereTilesHaveDifferentParts) {
  Layouts layouts(load_machine("bow"));
  const LayoutPtr layout = layouts.with({{0, 1000, {TileId{0}}}, {1000, 1048, {TileId{1}}}});
  EXPECT_EQ(cut_in(*layout, {{64, 32}, {}, {0}}, 4), std::nullopt);
}

TEST(TableLayout, HasNoMoreBlocksThanTilesWhereMemoryIsShort) {
  const Table table{{64, 3, 64, 1, 8}, {2}, {4}};
  for (const std::int64_t most : {1'000, 10'000, 79'872, 1'000'000}) {
    EXPECT_LE(table_cut(table, 4, 1, 4, most).blocks(table), 4) << most;
  }
}

}  // namespace
}  // namespace superstep
