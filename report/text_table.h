#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <string>
#include <string_view>
#include <vector>

namespace superstep {

/// Columns that text on standard output may take: $COLUMNS, those of the terminal, or 80.
[[nodiscard]] std::size_t output_columns();

/// Columns that a text takes on a terminal: characters of UTF-8, without sequences of colour.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Blanks between the columns of a table.
inline constexpr std::size_t kBetweenColumns = 2;

/// Rows of text in columns that are as wide as their widest cell.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// Cells that are not given are empty.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Takes the middle out of the longest texts of columns to the left until lines fit, or all are
  /// short.
  void fit(std::size_t columns);
  /// The longest line.
  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] std::vector<std::string> lines() const;

  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A text in so many columns: where it is longer, `..` in place of its middle.
[[nodiscard]] std::string without_middle(const std::string& text, std::size_t most);

/// A name of a user's for a cell: control characters become `\\x1b`, line feeds and tabs too.
[[nodiscard]] std::string one_line(std::string_view text);

/// The words of a text in lines of so many columns, of which those after the first begin with
/// `indent` blanks, and something else takes `begin` columns of the first. Words that are longer
/// than a line go on in the next.
[[nodiscard]] std::string filled(const std::string& text, std::size_t indent, std::size_t columns,
                                 std::size_t begin = 0);

/// Words behind each other, in lines of so many columns that begin with `indent` blanks; those that
/// are longer than a line begin one, and break at their blanks.
[[nodiscard]] std::string wrapped(const std::vector<std::string>& words, std::size_t indent,
                                  std::size_t columns);

}  // namespace superstep
