#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/cost/costs.h"
#include "compiler/graph/graph.h"
#include "compiler/program/blocks.h"
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

/// Collects buffers and timed work of a block in any order, and puts them into steps at the end.
/// The builders of all blocks of a program share buffers, codelets and layouts.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const MachineConfig& machine)
      : shared_(std::make_shared<Shared>(machine)) {}
  /// For a block inside of that of `outer`.
  explicit ProgramBuilder(const ProgramBuilder* outer) : shared_(outer->shared_) {}

  [[nodiscard]] const MachineConfig& machine() const { return shared_->machine; }
  [[nodiscard]] const Costs& costs() const { return shared_->costs; }
  Layouts& layouts() { return shared_->layouts; }

  BufferId add_buffer(Buffer buffer);
  [[nodiscard]] const Buffer& buffer(BufferId id) const { return program().buffers[index(id)]; }
  Buffer& mutable_buffer(BufferId id) { return program().buffers[index(id)]; }

  /// The number of a codelet; `key` is equal for equal specs.
  std::uint32_t add_codelet(const std::string& key, vertex::Vertex kind);

  /// Words that move in the exchange before the compute sets of `superstep`.
  void add_movements(std::uint32_t superstep, const Origin& origin,
                     std::vector<Movement> movements);

  /// A compute set of round `time`. Within a round, sets run in the order in which they are added,
  /// fused elementwise groups (`last`) after all others.
  void add_compute(Time time, ComputeSet set, bool last = false);

  /// A loop, a branch or a visit to the host after everything before a superstep and before its
  /// exchange: `superstep`, or a later one where visits must keep their order. Which one it is.
  std::uint32_t add_control(std::uint32_t superstep, Step control);

  void add_event(CompileEvent::Kind kind, const Origin& origin, std::string reason,
                 std::string advice = {}) {
    program().events.push_back(
        {kind, origin.name, origin.source, std::move(reason), std::move(advice)});
  }
  void add_product(PlannedProduct product) { program().products.push_back(std::move(product)); }
  /// Of the next product, in all blocks together.
  [[nodiscard]] std::size_t product_number() const { return program().products.size(); }

  /// A round after everything so far.
  [[nodiscard]] Time end() const;

  /// Lets `result` be computed in the storage of `argument`, of equal layout, if nothing reads or
  /// writes the argument after that. False changes nothing.
  bool take_storage(BufferId result, BufferId argument);

  /// Moves what needs nothing `changing` in front of a loop of which this is the body: into the
  /// block of `outer`, from `superstep` on. Nothing moves if that would take too much memory. The
  /// superstep behind it.
  std::uint32_t hoist_invariants(ProgramBuilder& outer, std::uint32_t superstep,
                                 std::set<BufferId> changing);

  /// Everything so far as steps in order; the builder is spent.
  Block finish_block(StepOrder order);
  /// The program whose main block this is.
  LoweredProgram finish(StepOrder order);

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
  Uses& uses(BufferId id);
  [[nodiscard]] bool can_take_storage(BufferId result, BufferId argument);
  /// Gives everything another time, so that little is live at once.
  void order_for_least_memory();
  /// Gives what nobody waits for a later time, where that takes fewer cycles.
  void balance();

  struct TimedMovements {
    std::uint32_t superstep;
    Origin origin;
    std::vector<Movement> movements;
  };

  static UsedBuffers buffers_of_movements(const TimedMovements& movements);

  struct TimedControl {
    std::uint32_t superstep;
    Step step;
    UsedBuffers used;
  };
  /// Those of a superstep in this order.
  enum class StepKind : std::uint8_t { kControl, kMovements, kCompute };
  /// A loop, branch or visit, a group of movements or a compute set.
  struct OrderedStep {
    std::tuple<std::uint32_t, StepKind, std::uint32_t, bool>
        at;                  ///< superstep, kind, round, and whether it is the last of the round
    std::size_t number = 0;  ///< among those of its kind
    UsedBuffers used;
  };
  /// All steps in order of execution.
  [[nodiscard]] std::vector<OrderedStep> ordered_steps() const;
  /// What all visits to the host write, so that they keep their order.
  BufferId order_of_visits();
  struct Shared {
    explicit Shared(const MachineConfig& on) : machine(on), costs(on), layouts(on) {}

    const MachineConfig& machine;
    Costs costs;
    Layouts layouts;
    LoweredProgram program;
    std::map<std::string, std::uint32_t> codelets;
    std::optional<BufferId> order_of_visits;
  };
  [[nodiscard]] LoweredProgram& program() { return shared_->program; }
  [[nodiscard]] const LoweredProgram& program() const { return shared_->program; }

  std::shared_ptr<Shared> shared_;
  std::vector<TimedCompute> computes_;
  std::vector<TimedMovements> movements_;
  std::vector<TimedControl> controls_;
  std::vector<Uses> uses_;        ///< by buffer
  std::uint32_t last_visit_ = 0;  ///< superstep of the last one so far
};

}  // namespace superstep
