#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace superstep::vertex {

/// What the copy codelet does in one command. Lists of commands are made on the host, for each
/// worker its own.
enum class CopyKind : std::uint8_t {
  kDense,      ///< runs of pairs of words: 64 bits at a time
  kStrided,    ///< single words
  kFill,       ///< one word to many places
  kFillPairs,  ///< one word to a run of pairs
  kGather,     ///< narrow elements into whole words of one run
  kMerge,      ///< narrow elements into words that keep their other bytes
};

/// Worker slots of a command's parts; see `CopyCode`.
struct CopyCosts {
  std::uint64_t command;  ///< besides the rest
  std::uint64_t row;      ///< of each row besides its steps
  std::uint64_t step;     ///< of each word, pair or element
};
[[nodiscard]] CopyCosts copy_costs(CopyKind kind, std::uint32_t element_bytes);
/// Slots of a worker besides its commands.
inline constexpr std::uint64_t kCopyWorkerSlots = 5;
/// Slots of a command with more than one row, and of each plane after the first.
inline constexpr std::uint64_t kCopyRowsSlots = 5, kCopyPlaneSlots = 8;
/// Of each row after the first, besides what the first has.
inline constexpr std::uint64_t kCopyRowSlots = 3;

/// Words of a box in the state of `copy_boxes`.
inline constexpr std::uint32_t kCopyBoxWords = 12;

/// The work of one launch of `copy_boxes`, divided among workers.
struct CopyPlan {
  std::vector<std::vector<std::uint32_t>> lists;  ///< commands of each worker, with an end
  std::vector<std::uint64_t> slots;               ///< of each worker
};

/// `boxes` has 12 words for each box, as `copy_boxes` says.
[[nodiscard]] CopyPlan plan_copies(std::span<const std::uint32_t> boxes,
                                   std::uint32_t element_bytes, std::uint32_t workers);

}  // namespace superstep::vertex
