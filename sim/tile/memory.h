#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "isa/machine_config.h"

namespace superstep {

/// Pages of host memory; they read 0, and cost nothing until they are first written.
struct UnmapPages {
  std::size_t bytes = 0;
  void operator()(std::byte* pages) const;
};
using HostPages = std::unique_ptr<std::byte, UnmapPages>;
[[nodiscard]] HostPages map_host_pages(std::size_t bytes);

/// What the memory of one of several tiles takes of pages that they share.
[[nodiscard]] std::size_t page_bytes(const MachineConfig& machine);

/// The SRAM of one tile. Costs nothing until it is first written; unwritten bytes read 0.
class TileMemory {
 public:
  /// In `pages` that outlive it, or when null in its own.
  explicit TileMemory(const MachineConfig& machine, std::byte* pages = nullptr);
  TileMemory(const TileMemory&) = delete;
  TileMemory& operator=(const TileMemory&) = delete;

  [[nodiscard]] std::uint32_t base() const { return base_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool contains(std::uint32_t address, std::uint64_t bytes) const {
    return address >= base_ && std::uint64_t{address} - base_ + bytes <= size_;
  }

  /// Copies bytes out or in; false, and nothing done, when they are not all in the memory. Writing
  /// over decoded code is noticed.
  [[nodiscard]] bool read(std::uint32_t address, std::span<std::byte> out) const;
  [[nodiscard]] bool write(std::uint32_t address, std::span<const std::byte> in);

  /// The aligned word at an address inside the memory.
  [[nodiscard]] std::uint32_t word(std::uint32_t address) const {
    std::uint32_t value;
    std::memcpy(&value, data() + (address - base_), sizeof(value));
    return value;
  }

  /// The bytes, from `base()`; mapped now. Whoever writes through it calls `touched` when it
  /// wrote `decoded` words.
  [[nodiscard]] std::byte* data() const;

  /// Notes that words have been decoded.
  void mark_decoded(std::uint32_t address, std::uint32_t words = 1);
  /// Whether one of the words in [address, address + bytes) has been decoded.
  [[nodiscard]] bool decoded(std::uint32_t address, std::size_t bytes) const;
  /// No word from here on has been decoded.
  [[nodiscard]] std::uint32_t first_free_of_code() const { return first_free_of_code_; }

  /// `code_version` changes so that decoded code is compared again.
  void touched() { ++code_version_; }
  [[nodiscard]] std::uint64_t code_version() const { return code_version_; }

  /// Which words have been decoded; the bytes go another way.
  template <class Archive>
  void state(Archive& archive) {
    auto& [base, size, own, bytes, first_free, decoded_words, version] = *this;
    archive(decoded_words, first_free);
    if constexpr (Archive::kReads) ++version;
  }

 private:
  std::uint32_t base_;
  std::uint32_t size_;
  mutable HostPages own_;
  mutable std::byte* bytes_;
  std::uint32_t first_free_of_code_;
  std::vector<bool> decoded_;  ///< by word, below `first_free_of_code_`
  std::uint64_t code_version_ = 0;
};

}  // namespace superstep
