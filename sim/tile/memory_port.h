#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "isa/machine_config.h"
#include "sim/tile/memory.h"

namespace superstep {

/// The cause of a trap: a problem and the address that has it, or two of one instruction.
[[nodiscard]] std::string named_at(const char* problem, std::uint32_t address);
[[nodiscard]] std::string named_at(const char* problem, std::uint32_t one, std::uint32_t other);

/// A context's way to its tile's memory: bounds and alignment in one test.
class MemoryPort {
 public:
  MemoryPort(const MachineConfig& machine, TileMemory& memory)
      : memory_(&memory),
        base_(memory.base()),
        region1_(machine.tile.region1_base),
        region1_bytes_(machine.region2_base() - machine.tile.region1_base),
        element_shift_(static_cast<unsigned>(std::countr_zero(machine.tile.element_bytes))),
        pair_mask_(8 | ~(2 * machine.tile.element_bytes - 1)) {
    const std::uint32_t pair = 2 * machine.tile.element_bytes;
    if (base_ % (pair / 2) == 0 && machine.tile.region1_base % pair == 0) {
      element_bits_ = ~(pair / 2 - 1);
      interleaved_bits_ = ~(pair - 1) | 8;
    }
    allow_all();
  }

  /// From now on `allowed` holds for each access that is possible.
  void allow_all() {
    if (limits_[0] != 0) return;
    for (unsigned log = 0; log < limits_.size(); ++log) limits_[log] = memory_->size() >> log;
  }
  /// From now on `allowed` holds for no access, so that each is looked at one by one.
  void refuse_all() { limits_.fill(0); }

  /// Null when an access of T at `address` is possible, else what is wrong.
  template <class T>
  [[nodiscard]] const char* problem(std::uint32_t address) const {
    if ((address & (sizeof(T) - 1)) != 0) return "a misaligned address";
    if (!memory_->contains(address, sizeof(T))) return "an address outside the tile's memory";
    return sizeof(T) == 16 && address - region1_ >= region1_bytes_
               ? "a 128-bit access outside the interleaved region"
               : nullptr;
  }
  /// Whether an access is possible and nobody wants to know of it.
  template <class T>
  [[nodiscard]] bool allowed(std::uint32_t address) const {
    return in_reach<T>(address) && (sizeof(T) < 16 || address - region1_ < region1_bytes_);
  }

  /// From the least to the greatest address of 64-bit accesses, whole words apart.
  struct Range {
    std::int64_t first = 0, last = 0;
  };
  /// Whether all of a range can be accessed, and lies in one region.
  [[nodiscard]] bool possible(const Range& range) const {
    return (range.first & 7) == 0 && range.first >= base_ &&
           (range.last - base_) >> 3 < std::int64_t{memory_->size() >> 3} &&
           (range.first < region1_) == (range.last < region1_) &&
           is_interleaved(range.first) == is_interleaved(range.last);
  }
  /// Whether accesses in two such ranges lie in different elements: in interleaved ones, whether
  /// two that are `distance` apart do.
  [[nodiscard]] bool apart(const Range& a, const Range& b, std::uint32_t distance) const {
    if (is_interleaved(a.first) != is_interleaved(b.first)) return true;
    if (is_interleaved(a.first)) return (distance & interleaved_bits_) != 0;
    return (a.last & element_bits_) < (b.first & element_bits_) ||
           (b.last & element_bits_) < (a.first & element_bits_);
  }

  template <class T>
  [[nodiscard]] T load(std::uint32_t address) const {
    T value;
    std::memcpy(&value, at(address), sizeof(T));
    return value;
  }
  template <class T>
  void store(std::uint32_t address, T value) {
    std::memcpy(at(address), &value, sizeof(T));
  }
  /// Whether a store there may have changed decoded code.
  [[nodiscard]] bool below_code_end(std::uint32_t address) const {
    return address < memory_->first_free_of_code();
  }

  /// Whether two addresses surely lie in different elements. A cheap test, exact when elements and
  /// regions are aligned to their sizes.
  [[nodiscard]] bool apart(std::uint32_t a, std::uint32_t b) const {
    return ((a ^ b) & (a - region1_ < region1_bytes_ ? interleaved_bits_ : element_bits_)) != 0;
  }
  /// A number of the element at an address, for comparison.
  [[nodiscard]] std::uint32_t element_of(std::uint32_t address) const {
    // Two neighbouring interleaved elements take turns by 8 bytes.
    const std::uint32_t in_region = address - region1_;
    return in_region < region1_bytes_ ? (in_region & pair_mask_) | kInterleavedElement
                                      : (address - base_) >> element_shift_;
  }

  /// Where the host has it.
  [[nodiscard]] std::byte* at(std::uint32_t address) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the origin may be in front of what is allocated
    return reinterpret_cast<std::byte*>(origin_ + address);
  }

  void open() {
    if (origin_ == 0) origin_ = reinterpret_cast<std::uintptr_t>(memory_->data()) - base_;
  }
  [[nodiscard]] TileMemory& memory() { return *memory_; }

 private:
  static constexpr std::uint32_t kInterleavedElement = 1U << 31;

  [[nodiscard]] bool is_interleaved(std::int64_t address) const {
    return address >= region1_ && address - region1_ < region1_bytes_;
  }
  template <class T>
  [[nodiscard]] bool in_reach(std::uint32_t address) const {
    constexpr unsigned kLog = std::bit_width(sizeof(T)) - 1;
    return std::rotr(address - base_, static_cast<int>(kLog)) < limits_[kLog];
  }

  TileMemory* memory_;
  std::uintptr_t origin_ = 0;  ///< of address 0, where the host would have it
  std::uint32_t base_;
  std::uint32_t region1_;        ///< address of the interleaved region
  std::uint32_t region1_bytes_;  ///< of it
  unsigned element_shift_;
  std::uint32_t pair_mask_;  ///< of an offset in the interleaved region: what tells elements apart
  std::uint32_t element_bits_ = 0;  ///< bits of an address that tell elements apart
  std::uint32_t interleaved_bits_ = 0;
  std::array<std::uint32_t, 5> limits_{};
};

}  // namespace superstep
