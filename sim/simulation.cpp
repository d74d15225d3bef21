#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sim/chip/chip.h"
#include "sim/host/arguments.h"
#include "sim/instruction_feed.h"
#include "sim/task_arena.h"

namespace superstep {

class Simulation::Impl {
 public:
  Impl(std::shared_ptr<const ProgramImage> image, SimulationOptions options)
      : image_(std::move(image)),
        options_(std::move(options)),
        tile_options_{options_.check_races, options_.max_supersteps, options_.interrupted},
        arena_(options_.threads),
        kernel_([this](std::size_t count, const std::function<void(std::size_t)>& body) {
          arena_.each(count, 1, body);
        }),
        last_step_(static_cast<std::uint32_t>(image_->info.steps.size())),
        arguments_(image_->arguments.size()),
        connected_(image_->arguments.size()),
        chip_(
            ChipId{0}, *image_, tile_options_,
            [this](const MachineConfig& machine) { return make_fabric(machine); }, arena_, kernel_,
            traps_, [this](const SuperstepRecord& record) { add(record); }),
        feed_(chip_.tiles()) {
    for (const TensorType& type : image_->results) results_.emplace_back(type);
    chip_.host().set_program(
        [this](std::uint32_t) { return std::exchange(turn_, HostTurn::kWaits); });
  }

  template <class Done>
  Stop advance(const Done& done) {
    while (true) {
      if (last_stop_) return *last_stop_;
      if (chip_.has_ended()) return {StopKind::kEnd};
      const std::uint64_t supersteps = totals_.supersteps;
      if (!kernel_.step()) return stand_still();
      if (traps_.trap()) return trap(*traps_.trap());
      if (totals_.supersteps == supersteps) continue;
      if (!chip_.has_ended() && is_past_limit()) return trap(limit_trap());
      if (options_.interrupted && options_.interrupted()) return {StopKind::kInterrupted};
      if (const std::optional<StopKind> kind = done()) return {*kind};
    }
  }

  std::unique_ptr<FabricModel> make_fabric(const MachineConfig& machine) const {
    if (options_.make_fabric) return options_.make_fabric(machine);
    return std::make_unique<Fabric>(machine, options_.check_repeats);
  }

  /// No event is left.
  Stop stand_still() {
    if (chip_.tiles().is_interrupted()) return last_stop_.emplace(Stop{StopKind::kInterrupted});
    if (!chip_.barrier(kZoneExternal)->waits_for_host()) {
      return trap(chip_.deadlock(kernel_.now(), kernel_.deadlock()));
    }
    if (chip_.host().visits() > calls_done_) {
      chip_.host().read_results(results_);
      end_call(chip_.host().visits());
    }
    return {StopKind::kCall};
  }

  Stop trap(Trap trap) {
    feed_.deliver();
    trap.superstep = totals_.supersteps;
    return last_stop_.emplace(Stop{StopKind::kTrap, std::move(trap)});
  }

  [[nodiscard]] bool is_past_limit() const {
    return options_.max_supersteps && totals_.supersteps >= *options_.max_supersteps;
  }

  Trap limit_trap() {
    return {.cycle = totals_.cycles,
            .tile = last_,
            .context = "supervisor",
            .pc = chip_.tiles().stop(chip_.tiles().entry_of(last_).value()).pc,
            .cause = fmt::format("the program is not done after {} supersteps: {}",
                                 *options_.max_supersteps, place())};
  }

  [[nodiscard]] std::string place() const {
    std::string text =
        fmt::format("cycle {}, superstep {}", totals_.cycles.value(), totals_.supersteps);
    if (last_step_ >= image_->info.steps.size()) return text;
    const StepInfo& step = image_->info.steps[last_step_];
    text += ", " + step.name;
    const std::string source = step.source.text();
    return source.empty() ? text : text + " of " + source;
  }

