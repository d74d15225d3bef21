#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "report/export/perfetto_writer.h"
#include "sim/trace/rows.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// The transfers of the host: a track for each direction, and more where some are under way side by
/// side. Arrows go from a visit to what it brings to the host, and from what comes from there to
/// the superstep behind the visit.
class HostTracks {
 public:
  HostTracks(PerfettoWriter& writer, const TraceFile& trace);

  /// The arrows that end at a superstep behind a visit.
  [[nodiscard]] std::vector<PerfettoFlow> arrows_into_superstep();
  /// Those that begin at a visit of these transfers, which `add` then adds.
  [[nodiscard]] std::vector<PerfettoFlow> arrows_from_visit(
      std::span<const TransferRow> transfers) const;
  /// Adds the transfers of a visit; arrows from those to the device wait for a superstep behind.
  void add(std::span<const TransferRow> transfers, bool has_superstep_behind);

 private:
  struct Lane {
    PerfettoWriter::Track track;
    std::uint64_t end;
  };

  void write(const TransferRow& transfer, std::span<const PerfettoFlow> flows);
  /// A track of a direction where nothing is under way.
  PerfettoWriter::Track lane(std::size_t direction, std::uint64_t at, std::uint64_t end);

  PerfettoWriter& writer_;
  std::vector<StreamRow> streams_;
  PerfettoWriter::Track parent_;
  std::array<std::vector<Lane>, 2> lanes_;
  std::uint64_t flows_ = 0;
  std::vector<PerfettoFlow> arrived_;
};

}  // namespace superstep
