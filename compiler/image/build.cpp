#include "compiler/image/build.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

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
#include "compiler/image/tile_code.h"
#include "compiler/image/tile_program.h"

namespace superstep {
namespace {

/// Bytes of a tile's row that the first placement sets aside for each end of a transfer.
constexpr std::uint32_t kRowBytesPerEnd = 16;
/// Code sizes depend on addresses and addresses on code sizes; each try sets more aside.
constexpr int kMostTries = 4;

class Builder {
 public:
  Builder(const Module& module, const MachineConfig& machine, LoweredProgram program,
          bool keep_exchange_plan)
      : module_(module),
        machine_(machine),
        program_(std::move(program)),
        library_(machine, program_.codelets),
        keeps_exchange_plan_(keep_exchange_plan) {}

  ProgramImage build(const CompileProgress& progress,
                     const std::function<void(const ProgramInfo&)>& on_memory) {
    image_.info.module = module_.name;
    image_.info.events = program_.events;
    find_tiles();
    steps_ = number_steps(program_, library_, image_.info);
    estimate_phases();
    collect_launches();
    for (TileProgram& t : tiles_) place_codelets(t, library_, machine_);
    refuse_data_without_room(on_memory);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      show_share(progress, "divide work among workers", i, tiles_.size(), "tiles");
      TileProgram& t = tiles_[i];
      place_states(t, library_);
      group_launches(t, program_, steps_, library_, machine_);
    }
    add_states();
    predict_compute(tiles_, library_, machine_, image_.info);
    expect_code();
    const Storage storage = place(progress, on_memory);
    if (progress) progress("describe steps and memory");
    image_.segments = segments_of(program_, tiles_, *states_, library_, storage);
    describe_memory(storage);
    finish();
    return std::move(image_);
  }

 private:
  /// Tiles that hold or run anything; the others stay outside every sync.
  void find_tiles() {
    std::vector<bool> used(machine_.tiles());
    for (const Buffer& buffer : program_.buffers) {
      for (const Interval& interval : buffer.layout->intervals()) {
        for (const TileId tile : interval.tiles) used[index(tile)] = true;
      }
    }
    tile_number_.resize(machine_.tiles());
    for (std::uint32_t t = 0; t < used.size(); ++t) {
      if (!used[t]) continue;
      tile_number_[t] = tiles_.size();
      tiles_.push_back({.tile = TileId{t}, .launches = {}, .words = {}});
      participants_.push_back(TileId{t});
    }
    if (participants_.empty()) return;
    trip_count_ = BufferId{static_cast<std::uint32_t>(program_.buffers.size())};
    program_.buffers.push_back(
        {.kind = Buffer::Kind::kArgument,
         .name = "trip count",
         .type = {DType::kU32, {}},
         .element_bytes = 4,
         .layout = std::make_shared<const Layout>(std::vector<Interval>{{0, 1, participants_}}),
         .contents = {},
         .source = {}});
  }

