#include <gtest/gtest.h>

#include "base/hdf5_file.h"
#include "sim/trace/table_file.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

enum class Colour : std::uint8_t { kRed, kBlue };
constexpr std::string_view kColours[] = {"red", "blue"};

struct Counts {
  Cycles waited;
};
struct StopRow : Counts {
  TileId tile{};
  std::optional<std::uint32_t> step = {};
  Colour colour = Colour::kRed;
  std::string reason;
  SourceLocation source = {};
  std::uint64_t retries = 7;
};

constexpr auto kStops = fixed_table<StopRow>(
    "/stop", "stop", TraceLevel::kSummary,
    Column{"stop", RowNumber<std::uint32_t>{}, "1", "Number of the stop."},
    Column{"waited", &StopRow::waited, "cycle", "How long."},
    Column{"tile", &StopRow::tile, "1", "Which tile."},
    Column{"step", &StopRow::step, "1", "Or -1."},
    Column{"colour", &StopRow::colour, "1", "0 red, 1 blue.", kColours},
    Column{"reason", &StopRow::reason, "", "Why."},
    Column{"line", member(&StopRow::source, &SourceLocation::line), "1", "Where."},
    Column{"twice", [](const StopRow& s) { return 2 * s.waited.value(); }, "cycle", "Twice that."});

/// The same with one more row.
constexpr auto kLaterStops = kStops.columns([](const auto&... columns) {
  return fixed_table<StopRow>("/stop", "stop", TraceLevel::kSummary, columns...,
                              Column{"retries", &StopRow::retries, "1", "How often."}.since(9));
});

constexpr auto kGrowing =
    growing_table<StopRow>("/grows", "stop", TraceLevel::kSummary,
                           Column{"stop", RowNumber<std::uint64_t>{}, "1", "Number of the stop."},
                           Column{"waited", &StopRow::waited, "cycle", "How long."},
                           Column{"reason", &StopRow::reason, "", "Why."});

constexpr auto kTilesOfStop =
    growing_table<StopRow>("/grows", "profile tile", TraceLevel::kTile,
                           Column{"waits", &StopRow::waited, "cycle", "How long each tile waits."});

const std::vector<StopRow> kThree = {
    {{5_cycles}, TileId{3}, 4, Colour::kBlue, "a", {"f", 9, 1}, 1},
    {{6_cycles}, TileId{1}, {}, Colour::kRed, "", {"", 0, 0}, 2},
    {{7_cycles}, TileId{2}, 0, Colour::kRed, "long", {"g", 2, 1}, 3}};

Hdf5File created(const char* name) {
  Hdf5File file = Hdf5File::create(scratch_folder() / name);
  file.make_group("/stop");
  file.make_group("/grows");
  return file;
}

Hdf5File reopened(Hdf5File& file, const char* name) {
  file.close();
  return Hdf5File::open(scratch_folder() / name, Hdf5File::Access::kRead);
}

