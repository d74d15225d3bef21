#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace superstep {

/// Assembled code at address 0, to be placed anywhere in region 0 at an 8-byte boundary.
struct Assembly {
  std::vector<std::uint32_t> words;
  std::map<std::string, std::uint32_t> symbols;  ///< byte offsets; `.equ` constants are not listed
  std::vector<std::uint32_t> relocations;        ///< indices of words that hold an address

  /// The words as they are when loaded at an address.
  [[nodiscard]] std::vector<std::uint32_t> words_at(std::uint32_t load_address) const;
};

/// Assembles one source text. Throws MalformedInput with every error of the text, located.
[[nodiscard]] Assembly assemble(std::string_view text, const std::string& file);

}  // namespace superstep
