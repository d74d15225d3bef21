#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace superstep {

// The HDF5 library crashes on some damaged files (1.10.8: while it decodes headers of objects, or
// reads chunks), and loops without end on others (global heaps). So what others wrote is read in a
// copy of this process, whose end tells: the copy ends itself where the library does not come back.

/// How a copy of this process ended.
struct ChildEnd {
  int code = 0;             ///< its exit code
  int signal = 0;           ///< that ended it, or 0
  bool is_endless = false;  ///< the HDF5 library did not come back
  std::string object = {};  ///< that it was used for then, if it has a name

  /// By a signal of a broken program, or by a use of the HDF5 library without end.
  [[nodiscard]] bool is_damage() const;
};

/// What such an end says of the file that was read; `advice` is what to do.
[[nodiscard]] Problem damage_problem(const std::string& file, const ChildEnd& end,
                                     std::string_view advice);

/// CPU seconds in which a use of the HDF5 library comes back that reads so many bytes of values.
[[nodiscard]] std::uint64_t most_seconds_of_hdf5(std::uint64_t bytes);

/// In a copy: a broken check of ours ends it as an internal error; what else aborts is the C
/// library, where a damaged file broke the heap, and is a crash.
void tell_aborts_apart();

/// Copies this process. In the copy, which ends no later than this process, it gives nothing, and
/// the signals to end wait for `take_signals` (tools/signals.h); here it waits for the end of the
/// copy, which is a group of its own, and hands on those signals. To be called while there is one
/// thread. Throws HostLimit where the host gives no process.
[[nodiscard]] std::optional<ChildEnd> continue_in_child();

/// Reads a file in a copy of this process: throws UserError with `code` when that crashes or does
/// not end. What `read` throws it throws again to who reads the file behind that.
void rehearse(const std::filesystem::path& path, ExitCode code, const std::function<void()>& read);

/// What `read` gives of a file of inputs, of which a copy of this process has made it before.
template <class Read>
auto read_behind_rehearsal(const std::filesystem::path& path, const Read& read) {
  rehearse(path, ExitCode::kMalformed, [&] { (void)read(); });
  return read();
}

}  // namespace superstep
