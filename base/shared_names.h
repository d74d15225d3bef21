#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace superstep {

/// Names of files, in memory that copies of this process have in common with it. Each is there
/// whole or not at all, however a process that writes them ends; one writes at a time.
class SharedNames {
 public:
  static constexpr std::size_t kMost = 16;

  /// Throws HostLimit where the host has no memory for it.
  SharedNames();
  SharedNames(const SharedNames&) = delete;
  SharedNames& operator=(const SharedNames&) = delete;
  ~SharedNames();

  /// Throws InputOutputError for a name that is too long for a file, or one more than `kMost`.
  void add(const std::filesystem::path& path);
  /// Does nothing for one that is not there.
  void erase(const std::filesystem::path& path) noexcept;
  [[nodiscard]] std::vector<std::filesystem::path> all() const;

 private:
  struct Slot {
    std::atomic<bool> is_taken = false;
    char name[PATH_MAX] = {};
  };
  std::span<Slot> slots_;
};

}  // namespace superstep
