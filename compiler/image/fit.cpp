#include "compiler/image/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace superstep {
namespace {

std::string in_kib(std::uint64_t bytes) {
  return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
}

/// What one tile lacks.
std::string shortage(const MachineConfig& machine, const LoweredProgram& program,
                     const Storage& storage, TileId tile, std::uint32_t code_end) {
  const MachineConfig::Tile& memory = machine.tile;
  const std::uint64_t live = storage.live_bytes(tile), room = storage.room(tile);
  if (live > room && code_end <= machine.memory_end()) {
    return fmt::format("tile {} needs {} more than its {} of memory", index(tile),
                       in_kib(live - room), in_kib(memory.memory_bytes));
  }
  if (code_end > memory.region1_base) {
    return fmt::format("tile {} needs {} for code, its executable region has {}", index(tile),
                       in_kib(code_end - memory.memory_base),
                       in_kib(memory.region1_base - memory.memory_base));
  }
  const std::optional<Misfit>& misfit = storage.misfit(tile);
  SUPERSTEP_CHECK(misfit, "something of a tile that is too full finds no place");
  const Storage::Entry& entry = storage.entries(tile)[misfit->request];
  const Buffer& buffer = program.buffers[index(entry.buffer)];
  const char* where = buffer.region == Buffer::Region::kInterleaved ? " of its interleaved region"
                      : buffer.region == Buffer::Region::kFirst     ? " of its executable region"
                                                                    : "";
  return fmt::format(
      "tile {} has no place for {}, which takes {} in one piece{}: the largest that is free has "
      "{}, although at most {} of its {} are in use at once",
      index(tile), buffer.name, in_kib(entry.request.bytes), where, in_kib(misfit->largest_gap),
      in_kib(memory.memory_bytes - room + live), in_kib(memory.memory_bytes));
}

}  // namespace

std::vector<std::uint64_t> missing_bytes(const MachineConfig& machine, const Storage& storage,
                                         const std::vector<std::uint32_t>& code_end) {
  std::vector<std::uint64_t> missing = storage.missing_bytes();
  for (std::size_t t = 0; t < missing.size(); ++t) {
    missing[t] += std::max(code_end[t], machine.tile.region1_base) - machine.tile.region1_base;
  }
  return missing;
}

void check_fits(const MachineConfig& machine, const LoweredProgram& program, const Storage& storage,
                const std::vector<std::uint32_t>& code_end,
                const std::vector<MemoryCategory>& categories) {
  const std::vector<std::uint64_t> missing = missing_bytes(machine, storage, code_end);
  const auto worst = std::ranges::max_element(missing);
  if (worst == missing.end() || *worst == 0) return;
  const auto tile = static_cast<std::uint32_t>(worst - missing.begin());
  const std::string lack = shortage(machine, program, storage, TileId{tile}, code_end[tile]);
  std::string text = fmt::format(
      "the program does not fit machine {}: {}\n  tile {} holds:", machine.name, lack, tile);
  for (const MemoryCategory& category : categories) {
    if (category.bytes_by_tile[tile] == 0) continue;
    text += fmt::format("\n    {:<16} {:>12}", category.name, in_kib(category.bytes_by_tile[tile]));
  }
  text += "\n  its biggest tensors:";
  const auto buffers = storage.on(TileId{tile});
  for (std::size_t i = 0; i < std::min<std::size_t>(buffers.size(), 5); ++i) {
    const Buffer& buffer = program.buffers[index(buffers[i].first)];
    text += fmt::format("\n    {:<32} {:<24} {:>12}", buffer.name, buffer.type.text(),
                        in_kib(buffers[i].second));
    if (const std::string where = buffer.source.text(); !where.empty()) text += "  " + where;
  }
  const auto full = static_cast<std::size_t>(
      std::ranges::count_if(missing, [](std::uint64_t bytes) { return bytes > 0; }));
  text += fmt::format(
      "\n  {} of {} tiles have too little room; a machine with more tiles, or smaller tensors, "
      "would help",
      full, machine.tiles());
  std::vector<BufferId> held;
  for (const auto& [buffer, bytes] : buffers) held.push_back(buffer);
  throw TileIsFull(text, lack, code_end[tile] - machine.tile.memory_base, std::move(held));
}

}  // namespace superstep