  void estimate_phases() {
    const auto estimate = [&](std::size_t s) {
      const std::vector<Movement>& movements = program_.supersteps[s].movements;
      if (movements.empty()) return;
      image_.info.steps[steps_.exchange[s]].estimated_cycles =
          estimate_exchange(machine_, movements);
    };
    tbb::parallel_for(std::size_t{0}, program_.supersteps.size(), estimate,
                      tbb::simple_partitioner());
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
    for (std::uint32_t s = 0; s < program_.supersteps.size(); ++s) {
      std::uint32_t step = steps_.compute[s];
      for (const ComputeSet& set : program_.supersteps[s].computes) {
        for (const Launch& launch : set.launches) {
          program_of(launch.tile)
              .launches.push_back(
                  {.superstep = s, .step = step, .codelet = set.codelet, .launch = &launch});
        }
        ++step;
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
                     16 * static_cast<std::uint32_t>(program_.supersteps.size());
      for (const PlacedLaunch& launch : t.launches) {
        const Launch& of = *launch.launch;
        if (launch.is_with_previous) t.code_bytes += 4 * machine_.tile.workers;
        t.code_bytes += 4 * of.weight_loads + 24 * static_cast<std::uint32_t>(of.stages.size());
      }
    }
    const auto set_aside = [](TileProgram& t) {
      t.code_bytes += kRowBytesPerEnd;
      t.row_bytes += kRowBytesPerEnd;
    };
    for (const Superstep& superstep : program_.supersteps) {
      for (const Movement& movement : superstep.movements) {
        set_aside(program_of(movement.source.tile));
        for (const Movement::End& end : movement.destinations) set_aside(program_of(end.tile));
      }
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
    if (is_too_full(storage)) {
      // Rows in which transfers merge need much less.
      for (TileProgram& t : tiles_) {
        t.code_bytes -= t.row_bytes / 4 * 3;
        t.row_bytes /= 4;
        begin[index(t.tile)] = data_begin(t);
      }
    }
    for (int tries = 0;; ++tries) {
      storage.place(begin, progress);
      report_if_too_full(storage, on_memory);
      if (progress) progress("schedule exchanges");
      schedule(storage, scheduler);
      if (progress) progress("build supervisor programs");
      add_streams(module_, program_, trip_count_, storage, image_);
      emit_programs(storage);
      bool fits = true;
      for (const TileProgram& t : tiles_) {
        if (data_begin(t) <= begin[index(t.tile)]) continue;
        fits = false;
        begin[index(t.tile)] = data_begin(t);
      }
      report_if_too_full(storage, on_memory);
      if (fits) return storage;
      SUPERSTEP_CHECK(tries < kMostTries, "code sizes do not settle");
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
      Transfer transfer{
          end(movement.source), {}, movement.words, index(movement.destinations.front().buffer)};
      for (const Movement::End& e : movement.destinations) {
        transfer.destinations.push_back(end(e));
      }
      transfers.push_back(std::move(transfer));
    }
    return transfers;
  }

  void schedule(const Storage& storage, PhaseScheduler& scheduler) {
    phases_ = scheduler.schedule(program_.supersteps.size(), [&](std::size_t s) {
      return transfers_of(program_.supersteps[s], storage);
    });
    image_.info.exchanges.clear();
    for (std::size_t s = 0; s < phases_.size(); ++s) {
      if (phases_[s].rows.empty()) continue;
      StepInfo& step = image_.info.steps[steps_.exchange[s]];
      step.bound_cycles = phases_[s].bound_words;
      step.predicted_cycles = phases_[s].length.value();
      if (keeps_exchange_plan_) {
        image_.info.exchanges.push_back({steps_.exchange[s], std::move(phases_[s].messages)});
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

  /// Launches of a tile that run at once.
  struct LaunchGroup {
    std::uint32_t superstep = 0, step = 0;
    TileCode::AnyLaunch launch;
  };

  void emit_programs(const Storage& storage) {
    image_.marks.clear();
    const auto first = host_rows(image_.first);
    const auto next = host_rows(image_.next);
    const auto last = host_rows(image_.last);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      TileProgram& t = tiles_[i];
      TileCode code(t.code);
      t.row_bytes = 0;
      const auto mark = [&](std::uint32_t at, std::uint32_t step) {
        image_.marks.push_back({t.tile, at, step});
      };
      const auto row = [&](const ExchangeRow& r, std::uint32_t step) {
        SUPERSTEP_CHECK(r.tile == t.tile, "rows follow the participants");
        mark(code.row(r.code), step);
        t.row_bytes += static_cast<std::uint32_t>(r.code.size()) * 4;
      };
      // The sync that ends a visit to the host serves an exchange that follows at once.
      const auto host_row = [&](const ExchangeRow& r) {
        row(r, kHostStep);
        if (begins_with_exchange()) mark(code.here() - 4, steps_.exchange[0]);
      };
      // First, so that it is there before the sync that a row may follow at once: setting worker
      // bases waits for later results.
      code.prepare_trip_count(storage.address(*trip_count_, t.tile));
      for (std::uint32_t w = 0; w < machine_.tile.workers; ++w) {
        code.set_worker_base(w, t.stacks + w * library_.stack_bytes());
      }
      const std::vector<LaunchGroup> groups = launch_groups(t, storage);
      const auto bank = [](std::size_t group) {
        return static_cast<std::uint32_t>(group) % TileCode::kBanks;
      };
      if (!groups.empty()) code.prepare(groups[0].launch, bank(0));
      host_row(first[i]);
      code.load_trip_count();
      code.align();
      std::uint32_t loop = code.here();
      std::size_t g = 0;
      for (std::uint32_t s = 0; s < phases_.size(); ++s) {
        if (s == 0 && begins_with_exchange()) {
          loop = code.row_after_sync(phases_[s].rows[i].code);
        } else if (!phases_[s].rows.empty()) {
          row(phases_[s].rows[i], steps_.exchange[s]);
        }
        for (; g < groups.size() && groups[g].superstep == s; ++g) {
          const std::size_t then = (g + 1) % groups.size();
          mark(code.launch(groups[g].launch, bank(g), &groups[then].launch, bank(then)),
               groups[g].step);
        }
      }
      const std::uint32_t done = code.branch_if_last();
      host_row(next[i]);
      code.next_call(loop);
      code.align();
      code.patch(done, code.here());
      row(last[i], kHostStep);
      code.stop();
      t.words = code.words();
      t.code_bytes = static_cast<std::uint32_t>(t.words.size()) * 4;
    }
  }

  [[nodiscard]] bool begins_with_exchange() const {
    return !phases_.empty() && !phases_[0].rows.empty();
  }

  [[nodiscard]] std::vector<LaunchGroup> launch_groups(const TileProgram& t,
                                                       const Storage& storage) const {
    std::vector<LaunchGroup> groups;
    const std::uint32_t states = t.state_bytes > 0 ? storage.address(*states_, t.tile) : 0;
    for (auto launch = t.launches.begin(); launch != t.launches.end();) {
      const auto first = launch++;
      while (launch != t.launches.end() && launch->is_with_previous) ++launch;
      groups.push_back({first->superstep, first->step,
                        code_of(t, std::span(first, launch), states, library_, machine_, storage)});
    }
    return groups;
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

  void finish() {
    image_.machine = machine_;
    image_.stack_bytes = library_.stack_bytes();
    image_.alias = alias_by_result(module_);
    for (const TileProgram& t : tiles_) image_.entries.push_back({t.tile, t.code});
    const Graph& graph = module_.main;
    for (const ValueId argument : graph.arguments()) {
      image_.arguments.push_back(graph.type(argument));
    }
    for (const ValueId result : graph.results()) image_.results.push_back(graph.type(result));
  }

  const Module& module_;
  const MachineConfig& machine_;
  LoweredProgram program_;
  CodeletLibrary library_;
  ProgramImage image_;
  std::vector<TileProgram> tiles_;
  std::vector<TileId> participants_;
  std::vector<std::size_t> tile_number_;  ///< by tile
  std::optional<BufferId> trip_count_, states_;
  Steps steps_;
  std::vector<ExchangePhase> phases_;  ///< by superstep
  bool keeps_exchange_plan_;
};

}  // namespace

ProgramImage build_image(const Module& module, const MachineConfig& machine, LoweredProgram program,
                         const CompileProgress& progress,
                         const std::function<void(const ProgramInfo&)>& on_memory,
                         bool keep_exchange_plan) {
  if (progress) progress("generate codelets");
  return Builder(module, machine, std::move(program), keep_exchange_plan)
      .build(progress, on_memory);
}

}  // namespace superstep
