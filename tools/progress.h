#pragma once

#include <chrono>
#include <string>

namespace superstep {

/// What a command is doing, on stderr: one line that is rewritten on a terminal, else a line every
/// few seconds. With CI set or TERM=dumb there is no terminal.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether enough time has passed to show another line: ask before making a costly text.
  [[nodiscard]] bool due() const;

  /// Shows `text` when it is due; without a terminal, if it is another one than the last.
  void show(const std::string& text);

  /// The same for something that may take long: on a terminal at once. `advice` is what to do where
  /// that is interrupted.
  void stage(const std::string& text, const std::string& advice = {});

  /// What every later text begins with.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

  /// Removes the line from a terminal, so that other output begins on an empty one.
  void clear();

 private:
  bool quiet_, terminal_;
  bool shown_ = false;
  std::string prefix_, last_;
  std::chrono::steady_clock::time_point next_;
};

/// What the Progress of this process said last, shown or not, and its advice; empty when it is
/// done. From any thread.
[[nodiscard]] std::string current_stage();

}  // namespace superstep
