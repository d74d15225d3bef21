#pragma once

#include <optional>
#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Reduces `outer x reduced x inner` over the middle axis.
struct Reduce {
  Expression expression;
  std::vector<Node> outputs;
  std::vector<DType> dtypes;
  ReduceBy by = ReduceBy::kColumns;

  /// One of the values that are reduced together.
  struct Value {
    std::optional<std::uint32_t> constant;  ///< the initial value's bits, which the state holds,
    StateWord initial;                      ///< or its address
    StateWord output, input;
  };
  struct State {
    std::int64_t outer = 1, reduced = 1, inner = 1;
    std::vector<Value> values;

    [[nodiscard]] VertexState words() const;
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const {
    if (by == ReduceBy::kColumns) return reduce(machine, expression, outputs, dtypes);
    return reduce_rows(machine, expression, outputs, dtypes, by == ReduceBy::kOddRow);
  }
  void interpret(const StateView& state) const;
};

}  // namespace superstep::vertex
