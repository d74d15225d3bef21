#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace superstep {

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
