#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "isa/machine_config.h"
#include "sim/exchange/port_log.h"
#include "sim/trap.h"

namespace superstep {

/// One tile's side of an exchange phase: what its ports were told, which `events` gives one by one.
struct FabricPort {
  TileId tile{};
  const PortLog* log = nullptr;  ///< of this phase; cycles do not decrease
  std::span<std::byte> memory;   ///< tile memory from `tile.memory_base`; what lies below all
                                 ///< addresses of the log may not be as its tile sees it
  std::span<const SentWord> sent =
      {};  ///< by cycle: what left, where memory may have changed since

  /// What the ports were told, one event after the other; cycles do not decrease.
  [[nodiscard]] std::vector<PortEvent> events() const;
};

/// Why a phase cannot happen: a trap of `tile` that names the other side in `cause`.
struct FabricFault {
  std::uint64_t cycle = 0;
  TileId tile{};
  std::uint32_t pc = 0;  ///< of the instruction that set the offending control or began the send
  std::string cause;
  TrapKind kind = TrapKind::kProgram;
};

/// What went through one tile's ports in a phase.
struct PortTraffic {
  std::uint64_t sent_bytes = 0;  ///< a multicast counts once
  std::uint64_t received_bytes = 0;
  std::uint64_t busy_cycles = 0;  ///< with a word leaving, arriving or both
  std::uint32_t messages = 0;     ///< received: unbroken, from one tile to consecutive addresses
  /// Words received, each times the rows and the columns between its tile and the receiving one.
  std::uint64_t word_rows = 0, word_columns = 0;

  bool operator==(const PortTraffic&) const = default;
};

/// What one tile's ports did in a phase.
struct PortResult {
  std::uint64_t last_event = 0;  ///< the last cycle in which they were busy or controlled; 0
                                 ///< without events
  std::uint32_t lowest_write = std::numeric_limits<std::uint32_t>::max();  ///< address, if any
  PortTraffic traffic;

  bool operator==(const PortResult&) const = default;
};

struct FabricResult {
  std::uint64_t bytes = 0;           ///< written to tile memories
  std::uint64_t last_event = 0;      ///< of all ports
  std::vector<PortResult> ports;     ///< by port
  std::optional<FabricFault> fault;  ///< the one with the smallest (cycle, tile)

  /// Whether the tile of a port, which uses its words from `cycle` on, has all of them by then.
  [[nodiscard]] bool has_all_words(std::size_t port, std::uint64_t cycle) const {
    return ports[port].last_event <= cycle && (!fault || cycle <= fault->cycle);
  }
};

/// What moves the words of the phases of a chip, one phase after the other.
class FabricModel {
 public:
  virtual ~FabricModel() = default;

  /// Moves the words of one phase between tile memories. When there is a fault, those that arrive
  /// before its cycle are written and later ones may be.
  ///
  /// A word in `source`'s send slot at cycle t is read at t and reaches `destination` at
  /// t + exchange_latency. A mux or pointer control that acts at cycle c governs the words that
  /// arrive from c on; the pointer advances by 4 with each word received. At the start of a phase
  /// every mux is idle and no pointer is set. While a mux selects a tile a word must arrive each
  /// cycle; host and idle selections receive nothing here. Where `exchange.width` is more than a
  /// word, several that follow each other move in a cycle. Where it is less, a word is read in the
  /// first of its cycles and arrives with the last, in which its receiver's mux and pointer count;
  /// as long as a selection of a tile lasts, one must arrive in any so many cycles. Sends of
  /// direction 0 go nowhere.
  ///
  /// `ports` ascend by tile. The result does not depend on the number of host threads, and is valid
  /// until the next call.
  [[nodiscard]] virtual const FabricResult& resolve(std::span<const FabricPort> ports) = 0;
};

/// Cycles from the send slot of a tile to another tile. Host threads ask side by side; it says the
/// same whenever it is asked.
using LatencyLaw = std::function<Cycles(TileId source, TileId destination)>;

/// The fabric of the machine. Schedules are static, and programs loop: it keeps the phases that it
/// resolved, and when all ports of one are told the same again, each as long after the first event,
/// only copies the words. Allocates nothing once its buffers suffice.
class Fabric : public FabricModel {
 public:
  /// `machine` outlives the fabric; throws MalformedInput for one that cannot be built. Of the
  /// phases found kept each `check_period`th is resolved again and must come out equal; none when
  /// it is 0. `law` is in place of the machine's latencies; when words are on links of a mesh or
  /// ring stays as it is.
  explicit Fabric(const MachineConfig& machine, std::uint32_t check_period = 0,
                  LatencyLaw law = {});
  ~Fabric() override;

  [[nodiscard]] const FabricResult& resolve(std::span<const FabricPort> ports) override;

  /// Phases found kept so far.
  [[nodiscard]] std::uint64_t repeats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace superstep
