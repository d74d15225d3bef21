#pragma once

#include <cstdint>

#include "compiler/ops/op.h"
#include "compiler/ops/table.h"

namespace superstep {

/// The native forms of gather and scatter: `offsets`, i32 of [batching..., count], are positions at
/// which windows of `window` consecutive positions begin. Tables come first among the operands.

/// `{table, offsets}` to the windows [batching..., count, window, rest...]. Every window lies
/// inside.
extern const OpDefinition kTakeOp;
/// `{tables..., offsets, windows...}` to the tables, in which the region combined elements with
/// those of windows, in ascending order of windows. A window of a negative offset is dropped; the
/// others lie inside. `unique_indices`: no two windows of a batch meet.
extern const OpDefinition kPutOp;

/// Of a take or put; its tables are alike.
[[nodiscard]] TableUse table_of(const Op& op, const Graph& graph);
/// By the shapes of its tables and offsets.
[[nodiscard]] TableUse table_use(const Op& op, const Shape& table, const Shape& offsets);
/// The attributes of a take or put.
[[nodiscard]] Attributes table_attributes(const Table& table, std::int64_t window);

}  // namespace superstep
