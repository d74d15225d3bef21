#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/program/box.h"
#include "compiler/program/program.h"

namespace superstep {

/// Axes of a box of the copy codelet.
inline constexpr std::size_t kBoxAxes = 3;
/// A copy inside one tile, in bytes from the interval starts.
struct LocalCopy {
  BufferId from{};
  Box box;  ///< strides and offsets in bytes; axes count elements
  std::uint32_t round = 0;
};

/// Rows of narrow elements that follow each other in the destination; distances in bytes.
struct AppendedRows {
  BufferId from{};
  std::int64_t rows = 1, count = 1;
  std::int64_t at = 0;  ///< of the first element, from the interval's start
  std::int64_t stride = 0, row_stride = 0;
};

/// Copies that differ only in where they begin, by equal steps, become one with another axis.
[[nodiscard]] std::vector<LocalCopy> joined(std::vector<LocalCopy> copies);

/// The elements that copies write, in the order of their destinations; nothing when these overlap
/// or leave more out than padding. Padding is filled with whatever comes before it.
[[nodiscard]] std::optional<std::vector<AppendedRows>> appended_rows(
    const std::vector<LocalCopy>& copies, std::int64_t element_bytes);

/// Whether appending takes less time than the same as copies of boxes.
[[nodiscard]] bool appending_pays(const std::vector<AppendedRows>& appended,
                                  const std::vector<LocalCopy>& copies, std::int64_t element_bytes,
                                  std::uint32_t workers);

/// Copies of narrow elements such that each is one box of the copy codelet's table: boxes may not
/// meet in a word.
[[nodiscard]] std::vector<LocalCopy> in_single_boxes(const std::vector<LocalCopy>& copies,
                                                     std::int64_t element_bytes);

/// A row of the copy codelet's table.
struct BoxRow {
  std::int64_t to = 0, from = 0;
  std::array<Axis, kBoxAxes> axes;
};

/// The rows for a box: at most three axes each.
void append_boxes(const Box& box, const std::function<void(const BoxRow&)>& visit);

/// The largest unit in bytes in which the copy codelet can move a box of bytes; its axes then count
/// such units.
[[nodiscard]] std::uint32_t in_units(Box& box, std::int64_t element_bytes);

}  // namespace superstep
