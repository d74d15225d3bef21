#include "report/stream_totals.h"

#include <utility>

#include "sim/trace/schema.h"

namespace superstep {

std::vector<StreamTotals> stream_totals(const TraceFile& file) {
  std::vector<StreamTotals> totals;
  for (StreamRow& stream : file.read(kStreams)) totals.push_back({std::move(stream)});
  file.for_each_row(kTransfers, [&](const TransferRow& row) {
    if (row.stream >= totals.size()) return;
    StreamTotals& of_stream = totals[row.stream];
    ++of_stream.transfers;
    of_stream.moved_bytes += row.bytes;
    of_stream.packets += row.packets;
    of_stream.cycles += row.length;
  });
  return totals;
}

}  // namespace superstep
