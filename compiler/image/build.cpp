#include "compiler/image/build.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/each_index.h"
#include "base/error.h"
#include "compiler/cost/exchange_estimate.h"
#include "compiler/schedule/phases.h"
#include "compiler/image/codelets.h"
#include "compiler/image/compute_cycles.h"
#include "compiler/image/fit.h"
#include "compiler/image/liveness.h"
#include "compiler/image/segments.h"
#include "compiler/image/steps.h"
#include "compiler/image/storage.h"
#include "compiler/image/streams.h"
#include "compiler/image/supervisor_program.h"
#include "compiler/image/tile_program.h"
#include "compiler/program/blocks.h"
#include "compiler/program/call_loop.h"
#include "compiler/program/outline.h"
#include "isa/timing.h"

namespace superstep {
namespace {

/// Bytes of a tile's row that the first placement sets aside for each end of a transfer: with less
/// than rows take, all is placed and scheduled again [chosen by bench/fit_by_builds.py on 8 layers,
/// 12 products, 3 networks and 3 transposes on bow, which take 4.5, 4.3, 4.1 and 4.3 s to compile
/// and run with 8, 12, 16 and 24, and the same device cycles].
constexpr std::uint32_t kRowBytesPerEnd = 16;
/// The same where that leaves too little room [measured on an encoder of 12 layers: 4.8 to 6]; then
/// where transfers merge.
constexpr std::array<std::uint32_t, 2> kLessRowBytesPerEnd = {6, 4};

/// Bytes of rows that are set aside at first, by tile.
std::vector<std::uint32_t> expected_row_bytes(const MachineConfig& machine,
                                              const LoweredProgram& program) {
  std::vector<std::uint32_t> bytes(machine.tiles());
  for (const Superstep* superstep : supersteps_of(program)) {
    for (const Movement& movement : superstep->movements) {
      bytes[index(movement.source.tile)] += kRowBytesPerEnd;
      for (const Movement::End& end : movement.destinations) {
        bytes[index(end.tile)] += kRowBytesPerEnd;
      }
    }
  }
  return bytes;
}

class Builder {
 public:
  Builder(const Module& module, const MachineConfig& machine, LoweredProgram program,
          bool keep_exchange_plan)
      : module_(module),
        machine_(machine),
        program_(std::move(program)),
        supersteps_(supersteps_of(program_)),
        executions_(executions_of(program_)),
        library_(machine, program_.codelets),
        keeps_exchange_plan_(keep_exchange_plan) {}

  ProgramImage build(const CompileProgress& progress,
                     const std::function<void(const ProgramInfo&)>& on_memory) {
    image_.info.module = module_.name;
    image_.info.events = program_.events;
    find_tiles();
    steps_ = number_steps(program_, executions_, library_, image_.info);
    marked_ = marked_steps(executions_, supersteps_.size(), steps_);
    collect_launches();
    for (TileProgram& t : tiles_) place_codelets(t, library_, machine_);
    refuse_data_without_room(on_memory);
    estimate_phases();
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      show_share(progress, "divide work among workers", i, tiles_.size(), "tiles");
      TileProgram& t = tiles_[i];
      place_states(t, library_);
      group_launches(t, supersteps_, library_, machine_);
    }
    add_states();
    predict_computes();
    expect_code();
    const Storage storage = place(progress, on_memory);
    phases_ = {};  // their rows are in the tiles' programs
    if (progress) progress("describe steps and memory");
    image_.segments = segments_of(program_, tiles_, *states_, library_, storage);
    image_.info.codelets = codelet_places(tiles_);
    describe_memory(storage);
    predict_call();
    finish();
    return std::move(image_);
  }

 private:
  void find_tiles() {
    participants_ = participants_of(program_);
    tile_number_.resize(machine_.tiles());
    for (const TileId tile : participants_) {
      tile_number_[index(tile)] = tiles_.size();
      tiles_.push_back({.tile = tile, .launches = {}, .words = {}});
    }
  }

  void estimate_phases() {
    std::vector<std::uint64_t> cycles(supersteps_.size());
    const auto estimate = [&](std::size_t s) {
      const std::vector<Movement>& movements = supersteps_[s]->movements;
      if (!movements.empty()) cycles[s] = estimate_exchange(machine_, movements);
    };
    each_index(cycles.size(), 1, estimate);
    for (std::size_t e = 0; e < executions_.size(); ++e) {
      const std::uint64_t estimated = cycles[executions_[e].number];
      if (estimated > 0) image_.info.steps[steps_.exchange[e]].estimated_cycles = estimated;
    }
  }

