#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/divide.h"
#include "compiler/cost/launch_costs.h"
#include "compiler/cost/reduce_costs.h"
#include "compiler/lower/indexed/passes.h"
#include "compiler/lower/indexed/put_vertex.h"
#include "compiler/lower/reductions/cut_reduction.h"
#include "compiler/lower/reductions/reduce.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/take.h"
#include "compiler/program/table_layout.h"
#include "compiler/vertex/select_offsets.h"
#include "compiler/vertex/take.h"

namespace superstep {
namespace {

std::vector<std::int64_t> behind(const std::vector<std::int64_t>& first,
                                 const std::vector<std::int64_t>& more) {
  std::vector<std::int64_t> all = first;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The same offsets in batches, each of which has a table of its own. The last may have some too
/// many.
TableUse in_batches(const TableUse& use, std::int64_t batches) {
  TableUse divided{{behind({batches}, use.table.shape), {0}, use.table.indexed},
                   divide_up(use.count, batches),
                   use.window};
  for (std::int64_t& d : divided.table.indexed) ++d;
  return divided;
}

/// Batches of which each has a table in parts of its positions, on as many tiles.
struct PartedBatches {
  std::int64_t batches, parts;

  /// The use of all parts, as batches; each has the offsets of its batch.
  [[nodiscard]] TableUse of(const TableUse& use) const {
    const std::int64_t positions = divide_up(use.table.positions(), parts);
    return {{{batches * parts, positions, use.table.width()}, {0}, {1}},
            divide_up(use.count, batches),
            1};
  }
};

/// The share of a tile's memory that a part of a table may take [assumed: as that of a block of a
/// table].
constexpr std::int64_t kPartShare = 8;

/// Percent of a tile's memory above which no tile has all positions of a table, even if longer
/// windows would be whole there [assumed: the rest is for what else lives].
constexpr std::int64_t kWholePercent = 75;

/// Windows of one position each, of a table of which batches are indexed as well, where it has too
/// many positions for anything else: in memory there are so many `copies` of it.
std::optional<TableUse> in_positions(const TableUse& use, const MachineConfig& machine,
                                     std::int64_t element_bytes, std::int64_t copies) {
  const Table& table = use.table;
  if (use.window == 1 && table.batches() == 1) return std::nullopt;
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max() / 2;
  const TableCut whole = table_cut(table, element_bytes, 1, machine.tiles(), kAny);
  const std::int64_t most = machine.tile.memory_bytes * kWholePercent / 100 / copies;
  if (whole.elements() / whole.batches * element_bytes <= most) return std::nullopt;
  TableUse single{table, table.batches() * use.positions(), 1};
  if (table.batches() > 1) {
    if (table.positions() * element_bytes <= most) return std::nullopt;
    const std::int64_t positions = table.batches() * table.positions();
    const bool is_in_order = table.batching.back() < table.indexed.front();
    if (!is_in_order || positions > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    single.table = {table.shape, {}, behind(table.batching, table.indexed)};
  }
  const TableCut cut = table_cut(single, element_bytes, machine.tiles(), machine.tile.memory_bytes);
  return cut.positions < single.table.positions() ? std::optional(std::move(single)) : std::nullopt;
}

/// The offsets of `single` windows; those of a window that is dropped stay negative.
Tensor offsets_in_positions(Tensor offsets, const TableUse& use, const TableUse& single) {
  const TensorType type{DType::kI32, {use.table.batches(), use.count, use.window}};
  const auto along = [&](std::int64_t dimension) { return offsets.builder->iota(type, dimension); };
  const Tensor first = broadcast(reshape(offsets, {type.shape[0], use.count}), type.shape, {0, 1});
  Tensor place = first + along(2);
  if (type.shape[0] > 1) place = place + along(0) * static_cast<double>(use.table.positions());
  Shape shape = single.windows();
  shape.resize(single.table.batching.size() + 1);
  return reshape(select(first > -1.0, place, first), shape);
}

/// Into how many batches the offsets of a take or put are best divided, of which `estimate` gives
/// the cycles; nothing where one batch takes least.
std::optional<std::int64_t> best_batches(
    const TableUse& use, const MachineConfig& machine, std::int64_t element_bytes,
    const std::function<std::int64_t(const TableUse&)>& estimate) {
  const auto fits = [&](const TableUse& divided) {
    const TableCut cut =
        table_cut(divided, element_bytes, machine.tiles(), machine.tile.memory_bytes);
    return cut.positions == use.table.positions() && cut.blocks(divided.table) <= machine.tiles();
  };
  if (use.count == 1 || !use.table.batching.empty() || !fits(use)) return std::nullopt;
  // What divides the offsets evenly, and shares of them that grow by less than a half.
  std::set<std::int64_t> shares;
  for (std::int64_t share = 1; share < use.count; share += 1 + share / 3) shares.insert(share);
  for (std::int64_t share = 1; share * share <= use.count; ++share) {
    if (use.count % share == 0) shares.insert({share, use.count / share});
  }
  std::optional<std::int64_t> best;
  std::int64_t least = estimate(use);
  for (const std::int64_t share : shares) {
    const std::int64_t batches = divide_up(use.count, share);
    const TableUse divided = in_batches(use, batches);
    if (batches == 1 || !fits(divided)) continue;
    const std::int64_t cycles = estimate(divided);
    if (cycles >= least) continue;
    best = batches;
    least = cycles;
  }
  return best;
}

/// What comes into a tile before a launch, in words, and what puts those in order that are too many
/// for the batches.
std::int64_t gather_cycles(const Costs& costs, const TableUse& use, std::int64_t offsets,
                           std::int64_t words) {
  const bool is_even = use.table.batching.empty() || offsets % use.table.batches() == 0;
  return costs.phase() + costs.moved(words) + (is_even ? 0 : costs.phase() + 2 * costs.launch());
}

/// `x` with more of `value` behind the first dimension, which then becomes two: batches and what
/// each has.
Tensor batched(Tensor x, Tensor value, const TableUse& divided) {
  Shape shape = x.shape();
  const std::int64_t all = divided.table.batches() * divided.count;
  std::vector<std::int64_t> none(shape.size(), 0), more = none;
  more[0] = all - shape[0];
  if (more[0] > 0) x = pad(x, value, none, more, none);
  shape[0] = divided.count;
  return reshape(x, behind({divided.table.batches()}, shape));
}

Tensor repeated(Tensor table, const TableUse& divided) {
  std::vector<std::int64_t> dimensions(table.shape().size());
  std::iota(dimensions.begin(), dimensions.end(), 1);
  return broadcast(table, divided.table.shape, dimensions);
}

/// The op over tables of all batches.
Op divided_op(const Op& op, const TableUse& divided) {
  Op result;
  result.attributes = op.attributes;
  for (auto& [name, value] : table_attributes(divided.table, divided.window)) {
    result.attributes[name] = value;
  }
  result.regions = op.regions;
  return result;
}

class PutCosts {
 public:
  PutCosts(const MachineConfig& machine, const Op& op, const Combine& combine, std::int64_t offsets)
      : machine_(machine),
        costs_(machine),
        offsets_(offsets),
        element_bytes_(static_cast<std::int64_t>(size_of(combine.reduce.dtypes[0]))),
        op_(op),
        reduce_(machine, combine.reduce, false, true) {}

  /// Of a table in one part or more, of which each is a batch.
  [[nodiscard]] std::int64_t cycles(const TableUse& use, std::int64_t table_parts = 1) const {
    const Table& table = use.table;
    const TableCut cut =
        table_cut(use, element_bytes_, machine_.tiles(), machine_.tile.memory_bytes);
    const std::int64_t windows = cut.batches * use.positions() * cut.width;
    const vertex::Put::State state{.offsets = {},
                                   .lists = {},
                                   .groups = cut.batches,
                                   .offsets_a_group = use.count,
                                   .positions = table.positions(),
                                   .table_positions = table_parts * table.positions(),
                                   .position_elements = cut.width,
                                   .run_elements = use.window * cut.width,
                                   .sharing = sharing_of(op_, use.window, false),
                                   .values = {{}}};
    const vertex::Put vertex = put_vertex(op_.regions[0], cut.width);
    const LaunchCosts& launch =
        puts_.try_emplace(vertex.unit_bytes, machine_, vertex.code(machine_)).first->second;
    const std::int64_t fill = divide_up(cut.elements() * element_bytes_, 4);
    const std::int64_t put =
        gather_cycles(costs_, use, offsets_, cut.batches * use.count + words(windows)) +
        costs_.launch(divide_up(fill, std::int64_t{machine_.tile.workers})) +
        launch.cycles(state.words());
    if (table.batching.empty()) return put;
    // What batches have is combined, of a tile, then of all.
    const std::int64_t results = table_parts * table.elements_of(table.indexed) * table.width();
    const std::int64_t parts = cut.batch_blocks(table) / table_parts;
    const std::int64_t inside = cut.batches > 1 ? reduce_.cycles(results, cut.batches) : 0;
    if (parts == 1) return put + inside;
    const std::int64_t last =
        std::max(Costs::kLeastPerTile, divide_up(results, std::int64_t{machine_.tiles()}));
    return put + inside +
           cut_reduction(machine_, {results, parts}, std::min(last, results), true, false, reduce_,
                         reduce_)
               .cycles;
  }

  /// The least that it takes where each tile has some positions, and gets all offsets.
  [[nodiscard]] std::int64_t least_by_position(const TableUse& use, const TableCut& cut) const {
    const vertex::SelectOffsets select{machine_.tile.workers};
    const vertex::SelectOffsets::State state{.lists = {},
                                             .offsets = {},
                                             .count = use.count,
                                             .positions = cut.positions,
                                             .table_positions = use.table.positions()};
    return gather_cycles(costs_, use, offsets_, use.count + words(use.count * cut.width)) +
           LaunchCosts(machine_, select.code(machine_)).cycles(state.words());
  }

 private:
  [[nodiscard]] std::int64_t words(std::int64_t elements) const {
    return divide_up(elements * element_bytes_, 4);
  }

  const MachineConfig& machine_;
  Costs costs_;
  std::int64_t offsets_, element_bytes_;
  const Op& op_;
  mutable std::map<std::uint32_t, LaunchCosts> puts_;  ///< by unit
  ReduceCosts reduce_;
};

/// Batches with tables in parts, for a table that is cut by position; nothing where all offsets on
/// all tiles take less.
std::optional<PartedBatches> best_parted_batches(const TableUse& use, const MachineConfig& machine,
                                                 std::int64_t element_bytes,
                                                 const PutCosts& costs) {
  const Table& table = use.table;
  const TableCut cut = table_cut(use, element_bytes, machine.tiles(), machine.tile.memory_bytes);
  if (!table.batching.empty() || use.window > 1 || cut.positions == table.positions()) {
    return std::nullopt;
  }
  const Indices rest = table.rest();
  if (!rest.empty() && rest.front() < table.indexed.back()) return std::nullopt;
  const std::int64_t most = machine.tile.memory_bytes / kPartShare;
  const std::int64_t parts = divide_up(table.positions() * table.width() * element_bytes, most);
  std::optional<PartedBatches> best;
  std::int64_t least = costs.least_by_position(use, cut);
  for (PartedBatches parted{2, parts}; parted.batches * parts <= machine.tiles();
       parted.batches += 1 + parted.batches / 3) {
    const std::int64_t cycles = costs.cycles(parted.of(use), parts);
    if (cycles >= least) continue;
    best = parted;
    least = cycles;
  }
  return best;
}

/// Whether what `op` combines may be combined in parts, as a reduction: floats are then rounded in
/// another order.
bool may_be_in_parts(const Op& op, const Combine& combine) {
  return op.results.size() == 1 && op.regions[0].ops().size() == 1 && combine.identity.has_value();
}

/// Whether all elements of a value are constant and have these bits.
bool repeats(const Graph& graph, ValueId v, std::uint64_t bits) {
  const Op* op = graph.producer_of(v);
  if (op == nullptr) return false;
  if (lowering_as<RearrangeLowering>(*op, graph) != nullptr && op->operands.size() == 1) {
    return repeats(graph, op->operands[0], bits);
  }
  const std::optional<HostTensor> value = constant_value(graph, v);
  if (!value) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(value->type.elements()); ++i) {
    if (read_bits(*value, i) != bits) return false;
  }
  return true;
}

/// An op that counts for so many floating-point operations.
Op counted(Op op, std::int64_t flops) {
  op.attributes[kUsefulFlops] = flops;
  return op;
}

/// What each batch puts into a table of `identity`, in parts of it.
Tensor put_in_parts(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands,
                    Tensor identity, const TableUse& use, const PartedBatches& parted,
                    std::int64_t flops) {
  const TableUse whole = in_batches(use, parted.batches), divided = parted.of(use);
  const std::int64_t positions = divided.table.positions(), width = divided.table.width();
  const Shape by_part{parted.batches, parted.parts, divided.count};
  const Tensor offsets =
      broadcast(batched(operands[1], builder.number(DType::kI32, -1), whole), by_part, {0, 2}) -
      builder.iota({DType::kI32, by_part}, 1) * static_cast<double>(positions);
  const Tensor is_inside = (offsets > -1.0) & (offsets < static_cast<double>(positions));
  const Tensor windows =
      reshape(batched(operands[2], identity, whole), {parted.batches, divided.count, width});
  const Shape all{parted.batches, parted.parts, divided.count, width};
  const Tensor put = builder.apply(*op.definition,
                                   {broadcast(identity, divided.table.shape, {}),
                                    reshape(select(is_inside, offsets, offsets.like(-1)),
                                            {parted.batches * parted.parts, divided.count}),
                                    reshape(broadcast(windows, all, {0, 2, 3}), divided.windows())},
                                   counted(divided_op(op, divided), flops));
  return reshape(put, {parted.batches, parted.parts * positions, width});
}

}  // namespace

std::vector<Tensor> divide_take(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands, const MachineConfig& machine) {
  const TensorType type = operands[0].type();
  const TableUse use = table_use(op, type.shape, operands[1].shape());
  const auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  if (const auto single = in_positions(use, machine, bytes, 1)) {
    const Tensor offsets = offsets_in_positions(operands[1], use, *single);
    const std::vector<Tensor> of_take = {operands[0], offsets};
    Op take = divided_op(op, *single);
    std::vector<Tensor> taken = take_in_passes(builder, take, of_take, *single, machine);
    if (taken.empty()) taken = builder.append(*op.definition, of_take, std::move(take));
    return {reshape(taken[0], use.windows())};
  }
  const Costs costs(machine);
  std::map<std::uint32_t, LaunchCosts> takes;
  const auto estimate = [&](const TableUse& of) {
    const TableCut cut = table_cut(of, bytes, machine.tiles(), machine.tile.memory_bytes);
    const std::int64_t position = cut.width * bytes;
    const vertex::Take take{position % 8 == 0 ? 8U : 4U};
    const auto its = takes.try_emplace(take.unit_bytes, machine, take.code(machine)).first;
    const vertex::Take::State state{.to = {},
                                    .table = {},
                                    .offsets = {},
                                    .groups = cut.batches,
                                    .offsets_a_group = of.count,
                                    .group_bytes = of.table.positions() * position,
                                    .position_bytes = position,
                                    .run_bytes = of.window * position};
    const std::int64_t copied =
        of.table.batching.empty() ? 0 : divide_up(cut.elements() * bytes, 4);
    return gather_cycles(costs, of, use.count, copied + cut.batches * of.count) +
           its->second.cycles(state.words());
  };
  const auto batches = best_batches(use, machine, bytes, estimate);
  if (!batches) return take_in_passes(builder, op, operands, use, machine);
  const TableUse divided = in_batches(use, *batches);
  const Tensor offsets = batched(operands[1], builder.number(DType::kI32, 0), divided);
  const Tensor taken = builder.apply(*op.definition, {repeated(operands[0], divided), offsets},
                                     divided_op(op, divided));
  Shape shape = use.windows();
  shape[0] = *batches * divided.count;
  return {window(reshape(taken, shape), Indices(shape.size(), 0), use.windows())};
}

std::vector<Tensor> divide_put(GraphBuilder& builder, const Op& op,
                               std::span<const Tensor> operands, const MachineConfig& machine) {
  const TensorType type = operands[0].type();
  const std::size_t count = op.results.size();
  const TableUse use = table_use(op, type.shape, operands[count].shape());
  std::size_t narrowest = size_of(type.dtype);
  for (const Tensor& table : operands.first(count)) {
    narrowest = std::min(narrowest, size_of(table.dtype()));
  }
  if (const auto single = in_positions(use, machine, static_cast<std::int64_t>(narrowest), 2)) {
    std::vector<Tensor> all(operands.begin(), operands.end());
    all[count] = offsets_in_positions(operands[count], use, *single);
    for (std::size_t i = count + 1; i < all.size(); ++i)
      all[i] = reshape(all[i], single->windows());
    Op put = divided_op(op, *single);
    std::vector<Tensor> results = put_in_passes(builder, put, all, *single, machine);
    if (!results.empty()) return results;
    return builder.append(*op.definition, all, std::move(put));
  }
  const Combine combine = combine_of(op.regions[0]);
  if (!may_be_in_parts(op, combine)) return put_in_passes(builder, op, operands, use, machine);
  const PutCosts costs(machine, op, combine, use.count);
  const auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  const auto batches =
      best_batches(use, machine, bytes, [&](const TableUse& of) { return costs.cycles(of); });
  const auto parted = batches ? std::nullopt : best_parted_batches(use, machine, bytes, costs);
  if (!batches && !parted) return put_in_passes(builder, op, operands, use, machine);
  HostTensor one({type.dtype, {}});
  write_bits(one, 0, *combine.identity);
  const Tensor identity = builder.constant(std::move(one));
  const OpDefinition& combining = *op.regions[0].ops()[0].definition;
  const auto both = [&](Tensor a, Tensor b) {
    return a.builder->apply(combining, {a, b}, counted({}, 0));
  };
  const bool is_counted = is_float(type.dtype) && combining.traits.is_arithmetic;
  const std::int64_t flops = is_counted ? operands[2].type().elements() : 0;
  const auto total = [&]() -> Tensor {
    if (parted) {
      const Tensor parts = put_in_parts(builder, op, operands, identity, use, *parted, flops);
      const Tensor rows = reduce(parts, identity, {0}, both, counted({}, 0));
      return reshape(window(rows, {0, 0}, {use.table.positions(), use.table.width()}), type.shape);
    }
    const TableUse divided = in_batches(use, *batches);
    const Tensor parts =
        builder.apply(*op.definition,
                      {broadcast(identity, divided.table.shape, {}),
                       batched(operands[1], builder.number(DType::kI32, -1), divided),
                       batched(operands[2], identity, divided)},
                      counted(divided_op(op, divided), flops));
    return reduce(parts, identity, {0}, both, counted({}, 0));
  }();
  const bool is_empty = repeats(builder.graph(), operands[0].id, *combine.identity);
  return {is_empty ? total : both(operands[0], total)};
}

}  // namespace superstep
