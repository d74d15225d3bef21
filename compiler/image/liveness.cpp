#include "compiler/image/liveness.h"

#include <algorithm>
#include <limits>
#include <map>

namespace superstep {
namespace {

/// The steps by their points, ascending; several may have one.
class StepsInTime {
 public:
  explicit StepsInTime(std::span<const std::uint32_t> point_by_step) {
    for (std::uint32_t step = 0; step < point_by_step.size(); ++step) {
      step_at_.emplace(point_by_step[step], step);
    }
  }

  /// The first step not before a point, and the last not after it.
  [[nodiscard]] std::uint32_t from(std::uint32_t point) const {
    const auto at = step_at_.lower_bound(point);
    return at == step_at_.end() ? 0 : at->second;
  }
  [[nodiscard]] std::uint32_t until(std::uint32_t point) const {
    const auto next = step_at_.upper_bound(point);
    return next == step_at_.begin() ? 0 : std::prev(next)->second;
  }

 private:
  std::multimap<std::uint32_t, std::uint32_t> step_at_;
};

bool is_always_live(const StorageRequest& request) { return request.first == 0; }

std::uint32_t saturated(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

void describe_tensors(const LoweredProgram& program, const Storage& storage,
                      const StepsInTime& steps, std::size_t tiles, ProgramInfo& info) {
  std::vector<TensorInfo> by_buffer(program.buffers.size());
  for (std::uint32_t t = 0; t < tiles; ++t) {
    for (const Storage::Entry& entry : storage.entries(TileId{t})) {
      TensorInfo& tensor = by_buffer[index(entry.buffer)];
      const StorageRequest& request = entry.request;
      ++tensor.tiles;
      tensor.bytes += request.bytes;
      tensor.max_tile_bytes = std::max(tensor.max_tile_bytes, request.bytes);
      tensor.is_always_live = is_always_live(request);
      tensor.first_step = tensor.is_always_live ? 0 : steps.from(request.first);
      tensor.last_step = tensor.is_always_live ? 0 : steps.until(request.last);
    }
  }
  info.tensors.clear();
  for (std::size_t b = 0; b < by_buffer.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    TensorInfo& tensor = by_buffer[b];
    if (tensor.tiles == 0 || buffer.kind == Buffer::Kind::kState) continue;
    tensor.name = buffer.name;
    tensor.type = buffer.type;
    tensor.source = buffer.source;
    info.tensors.push_back(std::move(tensor));
  }
}

}  // namespace

void describe_liveness(const LoweredProgram& program, const Storage& storage,
                       std::span<const std::uint32_t> point_by_step,
                       std::span<const std::uint32_t> fixed_by_tile, ProgramInfo& info) {
  describe_tensors(program, storage, StepsInTime(point_by_step), fixed_by_tile.size(), info);
  info.step_memory.assign(point_by_step.size(), {});
  info.tile_peaks.clear();
  const std::uint32_t last = *std::ranges::max_element(point_by_step);
  std::vector<std::int64_t> change(last + 2);
  std::vector<std::uint64_t> live(last + 1);
  for (std::uint32_t t = 0; t < fixed_by_tile.size(); ++t) {
    std::uint64_t always = fixed_by_tile[t];
    std::ranges::fill(change, 0);
    for (const Storage::Entry& entry : storage.entries(TileId{t})) {
      const StorageRequest& request = entry.request;
      if (is_always_live(request)) {
        always += request.bytes;
        continue;
      }
      change[request.first] += request.bytes;
      change[request.last + 1] -= request.bytes;
    }
    std::int64_t now = 0;
    for (std::uint32_t point = 0; point <= last; ++point) {
      now += change[point];
      live[point] = static_cast<std::uint64_t>(now);
    }
    TilePeak peak;
    for (std::uint32_t step = 0; step < point_by_step.size(); ++step) {
      const std::uint64_t others = live[point_by_step[step]];
      const std::uint32_t all = saturated(always + others);
      StepMemory& memory = info.step_memory[step];
      memory.always_live_bytes += always;
      memory.not_always_live_bytes += others;
      if (all > memory.peak_tile_bytes) {
        memory.peak_tile_bytes = all;
        memory.peak_tile = t;
      }
      if (all > peak.bytes && !info.steps[step].is_control()) peak = {all, step};
    }
    info.tile_peaks.push_back(peak);
  }
}

}  // namespace superstep