  void predict_computes() {
    compute_cycles_ = predict_compute(tiles_, supersteps_.size(), library_, machine_);
    const ComputeCycles& cycles = compute_cycles_;
    for (std::size_t e = 0; e < executions_.size(); ++e) {
      const Execution& execution = executions_[e];
      for (std::uint32_t c = 0; c < execution.superstep->computes.size(); ++c) {
        const auto found = cycles.of_set.find({execution.number, c});
        if (found == cycles.of_set.end()) continue;
        image_.info.steps[steps_.compute[e] + c].predicted_cycles = found->second;
      }
    }
  }

  /// What does not fit even if there were no code but codelets, and no states, is refused before
  /// more is made.
  void refuse_data_without_room(const std::function<void(const ProgramInfo&)>& on_memory) {
    std::vector<std::uint32_t> begin(machine_.tiles(), machine_.tile.memory_base);
    for (const TileProgram& t : tiles_) begin[index(t.tile)] = data_begin(t);
    Storage storage(machine_, program_);
    if (!storage.has_room(begin)) report_if_too_full(storage, on_memory);
  }

  void collect_launches() {
    for (std::uint32_t s = 0; s < supersteps_.size(); ++s) {
      const std::vector<ComputeSet>& sets = supersteps_[s]->computes;
      for (std::uint32_t c = 0; c < sets.size(); ++c) {
        for (const Launch& launch : sets[c].launches) {
          program_of(launch.tile)
              .launches.push_back(
                  {.superstep = s, .set = c, .codelet = sets[c].codelet, .launch = &launch});
        }
      }
    }
  }

  /// Storage for the vertex states of each tile.
  void add_states() {
    std::vector<Interval> intervals;
    std::int64_t end = 0;
    for (const TileProgram& t : tiles_) {
      if (t.state_bytes == 0) continue;
      intervals.push_back({end, t.state_bytes, {t.tile}});
      end = intervals.back().end();
    }
    states_ = BufferId{static_cast<std::uint32_t>(program_.buffers.size())};
    program_.buffers.push_back({.kind = Buffer::Kind::kState,
                                .name = "vertex states",
                                .type = {DType::kU8, {end}},
                                .element_bytes = 1,
                                .layout = std::make_shared<const Layout>(std::move(intervals)),
                                .contents = {},
                                .source = {}});
  }

  TileProgram& program_of(TileId tile) { return tiles_[tile_number_[index(tile)]]; }

  /// Sets aside what supervisor programs will take.
  void expect_code() {
    for (TileProgram& t : tiles_) {
      t.code_bytes = 512 + 16 * static_cast<std::uint32_t>(t.launches.size()) +
                     16 * static_cast<std::uint32_t>(supersteps_.size() + marked_.calls.size());
      for (const PlacedLaunch& launch : t.launches) {
        const Launch& of = *launch.launch;
        if (launch.is_with_previous) t.code_bytes += 4 * machine_.tile.workers;
        t.code_bytes += 4 * of.weight_loads + 24 * static_cast<std::uint32_t>(of.stages.size());
      }
    }
    const std::vector<std::uint32_t> row_bytes = expected_row_bytes(machine_, program_);
    for (TileProgram& t : tiles_) {
      t.row_bytes = row_bytes[index(t.tile)];
      t.code_bytes += t.row_bytes;
    }
  }

  /// Where a tile's code ends, with what is fetched ahead of it.
  [[nodiscard]] std::uint32_t code_end(const TileProgram& t) const {
    return t.code + t.code_bytes + machine_.tile.fetch_ahead_bytes;
  }
  /// The first address after the elements that hold code or are fetched ahead of it.
  [[nodiscard]] std::uint32_t data_begin(const TileProgram& t) const {
    return align_up(code_end(t), machine_.tile.element_bytes);
  }

