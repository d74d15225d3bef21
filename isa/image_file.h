#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program_image.h"

namespace superstep {

constexpr std::string_view kImageFormat = "superstep-image";
/// Readers take files with the same major number.
constexpr std::string_view kImageVersion = "1.0.0";

/// Writes the file form of an image, whole or not at all. Every field is a dataset, named as in
/// `isa/image_fields.h`, with a row for each of the parts that have it; of a list these are the
/// elements of all rows, one after another, and `NAME_count` says how many each row has; of what
/// may be missing `NAME_known` does. `made_from` is kept as it is, for `image_made_from`. Throws
/// InputOutputError.
void write_image(const std::filesystem::path& path, const ProgramImage& image,
                 std::string_view made_from = {});

/// What `write_image` was told; empty for a file that does not say. Throws what Hdf5File throws.
[[nodiscard]] std::string image_made_from(const std::filesystem::path& path);

/// The image of a file; `overrides` are of keys of its machine that a compiled program allows.
/// Throws MalformedInput for what is no image, one of another major version, a damaged one, or one
/// that has `problems`, UserError (usage) for overrides, and InputOutputError.
[[nodiscard]] ProgramImage read_image(const std::filesystem::path& path,
                                      const std::vector<std::string>& overrides = {});

/// The SHA-256 of what an image says, but for the sources of its machine's numbers: equal images
/// have equal ones, whether they come from a file or not.
[[nodiscard]] std::string image_digest(const ProgramImage& image);

}  // namespace superstep
