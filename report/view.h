#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/text_style.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_file.h"

namespace superstep {

struct SilentRule;

/// A cell: nothing, a text, a whole number, one with a sign, a real one, or shares of phases.
using ViewCell = std::variant<std::monostate, std::string, std::uint64_t, std::int64_t, double,
                              std::vector<double>>;

/// One column of a view.
struct ViewColumn {
  enum class Form : std::uint8_t {
    kText,
    kPlace,       ///< file:line, in text without the file's folders where there is no room for them
    kCount,       ///< whole numbers in groups of three digits
    kCycles,      ///< likewise
    kMoved,       ///< likewise, with a sign; text leaves out 0, and columns of nothing else
    kTime,        ///< nanoseconds, which documents leave out: they have cycles
    kMovedTime,   ///< likewise, with a sign
    kBytes,       ///< whole numbers, with KiB and MiB in text
    kMovedBytes,  ///< likewise, with a sign, as `kMoved`
    kShare,       ///< 0 to 1, in text in percent
    kMovedShare,  ///< what moved by what was; in text in percent, or `x 12.5` of many times as much
    kReal,        ///< with two decimals in text
    kBar,         ///< a share that text draws and documents leave out
    kPhaseBar,    ///< shares of phases, likewise
  };
  std::string name;  ///< also in documents, with _ for blanks
  Form form = Form::kText;
  std::string unit = {};     ///< in documents
  std::uint8_t extra = 0;    ///< of those that do not fit the width the greatest go first; 0 stays
  std::string meaning = {};  ///< half a sentence, or empty where the name says it

  [[nodiscard]] bool is_time() const { return form == Form::kTime || form == Form::kMovedTime; }
  [[nodiscard]] bool is_bytes() const { return form == Form::kBytes || form == Form::kMovedBytes; }
  [[nodiscard]] bool is_drawn() const { return form == Form::kBar || form == Form::kPhaseBar; }
  /// Whether text has its cells to the left.
  [[nodiscard]] bool is_left() const {
    return form == Form::kText || form == Form::kPlace || is_drawn();
  }
};

/// A table of a view; the numbers of text and of documents are the same. Text leaves out columns
/// without a cell, and titles that are empty.
struct ViewTable {
  std::string name = {}, title = {};
  std::vector<ViewColumn> columns = {};
  std::vector<std::vector<ViewCell>> rows = {};
  std::vector<std::string> notes = {};  ///< sentences below it
  /// What of it can be compared with the table of another run.
  struct Compared {
    std::vector<std::string> key = {};  ///< columns that tell rows apart; the last is their name
    std::vector<std::string> columns = {};  ///< of whole numbers, the main one first; none: nothing
    bool adds_up = false;                   ///< rows do
    std::string incomplete = {};            ///< why rows may lack what ran, or empty
  } compared = {};
  bool is_prose = false;  ///< text shows a row as a paragraph

  /// Adds a row, a cell for each column.
  template <class... Cells>
  void add(Cells&&... cells) {
    std::vector<ViewCell>& row = rows.emplace_back();
    row.reserve(sizeof...(cells));
    (row.emplace_back(std::forward<Cells>(cells)), ...);
  }
};

/// A cell that is empty unless there is something to say.
template <class T>
[[nodiscard]] ViewCell cell_if(bool is_there, T value) {
  ViewCell cell;
  if (is_there) cell = value;
  return cell;
}

/// Cycles as time; nothing without a clock.
[[nodiscard]] ViewCell time_cell(double cycles, std::uint64_t clock_hz);
[[nodiscard]] ViewCell time_cell(Cycles cycles, std::uint64_t clock_hz);

/// What of a view is wanted.
struct ViewOptions {
  std::size_t top = 20;     ///< rows of long tables; the rest is one row where it adds up
  std::string match = "*";  ///< a shell pattern of names
  std::string group_by = "operation";  ///< of the view's `groupings`
};

/// An open trace and what it adds up to.
struct ViewInput {
  const TraceFile& file;
  const TraceSummary& trace;
  const ViewOptions& options;
};

/// One view of a trace.
struct ReportView {
  std::string_view name, meaning;
  std::vector<ViewTable> (*tables)(const ViewInput& input);
  std::span<const std::string_view> takes;  ///< which of --group-by, --match and --top
  /// What it adds up by: as steps can be, and perhaps by call of the program.
  std::span<const std::string_view> groupings = {};
  TraceLevel level = TraceLevel::kSummary;  ///< the least that has what it shows
  bool can_compare = false;                 ///< `report diff` has it
};
/// All but the one that `superstep report` shows when none is named.
[[nodiscard]] std::span<const ReportView> report_views();
/// Why a trace has nothing of a view, and what to run; empty where it has.
[[nodiscard]] std::string what_lacks(const ReportView& view, const ViewInput& input);
/// The tables of a view, or one that says what it lacks.
[[nodiscard]] std::vector<ViewTable> tables_of(const ReportView& view, const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> ops_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> steps_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> supersteps_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> tiles_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> memory_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> exchange_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> host_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> bounds_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> bsp_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> codelets_view(const ViewInput& input);
[[nodiscard]] std::vector<ViewTable> insights_view(const ViewInput& input);

/// What rules without a word measured, so that silence says something.
[[nodiscard]] ViewTable silent_rules_table(const std::vector<SilentRule>& silent,
                                           const TraceSummary& trace);

/// The table of operations, or of other groups of `kStepGroupings`.
[[nodiscard]] ViewTable operations_table(const TraceSummary& trace, const ViewOptions& options);

/// The compute cycles of each step if tiles had the same to do, of a trace of level superstep. What
/// all tiles compute in a superstep is booked on every step that its critical tile launches in it,
/// by their cycles. A tile's wait for the barrier is no longer than the critical tile's compute
/// cycles: before them it waits for the exchange.
[[nodiscard]] std::vector<Cycles> even_cycles(const TraceFile& file, const TraceSummary& trace);

/// Tables as text.
[[nodiscard]] std::string view_text(std::span<const ViewTable> tables, const TextStyle& style);
/// Tables as a document: `{name, title, columns: [{name, unit, meaning}], rows: [[...]], notes}` of
/// each.
[[nodiscard]] nlohmann::ordered_json view_document(std::span<const ViewTable> tables);

/// What is wrong with a shell pattern; empty of one that is well-formed.
[[nodiscard]] std::string pattern_problem(std::string_view pattern);
/// Whether a name is meant.
[[nodiscard]] bool matches(const ViewOptions& options, const std::string& name);
/// Says in place of its notes that no name is meant, where a pattern left a table without rows.
void note_no_match(ViewTable& table, const ViewOptions& options);
/// Says how many rows are left out, if some are.
void note_more(ViewTable& table, std::uint64_t rows);

}  // namespace superstep
