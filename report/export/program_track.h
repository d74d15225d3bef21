#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/export/perfetto_writer.h"
#include "report/export/program_tree.h"
#include "sim/trace/superstep_rows.h"

namespace superstep {

/// The track of what the critical tiles run: calls, loops and their trips, branches and arms,
/// operations, steps, one inside the other. Trips are shown where the trace says them: of loops
/// that exchange.
class ProgramTrack {
 public:
  ProgramTrack(PerfettoWriter& writer, PerfettoWriter::Track track, const ProgramTree& tree)
      : writer_(writer), track_(track), tree_(tree) {}

  /// Adds a superstep behind those before it.
  void add(const SuperstepInFile& superstep);
  /// Ends what is open.
  void finish(std::uint64_t at);

 private:
  /// A slice around others, by its kind and number.
  struct Level {
    enum class Kind : std::uint8_t { kCall, kControl, kTrip, kOperation } kind;
    std::uint64_t number;
    bool operator==(const Level&) const = default;
  };
  /// A step for some cycles.
  struct Leaf {
    std::uint32_t step;
    std::uint64_t at, cycles;
    std::optional<std::uint64_t> runs = {};
  };

  void add_leaf(const SuperstepRow& row, const Leaf& leaf);
  /// Brings what is known of trips up to the exchange of a superstep, by the trip of its loop.
  void begin_superstep(std::uint32_t step, std::uint64_t trip, std::uint64_t at);
  /// The same for a step behind another one: behind a later step it is of the next trip.
  void go_to(std::uint32_t step);
  [[nodiscard]] std::vector<Level> path_to(const SuperstepRow& row, std::uint32_t step) const;
  void open(const Level& level, std::uint32_t step, std::uint64_t at);
  void close(std::size_t depth, std::uint64_t at);
  [[nodiscard]] std::optional<std::uint32_t> common_loop(std::uint32_t a, std::uint32_t b) const;

  PerfettoWriter& writer_;
  PerfettoWriter::Track track_;
  const ProgramTree& tree_;
  std::vector<Level> open_;
  std::map<std::uint32_t, std::uint64_t> trips_;  ///< of loops that are open, as far as known
  std::optional<std::uint32_t> before_;           ///< the step
};

}  // namespace superstep
