#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/vertex/vertex.h"

namespace superstep {

/// The codelets of a program, equal code once. Equal code may divide its work in different ways.
class CodeletLibrary {
 public:
  CodeletLibrary(const MachineConfig& machine, const std::vector<vertex::Vertex>& vertices);

  [[nodiscard]] const vertex::Codelet& codelet(std::uint32_t vertex) const {
    return by_vertex_[vertex];
  }
  /// Bytes of stack that any worker needs.
  [[nodiscard]] std::uint32_t stack_bytes() const;
  /// Codelets without duplicates of code.
  [[nodiscard]] const std::vector<vertex::Codelet>& codelets() const { return codelets_; }
  /// The place of a codelet in `codelets`.
  [[nodiscard]] std::uint32_t number(std::uint32_t vertex) const { return numbers_[vertex]; }

 private:
  std::vector<vertex::Codelet> by_vertex_;
  std::vector<std::uint32_t> numbers_;  ///< by vertex
  std::vector<vertex::Codelet> codelets_;
};

}  // namespace superstep
