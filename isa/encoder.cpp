#include "isa/instruction_word.h"

#include "base/error.h"
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

}  // namespace superstep
