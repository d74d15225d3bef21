#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "isa/op_location.h"
#include "report/text_table.h"

namespace superstep {

/// How much the rows of a table say of where their op is written.
enum class PlaceForm : std::uint8_t {
  kFull,   ///< line and column of the module, which is named elsewhere; Python file and line
  kShort,  ///< the Python file without its folders
  kOne,    ///< only that or, where it is not known, the place in the module
};

/// A row with two more cells for a place, empty as far as it is not known.
[[nodiscard]] std::vector<std::string> with_place(std::vector<std::string> row,
                                                  const OpLocation& place, PlaceForm form);

/// A row of headings with those of places.
[[nodiscard]] std::vector<std::string> with_headings(std::vector<std::string> row, bool has_python,
                                                     PlaceForm form);

/// The table that says most of places and fits the columns, the last one if none does.
[[nodiscard]] std::string text_in(std::size_t columns,
                                  const std::function<TextTable(PlaceForm form)>& make);

}  // namespace superstep
