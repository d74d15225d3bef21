#include "report/validation/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/format_version.h"
#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

enum class Relation : std::uint8_t { kEquals, kAtMost };

/// Of each row of a table: one number, and what others of the row add up to; a minus sign in front
/// of a name takes it off.
struct RowInvariant {
  std::string_view group, column;
  Relation relation;
  std::string_view others;
};

using enum Relation;
constexpr RowInvariant kRows[] = {
    {"/program/step", "bound_cycles", kAtMost, "predicted_cycles"},
    {"/program/compute_set", "tiles", kAtMost, "vertices"},
    {"/program/variable", "max_tile_bytes", kAtMost, "bytes"},
    {"/memory/liveness", "peak_tile_bytes", kAtMost, "always_live_bytes not_always_live_bytes"},
    {"/supersteps", "compute_cycles", kAtMost, "compute_cycles_max"},
    {"/supersteps", "compute_cycles_min", kAtMost, "compute_cycles_max"},
    {"/supersteps", "compute_cycles_max", kAtMost, "compute_cycles_sum"},
    {"/supersteps", "visit_begin_cycles", kAtMost, "sync_cycles"},
    {"/supersteps", "visit_callback_cycles", kAtMost, "visit_begin_cycles"},
    {"/supersteps", "visit_end_cycles", kAtMost, "host_cycles"},
    {"/supersteps", "messages", kAtMost, "bytes_sent"},
    {"/supersteps", "instructions", kEquals, "main_instructions aux_instructions"},
    {"/supersteps", "amp_instructions", kAtMost, "aux_instructions"},
    {"/supersteps", "load_instructions", kAtMost, "main_instructions"},
    {"/supersteps", "store_instructions", kAtMost, "main_instructions"},
    {"/supersteps", "branch_instructions", kAtMost, "main_instructions"},
    {"/profiles/compute", "instructions", kEquals, "main_instructions aux_instructions"},
    {"/profiles/compute", "amp_instructions", kAtMost, "aux_instructions"},
    {"/profiles/compute", "load_instructions", kAtMost, "main_instructions"},
    {"/profiles/compute", "store_instructions", kAtMost, "main_instructions"},
    {"/profiles/compute", "branch_instructions", kAtMost, "main_instructions"},
    {"/profiles/exchange", "idle_cycles", kAtMost, "cycles"},
    {"/vertices", "amp_instructions", kAtMost, "aux_instructions"},
    {"/vertices", "load_instructions", kAtMost, "instructions -aux_instructions"},
    {"/vertices", "store_instructions", kAtMost, "instructions -aux_instructions"},
    {"/vertices", "branch_instructions", kAtMost, "instructions -aux_instructions"},
    {"/host", "packets", kAtMost, "bytes"},
    {"/summary/step", "count", kAtMost, "runs"},
    {"/summary/step", "longest_cycles", kAtMost,
     "exchange_cycles compute_cycles sync_cycles host_cycles"},
    {"/summary/step", "compute_cycles_max", kAtMost, "compute_cycles_sum"},
};

/// The same of attributes of /summary, from format 1.`since` on.
struct SummaryInvariant {
  std::string_view attribute;
  Relation relation;
  std::string_view others;
  unsigned since = 0;
};

constexpr SummaryInvariant kSummary[] = {
    {"total_cycles", kEquals, "device_cycles host_cycles"},
    {"device_cycles", kEquals, "exchange_cycles compute_cycles sync_cycles"},
    {"exchange_assumed_cycles", kAtMost, "exchange_cycles", 7},
    {"compute_assumed_cycles", kAtMost, "compute_cycles", 7},
    {"sync_assumed_cycles", kAtMost, "sync_cycles", 7},
    {"host_assumed_cycles", kAtMost, "host_cycles", 7},
    {"visit_begin_cycles", kAtMost, "sync_cycles", 7},
    {"visit_callback_cycles", kAtMost, "visit_begin_cycles", 7},
    {"visit_end_cycles", kAtMost, "host_cycles", 7},
    {"aux_instructions", kAtMost, "instructions"},
    {"amp_instructions", kAtMost, "aux_instructions"},
};

/// An attribute of /summary that rows of a column sum to.
struct TotalInvariant {
  std::string_view attribute, column;
  unsigned since = 0;
};

