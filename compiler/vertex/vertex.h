#pragma once

#include <variant>

#include "compiler/vertex/add_parts.h"
#include "compiler/vertex/amp_product.h"
#include "compiler/vertex/amp_transpose.h"
#include "compiler/vertex/append_runs.h"
#include "compiler/vertex/copy_boxes.h"
#include "compiler/vertex/dense_product.h"
#include "compiler/vertex/elementwise.h"
#include "compiler/vertex/half_transpose.h"
#include "compiler/vertex/merge.h"
#include "compiler/vertex/put.h"
#include "compiler/vertex/reduce.h"
#include "compiler/vertex/select_offsets.h"
#include "compiler/vertex/take.h"

namespace superstep::vertex {

/// What a codelet computes, before there is code for it. A kind of vertex is a record: its typed
/// `State`, whose words are the vertex state; `code`, with the division among workers; `interpret`,
/// what it means. What it costs follows from the code: timing_analysis.h.
using Vertex = std::variant<Elementwise, Reduce, CopyBoxes, AppendRuns, DenseProduct, AmpProduct,
                            AmpTranspose, HalfTranspose, AddParts, Take, SelectOffsets, Put, Merge>;

[[nodiscard]] Codelet code_of(const Vertex& vertex, const MachineConfig& machine);

/// Does to the memory behind the addresses of a state what the codelet does: the state of a launch,
/// or of one worker where each has its own.
void interpret(const Vertex& vertex, const StateView& state);

}  // namespace superstep::vertex
