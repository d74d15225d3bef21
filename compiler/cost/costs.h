#pragma once

#include <algorithm>
#include <cstdint>

#include "isa/machine_config.h"

namespace superstep {

/// What things take on a machine, as planners see them before anything is scheduled or placed:
/// cycles unless a name says bytes. Each quantity stands here once, derived from the machine's
/// description; what is fitted says to what. `slots` are those of one worker, as vertices count
/// their own.
class Costs {
 public:
  explicit Costs(const MachineConfig& machine);

  /// An exchange phase besides the words of its busiest port: the barrier, and the path of a word
  /// between two tiles, on average over the chip.
  [[nodiscard]] std::int64_t phase() const { return phase_; }
  /// What a port takes for words that come in so many transfers.
  [[nodiscard]] static std::int64_t port(std::int64_t words, std::int64_t transfers) {
    return words + transfers * kGapPerTransfer;
  }
  /// The words of a phase whose busiest ports take so long to receive and to send: schedules lose
  /// some where both ends are busy.
  [[nodiscard]] static std::int64_t exchange(std::int64_t receive, std::int64_t send) {
    return std::max(receive, send) + std::min(receive, send) * kBusyEndsPercent / 100;
  }
  /// A launch besides what its workers issue.
  [[nodiscard]] std::int64_t launch() const { return launch_; }
  /// A launch that takes so long on an idle tile, by the timing of its code.
  [[nodiscard]] std::int64_t launch_of(std::int64_t timed) const { return overhead_ + timed; }
  /// A launch whose busiest worker issues so many slots.
  [[nodiscard]] std::int64_t launch(std::int64_t slots) const { return launch_ + workers_ * slots; }

  /// To copy so many runs of `run` elements to other places on a tile, in `boxes` strided boxes.
  [[nodiscard]] std::int64_t copy(std::int64_t boxes, std::int64_t runs, std::int64_t run,
                                  std::uint32_t element_bytes) const;

  /// Cycles that a port is idle for each transfer, and percent of the less busy end that are lost
  /// [fitted by bench/fit_exchange.py on bow to the 73 phases of 60 generated products and
  /// transposes. Residuals are 1.6 % at the median and 18.4 % at the 95th percentile; least squares
  /// give 0.9 and 10 % with 3.0 % and 16.4 %. A transfer takes row code too].
  static constexpr std::int64_t kGapPerTransfer = 2, kBusyEndsPercent = 5;
  /// Bytes of a sender's and of a receiver's row for one transfer: an instruction of one word, or
  /// of two where mux and pointer change at once, and the delay until the next.
  static constexpr std::int64_t kSendRowBytes = 8, kReceiveRowBytes = 12;

 private:
  std::int64_t workers_, phase_, overhead_, launch_;
};

}  // namespace superstep
