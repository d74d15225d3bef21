#include "report/export/host_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/trace/schema.h"

namespace superstep {
namespace {

bool is_to_host(const TransferRow& transfer) { return transfer.direction != 0; }

}  // namespace

HostTracks::HostTracks(PerfettoWriter& writer, const TraceFile& trace)
    : writer_(writer), streams_(trace.read(kStreams)), parent_(writer.track("Host")) {}

std::vector<PerfettoFlow> HostTracks::arrows_into_superstep() {
  return std::exchange(arrived_, {});
}

std::vector<PerfettoFlow> HostTracks::arrows_from_visit(
    std::span<const TransferRow> transfers) const {
  std::vector<PerfettoFlow> flows;
  for (const TransferRow& transfer : transfers) {
    if (is_to_host(transfer)) flows.push_back({flows_ + flows.size() + 1, false});
  }
  return flows;
}

void HostTracks::add(std::span<const TransferRow> transfers, bool has_superstep_behind) {
  std::uint64_t to_host = flows_;
  flows_ += static_cast<std::uint64_t>(std::ranges::count_if(transfers, is_to_host));
  for (const TransferRow& transfer : transfers) {
    std::vector<PerfettoFlow> flows;
    if (is_to_host(transfer)) {
      flows.push_back({++to_host, true});
    } else if (has_superstep_behind) {
      flows.push_back({++flows_, false});
      arrived_.push_back({flows_, true});
    }
    write(transfer, flows);
  }
}

void HostTracks::write(const TransferRow& transfer, std::span<const PerfettoFlow> flows) {
  const std::uint64_t at = transfer.start.value(), end = at + transfer.length.value();
  const PerfettoArgument arguments[] = {
      {"superstep", transfer.superstep}, {"bytes", transfer.bytes}, {"packets", transfer.packets}};
  const std::string name = transfer.stream < streams_.size()
                               ? streams_[transfer.stream].name
                               : fmt::format("stream {}", transfer.stream);
  const PerfettoWriter::Track track = lane(transfer.direction, at, end);
  writer_.begin(track, at, name, arguments, flows);
  writer_.end(track, end);
}

PerfettoWriter::Track HostTracks::lane(std::size_t direction, std::uint64_t at, std::uint64_t end) {
  std::vector<Lane>& lanes = lanes_[std::min<std::size_t>(direction, lanes_.size() - 1)];
  const auto free = std::ranges::find_if(lanes, [&](const Lane& l) { return l.end <= at; });
  if (free != lanes.end()) {
    free->end = end;
    return free->track;
  }
  const std::string_view name = direction == 0 ? "to the device" : "to the host";
  return lanes.emplace_back(Lane{writer_.track(name, parent_), end}).track;
}

}  // namespace superstep
