#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/poplibs/device.h"
#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {

/// How near simulated cycles are to PopLibs' estimate.
enum class CycleClass : std::uint8_t { kExact, kTwoPercent, kTenPercent, kBeyond, kNoEstimate };

/// Of one case.
struct CyclePoint {
  std::size_t n = 0;
  std::uint64_t simulated = 0;
  std::uint64_t estimated = 0;
  std::size_t whole_rows = 0;  ///< as Case has it
  bool is_held_out = false;    ///< as WholeSize has it
  std::size_t rows = 1;        ///< that one worker goes through, or outputs
  std::size_t elements = 0;    ///< of all rows
};

/// What the cases of one entry point showed.
struct EntryResult {
  std::string symbol;
  std::string type;    ///< of the vertex, empty without a C++ class
  std::string family;  ///< the class without template arguments
  std::size_t cases = 0;
  bool executed = false;  ///< every case ended
  bool checked = false;   ///< results were compared with those of the C++ codelet
  bool agrees = false;
  /// Every case leaves the same bytes after the same cycles when nobody watches and workers run
  /// ahead, as in programs; what differs first, and whether the check for races refuses that case.
  bool same_in_production = false;
  std::string production_problem;
  bool is_refused_in_production = false;
  std::string problem;  ///< the first one: no C++ class, no recipe, a fault, a difference
  std::vector<CyclePoint> cycles;        ///< of the cases that ended and have an estimate, by size
  std::vector<std::uint64_t> simulated;  ///< cycles of all cases that ended
  /// Whether other data of the same shape, or on the chip the data of an instruction, changes them.
  bool data_dependent = false;
  /// What the slowest worker of the largest case executed: slots of the instructions that ran
  /// equally often times how often (`48*1 + 3*63`), the others last.
  std::string stream;

  /// The case of whole vectors, else that with the largest estimate; there is one when `cycles` has
  /// any.
  [[nodiscard]] const CyclePoint& largest() const;
  /// How many more cycles are simulated where one more is estimated: between the two largest cases.
  [[nodiscard]] std::optional<double> marginal_ratio() const;
  /// How near the largest case is to its estimate, and how near the farthest one.
  [[nodiscard]] CycleClass cycle_class() const;
  [[nodiscard]] CycleClass worst_cycle_class() const;
  /// Whether the largest case is within what is asked for: 2 % of the estimate, 10 % where cycles
  /// depend on data. True without an estimate.
  [[nodiscard]] bool within_limit() const;
};

/// Runs all cases of every entry point whose symbol contains `filter`.
std::vector<EntryResult> judge(const Codelets& codelets, const std::string& filter);

/// Numbers in `cycle_exceptions()`: by result, of the one that explains cycles beyond the limit;
/// none where they are within it or nothing explains them.
std::vector<std::optional<std::size_t>> explanations(const std::vector<EntryResult>& results);

/// What the page says about entry points, and about those with an estimate.
struct EstimateCounts {
  std::size_t executed = 0, own_reference = 0;  ///< compared with a reference that is ours
  std::size_t all = 0, within_limit = 0;
  std::size_t sums = 0;        ///< beyond it: their difference is one, exactly
  std::size_t none_left = 0;   ///< of these: without a degree of freedom
  std::size_t held_out = 0;    ///< of these: with cases that they were not chosen by
  std::size_t hold_there = 0;  ///< of these: they hold in them, exactly
};
EstimateCounts count_estimates(const std::vector<EntryResult>& results);

/// docs/poplibs.md, as a table by family and lists of what is missing or differs.
std::string validation_page(const std::vector<EntryResult>& results);

}  // namespace superstep::poplibs
