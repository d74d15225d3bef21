#include "report/export/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "base/error.h"
#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

/// A table by its name: all columns of these axes.
struct CsvTable {
  std::string_view name, axes;
};

constexpr CsvTable kTables[] = {
    {"supersteps", "superstep"},
    {"launches", "launch"},
    {"transfers", "transfer"},
    {"steps", "step"},
    {"operations", "operation"},
    {"fused", "fused"},
    {"compute_sets", "compute_set"},
    {"vertex_types", "vertex_type"},
    {"variables", "variable"},
    {"streams", "stream"},
    {"plan_events", "plan_event"},
    {"events", "event"},
    {"tiles", "tile"},
    {"memory", "tile category"},
    {"parameters", "parameter"},
    {"exchanges", "exchange"},
    {"messages", "message"},
    {"compute_profiles", "compute_profile used_tile"},
    {"exchange_profiles", "exchange_profile used_tile"},
    {"vertices", "vertex"},
    {"instructions", "instruction"},
    {"opcodes", "opcode"},
};

const CsvTable& table_named(const std::string& name) {
  const auto* const found = std::ranges::find(kTables, name, &CsvTable::name);
  if (found != std::end(kTables)) return *found;
  std::vector<std::string> known;
  for (const CsvTable& table : kTables) known.emplace_back(table.name);
  const std::string guess = nearest(name, known);
  throw UserError(ExitCode::kUsage, fmt::format("there is no table '{}'{}", name,
                                                guess.empty() ? "; there are " + csv_table_names()
                                                              : "; did you mean '" + guess + "'?"));
}

/// A cell, in quotes where it needs them.
void add_cell(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

/// A text, which a spreadsheet would take for a formula by its first character, behind an
/// apostrophe.
void add_text(std::string& out, const std::string& text) {
  constexpr std::string_view kFormulas = "=+-@\t\r";
  const bool is_formula = !text.empty() && kFormulas.find(text.front()) != std::string_view::npos;
  add_cell(out, is_formula ? "'" + text : text);
}

/// One column of a trace, read some rows at a time.
class CsvColumn {
 public:
  CsvColumn(const Hdf5File& file, const TraceColumn& column) : file_(file), column_(column) {
    const std::vector<std::string> axes = axes_of(column.axes);
    const std::vector<std::uint64_t> shape = file.shape(column.path, axes.size());
    for (std::size_t axis = 1; axis < shape.size(); ++axis) width_ *= shape[axis];
    if (column.type == Hdf5Type::kText) text_ = file.read_text(column.path);
  }

  [[nodiscard]] const TraceColumn& column() const { return column_; }
  /// Elements of a row.
  [[nodiscard]] std::uint64_t width() const { return width_; }

  void read(std::uint64_t first, std::uint64_t count) {
    first_ = first;
    if (column_.type == Hdf5Type::kText) {
      if (text_.size() < first + count) throw std::runtime_error(column_.path + " is too short");
      return;
    }
    bytes_.resize(count * width_ * size_of(column_.type));
    if (!bytes_.empty()) file_.read_rows(column_.path, column_.type, first, count, bytes_);
  }
  /// An element of what was read last; a signed one as its bits.
  [[nodiscard]] std::uint64_t number(std::uint64_t at) const {
    const std::size_t size = size_of(column_.type);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at * size, size);
    return value;
  }
  void add_to(std::string& line, std::uint64_t at) const {
    if (column_.type == Hdf5Type::kText) return add_text(line, text_[first_ + at]);
    const std::uint64_t value = number(at);
    if (value < column_.names.size()) {
      line += column_.names[value];
    } else if (column_.type == Hdf5Type::kI32) {
      fmt::format_to(std::back_inserter(line), "{}", static_cast<std::int32_t>(value));
    } else {
      fmt::format_to(std::back_inserter(line), "{}", value);
    }
  }

 private:
  const Hdf5File& file_;
  const TraceColumn& column_;
  std::uint64_t width_ = 1, first_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<std::string> text_;
};

std::string head_of(const TraceColumn& column) {
  std::string head(column.path.substr(column.path.rfind('/') + 1));
  if (!column.unit.empty() && column.unit != "1") head += fmt::format(" ({})", column.unit);
  return head;
}

std::vector<CsvColumn> columns_of(const Hdf5File& file, std::string_view axes) {
  std::vector<CsvColumn> columns;
  for (const TraceColumn& column : trace_columns()) {
    if (column.axes == axes && file.exists(column.path)) columns.emplace_back(file, column);
  }
  return columns;
}

