#pragma once

#include <functional>

namespace superstep {

/// From here on a thread of its own waits for the signals that ask the process to end (SIGINT,
/// SIGTERM, SIGHUP). It calls `say_interrupted`, removes temporary files and ends the process with
/// ExitCode::kInterrupted, unless an InterruptRequest takes the first of them. Writing to a closed
/// pipe or beyond the file size limit is an error of the call, no signal. To be called once, before
/// other threads start.
void take_signals(std::function<void()> say_interrupted);

/// While one lives, the first signal only sets `asked`, and the next ends the process.
class InterruptRequest {
 public:
  InterruptRequest();
  InterruptRequest(const InterruptRequest&) = delete;
  InterruptRequest& operator=(const InterruptRequest&) = delete;
  ~InterruptRequest();

  /// Whether a signal has come; from any thread.
  [[nodiscard]] bool asked() const;
};

}  // namespace superstep
