#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/vertex/codelet.h"

namespace superstep {

/// The codelets of a program, equal code once. Equal code may divide its work in different ways.
class CodeletLibrary {
 public:
  CodeletLibrary(const MachineConfig& machine, const std::vector<CodeletSpec>& specs);

  [[nodiscard]] const vertex::Codelet& codelet(std::uint32_t spec) const { return by_spec_[spec]; }
  /// Bytes of stack that any worker needs.
  [[nodiscard]] std::uint32_t stack_bytes() const;
  /// Codelets without duplicates of code.
  [[nodiscard]] const std::vector<vertex::Codelet>& codelets() const { return codelets_; }
  /// The place of a codelet in `codelets`.
  [[nodiscard]] std::uint32_t number(std::uint32_t spec) const { return numbers_[spec]; }

 private:
  std::vector<vertex::Codelet> by_spec_;
  std::vector<std::uint32_t> numbers_;  ///< by spec
  std::vector<vertex::Codelet> codelets_;
};

}  // namespace superstep
