#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace superstep {

/// What this process does with the HDF5 library, which loops without end on some damaged files
/// (1.10.8: on global heaps). It can be read from a signal handler, and from another process.
struct Hdf5Activity {
  std::atomic<std::uint64_t> changes = 0;  ///< uses that have begun or ended
  std::atomic<bool> is_in_use = false;
  std::atomic<std::uint64_t> bytes = 0;  ///< the values that the last use reads
  /// What the last use is about, cut where it is long; for who knows that the process is at rest.
  std::array<char, 256> object = {};
};

/// From here on the activity is told there.
void tell_hdf5_activity(Hdf5Activity& activity);

}  // namespace superstep
