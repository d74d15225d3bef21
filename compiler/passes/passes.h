#pragma once

#include "compiler/graph/graph.h"
#include "isa/machine_config.h"

namespace superstep {

/// Replaces ops that only stand for others (`Traits::is_shorthand`), in regions too.
[[nodiscard]] Graph expand_shorthands(Graph graph);

/// Replaces values of integers of 2 and 4 bits and of floats of up to 8 bits by their bytes, in
/// regions too; ops compute on numbers of wider types, and what they give is rounded or wrapped.
/// Sums and products of many elements are rounded once. Arguments and results keep their bytes.
[[nodiscard]] Graph widen_narrow_types(Graph graph);

/// Replaces ops by those that they are made of (`ExpandLowering`), until none is left,
/// also in regions.
[[nodiscard]] Graph expand_ops(Graph graph);

/// Loop unrolling, where loops run a few times, known beforehand, over ops that are fused or are
/// known, and carry tables: single trips use elements of these that are then constant, as the
/// rotations of Threefry. Also in regions.
[[nodiscard]] Graph unroll_loops(Graph graph);

/// Replaces values that are more than a register holds by two of 32 bits each, in regions too:
/// complex numbers by floats, the real part first, then 64-bit integers and floats by ui32, the
/// lower word first. Arguments and results keep their bytes: both parts are the last dimension.
/// Expands what the functions of parts are made of.
[[nodiscard]] Graph split_wide_types(Graph graph);

/// Regions have the constants that they use of outside themselves, so that they know them.
[[nodiscard]] Graph sink_constants(Graph graph);

/// Replaces ops whose operands are all constant by their values, unless that would only store one
/// element many times.
[[nodiscard]] Graph fold_constants(Graph graph);

/// Keeps the first of ops that compute the same.
[[nodiscard]] Graph merge_equal_ops(Graph graph);

/// Compares the larger or smaller of two values with one of them in place of the other, as the
/// gradient of `max(x, 0)` does: when the extreme is kept anyway, the comparison need not be.
[[nodiscard]] Graph compare_extremes(Graph graph);

/// Replaces ops by others that are estimated to take fewer cycles on a machine
/// (`StepLowering::divide`).
[[nodiscard]] Graph divide_ops(Graph graph, const MachineConfig& machine);

/// Removes ops whose results nothing uses. Arguments stay.
[[nodiscard]] Graph remove_unused_ops(Graph graph);

}  // namespace superstep
