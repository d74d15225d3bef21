#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/exchange/port_event.h"
#include "sim/exchange/port_row.h"

namespace superstep {

/// What the exchange ports of a tile were told, in program order: events, and whole rows.
class PortLog {
 public:
  struct Played {
    const PortRow* row = nullptr;
    std::uint64_t cycle = 0;        ///< in which its first instruction issued
    std::size_t events_before = 0;  ///< of `events()`
  };

  void add(const PortEvent& event) {
    events_.push_back(event);
    lowest_address_ = std::min(lowest_address_, event.lowest_address());
  }
  /// `row` has events, and outlives the log's content.
  void add(const PortRow& row, std::uint64_t cycle) {
    rows_.push_back({&row, cycle, events_.size()});
    lowest_address_ = std::min(lowest_address_, row.lowest_address());
  }
  void clear() {
    events_.clear();
    rows_.clear();
    lowest_address_ = std::numeric_limits<std::uint32_t>::max();
  }
  [[nodiscard]] bool empty() const { return events_.empty() && rows_.empty(); }

  /// No word below is sent or received.
  [[nodiscard]] std::uint32_t lowest_address() const { return lowest_address_; }

  /// A cycle no later than the first event, as long before it whenever the same is told again.
  [[nodiscard]] std::uint64_t begin() const {
    return rows_.empty() || (!events_.empty() && rows_[0].events_before > 0) ? events_[0].cycle
                                                                             : rows_[0].cycle;
  }
  [[nodiscard]] std::span<const Played> rows() const { return rows_; }
  /// Those of no row.
  [[nodiscard]] std::span<const PortEvent> events() const { return events_; }

  /// Adds all events, those of rows too.
  void append_events(std::vector<PortEvent>& all) const {
    std::size_t next = 0;
    const auto append_until = [&](std::size_t end) {
      for (; next < end; ++next) all.push_back(events_[next]);
    };
    for (const Played& played : rows_) {
      append_until(played.events_before);
      played.row->append_events(played.cycle, all);
    }
    append_until(events_.size());
  }

 private:
  std::vector<PortEvent> events_;
  std::vector<Played> rows_;
  std::uint32_t lowest_address_ = std::numeric_limits<std::uint32_t>::max();
};

}  // namespace superstep
