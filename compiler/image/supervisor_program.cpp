#include "compiler/image/supervisor_program.h"

#include <algorithm>
#include <functional>
#include <map>
#include <variant>

#include "base/error.h"
#include "compiler/image/tile_code.h"

namespace superstep {
namespace {

/// Launches of a tile that run at once.
struct LaunchGroup {
  std::uint32_t superstep = 0, set = 0;
  TileCode::AnyLaunch launch;
};

std::vector<LaunchGroup> launch_groups(const SupervisorPlan& plan, const TileProgram& t) {
  std::vector<LaunchGroup> groups;
  const std::uint32_t states = t.state_bytes > 0 ? plan.storage.address(plan.states, t.tile) : 0;
  for (auto launch = t.launches.begin(); launch != t.launches.end();) {
    const auto first = launch++;
    while (launch != t.launches.end() && launch->is_with_previous) ++launch;
    groups.push_back(
        {first->superstep, first->set,
         code_of(t, std::span(first, launch), states, plan.library, plan.machine, plan.storage)});
  }
  return groups;
}

/// Supersteps with nothing between them.
struct Stretch {
  std::uint32_t begin = 0, end = 0;
};

class ProgramEmitter {
 public:
  ProgramEmitter(const SupervisorPlan& plan, std::size_t number, TileProgram& tile,
                 ProgramImage& image)
      : plan_(plan),
        number_(number),
        t_(tile),
        image_(image),
        code_(tile.code),
        groups_(launch_groups(plan, tile)) {
    t_.row_bytes = 0;
  }

  void emit_procedures() {
    for (const Procedure& procedure : plan_.program.procedures) {
      code_.align();
      procedures_.push_back(code_.here());
      const Stretch body{next_, next_ + static_cast<std::uint32_t>(procedure.block.steps.size())};
      next_ = body.end;
      prepare_first(body);
      emit(body, nullptr);
      code_.end_call();
    }
    if (plan_.shares_rows) emit_shared_rows();
    code_.align();
  }

  void emit_main() {
    t_.entry = code_.here();
    // First, so that it is there before the sync that a row may follow at once: setting worker
    // bases waits for later results.
    code_.prepare_trip_count(plan_.storage.address(plan_.trip_count, t_.tile));
    for (std::uint32_t w = 0; w < plan_.machine.tile.workers; ++w) {
      code_.set_worker_base(w, t_.stacks + w * plan_.library.stack_bytes());
    }
    const Stretch first = next_stretch(main(), 0);
    prepare_first(first);
    host_row(plan_.host.first[number_]);
    code_.load_trip_count();
    code_.align();
    loop_ = code_.here();
    emit_steps(main(), &first);
    const std::uint32_t done = code_.branch_if_last();
    host_row(plan_.host.next[number_]);
    code_.next_call(loop_);
    code_.align();
    code_.patch(done, code_.here());
    row(plan_.host.last[number_], kHostStep);
    code_.stop();
    t_.words = code_.words();
    t_.code_bytes = static_cast<std::uint32_t>(t_.words.size()) * 4;
  }

 private:
  [[nodiscard]] const std::vector<Step>& main() const { return plan_.program.main.steps; }

  void mark(std::uint32_t at, std::uint32_t step) { image_.marks.push_back({t_.tile, at, step}); }

  void row(const ExchangeRow& r, std::uint32_t step) {
    SUPERSTEP_CHECK(r.tile == t_.tile, "rows follow the participants");
    t_.row_bytes += static_cast<std::uint32_t>(r.code.size()) * 4;
    mark(code_.row(r.code), step);
  }

  [[nodiscard]] bool begins_with_exchange() const {
    return !main().empty() && std::holds_alternative<Superstep>(main().front()) &&
           !plan_.phases[plan_.first_of_main].rows.empty();
  }

  /// The sync that ends a visit to the host serves an exchange that follows at once.
  void host_row(const ExchangeRow& r) {
    row(r, kHostStep);
    if (begins_with_exchange()) mark(code_.here() - 4, plan_.steps.exchange[plan_.first_of_main]);
  }

