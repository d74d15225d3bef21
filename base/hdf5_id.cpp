#include "base/hdf5_id.h"

#include <cstdlib>
#include <cstring>

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

}  // namespace

std::unique_lock<std::recursive_mutex> hdf5_lock() {
  static std::recursive_mutex mutex;
  std::unique_lock lock(mutex);
  static const bool started = [] {
    H5dont_atexit();
    return H5open() >= 0;
  }();
  (void)started;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return lock;
}

int hdf5_errno() {
  int found = 0;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_errno, &found);
  return found;
}

}  // namespace superstep
