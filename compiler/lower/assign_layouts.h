#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/program/layout.h"

namespace superstep {

/// Where the values of a graph lie if they are stored and nothing about their operands is better.
/// Decided from all uses of all values before any is lowered; tiles are taken when a layout is
/// first asked for.
class AssignedLayouts {
 public:
  /// What the values of a group have in common.
  struct Group {
    TensorType type;  ///< of its first value; the others have as many elements
    LayoutWish wish;
    /// Whether a result of the group takes an argument's storage: it is computed there, and so is
    /// what leads to it element by element.
    bool is_fixed = false;
    LayoutPtr layout = {};  ///< of a group that lies somewhere already
  };

  AssignedLayouts(Layouts& layouts, std::vector<Group> groups, std::vector<std::size_t> group_of)
      : layouts_(layouts), groups_(std::move(groups)), group_of_(std::move(group_of)) {}

  [[nodiscard]] LayoutPtr of(ValueId v) const {
    const Group& group = group_of(v);
    return group.layout ? group.layout : layouts_.of(group.type, group.wish);
  }
  /// The same in row-major order without padding, for what is made interval by interval.
  [[nodiscard]] LayoutPtr in_order(ValueId v) const {
    const LayoutPtr layout = of(v);
    const Group& group = group_of(v);
    if (layout->is_row_major() && layout->elements() == group.type.elements()) return layout;
    return layouts_.of(
        group.type,
        {.row = group.wish.row, .least = group.wish.least, .company = group.wish.company});
  }
  [[nodiscard]] bool is_fixed(ValueId v) const { return group_of(v).is_fixed; }

 private:
  [[nodiscard]] const Group& group_of(ValueId v) const { return groups_[group_of_[index(v)]]; }

  Layouts& layouts_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  ///< by value
};

/// Groups the values of a module's main graph that should lie alike (operands and results of
/// elementwise ops, what is only reshaped, arguments and the results that take their storage), and
/// lets the users of each group vote on how it is cut. Of a region `placed` says where arguments
/// lie, which stay there; without it arguments and results are the host's.
[[nodiscard]] AssignedLayouts assign_layouts(const Module& module, Layouts& layouts,
                                             const std::map<ValueId, LayoutPtr>* placed = nullptr);

}  // namespace superstep