  /// The steps of a block. Where the same ones come before and after it, `again` are its first,
  /// which are prepared. Where the last thing is a launch, `meanwhile` is emitted while it runs.
  void emit_steps(const std::vector<Step>& steps, const Stretch* again,
                  const std::function<void()>& meanwhile = {}) {
    for (std::size_t at = 0; at < steps.size();) {
      if (const auto* call = std::get_if<Call>(&steps[at])) {
        const std::uint32_t pc = code_.call(procedures_[index(call->procedure)]);
        image_.calls.push_back({t_.tile, pc, plan_.steps.calls[calls_++]});
        ++at;
      } else if (const auto* loop = std::get_if<Loop>(&steps[at])) {
        emit_loop(*loop);
        ++at;
      } else if (const auto* branch = std::get_if<Branch>(&steps[at])) {
        emit_branch(*branch);
        ++at;
      } else {
        const Stretch stretch = next_stretch(steps, at);
        if (at > 0 || again == nullptr) prepare_first(stretch);
        at += stretch.end - stretch.begin;
        const bool is_last = at == steps.size();
        emit(stretch, is_last ? again : nullptr, is_last ? meanwhile : std::function<void()>());
        next_ = stretch.end;
        if (is_last && !groups_of(stretch).empty()) again = nullptr;
      }
    }
    if (again != nullptr) prepare_first(*again);
  }

  void emit_scalars(const vertex::ScalarCode& code, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto& [word, buffer] = code.instructions[i];
      code_.scalar(word | (buffer ? plan_.storage.address(*buffer, t_.tile) : 0));
    }
  }
  static vertex::ScalarCode code_of(const vertex::Scalars& scalars) {
    auto code = vertex::scalar_code(scalars, supervisor::kScalars);
    SUPERSTEP_CHECK(code.has_value(), "scalars fit in the registers of a supervisor");
    return *std::move(code);
  }
  /// The register of the decision.
  std::uint32_t emit_scalars(const vertex::Scalars& scalars) {
    const vertex::ScalarCode code = code_of(scalars);
    emit_scalars(code, 0, code.instructions.size());
    return code.decision;
  }

  /// The body of a loop, of which `again` are the first supersteps if they are prepared, and its
  /// step; the register of its decision. The step is computed while the last workers run.
  std::uint32_t emit_body(const Loop& loop, const Stretch* again) {
    const vertex::ScalarCode step = code_of(loop.step);
    bool is_computed = false;
    emit_steps(loop.body.steps, again, [&] {
      emit_scalars(step, 0, step.first_store);
      is_computed = true;
    });
    emit_scalars(step, is_computed ? step.first_store : 0, step.instructions.size());
    return step.decision;
  }

  void emit_loop(const Loop& loop) {
    const std::uint32_t first = emit_scalars(loop.entry);
    if (!loop.has_condition()) {
      const std::uint32_t done = code_.branch_if_zero(first);
      const Stretch body = next_stretch(loop.body.steps, 0);
      prepare_first(body);
      code_.align();
      const std::uint32_t head = code_.here();
      code_.branch_if_not_zero(emit_body(loop, &body), head);
      code_.align();
      code_.patch(done, code_.here());
      return;
    }
    code_.align();
    const std::uint32_t head = code_.here();
    emit_steps(loop.condition.steps, nullptr);
    const std::uint32_t done = code_.branch_if_zero(emit_scalars(loop.test));
    emit_body(loop, nullptr);
    code_.jump(head);
    code_.align();
    code_.patch(done, code_.here());
  }

  void emit_branch(const Branch& branch) {
    const std::uint32_t selector = emit_scalars(branch.selector);
    std::vector<std::uint32_t> to_arms, to_end;
    for (std::size_t arm = 0; arm + 1 < branch.arms.size(); ++arm) {
      to_arms.push_back(code_.branch_if_zero(selector));
      if (arm + 2 < branch.arms.size()) code_.decrement(selector);
    }
    // In order, as supersteps are numbered; the last arm is what no branch leads away from.
    to_arms.push_back(code_.jump());
    for (std::size_t arm = 0; arm < branch.arms.size(); ++arm) {
      code_.align();
      code_.patch(to_arms[arm], code_.here());
      emit_steps(branch.arms[arm].steps, nullptr);
      if (arm + 1 < branch.arms.size()) to_end.push_back(code_.jump());
    }
    code_.align();
    for (const std::uint32_t jump : to_end) code_.patch(jump, code_.here());
  }

