#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/cost/costs.h"
#include "compiler/graph/graph.h"
#include "compiler/program/layout.h"
#include "compiler/program/program.h"
#include "compiler/program/step_order.h"

namespace superstep {

/// When a buffer holds its value: after the compute sets of `superstep` up to those of `round`.
struct Time {
  std::uint32_t superstep = 0;
  std::uint32_t round = 0;
  auto operator<=>(const Time&) const = default;

  /// The next round of the same superstep: for work on what its own tile holds.
  [[nodiscard]] Time next_round() const { return {superstep, round + 1}; }
  /// The first round after the next exchange.
  [[nodiscard]] Time after_exchange() const { return {superstep + 1, 0}; }
};

/// Collects buffers and timed work in any order, and puts them into supersteps at the end.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const MachineConfig& machine)
      : machine_(machine), costs_(machine), layouts_(machine) {}

  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  [[nodiscard]] const Costs& costs() const { return costs_; }
  Layouts& layouts() { return layouts_; }

  BufferId add_buffer(Buffer buffer);
  [[nodiscard]] const Buffer& buffer(BufferId id) const { return program_.buffers[index(id)]; }
  Buffer& mutable_buffer(BufferId id) { return program_.buffers[index(id)]; }

  /// The number of a codelet; `key` is equal for equal specs.
  std::uint32_t add_codelet(const std::string& key, vertex::Vertex kind);

  /// Words that move in the exchange before the compute sets of `superstep`.
  void add_movements(std::uint32_t superstep, const Origin& origin,
                     std::vector<Movement> movements);

  /// A compute set of round `time`. Within a round, sets run in the order in which they are added,
  /// fused elementwise groups (`last`) after all others.
  void add_compute(Time time, ComputeSet set, bool last = false);

  void add_event(CompileEvent::Kind kind, const Origin& origin, std::string reason,
                 std::string advice = {}) {
    program_.events.push_back(
        {kind, origin.name, origin.source, std::move(reason), std::move(advice)});
  }
  void add_product(PlannedProduct product) { program_.products.push_back(std::move(product)); }

  /// A round after everything so far.
  [[nodiscard]] Time end() const;

  /// Lets `result` be computed in the storage of `argument`, of equal layout, if nothing reads the
  /// argument after that. False changes nothing.
  bool take_storage(BufferId result, BufferId argument);

  /// Everything so far as supersteps; the builder is spent.
  LoweredProgram finish(StepOrder order = StepOrder::kEarliest);

 private:
  struct TimedCompute {
    Time time;
    bool last;
    ComputeSet set;
  };
  /// Order of execution: movements of a superstep come first in it.
  using Position = std::tuple<std::uint32_t, bool, std::uint32_t, bool, std::size_t>;
  [[nodiscard]] Position position(std::size_t compute) const;
  /// What reads or writes a buffer.
  struct Uses {
    std::vector<std::size_t> computes, movements;  ///< numbers in `computes_` and `movements_`
  };
  Uses& uses(BufferId id) { return uses_[index(id)]; }
  [[nodiscard]] const Uses& uses(BufferId id) const { return uses_[index(id)]; }
  [[nodiscard]] bool can_take_storage(BufferId result, BufferId argument) const;
  /// Gives everything another time, so that little is live at once.
  void order_for_least_memory();

  struct TimedMovements {
    std::uint32_t superstep;
    Origin origin;
    std::vector<Movement> movements;
  };

  const MachineConfig& machine_;
  Costs costs_;
  Layouts layouts_;
  LoweredProgram program_;
  std::map<std::string, std::uint32_t> codelets_;
  std::vector<TimedCompute> computes_;
  std::vector<TimedMovements> movements_;
  std::vector<Uses> uses_;  ///< by buffer
};

}  // namespace superstep
