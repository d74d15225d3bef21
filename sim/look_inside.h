#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/units.h"
#include "sim/chip/tile_array.h"
#include "sim/chip/tile_states.h"
#include "sim/code_place.h"
#include "sim/exchange/fabric.h"
#include "sim/task_arena.h"

namespace superstep {

/// Shows the tiles of a chip as they were at a cycle of a superstep that they have run: brings back
/// the opening before it, and replays them, and their exchange, up to the cycle. The run itself
/// stays where it is.
class LookInside {
 public:
  using MakeFabric = std::function<std::unique_ptr<FabricModel>()>;

  /// All that is referred to outlives it. Replays have a fabric of their own.
  LookInside(TileArray& tiles, MakeFabric make_fabric, TaskArena& arena);

  /// The tiles are at an opening, and run next.
  void keep(Cycles opening);
  /// Others run next that were not kept.
  void forget() { opening_.reset(); }
  /// Of the superstep that can be shown.
  [[nodiscard]] std::optional<Cycles> opening() const { return opening_; }

  /// All that issues, and all words that arrive, before `cycle` has happened. False when the run
  /// was interrupted.
  [[nodiscard]] bool show(Cycles cycle);
  [[nodiscard]] bool is_shown() const { return is_shown_; }
  /// The tiles are as the run left them. Observers of instructions must be attached again.
  void leave();

  /// Cycles of the superstep in which an instruction at a place issued, ascending. As behind
  /// `show`, the tiles must `leave`. None when the run was interrupted.
  [[nodiscard]] std::optional<std::vector<Cycles>> find(const CodePlace& place);

 private:
  void go_to_opening();
  [[nodiscard]] bool run(const std::vector<InstructionObserver*>& observers,
                         std::optional<Cycles> until);
  void move_words(std::optional<Cycles> until, std::vector<TileStop>& stops);

  TileArray& tiles_;
  MakeFabric make_fabric_;
  std::unique_ptr<FabricModel> fabric_;  ///< once one is needed
  TaskArena& arena_;
  std::optional<Cycles> opening_;
  std::vector<Cycles> releases_;  ///< by entry: when the tile goes on behind the opening
  TileStates at_opening_, of_run_;
  bool is_shown_ = false;
};

}  // namespace superstep
