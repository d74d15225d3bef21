#include "sim/tile/supervisor.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "isa/bundle.h"
#include "isa/instructions.h"
#include "isa/table.h"
#include "isa/operands.h"
#include "sim/tile/endless_loop.h"
#include "sim/tile/supervisor_environment.h"

namespace superstep {

namespace {

/// In instructions.
constexpr std::uint32_t kPollPeriod = 4096;

template <class R>
auto inputs_of(const SupervisorContext& context, std::uint32_t word, std::uint64_t& issue) {
  return gather(typename R::Operands{}, [&]<class Operand, std::size_t kOrdinal>() {
    if constexpr (Operand::kIsRegister) {
      static_assert(Operand::kCount == 1, "a supervisor instruction with a register pair");
      const std::uint32_t number = isa::raw_of<R, Operand>(word);
      issue = std::max(issue, context.ready[number]);
      return context.registers[number];
    } else {
      return isa::immediate_of<R, Operand>(word);
    }
  });
}

template <class R, class Outputs>
void write_outputs(SupervisorContext& context, std::uint32_t word, std::uint64_t ready,
                   const Outputs& outputs) {
  scatter(typename R::Operands{}, outputs,
          [&]<class Operand, std::size_t kOrdinal>(const auto& value) {
            const std::uint32_t number = isa::raw_of<R, Operand>(word);
            if (number >= isa::kReadOnly) return;
            context.registers[number] = value;
            context.ready[number] = ready;
          });
}

template <class R>
void run_instruction(Supervisor& supervisor, std::uint32_t word) {
  SupervisorContext& context = supervisor.context();
  if constexpr (R::spec.words == 2) {
    if (context.pc % 8 != 0) [[unlikely]]
      return supervisor.fault("a two-word instruction that is not 8-byte aligned");
  }
  const MachineConfig::Costs& costs = supervisor.machine().costs;
  std::uint64_t issue = context.now;
  const auto inputs = inputs_of<R>(context, word, issue);
  context.operands_ready = issue;
  issue = supervisor.launcher().free_slot(context, issue);
  context.issued = issue;
  if (supervisor.launcher().stops(context, issue)) [[unlikely]] {
    context.now = issue;
    return;
  }
  SupervisorEnvironment env(context, supervisor.launcher(), issue);
  const auto outputs = execute_record<R>(env, inputs);
  if (env.stopped()) [[unlikely]] {
    context.now = issue;
    return;
  }
  write_outputs<R>(context, word, issue + costs.result_latency, outputs);
  context.now = issue + 1 + env.extra();
  if (!env.taken()) {
    context.pc += 4 * R::spec.words;
    return;
  }
  if (context.calls.branch(context.pc, env.target())) context.loops.call(context.calls.step());
  context.loops.branch(context.pc, context.calls.step());
  context.pc = env.target();
  context.now = issue + costs.taken_branch;
  if (context.loops.is_past_limit()) [[unlikely]] {
    supervisor.fault("more trips of loops without a sync than the limit of supersteps",
                     TrapKind::kLimit);
  }
}

template <class R>
constexpr Supervisor::Handler handler_of() {
  if constexpr (R::spec.where != isa::Where::kWorker && are_single_main(typename R::Operands{})) {
    return run_instruction<R>;
  } else {
    return nullptr;
  }
}

template <class... Records>
constexpr std::array<Supervisor::Handler, sizeof...(Records)> handlers(isa::List<Records...>) {
  return {handler_of<Records>()...};
}

/// An instruction that a supervisor has.
struct Candidate {
  std::uint32_t mask, value;
  Supervisor::Handler handler;
  Supervisor::RunRow run_row;  ///< of those that are in rows, else null
};

template <class R, class... Records>
constexpr bool is_one_of(isa::List<Records...>) {
  return (std::is_same_v<R, Records> || ...);
}

template <class R>
constexpr Supervisor::RunRow row_of() {
  if (is_one_of<R>(isa::ExchangeInstructions{})) return &Supervisor::run_exchange_row;
  if (std::is_same_v<R, isa::Ld128putcs>) return &Supervisor::run_weight_row;
  return nullptr;
}

template <class... Records>
constexpr std::array<Supervisor::RunRow, sizeof...(Records)> rows(isa::List<Records...>) {
  return {row_of<Records>()...};
}

/// Candidates by `isa::bucket_of`; few share a bucket.
std::array<std::vector<Candidate>, isa::kBuckets> build_candidates() {
  constexpr auto kHandlers = handlers(isa::Isa{});
  constexpr auto kRows = rows(isa::Isa{});
  std::array<std::vector<Candidate>, isa::kBuckets> candidates;
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    if (kHandlers[info.number] == nullptr) continue;
    const isa::Pattern pattern = info.pattern;
    for (std::uint32_t bucket = 0; bucket < candidates.size(); ++bucket) {
      if (!isa::may_hold(bucket, pattern)) continue;
      candidates[bucket].push_back({pattern.mask | isa::kCoIssue, pattern.value,
                                    kHandlers[info.number], kRows[info.number]});
    }
  }
  return candidates;
}

/// Null when a supervisor cannot execute the word.
const Candidate* find_candidate(std::uint32_t word) {
  static const auto candidates = build_candidates();
  for (const Candidate& candidate : candidates[isa::bucket_of(word)]) {
    if ((word & candidate.mask) == candidate.value) return &candidate;
  }
  return nullptr;
}

/// Why not.
const char* problem_of(std::uint32_t word) {
  const isa::InstructionInfo* info = isa::find_instruction(word);
  if (info == nullptr) return "an illegal instruction";
  if ((info->pattern.mask >> 31) == 0 && word >> 31 != 0) return "a bundle on the supervisor";
  return "an instruction that the supervisor does not have";
}

}  // namespace

