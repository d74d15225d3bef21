#include "sim/trace/repack.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/output_file.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

/// The words of a text, which spaces separate.
std::vector<std::string> words(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

template <class T>
void make_table(Hdf5File& file, const std::string& dataset, const std::vector<T>& values) {
  file.make_dataset(dataset, {.type = hdf5_type_of(T{}), .dims = {values.size()}});
  if (!values.empty()) file.write(dataset, values.data());
  describe_dataset(file, dataset);
}

/// `count` rows from `first` of a column of numbers.
template <class T>
std::vector<T> rows_of(const Hdf5File& file, const std::string& dataset, std::uint64_t first,
                       std::uint64_t count) {
  std::vector<T> values(count);
  if (count != 0) {
    file.read_rows(dataset, hdf5_type_of(T{}), first, count,
                   std::as_writable_bytes(std::span(values)));
  }
  return values;
}

void copy_growing(const Hdf5File& part, Hdf5File& file, const TraceColumn& column,
                  std::uint64_t rows) {
  const std::string dataset(column.path);
  const std::vector<std::uint64_t> dims = part.shape(dataset, words(column.axes).size());
  const std::uint64_t width = dims.size() > 1 ? dims[1] : 1;
  Hdf5Layout layout = growing_layout(column);
  layout.dims.insert(layout.dims.end(), dims.begin() + 1, dims.end());
  file.make_dataset(dataset, layout);
  const std::uint64_t chunk = layout.chunk_rows;
  const std::size_t size =
      column.type == Hdf5Type::kText ? layout.text_bytes : size_of(column.type);
  std::vector<std::byte> block;
  for (std::uint64_t first = 0; first < rows; first += chunk) {
    const std::uint64_t count = std::min(chunk, rows - first);
    block.resize(count * width * size);
    part.read_rows(dataset, column.type, first, count, block);
    file.append(dataset, block.data(), count);
  }
  describe_dataset(file, dataset);
}

/// Rows of every axis that grows, by axis: those of a launch or a transfer belong to supersteps
/// that are whole.
std::map<std::string_view, std::uint64_t> whole_rows(const Hdf5File& part) {
  std::map<std::string_view, std::uint64_t> rows;
  for (const TraceColumn& column : trace_columns()) {
    const std::string dataset(column.path);
    if (!column.grows() || !part.exists(dataset)) continue;
    std::uint64_t& least = rows.emplace(column.first_axis(), UINT64_MAX).first->second;
    least = std::min(least, part.shape(dataset, words(column.axes).size())[0]);
  }
  const auto supersteps = rows.find("superstep");
  if (supersteps == rows.end()) return rows;
  supersteps->second = complete_rows(part);
  for (const auto& [axis, path] :
       {std::pair{"launch", "/launches/superstep"}, {"transfer", "/host/superstep"}}) {
    std::uint64_t& count = rows[axis];
    const auto superstep = rows_of<std::uint64_t>(part, path, 0, count);
    const auto cut = std::ranges::lower_bound(superstep, supersteps->second);
    count = static_cast<std::uint64_t>(cut - superstep.begin());
  }
  return rows;
}

void copy_fixed(const Hdf5File& part, Hdf5File& file, const TraceColumn& column) {
  const std::string dataset(column.path);
  if (column.type == Hdf5Type::kText) {
    file.write_text(dataset, part.read_text(dataset));
  } else {
    const std::vector<std::uint64_t> dims = part.shape(dataset, words(column.axes).size());
    std::uint64_t count = 1;
    for (const std::uint64_t d : dims) count *= d;
    file.make_dataset(dataset, fixed_layout(dataset, column.type, dims));
    std::vector<std::byte> values(count * size_of(column.type));
    if (count != 0) {
      part.read_rows(dataset, column.type, 0, dims[0], values);
      file.write(dataset, values.data());
    }
  }
  describe_dataset(file, dataset);
}

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
    const std::string dataset(column.path);
    if (column.is_scale() && file.exists(dataset)) {
      file.make_scale(dataset, std::string(column.axes));
    }
  }
  for (const TraceColumn& column : trace_columns()) {
    const std::string dataset(column.path);
    if (column.is_scale() || !file.exists(dataset)) continue;
    const std::vector<std::string> axes = words(column.axes);
    for (unsigned axis = 0; axis < axes.size(); ++axis) {
      const std::string scale(TraceColumn::scale_of(axes[axis]));
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
    for (const std::string& path : words(plot.auxiliary)) more.push_back(link(path));
    for (const std::string& axis : words(plot.axes))
      axes.push_back(link(TraceColumn::scale_of(axis)));
    if (!more.empty()) file.set_attribute(group, "auxiliary_signals", more);
    file.set_attribute(group, "axes", axes);
    if (first.empty()) first = plot.name;
  }
  file.set_attribute("/plots", "default", first);
}

