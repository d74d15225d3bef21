#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace superstep {

/// Where `text` is not UTF-8 for the first time, if it is not.
[[nodiscard]] std::optional<std::size_t> not_utf8(std::string_view text);

/// Text of a user's for a terminal or a JSON document: bytes that are no UTF-8 and control
/// characters other than line feeds and tabs become `\x1b`.
[[nodiscard]] std::string printable(std::string_view text);

/// Text that a message quotes: the middle of one of more than `most` bytes becomes `…`.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

/// What stands in front of the text of a file that some editors write.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace superstep
