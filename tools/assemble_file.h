#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isa/machine_config.h"
#include "isa/object.h"

namespace superstep {

/// Reads an ELF object, or assembles a source file with the folders of its includes and its
/// `NAME=VALUE` definitions.
[[nodiscard]] Object load_object(const std::filesystem::path& path,
                                 const std::vector<std::string>& includes,
                                 const std::vector<std::string>& defines,
                                 const MachineConfig& machine);

}  // namespace superstep
