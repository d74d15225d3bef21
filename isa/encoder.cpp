#include <string>

#include "base/error.h"
#include "isa/assembler.h"
#include "isa/table.h"

namespace superstep {

namespace {

/// A mnemonic, or the whole syntax of one of its forms.
bool is_named(const isa::InstructionInfo& info, std::string_view name) {
  return info.mnemonic == name || info.spec.syntax == name;
}

bool all_fit(const isa::InstructionInfo& info, std::initializer_list<std::int64_t> operands) {
  if (info.operands.size() != operands.size()) return false;
  const std::int64_t* value = operands.begin();
  for (const isa::OperandInfo& operand : info.operands) {
    if (!operand.fits(*value++)) return false;
  }
  return true;
}

/// A branch gets a fourth of the address added to its low 19 bits, a `setzi` of a label all of it
/// to its low 20.
std::uint32_t relocate(std::uint32_t word, std::uint32_t load_address) {
  const isa::InstructionInfo* info = isa::find_instruction(word);
  const bool is_branch =
      info != nullptr && !info->operands.empty() && info->operands.back().is_address;
  const std::uint32_t mask = is_branch ? 0x7ffffU : 0xfffffU;
  const std::uint32_t offset = is_branch ? load_address / 4 : load_address;
  return (word & ~mask) | ((word + offset) & mask);
}

}  // namespace

std::uint32_t encode(std::string_view mnemonic, std::initializer_list<std::int64_t> operands) {
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    if (!is_named(info, mnemonic) || !all_fit(info, operands)) continue;
    std::uint32_t word = info.pattern.value;
    const std::int64_t* value = operands.begin();
    for (const isa::OperandInfo& operand : info.operands) word |= operand.encode(*value++);
    return word;
  }
  std::string detail = "no instruction " + std::string(mnemonic);
  for (const std::int64_t value : operands) detail += " " + std::to_string(value);
  SUPERSTEP_CHECK(false, detail);
  return 0;
}

std::vector<std::uint32_t> Assembly::words_at(std::uint32_t load_address) const {
  std::vector<std::uint32_t> out = words;
  for (const std::uint32_t index : relocations) out[index] = relocate(out[index], load_address);
  return out;
}

}  // namespace superstep
