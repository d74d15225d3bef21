#include "tools/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "tools/streams.h"

namespace superstep {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRedraw{100};
/// Without a terminal a quick command says nothing and a long one little.
constexpr milliseconds kLine{2000};

std::mutex stage_mutex;
std::string& stage_now = *new std::string;  // for a thread that ends the process after `main`

void set_stage(const std::string& text) {
  const std::scoped_lock lock(stage_mutex);
  stage_now = text;
}

bool is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && std::getenv("CI") == nullptr &&
         (!term || std::string_view(term) != "dumb");
}

/// Columns of the terminal, so that a line never wraps.
std::size_t width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

}  // namespace

Progress::Progress(bool quiet)
    : quiet_(quiet),
      terminal_(is_terminal()),
      next_(std::chrono::steady_clock::now() + (terminal_ ? milliseconds(0) : kLine)) {}

bool Progress::due() const { return !quiet_ && std::chrono::steady_clock::now() >= next_; }

void Progress::show(const std::string& text) {
  if (!due()) return;
  const std::string line = prefix_ + text;
  // Without a terminal it stays, and need not come again.
  if (!terminal_ && line == last_) return;
  last_ = line;
  next_ = std::chrono::steady_clock::now() + (terminal_ ? kRedraw : kLine);
  shown_ = true;
  write_error(terminal_ ? "\r\033[K" + line.substr(0, width() - 1) : line + "\n");
}

void Progress::stage(const std::string& text, const std::string& advice) {
  set_stage(prefix_ + text + (advice.empty() ? "" : "; " + advice));
  if (terminal_) next_ = {};
  show(text);
}

void Progress::clear() {
  if (shown_ && terminal_) write_error("\r\033[K");
  shown_ = false;
  set_stage({});
}

std::string current_stage() {
  const std::scoped_lock lock(stage_mutex);
  return stage_now;
}

}  // namespace superstep
