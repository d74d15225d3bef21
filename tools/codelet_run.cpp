#include "tools/codelet_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "isa/instruction_word.h"
#include "isa/machine_limits.h"
#include "isa/registers.h"
#include "isa/sync_zones.h"
#include "isa/timing.h"

namespace superstep {

namespace {

/// Region 0 begins with the program that makes the call and ends with the stacks.
std::uint32_t program_bytes(const MachineConfig& machine) {
  constexpr std::uint32_t kOfMk2 = 0x100;
  return machine.tile.workers <= limits_of(Encoding::kMk2).workers ? kOfMk2 : 2 * kOfMk2;
}
constexpr std::uint32_t kSupervisorStackBytes = 0x1000;
/// Workers use scratch above $mworker_base, and grow stacks down from it.
constexpr std::uint32_t kWorkerStackBytes = 0x800, kBelowWorkerBase = 0x400;

constexpr TileId kTile{0};

/// Two words for any value: what follows has its place.
void load_constant(std::vector<std::uint32_t>& words, std::uint32_t number, std::uint32_t value) {
  words.push_back(encode("setzi $d, i", {number, value & 0xfffffU}));
  words.push_back(encode("or", {number, number, value & 0xfff00000U}));
}

/// An image in which one tile waits for its program.
ProgramImage image_of(MachineConfig machine) {
  const auto& tile = machine.tile;
  const std::uint64_t needed = program_bytes(machine) + kSupervisorStackBytes +
                               std::uint64_t{tile.workers} * kWorkerStackBytes;
  if (tile.region1_base < tile.memory_base + needed) {
    throw DoesNotFit(fmt::format(
        "the executable region of {:#x} bytes has no room for stacks and program, {:#x} bytes",
        tile.region1_base - tile.memory_base, needed));
  }
  ProgramImage image;
  image.entries = {{kTile, tile.memory_base}};
  image.machine = std::move(machine);
  return image;
}

SimulationOptions options_of(CodeletOptions options) {
  return {.check_races = options.check_races,
          .take_turns = options.take_turns,
          .interrupted = std::move(options.interrupted)};
}

}  // namespace

std::uint64_t CodeletCost::slowest_worker_clocks() const {
  std::uint64_t most = 0;
  for (const std::uint64_t slots : worker_slots) most = std::max(most, slots);
  return most * issue_period;
}

/// Hands on what happens inside a call, with its cycles.
class CodeletRun::CallObserver : public Observer {
 public:
  CallObserver(InstructionObserver& next, std::uint64_t superstep, std::uint64_t begin,
               std::uint32_t return_pc)
      : next_(next), superstep_(superstep), begin_(begin), return_pc_(return_pc) {}

  [[nodiscard]] Watch watch() const override {
    return {.tiles = {kTile},
            .first_superstep = superstep_,
            .last_superstep = superstep_,
            .as_issued = true};
  }
  void on_instruction(TileId /*tile*/, const IssuedInstruction& instruction) override {
    if (instruction.cycle < begin_ || instruction.pc == return_pc_) return;
    IssuedInstruction inside = instruction;
    inside.cycle -= begin_;
    next_.issued(inside);
  }

 private:
  InstructionObserver& next_;
  std::uint64_t superstep_;
  std::uint64_t begin_;
  std::uint32_t return_pc_;
};

/// When the tile came to its last sync.
class CodeletRun::Arrivals : public Observer {
 public:
  void on_superstep(const SuperstepRecord& record) override {
    last_ = (record.end - record.sync).value();
    zone_ = record.zone;
  }
  [[nodiscard]] std::uint64_t last() const { return last_; }
  [[nodiscard]] std::uint32_t zone() const { return zone_; }

