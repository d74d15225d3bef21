#include "sim/tile/supervisor.h"

#include <algorithm>

#include "isa/instructions.h"
#include "isa/table.h"
#include "sim/tile/operands.h"
#include "sim/tile/supervisor_environment.h"

namespace superstep {

namespace {

using isa::Control;

/// An endless loop without a sync, in cycles of one `run`.
constexpr std::uint64_t kMostCycles = std::uint64_t{1} << 34;

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
            if (number == isa::kZero) return;
            context.registers[number] = value;
            context.ready[number] = ready;
          });
}

template <class R>
void run_instruction(Supervisor& supervisor, std::uint32_t word) {
  SupervisorContext& context = supervisor.context();
  const MachineConfig::Costs& costs = supervisor.machine().costs;
  std::uint64_t issue = context.now;
  const auto inputs = inputs_of<R>(context, word, issue);
  issue = context.slots.free_from(issue);
  SupervisorEnvironment env(context, supervisor.launcher(), issue);
  const auto outputs = execute_record<R>(env, inputs);
  if (env.stopped()) [[unlikely]] {
    context.now = issue;
    return;
  }
  write_outputs<R>(context, word, issue + costs.result_latency, outputs);
  context.now = issue + 1 + env.extra();
  context.pc = env.taken() ? env.target() : context.pc + 4 * R::spec.words;
  if (env.taken()) context.now = issue + costs.taken_branch;
}

template <class... Operands>
constexpr bool fits_supervisor(isa::List<Operands...>) {
  return ([] {
    if constexpr (Operands::kIsRegister) {
      return Operands::kFile == isa::File::kMain && Operands::kCount == 1;
    } else {
      return true;
    }
  }() && ...);
}

template <class R>
constexpr Supervisor::Run handler_of() {
  if constexpr (R::spec.where != isa::Where::kWorker && fits_supervisor(typename R::Operands{})) {
    return run_instruction<R>;
  } else {
    return nullptr;
  }
}

template <class... Records>
constexpr std::array<Supervisor::Run, sizeof...(Records)> handlers(isa::List<Records...>) {
  return {handler_of<Records>()...};
}
constexpr auto kHandlers = handlers(isa::Isa{});

}  // namespace

Supervisor::Supervisor(const MachineConfig& machine, TileMemory& memory, CodeStore& code)
    : machine_(machine),
      context_(machine, memory),
      launcher_(machine, memory, context_.weights, code),
      pages_((machine.tile.region1_base - machine.tile.memory_base) / 4 / kPageWords + 1) {}

void Supervisor::boot(std::uint32_t pc) {
  context_.port.open();
  context_.registers.fill(0);
  context_.ready.fill(0);
  context_.csrs.fill(0);
  context_.pc = pc;
  context_.now = 0;
}

Supervisor::Run Supervisor::run_of(std::uint32_t pc) {
  if (code_version_ != context_.port.memory().code_version()) [[unlikely]] {
    code_version_ = context_.port.memory().code_version();
    for (std::unique_ptr<Page>& page : pages_) page.reset();
  }
  if (pc % 4 != 0 || pc < machine_.tile.memory_base || pc >= machine_.tile.region1_base)
      [[unlikely]] {
    fault("execution outside the executable region");
    return nullptr;
  }
  const std::uint32_t index = (pc - machine_.tile.memory_base) / 4;
  std::unique_ptr<Page>& page = pages_[index / kPageWords];
  if (page == nullptr) [[unlikely]]
    page = std::make_unique<Page>();
  std::uint16_t& number = (*page)[index % kPageWords];
  if (number == 0) [[unlikely]] {
    number = decode(pc);
    if (number == 0) return nullptr;
  }
  return kHandlers[number - 1U];
}

/// The instruction's number + 1, or 0 after a fault.
std::uint16_t Supervisor::decode(std::uint32_t pc) {
  TileMemory& memory = context_.port.memory();
  const std::uint32_t word = memory.word(pc);
  const isa::InstructionInfo* info = isa::find_instruction(word);
  const char* problem = nullptr;
  if (info == nullptr) {
    problem = "an illegal instruction";
  } else if ((info->pattern.mask >> 31) == 0 && word >> 31 != 0) {
    problem = "a bundle on the supervisor";
  } else if (kHandlers[info->number] == nullptr) {
    problem = "an instruction that the supervisor does not have";
  } else if (info->spec.words == 2 && pc % 8 != 0) {
    problem = "a two-word instruction that is not 8-byte aligned";
  }
  if (problem != nullptr) {
    fault(problem);
    return 0;
  }
  for (std::uint32_t w = 0; w < info->spec.words; ++w) memory.mark_decoded(pc + 4 * w);
  return static_cast<std::uint16_t>(info->number + 1);
}

void Supervisor::fault(const char* cause) {
  context_.stop = SupervisorContext::Stop::kFault;
  context_.cause = cause;
}

void Supervisor::run() {
  context_.stop = SupervisorContext::Stop::kNone;
  const std::uint64_t limit = context_.now + kMostCycles;
  while (context_.stop == SupervisorContext::Stop::kNone) {
    const Run run = run_of(context_.pc);
    if (run == nullptr) return;
    run(*this, context_.port.load<std::uint32_t>(context_.pc));
    if (context_.now > limit) [[unlikely]] {
      return fault("more than 2^34 cycles without a sync: an endless loop");
    }
  }
}

}  // namespace superstep
