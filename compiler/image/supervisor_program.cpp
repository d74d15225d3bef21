#include "compiler/image/supervisor_program.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "base/error.h"
#include "base/overloaded.h"
#include "compiler/image/tile_code.h"
#include "compiler/program/blocks.h"

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
      emit_steps(procedure.block.steps, {});
      prepared_.reset();
      code_.end_call();
    }
    scalars_ = supervisor::kScalars;
    if (plan_.shares_rows) emit_shared_rows();
    code_.align();
  }

  void emit_main() {
    t_.entry = code_.here();
    for (std::uint32_t w = 0; w < plan_.machine.tile.workers; ++w) {
      code_.set_worker_base(w, t_.stacks + w * plan_.library.stack_bytes());
    }
    emit_steps(plan_.program.main.steps, {});
    code_.stop();
    t_.words = code_.words();
    t_.code_bytes = static_cast<std::uint32_t>(t_.words.size()) * 4;
  }

 private:
  void mark(std::uint32_t at, std::uint32_t step) { image_.marks.push_back({t_.tile, at, step}); }

  /// Where it begins.
  std::uint32_t row(const ExchangeRow& r, std::uint32_t step) {
    SUPERSTEP_CHECK(r.tile == t_.tile, "rows follow the participants");
    t_.row_bytes += static_cast<std::uint32_t>(r.code.size()) * 4;
    const std::uint32_t at = code_.row(r.code);
    mark(at, step);
    return at;
  }

  /// What follows at once is prepared, so that its row is not late.
  void emit_visit(const HostVisit& visit) {
    const std::vector<ExchangeRow>& rows = visit.kind == HostVisit::Kind::kFirst  ? plan_.host.first
                                           : visit.kind == HostVisit::Kind::kNext ? plan_.host.next
                                                                                  : plan_.host.last;
    row(rows[number_], kHostStep);
    if (plan_.after_visit && visit.kind != HostVisit::Kind::kLast) {
      mark(code_.here() - 4, plan_.steps.exchange[*plan_.after_visit]);
    }
  }

  /// The steps of a block, before which no launch but their first is prepared, and behind which
  /// that of `then` is. Where the last thing is a launch, `meanwhile` is emitted while it runs.
  void emit_steps(const std::vector<Step>& steps, std::optional<Stretch> then,
                  const std::function<void()>& meanwhile = {}) {
    for (std::size_t at = 0; at < steps.size();) {
      if (std::holds_alternative<Superstep>(steps[at])) {
        const Stretch stretch = next_stretch(steps, at, next_);
        prepare_first(stretch);
        at += stretch.end - stretch.begin;
        next_ = stretch.end;
        emit(stretch, first_of(steps, at, next_, then),
             at == steps.size() ? meanwhile : std::function<void()>());
        continue;
      }
      std::visit(Overloaded{[](const Superstep&) {},
                            [&](const HostVisit& visit) {
                              prepare_first(first_of(steps, at + 1, next_, then));
                              emit_visit(visit);
                            },
                            [&](const Call& call) {
                              const std::uint32_t pc =
                                  code_.call(procedures_[index(call.procedure)]);
                              image_.calls.push_back({t_.tile, pc, plan_.steps.calls[calls_++]});
                              prepared_.reset();
                            },
                            [&](const Loop& loop) { emit_loop(loop); },
                            [&](const Branch& branch) { emit_branch(branch); }},
                 steps[at]);
      ++at;
    }
    prepare_first(then);
  }

  void emit_scalars(const vertex::ScalarCode& code, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto& [word, buffer] = code.instructions[i];
      if (buffer)
        code_.set_by(word, plan_.storage.address(*buffer, t_.tile));
      else
        code_.scalar(word);
    }
  }
  [[nodiscard]] vertex::ScalarCode code_of(const vertex::Scalars& scalars) const {
    auto code = vertex::scalar_code(scalars, scalars_);
    SUPERSTEP_CHECK(code.has_value(), "scalars fit in the registers of a supervisor");
    return *std::move(code);
  }
  /// The register of the decision.
  std::uint32_t emit_scalars(const vertex::Scalars& scalars) {
    const vertex::ScalarCode code = code_of(scalars);
    emit_scalars(code, 0, code.instructions.size());
    return code.decision;
  }

  /// Steps as `emit_steps` has them, then scalars; the register of their decision. What scalars
  /// need of memory `is_there` before the steps, or they are computed behind them; else while the
  /// last workers run.
  std::uint32_t emit_steps(const std::vector<Step>& steps, std::optional<Stretch> then,
                           const vertex::Scalars& scalars, bool is_there) {
    const vertex::ScalarCode code = code_of(scalars);
    bool is_computed = false;
    emit_steps(steps, then, [&] {
      if (is_there) emit_scalars(code, 0, code.first_store);
      is_computed = is_there;
    });
    emit_scalars(code, is_computed ? code.first_store : 0, code.instructions.size());
    return code.decision;
  }

  /// Whether it is the host that writes the words.
  [[nodiscard]] bool are_sent(const std::vector<BufferId>& words) const {
    return std::ranges::all_of(words, [&](BufferId word) {
      return plan_.program.buffers[index(word)].kind == Buffer::Kind::kArgument;
    });
  }

  void emit_loop(const Loop& loop) {
    const std::uint32_t step = plan_.steps.loops[loops_++];
    const auto mark_trip = [&] { image_.loops.push_back({t_.tile, code_.here(), step}); };
    const std::uint32_t first = emit_scalars(loop.entry);
    std::uint32_t done = 0;
    if (!loop.has_condition()) {
      done = code_.branch_if_zero(first);
      const std::optional<Stretch> body = first_of(loop.body.steps, 0, next_, {});
      prepare_first(body);
      code_.align();
      const std::uint32_t head = code_.here();
      const std::uint32_t decision = emit_steps(loop.body.steps, body, loop.step, true);
      mark_trip();
      code_.branch_if_not_zero(decision, head);
    } else {
      const std::optional<Stretch> condition = first_of(loop.condition.steps, 0, next_, {});
      prepare_first(condition);
      const bool is_after_visit = condition && condition->begin == plan_.after_visit;
      is_after_visit ? code_.align_after_sync() : code_.align();
      const std::uint32_t head = code_.here();
      const std::optional<Stretch> body =
          first_of(loop.body.steps, 0, next_ + count_supersteps(loop.condition), condition);
      done = code_.branch_if_zero(
          emit_steps(loop.condition.steps, body, loop.test, are_sent(loop.test.inputs)));
      emit_steps(loop.body.steps, condition, loop.step, true);
      mark_trip();
      code_.jump(head);
    }
    code_.align();
    code_.patch(done, code_.here());
    prepared_.reset();
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
      prepared_.reset();
      emit_steps(branch.arms[arm].steps, {});
      if (arm + 1 < branch.arms.size()) to_end.push_back(code_.jump());
    }
    code_.align();
    for (const std::uint32_t jump : to_end) code_.patch(jump, code_.here());
    prepared_.reset();
  }

  /// Rows that `main` has several times, once.
  void emit_shared_rows() {
    std::map<std::vector<std::uint32_t>, std::size_t> uses;
    for (std::uint32_t s = next_; s < plan_.phases.size(); ++s) {
      if (!plan_.phases[s].rows.empty() && s != plan_.after_visit)
        ++uses[plan_.phases[s].rows[number_].code];
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

  /// The supersteps from step `at` of a block to the next step of another kind; `begin` is the
  /// number of the first.
  static Stretch next_stretch(const std::vector<Step>& steps, std::size_t at, std::uint32_t begin) {
    Stretch stretch{begin, begin};
    for (; at < steps.size() && std::holds_alternative<Superstep>(steps[at]); ++at) ++stretch.end;
    return stretch;
  }

  /// What a block executes first from step `at` on, `then` being what comes behind it; empty where
  /// that is nothing that can be prepared. `begin` is the number of its first superstep.
  static std::optional<Stretch> first_of(const std::vector<Step>& steps, std::size_t at,
                                         std::uint32_t begin, std::optional<Stretch> then) {
    while (at < steps.size() && std::holds_alternative<HostVisit>(steps[at])) ++at;
    if (at == steps.size()) return then;
    if (std::holds_alternative<Superstep>(steps[at])) return next_stretch(steps, at, begin);
    const auto* loop = std::get_if<Loop>(&steps[at]);
    if (loop == nullptr || !loop->has_condition()) return std::nullopt;
    return first_of(loop->condition.steps, 0, begin, {});
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

  void prepare_first(std::optional<Stretch> stretch) {
    if (!stretch || prepared_ == stretch->begin) return;
    const std::span<const LaunchGroup> groups = groups_of(*stretch);
    if (!groups.empty()) code_.prepare(groups[0].launch, bank(0));
    prepared_ = stretch->begin;
  }

  /// `then` comes after it at once, if there is one.
  void emit(Stretch stretch, std::optional<Stretch> then, const std::function<void()>& meanwhile) {
    const std::span<const LaunchGroup> groups = groups_of(stretch);
    const TileCode::AnyLaunch* last_next = nullptr;
    if (then && !groups_of(*then).empty()) last_next = &groups_of(*then)[0].launch;
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
    prepared_.reset();
    if (then && !groups.empty()) prepared_ = then->begin;
  }

  void emit_exchange(std::uint32_t s) {
    if (const auto feed = plan_.feeds.find(s); feed != plan_.feeds.end()) {
      const std::uint32_t at = row(feed->second.rows[number_], plan_.steps.exchange[s]);
      if (number_ == 0) image_.visits.push_back({at, feed->second.phase});
      return;
    }
    if (plan_.phases[s].rows.empty()) return;
    const ExchangeRow& r = plan_.phases[s].rows[number_];
    if (s == plan_.after_visit) return code_.row_after_sync(r.code);
    const auto shared = shared_rows_.find(r.code);
    if (shared == shared_rows_.end()) {
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
  std::map<std::vector<std::uint32_t>, std::uint32_t> shared_rows_;            ///< their addresses
  std::uint32_t next_ = 0;                                                     ///< superstep
  std::span<const std::uint32_t> scalars_ = supervisor::kScalarsOfProcedures;  ///< registers
  std::size_t calls_ = 0, loops_ = 0;                                          ///< so far
  std::optional<std::uint32_t> prepared_;  ///< the stretch whose first launch is, by its superstep
};

}  // namespace

void emit_program(const SupervisorPlan& plan, std::size_t number, TileProgram& tile,
                  ProgramImage& image) {
  ProgramEmitter emitter(plan, number, tile, image);
  emitter.emit_procedures();
  emitter.emit_main();
}

}  // namespace superstep
