#include "base/number_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace superstep {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> numbers_in(std::string_view ranges, std::uint32_t most) {
  std::vector<std::uint32_t> numbers;
  for (std::string_view rest = ranges; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    const auto first = number_of(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(item.substr(dash + 1));
    if (!first || !last || *first > *last || *last > most) return std::nullopt;
    for (std::uint32_t number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  if (numbers.empty()) return std::nullopt;
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::string ranges_of(std::span<const std::uint32_t> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace superstep
