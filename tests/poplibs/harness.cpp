#include "tests/gc200.h"
#include "tests/poplibs/harness.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "tests/poplibs/cycle_exceptions.h"
#include "tests/poplibs/estimate.h"
#include "tests/poplibs/labels.h"

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
  double largest = state.magnitude;
  for (const std::vector<std::uint8_t>& row : expected) {
    for (std::size_t i = 0; i < row.size() / field.element_bytes; ++i) {
      const double value = std::fabs(run.element(state, row, i));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  }
  for (std::size_t row = 0; row < expected.size(); ++row) {
    const std::size_t count = std::min(expected[row].size() / field.element_bytes, state.compared);
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

/// What the workers executed.
class SlotsObserver : public InstructionObserver {
 public:
  void issued(const IssuedInstruction& instruction) override {
    if (instruction.context == IssuedInstruction::kSupervisor) return;
    const std::uint64_t slots = instruction.cycles / gc200().tile.workers;
    several_ = several_ || slots > 1;
    auto& [times, sum] = workers_[instruction.context][instruction.pc];
    ++times;
    sum += slots;
  }
  /// Whether there were instructions whose slots depend on their data on the chip: all that take
  /// several.
  [[nodiscard]] bool several() const { return several_; }
  /// See EntryResult::stream.
  [[nodiscard]] std::string stream(std::uint32_t worker) const;

 private:
  using Counts = std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>;
  std::map<std::uint32_t, Counts> workers_;  ///< by worker and address
  bool several_ = false;
};

std::string SlotsObserver::stream(std::uint32_t worker) const {
  constexpr std::size_t kShown = 5;
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return {};
  std::map<std::uint64_t, std::uint64_t> slots_by_times;
  for (const auto& [pc, counts] : found->second) slots_by_times[counts.first] += counts.second;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> groups(slots_by_times.begin(),
                                                              slots_by_times.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> terms;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto [times, slots] = groups[i];
    if (i < kShown) {
      terms.push_back(fmt::format("{}*{}", slots / times, times));
    } else {
      rest += slots;
    }
  }
  if (rest != 0) terms.push_back(std::to_string(rest));
  return fmt::format("{}", fmt::join(terms, " + "));
}

std::uint64_t cycles_of(const CodeletCost& cost, CodeletKind kind) {
  return kind == CodeletKind::kWorker
             ? *std::max_element(cost.worker_slots.begin(), cost.worker_slots.end())
             : cost.cycles;
}

/// CyclePoint::rows and elements.
std::pair<std::size_t, std::size_t> shape_of(const Case& run, std::size_t n) {
  if (run.has("numOutputsM1")) return {run.whole_rows, run.whole_rows * (n / kWorkers)};
  std::size_t rows = 1;
  std::size_t most = 0;
  for (const FieldState& state : run.states()) {
    const Field& field = *state.field;
    // A vertex that slices goes through the slices.
    const bool is_list = field.shape == Shape::kVectors || field.shape == Shape::kVectorList;
    if (!is_list || field.name == "baseT") continue;
    std::size_t elements = 0;
    for (const Row& row : state.rows) elements += row.bytes.size() / field.element_bytes;
    if (elements > most) {
      most = elements;
      rows = state.rows.size();
    }
  }
  return {rows, most == 0 ? n : most};
}

/// What differs when the case runs as in programs; empty when nothing does.
std::string production_difference(const Case& run, const LinkedCode& code, CodeletKind kind,
                                  const DeviceResult& device) {
  const DeviceResult other = run_on_tile(run, code, kind, Engine::kProduction);
  if (!other.fault.empty()) return other.fault;
  if (other.rows != device.rows || other.after != device.after) return "other results";
  if (other.cost.cycles != device.cost.cycles) {
    return fmt::format("{} cycles, not {}", other.cost.cycles, device.cost.cycles);
  }
  if (other.cost.worker_slots != device.cost.worker_slots) return "other slots of workers";
  if (other.cost.worker_instructions != device.cost.worker_instructions) {
    return "other numbers of instructions";
  }
  return {};
}

void judge_case(Case& run, const Recipe& recipe, const LinkedCode& code, CodeletKind kind,
                std::size_t n, bool is_held_out, EntryResult& result) {
  run.place();
  const DeviceResult device = run_on_tile(run, code, kind);
  if (!device.fault.empty()) {
    result.executed = false;
    if (result.problem.empty()) result.problem = fmt::format("n={}: {}", n, device.fault);
    return;
  }
  const std::string production = production_difference(run, code, kind, device);
  if (!production.empty() && result.same_in_production) {
    result.same_in_production = false;
    const std::string fault = run_on_tile(run, code, kind, Engine::kChecked).fault;
    result.is_refused_in_production = !fault.empty();
    result.production_problem = fmt::format("n={}: {}", n, fault.empty() ? production : fault);
  }
  if (run.check) {
    result.checked = true;
    const std::string text = run.check(device);
    if (!text.empty()) result.agrees = false;
    if (result.problem.empty() && !text.empty()) result.problem = fmt::format("n={}: {}", n, text);
  } else if (recipe.host_is_reference) {
    result.checked = true;
    const auto host = run.run_host();
    for (std::size_t i = 0; i < run.states().size(); ++i) {
      const std::string text = difference(run, run.states()[i], recipe, host[i], device.rows[i]);
      if (text.empty()) continue;
      result.agrees = false;
      if (result.problem.empty()) result.problem = fmt::format("n={}: {}", n, text);
    }
  }
  result.simulated.push_back(cycles_of(device.cost, kind));
  const std::optional<std::uint64_t> estimated = estimate(run);
  if (!estimated) return;
  result.cycles.push_back({n, result.simulated.back(), *estimated, run.whole_rows, is_held_out});
  std::tie(result.cycles.back().rows, result.cycles.back().elements) = shape_of(run, n);
}

/// Runs the largest case again to see its instructions, and with other data.
void look_closer(const Entry& entry, const Recipe& recipe, const LinkedCode& code, CodeletKind kind,
                 EntryResult& result) {
  if (!result.executed || result.cycles.empty()) return;
  const CyclePoint& largest = result.largest();
  SlotsObserver observer;
  const auto run_again = [&](std::uint64_t seed) {
    Case run(entry, seed);
    run.whole_rows = largest.whole_rows;
    recipe.fill(run, largest.n);
    run.place();
    return run_on_tile(run, code, kind, Engine::kInTurn, &observer);
  };
  const DeviceResult other = run_again(largest.n + 1);
  result.data_dependent = observer.several() || cycles_of(other.cost, kind) != largest.simulated;
  observer = SlotsObserver();
  const std::vector<std::uint64_t> slots = run_again(largest.n).cost.worker_slots;
  const auto slowest = std::max_element(slots.begin(), slots.end()) - slots.begin();
  result.stream = observer.stream(static_cast<std::uint32_t>(slowest));
}

/// Bytes of the widest elements that the vertex goes through.
std::size_t widest_element(const Entry& entry) {
  std::size_t bytes = 1;
  for (const Field& field : entry.fields) {
    const bool is_data = field.shape != Shape::kValue && field.shape != Shape::kPointer;
    if (is_data) bytes = std::max(bytes, field.element_bytes);
  }
  return bytes;
}

EntryResult judge_entry(const Entry& entry, const Codelets& codelets, const Recipe& recipe,
                        EntryResult result) {
  std::optional<LinkedCode> code;
  const CodeletKind kind = codelets.is_supervisor(entry.symbol)      ? CodeletKind::kSupervisor
                           : entry.kind == Entry::Kind::kMultiVertex ? CodeletKind::kMultiVertex
                                                                     : CodeletKind::kWorker;
  result.executed = true;
  result.agrees = true;
  result.same_in_production = true;
  struct Size {
    std::size_t n, whole_rows = 0;
    bool is_held_out = false;
  };
  std::vector<Size> sizes;
  for (const std::size_t n : recipe.sizes) sizes.push_back({n});
  if (recipe.has_whole_cases) {
    const std::size_t width = 8 / widest_element(entry);
    for (const WholeSize& whole : kWholeSizes) {
      sizes.push_back({kWorkers * whole.vectors * width, whole.rows, whole.is_held_out});
    }
  }
  for (const auto& [n, whole_rows, is_held_out] : sizes) {
    Case run(entry, n);
    run.whole_rows = whole_rows;
    recipe.fill(run, n);
    if (!code) code = codelets.link_entry(entry.symbol, run.calls_around());
    ++result.cases;
    judge_case(run, recipe, *code, kind, n, is_held_out, result);
    if (!result.executed) break;
  }
  look_closer(entry, recipe, *code, kind, result);
  result.agrees = result.agrees && result.executed && result.checked;
  result.same_in_production = result.same_in_production && result.executed;
  return result;
}

CycleClass classify(const CyclePoint& point) {
  const auto estimated = static_cast<double>(point.estimated);
  const double off = std::fabs(static_cast<double>(point.simulated) - estimated);
  if (off == 0) return CycleClass::kExact;
  if (off <= 0.02 * estimated) return CycleClass::kTwoPercent;
  if (off <= 0.1 * estimated) return CycleClass::kTenPercent;
  return CycleClass::kBeyond;
}

}  // namespace

const CyclePoint& EntryResult::largest() const {
  if (cycles.back().whole_rows != 0) return cycles.back();
  // Of equal ones the last.
  return *std::max_element(
      cycles.rbegin(), cycles.rend(),
      [](const CyclePoint& a, const CyclePoint& b) { return a.estimated < b.estimated; });
}

std::optional<double> EntryResult::marginal_ratio() const {
  if (cycles.empty()) return std::nullopt;
  const CyclePoint& large = largest();
  const CyclePoint* second = nullptr;
  for (const CyclePoint& point : cycles) {
    const bool smaller = !point.is_held_out && point.estimated < large.estimated &&
                         !(large.whole_rows != 0 && point.whole_rows == 0);
    if (smaller && (second == nullptr || point.estimated > second->estimated)) second = &point;
  }
  if (second == nullptr) return std::nullopt;
  return (static_cast<double>(large.simulated) - static_cast<double>(second->simulated)) /
         static_cast<double>(large.estimated - second->estimated);
}

CycleClass EntryResult::cycle_class() const {
  return cycles.empty() ? CycleClass::kNoEstimate : classify(largest());
}

CycleClass EntryResult::worst_cycle_class() const {
  if (cycles.empty()) return CycleClass::kNoEstimate;
  CycleClass worst = CycleClass::kExact;
  for (const CyclePoint& point : cycles) worst = std::max(worst, classify(point));
  return worst;
}

bool EntryResult::within_limit() const {
  const CycleClass found = cycle_class();
  return found == CycleClass::kNoEstimate ||
         found <= (data_dependent ? CycleClass::kTenPercent : CycleClass::kTwoPercent);
}

std::vector<EntryResult> judge(const Codelets& codelets, const std::string& filter) {
  std::map<std::string, const Entry*> classes;
  for (const Entry& entry : all_entries()) classes.emplace(entry.symbol, &entry);
  std::vector<EntryResult> results;
  for (const std::string& symbol : codelets.entries()) {
    if (symbol.find(filter) == std::string::npos) continue;
    EntryResult result;
    result.symbol = symbol;
    const auto found = classes.find(class_symbol(symbol));
    if (found == classes.end()) {
      result.family = "without a C++ class";
      result.problem = why_no_class(symbol);
    } else {
      Entry entry = *found->second;
      entry.symbol = symbol;
      result.type = entry.type;
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

std::vector<std::optional<std::size_t>> explanations(const std::vector<EntryResult>& results) {
  std::vector<std::optional<std::size_t>> found(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].within_limit()) continue;
    for (std::size_t j = 0; j < cycle_exceptions().size() && !found[i]; ++j) {
      if (fits(results[i].type, cycle_exceptions()[j].types)) found[i] = j;
    }
  }
  return found;
}

}  // namespace superstep::poplibs
