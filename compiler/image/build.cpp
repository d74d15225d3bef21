#include "compiler/image/build.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "compiler/exchange/schedule.h"
#include "compiler/image/codelets.h"
#include "compiler/image/liveness.h"
#include "compiler/image/storage.h"
#include "compiler/image/tile_code.h"

namespace superstep {
namespace {

constexpr std::uint32_t kHostStep = 0;
/// Bytes of a tile's row that the first placement sets aside for each end of a transfer.
constexpr std::uint32_t kRowBytesPerEnd = 16;
/// Code sizes depend on addresses and addresses on code sizes; each try sets more aside.
constexpr int kMostTries = 4;

std::uint32_t align_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// One launch of a tile's program.
struct PlacedLaunch {
  std::uint32_t superstep = 0;
  std::uint32_t step = 0;
  std::uint32_t codelet = 0;
  std::uint32_t state = 0;          ///< address
  std::uint32_t worker_states = 0;  ///< address of worker 0's
  std::uint32_t stride = 0;         ///< words from one worker's state to the next
  std::uint32_t busy = 0;           ///< states that need a worker; 0: not known
  bool is_with_previous = false;    ///< runs beside the launch before
  bool shares_state = false;        ///< with an earlier launch
  const Launch* launch = nullptr;
};

/// What a participating tile runs, and where its parts of region 0 are.
struct TileProgram {
  TileId tile{};
  std::vector<PlacedLaunch> launches;
  std::uint32_t stacks = 0, scratch = 0, states = 0, code = 0;  ///< addresses
  std::uint32_t code_bytes = 0;                                 ///< expected, then exact
  std::uint32_t row_bytes = 0;
  std::vector<std::uint32_t> words;
};

class Builder {
 public:
  Builder(const Module& module, const MachineConfig& machine, LoweredProgram program,
          bool keep_exchange_plan)
      : module_(module),
        machine_(machine),
        program_(std::move(program)),
        library_(machine, program_.codelets),
        keeps_exchange_plan_(keep_exchange_plan) {}

