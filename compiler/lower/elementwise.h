#pragma once

#include <map>
#include <vector>

#include "compiler/lower/values.h"

namespace superstep {

/// Fuses elementwise ops of equal element count that can run at the same time: they own the same
/// elements of each tile, so one vertex computes them all.
class ElementwiseFusion {
 public:
  ElementwiseFusion(ProgramBuilder& builder, Values& values, const Graph& graph)
      : builder_(builder), values_(values), graph_(graph) {}

  /// Schedules an op; its code comes with `finish`.
  void add(const Op& op);
  /// Emits the vertices of all ops. Every use of a value outside of its group has asked for its
  /// storage by now.
  void finish();

 private:
  struct Input {
    BufferId buffer{};
    vertex::Access access = vertex::Access::kVector;
    auto operator<=>(const Input&) const = default;
  };
  /// An operand that no op of a group computes.
  struct Scalar {
    const Op* op;
    std::size_t operand;
    auto operator<=>(const Scalar&) const = default;
  };
  using Group = std::vector<const Op*>;

  std::vector<Group> parts(const Group& group) const;
  void emit(Time time, std::int64_t elements, const Group& part);

  ProgramBuilder& builder_;
  Values& values_;
  const Graph& graph_;
  std::map<std::pair<Time, std::int64_t>, Group> groups_;
  std::map<Scalar, BufferId> scalars_;  ///< operands that are one element, spread over the tiles
};

/// Text that is equal for equal expressions.
[[nodiscard]] std::string expression_key(const vertex::Expression& expression,
                                         const std::vector<vertex::Node>& outputs);

}  // namespace superstep
