#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/hdf5_file.h"
#include "base/units.h"
#include "sim/trace/trace.h"

namespace superstep {

/// The column that numbers the rows of a table.
template <class T>
struct RowNumber {};

/// One column of a table: how it is called, what it is of a row, in which unit, what that means.
template <class Get>
struct Column {
  std::string_view name;
  /// A member of the row, or a function of it; one that gives a reference can be read back.
  Get get;
  std::string_view unit;  ///< `1` for plain numbers, empty for text
  std::string_view meaning;
  std::span<const std::string_view> names = {};  ///< of the values 0, 1, … of an enumeration
  unsigned minor = 0;  ///< of the format 1.x that brought it: files of earlier ones lack it

  [[nodiscard]] constexpr Column since(unsigned version) const {
    Column column = *this;
    column.minor = version;
    return column;
  }
};
template <class Get>
Column(std::string_view, Get, std::string_view, std::string_view) -> Column<Get>;
template <class Get>
Column(std::string_view, Get, std::string_view, std::string_view, std::span<const std::string_view>)
    -> Column<Get>;

/// A member of a member of a row, as deep as it takes.
template <class... Members>
constexpr auto member(Members... path) {
  return [path...](auto& row) -> auto& { return (row.*....*path); };
}

/// An element of an array that is a member of a row.
template <class Array>
constexpr auto element(Array member, std::size_t at) {
  return [ member, at ](auto& row) -> auto& { return (row.*member)[at]; };
}

/// A value as a file has it, and back: quantities and enumerations as their numbers, an absent
/// number as -1.
constexpr std::uint64_t stored(Cycles cycles) { return cycles.value(); }
constexpr std::int32_t stored(const std::optional<std::uint32_t>& number) {
  return number ? static_cast<std::int32_t>(*number) : -1;
}
constexpr std::uint8_t stored(bool flag) { return flag ? 1 : 0; }
inline std::string stored(const std::string& text) { return text; }
template <class T>
requires std::is_enum_v<T>
constexpr auto stored(T value) { return static_cast<std::underlying_type_t<T>>(value); }
template <class T>
requires std::is_arithmetic_v<T>
constexpr T stored(T number) { return number; }
inline void load(std::optional<std::uint32_t>& number, std::int32_t value) {
  if (value >= 0) number = static_cast<std::uint32_t>(value);
}
template <class T, class Stored>
void load(T& out, const Stored& value) {
  out = static_cast<T>(value);
}

/// What a column has of the row of a number, as it is stored.
template <class Row, class T>
T stored_value(const Column<RowNumber<T>>&, const Row&, std::uint64_t number) {
  return static_cast<T>(number);
}
template <class Row, class Get>
auto stored_value(const Column<Get>& column, const Row& row, std::uint64_t) {
  return stored(std::invoke(column.get, row));
}
template <class Row, class Get>
using StoredType =
    decltype(stored_value(std::declval<const Column<Get>&>(), std::declval<const Row&>(), 0));

template <class Get>
inline constexpr bool kNumbersRows = false;
template <class T>
inline constexpr bool kNumbersRows<RowNumber<T>> = true;

template <class Row, class Get>
constexpr bool is_readable() {
  if constexpr (std::is_invocable_v<const Get&, Row&>) {
    using Result = std::invoke_result_t<const Get&, Row&>;
    return std::is_lvalue_reference_v<Result> && !std::is_const_v<std::remove_reference_t<Result>>;
  }
  return false;
}

template <class Stored>
constexpr Hdf5Type hdf5_type_of() {
  if constexpr (std::is_same_v<Stored, std::uint8_t>) return Hdf5Type::kU8;
  if constexpr (std::is_same_v<Stored, std::uint16_t>) return Hdf5Type::kU16;
  if constexpr (std::is_same_v<Stored, std::uint32_t>) return Hdf5Type::kU32;
  if constexpr (std::is_same_v<Stored, std::uint64_t>) return Hdf5Type::kU64;
  if constexpr (std::is_same_v<Stored, std::int32_t>) return Hdf5Type::kI32;
  if constexpr (std::is_same_v<Stored, double>) return Hdf5Type::kF64;
  if constexpr (std::is_same_v<Stored, std::string>) return Hdf5Type::kText;
}

/// Columns that get their rows together: datasets of one group with the same axes. Of the first
/// table along an axis alone the first column is the dimension scale of that axis. `Columns` is a
/// function that calls another with all of them, which compilers take far less for than for a
/// tuple.
template <class Row, class Columns>
struct TraceTable {
  using RowType = Row;