  Storage place(const CompileProgress& progress,
                const std::function<void(const ProgramInfo&)>& on_memory) {
    Storage storage(machine_, program_);
    PhaseScheduler scheduler(machine_, participants_, keeps_exchange_plan_);
    std::vector<std::uint32_t> begin(machine_.tiles(), machine_.tile.memory_base);
    for (const TileProgram& t : tiles_) begin[index(t.tile)] = data_begin(t);
    storage.place(begin, progress);
    const std::vector<std::uint32_t> row_bytes = expected_row_bytes(machine_, program_);
    for (const std::uint32_t less : kLessRowBytesPerEnd) {
      if (!is_too_full(storage)) break;
      for (TileProgram& t : tiles_) {
        const std::uint32_t expected = row_bytes[index(t.tile)] / kRowBytesPerEnd * less;
        t.code_bytes -= t.row_bytes - expected;
        t.row_bytes = expected;
        begin[index(t.tile)] = data_begin(t);
      }
      storage.place(begin, progress);
    }
    // Code sizes depend on addresses and addresses on code sizes. Data only moves up, until all
    // fits or a tile is full.
    for (bool is_first = true;; is_first = false) {
      if (!is_first) storage.place(begin, progress);
      report_if_too_full(storage, on_memory);
      if (progress) progress("schedule exchanges");
      schedule(storage, scheduler);
      if (progress) progress("build supervisor programs");
      add_streams(module_, program_, storage, image_);
      feeds_ = add_feeds(program_, storage, image_);
      emit_programs(storage);
      if (!shares_rows_ && is_too_full(storage)) {
        shares_rows_ = true;
        emit_programs(storage);
      }
      bool fits = true;
      for (const TileProgram& t : tiles_) {
        if (data_begin(t) <= begin[index(t.tile)]) continue;
        fits = false;
        begin[index(t.tile)] = data_begin(t);
      }
      report_if_too_full(storage, on_memory);
      if (fits) return storage;
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> code_ends() const {
    std::vector<std::uint32_t> ends(machine_.tiles(), machine_.tile.memory_base);
    for (const TileProgram& t : tiles_) ends[index(t.tile)] = code_end(t);
    return ends;
  }

  [[nodiscard]] bool is_too_full(const Storage& storage) const {
    return std::ranges::any_of(missing_bytes(machine_, storage, code_ends()),
                               [](std::uint64_t bytes) { return bytes > 0; });
  }

  void report_if_too_full(const Storage& storage,
                          const std::function<void(const ProgramInfo&)>& on_memory) {
    if (!is_too_full(storage)) return;
    describe_memory(storage);
    if (on_memory) on_memory(image_.info);
    check_fits(machine_, program_, storage, code_ends(), image_.info.memory);
  }

  [[nodiscard]] std::vector<Transfer> transfers_of(const Superstep& superstep,
                                                   const Storage& storage) const {
    const auto end = [&](const Movement::End& e) {
      return TransferEnd{e.tile, storage.address(e.buffer, e.tile) + e.byte};
    };
    std::vector<Transfer> transfers;
    transfers.reserve(superstep.movements.size());
    for (const Movement& movement : superstep.movements) {
      Transfer& transfer = transfers.emplace_back();
      transfer.source = end(movement.source);
      transfer.destinations.reserve(movement.destinations.size());
      for (const Movement::End& e : movement.destinations) {
        transfer.destinations.push_back(end(e));
      }
      transfer.words = movement.words;
      transfer.collective = index(movement.destinations.front().buffer);
    }
    return transfers;
  }

  void schedule(const Storage& storage, PhaseScheduler& scheduler) {
    phases_ = scheduler.schedule(
        supersteps_.size(), [&](std::size_t s) { return transfers_of(*supersteps_[s], storage); });
    image_.info.exchanges.clear();
    for (std::size_t e = 0; e < executions_.size(); ++e) {
      const ExchangePhase& phase = phases_[executions_[e].number];
      if (phase.rows.empty()) continue;
      StepInfo& step = image_.info.steps[steps_.exchange[e]];
      step.bound_cycles = phase.bound_cycles;
      step.predicted_cycles = phase.length.value();
      if (keeps_exchange_plan_) {
        image_.info.exchanges.push_back({steps_.exchange[e], phase.messages});
      }
    }
  }

  [[nodiscard]] std::vector<ExchangeRow> host_rows(const HostPhase& phase) const {
    std::vector<HostSend> sends;
    for (const std::uint32_t stream : phase.results) {
      for (const StreamPiece& piece : image_.streams[stream].pieces) {
        sends.push_back({piece.tile, piece.address, piece.bytes});
      }
    }
    return encode_host_phase(machine_, sends, participants_);
  }

  void emit_programs(const Storage& storage) {
    image_.marks.clear();
    image_.calls.clear();
    image_.loops.clear();
    image_.visits.clear();
    if (tiles_.empty()) return;
    std::map<std::uint32_t, FeedPlan> feeds;
    for (const auto& [superstep, phase] : feeds_) feeds[superstep] = {phase, host_rows(phase)};
    const SupervisorPlan plan{
        .program = program_,
        .machine = machine_,
        .library = library_,
        .storage = storage,
        .states = *states_,
        .phases = phases_,
        .after_visit = superstep_after_visit(program_),
        .steps = marked_,
        .host = {host_rows(image_.first), host_rows(image_.next), host_rows(image_.last)},
        .feeds = std::move(feeds),
        .shares_rows = shares_rows_};
    for (std::size_t i = 0; i < tiles_.size(); ++i) emit_program(plan, i, tiles_[i], image_);
  }

  void describe_memory(const Storage& storage) {
    std::vector<MemoryCategory>& memory = image_.info.memory;
    memory.clear();
    const auto add = [&](const char* name, const auto& bytes_on) {
      MemoryCategory& category = memory.emplace_back();
      category.name = name;
      category.bytes_by_tile.resize(machine_.tiles());
      for (const TileProgram& t : tiles_) category.bytes_by_tile[index(t.tile)] = bytes_on(t);
    };
    add("codelets", [&](const TileProgram& t) { return t.stacks - machine_.tile.memory_base; });
    add("stacks", [&](const TileProgram& t) { return t.code - t.stacks; });
    add("vertex_state", [&](const TileProgram& t) { return t.state_bytes; });
    add("supervisor_code", [&](const TileProgram& t) { return t.code_bytes - t.row_bytes; });
    add("exchange_code", [&](const TileProgram& t) { return t.row_bytes; });
    memory.push_back({"constants", storage.peak_by_tile(Buffer::Kind::kConstant)});
    memory.push_back({"variables", storage.peak_by_tile(Buffer::Kind::kArgument)});
    memory.push_back({"temporaries", storage.peak_by_tile(Buffer::Kind::kTemporary)});
    std::vector<std::uint32_t> fixed(machine_.tiles());
    for (const TileProgram& t : tiles_) {
      fixed[index(t.tile)] = t.code + t.code_bytes - machine_.tile.memory_base;
    }
    describe_liveness(program_, storage, steps_.point, fixed, image_.info);
  }

  /// Of the device for a visit inside a call: the sync that begins it.
  [[nodiscard]] std::uint64_t visit_cycles() const {
    return cycles_of_ns(machine_, machine_.sync.external_latency_ns).value();
  }

  void predict_call() {
    ProgramInfo& info = image_.info;
    const std::uint64_t barrier = barrier_latency(machine_).value();
    for (std::size_t s = 1; s < info.steps.size(); ++s) {
      StepInfo& step = info.steps[s];
      if (step.kind == StepInfo::Kind::kHost) step.predicted_cycles = visit_cycles();
    }
    predict_control(info.steps, barrier);
    const std::vector<std::uint64_t> times = executions_by_step(info.steps);
    info.estimated_cycles = info.predicted_cycles =
        call_cycles(compute_cycles_, executions_, steps_, times);
    for (std::size_t s = 0; s < info.steps.size(); ++s) {
      const StepInfo& step = info.steps[s];
      if (step.kind == StepInfo::Kind::kHost) {
        info.estimated_cycles += times[s] * step.predicted_cycles;
        info.predicted_cycles += times[s] * step.predicted_cycles;
      }
      if (step.kind != StepInfo::Kind::kExchange) continue;
      info.estimated_cycles += times[s] * (barrier + step.estimated_cycles);
      info.predicted_cycles += times[s] * (barrier + step.predicted_cycles);
    }
    // What moves first follows the visit to the host without a barrier of its own.
    if (!superstep_after_visit(program_)) return;
    info.estimated_cycles -= barrier;
    info.predicted_cycles -= barrier;
  }

  void finish() {
    image_.machine = machine_;
    image_.stack_bytes = library_.stack_bytes();
    image_.alias = alias_by_result(module_);
    for (const TileProgram& t : tiles_) image_.entries.push_back({t.tile, t.entry});
    const Graph& graph = module_.main;
    for (const ValueId argument : graph.arguments()) {
      image_.arguments.push_back(graph.type(argument));
    }
    for (const ValueId result : graph.results()) image_.results.push_back(graph.type(result));
  }

  const Module& module_;
  const MachineConfig& machine_;
  LoweredProgram program_;
  std::vector<Superstep*> supersteps_;
  std::vector<Execution> executions_;
  CodeletLibrary library_;
  ProgramImage image_;
  std::vector<TileProgram> tiles_;
  std::vector<TileId> participants_;
  std::vector<std::size_t> tile_number_;  ///< by tile
  std::optional<BufferId> states_;
  Steps steps_;
  ComputeCycles compute_cycles_;
  MarkedSteps marked_;
  std::vector<ExchangePhase> phases_;         ///< by superstep
  std::map<std::uint32_t, HostPhase> feeds_;  ///< visits inside a call, by superstep
  bool shares_rows_ = false;                  ///< where code is short of room
  bool keeps_exchange_plan_;
};

}  // namespace

ProgramImage build_image(const Module& module, const MachineConfig& machine, LoweredProgram program,
                         const CompileProgress& progress,
                         const std::function<void(const ProgramInfo&)>& on_memory,
                         bool keep_exchange_plan, bool saves_code) {
  if (progress) progress("outline repeated steps");
  outline_repeats(program, saves_code ? OutlineEffort::kLeastCode : OutlineEffort::kFree);
  add_call_loop(program);
  if (progress) progress("generate codelets");
  return Builder(module, machine, std::move(program), keep_exchange_plan)
      .build(progress, on_memory);
}

}  // namespace superstep
