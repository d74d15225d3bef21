#include "compiler/lower/indexed/passes.h"

#include <algorithm>
#include <optional>

#include "base/divide.h"
#include "compiler/lower/indexed/parted_take.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "compiler/ops/take.h"
#include "compiler/program/table_layout.h"

namespace superstep {
namespace {

/// The share of a tile's memory that offsets and windows of a pass may take [assumed: tables,
/// twice, may take as much, and what they are gathered from].
constexpr std::int64_t kWindowsShare = 4;

/// Percent of a tile's memory above which what is found for all offsets does not fit [assumed: the
/// rest is for what else lives].
constexpr std::int64_t kFoundPercent = 90;

/// The element that all of a constant are.
std::optional<HostTensor> repeated_element(const Graph& graph, ValueId v) {
  const std::optional<HostTensor> value = constant_value(graph, v);
  if (!value || value->type.elements() == 0 || !all_equal(*value)) return std::nullopt;
  HostTensor element({value->type.dtype, {}});
  copy_element(element, 0, *value, 0);
  return element;
}

/// The windows of a table, or the element that is all of theirs, as far as that shows.
struct Updates {
  Tensor tensor;
  bool are_equal = false;
  std::optional<HostTensor> constant;  ///< the element, if it is known

  explicit Updates(Tensor windows) : tensor(windows) {
    const Graph& graph = windows.builder->graph();
    ValueId from = windows.id;
    for (;;) {
      constant = repeated_element(graph, from);
      are_equal = constant || graph.type(from).elements() == 1;
      const Op* op = graph.producer_of(from);
      const bool is_rearranged = op != nullptr && op->operands.size() == 1 &&
                                 lowering_as<RearrangeLowering>(*op, graph) != nullptr;
      if (are_equal || !is_rearranged) break;
      from = op->operands[0];
    }
    if (are_equal) tensor.id = from;
  }
};

/// What a tile needs for each of the offsets that it is given: the offset, its number in a list,
/// and what its windows have.
std::int64_t bytes_an_offset(const Graph& region, const TableUse& use, std::span<const Updates> all,
                             const MachineConfig& machine) {
  std::int64_t narrowest = 8, element_bytes = 0;
  for (const Updates& updates : all) {
    const auto bytes = static_cast<std::int64_t>(size_of(updates.tensor.dtype()));
    narrowest = std::min(narrowest, bytes);
    // A constant that is computed with is in the code.
    if (!updates.constant || region.ops().empty()) element_bytes += bytes;
  }
  const TableCut cut = table_cut(use, narrowest, machine.tiles(), machine.tile.memory_bytes);
  const std::int64_t listed = cut.positions < use.table.positions() ? 2 : 1;
  return cut.batches * (4 * listed + use.window * cut.width * element_bytes);
}

/// A dimension of `x` cut into as many blocks, which are the dimension before; there is more of
/// `value` behind the last.
Tensor in_blocks(Tensor x, Tensor value, std::int64_t dimension, std::int64_t blocks) {
  const auto d = static_cast<std::size_t>(dimension);
  Shape shape = x.shape();
  const std::int64_t block = divide_up(shape[d], blocks);
  Indices none(shape.size(), 0), more = none;
  more[d] = blocks * block - shape[d];
  if (more[d] > 0) x = pad(x, value, none, more, none);
  shape[d] = block;
  shape.insert(shape.begin() + dimension, blocks);
  return reshape(x, shape);
}

/// One of the blocks.
Tensor block_of(Tensor blocks, Tensor number, std::int64_t dimension) {
  Shape shape = blocks.shape();
  Op take;
  take.attributes = table_attributes({shape, {}, {dimension}}, 1);
  const Tensor taken =
      number.builder->apply(kTakeOp, {blocks, reshape(number, {1})}, std::move(take));
  shape.erase(shape.begin() + dimension);
  return reshape(taken, shape);
}

/// `blocks` with one of them replaced.
Tensor with_block(Tensor blocks, Tensor number, Tensor block) {
  Op put;
  put.attributes = table_attributes({blocks.shape(), {}, {0}}, 1);
  Graph& second = put.regions.emplace_back();
  second.add_argument({blocks.dtype(), {}}, {});
  second.set_results({second.add_argument({blocks.dtype(), {}}, {})});
  Shape windows = blocks.shape();
  windows[0] = 1;
  windows.insert(windows.begin(), 1);
  return number.builder->apply(kPutOp, {blocks, reshape(number, {1}), reshape(block, windows)},
                               std::move(put));
}

/// What a tile has at once of a table that is cut by position: windows that a part has, and those
/// of all parts for its share.
std::int64_t found_bytes(const TableUse& use, std::int64_t element_bytes,
                         const MachineConfig& machine) {
  const TableCut cut = table_cut(use, element_bytes, machine.tiles(), machine.tile.memory_bytes);
  if (cut.positions == use.table.positions() || !use.table.batching.empty()) return 0;
  const std::int64_t parts = cut.position_blocks(use.table);
  const std::int64_t most = machine.tile.memory_bytes / kGatheredShare;
  const std::int64_t merged =
      std::clamp(most / (cut.elements() * element_bytes), std::int64_t{1}, parts);
  const std::int64_t groups = divide_up(parts, merged), copies = parts / groups;
  const std::int64_t share = divide_up(use.count, copies * groups);
  return groups == 1 ? 0 : 2 * groups * share * cut.width * element_bytes;
}

}  // namespace

std::vector<Tensor> take_in_passes(GraphBuilder& builder, const Op& op,
                                   std::span<const Tensor> operands, const TableUse& use,
                                   const MachineConfig& machine) {
  const DType dtype = operands[0].dtype();
  const std::int64_t found = found_bytes(use, static_cast<std::int64_t>(size_of(dtype)), machine);
  const std::int64_t memory = machine.tile.memory_bytes;
  if (found <= memory * kFoundPercent / 100) return {};
  const std::int64_t passes = divide_up(found * kWindowsShare, memory);
  const TableUse of_pass{use.table, divide_up(use.count, passes), use.window};
  Shape shape = of_pass.windows();
  shape.insert(shape.begin(), passes);
  const Tensor blocks = in_blocks(operands[1], builder.number(DType::kI32, 0), 0, passes);
  const std::vector<Tensor> carried = {operands[0], blocks,
                                       broadcast(builder.number(dtype, 0), shape, {})};
  const auto step = [&](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
    Op take;
    take.attributes = op.attributes;
    const Tensor taken =
        turn.builder->apply(kTakeOp, {values[0], block_of(values[1], turn, 0)}, std::move(take));
    return {values[0], values[1], with_block(values[2], turn, taken)};
  };
  const Tensor all = repeat_counted(passes, carried, step)[2];
  shape.erase(shape.begin());
  shape[0] *= passes;
  return {window(reshape(all, shape), Indices(shape.size(), 0), use.windows())};
}

std::vector<Tensor> put_in_passes(GraphBuilder& builder, const Op& op,
                                  std::span<const Tensor> operands, const TableUse& use,
                                  const MachineConfig& machine) {
  const std::size_t count = operands.size() / 2;
  const std::span<const Tensor> tables = operands.first(count);
  std::vector<Updates> all;
  for (const Tensor windows : operands.subspan(count + 1)) all.emplace_back(windows);
  const std::int64_t most =
      machine.tile.memory_bytes / kWindowsShare / bytes_an_offset(op.regions[0], use, all, machine);
  if (use.count <= most) return {};
  const std::int64_t passes = divide_up(use.count, std::max<std::int64_t>(most, 1));
  const auto dimension = static_cast<std::int64_t>(use.table.batching.size());
  const TableUse of_pass{use.table, divide_up(use.count, passes), use.window};
  std::vector<Tensor> carried(tables.begin(), tables.end());
  carried.push_back(in_blocks(operands[count], builder.number(DType::kI32, -1), dimension, passes));
  for (const Updates& updates : all) {
    const Tensor x = updates.tensor;
    if (updates.constant) {
      carried.push_back(builder.constant(*updates.constant));
    } else if (updates.are_equal) {
      carried.push_back(x);
    } else {
      carried.push_back(in_blocks(x, builder.number(x.dtype(), 0), dimension, passes));
    }
  }
  const auto step = [&](Tensor turn, std::span<const Tensor> values) {
    std::vector<Tensor> of_put(values.begin(), values.begin() + std::ssize(tables));
    of_put.push_back(block_of(values[count], turn, dimension));
    for (std::size_t i = 0; i < count; ++i) {
      const Tensor x = values[count + 1 + i];
      if (all[i].are_equal) {
        const Tensor one = all[i].constant ? turn.builder->constant(*all[i].constant) : x;
        of_put.push_back(broadcast(reshape(one, {}), of_pass.windows(), {}));
      } else {
        of_put.push_back(block_of(x, turn, dimension));
      }
    }
    Op put;
    put.attributes = op.attributes;
    put.regions = op.regions;
    std::vector<Tensor> next = turn.builder->append(kPutOp, of_put, std::move(put));
    next.insert(next.end(), values.begin() + std::ssize(tables), values.end());
    return next;
  };
  std::vector<Tensor> results = repeat_counted(passes, carried, step);
  results.resize(count);
  return results;
}

}  // namespace superstep