  void begin_call(bool is_last) {
    HostLink& host = chip_.host();
    if (last_stop_ || chip_.has_ended()) {
      throw UserError(ExitCode::kUsage, "the program has ended; nothing can be called any more");
    }
    if (turn_ != HostTurn::kWaits || host.visits() > calls_done_) {
      throw UserError(ExitCode::kUsage,
                      "a call of the program is going on; run() brings it to its end");
    }
    std::vector<Problem> problems;
    for (std::uint32_t k = 0; k < arguments_.size(); ++k) {
      if (arguments_[k]) {
        host.set_argument(k, std::as_bytes(std::span(arguments_[k]->data)));
      } else if (host.visits() == 0 && !connected_[k]) {
        problems.push_back(
            {{}, fmt::format("arg{} is not set: it is {}", k, image_->arguments[k].text())});
      }
    }
    if (!problems.empty()) throw MalformedInput(std::move(problems));
    // What they hold now lives until the call is done.
    sent_ = std::exchange(arguments_, std::vector<std::optional<HostTensor>>(arguments_.size()));
    turn_ = is_last ? HostTurn::kLastCall : HostTurn::kCall;
    kernel_.send({.time = kernel_.now(), .to = &host, .message = HostCall{}});
  }

  /// Throws MalformedInput when the program has no such stream.
  const Stream& check_stream(Stream::Kind kind, std::uint32_t position, const char* name) {
    const std::optional<std::size_t> stream = chip_.host().stream_of(kind, position);
    if (stream) return image_->streams[*stream];
    const auto count = std::ranges::count(image_->streams, kind, &Stream::kind);
    throw MalformedInput(
        fmt::format("the program has no {}{}; it has {} such streams", name, position, count));
  }

  void end_call(std::uint32_t calls) {
    calls_done_ = calls;
    for (Observer* observer : observers_) observer->on_call(calls);
  }

  void add(const SuperstepRecord& record) {
    last_ = record.critical;
    feed_.deliver();
    for (Observer* observer : observers_) observer->on_superstep(record);
    totals_.exchange += record.exchange;
    totals_.compute += record.compute;
    totals_.sync += record.sync;
    totals_.host += record.host;
    totals_.worker_instructions += record.worker_instructions.all;
    totals_.cycles = record.end;
    ++totals_.supersteps;
    last_step_ = record.step;
    feed_.open(totals_.supersteps);
    if (!chip_.is_visiting()) return;
    const std::uint32_t calls = chip_.host().visits() - 1;
    if (calls <= calls_done_) return;
    chip_.host().copy_results(results_);
    end_call(calls);
  }

  std::shared_ptr<const ProgramImage> image_;
  SimulationOptions options_;
  TileOptions tile_options_;
  TaskArena arena_;
  MachineKernel kernel_;
  TrapReporter traps_;
  std::vector<Observer*> observers_;
  RunTotals totals_;
  std::uint32_t last_step_;
  std::vector<std::optional<HostTensor>> arguments_, sent_;  ///< for the next call; of this one
  std::vector<bool> connected_;  ///< by argument: a callback gives its values
  std::vector<HostTensor> results_;
  std::uint32_t calls_done_ = 0;
  HostTurn turn_ = HostTurn::kWaits;  ///< of the next call
  TileId last_{};                     ///< to arrive at the last barrier
  std::optional<Stop> last_stop_;     ///< after which nothing runs any more
  Chip chip_;
  InstructionFeed feed_;
};

Simulation::Simulation(std::shared_ptr<const ProgramImage> image, SimulationOptions options) {
  if (std::vector<Problem> found = problems(*image); !found.empty()) {
    throw MalformedInput(std::move(found));
  }
  impl_ = std::make_unique<Impl>(std::move(image), std::move(options));
}
Simulation::Simulation(ProgramImage image, SimulationOptions options)
    : Simulation(std::make_shared<const ProgramImage>(std::move(image)), std::move(options)) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;

const ProgramImage& Simulation::image() const { return *impl_->image_; }

void Simulation::observe(Observer& observer) {
  impl_->feed_.add(observer);
  impl_->feed_.open(impl_->totals_.supersteps);
  impl_->observers_.push_back(&observer);
}

void Simulation::set_argument(std::uint32_t position, HostTensor value) {
  const ProgramImage& image = *impl_->image_;
  check_argument(image, position, value.type);
  if (impl_->chip_.host().visits() > 0 && is_state(image, position)) {
    throw MalformedInput(fmt::format(
        "arg{} is state that the program keeps between calls; it was given to the first call",
        position));
  }
  impl_->arguments_[position] = std::move(value);
}

const HostTensor& Simulation::result(std::uint32_t position) const {
  if (position >= impl_->results_.size()) {
    throw MalformedInput(fmt::format("the program has no result{}; it has {} results", position,
                                     impl_->results_.size()));
  }
  return impl_->results_[position];
}

std::uint32_t Simulation::calls_done() const { return impl_->calls_done_; }

void Simulation::begin_call(bool is_last) { impl_->begin_call(is_last); }

Stop Simulation::call(bool is_last) {
  begin_call(is_last);
  return run();
}

std::vector<HostTensor> Simulation::call(std::vector<HostTensor> arguments, bool is_last) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    set_argument(static_cast<std::uint32_t>(i), std::move(arguments[i]));
  }
  const Stop stop = call(is_last);
  if (stop.kind == StopKind::kTrap) throw UserError(ExitCode::kFailedCheck, stop.trap->text());
  if (stop.kind == StopKind::kInterrupted) {
    throw UserError(ExitCode::kInterrupted, "interrupted at " + place());
  }
  return impl_->results_;
}

