// The laws of latencies and release skews beside the formula that they were fitted to, for all
// pairs of tiles of row 0: the residuals of docs/validation.md.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "isa/timing.h"
#include "tests/calibration/point.h"

namespace superstep {
namespace {

/// A tile of row 0 as osmarks/ipu-stack counts them: four lanes a column, columns from 8 on east.
struct Row0Tile {
  int column, lane;

  [[nodiscard]] bool east() const { return column >= 8; }
  [[nodiscard]] int from_edge() const { return east() ? 15 - column : column; }
  /// Whether the lane is one of the other side's.
  [[nodiscard]] int crosses() const { return static_cast<int>(east() != (lane % 2 == 1)); }
};

/// Signed way along the row, in the formula's cycles.
int displacement(Row0Tile from, Row0Tile to) {
  const std::array<int, 4> entry = {1, 5, 2, 4};  // near lanes, then far ones
  return 6 * (to.from_edge() - from.from_edge() - from.crosses()) +
         entry.at(static_cast<std::size_t>(2 * (to.lane / 2) + to.crosses()));
}

/// Half a round trip: what crates/ipu-target/src/topology.rs (time_to_mux) gives for the two ways,
/// added up and halved, and the 59 cycles from a mux's event to its data.
double half_round_trip(Row0Tile a, Row0Tile b) {
  const double ways = (std::abs(displacement(a, b)) + std::abs(displacement(b, a))) / 2.0;
  return a.east() == b.east() ? 29 + ways : 44 - a.column % 8 - b.column % 8 + ways;
}

/// By how much a leaves the barrier later than b: half the difference of the two ways.
double skew_between(Row0Tile a, Row0Tile b) {
  const auto one_way = [](Row0Tile from, Row0Tile to) {
    const int turn = from.east() == to.east() ? from.column % 8 + 1 : 16 - from.column % 8;
    return 8 * static_cast<int>(from.east()) + 3 - to.column + turn +
           4 * (from.from_edge() - to.from_edge()) + std::abs(displacement(from, to));
  };
  return (one_way(a, b) - one_way(b, a)) / 2.0;
}

struct Residuals {
  int number = 0;
  double least = 0, most = 0, squares = 0, worst_relative = 0, relative_squares = 0;

  void add(double ours, double source) {
    const double off = ours - source;
    number += 1;
    least = std::min(least, off);
    most = std::max(most, off);
    squares += off * off;
    if (source == 0) return;
    worst_relative = std::max(worst_relative, std::abs(off / source));
    relative_squares += off * off / (source * source);
  }
  [[nodiscard]] std::string cells() const {
    const std::string thousands = fmt::format("{},{:03}", number / 1000, number % 1000);
    return fmt::format("| {} | {:+} | {:+} | {:.1f} | {:.0f} % | {:.0f} % |", thousands, least,
                       most, std::sqrt(squares / number), 100 * worst_relative,
                       100 * std::sqrt(relative_squares / number));
  }
};

class LatencyLaw : public ::testing::Test {
 protected:
  LatencyLaw() {
    for (std::uint32_t t = 0; t < machine_.tiles(); ++t) {
      const TilePlace place = place_of(machine_, TileId{t});
      if (place.row == 0) tiles_.at(4 * place.column + place.lane) = TileId{t};
    }
  }
  template <class Visit>
  void for_each_pair(Visit visit) const {
    for (int a = 0; a < 64; ++a) {
      for (int b = 0; b < 64; ++b) {
        if (a != b) visit(Row0Tile{a / 4, a % 4}, Row0Tile{b / 4, b % 4});
      }
    }
  }
  [[nodiscard]] TileId tile(Row0Tile of) const {
    return tiles_.at(static_cast<std::size_t>(4 * of.column + of.lane));
  }

  MachineConfig machine_ = load_machine("c600");
  std::array<TileId, 64> tiles_{};
};

TEST_F(LatencyLaw, MissesItsSourceByTheResidualsOfThePage) {
  Residuals one_side, across, all;
  for_each_pair([&](Row0Tile a, Row0Tile b) {
    const auto ours = static_cast<double>(exchange_latency(machine_, tile(a), tile(b)).value());
    const double source = half_round_trip(a, b);
    (a.east() == b.east() ? one_side : across).add(ours, source);
    all.add(ours, source);
  });
  test::expect_line("| on one side of the spine " + one_side.cells());
  test::expect_line("| across it " + across.cells());
  test::expect_line("| all " + all.cells());
}

TEST_F(LatencyLaw, SkewsMissTheSameSourceByTheResidualsOfThePage) {
  Residuals all;
  for_each_pair([&](Row0Tile a, Row0Tile b) {
    const auto& skew = machine_.sync.column_skew;
    const auto of = [&](Row0Tile tile) {
      return static_cast<double>(skew.at(static_cast<std::size_t>(tile.column)));
    };
    all.add(of(a) - of(b), skew_between(a, b));
  });
  EXPECT_EQ(all.least, -all.most);
  test::expect_line(
      fmt::format("Differences of release skews between two tiles miss the same formula by up to "
                  "{} cycles (root mean square {:.1f})",
                  all.most, std::sqrt(all.squares / all.number)));
}

}  // namespace
}  // namespace superstep
