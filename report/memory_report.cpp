#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/numbers.h"
#include "report/places.h"
#include "report/report.h"
#include "report/text_table.h"

namespace superstep {
namespace {

/// What tile memory holds where it holds most, and the tensors that take most of a tile.
struct WorstTile {
  std::size_t tile = 0;
  std::uint64_t bytes = 0;
  std::vector<std::pair<std::string, std::uint64_t>> categories;
  std::vector<const TensorInfo*> tensors;
};

std::optional<WorstTile> worst_tile(const ProgramInfo& info) {
  constexpr std::size_t kTensors = 5;
  std::size_t tiles = 0;
  for (const MemoryCategory& category : info.memory)
    tiles = std::max(tiles, category.bytes_by_tile.size());
  std::vector<std::uint64_t> sums(tiles);
  for (const MemoryCategory& category : info.memory)
    for (std::size_t i = 0; i < category.bytes_by_tile.size(); ++i)
      sums[i] += category.bytes_by_tile[i];
  if (sums.empty()) return {};
  WorstTile worst;
  worst.tile = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  worst.bytes = sums[worst.tile];
  for (const MemoryCategory& category : info.memory)
    if (worst.tile < category.bytes_by_tile.size() && category.bytes_by_tile[worst.tile] != 0)
      worst.categories.emplace_back(category.name, category.bytes_by_tile[worst.tile]);
  for (const TensorInfo& tensor : info.tensors) worst.tensors.push_back(&tensor);
  std::ranges::stable_sort(worst.tensors, std::greater{},
                           [](const TensorInfo* tensor) { return tensor->max_tile_bytes; });
  worst.tensors.resize(std::min(kTensors, worst.tensors.size()));
  return worst;
}

}  // namespace

std::string memory_report(const ProgramInfo& info, const MachineConfig& machine,
                          std::size_t columns) {
  const auto worst = worst_tile(info);
  if (!worst) return {};
  constexpr auto kLeft = TextTable::Align::kLeft, kRight = TextTable::Align::kRight;
  const std::uint64_t room = machine.tile.memory_bytes;
  std::string out = fmt::format(
      "Memory of the worst tile, {}: {} of {} B ({:.0f} %){}\n", worst->tile, grouped(worst->bytes),
      grouped(room), 100.0 * static_cast<double>(worst->bytes) / static_cast<double>(room),
      worst->bytes > room ? fmt::format(", {} B too many", grouped(worst->bytes - room)) : "");
  TextTable categories({kLeft, kRight});
  for (const auto& [name, bytes] : worst->categories)
    categories.add({"  " + name, grouped(bytes) + " B"});
  out += categories.text();
  if (worst->tensors.empty()) return out;
  out += "Biggest tensors, bytes on the tile that holds most of each\n";
  return out + text_in(columns, [&](PlaceForm form) {
           TextTable table({kLeft, kRight, kLeft, kLeft, kLeft});
           for (const TensorInfo* tensor : worst->tensors)
             table.add(with_place(
                 {"  " + tensor->name, grouped(tensor->max_tile_bytes) + " B", tensor->type.text()},
                 tensor->source, form));
           return table;
         });
}

nlohmann::ordered_json memory_document(const ProgramInfo& info, const MachineConfig& machine) {
  nlohmann::ordered_json document = {{"tile_bytes", machine.tile.memory_bytes}};
  const auto worst = worst_tile(info);
  if (!worst) return document;
  document["worst_tile"] = worst->tile;
  document["worst_tile_bytes"] = worst->bytes;
  document["worst_tile_categories"] = nlohmann::ordered_json::object();
  for (const auto& [name, bytes] : worst->categories)
    document["worst_tile_categories"][name] = bytes;
  document["biggest_tensors"] = nlohmann::ordered_json::array();
  for (const TensorInfo* tensor : worst->tensors)
    document["biggest_tensors"].push_back({{"name", tensor->name},
                                           {"type", tensor->type.text()},
                                           {"tile_bytes", tensor->max_tile_bytes},
                                           {"source", tensor->source.module.text()},
                                           {"python", tensor->source.python.text()}});
  return document;
}

}  // namespace superstep
