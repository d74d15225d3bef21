#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/lower/reductions/reduce.h"
#include "compiler/lower/values.h"

namespace superstep {

/// A reduction of one or more values of equal index space over some of its axes.
struct Reduction {
  Combine combine;
  std::optional<vertex::Reduce> converting = {};  ///< `combine` of elements yet to be converted
  DType element = DType::kF32;                    ///< of these
  Axes kept,
      reduced;  ///< sizes and `from` strides; row-major order of results and of combination
  /// Copies that read the elements of each value through a box of its flat numbers.
  std::vector<std::function<Reading(const Box&)>> read;
  std::vector<Splat> initial;
  bool may_repeat_initial = false;  ///< which combine with themselves to themselves
  bool is_useful = true;            ///< its floating-point operations count
  LayoutPtr layout;                 ///< of the results, with single-tile intervals
};

/// Results of a reduction, and when they are there.
struct Reduced {
  std::vector<BufferId> results;
  Time time;
};

/// The steps of a reduction of `operands`: where they lie, or where they are gathered.
[[nodiscard]] Reduced lower_reduction(ProgramBuilder& builder, Values& values,
                                      const Reduction& reduction,
                                      const std::vector<ValueId>& operands, const Origin& origin);

/// Estimated cycles of a reduction whose operands lie in `layout`, or nowhere yet where that is
/// null. What combines the parts of one result is left out of the former.
[[nodiscard]] std::int64_t estimate_reduction(ProgramBuilder& builder, Values& values,
                                              const Reduction& reduction, const LayoutPtr& layout);

}  // namespace superstep
