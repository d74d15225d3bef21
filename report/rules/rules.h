#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/insights.h"
#include "report/numbers.h"

namespace superstep {

// What the rules of `insight_rules` do, each as `InsightRule::find`.

[[nodiscard]] std::optional<double> find_imbalance(const RuleInput& input);
[[nodiscard]] std::optional<double> find_exchange(const RuleInput& input);
[[nodiscard]] std::optional<double> find_exchange_latency(const RuleInput& input);
[[nodiscard]] std::optional<double> find_sync(const RuleInput& input);
[[nodiscard]] std::optional<double> find_host(const RuleInput& input);
[[nodiscard]] std::optional<double> find_idle_tiles(const RuleInput& input);
[[nodiscard]] std::optional<double> find_hot_receiver(const RuleInput& input);
[[nodiscard]] std::optional<double> find_near_full(const RuleInput& input);
[[nodiscard]] std::optional<double> find_memory_peak(const RuleInput& input);
[[nodiscard]] std::optional<double> find_exchange_code(const RuleInput& input);
[[nodiscard]] std::optional<double> find_uneven_workers(const RuleInput& input);
[[nodiscard]] std::optional<double> find_few_flops(const RuleInput& input);
[[nodiscard]] std::optional<double> find_plan(const RuleInput& input);
[[nodiscard]] std::optional<double> find_prediction(const RuleInput& input);
[[nodiscard]] std::optional<double> find_assumed(const RuleInput& input);

// What rules also ask for [assumed].

/// Fewer useful operations in a slot than this share of a vector's elements are few.
constexpr double kFewFlops = 0.25;
/// Fewer of the tiles with a program than this share leave some idle.
constexpr double kNearlyAll = 0.90;
/// Of device cycles, below which it does not matter where the words of exchanges go.
constexpr double kMuchExchange = 0.10;
/// Of a tile's memory, below which no step of the program is said to be a peak.
constexpr double kMuchMemory = 0.20;

[[nodiscard]] inline int percent(double share) {
  return static_cast<int>(std::lround(100 * share));
}

/// Says what is so, with the rule's advice, or another.
inline void say(const RuleInput& input, std::string found, Cycles cycles = {},
                std::string operation = {}, std::optional<std::string> advice = {}) {
  input.insights.push_back({input.rule.name, std::move(found),
                            advice ? std::move(*advice) : std::string(input.rule.advice),
                            std::move(operation), cycles});
}

/// The step for which `cost` is greatest, and the sum over all.
struct StepCosts {
  const StepTotals* most = nullptr;
  Cycles of_most, sum;
};
template <class Cost>
[[nodiscard]] StepCosts costs(const TraceSummary& t, const Cost& cost) {
  StepCosts out;
  for (const StepTotals& step : t.steps) {
    const Cycles of_step = cost(step);
    out.sum += of_step;
    if (of_step > out.of_most) {
      out.most = &step;
      out.of_most = of_step;
    }
  }
  return out;
}

/// The name of a row of /program/operation.
[[nodiscard]] std::string name_of_operation(const TraceFile& file, std::uint32_t number);

}  // namespace superstep
