#pragma once

#include <algorithm>
#include <cstdint>

#include "isa/machine_config.h"
#include "isa/timing.h"

namespace superstep {

/// What things take on a machine, as planners see them before anything is scheduled or placed:
/// cycles unless a name says bytes. Each quantity stands here once, derived from the machine's
/// description; what is fitted says to what. `slots` are those of one worker, as vertices count
/// their own.
class Costs {
 public:
  explicit Costs(const MachineConfig& machine);

  /// An exchange phase besides what moves through its busiest port: the barrier, and the path of a
  /// word between two tiles, on average over the chip.
  [[nodiscard]] std::int64_t phase() const { return phase_; }
  /// What a port takes for so many words that follow each other.
  [[nodiscard]] std::int64_t moved(std::int64_t words) const {
    return static_cast<std::int64_t>(item_.cycles_of(static_cast<std::uint64_t>(words)));
  }
  /// The same for words that come in so many transfers.
  [[nodiscard]] std::int64_t port(std::int64_t words, std::int64_t transfers) const {
    return std::max(moved(words), transfers) + transfers * kGapPerTransfer;
  }
  /// What moves in a phase whose busiest ports take so long to receive and to send: schedules lose
  /// some where both ends are busy.
  [[nodiscard]] static std::int64_t exchange(std::int64_t receive, std::int64_t send) {
    return std::max(receive, send) + std::min(receive, send) * kBusyEndsPercent / 100;
  }
  /// A launch besides what its workers issue.
  [[nodiscard]] std::int64_t launch() const { return launch_; }
  /// A launch that takes so long on an idle tile, by the timing of its code.
  [[nodiscard]] std::int64_t launch_of(std::int64_t timed) const { return overhead_ + timed; }
  /// A launch whose busiest worker issues so many slots.
  [[nodiscard]] std::int64_t launch(std::int64_t slots) const { return launch_ + period_ * slots; }

  /// To copy so many runs of `run` elements to other places on a tile, in `boxes` strided boxes.
  [[nodiscard]] std::int64_t copy(std::int64_t boxes, std::int64_t runs, std::int64_t run,
                                  std::uint32_t element_bytes) const;

  /// The price of a transfer [chosen by bench/fit_by_builds.py on 30 generated layers on bow and
  /// small64. Device cycles are above the least of 11 builds, which differ in these two and in
  /// kLaunchPrice, by 0.42 % on average with 2, 0.66 % with 1 and 0.85 % with 0. On 12 layers and 3
  /// deep networks, the averages and 95th percentiles are 0.60 and 3.5 % with 0, 1.21 and 4.1 %
  /// with 1, 0.78 and 0.5 % with 2, 0.97 and 1.6 % with 3]. It is no time: bench/fit_exchange.py
  /// finds 0 cycles and 15 percent over 304 phases of products, transposes and layers on bow, with
  /// residuals of 4.5 % at the median and 16.7 % at the 95th percentile; 2 cycles and 5 percent
  /// have 7.8 and 81.8 %. Percent of the less busy end that are lost [chosen; with a gap of 1,
  /// layers have the same mean with 0, 5 and 10].
  static constexpr std::int64_t kGapPerTransfer = 2, kBusyEndsPercent = 5;
  /// Bytes of a sender's and of a receiver's row for one transfer: an instruction of one word, or
  /// of two where mux and pointer change at once, and the delay until the next.
  static constexpr std::int64_t kSendRowBytes = 8, kReceiveRowBytes = 12;
  /// Transfers into one interval above which the code of their rows on both tiles counts more than
  /// their cycles.
  [[nodiscard]] std::int64_t many_transfers() const { return many_transfers_; }

  /// Elements of a tensor on a tile at least: fewer would save device cycles, but arguments on more
  /// tiles take the host longer [chosen by bench/fit_by_builds.py on 12 generated layers, 3 deep
  /// networks and 6 sums on bow and small64. Device cycles, and those with the host's, are above
  /// the least of these values on average by 1.5 and 8.4 % with 4, 1.8 and 8.5 % with 8, 2.7
  /// and 4.7 % with 16, 4.4 and 1.6 % with 32: between the two].
  static constexpr std::int64_t kLeastPerTile = 16;
  /// The same of a tensor that the host does not move at each call [measured on bow: with 16, 8 and
  /// 4 a call of models/cnn takes 27,223, 26,847 and 26,773 device cycles, one of models/ensemble
  /// 10,996, 10,838 and 10,844; first and last visit of the host take longer].
  static constexpr std::int64_t kLeastOnDevice = 8;

 private:
  ExchangeItem item_;
  std::int64_t workers_, period_, phase_, overhead_, launch_, many_transfers_;
};

}  // namespace superstep
