#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "toolchain/object.h"

namespace superstep {

/// One assembled file, and what was counted in it.
struct AssembledObject {
  Object object;
  std::uint64_t instructions = 0;  ///< as written: `ldconst` is one, the padding of `.align` none
  std::uint64_t bundles = 0;
  std::uint64_t repeats = 0;
};

/// Assembles one preprocessed text (docs/assembler.md). Names that it does not define are left to
/// the linker. Throws MalformedInput with every error of the text, located.
[[nodiscard]] AssembledObject assemble_object(std::string_view text, const std::string& file);

}  // namespace superstep
