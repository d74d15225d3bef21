#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/image/storage.h"
#include "compiler/image/tile_code.h"
#include "compiler/program/program.h"
#include "isa/machine_config.h"

namespace superstep {

/// One launch of a tile's program.
struct PlacedLaunch {
  std::uint32_t superstep = 0;  ///< its number in `supersteps_of`
  std::uint32_t set = 0;        ///< of the superstep
  std::uint32_t codelet = 0;
  std::uint32_t state = 0;          ///< byte of the tile's states
  std::uint32_t worker_states = 0;  ///< that of worker 0
  std::uint32_t stride = 0;         ///< words from one worker's state to the next
  std::uint32_t busy = 0;           ///< states that need a worker; 0: not known
  bool is_with_previous = false;    ///< runs beside the launch before
  bool shares_state = false;        ///< with an earlier launch
  const Launch* launch = nullptr;
};

/// What a participating tile runs, and where its parts of region 0 are.
struct TileProgram {
  TileId tile{};
  std::vector<PlacedLaunch> launches;
  std::vector<std::uint32_t> codelets = {};  ///< addresses by number; 0: not on this tile
  std::uint32_t stacks = 0, code = 0;        ///< addresses
  std::uint32_t state_bytes = 0;             ///< of all vertex states
  std::uint32_t entry = 0;                   ///< address in the code
  std::uint32_t code_bytes = 0;              ///< expected, then exact
  std::uint32_t row_bytes = 0;
  std::vector<std::uint32_t> words;
};

/// Places the codelets that the tile runs at the begin of region 0, then stacks, then the
/// supervisor's code.
void place_codelets(TileProgram& t, const CodeletLibrary& library, const MachineConfig& machine);

/// Places the vertex states, equal ones once, one behind the other in storage of their own.
void place_states(TileProgram& t, const CodeletLibrary& library);

/// Lets neighbours that neither wait for each other nor need all workers run at once, and says so
/// in their compute sets.
void group_launches(TileProgram& t, std::span<Superstep* const> supersteps,
                    const CodeletLibrary& library, const MachineConfig& machine);

/// What the supervisor does for launches that run at once.
[[nodiscard]] TileCode::AnyLaunch code_of(const TileProgram& t,
                                          std::span<const PlacedLaunch> launches,
                                          std::uint32_t states, const CodeletLibrary& library,
                                          const MachineConfig& machine, const Storage& storage);

/// The states of a tile's launches, and those of their workers, which lie at `states`.
[[nodiscard]] std::vector<std::uint32_t> state_words(const TileProgram& t, std::uint32_t states,
                                                     const CodeletLibrary& library,
                                                     const Storage& storage);

}  // namespace superstep
