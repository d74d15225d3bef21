#include "compiler/check_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "compiler/ops/op.h"

namespace superstep {
namespace {

constexpr std::size_t kTensorsShown = 5;
/// What passes may make on the host, whatever the machine has [assumed].
constexpr std::uint64_t kHostBytes = std::uint64_t{1} << 30;

std::string in_mib(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::uint32_t clipped(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

/// Whether the results of an op are stored whatever uses them.
bool is_stored(const Op& op, const Graph& graph) {
  return lowering_as<RearrangeLowering>(op, graph) == nullptr;
}

/// Whether more elements are combined into one than 32 bits count.
bool combines_too_many(const Op& op, const Graph& graph) {
  if (!op.definition->traits.is_reduction) return false;
  const std::int64_t results = std::max<std::int64_t>(graph.type(op.results[0]).elements(), 1);
  return graph.type(op.operands[0]).elements() / results > std::numeric_limits<std::int32_t>::max();
}

/// A value as if it lay in equal parts on all tiles.
TensorInfo tensor_of(const Graph& graph, ValueId v, std::uint32_t tiles) {
  const Value& value = graph.value(v);
  const std::uint64_t bytes = value.type.bytes();
  TensorInfo tensor{.name = value.name,
                    .type = value.type,
                    .source = {},
                    .bytes = bytes,
                    .max_tile_bytes = clipped((bytes + tiles - 1) / tiles),
                    .tiles = tiles,
                    .is_always_live = !value.producer};
  if (const Op* producer = graph.producer_of(v)) {
    tensor.name = producer->definition->name;
    tensor.source = producer->location;
  }
  return tensor;
}

}  // namespace

void check_size(const Module& module, const MachineConfig& machine, Passes done,
                const std::function<void(const ProgramInfo&)>& on_memory) {
  const Graph& graph = module.main;
  const std::uint32_t tiles = machine.tiles();
  const std::uint64_t memory = std::uint64_t{tiles} * machine.tile.memory_bytes;
  ProgramInfo info;
  info.module = module.name;
  info.steps = {{.kind = StepInfo::Kind::kHost, .name = "host", .operation = "", .source = {}}};
  std::uint64_t arguments = 0;
  for (const ValueId argument : graph.arguments()) {
    arguments += graph.type(argument).bytes();
    info.tensors.push_back(tensor_of(graph, argument, tiles));
  }
  std::vector<bool> is_result(graph.values().size()), is_used = is_result;
  for (const ValueId result : graph.results()) is_result[index(result)] = true;
  for (const Op& op : graph.ops()) {
    for (const ValueId operand : op.operands) is_used[index(operand)] = true;
  }
  const auto counts = [&](const Op& op, ValueId result) {
    if (is_result[index(result)]) return true;
    if (done == Passes::kAll) return is_stored(op, graph);
    return is_used[index(result)] && lowering_as<ConstantLowering>(op, graph) != nullptr;
  };
  std::uint64_t largest = 0;
  for (const Op& op : graph.ops()) {
    for (const ValueId result : op.results) {
      const std::uint64_t bytes = graph.type(result).bytes();
      if (bytes <= memory || !counts(op, result)) continue;
      largest = std::max(largest, bytes);
      info.tensors.push_back(tensor_of(graph, result, tiles));
    }
    if (done == Passes::kNone || !combines_too_many(op, graph)) continue;
    const std::uint64_t bytes = graph.type(op.operands[0]).bytes();
    if (bytes <= memory) continue;
    largest = std::max(largest, bytes);
    info.tensors.push_back(tensor_of(graph, op.operands[0], tiles));
  }
  if (arguments <= memory && largest == 0) return;
  if (done == Passes::kNone && std::max(arguments, largest) <= kHostBytes) return;
  const auto by_tile = [&](std::uint64_t bytes) { return clipped((bytes + tiles - 1) / tiles); };
  for (const auto& [name, bytes] :
       {std::pair{"variables", arguments}, std::pair{"temporaries", largest}}) {
    info.memory.push_back({name, std::vector<std::uint32_t>(tiles, by_tile(bytes))});
  }
  info.tile_peaks.assign(tiles, {by_tile(arguments + largest), 0});
  if (on_memory) on_memory(info);

  std::string text =
      fmt::format("the program does not fit machine {}: {}, all {} tiles have {}", machine.name,
                  arguments > memory ? fmt::format("its arguments take {}", in_mib(arguments))
                                     : fmt::format("one tensor takes {}", in_mib(largest)),
                  tiles, in_mib(memory));
  text += "\n  in equal parts, tile 0 holds:";
  for (const MemoryCategory& category : info.memory) {
    if (category.bytes_by_tile[0] == 0) continue;
    text += fmt::format("\n    {:<16} {:>12}", category.name, in_mib(category.bytes_by_tile[0]));
  }
  std::ranges::stable_sort(info.tensors, std::greater{}, &TensorInfo::bytes);
  text += "\n  its biggest tensors:";
  for (std::size_t i = 0; i < std::min(info.tensors.size(), kTensorsShown); ++i) {
    const TensorInfo& tensor = info.tensors[i];
    text += fmt::format("\n    {:<32} {:<24} {:>12}", tensor.name, tensor.type.text(),
                        in_mib(tensor.bytes));
    if (const std::string where = tensor.source.text(); !where.empty()) text += "  " + where;
  }
  throw DoesNotFit(text + "\n  a machine with more tiles, or smaller tensors, would help");
}

}  // namespace superstep
