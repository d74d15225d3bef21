#include "sim/trace/repack.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "base/format_version.h"
#include "base/output_file.h"
#include "sim/trace/progress.h"
#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"
#include "sim/trace/trace_file.h"

namespace superstep {
namespace {

/// The tile with most memory in use, the lowest of several, and how much that is.
std::pair<std::uint64_t, std::uint64_t> fullest_tile(const Hdf5File& part) {
  const std::vector<std::uint64_t> dims = part.shape("/memory/bytes", 2);
  const auto bytes = part.read_all<std::uint32_t>("/memory/bytes", Hdf5Type::kU32);
  std::pair<std::uint64_t, std::uint64_t> worst{0, 0};
  for (std::uint64_t t = 0; t < dims[0]; ++t) {
    std::uint64_t sum = 0;
    for (std::uint64_t c = 0; c < dims[1]; ++c) sum += bytes[t * dims[1] + c];
    if (sum > worst.second) worst = {t, sum};
  }
  return worst;
}

/// Gives every axis its dimension scale, which is in the group of the data under its own name too:
/// netCDF looks for it there.
void attach_scales(Hdf5File& file) {
  for (const TraceColumn& column : trace_columns()) {
    if (scale_of(column.axes) == column.path && file.exists(column.path)) {
      file.make_scale(column.path, std::string(column.axes));
    }
  }
  for (const TraceColumn& column : trace_columns()) {
    const std::string& dataset = column.path;
    if (scale_of(column.axes) == dataset || !file.exists(dataset)) continue;
    const std::vector<std::string> axes = axes_of(column.axes);
    for (unsigned axis = 0; axis < axes.size(); ++axis) {
      const std::string scale(scale_of(axes[axis]));
      if (scale.empty()) continue;
      file.attach_scale(dataset, axis, scale);
      const std::string beside =
          dataset.substr(0, dataset.rfind('/')) + scale.substr(scale.rfind('/'));
      if (!file.exists(beside)) file.link(scale, beside);
    }
  }
}

/// The NeXus views: groups of links to the data.
void write_plots(Hdf5File& file) {
  file.make_group("/plots");
  file.set_attribute("/plots", "NX_class", std::string("NXentry"));
  std::string first;
  for (const TracePlot& plot : trace_plots()) {
    if (!file.exists(std::string(plot.signal))) continue;
    const std::string group = "/plots/" + std::string(plot.name);
    file.make_group(group);
    const auto link = [&](std::string_view path) {
      std::string name(path.substr(path.rfind('/') + 1));
      file.link(std::string(path), group + "/" + name);
      return name;
    };
    file.set_attribute(group, "NX_class", std::string("NXdata"));
    file.set_attribute(group, "title", std::string(plot.title));
    file.set_attribute(group, "signal", link(plot.signal));
    std::vector<std::string> more, axes;
    for (const std::string& path : axes_of(plot.auxiliary)) more.push_back(link(path));
    for (const std::string& axis : axes_of(plot.axes)) axes.push_back(link(scale_of(axis)));
    if (!more.empty()) file.set_attribute(group, "auxiliary_signals", more);
    file.set_attribute(group, "axes", axes);
    if (first.empty()) first = plot.name;
  }
  file.set_attribute("/plots", "default", first);
}

SummaryRow summary_of(const Hdf5File& part, const TraceTotals& totals, const TraceEnd& end) {
  const std::uint64_t used = part.shape(kUsedTiles.path_of("used_tile"), 1)[0];
  SummaryRow row;
  row.total = totals.run.cycles;
  row.device = totals.device();
  row.exchange = totals.run.exchange;
  row.compute = totals.run.compute;
  row.sync = totals.run.sync;
  row.host = totals.run.host;
  row.assumed = totals.assumed;
  row.visits = totals.visits.count;
  row.visit_begin = totals.visits.begin;
  row.visit_callbacks = totals.visits.callbacks;
  row.visit_end = totals.visits.end;
  row.supersteps = totals.run.supersteps;
  row.instructions = totals.run.worker_instructions;
  row.aux_instructions = totals.instructions.aux;
  row.amp_instructions = totals.instructions.amp;
  row.bytes_exchanged = totals.bytes_exchanged;
  row.host_bytes = totals.host_bytes;
  row.flops = totals.flops;
  if (row.device.value() != 0) {
    row.flop_per_cycle = static_cast<double>(row.flops) / static_cast<double>(row.device.value());
  }
  row.tile_balance = totals.balance(used);
  row.bsp_efficiency = totals.bsp_efficiency(used);
  const auto [worst, peak] = fullest_tile(part);
  row.worst_tile = static_cast<std::uint32_t>(worst);
  row.peak_tile_bytes = peak;
  row.trap = end.trap;
  row.trap_kind = end.trap_kind;
  return row;
}

/// Adds /summary/json to a file that is whole but for it.
void write_report(const std::filesystem::path& path, const std::filesystem::path& name,
                  const TraceReport& report) {
  constexpr bool kMayLack = true;
  const std::string text = report ? report(TraceFile(path, kMayLack).summary()) : std::string();
  Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kWrite, name);
  write_table(file, kReport, {text});
  file.close();
}

}  // namespace

void repack_trace(const Hdf5File& part, const TraceTotals& totals, const TraceEnd& end,
                  const TraceReport& report, const std::filesystem::path& out) {
  OutputFile output(out);
  Hdf5File file = Hdf5File::create(output.temporary(), out);
  RootRow root = read_attributes(part, kRootAttributes);
  // What was made of an older format lacks what later ones brought, and of a later one what this
  // version does not know.
  const unsigned minor = std::min(minor_of(root.format_version), minor_of(kTraceVersion));
  if (minor == minor_of(kTraceVersion)) root.format_version = kTraceVersion;
  root.complete = true;
  root.outcome = end.outcome;
  if (end.outcome != "ok") {
    root.calls = totals.calls_ended();
    root.predicted = {};
  }
  write_attributes(file, kRootAttributes, root, minor);
  for (const std::string& group : trace_groups()) file.make_group(group);
  for (const std::string& name : part.attributes("/provenance")) {
    if (const auto value = part.attribute("/provenance", name)) {
      file.set_attribute("/provenance", name, *value);
    }
  }
  for (const auto& [name, value] : end.provenance) file.set_attribute("/provenance", name, value);
  const std::map<std::string_view, std::uint64_t> rows = whole_rows(part);
  const std::optional<TraceLevel> level = trace_level(root.level);
  for (const TraceColumn& column : trace_columns()) {
    // An unfinished file has supersteps at every level.
    if (!part.exists(column.path) || (level && column.level > *level)) continue;
    copy_column(part, file, column, column.grows ? rows.at(column.first_axis()) : 0);
  }
  write_attributes(file, kSummaryAttributes, summary_of(part, totals, end), minor);
  write_table(file, kStepSums, totals.steps);
  attach_scales(file);
  write_plots(file);
  file.close();
  write_report(output.temporary(), out, report);
  output.commit();
}

}  // namespace superstep
