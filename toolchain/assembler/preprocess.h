#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/machine_config.h"

namespace superstep {

/// What the C preprocessor of an assembly file is told.
struct PreprocessOptions {
  std::vector<std::string> include_folders;
  std::vector<std::string> defines;  ///< `NAME` or `NAME=VALUE`
};

/// The text of a file after the system's C preprocessor, `cpp`, as for IPU2: `__IPU__` is 1 and
/// `__IPU_ARCH_VERSION__` 2 unless `defines` says otherwise, and our headers of `sdk_headers` are
/// found. Throws MalformedInput with what the preprocessor says.
[[nodiscard]] std::string preprocess(const std::string& path, const PreprocessOptions& options);

/// The files that a text of `preprocess` comes from: the source and its headers.
[[nodiscard]] std::vector<std::string> preprocessed_files(std::string_view text);

/// The definitions that let `poplar/TileConstants.hpp` have the numbers of a machine.
[[nodiscard]] std::vector<std::string> machine_defines(const MachineConfig& machine);

/// The folder with our own headers under the names of the vendor's SDK.
[[nodiscard]] std::string sdk_headers();

}  // namespace superstep