void write_summary(const Hdf5File& part, const TraceTotals& totals, const TraceEnd& end,
                   Hdf5File& file) {
  const std::uint64_t used = part.shape("/program/used_tile", 1)[0];
  const auto ratio = [](std::uint64_t part_of, double whole, double otherwise) {
    return whole == 0 ? otherwise : static_cast<double>(part_of) / whole;
  };
  const Cycles device = totals.run.exchange + totals.run.compute + totals.run.sync;
  const auto device_cycles = static_cast<double>(device.value());
  const auto tiles = static_cast<double>(used);
  const auto [worst, peak] = fullest_tile(part);
  const auto set = [&](const char* name, const Hdf5Value& value) {
    set_trace_attribute(file, "/summary", name, value);
  };
  set("total_cycles", totals.run.cycles.value());
  set("device_cycles", device.value());
  set("exchange_cycles", totals.run.exchange.value());
  set("compute_cycles", totals.run.compute.value());
  set("sync_cycles", totals.run.sync.value());
  set("host_cycles", totals.run.host.value());
  set("supersteps", totals.run.supersteps);
  set("instructions", totals.run.worker_instructions);
  set("bytes_exchanged", totals.bytes_exchanged);
  set("host_bytes", totals.host_bytes);
  set("flops", totals.flops);
  set("flop_per_cycle", ratio(totals.flops, device_cycles, 0));
  set("tile_balance",
      ratio(totals.compute_sum, static_cast<double>(totals.compute_max) * tiles, 1));
  set("bsp_efficiency", ratio(totals.compute_sum, device_cycles * tiles, 0));
  set("worst_tile", worst);
  set("peak_tile_bytes", peak);
  set("trap", end.trap);
  StepSums names;
  StepSums::for_each_column(names, [&](const char* name, auto& member) {
    std::vector<std::decay_t<decltype(member)>> values;
    for (const StepSums& sums : totals.steps) {
      StepSums::for_each_column(sums, [&](const char* other, const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>,
                                     std::decay_t<decltype(member)>>) {
          if (std::string_view(other) == name) values.push_back(value);
        }
      });
    }
    make_table(file, fmt::format("/summary/step/{}", name), values);
  });
}

}  // namespace

void describe_dataset(Hdf5File& file, const std::string& path) {
  const TraceColumn& column = trace_column(path);
  // Texts have a unit too, so that every dataset can be asked for one.
  file.set_attribute(path, "units", std::string(column.unit.empty() ? "1" : column.unit));
  file.set_attribute(path, "long_name", std::string(column.meaning));
  file.set_attribute(path, "axes", std::string(column.axes));
}

std::uint64_t complete_rows(const Hdf5File& file) {
  std::uint64_t rows = UINT64_MAX;
  std::map<std::string_view, std::uint64_t> profiles;  // by axis
  for (const TraceColumn& column : trace_columns()) {
    const std::string dataset(column.path);
    if (!column.grows() || !file.exists(dataset)) continue;
    if (!column.is_profile() && column.first_axis() != "superstep") continue;
    std::uint64_t* least = &rows;
    if (column.is_profile()) {
      least = &profiles.emplace(column.first_axis(), UINT64_MAX).first->second;
    }
    *least = std::min(*least, file.shape(dataset, words(column.axes).size())[0]);
  }
  if (rows == UINT64_MAX) return 0;
  for (const auto& profile : profiles) {
    if (rows == 0) break;
    const std::uint64_t count = profile.second;
    const auto used =
        rows_of<std::uint32_t>(file, "/supersteps/" + std::string(profile.first), 0, rows);
    const auto cut = std::find_if(used.begin(), used.end(),
                                  [&](std::uint32_t p) { return p >= count && p != kNoProfile; });
    rows = static_cast<std::uint64_t>(cut - used.begin());
  }
  return rows;
}

std::optional<TraceLevel> level_of(const Hdf5File& file) {
  const auto value = file.attribute("/", "level");
  const auto* name = value ? std::get_if<std::string>(&*value) : nullptr;
  return name ? trace_level(*name) : std::nullopt;
}

std::vector<StepGroup> group_by_step(const Hdf5File& file) {
  const std::string at = "/program/step/";
  const auto superstep = file.read_all<std::int32_t>(at + "superstep", Hdf5Type::kI32);
  if (superstep.empty()) throw std::runtime_error("has no steps");
  // Traces before format 1.4 have no loops.
  std::vector<std::int32_t> parent(superstep.size(), -1);
  if (file.exists(at + "parent")) {
    parent = file.read_all<std::int32_t>(at + "parent", Hdf5Type::kI32);
  }
  if (parent.size() != superstep.size()) {
    throw std::runtime_error("the columns of /program/step differ in length");
  }
  std::vector<StepGroup> groups;
  for (std::size_t s = 0; s < parent.size(); ++s) groups.push_back({superstep[s], parent[s]});
  return groups;
}

