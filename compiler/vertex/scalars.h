#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/vertex/expression.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Arithmetic on single words, which the supervisor of each tile does with the copies that the tile
/// holds: what counts the trips of a loop, for example.
struct Scalars {
  struct Store {
    BufferId to{};
    Node value;
  };
  Expression expression;
  std::vector<BufferId> inputs;  ///< by input of the expression; words, or a byte that is 0 or 1
  std::vector<Store> stores;     ///< after everything is computed
  std::optional<Node> decision;  ///< what a loop or branch goes by

  [[nodiscard]] Node input(BufferId word, DType dtype);
  [[nodiscard]] bool is_empty() const { return stores.empty() && !decision; }
};

/// Whether a supervisor has instructions for a step; of divisions by powers of two.
[[nodiscard]] bool is_scalar(const Expression& expression, const Expression::Step& step);

/// An instruction of a supervisor, of which nothing but the address of a buffer may be open.
struct ScalarInstruction {
  std::uint32_t word = 0;
  std::optional<BufferId> address;  ///< its place on the tile fills the low 20 bits
};
struct ScalarCode {
  std::vector<ScalarInstruction> instructions;
  std::size_t first_store = 0;  ///< from this instruction on memory changes
  std::uint32_t decision = 0;   ///< the register that has it
};

/// Empty when they need more registers than these, or instructions that a supervisor does not have.
[[nodiscard]] std::optional<ScalarCode> scalar_code(const Scalars& scalars,
                                                    std::span<const std::uint32_t> registers);

}  // namespace superstep::vertex
