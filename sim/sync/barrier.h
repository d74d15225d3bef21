#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "isa/machine_config.h"
#include "isa/sync_zones.h"
#include "sim/chip/message.h"

namespace superstep {

class Chip;

/// The barrier of one sync zone of a chip, as a process: opens when all tiles that have a program
/// wait in the zone; an external one when the host is there as well. The superstep ends when it
/// opens.
class Barrier : public MachineProcess {
 public:
  /// `chip` outlives it.
  Barrier(Chip& chip, std::uint32_t zone);

  void handle(const Message& message, MachineOutbox& out) override;
  [[nodiscard]] std::string waits_for() const override;

  /// All tiles are there, and the host is not.
  [[nodiscard]] bool waits_for_host() const;
  /// The lowest tile that waits, if one does.
  [[nodiscard]] const std::optional<WaitingTile>& first() const { return first_; }

  template <class Archive>
  void state(Archive& archive) {
    archive(tiles_, first_, last_, host_);
  }

 private:
  [[nodiscard]] bool tiles_are_there() const;
  void open_internal(MachineOutbox& out);
  void open_external(MachineOutbox& out);
  void refuse(MachineOutbox& out, std::string cause) const;
  void open(const Opening& opening, MachineOutbox& out);

  Chip& chip_;
  std::uint32_t zone_;
  std::uint32_t tiles_ = 0;  ///< that wait
  std::optional<WaitingTile> first_, last_;
  std::optional<Cycles> host_;  ///< when it came
};

/// The trap of a tile that syncs in a zone that is not modelled.
[[nodiscard]] Trap no_such_zone(const WaitingTile& tile);

}  // namespace superstep
