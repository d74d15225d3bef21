#include "sim/codelet_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "isa/assembler.h"
#include "isa/machine_limits.h"
#include "isa/registers.h"
#include "isa/sync_zones.h"
#include "sim/tile/worker_launcher.h"

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

/// Cycles between setting up and the call, so that no result is waited for.
constexpr std::uint64_t kSettle = 64;

void load_constant(std::vector<std::uint32_t>& words, std::uint32_t number, std::uint32_t value) {
  words.push_back(encode("setzi $d, i", {number, value & 0xfffffU}));
  if (value >> 20 != 0) words.push_back(encode("or", {number, number, value & 0xfff00000U}));
}

}  // namespace

std::uint64_t CodeletCost::slowest_worker_clocks() const {
  std::uint64_t most = 0;
  for (const std::uint64_t slots : worker_slots) most = std::max(most, slots);
  return most * issue_period;
}

/// Hands on what happens inside the call, with its cycles.
class CodeletRun::CallObserver : public InstructionObserver {
 public:
  void begin(InstructionObserver* next, std::uint64_t begin, std::uint32_t return_pc) {
    next_ = next;
    begin_ = begin;
    return_pc_ = return_pc;
  }
  void issued(const IssuedInstruction& instruction) override {
    if (instruction.cycle < begin_ || instruction.pc == return_pc_) return;
    IssuedInstruction inside = instruction;
    inside.cycle -= begin_;
    next_->issued(inside);
  }

 private:
  InstructionObserver* next_ = nullptr;
  std::uint64_t begin_ = 0;
  std::uint32_t return_pc_ = 0;
};

CodeletRun::CodeletRun(MachineConfig machine)
    : machine_(std::move(machine)),
      code_(machine_),
      race_shadows_(machine_),
      tile_(machine_, TileId{0}, code_),
      call_observer_(std::make_unique<CallObserver>()) {
  const auto& tile = machine_.tile;
  const std::uint64_t needed = program_bytes(machine_) + kSupervisorStackBytes +
                               std::uint64_t{tile.workers} * kWorkerStackBytes;
  if (tile.region1_base < tile.memory_base + needed) {
    throw DoesNotFit(fmt::format(
        "the executable region of {:#x} bytes has no room for stacks and program, {:#x} bytes",
        tile.region1_base - tile.memory_base, needed));
  }
}

CodeletRun::~CodeletRun() = default;

std::uint32_t CodeletRun::free_begin() const {
  return machine_.tile.memory_base + program_bytes(machine_);
}

std::uint32_t CodeletRun::free_end() const { return stacks_begin(); }

std::uint32_t CodeletRun::stacks_begin() const {
  return machine_.tile.region1_base - kSupervisorStackBytes -
         machine_.tile.workers * kWorkerStackBytes;
}

bool CodeletRun::write(std::uint32_t address, std::span<const std::byte> bytes) {
  return tile_.memory().write(address, bytes);
}

bool CodeletRun::read(std::uint32_t address, std::span<std::byte> bytes) {
  return tile_.memory().read(address, bytes);
}

void CodeletRun::load(const LinkedCode& code) {
  SUPERSTEP_CHECK(code.address >= free_begin() && code.end() <= free_end(),
                  "code is linked for the free part of region 0");
  SUPERSTEP_CHECK(write(code.address, std::as_bytes(std::span(code.bytes))), "code fits the tile");
}

void CodeletRun::poll(std::function<bool()> interrupted) {
  poll_ = std::move(interrupted);
  tile_.poll(poll_);
}

