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

/// An instruction record as data, for the assembler, the encoder and the disassembler.
struct InstructionInfo {
  Spec spec;
  std::string_view mnemonic;
  Pattern pattern;
  std::vector<OperandInfo> operands;  ///< in the order of the text
  std::size_t number = 0;             ///< position in `Isa`
};

/// All instructions, in the order of `Isa`.
[[nodiscard]] const std::vector<InstructionInfo>& instruction_table();

/// The instruction of a word, whatever its co-issue flag; null when there is none.
[[nodiscard]] const InstructionInfo* find_instruction(U32 word);

}  // namespace superstep::isa
