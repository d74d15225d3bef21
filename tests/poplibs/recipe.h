#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/poplibs/case.h"

namespace superstep::poplibs {

/// How the fields of one vertex class are filled.
struct Recipe {
  std::vector<std::size_t> sizes;                ///< of the cases
  std::function<void(Case&, std::size_t)> fill;  ///< for one size
  double float_tolerance = 1e-5;                 ///< relative to the largest result
  double half_tolerance = 2e-3;
  bool host_is_reference = true;  ///< false where results are random: only the run is checked
  bool has_whole_cases = false;   ///< besides, cases of whole vectors: kWholeSizes
};

/// By class without template arguments (`popops::Fill`).
using Recipes = std::map<std::string, Recipe>;

void add_popops(Recipes& recipes);
void add_popops_reductions(Recipes& recipes);
void add_popnn(Recipes& recipes);
void add_popfloat(Recipes& recipes);
void add_poprand(Recipes& recipes);
void add_poplin(Recipes& recipes);
void add_popsparse(Recipes& recipes);

/// Small and odd ones.
inline const std::vector<std::size_t> kSizes = {1, 2, 3, 5, 8, 13, 24, 31, 64, 100, 257, 1536};

/// The rule for vertices that go through elements one after the other: in their whole cases each of
/// six workers, or each row for one worker, has as many vectors of 8 bytes. The last one, 24 KiB an
/// operand, decides about cycles. Operands then lie less than 32 KiB apart: beyond that some code
/// takes faster loops than estimators count.
struct WholeSize {
  std::size_t vectors;
  std::size_t rows;
  /// No sum of cycle_differences.cpp was chosen by it.
  bool is_held_out = false;
};
inline constexpr std::array<WholeSize, 5> kWholeSizes = {
    {{32, 2}, {64, 4}, {96, 3, true}, {224, 5, true}, {512, 6}}};

/// Whether the template arguments of the case contain `text`.
inline bool is_type(const Case& run, const char* text) {
  return run.entry().type.find(text) != std::string::npos;
}

/// A template argument of the vertex class.
inline std::string type_argument(const Case& run, std::size_t index) {
  const std::string& type = run.entry().type;
  std::size_t from = type.find('<') + 1;
  for (std::size_t i = 0; i < index; ++i) from = type.find(',', from) + 1;
  return type.substr(from, type.find_first_of(",>", from) - from);
}

inline unsigned type_number(const Case& run, std::size_t index) {
  return static_cast<unsigned>(std::stoul(type_argument(run, index)));
}

/// Gives a field rows of whole numbers in [-2, 2]: their sums of products are exact in any order.
inline void small_integers(Case& run, const char* name, const std::vector<std::size_t>& sizes) {
  std::vector<std::vector<double>> rows;
  for (const std::size_t size : sizes) {
    std::vector<double>& row = rows.emplace_back();
    for (std::size_t i = 0; i < size; ++i) row.push_back(double(run.pick(5)) - 2);
  }
  run.element_rows(name, rows);
}

/// First item and number of items of one of six workers.
struct WorkerShare {
  std::size_t begin;
  std::size_t count;
};
inline constexpr std::size_t kWorkers = 6;
inline WorkerShare worker_share(std::size_t items, std::size_t worker) {
  const std::size_t each = items / kWorkers;
  const std::size_t more = items % kWorkers;
  return {worker * each + std::min(worker, more), each + (worker < more ? 1 : 0)};
}

/// Lengths of the rows of a vector of vectors.
inline std::vector<std::size_t> row_lengths(const Case& run, std::size_t n) {
  if (run.whole()) return std::vector<std::size_t>(run.whole_rows, n / kWorkers);
  return {n, 1, n + 5, 4, 2 * n};
}

/// Gives each field that has no elements yet random ones of [low, high]: n to vectors, row_lengths
/// to vectors of vectors, one to pointers.
inline void fill_rest(Case& run, std::size_t n, double low, double high) {
  for (const FieldState& state : run.states()) {
    const Field& field = *state.field;
    if (!state.rows.empty()) continue;
    const bool flags = field.element == Element::kBool;
    const double from = flags ? 0 : low;
    const double to = flags ? 1 : high;
    if (field.shape == Shape::kPointer) {
      run.random(field.name, {1}, from, to);
    } else if (field.shape == Shape::kVector) {
      run.random(field.name, {n}, from, to);
    } else {
      run.random(field.name, row_lengths(run, n), from, to);
    }
  }
}

}  // namespace superstep::poplibs
