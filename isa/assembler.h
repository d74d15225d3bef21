#pragma once

#include <cstdint>
#include <initializer_list>
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

/// One word as assembly text; `.word 0x…` when it is no instruction. `address` is that of the word.
[[nodiscard]] std::string disassemble(std::uint32_t word, std::uint32_t address);

/// The word of an instruction by mnemonic, operands in the order of its syntax: register numbers
/// (the lower one of a pair or quad) and immediates. Of several forms (`add` with a register or an
/// immediate, `ld32` to $m or $a) the first that fits is taken: immediates before registers, $m
/// before $a; the whole syntax, `add $d, $a, $b`, names one form. For code generators; a wrong
/// mnemonic or operand is a broken invariant.
[[nodiscard]] std::uint32_t encode(std::string_view mnemonic,
                                   std::initializer_list<std::int64_t> operands);

}  // namespace superstep
