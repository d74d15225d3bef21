#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace superstep {

/// The file that a path names once symbolic links are followed, whether it exists or not.
[[nodiscard]] std::filesystem::path link_target(const std::filesystem::path& path);

/// Throws InputOutputError unless a regular file can be made or replaced at `path`: its folder
/// exists and can be written, and what is there is no folder, device, socket or FIFO and not
/// read-only.
void check_output(const std::filesystem::path& path);

/// A file that is replaced whole or not at all: what is written goes to a temporary file beside it,
/// which takes its place at `commit`. Symbolic links are followed.
class OutputFile {
 public:
  /// Makes the temporary file, empty. Throws InputOutputError where `check_output` does.
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Removes the temporary file of one that was not committed.
  ~OutputFile();

  /// Where to write until `commit`.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  /// Adds to what is there. Throws InputOutputError.
  void append(std::string_view bytes);
  /// Brings what was written to the disk and puts it in the file's place. Throws InputOutputError.
  void commit();

 private:
  std::filesystem::path target_, temporary_;
  int file_ = -1;  ///< of what `append` wrote
};

/// Replaces a file by one of these bytes, whole or not at all.
void replace_file(const std::filesystem::path& path, std::string_view bytes);

/// Removes the temporary files of all OutputFiles and the locks, from any thread: for one that ends
/// the process.
void remove_temporary_files();

/// From here on `remove_temporary_files` removes those of copies of this process too. Throws
/// HostLimit where the host has no memory for their names.
void share_temporary_files();

/// The file that carries the lock of `path`.
[[nodiscard]] std::filesystem::path lock_beside(const std::filesystem::path& path);

/// Whether a process has the lock of `path`.
[[nodiscard]] bool is_locked(const std::filesystem::path& path);

/// The right to write one file, held by one process at a time. It ends with the process, however
/// that ends; `lock_beside(path)`, an empty file, is removed by those who end in order.
class FileLock {
 public:
  /// Throws InputOutputError when another process has it, or when it cannot be made: what is no
  /// empty file is no lock of ours, and stays.
  explicit FileLock(const std::filesystem::path& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  std::filesystem::path lock_;
  int file_ = -1;
};

}  // namespace superstep
