#pragma once

#include <cstdint>

#include "compiler/program/builder.h"

namespace superstep {

/// Converts the elements of `from`, a buffer of equal intervals, to those of `to`, of these types,
/// on all tiles of `to`.
void convert_elements(ProgramBuilder& builder, BufferId from, DType from_dtype, BufferId to,
                      DType to_dtype, const Origin& origin, Time time);

/// Copies a buffer to one of equal layout.
void copy_elements(ProgramBuilder& builder, BufferId from, BufferId to, Time time);

/// Sets all elements of a buffer, padding too.
void fill_elements(ProgramBuilder& builder, BufferId to, std::uint64_t bits, Time time);

}  // namespace superstep