constexpr TotalInvariant kTotals[] = {
    {"exchange_cycles", "/summary/step/exchange_cycles"},
    {"compute_cycles", "/summary/step/compute_cycles"},
    {"sync_cycles", "/summary/step/sync_cycles"},
    {"host_cycles", "/summary/step/host_cycles"},
    {"instructions", "/summary/step/instructions", 11},
    {"aux_instructions", "/summary/step/aux_instructions", 11},
    {"amp_instructions", "/summary/step/amp_instructions", 11},
    {"exchange_cycles", "/supersteps/exchange_cycles"},
    {"compute_cycles", "/supersteps/compute_cycles"},
    {"sync_cycles", "/supersteps/sync_cycles"},
    {"host_cycles", "/supersteps/host_cycles"},
    {"visit_begin_cycles", "/supersteps/visit_begin_cycles", 7},
    {"visit_callback_cycles", "/supersteps/visit_callback_cycles", 7},
    {"visit_end_cycles", "/supersteps/visit_end_cycles", 7},
    {"instructions", "/supersteps/instructions"},
    {"aux_instructions", "/supersteps/aux_instructions"},
    {"amp_instructions", "/supersteps/amp_instructions"},
    {"bytes_exchanged", "/supersteps/bytes_sent"},
    {"host_bytes", "/supersteps/host_bytes"},
    {"flops", "/supersteps/flops"},
};

/// A number of a superstep, and what a column of its row of tiles comes to.
enum class Reduction : std::uint8_t { kSum, kMost, kLeast, kOthersThanZero };
struct TileInvariant {
  std::string_view column, tiles;
  Reduction reduction;
};

using enum Reduction;
constexpr TileInvariant kTiles[] = {
    {"compute_cycles_sum", "/profiles/compute/cycles", kSum},
    {"compute_cycles_max", "/profiles/compute/cycles", kMost},
    {"compute_cycles_min", "/profiles/compute/cycles", kLeast},
    {"active_tiles", "/profiles/compute/cycles", kOthersThanZero},
    {"instructions", "/profiles/compute/instructions", kSum},
    {"main_instructions", "/profiles/compute/main_instructions", kSum},
    {"aux_instructions", "/profiles/compute/aux_instructions", kSum},
    {"amp_instructions", "/profiles/compute/amp_instructions", kSum},
    {"load_instructions", "/profiles/compute/load_instructions", kSum},
    {"store_instructions", "/profiles/compute/store_instructions", kSum},
    {"branch_instructions", "/profiles/compute/branch_instructions", kSum},
    {"bytes_sent", "/profiles/exchange/received_bytes", kSum},
    {"word_rows", "/profiles/exchange/word_rows", kSum},
    {"word_columns", "/profiles/exchange/word_columns", kSum},
};

std::string_view symbol_of(Relation relation) { return relation == kEquals ? "=" : "≤"; }

std::string_view name_of(Reduction reduction) {
  constexpr std::string_view kNames[] = {"sum", "most", "least", "count of those other than 0"};
  return kNames[static_cast<std::size_t>(reduction)];
}

/// One of the numbers that others add up to.
struct Term {
  std::string name;
  bool is_negative = false;
};

std::vector<Term> terms_of(std::string_view text) {
  std::vector<Term> terms;
  for (const std::string& word : axes_of(text)) {
    const bool is_negative = word.starts_with('-');
    terms.push_back({word.substr(is_negative ? 1 : 0), is_negative});
  }
  return terms;
}

/// `a + b - c`, each within `quote`.
std::string text_of(const std::vector<Term>& terms, std::string_view quote = "") {
  std::string text;
  for (const Term& term : terms) {
    text += fmt::format("{}{}{}{}",
                        text.empty()       ? ""
                        : term.is_negative ? " - "
                                           : " + ",
                        quote, term.name, quote);
  }
  return text;
}

/// A number that may be below zero.
using Signed = __int128;

bool holds(Relation relation, std::uint64_t found, Signed others) {
  return relation == kEquals ? Signed{found} == others : Signed{found} <= others;
}

/// `is 5, but a + b come to 4` or `is 5, more than a, 4`.
std::string problem(Relation relation, std::uint64_t found, const std::vector<Term>& terms,
                    Signed others) {
  const std::string text = text_of(terms);
  return relation == kEquals ? fmt::format("is {}, but {} is {}", found, text, others)
                             : fmt::format("is {}, more than {}, {}", found, text, others);
}

class InvariantCheck {
 public:
  InvariantCheck(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings)
      : trace_(trace),
        sound_(sound),
        findings_(findings),
        minor_(minor_of(read_attributes(trace.hdf5(), kRootAttributes).format_version)) {}

