#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace superstep {

/// Storage that one tile needs from one point of the program to another, both included, and at
/// the same address again at later times.
struct StorageRequest {
  struct Period {
    std::uint32_t first = 0, last = 0;
    auto operator<=>(const Period&) const = default;
  };
  std::uint32_t bytes = 0;  ///< a multiple of 8
  std::uint32_t first = 0, last = 0;
  bool is_received = false;  ///< written by exchanges: kept apart from what they send
  std::optional<std::uint32_t> range = {};  ///< the number of the only range it may lie in
  std::vector<Period> others = {};          ///< apart from the first and from each other
  auto operator<=>(const StorageRequest&) const = default;
};

/// Addresses [begin, end) that may hold data; what exchanges write lies from `received` on if
/// possible.
struct DataRange {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t received = begin;
};

/// A request for which there was no place.
struct Misfit {
  std::size_t request = 0;
  std::uint64_t largest_gap = 0;  ///< bytes that were free in one piece where it may lie
};

struct Allocation {
  std::vector<std::uint32_t> addresses;  ///< by request
  std::uint64_t missing_bytes = 0;       ///< what lies beyond the last range; 0 when all fits
  std::optional<Misfit> misfit;          ///< the first, when not all fits
};

/// First fit in the ranges in their order, those with a range of their own first, then the largest
/// first; what exchanges write is kept apart where that is possible: a memory
/// element does not send and receive in one cycle. What finds no place goes after the last range's
/// end: a measure of what is missing.
[[nodiscard]] Allocation allocate(const std::vector<StorageRequest>& requests,
                                  const std::vector<DataRange>& ranges);

/// The most bytes that live at once.
[[nodiscard]] std::uint64_t peak_bytes(const std::vector<StorageRequest>& requests);

}  // namespace superstep
