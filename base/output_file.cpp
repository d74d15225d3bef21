#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/shared_names.h"

namespace superstep {
namespace {

namespace fs = std::filesystem;

/// Links followed one after another before a circle is assumed (the limit of Linux).
constexpr int kMostLinks = 40;

std::mutex temporary_mutex;
/// Files of this process that go when it ends: those that are not in place yet, and locks; their
/// names are absolute. Never destroyed, because a thread that ends the process may come after
/// `main`.
std::set<fs::path>& temporary_files = *new std::set<fs::path>;
/// The same of copies of this process; null until they share them.
SharedNames* files_of_copies = nullptr;

void add_temporary(const fs::path& path) {
  if (files_of_copies != nullptr) files_of_copies->add(path);
  temporary_files.insert(path);
}

void erase_temporary(const fs::path& path) noexcept {
  if (files_of_copies != nullptr) files_of_copies->erase(path);
  temporary_files.erase(path);
}

std::optional<struct stat> stat_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Brings a file or folder to the disk; 0 or an errno. File systems that cannot are not to blame.
int sync_to_disk(const fs::path& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = fsync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
  close(file);
  return error;
}

}  // namespace

fs::path link_target(const fs::path& path) {
  fs::path target = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code none;
    if (!fs::is_symlink(fs::symlink_status(target, none))) return target;
    fs::path next = fs::read_symlink(target, none);
    if (none) return target;
    if (next.is_relative()) next = folder_of(target) / next;
    // The links of /proc to pipes and sockets name no path.
    if (stat_of(target) && !stat_of(next)) return target;
    target = std::move(next);
  }
  throw InputOutputError(path.string(), "cannot be followed", ELOOP);
}

void check_output(const fs::path& path) {
  if (path.empty() || !path.has_filename()) {
    throw InputOutputError(path.string(), "an output needs the name of a file");
  }
  const fs::path target = link_target(path);
  if (const auto status = stat_of(target)) {
    const char* kind = S_ISDIR(status->st_mode)                               ? "a folder"
                       : S_ISFIFO(status->st_mode)                            ? "a FIFO"
                       : S_ISCHR(status->st_mode) || S_ISBLK(status->st_mode) ? "a device"
                       : S_ISREG(status->st_mode)                             ? nullptr
                                                                              : "a socket";
    if (kind != nullptr) {
      throw InputOutputError(path.string(),
                             fmt::format("is {}: an output is a regular file", kind));
    }
    if (access(target.c_str(), W_OK) != 0) {
      throw InputOutputError(path.string(), "cannot be written", errno);
    }
  }
  const fs::path folder = folder_of(target);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    const int error = errno;
    throw InputOutputError(path.string(), fmt::format("cannot be written into {}", folder.string()),
                           error);
  }
}

OutputFile::OutputFile(const fs::path& path) {
  check_output(path);
  target_ = link_target(path);
  temporary_ = fs::absolute(target_) += fmt::format(".{}.new", getpid());
  const auto old = stat_of(target_);
  {
    const std::scoped_lock lock(temporary_mutex);
    add_temporary(temporary_);
  }
  const int file = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    const int error = errno;
    const std::scoped_lock lock(temporary_mutex);
    erase_temporary(temporary_);
    throw InputOutputError(path.string(), "cannot be written", error);
  }
  // As it was for those who may read it; who cannot set this has at least the file.
  if (old) (void)!fchmod(file, old->st_mode & 07777);
  close(file);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
  if (temporary_.empty()) return;
  const std::scoped_lock lock(temporary_mutex);
  unlink(temporary_.c_str());
  erase_temporary(temporary_);
}

void OutputFile::append(std::string_view bytes) {
  if (file_ < 0) file_ = open(temporary_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  int error = file_ < 0 ? errno : 0;
  while (error == 0 && !bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error != 0) throw InputOutputError(target_.string(), "cannot be written", error);
}

void OutputFile::commit() {
  const auto check = [&](int error) {
    if (error != 0) throw InputOutputError(target_.string(), "cannot be written", error);
  };
  if (file_ >= 0) check(close(std::exchange(file_, -1)) == 0 ? 0 : errno);
  check(sync_to_disk(temporary_, O_WRONLY));
  {
    const std::scoped_lock lock(temporary_mutex);
    check(rename(temporary_.c_str(), target_.c_str()) == 0 ? 0 : errno);
    erase_temporary(temporary_);
    temporary_.clear();
  }
  // One that may be written but not listed cannot be opened; the file is in its place by now.
  const int folder = sync_to_disk(folder_of(target_), O_RDONLY | O_DIRECTORY);
  check(folder == EACCES ? 0 : folder);
}

void replace_file(const fs::path& path, std::string_view bytes) {
  OutputFile output(path);
  output.append(bytes);
  output.commit();
}

void remove_temporary_files() {
  const std::scoped_lock lock(temporary_mutex);
  for (const fs::path& path : temporary_files) unlink(path.c_str());
  if (files_of_copies == nullptr) return;
  for (const fs::path& path : files_of_copies->all()) unlink(path.c_str());
}

void share_temporary_files() {
  const std::scoped_lock lock(temporary_mutex);
  if (files_of_copies != nullptr) return;
  files_of_copies = new SharedNames;
  for (const fs::path& path : temporary_files) files_of_copies->add(path);
}

fs::path lock_beside(const fs::path& path) { return link_target(path) += ".lock"; }

bool is_locked(const fs::path& path) {
  const int file = open(lock_beside(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return false;
  const bool is_held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return is_held;
}

FileLock::FileLock(const fs::path& path) : lock_(fs::absolute(lock_beside(path))) {
  // Who ends the process waits until it is known whose the file is.
  const std::scoped_lock lock(temporary_mutex);
  for (;;) {
    // To lock it, it need not be writable: another user's may have been left by a killed process.
    file_ = open(lock_.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (file_ < 0) throw InputOutputError(lock_beside(path).string(), "cannot be written", errno);
    struct stat held {};
    if (flock(file_, LOCK_EX | LOCK_NB) != 0 || fstat(file_, &held) != 0) {
      const int error = errno;
      close(file_);
      if (error != EWOULDBLOCK)
        throw InputOutputError(lock_beside(path).string(), "cannot be locked", error);
      throw InputOutputError(path.string(), "another process is writing this file");
    }
    // What holds bytes, or cannot, is no lock: somebody else's file, which would go with it.
    if (!S_ISREG(held.st_mode) || held.st_size != 0) {
      close(file_);
      throw InputOutputError(lock_beside(path).string(),
                             "is where the lock of an output goes, but is none");
    }
    // Its holder may have removed it between our two calls.
    const auto named = stat_of(lock_);
    if (named && named->st_ino == held.st_ino && named->st_dev == held.st_dev) break;
    close(file_);
  }
  // What is younger is its holder's; another user's keeps its time.
  (void)futimens(file_, nullptr);
  try {
    add_temporary(lock_);
  } catch (...) {
    unlink(lock_.c_str());
    close(file_);
    throw;
  }
}

FileLock::~FileLock() {
  const std::scoped_lock lock(temporary_mutex);
  unlink(lock_.c_str());
  erase_temporary(lock_);
  close(file_);
}

}  // namespace superstep
