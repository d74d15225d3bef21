#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isa/timing.h"
#include "sim/exchange/port_event.h"

namespace superstep {

/// Exchange instructions one after the other whose effect follows from their words alone, on a tile
/// without running workers: what they tell its ports is the same each time, counted from when the
/// first one issues.
class PortRow {
 public:
  /// As many of the instructions at address `pc` as are so; `code`, which outlives the row, is the
  /// memory from there to the end of the executable region. `id` is no other row's of the tile.
  PortRow(std::uint64_t id, Encoding encoding, const ExchangeItem& item, std::uint32_t pc,
          std::span<const std::byte> code);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// The address after the last instruction; `pc` when the first is none of that kind.
  [[nodiscard]] std::uint32_t end() const { return pc_ + static_cast<std::uint32_t>(code_.size()); }
  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }
  /// Whether the ports are told anything.
  [[nodiscard]] bool has_events() const { return has_events_; }
  /// The lowest address that words are sent from or that a pointer becomes; the highest of all when
  /// there is none.
  [[nodiscard]] std::uint32_t lowest_address() const { return lowest_address_; }
  /// The address after the last word sent, if words are sent.
  [[nodiscard]] std::optional<std::uint32_t> outgoing() const { return outgoing_; }
  /// The send control of the last send.
  [[nodiscard]] std::optional<std::uint32_t> send_control() const { return send_control_; }

  /// Adds what the ports are told when the first instruction issues at `cycle`. The code is still
  /// what it was.
  void append_events(std::uint64_t cycle, std::vector<PortEvent>& events) const;

 private:
  std::uint64_t id_;
  Encoding encoding_;
  ExchangeItem item_;
  std::uint32_t pc_;
  std::span<const std::byte> code_;
  std::uint64_t cycles_ = 0;
  bool has_events_ = false;
  std::uint32_t lowest_address_ = std::numeric_limits<std::uint32_t>::max();
  std::optional<std::uint32_t> outgoing_, send_control_;
};

}  // namespace superstep
