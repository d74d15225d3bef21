#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/hdf5_file.h"
#include "sim/trace/superstep_rows.h"
#include "sim/trace/table_file.h"
#include "sim/trace/trace.h"

namespace superstep {

/// Runs `body`, turning every failure of the file into a UserError of a damaged trace at `path`.
void guard_trace(const std::filesystem::path& path, const std::function<void()>& body);

/// The file of a trace, finished or not. Throws UserError with ExitCode::kDamagedTrace for one that
/// is none of ours, and InputOutputError when it cannot be read.
[[nodiscard]] Hdf5File open_trace(const std::filesystem::path& path);

/// A trace open for reading, table by table (sim/trace/schema.h): finished, or what a run that
/// lasts, or was killed, has written of whole supersteps when it is opened. All functions throw
/// UserError with ExitCode::kDamagedTrace where the file is not as the schema has it.
class TraceFile {
 public:
  /// One that lacks what its level and format have is damaged, unless it `may_lack` that.
  explicit TraceFile(std::filesystem::path path, bool may_lack = false);
  /// The same of one that is open, whatever is at `path` now.
  TraceFile(std::filesystem::path path, Hdf5File file, bool may_lack);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const Hdf5File& hdf5() const { return file_; }
  [[nodiscard]] TraceSummary summary() const;

  /// Whether the file has the columns of a table: those of its level, and of its version.
  template <class Table>
  [[nodiscard]] bool has(const Table& table) const {
    return file_.exists(table.path_of(table.first_column().name));
  }
  /// Whole rows of the tables that grow along an axis; 0 of one that is not there.
  [[nodiscard]] std::uint64_t rows_along(std::string_view axis) const {
    const auto found = rows_.find(axis);
    return found == rows_.end() ? 0 : found->second;
  }
  /// The same of the axis of a table.
  template <class Table>
  [[nodiscard]] std::uint64_t rows(const Table& table) const {
    return rows_along(table.axes.substr(0, table.axes.find(' ')));
  }
  /// `count` rows from `first` of a table that grows, of one axis.
  template <class Table>
  [[nodiscard]] std::vector<typename Table::RowType> read(const Table& table, std::uint64_t first,
                                                          std::uint64_t count) const {
    std::vector<typename Table::RowType> rows;
    guard_trace(path_, [&] { rows = read_rows(file_, table, first, count); });
    return rows;
  }
  /// A table of one axis whole; nothing of one that is not there.
  template <class Table>
  [[nodiscard]] std::vector<typename Table::RowType> read(const Table& table) const {
    if (!has(table)) return {};
    if (table.grows) return read(table, 0, rows(table));
    std::vector<typename Table::RowType> rows;
    guard_trace(path_, [&] { rows = read_table(file_, table); });
    return rows;
  }
  /// Calls `visit` with each row of a table that grows, of one axis; some are read at a time.
  template <class Table, class Visit>
  void for_each_row(const Table& table, const Visit& visit) const {
    const std::uint64_t count = rows(table), most = rows_at_once(table.level);
    for (std::uint64_t first = 0; first < count; first += most) {
      for (const auto& row : read(table, first, std::min(most, count - first))) visit(row);
    }
  }
  /// `count` rows from `first` of one column of numbers with two axes, one behind the other.
  template <class T>
  [[nodiscard]] std::vector<T> read_wide(const std::string& column, std::uint64_t first,
                                         std::uint64_t count) const {
    std::vector<T> values;
    guard_trace(path_, [&] {
      values.resize(count * file_.shape(column, 2)[1]);
      if (!values.empty())
        file_.read_rows(column, hdf5_type_of<T>(), first, count,
                        std::as_writable_bytes(std::span(values)));
    });
    return values;
  }
  /// Calls `visit` with each superstep of `count` rows from `first`, in order.
  void for_each_superstep(std::uint64_t first, std::uint64_t count,
                          const std::function<void(const SuperstepInFile&)>& visit) const;
  /// Texts of a column.
  [[nodiscard]] std::vector<std::string> read_text(const std::string& column) const;

 private:
  std::filesystem::path path_;
  Hdf5File file_;
  std::map<std::string_view, std::uint64_t> rows_;
};

}  // namespace superstep
