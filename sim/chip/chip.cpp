#include "sim/chip/chip.h"

#include <utility>

namespace superstep {

Chip::Chip(ChipId id, const ProgramImage& image, const TileOptions& options,
           const MakeFabric& make_fabric, TaskArena& arena, MachineKernel& kernel,
           TrapReporter& traps, OnSuperstep on_superstep)
    : id_(id),
      image_(image),
      traps_(traps),
      on_superstep_(std::move(on_superstep)),
      tiles_(*this, image, options, arena),
      fabric_(*this, make_fabric(image.machine), arena),
      internal_(*this, kZoneInternal),
      external_(*this, kZoneExternal),
      host_(*this, image),
      accounts_(*this, image, arena) {
  for (MachineProcess* process :
       std::initializer_list<MachineProcess*>{&tiles_, &fabric_, &internal_, &external_, &host_}) {
    kernel.add(*process);
  }
  if (tiles_.size() == 0) {
    has_ended_ = true;
    return;
  }
  kernel.send({.to = &tiles_, .is_definite = true, .message = Opening{}});
}

Barrier* Chip::barrier(std::uint32_t zone) {
  switch (zone) {
    case kZoneInternal:
      return &internal_;
    case kZoneExternal:
      return &external_;
    default:
      return nullptr;
  }
}

void Chip::end_superstep(const WaitingTile& last, Cycles opening) {
  const bool takes_time = opening > accounts_.begin();
  const SuperstepRecord& record = accounts_.end(last, opening);
  fabric_.open();
  if (takes_time) on_superstep_(record);
}

Trap Chip::deadlock(Cycles now, std::string who_waits_for_what) {
  // The lowest tile that does not wait where the first one does.
  std::optional<WaitingTile> blamed;
  for (const Barrier* barrier : {&internal_, &external_}) {
    if (barrier->first() && (!blamed || barrier->first()->tile > blamed->tile)) {
      blamed = barrier->first();
    }
  }
  SUPERSTEP_CHECK(blamed.has_value(), "nothing can happen any more, but no tile waits");
  return {.cycle = now,
          .chip = id_,
          .tile = blamed->tile,
          .context = "supervisor",
          .pc = blamed->pc,
          .cause = "deadlock: " + std::move(who_waits_for_what),
          .kind = TrapKind::kDeadlock};
}

}  // namespace superstep
