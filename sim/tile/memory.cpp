#include "sim/tile/memory.h"

#include <sys/mman.h>

#include <utility>

#include "base/error.h"

namespace superstep {

TileMemory::TileMemory(const MachineConfig& machine)
    : base_(machine.tile.memory_base),
      size_(machine.tile.memory_bytes),
      first_free_of_code_(machine.tile.memory_base) {}

TileMemory::~TileMemory() {
  if (bytes_ != nullptr) munmap(bytes_, size_);
}

TileMemory::TileMemory(TileMemory&& other) noexcept
    : base_(other.base_),
      size_(other.size_),
      bytes_(std::exchange(other.bytes_, nullptr)),
      first_free_of_code_(other.first_free_of_code_),
      code_version_(other.code_version_) {}

std::byte* TileMemory::data() const {
  if (bytes_ == nullptr) {
    // Pages of a private anonymous mapping read 0 and take host memory when they are first written.
    void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SUPERSTEP_CHECK(mapped != MAP_FAILED, "no host memory for a tile");
    bytes_ = static_cast<std::byte*>(mapped);
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
  if (address < first_free_of_code_) touched();
  return true;
}

}  // namespace superstep
