#pragma once

#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "tests/generated/bounded.h"

namespace superstep {

/// A generated module, arguments for it, and what each of its values must be.
struct Program {
  Module module;
  std::vector<HostTensor> arguments;
  std::vector<Bounded> values;  ///< by value of `module.main`
};

/// The program of a seed: 1 to 12 ops (and leaves) whose sinks are its results; some arguments give
/// their storage to a result.
[[nodiscard]] Program generate_program(std::uint64_t seed);

/// The same program with one value as its only result, without the ops and arguments that it does
/// not need.
[[nodiscard]] Program only_result(const Program& program, ValueId result);

/// The ops as text, one a line, and the results.
[[nodiscard]] std::string text_of(const Module& module);

/// An element as a number and its bits.
[[nodiscard]] std::string element_text(const HostTensor& tensor, std::size_t element);

}  // namespace superstep
