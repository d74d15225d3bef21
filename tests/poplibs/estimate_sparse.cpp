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

std::vector<unsigned> numbers(const Case& run, std::string_view name) {
  const FieldState& state = *find(run, name);
  const std::vector<std::uint8_t>& bytes = state.rows.at(0).bytes;
  std::vector<unsigned> all;
  for (std::size_t i = 0; i < bytes.size() / state.field->element_bytes; ++i) {
    all.push_back(static_cast<unsigned>(run.element(state, bytes, i)));
  }
  return all;
}

/// A row of a product with single values of k values, for z columns (below: of all rows). PopLibs
/// has no estimator for static vertices, but its planner has costs for them
/// (lib/popsparse/StaticMatMulPartitioner.cpp).
struct RowCost {
  unsigned once, row, value;
};
RowCost static_row(bool halves, unsigned z) {
  if (halves) {
    if (z == 4) return {31, 5, 2};
    if (z == 8) return {31, 5, 3};
    const unsigned whole = z / 8;
    const unsigned rest = z % 8 != 0 ? 1 : 0;
    return {33, 11 + whole * 11 + rest * 7, whole * 3 + rest * 2};
  }
  if (z == 2) return {29, 3, 2};
  if (z == 4) return {30, 3, 3};
  const unsigned whole = z / 4;
  const unsigned rest = z % 4 != 0 ? 1 : 0;
  return {31, 12 + whole * 7 + rest * 8, whole * 3 + rest * 2};
}

/// Six times the slots of the worker with most.
std::uint64_t estimate_static_elements(const Case& run) {
  constexpr std::size_t kEntry = 6;  // rows, first row, values before, columns, first column, row
  const bool halves = run.entry().type.find("half") != std::string::npos;
  const std::vector<unsigned> work = numbers(run, "workList");
  std::uint64_t most = 0;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    const unsigned* entry = &work[kEntry * worker];
    const RowCost cost = static_row(halves, entry[3]);
    std::uint64_t slots = cost.once;
    std::size_t at = entry[1];
    for (unsigned row = 0; row < entry[0]; ++row) {
      const unsigned values = work[at] + (halves ? 1 : 0);
      slots += cost.row + values * cost.value;
      at += 1 + values;
    }
    if (entry[0] != 0) most = std::max(most, slots);
  }
  return most * kWorkers;
}

/// Slots of a worker for a block and n columns, for each row of blocks and once.
struct BlockCost {
  unsigned once, row, block;
};
BlockCost static_block(bool halves, unsigned side, unsigned n) {
  const unsigned more = n - 1;
  if (side == 4) {
    return halves ? BlockCost{17, 1, n <= 2 ? 7 + n : 13 + n} : BlockCost{13, 1, 12 + 4 * more};
  }
  if (side == 8) return halves ? BlockCost{13, 1, 14 + 2 * more} : BlockCost{13, 4, 19 + 8 * more};
  if (halves) return {13, 1, 19 + 4 * more};
  return {16, 4, n == 1 ? 58 : 2 * (37 + 8 * more)};
}

std::uint64_t estimate_static_blocks(const Case& run) {
  const std::string_view type = run.entry().type;
  const bool halves = type.find("half") != type.npos;
  const unsigned side = type.find("16,16") != type.npos ? 16
                        : type.find("8,8") != type.npos ? 8
                                                        : 4;
  const std::vector<unsigned> meta = numbers(run, "metaInfo");
  unsigned columns = 0;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    columns = std::max(columns, meta[2 * worker + 1]);
  }
  const BlockCost cost = static_block(halves, side, columns);
  const unsigned load = side * side * (halves ? 2 : 4) / 8;
  std::uint64_t clocks = 30 + cost.once * kWorkers;
  std::size_t at = 2 * kWorkers;
  for (unsigned left = meta[at++] + 1; left > 0; --left) {
    const unsigned blocks = meta[at + 1] + 1;
    clocks += cost.row * kWorkers + 17 + blocks * (16 + load + cost.block * kWorkers);
    at += 2 + blocks;
  }
  if (!halves && side != 4) {
    // These clear their results first.
    constexpr std::uint64_t kOnce = 12;
    const std::uint64_t vectors = number(run, "zeroInfo");
    clocks += (kOnce + (vectors + kWorkers - 1) / kWorkers) * kWorkers;
  }
  return clocks;
}

}  // namespace

std::optional<std::uint64_t> estimate_sparse(const Case& run) {
  const std::string_view type = run.entry().type;
  if (type.starts_with("popsparse::StaticSparseDenseElementWise")) {
    return estimate_static_elements(run);
  }
  if (type.starts_with("popsparse::StaticSparseDenseMatMulBlock")) {
    return estimate_static_blocks(run);
  }
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
