#include "report/counterparts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "report/common_subsequence.h"
#include "report/report.h"

namespace superstep {
namespace {

/// What a report books an operation on, by `kStepGroupings`.
using Groups = std::array<std::string, std::size(kStepGroupings)>;

/// An operation of a program; twice where its words and its results are booked on different groups.
struct Operation {
  std::string name, kind, type, python;
  Groups groups;
};

/// `dot_general.3.arrange` without its numbers, behind the opcode.
std::string kind_of(const FusedOperation& operation) {
  std::string kind = operation.operation + " ";
  for (std::size_t i = 0; i < operation.name.size(); ++i) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (operation.name[i] == '.' && i + 1 < operation.name.size() &&
        is_digit(operation.name[i + 1])) {
      while (i + 1 < operation.name.size() && is_digit(operation.name[i + 1])) ++i;
    } else {
      kind += operation.name[i];
    }
  }
  return kind;
}

/// All of a run's program, fused ones too, in its order.
std::vector<Operation> program_of(const TraceSummary& trace) {
  std::map<std::string, std::string> types;
  for (const TensorInfo& tensor : trace.tensors) types.emplace(tensor.name, tensor.type.text());
  std::vector<Operation> program;
  std::set<std::pair<std::string, Groups>> known;
  for (const StepTotals& step : trace.steps) {
    std::vector<FusedOperation> operations = step.info.fused;
    if (operations.empty())
      operations = {{step.operation_name, step.info.operation, step.info.source, 1}};
    for (const FusedOperation& operation : operations) {
      Groups groups;
      std::ranges::transform(kStepGroupings, groups.begin(),
                             [&](std::string_view by) { return group_of(step, operation, by); });
      if (!known.emplace(operation.name, groups).second) continue;
      const auto type = types.find(operation.name);
      program.push_back({operation.name, kind_of(operation),
                         type == types.end() ? "" : type->second, operation.source.python.text(),
                         std::move(groups)});
    }
  }
  return program;
}

std::size_t names_in(const std::vector<Operation>& program) {
  std::set<std::string_view> names;
  for (const Operation& operation : program) names.insert(operation.name);
  return names.size();
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Pairs pairs_by_name(const std::vector<Operation>& before, const std::vector<Operation>& after) {
  // Of one name those that are booked on the same, before others.
  using Key = std::pair<std::string_view, std::string_view>;
  std::map<Key, std::size_t> known;
  for (std::size_t a = 0; a < before.size(); ++a) {
    known.emplace(Key(before[a].name, before[a].groups[0]), a);
    known.emplace(Key(before[a].name, ""), a);
  }
  Pairs pairs;
  for (std::size_t b = 0; b < after.size(); ++b) {
    auto found = known.find(Key(after[b].name, after[b].groups[0]));
    if (found == known.end()) found = known.find(Key(after[b].name, ""));
    if (found != known.end()) pairs.emplace_back(found->second, b);
  }
  return pairs;
}

Pairs pairs_by_order(const std::vector<Operation>& before, const std::vector<Operation>& after) {
  // [assumed]: one more pair is worth more than a better one, unless several become worse.
  constexpr std::uint32_t kKind = 4, kType = 2, kLine = 1;
  return common_subsequence(before.size(), after.size(), [&](std::size_t a, std::size_t b) {
    const Operation &was = before[a], &is = after[b];
    if (was.kind != is.kind) return 0U;
    return kKind + (!is.type.empty() && was.type == is.type ? kType : 0) +
           (!is.python.empty() && was.python == is.python ? kLine : 0);
  });
}

using NameOf = std::function<const std::string&(const Operation&)>;

/// By name of the later program, what has most operations of each other, each at most once; of
/// equal ones those of one name, then the earlier.
NamesBefore one_to_one(const Pairs& pairs, const std::vector<Operation>& before,
                       const std::vector<Operation>& after, const NameOf& name) {
  struct Shared {
    std::string_view was, is;
    std::int64_t operations = 0;
    std::size_t first = 0;
  };
  std::map<std::pair<std::string_view, std::string_view>, Shared> shared;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string_view was = name(before[pairs[i].first]), is = name(after[pairs[i].second]);
    ++shared.try_emplace({was, is}, Shared{was, is, 0, i}).first->second.operations;
  }
  std::vector<Shared> order;
  for (const auto& [names, both] : shared) order.push_back(both);
  std::ranges::sort(order, std::ranges::less{}, [](const Shared& both) {
    return std::tuple(-both.operations, both.was != both.is, both.first);
  });
  NamesBefore found;
  std::set<std::string_view> taken;
  for (const Shared& both : order) {
    if (found.contains(std::string(both.is)) || !taken.insert(both.was).second) continue;
    found.emplace(both.is, both.was);
  }
  return found;
}

/// Adds operations that are elsewhere in the order of the other program: those of one kind and type
/// whose Python lines are of one another.
void add_moved(const std::vector<Operation>& before, const std::vector<Operation>& after,
               Pairs& pairs) {
  const NamesBefore lines = one_to_one(pairs, before, after, &Operation::python);
  std::vector<bool> was_paired(before.size()), is_paired(after.size());
  for (const auto& [a, b] : pairs) was_paired[a] = is_paired[b] = true;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>,
           std::deque<std::size_t>>
      left;
  for (std::size_t a = 0; a < before.size(); ++a) {
    const Operation& was = before[a];
    if (!was_paired[a] && !was.python.empty()) left[{was.kind, was.type, was.python}].push_back(a);
  }
  for (std::size_t b = 0; b < after.size(); ++b) {
    const auto line = lines.find(after[b].python);
    if (is_paired[b] || line == lines.end()) continue;
    const auto same = left.find({after[b].kind, after[b].type, line->second});
    if (same == left.end() || same->second.empty()) continue;
    pairs.emplace_back(same->second.front(), b);
    same->second.pop_front();
  }
}

}  // namespace

Counterparts counterparts(const TraceSummary& before, const TraceSummary& after) {
  const std::vector<Operation> was = program_of(before), is = program_of(after);
  Counterparts out;
  out.is_same_program =
      !after.program_sha256.empty() && before.program_sha256 == after.program_sha256;
  Pairs pairs = out.is_same_program ? pairs_by_name(was, is) : pairs_by_order(was, is);
  if (!out.is_same_program) add_moved(was, is, pairs);
  out.operations_before = names_in(was);
  out.operations_after = names_in(is);
  for (const auto& [a, b] : pairs) out.operations.emplace(is[b].name, was[a].name);
  for (std::size_t by = 0; by < std::size(kStepGroupings); ++by)
    out.groups[kStepGroupings[by]] = one_to_one(
        pairs, was, is,
        [by](const Operation& operation) -> const std::string& { return operation.groups[by]; });
  return out;
}

}  // namespace superstep
