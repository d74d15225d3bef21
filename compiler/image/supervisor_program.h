#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/image/steps.h"
#include "compiler/image/storage.h"
#include "compiler/image/tile_program.h"
#include "compiler/program/program.h"
#include "compiler/schedule/schedule.h"
#include "isa/machine_config.h"
#include "isa/program_image.h"

namespace superstep {

/// Rows of each kind of visit to the host, by participant.
struct HostRows {
  std::vector<ExchangeRow> first, next, last;
};

/// A visit to the host inside a call.
struct FeedPlan {
  HostPhase phase;
  std::vector<ExchangeRow> rows;  ///< by participant
};

/// What the supervisors of all tiles execute.
struct SupervisorPlan {
  const LoweredProgram& program;
  const MachineConfig& machine;
  const CodeletLibrary& library;
  const Storage& storage;
  BufferId states{};
  std::span<const ExchangePhase> phases;     ///< by superstep
  std::optional<std::uint32_t> after_visit;  ///< as `superstep_after_visit` has it
  const MarkedSteps& steps;
  HostRows host;
  std::map<std::uint32_t, FeedPlan> feeds;  ///< by superstep
  bool shares_rows = false;  ///< rows that a tile has several times are there once, and called
};

/// Writes the supervisor program of participant `number`, and says in `image` which step is where.
void emit_program(const SupervisorPlan& plan, std::size_t number, TileProgram& tile,
                  ProgramImage& image);

}  // namespace superstep
