#include "tests/poplibs/harness.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/format.h>

#include "base/error.h"
#include "tests/poplibs/estimate.h"

namespace superstep::poplibs {
namespace {

const Recipes& recipes() {
  static const Recipes all = [] {
    Recipes table;
    add_popops(table);
    add_popops_reductions(table);
    add_popnn(table);
    add_popfloat(table);
    add_poprand(table);
    add_poplin(table);
    add_popsparse(table);
    return table;
  }();
  return all;
}

bool is_float(Element element) { return element == Element::kFloat || element == Element::kHalf; }

/// The first difference in one field; empty when there is none.
std::string difference(const Case& run, const FieldState& state, const Recipe& recipe,
                       const std::vector<std::vector<std::uint8_t>>& expected,
                       const std::vector<std::vector<std::uint8_t>>& found) {
  const Field& field = *state.field;
  if (state.device_bytes != 0 || !state.compare) return {};
  const double tolerance = state.tolerance >= 0              ? state.tolerance
                           : field.element == Element::kHalf ? recipe.half_tolerance
                                                             : recipe.float_tolerance;
  double largest = 0;
  for (const std::vector<std::uint8_t>& row : expected) {
    for (std::size_t i = 0; i < row.size() / field.element_bytes; ++i) {
      const double value = std::fabs(run.element(state, row, i));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  }
  for (std::size_t row = 0; row < expected.size(); ++row) {
    const std::size_t count = expected[row].size() / field.element_bytes;
    for (std::size_t i = 0; i < count; ++i) {
      const double want = run.element(state, expected[row], i);
      const double have = run.element(state, found[row], i);
      const bool same_bits = std::equal(
          expected[row].begin() + static_cast<std::ptrdiff_t>(i * field.element_bytes),
          expected[row].begin() + static_cast<std::ptrdiff_t>((i + 1) * field.element_bytes),
          found[row].begin() + static_cast<std::ptrdiff_t>(i * field.element_bytes));
      if (same_bits) continue;
      const bool near = is_float(field.element) && (std::fabs(want - have) <= tolerance * largest ||
                                                    (std::isnan(want) && std::isnan(have)));
      if (!near) {
        return fmt::format("{}[{}][{}] is {}, the C++ codelet has {}", field.name, row, i, have,
                           want);
      }
    }
  }
  return {};
}

CycleClass classify(double measured, double estimate) {
  const double off = std::fabs(measured - estimate);
  if (off == 0) return CycleClass::kExact;
  if (off <= 0.02 * estimate) return CycleClass::kTwoPercent;
  if (off <= 0.1 * estimate) return CycleClass::kTenPercent;
  return CycleClass::kBeyond;
}

void judge_case(Case& run, const Recipe& recipe, const LinkedCode& code, CodeletKind kind,
                std::size_t n, EntryResult& result) {
  run.place();
  const DeviceResult device = run_on_tile(run, code, kind);
  if (!device.fault.empty()) {
    result.executed = false;
    if (result.problem.empty()) result.problem = fmt::format("n={}: {}", n, device.fault);
    return;
  }
  if (recipe.host_is_reference) {
    result.checked = true;
    const auto host = run.run_host();
    for (std::size_t i = 0; i < run.states().size(); ++i) {
      const std::string text = difference(run, run.states()[i], recipe, host[i], device.rows[i]);
      if (text.empty()) continue;
      result.agrees = false;
      if (result.problem.empty()) result.problem = fmt::format("n={}: {}", n, text);
    }
  }
  const std::optional<std::uint64_t> estimated = estimate(run);
  if (!estimated) return;
  const std::uint64_t measured =
      kind == CodeletKind::kWorker
          ? *std::max_element(device.cost.worker_slots.begin(), device.cost.worker_slots.end())
          : device.cost.cycles;
  const CycleClass found = classify(double(measured), double(*estimated));
  if (result.worst_cycles == CycleClass::kNoEstimate || found > result.worst_cycles) {
    result.worst_cycles = found;
  }
  // Sizes ascend: that of the largest case stays.
  result.cycles = found;
  result.cycle_detail = fmt::format("n={}: {} measured, {} estimated", n, measured, *estimated);
}

EntryResult judge_entry(const Entry& entry, const Codelets& codelets, const Recipe& recipe,
                        EntryResult result) {
  const LinkedCode code = codelets.link_entry(entry.symbol);
  const CodeletKind kind = codelets.is_supervisor(entry.symbol)      ? CodeletKind::kSupervisor
                           : entry.kind == Entry::Kind::kMultiVertex ? CodeletKind::kMultiVertex
                                                                     : CodeletKind::kWorker;
  result.executed = true;
  result.agrees = true;
  for (const std::size_t n : recipe.sizes) {
    Case run(entry, n);
    recipe.fill(run, n);
    ++result.cases;
    judge_case(run, recipe, code, kind, n, result);
    if (!result.executed) break;
  }
  result.agrees = result.agrees && result.executed && result.checked;
  return result;
}

}  // namespace

std::vector<EntryResult> judge(const Codelets& codelets, const std::string& filter) {
  std::map<std::string, const Entry*> classes;
  for (const Entry& entry : all_entries()) classes.emplace(entry.symbol, &entry);
  std::vector<EntryResult> results;
  for (const std::string& symbol : codelets.entries()) {
    if (symbol.find(filter) == std::string::npos) continue;
    EntryResult result;
    result.symbol = symbol;
    const auto found = classes.find(symbol);
    if (found == classes.end()) {
      result.family = "without a C++ class";
      result.problem = "no C++ codelet has this name";
    } else {
      const Entry& entry = *found->second;
      result.family = entry.type.substr(0, entry.type.find('<'));
      const auto recipe = recipes().find(result.family);
      try {
        if (recipe == recipes().end()) {
          result.problem = "no recipe";
        } else {
          result = judge_entry(entry, codelets, recipe->second, result);
        }
      } catch (const UserError& error) {
        result.executed = result.agrees = false;
        result.problem = error.problems()[0].message;
      } catch (const std::exception& error) {
        result.executed = result.agrees = false;
        result.problem = error.what();
      }
    }
    results.push_back(result);
  }
  return results;
}

std::string validation_page(const std::vector<EntryResult>& results) {
  struct Sum {
    std::size_t entries = 0, executed = 0, agree = 0;
    std::size_t cycles[5] = {};
    std::size_t all_within = 0;
  };
  std::map<std::string, Sum> families;
  Sum total;
  for (const EntryResult& result : results) {
    for (Sum* sum : {&families[result.family], &total}) {
      ++sum->entries;
      sum->executed += result.executed ? 1 : 0;
      sum->agree += result.agrees ? 1 : 0;
      if (!result.executed) continue;
      ++sum->cycles[static_cast<std::size_t>(result.cycles)];
      sum->all_within += result.worst_cycles <= CycleClass::kTenPercent ? 1 : 0;
    }
  }
  std::string page =
      "# Validation against PopLibs\n\n"
      "Written by `poplibs_tests` (tests/poplibs). Each entry point of PopLibs' assembly runs on\n"
      "the simulated tile; its results are compared with those of PopLibs' C++ codelet of the\n"
      "same name, compiled for the host, and its cycles with PopLibs' own estimator: the columns "
      "of\n"
      "cycles are those of the largest case of each entry point, the last one counts entry points\n"
      "whose cases are all within 10 %. PopLibs' estimators are models for a planner: many leave\n"
      "out what a call or a row costs, which shows at small sizes.\n\n"
      "| family | entry points | executed | results agree | cycles equal | within 2 % | within 10 "
      "% | beyond | no estimator | all sizes within 10 % |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  const auto line = [&](const std::string& name, const Sum& sum) {
    page += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, sum.entries,
                        sum.executed, sum.agree, sum.cycles[0], sum.cycles[1], sum.cycles[2],
                        sum.cycles[3], sum.cycles[4], sum.all_within);
  };
  for (const auto& [name, sum] : families) line(name, sum);
  line("all", total);
  page += "\n## Not executed, or results not checked or different\n\n";
  for (const EntryResult& result : results) {
    if (result.agrees) continue;
    const std::string why = !result.problem.empty() ? result.problem
                            : result.checked        ? "different"
                                                    : "results are random or have no host code";
    page += fmt::format("- `{}`: {}\n", result.symbol, why);
  }
  page += "\n## Cycles beyond 10 %\n\n";
  for (const EntryResult& result : results) {
    if (result.executed && result.cycles == CycleClass::kBeyond) {
      page += fmt::format("- `{}`: {}\n", result.symbol, result.cycle_detail);
    }
  }
  return page;
}

}  // namespace superstep::poplibs