void Simulation::set_host_program(HostProgram program) {
  impl_->chip_.host().set_program(std::move(program));
}

void Simulation::send_argument(std::uint32_t position, std::span<const std::byte> bytes) {
  impl_->chip_.host().set_argument(position, bytes);
}

void Simulation::connect_argument(std::uint32_t position, StreamSource source) {
  const ProgramImage& image = *impl_->image_;
  check_argument(image, position);
  if (is_state(image, position)) {
    throw MalformedInput(fmt::format(
        "arg{} is state that the program keeps between calls: set it once, before the first",
        position));
  }
  impl_->connected_[position] = true;
  impl_->chip_.host().connect(Stream::Kind::kArgument, position, std::move(source));
}

void Simulation::connect_result(std::uint32_t position, StreamSink sink) {
  impl_->check_stream(Stream::Kind::kResult, position, "result");
  impl_->chip_.host().connect(Stream::Kind::kResult, position, std::move(sink));
}

void Simulation::feed(std::uint32_t queue, HostTensor value) {
  const Stream& stream = impl_->check_stream(Stream::Kind::kInfeed, queue, "infeed ");
  if (value.type != stream.type) {
    throw MalformedInput(
        fmt::format("infeed {} takes {}, not {}", queue, stream.type.text(), value.type.text()));
  }
  impl_->chip_.host().feed(queue, std::move(value));
}

void Simulation::connect_infeed(std::uint32_t queue, StreamSource source) {
  impl_->check_stream(Stream::Kind::kInfeed, queue, "infeed ");
  impl_->chip_.host().connect(Stream::Kind::kInfeed, queue, std::move(source));
}

std::optional<HostTensor> Simulation::take(std::uint32_t queue) {
  impl_->check_stream(Stream::Kind::kOutfeed, queue, "outfeed ");
  return impl_->chip_.host().take(queue);
}

void Simulation::connect_outfeed(std::uint32_t queue, StreamSink sink) {
  impl_->check_stream(Stream::Kind::kOutfeed, queue, "outfeed ");
  impl_->chip_.host().connect(Stream::Kind::kOutfeed, queue, std::move(sink));
}

Stop Simulation::run() {
  return impl_->advance([] { return std::optional<StopKind>(); });
}

Stop Simulation::run_until(const Breakpoint& breakpoint) {
  return impl_->advance([&]() -> std::optional<StopKind> {
    const RunTotals& totals = impl_->totals_;
    const bool is_there = (breakpoint.superstep && totals.supersteps >= *breakpoint.superstep) ||
                          (breakpoint.cycle && totals.cycles >= *breakpoint.cycle) ||
                          (breakpoint.step && impl_->last_step_ == *breakpoint.step);
    return is_there ? std::optional(StopKind::kBreakpoint) : std::nullopt;
  });
}

Stop Simulation::step_superstep() {
  return impl_->advance([] { return std::optional(StopKind::kSuperstep); });
}

Cycles Simulation::now() const { return impl_->totals_.cycles; }
const RunTotals& Simulation::totals() const { return impl_->totals_; }
std::uint32_t Simulation::last_step() const { return impl_->last_step_; }
std::string Simulation::place() const { return impl_->place(); }

TileView Simulation::tile(TileId id) {
  const std::optional<std::size_t> entry = impl_->chip_.tiles().entry_of(id);
  if (!entry) {
    throw MalformedInput(fmt::format("tile {} has no program; {} tiles have one", index(id),
                                     impl_->chip_.tiles().size()));
  }
  return TileView(impl_->chip_.tiles().tile(*entry));
}

}  // namespace superstep
