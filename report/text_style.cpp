#include "report/text_style.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "report/text_table.h"

namespace superstep {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty()) continue;
    std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

/// How a phase is drawn; the colours (256 of a terminal) are those of Okabe and Ito that differ for
/// every kind of sight.
struct PhaseLook {
  std::string_view block, letter, colour;
};
constexpr PhaseLook kLooks[] = {
    {"█", "#", "38;5;32"}, {"▓", "=", "38;5;208"}, {"▒", "-", "38;5;36"}, {"░", ".", "38;5;245"}};
static_assert(std::size(kLooks) == std::size(kPhases));

std::string painted(std::string text, std::string_view colour, const TextStyle& style) {
  if (!style.has_colour || text.empty()) return text;
  return "\x1b[" + std::string(colour) + "m" + text + "\x1b[0m";
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TextStyle TextStyle::of_output() {
  const bool is_terminal = isatty(STDOUT_FILENO) != 0 && environment("TERM") != "dumb";
  return {.columns = output_columns(),
          .has_colour = is_terminal && environment("NO_COLOR").empty(),
          .has_blocks = locale_is_utf8()};
}

std::string bar(double share, std::size_t width, const TextStyle& style) {
  share = std::clamp(share, 0.0, 1.0);
  if (!style.has_blocks) {
    const double letters = share * static_cast<double>(width);
    return std::string(static_cast<std::size_t>(std::lround(letters)), '#');
  }
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(share * 8 * static_cast<double>(width)));
  return painted(repeated("█", eighths / 8) + std::string(kEighths[eighths % 8]), kLooks[0].colour,
                 style);
}

std::string phase_bar(std::span<const double> shares, std::size_t width, const TextStyle& style) {
  std::string out;
  double sum = 0;
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum += shares[i];
    const auto end =
        std::min(width, static_cast<std::size_t>(std::lround(sum * static_cast<double>(width))));
    const PhaseLook& look = kLooks[i];
    out += painted(repeated(style.has_blocks ? look.block : look.letter, end - drawn), look.colour,
                   style);
    drawn = end;
  }
  return out;
}

std::string phase_legend(std::size_t phases, const TextStyle& style) {
  std::string out;
  for (std::size_t i = 0; i < phases; ++i) {
    const PhaseLook& look = kLooks[i];
    out += (i == 0 ? "" : "  ") +
           painted(std::string(style.has_blocks ? look.block : look.letter), look.colour, style) +
           " " + std::string(kPhases[i]);
  }
  return out;
}

std::string heading(std::string_view text, const TextStyle& style) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += painted(std::string(text.substr(0, end)), "1", style) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace superstep
