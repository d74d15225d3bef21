#pragma once

#include <filesystem>
#include <string>

namespace superstep {

/// The whole file. Throws InputOutputError when it cannot be read.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path);

/// Throws InputOutputError unless `path` is a regular file that can be read.
void check_input(const std::filesystem::path& path);

}  // namespace superstep
