#pragma once

#include <string>

#include "isa/instruction_word.h"
#include "isa/table.h"

namespace superstep::testing {

/// The text of an instruction whose results go to $a8 and up; its first input is $a0 and up, the
/// others are $a4 and up.
inline std::string with_any_operands(const isa::InstructionInfo& info) {
  std::uint32_t word = info.pattern.value;
  std::int64_t next = 0;
  for (const isa::OperandInfo& operand : info.operands) {
    if (!operand.is_register) continue;
    word |= operand.encode(operand.role == isa::Role::kOut ? 8 : next);
    if (operand.role == isa::Role::kIn) next = 4;
  }
  return disassemble(word, 0);
}

}  // namespace superstep::testing