TEST(TraceTable, AColumnIsWrittenTypedDescribedAndReadBackByItsRowAlone) {
  Hdf5File out = created("table.h5");
  write_table(out, kLaterStops, kThree);
  const Hdf5File file = reopened(out, "table.h5");
  EXPECT_EQ(file.read_all<std::uint64_t>("/stop/retries", Hdf5Type::kU64),
            (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(file.type("/stop/retries"), Hdf5Type::kU64);
  EXPECT_EQ(std::get<std::string>(*file.attribute("/stop/retries", "long_name")), "How often.");
  EXPECT_EQ(std::get<std::string>(*file.attribute("/stop/retries", "axes")), "stop");
  const std::vector<StopRow> stops = read_table(file, kLaterStops);
  ASSERT_EQ(stops.size(), 3u);
  for (std::size_t s = 0; s < stops.size(); ++s) {
    EXPECT_EQ(stops[s].waited, kThree[s].waited);
    EXPECT_EQ(stops[s].tile, kThree[s].tile);
    EXPECT_EQ(stops[s].step, kThree[s].step);
    EXPECT_EQ(stops[s].colour, kThree[s].colour);
    EXPECT_EQ(stops[s].reason, kThree[s].reason);
    EXPECT_EQ(stops[s].source.line, kThree[s].source.line);
    EXPECT_EQ(stops[s].retries, kThree[s].retries);
  }
  EXPECT_EQ(file.read_all<std::uint64_t>("/stop/twice", Hdf5Type::kU64),
            (std::vector<std::uint64_t>{10, 12, 14}));
  EXPECT_EQ(file.read_all<std::int32_t>("/stop/step", Hdf5Type::kI32),
            (std::vector<std::int32_t>{4, -1, 0}));
}

TEST(TraceTable, AColumnThatTheFormatGotLaterMayBeMissingAndNoOther) {
  Hdf5File out = created("older.h5");
  write_table(out, kStops, kThree);
  const Hdf5File older = reopened(out, "older.h5");
  const std::vector<StopRow> stops = read_table(older, kLaterStops);
  ASSERT_EQ(stops.size(), 3u);
  EXPECT_EQ(stops[2].waited, 7_cycles);
  EXPECT_EQ(stops[2].retries, StopRow{}.retries);

  Hdf5File cut = created("cut.h5");
  kStops.for_each_column([&](const auto& column) {
    if (column.name == "reason") write_text(cut, erased(kStops, column), {"a"});
    if (column.name == "stop") make_dataset(cut, erased(kStops, column), {1});
  });
  const Hdf5File damaged = reopened(cut, "cut.h5");
  EXPECT_THROW((void)read_table(damaged, kStops), std::runtime_error);
}

TEST(TraceTable, ColumnsOfUnequalLengthAreRefused) {
  Hdf5File out = created("unequal.h5");
  constexpr auto kPart =
      fixed_table<StopRow>("/stop", "stop", TraceLevel::kSummary,
                           Column{"stop", RowNumber<std::uint32_t>{}, "1", "Number of the stop."});
  constexpr auto kOther =
      fixed_table<StopRow>("/stop", "stop", TraceLevel::kSummary,
                           Column{"waited", &StopRow::waited, "cycle", "How long."});
  constexpr auto kBoth =
      fixed_table<StopRow>("/stop", "stop", TraceLevel::kSummary,
                           Column{"stop", RowNumber<std::uint32_t>{}, "1", "Number of the stop."},
                           Column{"waited", &StopRow::waited, "cycle", "How long."});
  write_table(out, kPart, kThree);
  write_table(out, kOther, {kThree[0]});
  const Hdf5File file = reopened(out, "unequal.h5");
  try {
    (void)read_table(file, kBoth);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the columns of /stop differ in length");
  }
}

TEST(TraceTable, RowsThatAreAddedNowAndThenFollowOneAnother) {
  Hdf5File out = created("grows.h5");
  kGrowing.for_each_column(
      [&](const auto& column) { make_dataset(out, erased(kGrowing, column), {0}); });
  make_dataset(out, erased(kTilesOfStop, kTilesOfStop.first_column()), {0, 3});
  GrowingTable<kGrowing> table;
  GrowingTable<kTilesOfStop> tiles;
  table.add(kThree[0]);
  table.flush(out);
  table.add(kThree[1]);
  table.add({{8_cycles}, {}, {}, {}, std::string(kTextBytes + 5, 'x')});
  table.flush(out);
  table.flush(out);
  for (int row = 0; row < 2; ++row) {
    for (const StopRow& stop : kThree) tiles.add(stop);
  }
  tiles.flush(out, 3);
  EXPECT_EQ(table.rows(), 3u);
  const Hdf5File file = reopened(out, "grows.h5");
  EXPECT_EQ(file.read_all<std::uint64_t>("/grows/stop", Hdf5Type::kU64),
            (std::vector<std::uint64_t>{0, 1, 2}));
  const std::vector<StopRow> last = read_rows(file, kGrowing, 1, 2);
  EXPECT_EQ(last[0].waited, 6_cycles);
  EXPECT_EQ(last[1].waited, 8_cycles);
  EXPECT_EQ(last[1].reason, std::string(kTextBytes, 'x'));
  EXPECT_EQ(file.dims("/grows/waits"), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(file.read_all<std::uint64_t>("/grows/waits", Hdf5Type::kU64),
            (std::vector<std::uint64_t>{5, 6, 7, 5, 6, 7}));
}

}  // namespace
}  // namespace superstep