CodeletRun::Program CodeletRun::program_for(CodeletKind kind, std::uint32_t entry,
                                            std::uint32_t vertex_state) const {
  constexpr std::uint32_t kState = 0, kEntry = 1, kOffset = 2, kValue = 3;
  Program program;
  std::vector<std::uint32_t>& words = program.words;
  for (std::uint32_t w = 0; w < machine_.tile.workers; ++w) {
    load_constant(words, kValue, stacks_begin() + w * kWorkerStackBytes + kBelowWorkerBase);
    words.push_back(encode("put", {isa::kFirstWorkerBase + w, kValue}));
  }
  load_constant(words, kValue, fp_control_);
  words.push_back(encode("put", {isa::kFpIctl, kValue}));
  load_constant(words, isa::kStackPointer, machine_.tile.region1_base);
  load_constant(words, kState, vertex_state);
  load_constant(words, kOffset, vertex_state - machine_.tile.memory_base);
  words.push_back(encode("sync", {kZoneInternal}));
  const auto here = [&] {
    return machine_.tile.memory_base + static_cast<std::uint32_t>(4 * words.size());
  };
  // The call, the sync that it returns to, and the function when there is none of the user's.
  const std::uint32_t function = kind == CodeletKind::kSupervisor ? entry : here() + 8;
  words.push_back(encode("call", {isa::kLinkRegister, function}));
  program.return_pc = here();
  words.push_back(encode("sync", {kZoneInternal}));
  if (kind != CodeletKind::kSupervisor) {
    load_constant(words, kEntry, entry);
    words.push_back(kind == CodeletKind::kWorker ? encode("run", {kEntry, kOffset, 0})
                                                 : encode("runall", {kEntry, kState, 0}));
    words.push_back(encode("sync", {kZoneLocal}));
    words.push_back(encode("br", {isa::kLinkRegister}));
  }
  SUPERSTEP_CHECK(4 * words.size() <= program_bytes(machine_), "the calling program has its place");
  return program;
}

CodeletCost CodeletRun::call(CodeletKind kind, std::uint32_t entry, std::uint32_t vertex_state) {
  SUPERSTEP_CHECK(!fault_, "a tile is not used after a fault");
  const Program program = program_for(kind, entry, vertex_state);
  SUPERSTEP_CHECK(write(machine_.tile.memory_base, std::as_bytes(std::span(program.words))),
                  "the program fits the tile");
  CodeletCost cost;
  cost.issue_period = machine_.issue_period();
  for (std::uint32_t w = 0; w < machine_.tile.workers; ++w) {
    cost.worker_slots.push_back(tile_.worker_busy_cycles(w));
  }
  cost.worker_instructions = tile_.worker_instructions();
  tile_.boot(machine_.tile.memory_base);
  TileStop stop = tile_.run(clock_);
  std::uint64_t begin = stop.cycle;
  if (stop.kind == TileStop::Kind::kSync) {
    const std::uint64_t release = stop.cycle + kSettle;
    begin = release + machine_.costs.taken_branch;
    call_observer_->begin(observer_, begin, program.return_pc);
    tile_.observe(observer_ == nullptr ? nullptr : call_observer_.get());
    stop = tile_.run(release);
    tile_.observe(nullptr);
  }
  if (stop.kind == TileStop::Kind::kFault) {
    fault_ = tile_.fault();
  } else if (stop.kind == TileStop::Kind::kInterrupted) {
    fault_ = TileFault{stop.cycle, "supervisor", stop.pc, "interrupted from outside"};
  } else if (stop.kind == TileStop::Kind::kExchangeDone) {
    fault_ =
        TileFault{stop.cycle, "supervisor", stop.pc, "an exchange with tiles that are not there"};
  } else if (stop.pc != program.return_pc) {
    fault_ = TileFault{stop.cycle, "supervisor", stop.pc,
                       fmt::format("a sync of zone {} with tiles that are not there", stop.zone)};
  }
  clock_ = stop.cycle + kSettle;
  cost.cycles = stop.cycle - std::min(stop.cycle, begin);
  if (fault_) fault_->cycle -= std::min(fault_->cycle, begin);
  for (std::uint32_t w = 0; w < machine_.tile.workers; ++w) {
    cost.worker_slots[w] =
        (tile_.worker_busy_cycles(w) - cost.worker_slots[w]) / machine_.issue_period();
  }
  cost.worker_instructions = tile_.worker_instructions() - cost.worker_instructions;
  return cost;
}

}  // namespace superstep
