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

  /// The price of a transfer [chosen by bench/fit_by_builds.py on 30 generated layers on bow and
  /// small64. Device cycles are above the least of 11 builds, which differ in these two and in
  /// kLaunchPrice, by 0.42 % on average with 2, 0.66 % with 1 and 0.85 % with 0]. It is no time:
  /// bench/fit_exchange.py finds 0 cycles and 15 percent over 304 phases of products, transposes
  /// and layers on bow, with residuals of 4.5 % at the median and 16.7 % at the 95th percentile;
  /// 2 cycles and 5 percent have 7.8 and 81.8 %. digits_mlp on bow takes 6,690 cycles with 2 and
  /// 6,917 with 1: one product then has fewer tiles, so that a reduction behind it lies on tiles of
  /// another product.
  /// Percent of the less busy end that are lost [chosen; with a gap of 1, layers have the same mean
  /// with 0, 5 and 10].
  static constexpr std::int64_t kGapPerTransfer = 2, kBusyEndsPercent = 5;
  /// Bytes of a sender's and of a receiver's row for one transfer: an instruction of one word, or
  /// of two where mux and pointer change at once, and the delay until the next.
  static constexpr std::int64_t kSendRowBytes = 8, kReceiveRowBytes = 12;

 private:
  std::int64_t workers_, phase_, overhead_, launch_;
};

}  // namespace superstep
