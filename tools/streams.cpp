#include "tools/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace superstep {
namespace {

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void hold_standard_streams() {
  constexpr int kWrongDirection[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int stream = 0; stream < 3; ++stream) {
    // The lowest free descriptor is the stream's own: those below it are taken.
    if (fcntl(stream, F_GETFD) < 0) (void)open("/dev/null", kWrongDirection[stream]);
  }
}

int write_output(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  return error == EPIPE ? 0 : error;
}

void write_whole_output(std::string_view bytes) {
  if (const int error = write_output(bytes); error != 0)
    throw InputOutputError("standard output", "cannot be written", error);
}

void write_error(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

}  // namespace superstep
