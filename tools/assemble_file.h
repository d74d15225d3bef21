#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isa/object.h"

namespace superstep {

/// Reads an ELF object, or assembles a source file; `.S` goes through the preprocessor, with
/// folders of includes and `NAME=VALUE` definitions.
[[nodiscard]] Object load_object(const std::filesystem::path& path,
                                 const std::vector<std::string>& includes,
                                 const std::vector<std::string>& defines);

}  // namespace superstep
