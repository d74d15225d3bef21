#include "base/shared_names.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.h"

namespace superstep {

SharedNames::SharedNames() {
  void* const memory = mmap(nullptr, kMost * sizeof(Slot), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw HostLimit(std::string("the host gives no memory to share: ") + std::strerror(errno));
  }
  slots_ = {static_cast<Slot*>(memory), kMost};
  std::ranges::uninitialized_value_construct(slots_);
}

SharedNames::~SharedNames() { munmap(slots_.data(), slots_.size_bytes()); }

void SharedNames::add(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (name.size() >= sizeof Slot::name)
    throw InputOutputError(name, "cannot be written", ENAMETOOLONG);
  const auto free = std::ranges::find_if_not(slots_, &Slot::is_taken);
  if (free == slots_.end()) throw InputOutputError(name, "is one output too many at a time");
  std::memcpy(free->name, name.c_str(), name.size() + 1);
  free->is_taken = true;
}

void SharedNames::erase(const std::filesystem::path& path) noexcept {
  for (Slot& slot : slots_) {
    if (slot.is_taken && path.native() == slot.name) slot.is_taken = false;
  }
}

std::vector<std::filesystem::path> SharedNames::all() const {
  std::vector<std::filesystem::path> names;
  for (const Slot& slot : slots_) {
    if (slot.is_taken) names.emplace_back(slot.name);
  }
  return names;
}

}  // namespace superstep
