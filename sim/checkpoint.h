#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program_image.h"
#include "sim/run_inputs.h"

namespace superstep {

constexpr std::string_view kCheckpointFormat = "superstep-checkpoint";
/// Readers take files of this version only: what a state consists of changes with the simulator.
constexpr std::string_view kCheckpointVersion = "1.4.0";

/// SHA-256 of what of an image bears on its run: not the names of its machine, program and steps,
/// where numbers come from, or what the compiler told of it.
[[nodiscard]] std::string digest_of_what_runs(const ProgramImage& image);

/// What a checkpoint file holds.
struct Checkpoint {
  std::string image_sha256;  ///< `digest_of_what_runs` of the image
  // Where it was, for people.
  std::uint64_t cycle = 0, supersteps = 0, calls_done = 0;
  InputDigests inputs = {};  ///< that the run was given, where its user says

  std::vector<std::uint8_t> state = {};  ///< of everything but memories, as a StateWriter wrote it
  /// Worker code that the state names: entry, kind and the number of words of each piece; their
  /// addresses and values.
  std::vector<std::uint32_t> codes = {}, code_words = {};
  /// Pages of tile memory that are not as at boot: entry of the image and number of each; their
  /// bytes.
  std::vector<std::uint32_t> pages = {};
  std::vector<std::uint8_t> page_bytes = {};
};

/// Writes a file, whole or not at all. Throws InputOutputError.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// The checkpoint of a run of an image. Throws MalformedInput for what is no checkpoint, one of
/// another image or version or a damaged one, and InputOutputError.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& path,
                                         const ProgramImage& image);

/// The error of a checkpoint that was damaged, or made by hand.
[[noreturn]] void refuse_checkpoint(const std::filesystem::path& path, const std::string& why);

}  // namespace superstep