Supervisor::Supervisor(const MachineConfig& machine, TileMemory& memory, CodeStore& code)
    : machine_(machine),
      memory_(memory),
      context_(machine, memory),
      launcher_(machine, memory, code),
      rows_(machine, memory) {}

void Supervisor::boot(std::uint32_t pc) {
  context_.registers.fill(0);
  context_.ready.fill(0);
  context_.csrs.clear();
  context_.calls.clear();
  context_.loops.clear();
  context_.pc = pc;
  context_.now = 0;
  context_.earliest = 0;
  context_.armed.reset();
}

void Supervisor::fault(const char* cause, TrapKind kind) {
  launcher_.advance(context_, context_.now);
  if (launcher_.stops(context_, context_.now)) return;
  context_.stop = SupervisorContext::Stop::kFault;
  context_.cause = cause;
  context_.kind = kind;
}

bool Supervisor::is_alone() const {
  return observer_ == nullptr && context_.slots.all_left() <= context_.now;
}

bool Supervisor::run_exchange_row() {
  if (!is_alone()) return false;
  const PortRow* const row = rows_.find(context_.pc);
  if (row == nullptr || row->end() == context_.pc) return false;
  if (row->has_events()) context_.ports.add(*row, context_.now);
  context_.now += row->cycles();
  context_.pc = row->end();
  context_.outgoing = row->outgoing().value_or(context_.outgoing);
  context_.send_control = row->send_control().value_or(context_.send_control);
  return true;
}

bool Supervisor::run_weight_row() {
  using Load = isa::Ld128putcs;
  constexpr isa::Pattern kPattern = isa::pattern_of(Load::spec.encoding);
  if (!is_alone() || !context_.ports.empty()) return false;
  context_.port.open();
  const MemoryPort port = context_.port;
  Weights& weights = launcher_.weights();
  const std::uint32_t end = machine_.tile.region1_base;
  std::uint32_t pc = context_.pc, address = context_.csrs[isa::kCccsLoad];
  for (; pc < end && port.allowed<isa::U128>(address); pc += 4, address += sizeof(isa::U128)) {
    const auto word = port.load<std::uint32_t>(pc);
    const std::uint32_t number = isa::raw_of<Load, isa::Imm<'i'>>(word);
    if ((word & (kPattern.mask | isa::kCoIssue)) != kPattern.value ||
        number + 1 >= Weights::kCount) {
      break;
    }
    weights.set_words(number, port.load<isa::U128>(address));
  }
  const std::uint32_t loads = (pc - context_.pc) / 4;
  if (loads == 0) return false;
  weights.spread();
  context_.pc = pc;
  context_.csrs.set(isa::kCccsLoad, address);
  context_.now += loads;
  return true;
}

void Supervisor::run() {
  context_.stop = SupervisorContext::Stop::kNone;
  std::uint64_t limit = context_.now + kMostCycles;
  for (std::uint32_t turn = 1; context_.stop == SupervisorContext::Stop::kNone; ++turn) {
    const std::uint32_t pc = context_.pc;
    if (!memory_.has_code(pc)) [[unlikely]] {
      if (pc % 4 != 0 || pc < machine_.tile.memory_base || pc >= machine_.tile.region1_base) {
        return fault("execution outside the executable region");
      }
      memory_.open_code(pc);
    }
    const std::uint32_t word = memory_.code(pc);
    const Candidate* const found = find_candidate(word);
    if (found == nullptr) [[unlikely]]
      return fault(problem_of(word));
    const std::uint64_t earliest = context_.now;
    if (found->run_row == nullptr || !(this->*found->run_row)()) found->handler(*this, word);
    if (observer_ != nullptr && (context_.stop == SupervisorContext::Stop::kNone ||
                                 context_.stop == SupervisorContext::Stop::kSync)) {
      observer_->issued({.context = IssuedInstruction::kSupervisor,
                         .pc = pc,
                         .words = {word, 0},
                         .instructions = 1,
                         .cycle = context_.issued,
                         .cycles = context_.now - context_.issued,
                         .register_wait = context_.operands_ready - earliest,
                         .slot_wait = context_.issued - context_.operands_ready});
    }
    if (context_.now > limit) [[unlikely]] {
      // Workers that run have limits of their own.
      limit = std::min(context_.now, context_.slots.all_left()) + kMostCycles;
      if (context_.now > limit) {
        return fault("more than 2^34 cycles without a sync or a worker: an endless loop",
                     TrapKind::kLimit);
      }
    }
    if (turn % kPollPeriod == 0 && poll_ != nullptr && (*poll_)()) {
      context_.stop = SupervisorContext::Stop::kInterrupted;
    }
  }
}

}  // namespace superstep