std::vector<TraceEvent> read_events(const Hdf5File& file) {
  const std::uint64_t rows = whole_rows(file)["event"];
  if (rows == 0) return {};
  const auto cycle = rows_of<std::uint64_t>(file, "/events/cycle", 0, rows);
  const auto kind = rows_of<std::uint8_t>(file, "/events/kind", 0, rows);
  const auto tile = rows_of<std::int32_t>(file, "/events/tile", 0, rows);
  const std::vector<std::string> texts = file.read_text("/events/text");
  std::vector<TraceEvent> events;
  for (std::uint64_t e = 0; e < rows; ++e) {
    if (kind[e] > static_cast<std::uint8_t>(TraceEvent::Kind::kInterrupted)) continue;
    events.push_back(
        {static_cast<TraceEvent::Kind>(kind[e]), Cycles(cycle[e]), tile[e], texts.at(e)});
  }
  return events;
}

namespace {

/// Reads the columns of one row type, `count` rows from `first`; `skips` names those to leave out.
template <class Row, class Skip>
std::vector<Row> read_rows(const Hdf5File& file, const std::string& group, std::uint64_t first,
                           std::uint64_t count, const Skip& skips) {
  std::vector<Row> rows(count);
  if (count == 0) return rows;
  Row names;
  Row::for_each_column(names, [&](const char* name, auto& member) {
    using Value = std::decay_t<decltype(member)>;
    // Traces of older formats do not have all.
    if (skips(std::string_view(name)) || !file.exists(group + name)) return;
    const auto values = rows_of<Value>(file, group + name, first, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      Row::for_each_column(rows[i], [&](const char* other, auto& target) {
        if constexpr (std::is_same_v<std::decay_t<decltype(target)>, Value>) {
          if (std::string_view(other) == name) target = values[i];
        }
      });
    }
  });
  return rows;
}

/// Adds /summary/json to a file that is whole but for it.
void write_report(const std::filesystem::path& path, const std::filesystem::path& name,
                  const TraceReport& report) {
  const std::string dataset = "/summary/json";
  const std::string text = report ? report(read_trace(path)) : std::string();
  Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kWrite, name);
  file.write_text(dataset, {text});
  describe_dataset(file, dataset);
  file.close();
}

}  // namespace

TraceTotals totals_of(const Hdf5File& file, std::uint64_t rows) {
  TraceTotals totals(group_by_step(file));
  if (rows == 0) return totals;
  const auto launches = read_rows<LaunchRow>(file, "/launches/", 0, whole_rows(file)["launch"],
                                             [](std::string_view) { return false; });
  auto launch = launches.begin();
  for (std::uint64_t first = 0; first < rows; first += kSuperstepChunk) {
    // Profiles sum to nothing, and are not there at every level.
    const auto block = read_rows<SuperstepRow>(
        file, "/supersteps/", first, std::min(kSuperstepChunk, rows - first),
        [](std::string_view name) { return name.ends_with("_profile"); });
    for (const SuperstepRow& row : block) {
      const auto begin = launch;
      while (launch != launches.end() && launch->superstep == row.number) ++launch;
      totals.add(row, {begin, launch});
    }
  }
  return totals;
}

void repack_trace(const Hdf5File& part, const TraceTotals& totals, const TraceEnd& end,
                  const TraceReport& report, const std::filesystem::path& out) {
  OutputFile output(out);
  Hdf5File file = Hdf5File::create(output.temporary(), out);
  for (const TraceAttribute& attribute : trace_attributes()) {
    if (attribute.object != "/") continue;
    const std::string name(attribute.name);
    if (const auto value = part.attribute("/", name)) set_trace_attribute(file, "/", name, *value);
  }
  set_trace_attribute(file, "/", "format_version", std::string(kTraceVersion));
  set_trace_attribute(file, "/", "complete", std::uint64_t{1});
  set_trace_attribute(file, "/", "outcome", end.outcome);
  for (const std::string_view group : trace_groups()) file.make_group(std::string(group));
  for (const std::string& name : part.attributes("/provenance")) {
    if (const auto value = part.attribute("/provenance", name)) {
      file.set_attribute("/provenance", name, *value);
    }
  }
  for (const auto& [name, value] : end.provenance) file.set_attribute("/provenance", name, value);
  const std::map<std::string_view, std::uint64_t> rows = whole_rows(part);
  const std::optional<TraceLevel> level = level_of(part);
  for (const TraceColumn& column : trace_columns()) {
    const std::string dataset(column.path);
    // An unfinished file has supersteps at every level.
    if (!part.exists(dataset) || (level && column.level > *level)) continue;
    if (!column.grows()) {
      copy_fixed(part, file, column);
    } else {
      copy_growing(part, file, column, rows.find(column.first_axis())->second);
    }
  }
  write_summary(part, totals, end, file);
  attach_scales(file);
  write_plots(file);
  file.close();
  write_report(output.temporary(), out, report);
  output.commit();
}

}  // namespace superstep
