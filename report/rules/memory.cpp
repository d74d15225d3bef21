#include <fmt/format.h>

#include <algorithm>

#include "report/rules/rules.h"
#include "sim/trace/schema.h"

namespace superstep {

std::optional<double> find_near_full(const RuleInput& input) {
  const TraceSummary& t = input.trace;
  if (t.tile_memory_bytes == 0) return std::nullopt;
  const double full = ratio(t.worst_tile_bytes, t.tile_memory_bytes);
  if (full <= input.rule.limit || t.worst_tile_memory.empty()) return full;
  const auto most = std::ranges::max_element(t.worst_tile_memory, {},
                                             [](const auto& category) { return category.second; });
  say(input,
      fmt::format("tile {} has {} of {} in use ({} %), most for {} ({})", index(t.worst_tile),
                  bytes_text(t.worst_tile_bytes), bytes_text(t.tile_memory_bytes), percent(full),
                  most->first, bytes_text(most->second)));
  return full;
}

std::optional<double> find_memory_peak(const RuleInput& input) {
  const auto& [rule, t, file, insights] = input;
  if (!file || t.tile_memory_bytes == 0) return std::nullopt;
  const std::vector<StepMemory> memory = file->read(kLiveness);
  const std::vector<StepRow> steps = file->read(kSteps);
  const auto peak = std::ranges::max_element(memory, {}, &StepMemory::peak_tile_bytes);
  if (peak == memory.end() || memory.size() > steps.size()) return std::nullopt;
  std::vector<std::uint64_t> sorted;
  for (const StepMemory& of_step : memory) sorted.push_back(of_step.peak_tile_bytes);
  std::ranges::sort(sorted);
  const std::uint64_t median = sorted[sorted.size() / 2];
  if (median == 0) return std::nullopt;
  const double times = ratio(peak->peak_tile_bytes, median);
  if (times <= rule.limit || ratio(peak->peak_tile_bytes, t.tile_memory_bytes) <= kMuchMemory)
    return times;
  const auto number = static_cast<std::uint32_t>(peak - memory.begin());
  const TensorInfo* largest = nullptr;
  for (const TensorInfo& tensor : t.tensors) {
    const bool is_larger = !largest || tensor.max_tile_bytes > largest->max_tile_bytes;
    if (is_larger && is_live_in(tensor, number)) largest = &tensor;
  }
  std::string found =
      fmt::format("memory peaks in {}: tile {} has {} in use, {:.1f} times the median of the steps",
                  steps[number].name, peak->peak_tile, bytes_text(peak->peak_tile_bytes), times);
  if (largest)
    found += fmt::format("; largest tensor there: {} ({} on the tile with most of it)",
                         largest->name, bytes_text(largest->max_tile_bytes));
  say(input, found);
  return times;
}

std::optional<double> find_exchange_code(const RuleInput& input) {
  const TraceSummary& t = input.trace;
  const auto code = std::ranges::find(t.worst_tile_memory, "exchange_code",
                                      [](const auto& category) { return category.first; });
  if (code == t.worst_tile_memory.end() || t.tile_memory_bytes == 0) return std::nullopt;
  const double of_tile = ratio(code->second, t.tile_memory_bytes);
  if (of_tile > input.rule.limit)
    say(input, fmt::format("code of exchanges takes {} of tile {} ({} %)", bytes_text(code->second),
                           index(t.worst_tile), percent(of_tile)));
  return of_tile;
}

}  // namespace superstep
