#pragma once

#include "compiler/program/builder.h"
#include "compiler/program/layout.h"

namespace superstep {

/// A new buffer that has a word for each element of `layout`.
[[nodiscard]] BufferId add_words(ProgramBuilder& builder, LayoutPtr layout, const Origin& origin);

/// Copies the bits of elements between buffers of equal intervals, one of them made by `add_words`,
/// on all tiles of `to`.
Time copy_bits(ProgramBuilder& builder, BufferId from, BufferId to, Time ready,
               const Origin& origin);

}  // namespace superstep
