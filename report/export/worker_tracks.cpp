#include "report/export/worker_tracks.h"

#include <fmt/format.h>

namespace superstep {
namespace {

std::uint64_t number_of(const TraceFile& trace, std::uint64_t row) {
  return row < trace.rows(kSupersteps) ? trace.read(kSupersteps, row, 1).front().number : 0;
}

}  // namespace

WorkerTracks::WorkerTracks(PerfettoWriter& writer, const TraceFile& trace, const ProgramTree& tree,
                           std::uint64_t first_row, const std::vector<std::uint32_t>& tiles,
                           const std::vector<PerfettoWriter::Track>& tracks)
    : writer_(writer),
      tree_(tree),
      types_(trace.read(kVertexTypes)),
      rows_(trace.hdf5(), trace.rows(kVertices), number_of(trace, first_row)) {
  const std::uint32_t workers = read_attributes(trace.hdf5(), kRootAttributes).workers;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
      tracks_.emplace(std::pair(tiles[t], worker),
                      writer.track(fmt::format("Worker {}", worker), tracks[t]));
    }
  }
}

void WorkerTracks::add(std::uint64_t superstep) {
  for (const VertexRow& row : rows_.of(superstep)) {
    const auto track = tracks_.find({row.tile, row.worker});
    if (track == tracks_.end()) continue;
    const bool has_type = row.vertex_type && *row.vertex_type < types_.size();
    const InstructionCounts& issued = row.instructions;
    const PerfettoArgument arguments[] = {
        {"vertex_type", has_type ? std::string_view(types_[*row.vertex_type].name) : "unknown"},
        {"launch_cycle", row.launch},
        {"instructions", issued.all},
        {"aux_instructions", issued.aux},
        {"amp_instructions", issued.amp},
        {"load_instructions", issued.loads},
        {"store_instructions", issued.stores},
        {"branch_instructions", issued.branches}};
    writer_.begin(track->second, row.begin, tree_.step(row.step).name, arguments);
    writer_.end(track->second, row.begin + row.length);
  }
}

}  // namespace superstep
