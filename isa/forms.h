#pragma once

#include <span>
#include <string_view>

#include "isa/table.h"

namespace superstep::isa {

/// The forms of a mnemonic in the order in which they are tried; empty when there is none. A signed
/// immediate goes before an unsigned one; `addz` and `adds` name one of them.
[[nodiscard]] std::span<const InstructionInfo* const> forms_of(std::string_view mnemonic);

}  // namespace superstep::isa
