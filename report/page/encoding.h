#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace superstep {

/// Bytes in base64 (RFC 4648), with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

/// Whole numbers as the page reads them (report/page/data.js): the difference of each to the one
/// before it, zigzag, in LEB128, in base64. What is equal from tile to tile, or grows evenly, takes
/// a byte a number.
[[nodiscard]] std::string packed(std::span<const std::uint64_t> numbers);
/// Bytes of LEB128 in it that one number takes behind another; 0 is before the first.
[[nodiscard]] std::uint64_t packed_bytes(std::uint64_t before, std::uint64_t number);

}  // namespace superstep
