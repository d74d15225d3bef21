#include "tests/poplibs/estimate_sparse.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include <poplar/Type.hpp>

#include "PerformanceEstimation.hpp"

namespace superstep::poplibs {
namespace {

constexpr unsigned kWorkers = 6;
using Meta = std::vector<std::uint16_t>;

/// Of the rows that a worker, or all workers, go through: how many values or blocks are in each.
using Counts = std::vector<unsigned>;

/// The sub-groups of a bucket.
struct Groups {
  unsigned number = 0;
  unsigned own_number = 0;  ///< of the vertex
  std::size_t own = 0;      ///< where the last one of these begins
};

const FieldState* find(const Case& run, std::string_view name) {
  for (const FieldState& state : run.states()) {
    if (state.field->name == name) return &state;
  }
  return nullptr;
}

unsigned number(const Case& run, std::string_view name) {
  const FieldState& state = *find(run, name);
  return static_cast<unsigned>(run.element(state, state.rows.at(0).bytes, 0));
}

Groups groups_of(const Meta& meta, unsigned id) {
  constexpr std::size_t kToNext = 4;
  Groups groups;
  for (std::size_t at = 0; meta[at] != 0; at += meta[at + kToNext]) {
    ++groups.number;
    if (meta[at] != id) continue;
    groups.own = at;
    ++groups.own_number;
  }
  return groups;
}

/// Rows from `at` on: place in the result, number of values less `more`, `words` for each value.
Counts rows_from(const Meta& meta, std::size_t at, std::size_t rows, unsigned more,
                 std::size_t words) {
  Counts counts;
  for (std::size_t row = 0; row < rows; ++row) {
    counts.push_back(meta[at + 1] + more);
    at += 2 + counts.back() * words;
  }
  return counts;
}

/// The rows of a GradW worker, the first and the last one in part.
Counts gradient_rows(const Meta& meta, std::size_t worker, unsigned more) {
  Counts counts;
  std::size_t at = worker + meta[worker + 1];
  unsigned skipped = meta[worker + 2];
  for (unsigned left = meta[worker + 3]; left > 0; left -= counts.back(), skipped = 0) {
    const unsigned all = meta[at + 1] + more;
    counts.push_back(std::min(all - skipped, left));
    at += 2 + all;
  }
  return counts;
}

}  // namespace

std::optional<std::uint64_t> estimate_sparse(const Case& run) {
  const std::string_view type = run.entry().type;
  const auto is = [&](std::string_view text) { return type.find(text) != type.npos; };
  const FieldState* meta_state = find(run, "metaInfo");
  const FieldState* id_state = find(run, "subGroupIdToProcess");
  if (meta_state == nullptr || id_state == nullptr || meta_state->rows.size() != 1 ||
      number(run, "zeroInfo") != 0) {
    return std::nullopt;
  }
  Meta meta(meta_state->rows[0].bytes.size() / 2);
  std::memcpy(meta.data(), meta_state->rows[0].bytes.data(), 2 * meta.size());
  const Groups groups = groups_of(meta, number(run, "subGroupIdToProcess"));
  if (groups.own_number != 1) return std::nullopt;
  const std::uint16_t* own = &meta[groups.own];
  const bool floats = is("<float,");
  const bool float_partials = is("float,float") || is("half,float");

  // All functions are affine in rows: what one row of each length adds is added up.
  using Cost = std::function<std::uint64_t(unsigned rows, const Counts& values)>;
  const auto total = [&](const Cost& cost, const std::vector<Counts>& workers) {
    const std::uint64_t base = cost(0, {});
    std::uint64_t most = 0;
    for (const Counts& rows : workers) {
      std::uint64_t sum = 0;
      for (const unsigned values : rows) sum += cost(1, {values}) - base;
      most = std::max(most, sum);
    }
    return base + most;
  };

  std::vector<Counts> workers;
  if (is("Block")) {
    const unsigned side = is(",16,16>") ? 16 : is(",8,8>") ? 8 : 4;
    const unsigned units = floats || float_partials ? 8 : 16;
    const std::size_t first = groups.own + 7 + 4 * own[6];
    if (is("AmpGradW")) {
      const Counts rows = rows_from(meta, first, own[5] + 1U, 1, 1);
      return total(
          [&](unsigned x, const Counts& y) {
            return sparseDenseBlockMultiplyGradWAmp(
                1, 1, groups.number, std::max(x, 1U), number(run, "numZ"), side, side,
                x == 0 ? Counts() : y, floats, float_partials, kWorkers, units);
          },
          {rows});
    }
    if (is("GradW")) {
      for (std::size_t worker = 0; worker < own[6]; ++worker) {
        workers.push_back(gradient_rows(meta, groups.own + 7 + 4 * worker, 1));
      }
      return total(
          [&](unsigned x, const Counts& y) {
            return sparseDenseBlockMultiplyGradW(1, 1, groups.number, x, number(run, "numZ"), side,
                                                 side, y, floats, float_partials, kWorkers);
          },
          workers);
    }
    unsigned z = 0;
    const FieldState& work = *find(run, "offsetAndNumZByWorker");
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      z = std::max(z, unsigned(run.element(work, work.rows[0].bytes, 2 * worker + 1)));
    }
    return total(
        [&](unsigned x, const Counts& y) {
          return sparseDenseBlockMultiply(1, 1, groups.number, x, z, side, side, y, floats,
                                          float_partials, kWorkers, units, !is("GradA"));
        },
        {rows_from(meta, first, own[5] + 1U, 1, 1)});
  }
  if (is("GradW")) {
    const std::size_t list = groups.own + 9 + 5 * own[8];
    for (std::size_t worker = 0; worker < meta[list]; ++worker) {
      workers.push_back(gradient_rows(meta, list + 1 + 4 * worker, 0));
    }
    return total(
        [&](unsigned x, const Counts& y) {
          return sparseDenseGradWElementwiseMultiply(1, 1, groups.number, x, number(run, "numZ"), y,
                                                     floats, true, kWorkers);
        },
        workers);
  }
  if (is("Transpose")) {
    return total(
        [&](unsigned x, const Counts& y) {
          return sparseDenseTransposeElementwiseMultiply(1, 1, groups.number, x, own[5], y, floats,
                                                         true, kWorkers);
        },
        {rows_from(meta, groups.own + own[7], own[6] + 1U, 0, 1)});
  }
  const bool gradient = is("GradA");
  std::uint64_t most = 0;
  for (std::size_t worker = 0; worker < own[8]; ++worker) {
    const std::size_t entry = groups.own + 9 + 5 * worker;
    const unsigned z = meta[entry + 1];
    const auto cost = [&](unsigned x, const Counts& y) {
      return gradient ? sparseDenseGradAElementwiseMultiply(1, 1, groups.number, x, z, y, floats,
                                                            true, kWorkers)
                      : sparseDenseElementwiseMultiply(1, 1, groups.number, x, z, y, floats, true,
                                                       kWorkers);
    };
    most = std::max(most, total(cost, {rows_from(meta, entry + meta[entry + 4],
                                                 meta[entry + 3] + 1U, 0, gradient ? 2 : 1)}));
  }
  return most;
}

}  // namespace superstep::poplibs
