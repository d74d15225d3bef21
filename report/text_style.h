#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace superstep {

/// How text on standard output may look.
struct TextStyle {
  std::size_t columns = 80;
  bool has_colour = false;
  bool has_blocks = false;  ///< characters of UTF-8 that fill a part of their cell

  /// That of standard output: as many columns as it has, colour on a terminal without NO_COLOR,
  /// blocks where the locale's characters are UTF-8.
  [[nodiscard]] static TextStyle of_output();
};

/// Parts of a superstep, in the order of bars and legends.
inline constexpr std::string_view kPhases[] = {"compute", "exchange", "sync", "host"};

/// A bar of so many columns for a share of 0 to 1.
[[nodiscard]] std::string bar(double share, std::size_t width, const TextStyle& style);
/// One for shares behind one another, those of `kPhases`: each phase has its own character, and
/// colour.
[[nodiscard]] std::string phase_bar(std::span<const double> shares, std::size_t width,
                                    const TextStyle& style);
/// What the characters of such bars mean, of the first so many phases.
[[nodiscard]] std::string phase_legend(std::size_t phases, const TextStyle& style);
/// A heading, of lines that end in line feeds.
[[nodiscard]] std::string heading(std::string_view text, const TextStyle& style);

}  // namespace superstep
