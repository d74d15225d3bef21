#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/timing.h"
#include "isa/values.h"
#include "sim/exchange/port_log.h"
#include "sim/state_archive.h"
#include "sim/tile/call_stack.h"
#include "sim/tile/control_values.h"
#include "sim/tile/loop_trips.h"
#include "sim/tile/memory_port.h"
#include "sim/trap.h"

namespace superstep {

/// The slots that running workers take from the supervisor.
class WorkerSlots {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  explicit WorkerSlots(const MachineConfig& machine)
      : workers_(machine.tile.workers), period_(machine.issue_period()) {}

  /// The first slot of worker `id`, launched at `issue`, at least `delay` cycles later. Workers
  /// take turns in the order of their ids, from the first one launched on an idle tile.
  [[nodiscard]] std::uint64_t first_of(std::uint32_t id, std::uint64_t issue, std::uint64_t delay);
  /// Worker `id` issues at `first`, then every issue period until it turns out to leave.
  void start(std::uint32_t id, std::uint64_t first) {
    if (spans_.empty()) spans_.resize(workers_);
    spans_[id] = {first, kNever};
    all_left_ = kNever;
    ++running_;
  }
  /// It has left at `end`.
  void leave(std::uint32_t id, std::uint64_t end) {
    spans_[id].end = end;
    last_end_ = std::max(last_end_, end);
    if (--running_ == 0) all_left_ = last_end_;
  }
  /// Whether a worker that may not have left issues in a cycle.
  [[nodiscard]] bool owned(std::uint64_t cycle) const;
  /// The first cycle from `cycle` on that no worker owns, all of which are known to leave.
  [[nodiscard]] std::uint64_t free_from(std::uint64_t cycle) const {
    return cycle >= all_left_ ? cycle : free_among_workers(cycle);
  }
  /// When the last worker has left, `kNever` until that turns out.
  [[nodiscard]] std::uint64_t all_left() const { return all_left_; }
  [[nodiscard]] std::uint32_t workers() const { return workers_; }
  [[nodiscard]] bool busy(std::uint32_t id, std::uint64_t cycle) const {
    return !spans_.empty() && spans_[id].end > cycle;
  }

  template <class Archive>
  void state(Archive& archive) {
    auto& [number, period, spans, all_left, last_end, running, turn] = *this;
    spans.resize(number);
    state_of_same_size(archive, spans);
    archive(all_left, last_end, running, turn);
  }

 private:
  /// From the first slot of a worker to when it has left.
  struct Span {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  [[nodiscard]] std::uint64_t free_among_workers(std::uint64_t cycle) const;

  std::uint32_t workers_;
  std::uint64_t period_;
  std::vector<Span> spans_;  ///< by worker; none before the first launch
  std::uint64_t all_left_ = 0;
  std::uint64_t last_end_ = 0;  ///< of those that are known to leave
  std::uint32_t running_ = 0;   ///< the others
  std::uint64_t turn_ = 0;      ///< a slot of worker 0
};

/// State of a tile's supervisor.
struct SupervisorContext {
  enum class Stop : std::uint8_t { kNone, kSync, kFault, kExchangeDone, kInterrupted, kPaused };
  /// Of a sync of other tiles that this one takes part in without waiting.
  struct Acknowledgement {
    std::uint32_t zone = 0;  ///< 0 internal, 1 external
    std::uint64_t cycle = 0;
  };

  SupervisorContext(const MachineConfig& machine, TileMemory& memory)
      : encoding(machine.isa.encoding), item(machine), port(machine, memory), slots(machine) {}

  Encoding encoding;
  ExchangeItem item;
  MemoryPort port;
  std::uint32_t tile = 0;  ///< $TILE_ID
  ControlValues csrs;
  bool sets_float_state = false;  ///< FP_ICTL, FP_INFMT or FP_ISCL is not 0
  std::string named_cause;        ///< what `cause` is of, where it names an address or number

  // What each superstep needs, as far as `WorkerLauncher::cold`: many tiles take turns in the
  // caches of a host.
  std::array<isa::U32, 16> registers{};
  std::array<std::uint64_t, 16> ready{};  ///< when a register's value can be used
  WorkerSlots slots;
  PortLog ports;
  std::vector<SentWord> sent_beside_workers;     ///< of the log's sends, by cycle
  std::uint64_t now = 0;                         ///< the next instruction issues then or later
  std::uint64_t operands_ready = 0, issued = 0;  ///< of the last instruction
  std::uint32_t pc = 0;
  CallStack calls;
  LoopTrips loops;
  std::uint32_t outgoing = 0;      ///< address after the last word sent
  std::uint32_t send_control = 0;  ///< of the last send
  Stop stop = Stop::kNone;
  std::uint32_t zone = 0;
  std::uint64_t arrival = 0;   ///< at the sync it stopped at
  std::uint64_t earliest = 0;  ///< the tile cannot go on before, even when the sync opens
  std::optional<Acknowledgement> armed;
  const char* cause = nullptr;         ///< of a fault; null when it is a worker's
  TrapKind kind = TrapKind::kProgram;  ///< of the cause

  /// Of a tile that waits at a sync; what its ports were told before is over.
  template <class Archive>
  void state(Archive& archive) {
    auto& [encoding_of, item_of, port_of, number, cs, sets_floats, why_named, m, m_ready, slots_of,
           told, sent_beside, next, operands, last_issue, at, open_calls, trips, sent_until,
           control, stopped, sync_zone, arrived, not_before, acknowledgement, why, why_kind] =
        *this;
    archive(m, m_ready, cs, sets_floats, slots_of, next, operands, last_issue, at, open_calls,
            trips, sent_until, control, stopped, sync_zone, arrived, not_before, acknowledgement);
    if constexpr (Archive::kReads) {
      told.clear();
      sent_beside.clear();
      why = nullptr;
      why_kind = TrapKind::kProgram;
    }
  }
};

}  // namespace superstep
