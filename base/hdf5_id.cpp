#include "base/hdf5_id.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/hdf5_activity.h"

namespace superstep {
namespace {

/// The file drivers put `errno = N` into the description of a failed system call
/// (HDF5 1.10, src/H5FDsec2.c).
herr_t find_errno(unsigned, const H5E_error2_t* entry, void* found) {
  constexpr const char* kMark = "errno = ";
  const char* at = entry->desc == nullptr ? nullptr : std::strstr(entry->desc, kMark);
  if (at != nullptr) *static_cast<int*>(found) = std::atoi(at + std::strlen(kMark));
  return 0;
}

std::recursive_mutex mutex;  // of what follows, too
unsigned uses = 0;           // one inside of the other
Hdf5Activity own_activity;
Hdf5Activity* activity = &own_activity;

}  // namespace

void tell_hdf5_activity(Hdf5Activity& told) {
  const std::lock_guard lock(mutex);
  activity = &told;
}

Hdf5Lock::Hdf5Lock(std::string_view object, std::uint64_t bytes) : lock_(mutex) {
  static const bool started = [] {
    H5dont_atexit();
    return H5open() >= 0;
  }();
  (void)started;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  // What a use inside of another does not name is about the same.
  if (uses == 0 || !object.empty()) {
    const std::size_t length = std::min(object.size(), activity->object.size() - 1);
    std::copy_n(object.begin(), length, activity->object.begin());
    activity->object[length] = 0;
  }
  activity->bytes = bytes;
  ++activity->changes;
  activity->is_in_use = ++uses > 0;
}

Hdf5Lock::~Hdf5Lock() {
  ++activity->changes;
  activity->is_in_use = --uses > 0;
}

int hdf5_errno() {
  int found = 0;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_errno, &found);
  return found;
}

}  // namespace superstep