  /// Rows that `main` has several times, once.
  void emit_shared_rows() {
    std::map<std::vector<std::uint32_t>, std::size_t> uses;
    for (std::size_t s = next_ + 1; s < plan_.phases.size(); ++s) {
      if (!plan_.phases[s].rows.empty()) ++uses[plan_.phases[s].rows[number_].code];
    }
    for (const auto& [words, times] : uses) {
      // In place of each there is a call, and once a return, at even addresses.
      if ((times - 1) * words.size() <= times + 2) continue;
      t_.row_bytes += static_cast<std::uint32_t>(words.size()) * 4;
      const std::uint32_t at = code_.row(words);
      mark(at, 0);
      shared_rows_.emplace(words, at);
      code_.end_call();
    }
  }

  /// The supersteps from step `at` of a block to the next step of another kind.
  [[nodiscard]] Stretch next_stretch(const std::vector<Step>& steps, std::size_t at) const {
    Stretch stretch{next_, next_};
    for (; at < steps.size() && std::holds_alternative<Superstep>(steps[at]); ++at) ++stretch.end;
    return stretch;
  }

  [[nodiscard]] std::span<const LaunchGroup> groups_of(Stretch stretch) const {
    const auto from = [&](std::uint32_t s) {
      return std::ranges::lower_bound(groups_, s, {}, &LaunchGroup::superstep);
    };
    return {from(stretch.begin), from(stretch.end)};
  }

  static std::uint32_t bank(std::size_t group) {
    return static_cast<std::uint32_t>(group) % TileCode::kBanks;
  }

  void prepare_first(Stretch stretch) {
    const std::span<const LaunchGroup> groups = groups_of(stretch);
    if (!groups.empty()) code_.prepare(groups[0].launch, bank(0));
  }

  /// `then` comes after it at once, if it is not null.
  void emit(Stretch stretch, const Stretch* then, const std::function<void()>& meanwhile = {}) {
    const std::span<const LaunchGroup> groups = groups_of(stretch);
    const TileCode::AnyLaunch* last_next = nullptr;
    if (then != nullptr && !groups_of(*then).empty()) last_next = &groups_of(*then)[0].launch;
    std::size_t g = 0;
    for (std::uint32_t s = stretch.begin; s < stretch.end; ++s) {
      emit_exchange(s);
      for (; g < groups.size() && groups[g].superstep == s; ++g) {
        const bool is_last = g + 1 == groups.size();
        const TileCode::AnyLaunch* next = is_last ? last_next : &groups[g + 1].launch;
        const bool is_end = is_last && s + 1 == stretch.end;
        mark(code_.launch(groups[g].launch, bank(g), next, is_last ? 0 : bank(g + 1),
                          is_end ? meanwhile : std::function<void()>()),
             plan_.steps.compute[s] + groups[g].set);
      }
    }
  }

  void emit_exchange(std::uint32_t s) {
    if (plan_.phases[s].rows.empty()) return;
    const ExchangeRow& r = plan_.phases[s].rows[number_];
    if (s == plan_.first_of_main && begins_with_exchange()) {
      loop_ = code_.row_after_sync(r.code);
      return;
    }
    const auto shared = shared_rows_.find(r.code);
    if (shared == shared_rows_.end() || s < plan_.first_of_main) {
      row(r, plan_.steps.exchange[s]);
    } else {
      image_.calls.push_back({t_.tile, code_.call(shared->second), plan_.steps.exchange[s]});
    }
  }

  const SupervisorPlan& plan_;
  std::size_t number_;
  TileProgram& t_;
  ProgramImage& image_;
  TileCode code_;
  std::vector<LaunchGroup> groups_;  ///< by superstep
  std::vector<std::uint32_t> procedures_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> shared_rows_;  ///< their addresses
  std::uint32_t next_ = 0;                                           ///< superstep
  std::size_t calls_ = 0;                                            ///< of `main`, so far
  std::uint32_t loop_ = 0;
};

}  // namespace

void emit_program(const SupervisorPlan& plan, std::size_t number, TileProgram& tile,
                  ProgramImage& image) {
  ProgramEmitter emitter(plan, number, tile, image);
  emitter.emit_procedures();
  emitter.emit_main();
}

}  // namespace superstep
