#pragma once

#include <optional>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/selection.h"
#include "isa/machine_config.h"

namespace superstep {

/// The `count` least of each row of `words`, [batch][row]; of equal ones the first. Nothing where
/// that is estimated to take `most_cycles` or more.
[[nodiscard]] std::optional<Candidates> select_words(Tensor words, std::int64_t count,
                                                     std::int64_t most_cycles,
                                                     const MachineConfig& machine);

}  // namespace superstep
