#include <string>

#include <fmt/format.h>

#include "isa/assembler.h"
#include "isa/table.h"

namespace superstep {

namespace {

std::string register_text(const isa::OperandInfo& operand, std::int64_t number) {
  const char file = operand.file == isa::File::kMain ? 'm' : 'a';
  std::string text = fmt::format("${}{}", file, number);
  if (operand.count > 1) text += fmt::format(":{}", number + operand.count - 1);
  return text + operand.suffix;
}

}  // namespace

std::string disassemble(std::uint32_t word, std::uint32_t /*address*/) {
  const isa::InstructionInfo* info = isa::find_instruction(word);
  if (info == nullptr) return fmt::format(".word {:#010x}", word);
  std::string text(info->mnemonic);
  const char* separator = " ";
  for (const isa::OperandInfo& operand : info->operands) {
    const std::int64_t value = operand.decode(word);
    text += separator;
    separator = ", ";
    if (operand.is_register) {
      text += register_text(operand, value);
    } else if (operand.is_address) {
      text += fmt::format("{:#x}", value);
    } else {
      text += fmt::format("{}", value);
    }
  }
  return text;
}

}  // namespace superstep
