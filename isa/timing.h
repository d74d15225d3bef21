#pragma once

#include <cstdint>

#include "base/units.h"
#include "isa/machine_config.h"

namespace superstep {

/// Physical place of a logical tile.
struct TilePlace {
  std::uint32_t row, column, lane;
  TileId tile;
};

/// Tiles go up one column in pairs and down the next (osmarks/ipu-stack, exchange geometry).
[[nodiscard]] TilePlace place_of(const MachineConfig& machine, TileId tile);

/// Cycles from a word's slot on `source`'s bus to its write in `destination`'s memory.
[[nodiscard]] Cycles exchange_latency(const MachineConfig& machine, TileId source,
                                      TileId destination);
/// The same between places, for those who ask often.
[[nodiscard]] Cycles exchange_latency(const MachineConfig& machine, const TilePlace& source,
                                      const TilePlace& destination);

/// What a tile's port moves at a time: one or more words each cycle, or a word in some cycles. Both
/// numbers are powers of two, and one of them is 1.
class ExchangeItem {
 public:
  explicit ExchangeItem(const MachineConfig& machine);

  [[nodiscard]] std::uint32_t words() const { return 1U << log_words_; }
  [[nodiscard]] std::uint32_t cycles() const { return 1U << log_cycles_; }
  /// Of words that follow each other; the last item may be of fewer.
  [[nodiscard]] std::uint64_t cycles_of(std::uint64_t words) const {
    return (words + this->words() - 1) >> log_words_ << log_cycles_;
  }
  /// From the first of such words to the item of word `number`.
  [[nodiscard]] std::uint64_t cycle_of(std::uint64_t number) const {
    return number >> log_words_ << log_cycles_;
  }
  /// Items that are over after so many cycles, and their words.
  [[nodiscard]] std::uint64_t items_in(std::uint64_t cycles) const { return cycles >> log_cycles_; }
  [[nodiscard]] std::uint64_t words_in(std::uint64_t cycles) const {
    return cycles >> log_cycles_ << log_words_;
  }
  [[nodiscard]] bool is_whole(std::uint64_t words) const { return words % this->words() == 0; }

 private:
  unsigned log_words_, log_cycles_;
};

/// No word takes longer.
[[nodiscard]] Cycles longest_exchange_latency(const MachineConfig& machine);

/// The memory element an address lies in: two accesses of one cycle conflict when their elements
/// are equal. Region 1 interleaves two elements by 8 bytes (graphcore/poplibs, TMEM_ELEMSIZE
/// rules).
[[nodiscard]] std::uint32_t memory_element(const MachineConfig& machine, std::uint32_t address);

/// Cycles from the last arrival at an internal barrier to its opening.
[[nodiscard]] Cycles barrier_latency(const MachineConfig& machine);

/// Nanoseconds of the host's clock as cycles of the tile clock, rounded up.
[[nodiscard]] Cycles cycles_of_ns(const MachineConfig& machine, std::uint64_t nanoseconds);

/// Cycles by which `tile` leaves an internal barrier after it opens.
[[nodiscard]] Cycles release_skew(const MachineConfig& machine, TileId tile);

}  // namespace superstep
