#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>

#include "tests/poplibs/cycle_differences.h"
#include "tests/poplibs/cycle_exceptions.h"
#include "tests/poplibs/harness.h"

namespace superstep::poplibs {
namespace {

constexpr const char* kIntroduction = R"(# PopLibs on the simulated tile

Written by `poplibs_tests` (tests/poplibs); [validation.md](validation.md) says what it is worth.
Each entry point of PopLibs' assembly runs on the simulated tile. Its results are compared with
those of PopLibs' C++ codelet of the same name, compiled for the host, and its cycles with PopLibs'
own estimator: slots of the worker for a vertex of one worker, else clocks of the tile. Each case
runs twice: once with workers that issue in turn, as some wait for one another, and once as in
programs, where nobody watches and workers run ahead; "same in production" are those that left the
same bytes after the same cycles, worker by worker, in all cases.

Small and odd sizes are for results. What decides about cycles is the largest case, and for vertices
that go through elements one after the other a whole one, by one rule: 512 vectors of 8 bytes for
each of six workers, or in each of six rows (regions, outputs) for one: 24 KiB an operand. Slices of
inner vectors and regions of reductions have 16 elements, what is gathered or updated is all one
worker's, as estimators take it. Operands then lie less than 32 KiB apart: beyond that, some code
takes faster loops than estimators count. Four more whole cases have 32 vectors (two rows), 64
(four), 96 (three) and 224 (five).

The limit is 2 % of the estimate, or 10 % where cycles depend on data: where other
data of the same shape took other cycles, or an instruction ran whose slots depend on its operands
on the chip (divisions, roots and transcendental functions). "No estimator" are those that PopLibs
has none for, or one that only returns 0 or 1; for products with static sparsity the costs of its
planner are taken (lib/popsparse/StaticMatMulPartitioner.cpp). Casts of popfloat in place have none,
but take exactly the cycles of those out of place (a test holds them to that), 42 of which have one.
PopLibs' estimators are models for a planner, counted for one alignment and placement of data, and
some for C++ that has become assembly since. Fill and Fill2d, whose estimator is a mean over
alignments, take exactly the slots of their path for all ten types, at every alignment and up to 40
elements (90 of 8 bits), and those of the 18 cases that PopLibs tabulates (fill_test.cpp).
)";

struct Sum {
  std::size_t entries = 0, executed = 0, agree = 0, same_in_production = 0;
  std::array<std::size_t, 5> cycles{};
  std::size_t within_limit = 0, exact = 0, all_within = 0;
};

/// Whether its results are compared with what this repository says they are.
bool has_own_reference(const EntryResult& result) {
  return result.family.starts_with("popfloat::") || result.family.starts_with("poprand::");
}

/// Of an entry point beyond its limit: its difference, when that is exact.
std::optional<CycleDifference> exact_difference(const EntryResult& result) {
  if (!result.executed || result.within_limit()) return std::nullopt;
  const std::optional<CycleDifference> difference = cycle_difference(result);
  return difference && is_exact(*difference, points_of_difference(result)) ? difference
                                                                           : std::nullopt;
}

/// `+64 - 0.5 e`.
std::string difference_text(const CycleDifference& difference) {
  std::string text;
  const auto term = [&](double number, const char* of) {
    if (number == 0) return;
    text += fmt::format(
        "{}{}{}{}", text.empty() ? "" : " ", number < 0 ? "-" : "+",
        std::fabs(number) == 1 && *of != 0 ? "" : fmt::format("{}", std::fabs(number)), of);
  };
  term(difference.once, "");
  term(difference.row, " r");
  term(difference.element, " e");
  return text;
}

std::string family_table(const std::vector<EntryResult>& results) {
  std::map<std::string, Sum> families;
  Sum total;
  for (const EntryResult& result : results) {
    for (Sum* sum : {&families[result.family], &total}) {
      ++sum->entries;
      sum->executed += result.executed ? 1 : 0;
      sum->agree += result.agrees ? 1 : 0;
      sum->same_in_production += result.same_in_production ? 1 : 0;
      if (!result.executed) continue;
      ++sum->cycles.at(static_cast<std::size_t>(result.cycle_class()));
      const bool has_estimate = !result.cycles.empty();
      sum->within_limit += has_estimate && result.within_limit() ? 1 : 0;
      sum->exact += exact_difference(result) ? 1 : 0;
      sum->all_within += result.worst_cycle_class() <= CycleClass::kTenPercent ? 1 : 0;
    }
  }
  std::string table =
      "| family | entry points | executed | results agree | same in production | cycles equal | "
      "within 2 % | within 10 % | beyond | no estimator | within the limit | a sum | all sizes "
      "within 10 % |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const auto line = [&](const std::string& name, const Sum& sum) {
    table += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, sum.entries,
                         sum.executed, sum.agree, sum.same_in_production,
                         fmt::join(sum.cycles, " | "), sum.within_limit, sum.exact, sum.all_within);
  };
  for (const auto& [name, sum] : families) line(name, sum);
  line("all", total);
  return table;
}

