#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/instruction.h"
#include "toolchain/assembler/lexer.h"

namespace superstep::assembler {

/// A register, or an expression that is not evaluated yet.
struct Operand {
  bool is_register = false;
  isa::File file = isa::File::kMain;
  std::uint32_t number = 0;
  unsigned count = 1;
  bool is_zeros = false;     ///< `$azeros`: two or four registers, as the instruction needs
  std::string_view suffix;   ///< `+=`, `:BL`, …; one of a fixed list
  bool is_negated = false;   ///< of an expression: its value is meant with the other sign
  std::uint32_t first = 0;   ///< token of the expression
  std::uint32_t tokens = 0;  ///< of the expression
  Place place;
};

/// A register by its name without the `$`.
[[nodiscard]] std::optional<Operand> register_of(std::string_view name);

/// The zero register of a file, or two of them.
[[nodiscard]] Operand zero_register(isa::File file, unsigned count);

/// The operand that `tokens[first, end)` are; an error when they are none.
[[nodiscard]] Operand parse_operand(const std::vector<Token>& tokens, std::uint32_t first,
                                    std::uint32_t end, std::string& error);

}  // namespace superstep::assembler