  void check(const RowInvariant& invariant) {
    const std::vector<Term> terms = terms_of(invariant.others);
    const std::string path = path_of(invariant.group, invariant.column);
    std::vector<std::string> paths;
    for (const Term& term : terms) paths.push_back(path_of(invariant.group, term.name));
    if (!has(path) || !std::ranges::all_of(paths, [&](const auto& p) { return has(p); })) return;
    TraceRule& rule = findings_.rule(path);
    const std::uint64_t width = width_of(path);
    for_each_chunk(path, [&](std::uint64_t first, std::uint64_t count) {
      const std::vector<std::uint64_t> numbers = read(path, first, count);
      std::vector<Signed> sums(numbers.size());
      for (std::size_t t = 0; t < terms.size(); ++t) {
        const std::vector<std::uint64_t> values = read(paths[t], first, count);
        for (std::size_t i = 0; i < sums.size(); ++i) {
          sums[i] += terms[t].is_negative ? -Signed{values[i]} : Signed{values[i]};
        }
      }
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        rule.check(holds(invariant.relation, numbers[i], sums[i]), first + i / width, [&] {
          const std::string why = problem(invariant.relation, numbers[i], terms, sums[i]);
          return width == 1 ? why : fmt::format("of tile {} {}", used_tile(i % width), why);
        });
      }
    });
  }

  void check(const SummaryInvariant& invariant) {
    const std::optional<std::uint64_t> found = attribute(invariant.attribute, invariant.since);
    if (!found) return;
    const std::vector<Term> terms = terms_of(invariant.others);
    Signed sum = 0;
    for (const Term& term : terms) {
      const std::optional<std::uint64_t> value = attribute(term.name, 0);
      if (!value) return;
      sum += term.is_negative ? -Signed{*value} : Signed{*value};
    }
    findings_.expect(holds(invariant.relation, *found, sum), [&] {
      return fmt::format("{} of /summary {}", invariant.attribute,
                         problem(invariant.relation, *found, terms, sum));
    });
  }

  void check(const TotalInvariant& invariant) {
    const std::optional<std::uint64_t> found = attribute(invariant.attribute, invariant.since);
    const std::string path(invariant.column);
    if (!found || !has(path)) return;
    std::uint64_t sum = 0;
    for_each_chunk(path, [&](std::uint64_t first, std::uint64_t count) {
      const std::vector<std::uint64_t> numbers = read(path, first, count);
      sum = std::accumulate(numbers.begin(), numbers.end(), sum);
    });
    findings_.expect(*found == sum, [&] {
      return fmt::format("{} of /summary is {}, but the rows of {} sum to {}", invariant.attribute,
                         *found, path, sum);
    });
  }

  void check(const TileInvariant& invariant) {
    const std::string path = kSupersteps.path_of(invariant.column), tiles(invariant.tiles);
    const std::string_view profile =
        tiles.starts_with(kComputePhases.group) ? "compute_profile" : "exchange_profile";
    const std::string numbers_path = kProfileNumbers.path_of(profile);
    if (!has(path) || !has(tiles) || !has(numbers_path)) return;
    TraceRule& rule = findings_.rule(path);
    const std::vector<std::uint64_t> expected = reduced(tiles, invariant.reduction);
    for_each_chunk(numbers_path, [&](std::uint64_t first, std::uint64_t count) {
      const std::vector<std::uint64_t> numbers = read(numbers_path, first, count);
      const std::vector<std::uint64_t> found = read(path, first, count);
      for (std::size_t i = 0; i < count; ++i) {
        if (numbers[i] >= expected.size()) continue;
        rule.check(found[i] == expected[numbers[i]], first + i, [&] {
          return fmt::format("is {}, but the {} of {}[{}] is {}", found[i],
                             name_of(invariant.reduction), tiles, numbers[i], expected[numbers[i]]);
        });
      }
    });
  }

 private:
  static std::string path_of(std::string_view group, std::string_view name) {
    return fmt::format("{}/{}", group, name);
  }

  [[nodiscard]] bool has(const std::string& path) const { return sound_.has(path); }
  [[nodiscard]] std::optional<std::uint64_t> attribute(std::string_view name,
                                                       unsigned since) const {
    const std::string group(kSummaryAttributes.group);
    if (minor_ < since || !trace_.hdf5().exists(group)) return std::nullopt;
    const auto value = trace_.hdf5().attribute(group, std::string(name));
    if (!value || !std::holds_alternative<std::uint64_t>(*value)) return std::nullopt;
    return std::get<std::uint64_t>(*value);
  }

  [[nodiscard]] std::uint64_t width_of(const std::string& path) const {
    const std::vector<std::uint64_t> dims = trace_.hdf5().dims(path);
    return dims.size() < 2 ? 1 : std::max<std::uint64_t>(dims[1], 1);
  }
  [[nodiscard]] std::uint32_t used_tile(std::uint64_t column) const {
    const std::vector<TileEntry> tiles = trace_.read(kUsedTiles);
    return column < tiles.size() ? index(tiles[column].tile) : static_cast<std::uint32_t>(column);
  }

  /// Calls `visit(first, count)` for the rows of a column that there are, some at a time.
  template <class Visit>
  void for_each_chunk(const std::string& path, const Visit& visit) const {
    const auto column = std::ranges::find(trace_columns(), path, &TraceColumn::path);
    const std::uint64_t rows =
        column->grows ? trace_.rows_along(column->first_axis()) : trace_.hdf5().dims(path).front();
    const std::uint64_t chunk = width_of(path) == 1 ? kDetailChunk : kProfileChunk;
    for (std::uint64_t first = 0; first < rows; first += chunk) {
      visit(first, std::min(chunk, rows - first));
    }
  }
  /// Rows of a column of one or two axes, one behind the other.
  [[nodiscard]] std::vector<std::uint64_t> read(const std::string& path, std::uint64_t first,
                                                std::uint64_t count) const {
    return trace_.hdf5().dims(path).size() < 2
               ? read_numbers<std::uint64_t>(trace_.hdf5(), path, first, count)
               : trace_.read_wide<std::uint64_t>(path, first, count);
  }

  /// By row of a column with two axes.
  [[nodiscard]] std::vector<std::uint64_t> reduced(const std::string& path,
                                                   Reduction reduction) const {
    std::vector<std::uint64_t> out;
    const std::uint64_t width = width_of(path);
    for_each_chunk(path, [&](std::uint64_t first, std::uint64_t count) {
      const std::vector<std::uint64_t> values = read(path, first, count);
      for (std::size_t begin = 0; begin + width <= values.size(); begin += width) {
        const auto row = std::span(values).subspan(begin, width);
        switch (reduction) {
          case kSum:
            out.push_back(std::accumulate(row.begin(), row.end(), std::uint64_t{0}));
            break;
          case kMost:
            out.push_back(std::ranges::max(row));
            break;
          case kLeast:
            out.push_back(std::ranges::min(row));
            break;
          case kOthersThanZero:
            out.push_back(width - static_cast<std::uint64_t>(std::ranges::count(row, 0U)));
            break;
        }
      }
    });
    return out;
  }

  const TraceFile& trace_;
  const SoundColumns& sound_;
  TraceFindings& findings_;
  unsigned minor_;
};

}  // namespace