/// How much the sums are worth that differences from estimates are.
std::string sums_text(const std::vector<EntryResult>& results) {
  const EstimateCounts counts = count_estimates(results);
  return fmt::format(
      R"(
Results of {} entry points (popfloat, whose C++ does nothing on the host, and poprand, whose C++ has
another generator) are compared with references of our own: they are self-consistent, no more.

A difference from the estimate that is a sum over the shape of the case, and holds to the clock in
the whole cases of 32, 64 and 512 vectors (else in all), is "a sum" (cycle_differences.cpp): {} have
one. It says that the difference follows a law, not whose it is. {} of the sums have a term of rows:
three numbers for three cases, with no degree of freedom left. None was chosen by the whole cases of
96 and 224 vectors: of the {} sums that have these, {} hold in them to the clock. The other entry
points beyond their limit are explained in words.

)",
      counts.own_reference, counts.sums, counts.none_left, counts.held_out, counts.hold_there);
}

/// The name without what all have.
std::string short_name(const EntryResult& result) {
  return result.type.empty() ? result.symbol : result.type;
}

std::int64_t difference(const CyclePoint& point) {
  return static_cast<std::int64_t>(point.simulated) - static_cast<std::int64_t>(point.estimated);
}

std::string exceptions_text(const std::vector<EntryResult>& results) {
  const std::vector<std::optional<std::size_t>> reasons = explanations(results);
  std::string text = R"(
## Cycles beyond the limit

n is the size of the case as its recipe takes it. Marginal is how many more cycles are simulated where one
more is estimated, between the two largest cases: 1 where only a constant differs. Simulated - estimated is
the sum that holds exactly in the whole cases of 32, 64 and 512 vectors (else in all cases), with `*` where it
does not in those of 96 and 224: e counts the elements of a case, r its rows; 6 clocks are a slot of each of
six workers. The last column is what the slowest worker executed: slots of the instructions that ran equally
often, times how often.
)";
  const std::string head = R"(
