#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program_image.h"

namespace superstep {

constexpr std::string_view kImageFormat = "superstep-image";
/// Readers take files with the same major number.
constexpr std::string_view kImageVersion = "1.3.0";

/// Writes the file form of an image, whole or not at all. Every field is a dataset, named as in
/// `isa/image_fields.h`, with a row for each of the parts that have it; of a list these are the
/// elements of all rows, one after another, and `NAME_count` says how many each row has; of what
/// may be missing `NAME_known` does. `made_from` is kept as it is, for `read_image_made_from`.
/// Throws InputOutputError.
void write_image(const std::filesystem::path& path, const ProgramImage& image,
                 std::string_view made_from = {});

/// The image of a file; `overrides` are of keys of its machine that a compiled program allows.
/// Throws MalformedInput for what is no image, one of another major version, a damaged one, or one
/// that has `problems`, UserError (usage) for overrides, and InputOutputError.
[[nodiscard]] ProgramImage read_image(const std::filesystem::path& path,
                                      const std::vector<std::string>& overrides = {});

/// The same of a file that `write_image` was told to be made from this; none, and nothing else of
/// it read, when it was made from something else or does not say.
[[nodiscard]] std::optional<ProgramImage> read_image_made_from(const std::filesystem::path& path,
                                                               std::string_view made_from);

/// The SHA-256 of what an image says, but for the sources of its machine's numbers: equal images
/// have equal ones, whether they come from a file or not.
[[nodiscard]] std::string image_digest(const ProgramImage& image);

}  // namespace superstep