void check_invariants(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings) {
  InvariantCheck check(trace, sound, findings);
  const auto check_all = [&](const auto& invariants) {
    for (const auto& invariant : invariants) check.check(invariant);
  };
  check_all(kRows);
  check_all(kTiles);
  check_all(kSummary);
  check_all(kTotals);
}

std::string invariants_markdown() {
  std::string text =
      "\n## What adds up\n\n"
      "`superstep trace validate` looks whether these hold, and more: that numbers of rows are of "
      "rows that there are, that rows are in order, that visits to the host have time for their "
      "packets.\n\n"
      "| of | holds |\n|---|---|\n";
  for (const RowInvariant& i : kRows) {
    text += fmt::format("| each row of `{}` | `{}` {} {} |\n", i.group, i.column,
                        symbol_of(i.relation), text_of(terms_of(i.others), "`"));
  }
  for (const TileInvariant& i : kTiles) {
    text += fmt::format("| each row of `/supersteps` | `{}` = {} of its row of `{}` |\n", i.column,
                        name_of(i.reduction), i.tiles);
  }
  for (const SummaryInvariant& i : kSummary) {
    text += fmt::format("| attributes of `/summary` | `{}` {} {} |\n", i.attribute,
                        symbol_of(i.relation), text_of(terms_of(i.others), "`"));
  }
  for (const TotalInvariant& i : kTotals) {
    text +=
        fmt::format("| attributes of `/summary` | `{}` = sum of `{}` |\n", i.attribute, i.column);
  }
  return text;
}

}  // namespace superstep
