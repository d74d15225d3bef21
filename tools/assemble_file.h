#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isa/machine_config.h"
#include "toolchain/object.h"

namespace superstep {

/// Reads an ELF object, or assembles a source file; `.S` goes through the preprocessor, with
/// folders of includes and `NAME=VALUE` definitions besides those of the machine; `headers` gets
/// the files that it was made of.
[[nodiscard]] Object load_object(const std::filesystem::path& path,
                                 const std::vector<std::string>& includes,
                                 const std::vector<std::string>& defines,
                                 const MachineConfig& machine,
                                 std::vector<std::string>* headers = nullptr);

}  // namespace superstep
