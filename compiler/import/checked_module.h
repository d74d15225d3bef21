#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compiler/graph/graph.h"

namespace superstep {

/// What a module claims of two tensors, as the `check` dialect of StableHLO defines it.
struct Check {
  enum class Kind : std::uint8_t {
    kEqual,        ///< the same numbers
    kAlmostEqual,  ///< no more than `tolerance` apart
    kClose,        ///< `least_ulps` to `most_ulps` apart
  };
  Kind kind = Kind::kEqual;
  double tolerance = 0;
  std::uint64_t least_ulps = 0, most_ulps = 0;
  std::size_t line = 0;  ///< of the file
};

/// A module that says itself what it should compute. Its data, which the text has as constants, are
/// arguments: what functions return that are made of constants alone and, where no check depends on
/// such, the constants of `main`. A `check` and its kin are results instead.
struct CheckedModule {
  std::string function;  ///< that holds the checks
  Module module;         ///< result 2 i is what check i found, result 2 i + 1 what it expects
  std::vector<HostTensor> data;     ///< by argument
  std::vector<HostTensor> infeeds;  ///< by tensor of a visit; the first axis counts visits
  std::vector<Check> checks;
};

/// The modules of a file that `stablehlo-translate -split-input-file` sees, each at its lines.
[[nodiscard]] std::vector<std::string> split_modules(std::string_view text);

/// Throws what `import_stablehlo` throws, and Unsupported for a text without checks that are known.
[[nodiscard]] CheckedModule import_checked(std::string_view text, const std::string& file);

}  // namespace superstep
