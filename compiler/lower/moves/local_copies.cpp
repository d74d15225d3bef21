#include "compiler/lower/moves/local_copies.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "compiler/lower/moves/pack.h"
#include "compiler/vertex/append_runs.h"
#include "compiler/vertex/copy_plan.h"

namespace superstep {
namespace {

/// Words of tables and lists above which their size decides [chosen on 10 generated rearrangements
/// on bow and small64: the same device cycles with 8,192 and a million, one takes 12 times as many
/// with 1,024].
constexpr std::uint64_t kMostListWords = 8192;
/// Copies up to which only neighbours are joined [assumed: 50 runs of generated rearrangements,
/// layers and moves on bow and small64 take the same cycles with 0 and 512].
constexpr std::size_t kFewCopies = 64;

}  // namespace

std::vector<LocalCopy> joined(std::vector<LocalCopy> copies) {
  // Few are left as they are, which sends them to workers in their order.
  if (copies.size() > kFewCopies) {
    std::ranges::stable_sort(copies, {}, [](const LocalCopy& copy) {
      return std::tuple(copy.round, copy.from, copy.box.axes, copy.box.from);
    });
  }
  std::vector<LocalCopy> result;
  for (auto first = copies.cbegin(); first != copies.cend();) {
    const auto is_alike = [&](const LocalCopy& copy) {
      return copy.from == first->from && copy.round == first->round &&
             copy.box.axes == first->box.axes;
    };
    auto last = first + 1;
    Axis steps;
    if (last != copies.end() && is_alike(*last)) {
      steps = {1, last->box.from - first->box.from, last->box.to - first->box.to};
    }
    for (; last != copies.end() && is_alike(*last); ++last, ++steps.size) {
      if (last->box.from != first->box.from + steps.size * steps.from ||
          last->box.to != first->box.to + steps.size * steps.to) {
        break;
      }
    }
    LocalCopy copy = *first;
    copy.box.axes.insert(copy.box.axes.begin(), steps);
    copy.box = simplified(std::move(copy.box));
    result.push_back(std::move(copy));
    first = last;
  }
  return result;
}

std::optional<std::vector<AppendedRows>> appended_rows(const std::vector<LocalCopy>& copies,
                                                       std::int64_t element_bytes) {
  struct Placed {
    std::int64_t to;
    AppendedRows run;
  };
  std::vector<Placed> runs;
  for (const LocalCopy& copy : copies) {
    const Box box = simplified(copy.box);
    std::span<const Axis> outer(box.axes);
    AppendedRows run{.from = copy.from, .stride = element_bytes};
    if (!outer.empty() && outer.back().to == element_bytes) {
      run.count = outer.back().size;
      run.stride = outer.back().from;
      outer = outer.first(outer.size() - 1);
    }
    for_each_index(outer, box.from, box.to, [&](std::int64_t from, std::int64_t to) {
      run.at = from;
      runs.push_back({to, run});
    });
  }
  std::ranges::sort(runs, {}, &Placed::to);
  std::vector<AppendedRows> joined;
  std::int64_t at = 0;
  for (const auto& [to, run] : runs) {
    const std::int64_t missing = (to - at) / element_bytes;
    if (missing < 0 || to - at >= kPackedAlignment || (missing > 0 && joined.empty())) {
      return std::nullopt;
    }
    if (missing > 0) {
      joined.push_back({.from = joined.back().from, .count = missing, .at = joined.back().at});
    }
    at = to + run.count * element_bytes;
    if (!joined.empty() && joined.back().from == run.from) {
      AppendedRows& last = joined.back();
      const std::int64_t step = run.at - last.at;
      if (last.rows == 1 && last.count == 1 && run.count == 1) {
        last.stride = step;
        last.count = 2;
        continue;
      }
      if (last.rows == 1 && step == last.count * last.stride &&
          (run.count == 1 || run.stride == last.stride)) {
        last.count += run.count;
        continue;
      }
      if (last.count == run.count && last.stride == run.stride &&
          (last.rows == 1 || step == last.rows * last.row_stride)) {
        if (last.rows == 1) last.row_stride = step;
        ++last.rows;
        continue;
      }
    }
    joined.push_back(run);
  }
  return joined;
}

bool appending_pays(const std::vector<AppendedRows>& appended, const std::vector<LocalCopy>& copies,
                    std::int64_t element_bytes, std::uint32_t workers) {
  std::int64_t rows = 0, elements = 0, boxes = 0;
  for (const AppendedRows& a : appended) {
    rows += a.rows;
    elements += a.rows * a.count;
  }
  const auto bytes = static_cast<std::uint32_t>(element_bytes);
  const std::uint64_t slots =
      vertex::append_slots(bytes, appended.size(), static_cast<std::uint64_t>(rows),
                           static_cast<std::uint64_t>(elements)) /
      workers;
  const std::uint64_t words = 2 * vertex::kAppendCommandWords * appended.size();
  const auto box_words = [](std::int64_t count) {
    return vertex::kCopyBoxWords * static_cast<std::uint64_t>(count);
  };
  std::map<std::uint32_t, std::vector<std::uint32_t>> tables;
  for (const LocalCopy& copy : copies) {
    Box box = copy.box;
    const std::uint32_t unit = in_units(box, element_bytes);
    const std::size_t outer = box.axes.size() - std::min(box.axes.size(), kBoxAxes);
    std::int64_t here = 1;
    for (std::size_t d = 0; d < outer; ++d) here *= box.axes[d].size;
    boxes += here;
    if (box_words(boxes) > kMostListWords && words < box_words(boxes)) return true;
    append_boxes(box, [&](const BoxRow& row) {
      std::vector<std::uint32_t>& table = tables[unit];
      for (const std::int64_t word : {row.to, row.from}) {
        table.push_back(static_cast<std::uint32_t>(word));
      }
      for (const auto field : {&Axis::size, &Axis::to, &Axis::from}) {
        for (const Axis& axis : row.axes) table.push_back(static_cast<std::uint32_t>(axis.*field));
      }
      table.push_back(0);
    });
  }
  std::uint64_t others = 0, list_words = 0;
  for (const auto& [unit, table] : tables) {
    const vertex::CopyPlan plan = vertex::plan_copies(table, unit, workers);
    others += std::ranges::max(plan.slots);
    for (const auto& list : plan.lists) list_words += list.size();
  }
  list_words += box_words(boxes);
  if (std::max(words, list_words) > kMostListWords) return words < list_words;
  return slots < others;
}

std::vector<LocalCopy> in_single_boxes(const std::vector<LocalCopy>& copies,
                                       std::int64_t element_bytes) {
  std::vector<LocalCopy> result;
  for (const LocalCopy& copy : copies) {
    const std::span<const Axis> axes(copy.box.axes);
    Box box = copy.box;
    if (element_bytes == 4 || axes.size() <= kBoxAxes || in_units(box, element_bytes) == 4) {
      result.push_back(copy);
      continue;
    }
    const Axes inner(axes.end() - kBoxAxes, axes.end());
    for_each_index(axes.first(axes.size() - kBoxAxes), box.from, box.to,
                   [&](std::int64_t from, std::int64_t to) {
                     result.push_back({copy.from, {from, to, inner}, copy.round});
                   });
  }
  return result;
}

void append_boxes(const Box& box, const std::function<void(const BoxRow&)>& visit) {
  const std::size_t rank = box.axes.size();
  const std::size_t outer = rank - std::min(rank, kBoxAxes);
  const std::span<const Axis> axes(box.axes);
  BoxRow row;
  std::ranges::copy(axes.subspan(outer),
                    row.axes.end() - static_cast<std::ptrdiff_t>(rank - outer));
  for_each_index(axes.first(outer), box.from, box.to, [&](std::int64_t from, std::int64_t to) {
    row.from = from;
    row.to = to;
    visit(row);
  });
}

std::uint32_t in_units(Box& box, std::int64_t element_bytes) {
  bool whole = element_bytes < 4 && box.from % 4 == 0 && box.to % 4 == 0 && !box.axes.empty();
  if (whole) {
    Axis& inner = box.axes.back();
    whole = inner.from == element_bytes && inner.to == element_bytes &&
            inner.size * element_bytes % 4 == 0;
    for (std::size_t d = 0; d + 1 < box.axes.size(); ++d) {
      whole = whole && box.axes[d].from % 4 == 0 && box.axes[d].to % 4 == 0;
    }
  }
  if (!whole) return static_cast<std::uint32_t>(element_bytes);
  Axis& inner = box.axes.back();
  inner = {inner.size * element_bytes / 4, 4, 4};
  return 4;
}

}  // namespace superstep
