#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isa/instruction.h"

namespace superstep::isa {

/// One operand of an instruction as data.
struct OperandInfo {
  char letter = 0;
  bool is_register = false;
  Role role = Role::kIn;
  File file = File::kMain;
  unsigned count = 1;  ///< registers
  bool is_signed = false;
  bool is_address = false;
  Field field;
  std::string suffix;  ///< of a register in the text: `+=`, `:B`, …
  unsigned tail = 0;   ///< zero bits below an immediate written `i<<20`

  /// Whether `value`, as the text has it, can be encoded.
  [[nodiscard]] bool fits(std::int64_t value) const;
  [[nodiscard]] U32 encode(std::int64_t value) const;
  [[nodiscard]] std::int64_t decode(U32 word) const;
};

/// What an instruction does to tile memory.
enum class Memory : std::uint8_t { kNone, kLoad, kStore, kBoth };

/// An instruction record as data, for the assembler, the encoder and the disassembler.
struct InstructionInfo {
  Spec spec;
  std::string_view mnemonic;
  Pattern pattern;
  std::vector<OperandInfo> operands;  ///< in the order of the text
  std::size_t number = 0;             ///< position in `Isa`
  Memory memory = Memory::kNone;
  /// Reads or writes what neither operands nor memory are: accumulators, control registers, the
  /// program counter.
  bool has_hidden_state = false;

  /// Slots of a worker; 0 when the machine does not execute it.
  [[nodiscard]] std::uint32_t worker_slots(const MachineConfig& machine) const {
    if (spec.on_amp) return machine.amp_slots();
    return spec.slots == nullptr ? 1 : machine.costs.*spec.slots;
  }
};

/// Words are told apart by bits 30 to 24 and 11 to 8 first.
inline constexpr U32 kBuckets = 128 * 16;
[[nodiscard]] constexpr U32 bucket_of(U32 word) {
  return (word >> 24 & 0x7fU) << 4 | (word >> 8 & 0xfU);
}
/// Whether a word of the pattern may be in a bucket.
[[nodiscard]] constexpr bool may_hold(U32 bucket, const Pattern& pattern) {
  const U32 word = bucket >> 4 << 24 | (bucket & 0xfU) << 8;
  return ((word ^ pattern.value) & pattern.mask & 0x7f000f00U) == 0;
}

/// All instructions, in the order of `Isa`.
[[nodiscard]] const std::vector<InstructionInfo>& instruction_table();

/// `nop` and `fnop`: `setzi` of 0 to $m14, which cannot be written, and to $a13, which this word
/// leaves alone (graphcore/llvm-project-fork llvm/test/MC/Colossus).
inline constexpr U32 kNop = 0x19e00000, kFnop = 0x1ad00000;

/// Whether `word`, in a bundle or not, is `fnop`.
[[nodiscard]] constexpr bool is_fnop(U32 word) { return (word & 0x7fffffffU) == kFnop; }

/// Whether both halves of a bundle write one register, other than those that are always zero.
[[nodiscard]] bool share_destination(const InstructionInfo& main, U32 main_word,
                                     const InstructionInfo& aux, U32 aux_word);

/// The instruction of a word, whatever its co-issue flag; null when there is none.
[[nodiscard]] const InstructionInfo* find_instruction(U32 word);

}  // namespace superstep::isa
