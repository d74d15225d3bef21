#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace superstep {

/// The numbers of `0,17,100-107`, ascending and each once; empty for a text that is no such list,
/// or has one above `most`.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> numbers_in(std::string_view ranges,
                                                                   std::uint32_t most);
/// And back: ascending numbers, as few ranges as there are.
[[nodiscard]] std::string ranges_of(std::span<const std::uint32_t> numbers);

}  // namespace superstep