 private:
  std::uint64_t last_ = 0;
  std::uint32_t zone_ = 0;
};

CodeletRun::CodeletRun(MachineConfig machine, CodeletOptions options)
    : arrivals_(std::make_unique<Arrivals>()),
      simulation_(image_of(std::move(machine)), options_of(std::move(options))),
      tile_(simulation_.tile(kTile)) {
  simulation_.observe(*arrivals_);
}

CodeletRun::~CodeletRun() = default;

std::uint32_t CodeletRun::free_begin() const {
  return machine().tile.memory_base + program_bytes(machine());
}

std::uint32_t CodeletRun::free_end() const { return stacks_begin(); }

std::uint32_t CodeletRun::stacks_begin() const {
  return machine().tile.region1_base - kSupervisorStackBytes -
         machine().tile.workers * kWorkerStackBytes;
}

bool CodeletRun::write(std::uint32_t address, std::span<const std::byte> bytes) {
  return tile_.write(address, bytes);
}

bool CodeletRun::read(std::uint32_t address, std::span<std::byte> bytes) {
  return tile_.read(address, bytes);
}

void CodeletRun::load(const LinkedCode& code) {
  SUPERSTEP_CHECK(code.address >= free_begin() && code.end() <= free_end(),
                  "code is linked for the free part of region 0");
  SUPERSTEP_CHECK(write(code.address, std::as_bytes(std::span(code.bytes))), "code fits the tile");
}

/// Of the `sync` behind the call, where the tile waits for the next one.
std::uint32_t CodeletRun::return_pc() const {
  // Five constants; another one and a `put` for each worker; the `put` of FP_ICTL, a sync, the
  // call.
  return machine().tile.memory_base + 4 * (5 * 2 + machine().tile.workers * 3 + 3);
}

/// Two supersteps, to a sync each: what a call finds in registers, then the call. Behind its sync
/// the next one begins.
std::vector<std::uint32_t> CodeletRun::program_for(CodeletKind kind, std::uint32_t entry,
                                                   std::uint32_t vertex_state) const {
  constexpr std::uint32_t kState = 0, kEntry = 1, kOffset = 2, kValue = 3;
  const std::uint32_t begin = machine().tile.memory_base;
  std::vector<std::uint32_t> words;
  load_constant(words, isa::kStackPointer, machine().tile.region1_base);
  load_constant(words, kState, vertex_state);
  load_constant(words, kOffset, vertex_state - begin);
  load_constant(words, kEntry, entry);
  load_constant(words, kValue, fp_control_);
  words.push_back(encode("put", {isa::kFpIctl, kValue}));
  for (std::uint32_t w = 0; w < machine().tile.workers; ++w) {
    load_constant(words, kValue, stacks_begin() + w * kWorkerStackBytes + kBelowWorkerBase);
    words.push_back(encode("put", {isa::kFirstWorkerBase + w, kValue}));
  }
  words.push_back(encode("sync", {kZoneInternal}));
  // The function that is called when there is none of the user's begins behind both words.
  const std::uint32_t function = kind == CodeletKind::kSupervisor ? entry : return_pc() + 8;
  words.push_back(encode("call", {isa::kLinkRegister, function}));
  SUPERSTEP_CHECK(begin + 4 * words.size() == return_pc(), "a call returns to its place");
  words.push_back(encode("sync", {kZoneInternal}));
  words.push_back(encode("bri", {begin}));
  if (kind != CodeletKind::kSupervisor) {
    words.push_back(encode("setzi $d, i", {kEntry, entry & 0xfffffU}));
    if (entry >> 20 != 0) words.push_back(encode("or", {kEntry, kEntry, entry & 0xfff00000U}));
    words.push_back(kind == CodeletKind::kWorker ? encode("run", {kEntry, kOffset, 0})
                                                 : encode("runall", {kEntry, kState, 0}));
    words.push_back(encode("sync", {kZoneLocal}));
    words.push_back(encode("br", {isa::kLinkRegister}));
  }
  SUPERSTEP_CHECK(4 * words.size() <= program_bytes(machine()),
                  "the calling program has its place");
  return words;
}

std::optional<Trap> CodeletRun::fault_of(const Stop& stop, bool has_arrived) {
  if (stop.kind == StopKind::kTrap) return stop.trap;
  const std::uint32_t pc = tile_.supervisor_pc();
  Trap fault;
  fault.cycle = simulation_.now();
  fault.context = "supervisor";
  fault.pc = pc;
  if (!has_arrived && stop.kind == StopKind::kInterrupted) {
    fault.cause = "interrupted from outside";
  } else if (!has_arrived || arrivals_->zone() != kZoneInternal) {
    fault.cause = "a sync with a host that is not there";
  } else if (pc != return_pc() + 4) {
    fault.cause = "a sync with tiles that are not there";
  } else {
    return std::nullopt;
  }
  return fault;
}

CodeletCost CodeletRun::call(CodeletKind kind, std::uint32_t entry, std::uint32_t vertex_state) {
  SUPERSTEP_CHECK(!fault_, "a tile is not used after a fault");
  const std::vector<std::uint32_t> program = program_for(kind, entry, vertex_state);
  SUPERSTEP_CHECK(write(machine().tile.memory_base, std::as_bytes(std::span(program))),
                  "the program fits the tile");
  simulation_.step_superstep();
  CodeletCost cost;
  cost.issue_period = machine().issue_period();
  for (std::uint32_t w = 0; w < machine().tile.workers; ++w) {
    cost.worker_slots.push_back(tile_.worker_busy_cycles(w));
  }
  cost.worker_instructions = tile_.worker_instructions();
  const std::uint64_t superstep = simulation_.totals().supersteps;
  const std::uint64_t begin =
      (simulation_.now() + release_skew(machine(), kTile)).value() + machine().costs.taken_branch;
  if (observer_ != nullptr) {
    call_observers_.push_back(
        std::make_unique<CallObserver>(*observer_, superstep, begin, return_pc()));
    simulation_.observe(*call_observers_.back());
  }
  const Stop stop = simulation_.step_superstep();
  fault_ = fault_of(stop, simulation_.totals().supersteps > superstep);
  const std::uint64_t end = fault_ ? fault_->cycle.value() : arrivals_->last();
  cost.cycles = end - std::min(end, begin);
  if (fault_) fault_->cycle = Cycles(cost.cycles);
  for (std::uint32_t w = 0; w < machine().tile.workers; ++w) {
    cost.worker_slots[w] =
        (tile_.worker_busy_cycles(w) - cost.worker_slots[w]) / machine().issue_period();
  }
  cost.worker_instructions = tile_.worker_instructions() - cost.worker_instructions;
  return cost;
}

}  // namespace superstep
