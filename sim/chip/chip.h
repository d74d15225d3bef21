#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/units.h"
#include "isa/program_image.h"
#include "sim/chip/fabric_process.h"
#include "sim/chip/message.h"
#include "sim/chip/superstep_accounts.h"
#include "sim/chip/tile_array.h"
#include "sim/chip/trap_reporter.h"
#include "sim/host/link.h"
#include "sim/sync/barrier.h"

namespace superstep {

/// One chip: its tiles, the barriers of its sync zones, its fabric and its link to the host. What
/// its processes handle as conditional events may look at all of them; a definite one only at its
/// own.
class Chip {
 public:
  using OnSuperstep = std::function<void(const SuperstepRecord&)>;
  using MakeFabric = std::function<std::unique_ptr<FabricModel>(const MachineConfig&)>;

  /// Boots the chip. All that is referred to outlives it.
  Chip(ChipId id, const ProgramImage& image, const TileOptions& options,
       const MakeFabric& make_fabric, TaskArena& arena, MachineKernel& kernel, TrapReporter& traps,
       OnSuperstep on_superstep);

  [[nodiscard]] ChipId id() const { return id_; }
  [[nodiscard]] const MachineConfig& machine() const { return image_.machine; }
  [[nodiscard]] TileArray& tiles() { return tiles_; }
  [[nodiscard]] FabricProcess& fabric() { return fabric_; }
  [[nodiscard]] HostLink& host() { return host_; }
  [[nodiscard]] SuperstepAccounts& accounts() { return accounts_; }
  /// Null for a zone that is not modelled.
  [[nodiscard]] Barrier* barrier(std::uint32_t zone);

  void send_trap(MachineOutbox& out, Trap trap) { traps_.send(out, id_, std::move(trap)); }

  /// The superstep ended with the arrival of `last`; the next one begins at `opening`.
  void end_superstep(const WaitingTile& last, Cycles opening);

  /// Whether the tiles are between the two external syncs of a visit to the host.
  [[nodiscard]] bool is_visiting() const { return is_visiting_; }
  void visit(bool begins) { is_visiting_ = begins; }

  /// The program is done.
  void end() { has_ended_ = true; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }

  /// Of all processes, but for the memories of the tiles.
  template <class Archive>
  void state(Archive& archive) {
    auto& [id, image, traps, on_superstep, tiles, fabric, internal, external, host, accounts,
           is_visiting, has_ended] = *this;
    archive(tiles, fabric, internal, external, host, accounts, is_visiting, has_ended);
  }

  /// The trap when nothing can happen any more and the program is not done.
  [[nodiscard]] Trap deadlock(Cycles now, std::string who_waits_for_what);

 private:
  ChipId id_;
  const ProgramImage& image_;
  TrapReporter& traps_;
  OnSuperstep on_superstep_;
  TileArray tiles_;
  FabricProcess fabric_;
  Barrier internal_, external_;
  HostLink host_;
  SuperstepAccounts accounts_;
  bool is_visiting_ = false;
  bool has_ended_ = false;
};

}  // namespace superstep
