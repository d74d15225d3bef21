#include "compiler/image/oversized.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/ops/op.h"

namespace superstep {
namespace {

/// In equal parts on all tiles.
LayoutPtr spread(std::int64_t elements, std::int64_t tiles) {
  const std::int64_t part = ((elements + tiles - 1) / tiles + 7) / 8 * 8;
  std::vector<Interval> intervals;
  for (std::int64_t begin = 0; begin < elements; begin += part) {
    const auto tile = static_cast<std::uint32_t>(intervals.size());
    intervals.push_back({begin, std::min(part, elements - begin), {TileId{tile}}});
  }
  return std::make_shared<const Layout>(std::move(intervals));
}

/// Whether the results of an op are stored whatever uses them.
bool is_stored(const Op& op, const Graph& graph) {
  return lowering_as<RearrangeLowering>(op, graph) == nullptr;
}

Buffer buffer_of(const Graph& graph, ValueId v, const MachineConfig& machine) {
  const Value& value = graph.value(v);
  Buffer buffer{.kind = Buffer::Kind::kArgument,
                .name = value.name,
                .type = value.type,
                .element_bytes = static_cast<std::uint32_t>(size_of(value.type.dtype)),
                .layout = spread(value.type.elements(), machine.tiles()),
                .contents = {},
                .source = {}};
  if (value.producer) {
    const Op& op = graph.ops()[*value.producer];
    buffer.kind = Buffer::Kind::kTemporary;
    buffer.name = std::string(op.definition->name);
    buffer.source = op.location;
    buffer.is_result = true;
  }
  return buffer;
}

}  // namespace

std::optional<LoweredProgram> oversized(const Module& module, const MachineConfig& machine) {
  const Graph& graph = module.main;
  const std::uint64_t memory = std::uint64_t{machine.tiles()} * machine.tile.memory_bytes;
  std::uint64_t arguments = 0;
  for (const ValueId argument : graph.arguments()) arguments += graph.type(argument).bytes();
  std::vector<bool> is_result(graph.values().size());
  for (const ValueId result : graph.results()) is_result[index(result)] = true;
  std::optional<ValueId> too_big;
  for (const Op& op : graph.ops()) {
    for (const ValueId result : op.results) {
      if ((is_stored(op, graph) || is_result[index(result)]) &&
          graph.type(result).bytes() > memory) {
        too_big = result;
      }
    }
  }
  if (arguments <= memory && !too_big) return std::nullopt;
  std::vector<ValueId> held = graph.arguments();
  if (too_big) held.push_back(*too_big);
  LoweredProgram program;
  for (const ValueId v : held) {
    if (graph.type(v).elements() > 0) program.buffers.push_back(buffer_of(graph, v, machine));
  }
  return program;
}

}  // namespace superstep
