#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/units.h"
#include "isa/program_image.h"
#include "sim/exchange/port_event.h"
#include "sim/machine.h"
#include "sim/tile/memory.h"

namespace superstep {

/// A tile's side of a host phase.
struct HostPort {
  TileId tile{};
  const std::vector<PortEvent>* events = nullptr;  ///< between the two external syncs
  TileMemory* memory = nullptr;
};

/// What a tile did that the stream table does not say.
struct HostFault {
  std::uint64_t cycle = 0;
  TileId tile{};
  std::uint32_t pc = 0;
  std::string cause;
};

/// One host phase as it happened.
struct FinishedPhase {
  Cycles duration;          ///< of the host's work, from the first external barrier's opening
  std::uint64_t bytes = 0;  ///< both directions
  std::vector<HostTransfer> transfers;
  std::optional<HostFault> fault;
};

/// The host process: holds arguments and results, and moves them during host phases along the
/// image's stream table.
class HostLink {
 public:
  /// `image` and `arguments` outlive the link.
  HostLink(const ProgramImage& image, const std::vector<HostTensor>& arguments,
           std::uint32_t calls);

  /// Moves the data of the next phase: results out of tile memory, then arguments into it. `ports`
  /// ascend by tile.
  [[nodiscard]] FinishedPhase visit(std::span<const HostPort> ports);

  /// Phases so far; the program has `calls` + 1.
  [[nodiscard]] std::uint32_t visits() const { return visits_; }
  [[nodiscard]] bool done() const { return visits_ == calls_ + 1; }
  [[nodiscard]] std::vector<HostTensor> take_results() { return std::move(results_); }

 private:
  [[nodiscard]] const HostPhase& phase() const;
  void receive(const Stream& stream, std::span<const HostPort> ports);
  void send(const Stream& stream, std::span<const HostPort> ports);
  [[nodiscard]] bool is_sent(const Stream& stream) const;

  const ProgramImage& image_;
  const std::vector<HostTensor>& arguments_;
  std::uint32_t calls_;
  std::uint32_t visits_ = 0;
  std::vector<HostTensor> results_;
};

}  // namespace superstep
