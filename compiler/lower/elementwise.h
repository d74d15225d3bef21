#pragma once

#include <map>
#include <vector>

#include "compiler/cost/formula_costs.h"
#include "compiler/lower/values.h"

namespace superstep {

/// Fuses elementwise ops of equal layout that can run at the same time: they own the same elements
/// of each tile, so one vertex computes them all.
class ElementwiseFusion {
 public:
  /// `users` has those of each value, and outlives the fusion.
  ElementwiseFusion(ProgramBuilder& builder, Values& values, const Graph& graph,
                    const std::vector<std::vector<const Op*>>& users)
      : builder_(builder),
        values_(values),
        graph_(graph),
        users_(users),
        formula_costs_(builder.machine()) {}

  /// Schedules an op; its code comes with `finish`.
  void add(const Op& op);
  /// Schedules an op only when the first of its users is added, as part of that one's vertex. All
  /// of them are added.
  void add_with_user(const Op& op) { waiting_[op.results[0]] = &op; }
  /// Emits the vertices of all ops. Every use of a value outside of its group has asked for its
  /// storage by now.
  void finish();

 private:
  struct Input {
    BufferId buffer{};
    vertex::Access access = vertex::Access::kVector;
    std::int64_t period = 1;
    auto operator<=>(const Input&) const = default;
  };
  /// Ops that run on the tiles of one layout at one time, in program order.
  struct Group {
    Time time;
    LayoutPtr layout;
    std::vector<const Op*> ops;
  };

  /// Ops of what one op on f64 became, so far.
  struct Unit {
    std::int64_t number = -1;
    LayoutPtr layout;
    Time time;
    std::vector<const Op*> ops;
  };

  /// What an op would take in a vertex of its own, by `FormulaCosts`.
  [[nodiscard]] std::uint32_t cycles_alone(const Op& op);
  [[nodiscard]] LayoutPtr layout_for(const std::vector<const Op*>& ops);
  /// The time of ops that could run from `time` on; those of their unit run with them.
  Time with_unit(const std::vector<const Op*>& ops, const LayoutPtr& layout, Time time);
  /// The ops that have waited for `op`, each after those that have waited for it, then `op`.
  std::vector<const Op*> with_waiting(const Op& op);
  /// The group of that time and layout.
  Group& group(Time time, const LayoutPtr& layout);
  /// Whether an operand of a scheduled op is known or stored, rather than computed in its group.
  [[nodiscard]] bool is_read(const Op& op, std::size_t i) const;
  /// Whether the op that makes a value, which is scheduled, may run with its only user instead.
  [[nodiscard]] bool may_follow(ValueId v) const;
  /// Schedules it then, and those that it alone needs.
  void follow(ValueId v, Time time);
  [[nodiscard]] std::vector<Group> parts(const Group& group) const;
  void emit(const Group& part);

  ProgramBuilder& builder_;
  Values& values_;
  const Graph& graph_;
  const std::vector<std::vector<const Op*>>& users_;
  std::vector<Group> groups_;
  Unit unit_;
  std::map<std::pair<Time, const Layout*>, std::size_t> group_numbers_;
  std::map<ValueId, const Op*> waiting_;  ///< by result
  std::map<std::pair<const Op*, std::size_t>, Input>
      inputs_;  ///< operands that no op of the group computes
  FormulaCosts formula_costs_;
};

}  // namespace superstep
