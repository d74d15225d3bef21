#include "compiler/lower/reductions/cut_reduction.h"

#include <algorithm>
#include <utility>

#include "base/divide.h"

namespace superstep {
namespace {

class CutPlanner {
 public:
  CutPlanner(const MachineConfig& machine, std::int64_t results, std::int64_t final_width,
             bool may_split, bool reduced_inside, const ReduceCosts& first,
             const ReduceCosts& later)
      : tiles_(machine.tiles()),
        costs_(machine),
        first_(first),
        later_(later),
        results_(results),
        final_width_(final_width),
        may_split_(may_split),
        reduced_inside_(reduced_inside) {}

  /// The cut with the least cycles, by exhaustive search; stages that follow are planned alike.
  [[nodiscard]] std::pair<std::int64_t, ReductionCut> best(std::int64_t reduced,
                                                           int stages_left) const {
    const ReduceCosts& reduce = stages_left == 0 ? later_ : first_;
    const std::int64_t last_stage = stage(reduce, reduced, final_width_);
    std::pair<std::int64_t, ReductionCut> best{last_stage, {final_width_, 1}};
    if (stages_left == 0) return best;
    for (std::int64_t width = final_width_;; width = divide_up(width, 2)) {
      const std::int64_t most =
          std::min(reduced / 2, std::int64_t{tiles_} / divide_up(results_, width));
      std::int64_t last_depth = reduced;
      if (width < final_width_ && divide_up(results_, width) <= tiles_) {
        const std::int64_t cycles =
            stage(reduce, reduced, width) + costs_.phase() + costs_.moved(final_width_);
        if (cycles < best.first) best = {cycles, {width, 1}};
      }
      for (std::int64_t splits = 2; may_split_ && splits <= most; ++splits) {
        const std::int64_t depth = divide_up(reduced, splits);
        if (depth == last_depth) continue;
        last_depth = depth;
        const std::int64_t first = stage(reduce, depth, width);
        if (first >= best.first) continue;
        const std::int64_t cycles = first + this->best(divide_up(reduced, depth), 0).first;
        if (cycles < best.first) best = {cycles, {width, divide_up(reduced, depth)}};
      }
      if (width == 1) break;
    }
    return best;
  }

 private:
  [[nodiscard]] std::int64_t stage(const ReduceCosts& reduce, std::int64_t depth,
                                   std::int64_t width) const {
    // Elements come in runs along the inner axis.
    const std::int64_t gather =
        reduced_inside_ ? reduce.gather(width, depth) : reduce.gather(depth, width);
    return gather + reduce.cycles(width, depth);
  }

  std::uint32_t tiles_;
  Costs costs_;
  const ReduceCosts& first_;
  const ReduceCosts& later_;
  std::int64_t results_, final_width_;
  bool may_split_, reduced_inside_;
};

}  // namespace

ReductionCut cut_reduction(const MachineConfig& machine, ReductionSize size,
                           std::int64_t final_width, bool may_split, bool reduced_inside,
                           const ReduceCosts& first, const ReduceCosts& later) {
  const CutPlanner planner(machine, size.results, final_width, may_split, reduced_inside, first,
                           later);
  const auto [cycles, cut] = planner.best(size.reduced, 1);
  return {cut.width, cut.splits, cycles};
}

}  // namespace superstep