  std::string_view group, axes;             ///< axes: names, slowest first
  TraceLevel level = TraceLevel::kSummary;  ///< the lowest that has it
  bool grows = false;                       ///< the run adds rows
  Columns columns;

  /// Calls `visit` with each column, in file order.
  template <class Visit>
  constexpr void for_each_column(const Visit& visit) const {
    columns([&](const auto&... column) { (visit(column), ...); });
  }
  [[nodiscard]] constexpr std::size_t size() const {
    return columns([](const auto&... column) { return sizeof...(column); });
  }
  [[nodiscard]] constexpr const auto& first_column() const {
    return columns([](const auto& first, const auto&...) -> const auto& { return first; });
  }
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return (std::string(group) += '/') += name;
  }
};

/// Whether its numbers have units, and its texts none.
template <class Row, class Columns>
constexpr bool has_units(const TraceTable<Row, Columns>& table) {
  bool found = true;
  table.for_each_column([&]<class Get>(const Column<Get>& column) {
    found &= std::is_same_v<StoredType<Row, Get>, std::string> == column.unit.empty();
  });
  return found;
}

template <class Row, class... Gets>
constexpr auto trace_table(std::string_view group, std::string_view axes, TraceLevel level,
                           bool grows, Column<Gets>... columns) {
  const auto all = [columns...](const auto& visit) -> decltype(auto) { return visit(columns...); };
  return TraceTable<Row, std::remove_const_t<decltype(all)>>{group, axes, level, grows, all};
}

/// A table whose rows are known before the run, or after it.
template <class Row, class... Gets>
constexpr auto fixed_table(std::string_view group, std::string_view axes, TraceLevel level,
                           Column<Gets>... columns) {
  return trace_table<Row>(group, axes, level, false, columns...);
}

/// A table that gets rows while the run lasts.
template <class Row, class... Gets>
constexpr auto growing_table(std::string_view group, std::string_view axes, TraceLevel level,
                             Column<Gets>... columns) {
  return trace_table<Row>(group, axes, level, true, columns...);
}

/// Attributes of a group, as the columns of its one row.
template <class Row, class... Gets>
constexpr auto attributes_of(std::string_view group, Column<Gets>... columns) {
  return trace_table<Row>(group, "", TraceLevel::kSummary, false, columns...);
}

/// One dataset of a trace, whatever the type of its rows.
struct TraceColumn {
  std::string path;
  Hdf5Type type;
  std::string_view axes, unit, meaning;
  std::span<const std::string_view> names;
  TraceLevel level;
  bool grows;
  bool numbers_rows;  ///< it is the number of the row
  unsigned minor;     ///< of the format 1.x that brought it

  [[nodiscard]] std::string_view first_axis() const { return axes.substr(0, axes.find(' ')); }
  [[nodiscard]] bool is_profile() const { return axes.find("profile") != std::string_view::npos; }
};

/// The same column without the type of its row.
template <class Row, class Columns, class Get>
TraceColumn erased(const TraceTable<Row, Columns>& table, const Column<Get>& column) {
  return {table.path_of(column.name),
          hdf5_type_of<StoredType<Row, Get>>(),
          table.axes,
          column.unit,
          column.meaning,
          column.names,
          table.level,
          table.grows,
          kNumbersRows<Get>,
          column.minor};
}

}  // namespace superstep
