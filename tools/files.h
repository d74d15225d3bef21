#pragma once

#include <filesystem>
#include <string>

namespace superstep {

/// The whole file. Throws MalformedInput when it cannot be read.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path);

/// Throws MalformedInput when it cannot be written.
void write_text_file(const std::filesystem::path& path, const std::string& text);

}  // namespace superstep
