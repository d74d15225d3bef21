#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/export/perfetto_writer.h"
#include "report/export/program_tree.h"
#include "sim/trace/rows_by_superstep.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// Tracks of the workers of some tiles: a slice for what each does from launch to exit.
class WorkerTracks {
 public:
  /// Of supersteps from a row of /supersteps on; each tile has its track. All that is referred to
  /// outlives it.
  WorkerTracks(PerfettoWriter& writer, const TraceFile& trace, const ProgramTree& tree,
               std::uint64_t first_row, const std::vector<std::uint32_t>& tiles,
               const std::vector<PerfettoWriter::Track>& tracks);

  /// A superstep, behind those before it.
  void add(std::uint64_t superstep);

 private:
  PerfettoWriter& writer_;
  const ProgramTree& tree_;
  std::vector<VertexTypeInfo> types_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PerfettoWriter::Track>
      tracks_;  ///< by tile and worker
  RowsBySuperstep<kVertices> rows_;
};

}  // namespace superstep
