#include "compiler/program/trips.h"

#include <algorithm>

namespace superstep {
namespace {

using vertex::Expression;
using vertex::Primitive;
using vertex::Scalars;

const Expression::Step& step_of(const Scalars& scalars, std::uint32_t node) {
  return scalars.expression.steps()[node];
}

/// The number that a node always is.
std::optional<std::int64_t> constant(const Scalars& scalars, std::uint32_t node) {
  const Expression::Step& step = step_of(scalars, node);
  if (step.primitive != Primitive::kConstant) return std::nullopt;
  const auto bits = static_cast<std::uint32_t>(step.bits);
  if (step.dtype == DType::kI32) return static_cast<std::int32_t>(bits);
  return step.dtype == DType::kU32 ? std::optional<std::int64_t>(bits) : std::nullopt;
}

/// What each trip adds to a word, before it is compared.
struct Counter {
  BufferId word{};
  std::int64_t change = 0;
};

std::optional<Counter> counter(const Scalars& scalars, std::uint32_t node) {
  const Expression::Step& sum = step_of(scalars, node);
  if (sum.primitive != Primitive::kAdd && sum.primitive != Primitive::kSub) return std::nullopt;
  for (const std::size_t word : {0U, 1U}) {
    const Expression::Step& input = step_of(scalars, sum.operands[word]);
    const auto change = constant(scalars, sum.operands[1 - word]);
    if (input.primitive != Primitive::kInput || !change) continue;
    if (sum.primitive == Primitive::kAdd) return Counter{scalars.inputs[input.bits], *change};
    if (word == 0) return Counter{scalars.inputs[input.bits], -*change};
  }
  return std::nullopt;
}

/// The number that a loop stores in a word before its first trip.
std::optional<std::int64_t> first_value(const Loop& loop, BufferId word) {
  const auto store = std::ranges::find(loop.entry.stores, word, &Scalars::Store::to);
  return store == loop.entry.stores.end() ? std::nullopt : constant(loop.entry, store->value.id);
}

bool is_written(const Loop& loop, BufferId word, std::uint32_t as) {
  return std::ranges::any_of(loop.step.stores, [&](const Scalars::Store& store) {
    return store.to == word && store.value.id == as;
  });
}

/// The comparison with its operands exchanged.
Primitive mirrored(Primitive compare) {
  switch (compare) {
    case Primitive::kLt:
      return Primitive::kGt;
    case Primitive::kLe:
      return Primitive::kGe;
    case Primitive::kGt:
      return Primitive::kLt;
    case Primitive::kGe:
      return Primitive::kLe;
    default:
      return compare;
  }
}

/// How often `first`, then `first + change` and so on, hold against `bound`, one after another;
/// empty where they never cease to before they leave the numbers that a word has.
std::optional<std::uint64_t> count(Primitive compare, std::int64_t first, std::int64_t change,
                                   std::int64_t bound, DType dtype) {
  if (!holds(compare, first, bound)) return 0;
  const std::int64_t way = bound - first;
  if (change == 0 || (way != 0 && (way < 0) != (change < 0))) return std::nullopt;
  const bool includes_bound = compare == Primitive::kLe || compare == Primitive::kGe;
  if (compare == Primitive::kNe && way % change != 0) return std::nullopt;
  const std::int64_t trips = includes_bound ? way / change + 1 : way / change + (way % change != 0);
  const std::int64_t last = first + trips * change;
  const std::int64_t lowest = dtype == DType::kI32 ? INT32_MIN : 0;
  const std::int64_t highest = dtype == DType::kI32 ? INT32_MAX : std::int64_t{UINT32_MAX};
  if (last < lowest || last > highest) return std::nullopt;
  return static_cast<std::uint64_t>(trips);
}

}  // namespace

std::optional<std::uint64_t> trips_of(const Loop& loop) {
  if (!loop.step.decision) return std::nullopt;
  const Expression::Step& decision = step_of(loop.step, loop.step.decision->id);
  if (!is_comparison(decision.primitive) || decision.primitive == Primitive::kEq) {
    return std::nullopt;
  }
  for (const std::size_t side : {0U, 1U}) {
    const std::uint32_t next = decision.operands[side];
    const auto counted = counter(loop.step, next);
    const auto bound = constant(loop.step, decision.operands[1 - side]);
    if (!counted || !bound || !is_written(loop, counted->word, next)) continue;
    const auto first = first_value(loop, counted->word);
    if (!first) continue;
    const Primitive compare = side == 0 ? decision.primitive : mirrored(decision.primitive);
    return count(compare, *first, counted->change, *bound, step_of(loop.step, next).dtype);
  }
  return std::nullopt;
}

}  // namespace superstep
