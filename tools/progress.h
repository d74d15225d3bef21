#pragma once

#include <chrono>
#include <string>

namespace superstep {

/// What a command is doing, on stderr: one line that is rewritten on a terminal, else a line now
/// and then.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `text` when enough time has passed since the last one; always with `now`.
  void show(const std::string& text, bool now = false);

 private:
  bool quiet_, terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace superstep
