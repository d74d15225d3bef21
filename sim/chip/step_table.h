#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "isa/program_image.h"

namespace superstep {

/// Finds the step that begins at a pc of a tile.
class StepTable {
 public:
  explicit StepTable(const ProgramImage& image)
      : marks_(image.marks), none_(static_cast<std::uint32_t>(image.info.steps.size())) {
    std::ranges::sort(marks_, before);
  }

  /// `calls_step` is that of the open calls.
  [[nodiscard]] std::uint32_t find(TileId tile, std::uint32_t pc, std::uint32_t calls_step) const {
    const StepMark wanted{tile, pc, 0};
    const auto mark = std::ranges::lower_bound(marks_, wanted, before);
    return mark != marks_.end() && mark->tile == tile && mark->pc == pc
               ? std::min(mark->step + calls_step, none_)
               : none_;
  }
  [[nodiscard]] bool is_empty() const { return marks_.empty(); }
  /// Of code between steps.
  [[nodiscard]] std::uint32_t none() const { return none_; }

 private:
  static bool before(const StepMark& a, const StepMark& b) {
    return std::tie(a.tile, a.pc) < std::tie(b.tile, b.pc);
  }

  std::vector<StepMark> marks_;
  std::uint32_t none_;
};

}  // namespace superstep
