#include "sim/tile/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

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
      bytes_(pages),
      first_free_of_code_(machine.tile.memory_base) {}

std::byte* TileMemory::data() const {
  if (bytes_ == nullptr) {
    own_ = map_host_pages(size_);
    bytes_ = own_.get();
  }
  return bytes_;
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
