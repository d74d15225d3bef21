#include "tools/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace superstep {
namespace {

bool is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && std::getenv("CI") == nullptr &&
         (!term || std::string_view(term) != "dumb");
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(is_terminal()) {}

Progress::~Progress() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
}

void Progress::show(const std::string& text, bool now) {
  if (quiet_) return;
  const auto time = std::chrono::steady_clock::now();
  if (!now && time < next_) return;
  next_ = time + (terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(2));
  shown_ = true;
  if (terminal_)
    fmt::print(stderr, "\r\033[K{}", text);
  else
    fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
}

}  // namespace superstep
