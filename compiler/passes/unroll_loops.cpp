#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// Trips of a loop that is unrolled, and ops of all of them together [assumed; JAX's Threefry has a
/// loop of five trips].
constexpr std::size_t kMostTrips = 8;
constexpr std::size_t kMostOps = 512;
/// Of a value that is followed from trip to trip [assumed; keys and rotations of Threefry have
/// four].
constexpr std::int64_t kMostElements = 64;

/// What is known of values, of some or of none.
using Known = std::vector<std::optional<HostTensor>>;

/// What is known of the results of a region whose arguments are known as far as they are.
Known results_of(const Graph& region, const Known& arguments) {
  Known values(region.values().size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values[index(region.arguments()[i])] = arguments[i];
  }
  for (const Op& op : region.ops()) {
    const bool is_known =
        !has_effect(op) && !op.definition->traits.is_opaque &&
        std::ranges::all_of(op.operands, [&](ValueId v) { return values[index(v)].has_value(); }) &&
        std::ranges::all_of(op.results,
                            [&](ValueId v) { return region.type(v).elements() <= kMostElements; });
    if (!is_known) continue;
    std::vector<HostTensor> operands;
    for (const ValueId operand : op.operands) operands.push_back(*values[index(operand)]);
    std::vector<HostTensor> results = op.definition->evaluate(op, operands);
    for (std::size_t i = 0; i < results.size(); ++i) {
      values[index(op.results[i])] = std::move(results[i]);
    }
  }
  Known results;
  for (const ValueId result : region.results()) results.push_back(values[index(result)]);
  return results;
}

/// How often the body runs, if that is known and not too often.
std::optional<std::size_t> trips_of(const Op& loop, Known carried) {
  for (std::size_t trips = 0; trips <= kMostTrips; ++trips) {
    const std::optional<HostTensor> goes_on = results_of(loop.regions[0], carried)[0];
    if (!goes_on) return std::nullopt;
    if (goes_on->get<std::uint8_t>(0) == 0) return trips;
    Known next = results_of(loop.regions[1], carried);
    std::ranges::move(next, carried.begin());
  }
  return std::nullopt;
}

/// Ops that are fused, or become known, where they are not in a loop.
bool is_light(const Graph& body) {
  return std::ranges::all_of(body.ops(), [&](const Op& op) {
    return op.regions.empty() && !has_effect(op) && !op.definition->traits.is_opaque &&
           lowering_as<StepLowering>(op, body) == nullptr;
  });
}

/// How often to repeat the body of a loop in its place.
std::optional<std::size_t> unrolled_trips(const Graph& graph, const Op& op) {
  if (op.definition->traits.control != Control::kLoop || !is_light(op.regions[1])) {
    return std::nullopt;
  }
  Known carried;
  bool has_table = false;
  for (const ValueId operand : op.operands) {
    const std::int64_t elements = graph.type(operand).elements();
    carried.push_back(elements <= kMostElements ? constant_value(graph, operand) : std::nullopt);
    has_table = has_table || (carried.back() && elements > 1);
  }
  if (!has_table) return std::nullopt;
  const std::optional<std::size_t> trips = trips_of(op, std::move(carried));
  const bool is_short = trips && *trips * op.regions[1].ops().size() <= kMostOps;
  return is_short ? trips : std::nullopt;
}

/// Appends a region whose arguments are `values`, the first of which become its results.
void append_body(Rewrite& rewrite, const Graph& body, std::vector<ValueId>& values) {
  std::vector<ValueId> made(body.values().size());
  for (std::size_t i = 0; i < values.size(); ++i) made[index(body.arguments()[i])] = values[i];
  for (const Op& op : body.ops()) rewrite.append(op, made);
  for (std::size_t i = 0; i < body.results().size(); ++i) {
    values[i] = made[index(body.results()[i])];
  }
}

Graph unroll(const Graph& graph) {
  Rewrite rewrite(graph);
  for (const Op& op : graph.ops()) {
    const std::optional<std::size_t> trips = unrolled_trips(graph, op);
    if (!trips) {
      rewrite.add(op, rewrite.translated(op));
      continue;
    }
    std::vector<ValueId> values;
    for (const ValueId operand : op.operands) values.push_back(rewrite.of(operand));
    for (std::size_t t = 0; t < *trips; ++t) append_body(rewrite, op.regions[1], values);
    for (std::size_t i = 0; i < op.results.size(); ++i) rewrite.replace(op.results[i], values[i]);
  }
  return rewrite.finish();
}

}  // namespace

Graph unroll_loops(Graph graph) {
  return apply_with_regions(std::move(graph), [](const Graph& of) { return unroll(of); });
}

}  // namespace superstep
