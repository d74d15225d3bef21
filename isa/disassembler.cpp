#include "isa/instruction_word.h"

#include <fmt/format.h>

#include "isa/table.h"

namespace superstep {

namespace {

std::string register_text(const isa::OperandInfo& operand, std::int64_t number) {
  const char file = operand.file == isa::File::kMain ? 'm' : 'a';
  std::string text = fmt::format("${}{}", file, number);
  if (operand.count > 1) text += fmt::format(":{}", number + operand.count - 1);
  return text + operand.suffix;
}

/// What a word is called, and how many of its operands are written.
struct Printed {
  std::string_view mnemonic;
  std::size_t operands;
};

/// With the names that the toolchain prefers (graphcore/llvm-project-fork llvm/test/MC/Colossus).
Printed printed_of(const isa::InstructionInfo& info, std::uint32_t word) {
  if ((word & 0x7fffffffU) == isa::kNop) return {"nop", 0};
  if (isa::is_fnop(word)) return {"fnop", 0};
  if (info.mnemonic == "atom") return {"mov", 2};
  if (info.mnemonic == "uget") return {"get", 2};
  if (info.mnemonic == "uput") return {"put", 2};
  if (info.operands.size() == 3) {
    const isa::OperandInfo &first = info.operands[1], &second = info.operands[2];
    const std::int64_t a = first.decode(word), b = second.decode(word);
    const bool registers = second.is_register;
    if (info.mnemonic == "or" && !registers && b == 0) return {"mov", 2};
    if ((info.mnemonic == "or" || info.mnemonic == "or64") && registers && a == b &&
        a + first.count == 16) {
      return {"zero", 1};
    }
    if (info.mnemonic == "roll16" && a == b) return {"swap16", 2};
  }
  return {info.mnemonic, info.operands.size()};
}

}  // namespace

std::string disassemble(std::uint32_t word, std::uint32_t /*address*/) {
  const isa::InstructionInfo* info = isa::find_instruction(word);
  if (info == nullptr) return fmt::format(".word {:#010x}", word);
  const Printed printed = printed_of(*info, word);
  std::string text(printed.mnemonic);
  const char* separator = " ";
  for (std::size_t i = 0; i < printed.operands; ++i) {
    const isa::OperandInfo& operand = info->operands[i];
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
