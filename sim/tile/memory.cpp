#include "sim/tile/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace superstep {

void UnmapPages::operator()(std::byte* pages) const { munmap(pages, bytes); }

HostPages map_host_pages(std::size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw HostLimit(fmt::format("the host has no {} MiB for the memory of the tiles", bytes >> 20));
  }
  return {static_cast<std::byte*>(mapped), UnmapPages{bytes}};
}

std::size_t page_bytes(const MachineConfig& machine) {
  constexpr std::size_t kPage = 4096;
  return (machine.tile.memory_bytes + kPage - 1) / kPage * kPage;
}

TileMemory::TileMemory(const MachineConfig& machine, std::byte* pages)
    : base_(machine.tile.memory_base),
      size_(machine.tile.memory_bytes),
      code_size_(std::min(machine.tile.region1_base - base_, size_)),
      bytes_(pages),
      first_free_of_code_(machine.tile.memory_base) {}

void TileMemory::boot(std::span<const Segment* const> segments) {
  for (const Segment* segment : segments) {
    SUPERSTEP_CHECK(contains(segment->address, segment->bytes.size()),
                    fmt::format("a segment at {:#x} lies outside tile memory", segment->address));
  }
  unwritten_ = segments;
  for (const Segment* segment : segments) {
    const std::size_t end = segment->address + segment->bytes.size();
    unwritten_end_ = std::max(unwritten_end_, static_cast<std::uint32_t>(end));
  }
  is_whole_ = false;
  is_as_at_boot_ = true;
}

void TileMemory::reach() const {
  if (bytes_ == nullptr) {
    own_ = map_host_pages(size_);
    bytes_ = own_.get();
  }
  for (const Segment* segment : std::exchange(unwritten_, {})) {
    std::ranges::copy(std::as_bytes(std::span(segment->bytes)),
                      bytes_ + (segment->address - base_));
  }
  unwritten_end_ = 0;
  is_whole_ = true;
  is_as_at_boot_ = false;
  code_ = {};
}

const Segment* TileMemory::only_segment_at(std::uint32_t address) const {
  const Segment* found = nullptr;
  for (const Segment* segment : unwritten_) {
    if (address - segment->address < segment->bytes.size()) found = segment;
  }
  const auto overlaps = [&](const Segment* other) {
    return other != found && other->address < found->address + found->bytes.size() &&
           found->address < other->address + other->bytes.size();
  };
  return found == nullptr || std::ranges::any_of(unwritten_, overlaps) ? nullptr : found;
}

void TileMemory::open_code(std::uint32_t address) {
  const Segment* const segment = only_segment_at(address);
  if (segment != nullptr) {
    const std::uint32_t room = base_ + code_size_ - segment->address;
    const auto bytes = std::min(room, static_cast<std::uint32_t>(segment->bytes.size()));
    code_ = {std::as_bytes(std::span(segment->bytes)).data(), segment->address, bytes / 4};
  }
  // A word that lies in no segment, or not whole, or in one that is not aligned.
  if (!has_code(address)) open_all_code();
}

bool TileMemory::read(std::uint32_t address, std::span<std::byte> out) const {
  if (!contains(address, out.size())) return false;
  if (!out.empty()) std::memcpy(out.data(), data() + (address - base_), out.size());
  return true;
}

bool TileMemory::write(std::uint32_t address, std::span<const std::byte> in) {
  if (!contains(address, in.size())) return false;
  if (!in.empty()) std::memcpy(data() + (address - base_), in.data(), in.size());
  if (decoded(address, in.size())) touched();
  return true;
}

void TileMemory::mark_decoded(std::uint32_t address, std::uint32_t words) {
  SUPERSTEP_CHECK(contains(address, std::uint64_t{words} * 4), "decoded code lies in tile memory");
  const std::uint32_t first = (address - base_) / 4;
  if (first + words > decoded_.size()) {
    decoded_.resize(first + words);
    first_free_of_code_ = address + words * 4;
  }
  std::fill_n(decoded_.begin() + first, words, true);
}

bool TileMemory::decoded(std::uint32_t address, std::size_t bytes) const {
  if (address >= first_free_of_code_ || bytes == 0) return false;
  const std::size_t end = std::min((address - base_ + bytes + 3) / 4, decoded_.size());
  for (std::size_t word = (address - base_) / 4; word < end; ++word) {
    if (decoded_[word]) return true;
  }
  return false;
}

}  // namespace superstep
