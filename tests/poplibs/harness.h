#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/poplibs/device.h"
#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {

/// How near measured cycles are to PopLibs' estimate.
enum class CycleClass : std::uint8_t { kExact, kTwoPercent, kTenPercent, kBeyond, kNoEstimate };

/// What the cases of one entry point showed.
struct EntryResult {
  std::string symbol;
  std::string family;  ///< the class without template arguments
  std::size_t cases = 0;
  bool executed = false;  ///< every case ended
  bool checked = false;   ///< results were compared with those of the C++ codelet
  bool agrees = false;
  std::string problem;  ///< the first one: no C++ class, no recipe, a fault, a difference
  CycleClass cycles = CycleClass::kNoEstimate;        ///< of the largest case
  CycleClass worst_cycles = CycleClass::kNoEstimate;  ///< of all cases
  std::string cycle_detail;                           ///< of the largest case
};

/// Runs all cases of every entry point whose symbol contains `filter`.
std::vector<EntryResult> judge(const Codelets& codelets, const std::string& filter);

/// docs/validation.md, as a table by family and a list of what is missing.
std::string validation_page(const std::vector<EntryResult>& results);

}  // namespace superstep::poplibs
