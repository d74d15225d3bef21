#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hdf5_file.h"
#include "sim/trace/column.h"
#include "sim/trace/schema.h"

namespace superstep {

/// Makes the dataset of a column, described as the schema has it; one that grows is without rows.
void make_dataset(Hdf5File& file, const TraceColumn& column, std::vector<std::uint64_t> dims);
/// The same of one that grows, for the file of a run that lasts.
void make_unfinished(Hdf5File& file, const TraceColumn& column, std::size_t used_tiles);
/// The same of a column of texts that does not grow, with all of them.
void write_text(Hdf5File& file, const TraceColumn& column, const std::vector<std::string>& text);

/// Copies a column from a file to another; of one that grows, so many rows.
void copy_column(const Hdf5File& from, Hdf5File& to, const TraceColumn& column, std::uint64_t rows);

/// The names of axes, which spaces separate.
[[nodiscard]] std::vector<std::string> axes_of(std::string_view text);

/// `count` rows from `first` of a column of numbers.
template <class T>
std::vector<T> read_numbers(const Hdf5File& file, const std::string& path, std::uint64_t first,
                            std::uint64_t count) {
  std::vector<T> values(count);
  if (count != 0) {
    file.read_rows(path, hdf5_type_of<T>(), first, count,
                   std::as_writable_bytes(std::span(values)));
  }
  return values;
}

/// Writes a whole table; the rows of one with several axes are its elements.
template <class Table>
void write_table(Hdf5File& file, const Table& table,
                 const std::vector<typename Table::RowType>& rows,
                 std::vector<std::uint64_t> dims = {}) {
  if (dims.empty()) dims = {rows.size()};
  table.for_each_column([&]<class Get>(const Column<Get>& column) {
    std::vector<StoredType<typename Table::RowType, Get>> values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(stored_value(column, row, values.size()));
    const TraceColumn described = erased(table, column);
    if constexpr (std::is_same_v<typename decltype(values)::value_type, std::string>) {
      write_text(file, described, values);
    } else {
      make_dataset(file, described, dims);
      if (!values.empty()) file.write(described.path, values.data());
    }
  });
}

/// Reads `count` rows from `first`, of columns that can be read back. Columns that the format got
/// later stay as they are in a new row where a file lacks them.
template <class Table>
std::vector<typename Table::RowType> read_rows(const Hdf5File& file, const Table& table,
                                               std::uint64_t first, std::uint64_t count) {
  using Row = typename Table::RowType;
  std::vector<Row> rows(count);
  if (count == 0) return rows;
  table.for_each_column([&]<class Get>(const Column<Get>& column) {
    if constexpr (is_readable<Row, Get>()) {
      using Stored = StoredType<Row, Get>;
      const std::string path = table.path_of(column.name);
      if (column.minor != 0 && !file.exists(path)) return;
      const auto fill = [&](const auto& values) {
        for (std::uint64_t i = 0; i < count; ++i) load(std::invoke(column.get, rows[i]), values[i]);
      };
      if constexpr (std::is_same_v<Stored, std::string>) {
        const std::vector<std::string> texts = file.read_text(path);
        if (texts.size() < first + count) throw Hdf5Error(path + " is too short");
        fill(std::span(texts).subspan(first, count));
      } else {
        fill(read_numbers<Stored>(file, path, first, count));
      }
    }
  });
  return rows;
}

/// Reads a whole table of one axis.
template <class Table>
std::vector<typename Table::RowType> read_table(const Hdf5File& file, const Table& table) {
  const std::uint64_t count = file.shape(table.path_of(table.first_column().name), 1)[0];
  table.for_each_column([&](const auto& column) {
    const std::string path = table.path_of(column.name);
    if (column.minor != 0 && !file.exists(path)) return;
    if (file.shape(path, 1)[0] != count) {
      throw Hdf5Error(fmt::format("the columns of {} differ in length", table.group));
    }
  });
  return read_rows(file, table, 0, count);
}

/// Writes the attributes of a group, as far as format 1.`minor` has them.
template <class Table>
void write_attributes(Hdf5File& file, const Table& table, const typename Table::RowType& row,
                      unsigned minor = UINT_MAX) {
  table.for_each_column([&]<class Get>(const Column<Get>& column) {
    if (column.minor > minor) return;
    const auto value = stored_value(column, row, 0);
    using Stored = std::remove_const_t<decltype(value)>;
    using Number = std::conditional_t<std::is_integral_v<Stored>, std::uint64_t, Stored>;
    file.set_attribute(std::string(table.group), std::string(column.name), Number(value),
                       hdf5_type_of<Stored>());
  });
}

/// Reads the attributes of a group; those that are not there stay as they are in a new row.
template <class Table>
typename Table::RowType read_attributes(const Hdf5File& file, const Table& table) {
  typename Table::RowType row;
  table.for_each_column([&]<class Get>(const Column<Get>& column) {
    using Stored = StoredType<typename Table::RowType, Get>;
    using Number = std::conditional_t<std::is_integral_v<Stored>, std::uint64_t, Stored>;
    const auto value = file.attribute(std::string(table.group), std::string(column.name));
    if (!value) return;
    if (const Number* number = std::get_if<Number>(&*value)) {
      load(std::invoke(column.get, row), *number);
    }
  });
  return row;
}

/// A table that gets a row now and then, and what of it is not in the file yet.
template <const auto& kTable>
class GrowingTable {
  using Table = std::remove_cvref_t<decltype(kTable)>;

 public:
  /// Adds a row; of a table with two axes, an element.
  void add(const typename Table::RowType& row) {
    std::size_t at = 0;
    kTable.for_each_column(
        [&](const auto& column) { append(pending_[at++], stored_value(column, row, rows_)); });
    ++rows_;
  }
  /// The number of rows that were added.
  [[nodiscard]] std::uint64_t rows() const { return rows_; }

  /// Writes what was added; a row of a table with two axes has so many elements.
  void flush(Hdf5File& file, std::size_t width = 1) {
    std::size_t at = 0;
    kTable.for_each_column([&](const auto& column) {
      std::vector<std::byte>& bytes = pending_[at++];
      if (bytes.empty()) return;
      const TraceColumn described = erased(kTable, column);
      const std::size_t size =
          described.type == Hdf5Type::kText ? kTextBytes : size_of(described.type);
      file.append(described.path, bytes.data(), bytes.size() / size / width);
      bytes.clear();
    });
  }

 private:
  template <class T>
  static void append(std::vector<std::byte>& bytes, const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto text = std::as_bytes(std::span(value)).first(std::min(value.size(), kTextBytes));
      bytes.insert(bytes.end(), text.begin(), text.end());
      bytes.resize(bytes.size() + kTextBytes - text.size());
    } else {
      const auto data = std::as_bytes(std::span(&value, 1));
      bytes.insert(bytes.end(), data.begin(), data.end());
    }
  }

  std::array<std::vector<std::byte>, kTable.size()> pending_;
  std::uint64_t rows_ = 0;
};

}  // namespace superstep
