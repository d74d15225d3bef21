#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/program/program.h"

namespace superstep {

/// The tiles that hold or run anything, ascending; the others stay outside every sync.
[[nodiscard]] std::vector<TileId> participants_of(const LoweredProgram& program);

/// Makes what `main` does a call of the program: it visits the host for arguments, then loops. A
/// call is the condition of the loop, the visit between two calls its body, so that the last call
/// leaves before the next arguments. The host decides, by the word `goes_on`; nothing else knows
/// how many calls there are. A program without participants stays as it is.
void add_call_loop(LoweredProgram& program);

/// What a call does.
[[nodiscard]] const Block& call_of(const LoweredProgram& program);

/// The superstep, as `supersteps_of` numbers them, that follows a visit to the host at once, if
/// something moves in it: the sync that ends the visit is that of its exchange.
[[nodiscard]] std::optional<std::uint32_t> superstep_after_visit(const LoweredProgram& program);

}  // namespace superstep
