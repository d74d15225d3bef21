#include "compiler/vertex/vertex.h"

#include "base/error.h"

namespace superstep::vertex {

Codelet code_of(const Vertex& vertex, const MachineConfig& machine) {
  return std::visit([&](const auto& kind) { return kind.code(machine); }, vertex);
}

void interpret(const Vertex& vertex, const StateView& state) {
  const auto interpret_kind = [&](const auto& kind) {
    if constexpr (requires { kind.interpret(state); }) {
      kind.interpret(state);
    } else {
      SUPERSTEP_CHECK(false, "blocks of common weights are interpreted with them");
    }
  };
  std::visit(interpret_kind, vertex);
}

}  // namespace superstep::vertex
