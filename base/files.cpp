#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"

namespace superstep {
namespace {

/// A message needs something to begin with.
std::string named(const std::filesystem::path& path) { return path.empty() ? "''" : path.string(); }

}  // namespace

std::string read_text_file(const std::filesystem::path& path) {
  const auto fail = [&] { throw InputOutputError(named(path), "cannot be read", errno); };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail();
  std::string text;
  std::array<char, std::size_t{1} << 16> block;
  ssize_t got = 0;
  while ((got = read(file, block.data(), block.size())) != 0) {
    if (got > 0) {
      text.append(block.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      const int error = errno;
      close(file);
      errno = error;
      fail();
    }
  }
  close(file);
  return text;
}

void check_input(const std::filesystem::path& path) {
  // Without waiting for whoever writes a FIFO.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  int error = file < 0 ? errno : 0;
  struct stat status {};
  if (error == 0 && fstat(file, &status) != 0) error = errno;
  if (file >= 0) close(file);
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  if (error != 0) throw InputOutputError(named(path), "cannot be read", error);
  if (!S_ISREG(status.st_mode)) throw InputOutputError(path.string(), "is no regular file");
}

}  // namespace superstep
