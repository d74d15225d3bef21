#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "isa/machine_config.h"
#include "isa/program_image.h"

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

  /// An empty memory boots with `segments`, which outlive it, later ones over earlier ones. They
  /// are written when somebody first reaches their bytes: until then only code is fetched from
  /// them, which tiles with the same segments share.
  void boot(std::span<const Segment* const> segments);
  /// Nobody has reached any byte since.
  [[nodiscard]] bool is_as_at_boot() const { return is_as_at_boot_; }

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
  [[nodiscard]] std::byte* data() const {
    if (!is_whole_) [[unlikely]]
      reach();
    return bytes_;
  }
  /// The same for somebody who reaches no byte below an address: only those from there on are as
  /// they should be.
  [[nodiscard]] std::byte* data_from(std::uint32_t address) const {
    if (bytes_ == nullptr || address < unwritten_end_) return data();
    is_as_at_boot_ = false;
    return bytes_;
  }

  /// Whether `code` has the word at an address, as it has once `open_code` asked for it. It may
  /// have it no longer when somebody has reached bytes.
  [[nodiscard]] bool has_code(std::uint32_t address) const {
    return std::rotr(address - code_.begin, 2) < code_.words;
  }
  /// `address` is that of a word in the executable region.
  void open_code(std::uint32_t address);
  /// From now on `code` has all of the executable region.
  void open_all_code() { code_ = {data(), base_, code_size_ / 4}; }
  /// What `code` has from an address on.
  [[nodiscard]] std::span<const std::byte> code_from(std::uint32_t address) const {
    const std::uint32_t offset = address - code_.begin;
    return {code_.bytes + offset, std::size_t{4} * code_.words - offset};
  }
  [[nodiscard]] std::uint32_t code(std::uint32_t address) const {
    std::uint32_t value;
    std::memcpy(&value, code_.bytes + (address - code_.begin), sizeof(value));
    return value;
  }
  /// Where the host has what `code` reads; null when it is not known.
  [[nodiscard]] const std::byte* place_of_code(std::uint32_t address) const {
    return has_code(address) ? code_.bytes + (address - code_.begin) : nullptr;
  }

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
    auto& [base, size, code_size, own, bytes, unwritten, unwritten_end, whole, as_at_boot, fetched,
           first_free, decoded_words, version] = *this;
    archive(decoded_words, first_free);
    if constexpr (Archive::kReads) ++version;
  }

 private:
  /// Words from an aligned address on, and where they are.
  struct Code {
    const std::byte* bytes = nullptr;
    std::uint32_t begin = 0, words = 0;
  };

  /// Maps the bytes, and writes what they boot with.
  void reach() const;
  /// The one of `unwritten_` that alone says what is at an address and around it, or null.
  [[nodiscard]] const Segment* only_segment_at(std::uint32_t address) const;

  std::uint32_t base_;
  std::uint32_t size_;
  std::uint32_t code_size_;  ///< of the executable region
  mutable HostPages own_;
  mutable std::byte* bytes_;
  mutable std::span<const Segment* const> unwritten_;
  mutable std::uint32_t unwritten_end_ = 0;  ///< past the last byte of those
  mutable bool is_whole_ = false;            ///< mapped, and all of those are written
  mutable bool is_as_at_boot_ = false;
  mutable Code code_;  ///< in memory, or in a segment that is not written
  std::uint32_t first_free_of_code_;
  std::vector<bool> decoded_;  ///< by word, below `first_free_of_code_`
  std::uint64_t code_version_ = 0;
};

}  // namespace superstep