| vertex | n | simulated | estimated | off | marginal | simulated - estimated | slots of a worker |
|---|---|---|---|---|---|---|---|
)";
  const auto row = [&](const EntryResult& result) {
    const CyclePoint& point = result.largest();
    const double off = 100.0 * static_cast<double>(difference(point)) /
                       static_cast<double>(std::max<std::uint64_t>(point.estimated, 1));
    const std::optional<double> marginal = result.marginal_ratio();
    const std::optional<CycleDifference> exact = exact_difference(result);
    return fmt::format(
        "| `{}` | {} | {} | {} | {:+.1f} % | {} | {}{} | {} |\n", short_name(result), point.n,
        point.simulated, point.estimated, off, marginal ? fmt::format("{:.2f}", *marginal) : "",
        exact ? difference_text(*exact) : "",
        exact && !is_exact(*exact, held_out_points(result)) ? "\\*" : "", result.stream);
  };
  for (std::size_t i = 0; i < cycle_exceptions().size(); ++i) {
    text +=
        fmt::format("\n**`{}`**: {}\n", cycle_exceptions()[i].types, cycle_exceptions()[i].reason) +
        head;
    for (std::size_t j = 0; j < results.size(); ++j) {
      if (reasons[j] == i) text += row(results[j]);
    }
  }
  std::string unexplained;
  for (std::size_t j = 0; j < results.size(); ++j) {
    if (!results[j].within_limit() && !reasons[j]) unexplained += row(results[j]);
  }
  if (!unexplained.empty()) text += "\n**Not explained yet**\n" + head + unexplained;
  return text;
}

/// Families in which small cases are far from the estimate although the largest is near it.
std::string constants_text(const std::vector<EntryResult>& results) {
  struct Range {
    std::int64_t least = 0, most = 0;
    std::size_t entries = 0;
  };
  std::map<std::string, Range> families;
  for (const EntryResult& result : results) {
    if (result.worst_cycle_class() != CycleClass::kBeyond || !result.within_limit()) continue;
    Range& range = families[result.family];
    for (const CyclePoint& point : result.cycles) {
      const std::int64_t off = difference(point);
      const bool first = range.entries == 0 && &point == &result.cycles.front();
      range.least = first ? off : std::min(range.least, off);
      range.most = first ? off : std::max(range.most, off);
    }
    ++range.entries;
  }
  std::string text = R"(
## Constants that estimators leave out

Entry points whose largest case is within its limit while a small one is more than 10 % off: what is
simulated beyond the estimate, the least and the most of all sizes.

| family | entry points | least | most |
|---|---|---|---|
)";
  for (const auto& [name, range] : families) {
    text +=
        fmt::format("| {} | {} | {:+} | {:+} |\n", name, range.entries, range.least, range.most);
  }
  return text;
}

}  // namespace

EstimateCounts count_estimates(const std::vector<EntryResult>& results) {
  EstimateCounts counts;
  for (const EntryResult& result : results) {
    counts.executed += result.executed ? 1 : 0;
    counts.own_reference += result.executed && has_own_reference(result) ? 1 : 0;
    if (result.cycles.empty()) continue;
    ++counts.all;
    counts.within_limit += result.within_limit() ? 1 : 0;
    const std::optional<CycleDifference> difference = exact_difference(result);
    if (!difference) continue;
    ++counts.sums;
    counts.none_left += degrees_of_freedom(*difference, result) == 0 ? 1 : 0;
    const std::vector<CyclePoint> points = held_out_points(result);
    if (points.empty()) continue;
    ++counts.held_out;
    counts.hold_there += is_exact(*difference, points) ? 1 : 0;
  }
  return counts;
}

std::string validation_page(const std::vector<EntryResult>& results) {
  std::string page = kIntroduction + sums_text(results) + family_table(results) +
                     "\n## Not executed, or results not checked or different\n\n";
  for (const EntryResult& result : results) {
    if (result.agrees) continue;
    const std::string why = !result.problem.empty() ? result.problem
                            : result.checked        ? "different"
                                                    : "results are random or have no host code";
    page += fmt::format("- `{}`: {}\n", result.symbol, why);
  }
  page +=
      "\n## Not the same in production\n\nTheir workers share words without order, and issue in "
      "turn on a chip. In programs the check for races, which is on\nunless it is switched off, "
      "refuses them:\n\n";
  for (const EntryResult& result : results) {
    if (!result.executed || result.same_in_production) continue;
    page += fmt::format("- `{}`: {}\n", short_name(result), result.production_problem);
  }
  return page + exceptions_text(results) + constants_text(results);
}

}  // namespace superstep::poplibs