/// The values of an axis, by its dimension scale, as cells.
std::vector<std::string> cells_of_axis(const TraceFile& trace, const std::string& axis) {
  const auto scale = std::ranges::find(trace_columns(), scale_of(axis), &TraceColumn::path);
  CsvColumn column(trace.hdf5(), *scale);
  const std::uint64_t count =
      scale->grows ? trace.rows_along(axis) : trace.hdf5().shape(scale->path, 1)[0];
  column.read(0, count);
  std::vector<std::string> cells(count);
  for (std::uint64_t i = 0; i < count; ++i) column.add_to(cells[i], i);
  return cells;
}

/// Writes a table, or those rows of it whose superstep is in a window.
class CsvWriter {
 public:
  CsvWriter(const TraceFile& trace, const CsvTable& table, const ExportSink& sink)
      : trace_(trace),
        sink_(sink),
        columns_(columns_of(trace.hdf5(), table.axes)),
        axes_(axes_of(table.axes)) {
    if (columns_.empty()) refuse(trace, table);
    for (const CsvColumn& column : columns_) {
      const TraceColumn& known = column.column();
      if (column.width() != columns_.front().width()) {
        throw std::runtime_error(known.path + " has another length of rows");
      }
      if (known.grows && known.path.ends_with("/superstep")) superstep_ = &column;
    }
    if (axes_.size() > 1) {
      for (const std::string& axis : axes_) scales_.push_back(cells_of_axis(trace, axis));
    }
    const TraceColumn& first = columns_.front().column();
    rows_ = first.grows ? trace.rows_along(axes_[0])
                        : trace.hdf5().shape(first.path, axes_.size()).front();
  }

  void write(const std::optional<SuperstepWindow>& window) {
    if (window && superstep_ == nullptr) {
      throw UserError(ExitCode::kUsage,
                      "--window is for tables whose rows are of supersteps, as launches");
    }
    if (window) (void)rows_in(trace_, window);
    std::string head;
    if (axes_.size() > 1) {
      for (const std::string& axis : axes_) head += axis + ",";
    }
    for (const CsvColumn& column : columns_) {
      add_cell(head, head_of(column.column()));
      head += &column == &columns_.back() ? '\n' : ',';
    }
    sink_(head);
    const std::uint64_t most = rows_at_once(columns_.front().column().level);
    for (std::uint64_t first = 0; first < rows_; first += most) {
      const std::uint64_t count = std::min(most, rows_ - first);
      for (CsvColumn& column : columns_) column.read(first, count);
      std::string lines;
      for (std::uint64_t row = 0; row < count; ++row) {
        if (window &&
            (superstep_->number(row) < window->first || superstep_->number(row) >= window->end))
          continue;
        add_row(lines, first + row, row);
      }
      sink_(lines);
    }
  }

 private:
  [[noreturn]] static void refuse(const TraceFile& trace, const CsvTable& table) {
    const auto known = std::ranges::find(trace_columns(), table.axes, &TraceColumn::axes);
    not_at_level(trace, table.name, known->level);
  }

  /// The elements of a row, each in a line; `at` is the row among those that were read last.
  void add_row(std::string& lines, std::uint64_t row, std::uint64_t at) const {
    const std::uint64_t width = columns_.front().width();
    for (std::uint64_t i = 0; i < width; ++i) {
      if (!scales_.empty()) {
        lines += scales_[0].at(row) + ',';
        lines += scales_[1].at(i) + ',';
      }
      for (const CsvColumn& column : columns_) {
        column.add_to(lines, at * width + i);
        lines += &column == &columns_.back() ? '\n' : ',';
      }
    }
  }

  const TraceFile& trace_;
  const ExportSink& sink_;
  std::vector<CsvColumn> columns_;
  const CsvColumn* superstep_ = nullptr;
  std::vector<std::string> axes_;
  std::vector<std::vector<std::string>> scales_;  ///< of a table with two axes
  std::uint64_t rows_ = 0;
};

}  // namespace

std::string csv_table_names() {
  std::string names;
  for (const CsvTable& table : kTables) {
    names += names.empty() ? "" : ", ";
    names += table.name;
  }
  return names;
}

std::vector<std::string> write_csv(const TraceFile& trace, const ExportRequest& request,
                                   const ExportSink& sink) {
  const CsvTable& table = table_named(request.table);
  guard_trace(trace.path(), [&] { CsvWriter(trace, table, sink).write(request.window); });
  return {};
}

}  // namespace superstep
