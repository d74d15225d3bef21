#include "report/page/encoding.h"

#include <cstddef>

namespace superstep {
namespace {

std::uint64_t zigzag(std::uint64_t before, std::uint64_t number) {
  const auto difference = static_cast<std::int64_t>(number - before);
  return static_cast<std::uint64_t>(difference) << 1U ^
         static_cast<std::uint64_t>(difference >> 63U);
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (k < group.size() ? static_cast<std::uint8_t>(group[k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= group.size() ? kDigits[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::string packed(std::span<const std::uint64_t> numbers) {
  std::string bytes;
  bytes.reserve(numbers.size());
  std::uint64_t before = 0;
  for (const std::uint64_t number : numbers) {
    std::uint64_t rest = zigzag(before, number);
    before = number;
    for (; rest >= 128; rest >>= 7U) bytes += static_cast<char>(rest | 128U);
    bytes += static_cast<char>(rest);
  }
  return base64(bytes);
}

std::uint64_t packed_bytes(std::uint64_t before, std::uint64_t number) {
  std::uint64_t bytes = 1;
  for (std::uint64_t rest = zigzag(before, number); rest >= 128; rest >>= 7U) ++bytes;
  return bytes;
}

}  // namespace superstep
