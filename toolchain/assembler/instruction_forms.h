#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/forms.h"
#include "toolchain/assembler/operand.h"

namespace superstep::assembler {

/// An operand with its value.
struct BoundOperand {
  Operand operand;
  Value value;
};

/// What `mnemonic`, which is no instruction, may have been meant for; empty when nothing is near.
[[nodiscard]] std::string nearest_mnemonic(std::string_view mnemonic);

/// The forms of an alias (`mov`, `nop`, …) for messages; empty when it is none.
[[nodiscard]] std::string_view alias_forms(std::string_view mnemonic);

/// Whether a statement is an alias, and then what it stands for instead (`mov` is `or`, …).
/// `zero_token` is the number of a token that is 0.
void replace_alias(std::string_view& mnemonic, std::vector<Operand>& operands,
                   std::uint32_t zero_token);

/// The form that takes the operands, or null. A delta that the text leaves out is added to them,
/// and numbers become what `OperandInfo::encode` takes.
[[nodiscard]] const isa::InstructionInfo* choose_form(
    std::span<const isa::InstructionInfo* const> forms, std::vector<BoundOperand>& operands);

/// Why no form takes the operands, and which operand is to blame (the place of the mnemonic when
/// none is).
struct Mismatch {
  std::string message;
  const BoundOperand* operand = nullptr;
};
[[nodiscard]] Mismatch explain_mismatch(std::string_view mnemonic,
                                        std::span<const isa::InstructionInfo* const> forms,
                                        const std::vector<BoundOperand>& operands);

}  // namespace superstep::assembler