  ProgramImage build(const std::function<void(std::string_view)>& progress,
                     const std::function<void(const ProgramInfo&)>& on_memory) {
    find_tiles();
    number_steps();
    collect_launches();
    place_fixed_parts();
    const Storage storage = place(progress, on_memory);
    add_segments(storage);
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

  void number_steps() {
    std::vector<StepInfo>& steps = image_.info.steps;
    steps.push_back({.kind = StepInfo::Kind::kHost, .name = "host", .operation = "", .source = {}});
    point_by_step_ = {0};
    std::uint32_t number = 0, point = 0;  // of the superstep, of the buffers' lifetimes
    for (const Superstep& superstep : program_.supersteps) {
      // Without an exchange there is no barrier: it goes on with the superstep before.
      if (!superstep.movements.empty()) ++number;
      ++point;
      exchange_step_.push_back(static_cast<std::uint32_t>(steps.size()));
      if (!superstep.movements.empty()) {
        StepInfo info{.kind = StepInfo::Kind::kExchange,
                      .name = superstep.names[0],
                      .operation = superstep.operation,
                      .source = superstep.source};
        std::vector<std::string> names = superstep.names;
        std::ranges::sort(names);
        names.erase(std::unique(names.begin(), names.end()), names.end());
        if (names.size() > 1) info.name += " +" + std::to_string(names.size() - 1);
        for (const Movement& movement : superstep.movements) {
          info.exchange_bytes += 4ULL * movement.words * movement.destinations.size();
        }
        info.superstep = number;
        point_by_step_.push_back(point);
        steps.push_back(std::move(info));
      }
      compute_step_.push_back(static_cast<std::uint32_t>(steps.size()));
      for (const ComputeSet& set : superstep.computes) {
        steps.push_back({.kind = StepInfo::Kind::kCompute,
                         .name = set.name,
                         .operation = set.operation,
                         .source = set.source,
                         .superstep = number,
                         .flops = set.flops,
                         .vertices = static_cast<std::uint32_t>(set.launches.size()),
                         .tiles = tiles_of(set),
                         .vertex_types = vertex_types_of(set)});
        point_by_step_.push_back(++point);
      }
    }
    point_by_step_[kHostStep] = point + 1;
    for (const vertex::Codelet& codelet : library_.codelets()) {
      image_.info.vertex_types.push_back(
          {codelet.name, 4 * static_cast<std::uint32_t>(codelet.words.size())});
    }
  }

  static std::uint32_t tiles_of(const ComputeSet& set) {
    std::vector<TileId> tiles;
    for (const Launch& launch : set.launches) tiles.push_back(launch.tile);
    std::ranges::sort(tiles);
    const auto rest = std::ranges::unique(tiles);
    return static_cast<std::uint32_t>(rest.begin() - tiles.begin());
  }

  /// Numbers in the library, ascending.
  [[nodiscard]] std::vector<std::uint32_t> vertex_types_of(const ComputeSet& set) const {
    std::vector<bool> used(library_.codelets().size());
    for (const Launch& launch : set.launches) {
      if (launch.stages.empty()) used[library_.number(set.codelet)] = true;
      for (const Launch::Stage& stage : launch.stages) used[library_.number(stage.codelet)] = true;
    }
    std::vector<std::uint32_t> types;
    for (std::uint32_t c = 0; c < used.size(); ++c) {
      if (used[c]) types.push_back(c);
    }
    return types;
  }

  void collect_launches() {
    for (std::uint32_t s = 0; s < program_.supersteps.size(); ++s) {
      std::uint32_t step = compute_step_[s];
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

  /// Orders launches of a tile by the words of their states; no codelet writes into its state.
  struct LessState {
    const CodeletLibrary& library;
    [[nodiscard]] std::optional<std::uint32_t> divider(const PlacedLaunch& launch) const {
      if (!library.codelet(launch.codelet).divide) return std::nullopt;
      return launch.codelet;
    }
    bool operator()(const PlacedLaunch* a, const PlacedLaunch* b) const {
      if (const auto order = divider(*a) <=> divider(*b); order != 0) return order < 0;
      return a->launch->state < b->launch->state;
    }
  };

  TileProgram& program_of(TileId tile) { return tiles_[tile_number_[index(tile)]]; }

  /// Codelets, stacks, scratch and vertex states; the supervisor's code comes after them.
  void place_fixed_parts() {
    const std::uint32_t workers = machine_.tile.workers;
    for (TileProgram& t : tiles_) {
      t.stacks = align_up(library_.end(), 8);
      std::uint32_t scratch = 0;
      for (const PlacedLaunch& launch : t.launches) {
        scratch = std::max(scratch, library_.codelet(launch.codelet).scratch_bytes);
      }
      t.scratch = t.stacks + workers * library_.stack_bytes();
      t.states = align_up(t.scratch + workers * scratch, 8);
      std::uint32_t at = t.states;
      std::set<const PlacedLaunch*, LessState> placed{LessState{library_}};
      for (PlacedLaunch& launch : t.launches) {
        if (const auto [same, is_new] = placed.insert(&launch); !is_new) {
          launch.state = (*same)->state;
          launch.worker_states = (*same)->worker_states;
          launch.stride = (*same)->stride;
          launch.busy = (*same)->busy;
          launch.shares_state = true;
          continue;
        }
        launch.state = at;
        const std::vector<std::uint32_t> words = state_of(launch, t, nullptr);
        const vertex::Codelet& codelet = library_.codelet(launch.codelet);
        launch.worker_states = at;
        at = vertex::worker_states_address(at, words.size());
        if (codelet.divide) {
          const vertex::WorkerStates divided = codelet.divide(words, launch.state);
          launch.worker_states = at;
          launch.stride = divided.stride;
          if (codelet.scratch_bytes == 0) launch.busy = divided.busy;
          at = vertex::worker_states_address(at, divided.words.size());
        }
      }
      group_launches(t);
      t.code = at;
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

  /// Lets neighbours that neither wait for each other nor need all workers run at once.
  void group_launches(TileProgram& t) {
    std::vector<ComputeSet*> group;
    std::set<std::uint32_t> codelets;
    std::uint32_t busy = 0;
    for (std::size_t i = 0; i < t.launches.size(); ++i) {
      PlacedLaunch& launch = t.launches[i];
      std::vector<ComputeSet>& sets = program_.supersteps[launch.superstep].computes;
      ComputeSet& set = sets[launch.step - compute_step_[launch.superstep]];
      codelets.insert(library_.number(launch.codelet));
      const std::uint32_t end =
          launch.worker_states + 4 * launch.busy * launch.stride - machine_.tile.memory_base;
      const bool fits = launch.busy > 0 && busy > 0 &&
                        busy + launch.busy <= machine_.tile.workers &&
                        codelets.size() <= TileCode::kBankRegisters && end <= TileCode::kNearStates;
      launch.is_with_previous = fits && launch.superstep == t.launches[i - 1].superstep &&
                                std::ranges::none_of(group, [&](const ComputeSet* other) {
                                  return depends_on(set, *other) || depends_on(*other, set);
                                });
      if (!launch.is_with_previous) {
        group.clear();
        codelets = {library_.number(launch.codelet)};
        busy = 0;
      }
      for (ComputeSet* other : group) {
        other->beside = std::max(other->beside, static_cast<std::uint32_t>(&set - other));
      }
      group.push_back(&set);
      busy = launch.busy == 0 ? 0 : busy + launch.busy;
    }
  }

  /// Whether `later` reads or overwrites what `earlier` writes.
  static bool depends_on(const ComputeSet& later, const ComputeSet& earlier) {
    return std::ranges::any_of(earlier.writes, [&](BufferId written) {
      return std::ranges::find(later.reads, written) != later.reads.end() ||
             std::ranges::find(later.writes, written) != later.writes.end();
    });
  }

  /// The first address after the elements that hold code or are fetched ahead of it.
  [[nodiscard]] std::uint32_t data_begin(const TileProgram& t) const {
    return align_up(t.code + t.code_bytes + machine_.tile.fetch_ahead_bytes,
                    machine_.tile.element_bytes);
  }

  Storage place(const std::function<void(std::string_view)>& progress,
                const std::function<void(const ProgramInfo&)>& on_memory) {
    Storage storage(machine_, program_);
    std::vector<std::uint32_t> begin(machine_.tiles(), machine_.tile.memory_base);
    for (const TileProgram& t : tiles_) begin[index(t.tile)] = data_begin(t);
    storage.place(begin);
    if (is_too_full(missing_bytes(storage))) {
      // Rows in which transfers merge need much less.
      for (TileProgram& t : tiles_) {
        t.code_bytes -= t.row_bytes / 4 * 3;
        t.row_bytes /= 4;
        begin[index(t.tile)] = data_begin(t);
      }
    }
    for (int tries = 0;; ++tries) {
      if (progress) progress("allocate memory");
      storage.place(begin);
      report_if_too_full(storage, on_memory);
      if (progress) progress("schedule exchanges");
      schedule(storage);
      if (progress) progress("build supervisor programs");
      add_streams(storage);
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

  /// By tile, of data and of code.
  [[nodiscard]] std::vector<std::uint64_t> missing_bytes(const Storage& storage) const {
    std::vector<std::uint64_t> missing = storage.missing_bytes();
    for (const TileProgram& t : tiles_) {
      const std::uint32_t end = t.code + t.code_bytes + machine_.tile.fetch_ahead_bytes;
      if (end > machine_.tile.region1_base) {
        missing[index(t.tile)] += end - machine_.tile.region1_base;
      }
    }
    return missing;
  }

  static bool is_too_full(const std::vector<std::uint64_t>& missing) {
    return std::ranges::any_of(missing, [](std::uint64_t bytes) { return bytes > 0; });
  }

  void report_if_too_full(const Storage& storage,
                          const std::function<void(const ProgramInfo&)>& on_memory) {
    const std::vector<std::uint64_t> missing = missing_bytes(storage);
    if (!is_too_full(missing)) return;
    describe_memory(storage);
    if (on_memory) on_memory(image_.info);
    check_fits(machine_, program_, storage, image_.info.memory, missing);
  }

  void schedule(const Storage& storage) {
    phases_.assign(program_.supersteps.size(), {});
    const auto schedule_phase = [&](std::size_t s) {
      std::vector<Transfer> transfers;
      for (const Movement& movement : program_.supersteps[s].movements) {
        const auto end = [&](const Movement::End& e) {
          return TransferEnd{e.tile, storage.address(e.buffer, e.tile) + e.byte};
        };
        Transfer transfer{end(movement.source), {}, movement.words};
        for (const Movement::End& e : movement.destinations)
          transfer.destinations.push_back(end(e));
        transfers.push_back(std::move(transfer));
      }
      if (transfers.empty()) return;
      phases_[s] = schedule_exchange(machine_, transfers, participants_, keeps_exchange_plan_);
    };
    // The other partitioners share flags between threads in headers, where TSan sees them as races.
    tbb::parallel_for(std::size_t{0}, phases_.size(), schedule_phase, tbb::simple_partitioner());
    image_.info.exchanges.clear();
    for (std::size_t s = 0; s < phases_.size(); ++s) {
      if (phases_[s].rows.empty()) continue;
      StepInfo& step = image_.info.steps[exchange_step_[s]];
      step.bound_cycles = phases_[s].bound_words;
      step.predicted_cycles = phases_[s].length.value();
      if (keeps_exchange_plan_) {
        image_.info.exchanges.push_back({exchange_step_[s], std::move(phases_[s].messages)});
      }
    }
  }

  void add_stream(Stream::Kind kind, std::uint32_t position, const TensorType& type,
                  std::optional<BufferId> buffer, const Storage& storage) {
    Stream stream{.kind = kind, .position = position, .type = type, .pieces = {}};
    if (buffer) {
      const Buffer& b = program_.buffers[index(*buffer)];
      for (const Interval& interval : b.layout->intervals()) {
        const auto bytes = static_cast<std::uint32_t>(interval.count * b.element_bytes);
        for (const TileId tile : interval.tiles) {
          stream.pieces.push_back({tile, storage.address(*buffer, tile), align_up(bytes, 4),
                                   static_cast<std::uint64_t>(interval.begin) * b.element_bytes,
                                   bytes});
        }
      }
    }
    image_.streams.push_back(std::move(stream));
  }

  void add_streams(const Storage& storage) {
    image_.streams.clear();
    image_.first = image_.next = image_.last = {};
    const Graph& graph = module_.main;
    const std::vector<std::optional<std::uint32_t>> alias = alias_by_result();
    const auto last_stream = [&] { return static_cast<std::uint32_t>(image_.streams.size() - 1); };
    if (trip_count_) {
      add_stream(Stream::Kind::kTripCount, 0, {DType::kU32, {}}, trip_count_, storage);
      image_.first.arguments.push_back(last_stream());
    }
    for (std::uint32_t a = 0; a < graph.arguments().size(); ++a) {
      add_stream(Stream::Kind::kArgument, a, graph.type(graph.arguments()[a]),
                 program_.arguments[a], storage);
      image_.first.arguments.push_back(last_stream());
      const bool is_state = std::ranges::find(alias, std::optional(a)) != alias.end();
      if (!is_state) image_.next.arguments.push_back(last_stream());
    }
    for (std::uint32_t r = 0; r < graph.results().size(); ++r) {
      add_stream(Stream::Kind::kResult, r, graph.type(graph.results()[r]), program_.results[r],
                 storage);
      image_.last.results.push_back(last_stream());
      if (!alias[r]) image_.next.results.push_back(last_stream());
    }
  }

  [[nodiscard]] std::vector<std::optional<std::uint32_t>> alias_by_result() const {
    std::vector<std::optional<std::uint32_t>> alias(module_.main.results().size());
    for (std::uint32_t a = 0; a < module_.argument_alias.size(); ++a) {
      if (module_.argument_alias[a]) alias[*module_.argument_alias[a]] = a;
    }
    return alias;
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
        if (begins_with_exchange()) mark(code.here() - 4, exchange_step_[0]);
      };
      for (std::uint32_t w = 0; w < machine_.tile.workers; ++w) {
        code.set_worker_base(w, t.stacks + w * library_.stack_bytes());
      }
      const std::vector<LaunchGroup> groups = launch_groups(t, storage);
      const auto bank = [](std::size_t group) {
        return static_cast<std::uint32_t>(group) % TileCode::kBanks;
      };
      if (!groups.empty()) code.prepare(groups[0].launch, bank(0));
      code.prepare_trip_count(storage.address(*trip_count_, t.tile));
      host_row(first[i]);
      code.load_trip_count();
      code.align();
      std::uint32_t loop = code.here();
      std::size_t g = 0;
      for (std::uint32_t s = 0; s < phases_.size(); ++s) {
        if (s == 0 && begins_with_exchange()) {
          loop = code.row_after_sync(phases_[s].rows[i].code);
        } else if (!phases_[s].rows.empty()) {
          row(phases_[s].rows[i], exchange_step_[s]);
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
    for (auto launch = t.launches.begin(); launch != t.launches.end();) {
      const auto first = launch++;
      while (launch != t.launches.end() && launch->is_with_previous) ++launch;
      groups.push_back({first->superstep, first->step, code_of(std::span(first, launch), storage)});
    }
    return groups;
  }

  [[nodiscard]] TileCode::AnyLaunch code_of(std::span<const PlacedLaunch> launches,
                                            const Storage& storage) const {
    if (launches.size() > 1) {
      TileCode::LaunchTogether together;
      for (const PlacedLaunch& launch : launches) {
        together.push_back({library_.address(launch.codelet),
                            launch.worker_states - machine_.tile.memory_base, launch.stride,
                            launch.busy});
      }
      return together;
    }
    const PlacedLaunch& placed = launches.front();
    const Launch& launch = *placed.launch;
    if (launch.stages.empty()) {
      return TileCode::LaunchAll{library_.address(placed.codelet), placed.worker_states,
                                 launch.worker_words != 0 ? launch.worker_words : placed.stride};
    }
    TileCode::WeightedLaunch weighted{
        .stages = {},
        .state = placed.state,
        .weights = storage.address(launch.weights.buffer, launch.tile) + launch.weights.value,
        .workers = machine_.tile.workers,
        .state_words = launch.worker_words,
        .loads = launch.weight_loads};
    for (const Launch::Stage& stage : launch.stages) {
      weighted.stages.push_back({library_.address(stage.codelet), stage.blocks});
    }
    return weighted;
  }

  /// Segments of equal bytes at equal addresses become one.
  class Segments {
   public:
    void add(TileId tile, std::uint32_t address, std::vector<std::uint8_t> bytes) {
      if (!bytes.empty()) by_content_[{address, std::move(bytes)}].push_back(tile);
    }
    void take(std::vector<Segment>& segments) {
      for (auto& [content, tiles] : by_content_) {
        segments.push_back({std::move(tiles), content.first, content.second});
      }
    }

   private:
    std::map<std::pair<std::uint32_t, std::vector<std::uint8_t>>, std::vector<TileId>> by_content_;
  };

  static std::vector<std::uint8_t> bytes_of(const std::vector<std::uint32_t>& words) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(words.size() * 4);
    for (const std::uint32_t word : words) {
      for (int shift = 0; shift < 32; shift += 8) {
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
      }
    }
    return bytes;
  }

  /// The words of a launch's state; without `storage` every buffer is at address 0.
  [[nodiscard]] static std::vector<std::uint32_t> state_of(const PlacedLaunch& launch,
                                                           const TileProgram& t,
                                                           const Storage* storage) {
    std::vector<std::uint32_t> words;
    for (const StateWord& word : launch.launch->state) {
      std::uint32_t base = 0;
      if (word.base == StateWord::Base::kBuffer && storage != nullptr)
        base = storage->address(word.buffer, t.tile);
      if (word.base == StateWord::Base::kState) base = launch.state;
      if (word.base == StateWord::Base::kScratch) base = t.scratch;
      words.push_back(base + word.value);
    }
    return words;
  }

  /// The states of a tile's launches, and those of their workers.
  [[nodiscard]] std::vector<std::uint32_t> states_of(const TileProgram& t,
                                                     const Storage& storage) const {
    std::vector<std::uint32_t> words;
    const auto append = [&](const std::vector<std::uint32_t>& more) {
      words.insert(words.end(), more.begin(), more.end());
      if (words.size() % 2 != 0) words.push_back(0);
    };
    for (const PlacedLaunch& launch : t.launches) {
      if (launch.shares_state) continue;
      SUPERSTEP_CHECK(t.states + 4 * words.size() == launch.state, "a vertex state has moved");
      const std::vector<std::uint32_t> state = state_of(launch, t, &storage);
      append(state);
      const vertex::Codelet& codelet = library_.codelet(launch.codelet);
      if (codelet.divide) append(codelet.divide(state, launch.state).words);
    }
    return words;
  }

  void add_segments(const Storage& storage) {
    std::vector<std::vector<TileId>> users(library_.codelets().size());
    for (const TileProgram& t : tiles_) {
      std::vector<bool> used(users.size());
      for (const PlacedLaunch& launch : t.launches) {
        const std::vector<Launch::Stage>& stages = launch.launch->stages;
        if (stages.empty()) used[library_.number(launch.codelet)] = true;
        for (const Launch::Stage& stage : stages) used[library_.number(stage.codelet)] = true;
      }
      for (std::size_t c = 0; c < used.size(); ++c) {
        if (used[c]) users[c].push_back(t.tile);
      }
    }
    for (std::size_t c = 0; c < users.size(); ++c) {
      const std::uint32_t address = library_.addresses()[c];
      if (users[c].empty()) continue;
      image_.segments.push_back(
          {users[c], address, bytes_of(vertex::place(library_.codelets()[c], address))});
    }
    Segments states, code, constants;
    for (const TileProgram& t : tiles_) {
      states.add(t.tile, t.states, bytes_of(states_of(t, storage)));
      code.add(t.tile, t.code, bytes_of(t.words));
    }
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      const Buffer& buffer = program_.buffers[b];
      if (buffer.kind != Buffer::Kind::kConstant) continue;
      for (const Interval& interval : buffer.layout->intervals()) {
        const auto* data = reinterpret_cast<const std::uint8_t*>(buffer.contents.data());
        const auto begin = interval.begin * buffer.element_bytes;
        const auto end = interval.end() * buffer.element_bytes;
        for (const TileId tile : interval.tiles) {
          const std::uint32_t address = storage.address(BufferId{b}, tile);
          if (address != 0) constants.add(tile, address, {data + begin, data + end});
        }
      }
    }
    states.take(image_.segments);
    code.take(image_.segments);
    constants.take(image_.segments);
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
    add("codelets", [&](const TileProgram&) { return library_.end() - machine_.tile.memory_base; });
    add("stacks", [&](const TileProgram& t) { return t.states - t.stacks; });
    add("vertex_state", [&](const TileProgram& t) { return t.code - t.states; });
    add("supervisor_code", [&](const TileProgram& t) { return t.code_bytes - t.row_bytes; });
    add("exchange_code", [&](const TileProgram& t) { return t.row_bytes; });
    memory.push_back({"constants", storage.peak_by_tile(Buffer::Kind::kConstant)});
    memory.push_back({"variables", storage.peak_by_tile(Buffer::Kind::kArgument)});
    memory.push_back({"temporaries", storage.peak_by_tile(Buffer::Kind::kTemporary)});
    std::vector<std::uint32_t> fixed(machine_.tiles());
    for (const TileProgram& t : tiles_) {
      fixed[index(t.tile)] = t.code + t.code_bytes - machine_.tile.memory_base;
    }
    describe_liveness(program_, storage, point_by_step_, fixed, image_.info);
  }

  void finish() {
    image_.machine = machine_;
    image_.stack_bytes = library_.stack_bytes();
    image_.info.module = module_.name;
    image_.alias = alias_by_result();
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
  std::optional<BufferId> trip_count_;
  std::vector<std::uint32_t> exchange_step_, compute_step_;  ///< by superstep
  std::vector<std::uint32_t> point_by_step_;                 ///< in time, as storage counts it
  std::vector<ExchangePhase> phases_;                        ///< by superstep
  bool keeps_exchange_plan_;
};

}  // namespace

ProgramImage build_image(const Module& module, const MachineConfig& machine, LoweredProgram program,
                         const std::function<void(std::string_view)>& progress,
                         const std::function<void(const ProgramInfo&)>& on_memory,
                         bool keep_exchange_plan) {
  return Builder(module, machine, std::move(program), keep_exchange_plan)
      .build(progress, on_memory);
}

}  // namespace superstep
