#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/exchange/phase.h"

namespace superstep {

/// Resolved phases by what the ports were told, in cycles from a common begin, that take no more
/// than `most_bytes`. Who stays is decided by inter-reference recency, as by LIRS (Jiang and Zhang,
/// 2002): where it is full, the least recently used goes only for one that was missed before, and
/// since that was used. So of a cycle of phases that is longer than the cache a share stays, where
/// each would have gone before it comes again; and phases that come no more make room in the second
/// turn of others. What is done for each port is done on the threads of TBB.
class PhaseCache {
 public:
  explicit PhaseCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The phase of ports that were told the same before, in any cycles as far apart, or null. Rows
  /// of a tile are the same when their ids are.
  [[nodiscard]] const ResolvedPhase* find(std::span<const FabricPort> ports);
  /// The cycle that the others of the phase that `find` looked for last count from.
  [[nodiscard]] std::uint64_t begin() const { return begin_; }

  /// Keeps the phase that `find` just did not find where there is room for it, unless most of it is
  /// events of no row: then its code runs for the first time.
  void keep(const ResolvedPhase& phase);

  [[nodiscard]] std::size_t size() const { return phases_.size(); }

 private:
  struct Key {
    struct Port {
      TileId tile{};
      std::size_t rows_end = 0, events_end = 0;  ///< past the last of its own
      bool operator==(const Port&) const = default;
    };
    struct Row {
      std::uint64_t id = 0;
      std::uint64_t cycle = 0;
      std::size_t events_before = 0;
      bool operator==(const Row&) const = default;
    };
    std::vector<Port> ports;
    std::vector<Row> rows;          ///< by port
    std::vector<PortEvent> events;  ///< of no row, by port
    bool operator==(const Key&) const = default;
  };
  struct Kept {
    Key key;
    std::uint64_t hash = 0;
    std::uint64_t last_use = 0;
    std::size_t bytes = 0;
    ResolvedPhase phase;
  };

  /// What one port was told.
  struct Told {
    std::uint64_t begin = 0;
    std::uint64_t hash = 0;  ///< in cycles from `begin`
    std::size_t events = 0;  ///< of no row
    bool is_empty = true;
  };

  [[nodiscard]] static Told told(const FabricPort& port);
  void sum_up(std::span<const FabricPort> ports);
  [[nodiscard]] bool is_told(const Key& key, std::span<const FabricPort> ports,
                             std::size_t port) const;
  [[nodiscard]] bool is_told(const Key& key, std::span<const FabricPort> ports) const;
  void fill(Key& key, std::span<const FabricPort> ports) const;
  [[nodiscard]] bool make_room(std::size_t bytes);

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;  ///< so often was one looked for
  // Of what `find` looked for last:
  std::vector<Told> told_;  ///< by port
  std::uint64_t begin_ = 0;
  std::uint64_t hash_ = 0;
  bool may_be_kept_ = false;
  Key wanted_;                   ///< where it was not found
  std::uint64_t last_miss_ = 0;  ///< the use before in which it was not, 0: none
  std::vector<Kept> phases_;
  /// Last uses of phases that are not kept, by hash.
  std::unordered_map<std::uint64_t, std::uint64_t> misses_;
};

}  // namespace superstep
