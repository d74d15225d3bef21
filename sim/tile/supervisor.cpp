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
    constexpr isa::Field kField = isa::field_of(R::spec.encoding, Operand::kLetter);
    if constexpr (Operand::kIsRegister) {
      static_assert(Operand::kCount == 1, "a supervisor instruction with a register pair");
      const std::uint32_t number = kField.extract(word);
      issue = std::max(issue, context.ready[number]);
      return context.registers[number];
    } else {
      return isa::immediate_of<Operand>(kField, word);
    }
  });
}

template <class R, class Outputs>
void write_outputs(SupervisorContext& context, std::uint32_t word, std::uint64_t ready,
                   const Outputs& outputs) {
  scatter(typename R::Operands{}, outputs,
          [&]<class Operand, std::size_t kOrdinal>(const auto& value) {
            constexpr isa::Field kField = isa::field_of(R::spec.encoding, Operand::kLetter);
            const std::uint32_t number = kField.extract(word);
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
const std::vector<Supervisor::Run>& handlers(isa::List<Records...>) {
  static const std::vector<Supervisor::Run> all = {handler_of<Records>()...};
  return all;
}

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

Supervisor::Step* Supervisor::step_at(std::uint32_t pc) {
  if (code_version_ != context_.port.memory().code_version()) [[unlikely]] {
    code_version_ = context_.port.memory().code_version();
    for (std::unique_ptr<Page>& page : pages_) page.reset();
  }
  const std::uint32_t index = (pc - machine_.tile.memory_base) / 4;
  if (pc % 4 != 0 || pc < machine_.tile.memory_base || pc >= machine_.tile.region1_base)
      [[unlikely]] {
    fault("execution outside the executable region");
    return nullptr;
  }
  std::unique_ptr<Page>& page = pages_[index / kPageWords];
  if (page == nullptr) page = std::make_unique<Page>();
  Step& step = (*page)[index % kPageWords];
  if (step.run == nullptr && !decode(step, pc)) return nullptr;
  return &step;
}

bool Supervisor::decode(Step& step, std::uint32_t pc) {
  TileMemory& memory = context_.port.memory();
  step.word = memory.word(pc);
  const isa::InstructionInfo* info = isa::find_instruction(step.word);
  const bool bundled = info != nullptr && (info->pattern.mask >> 31) == 0 && step.word >> 31 != 0;
  if (info == nullptr || bundled) {
    fault(bundled ? "a bundle on the supervisor" : "an illegal instruction");
    return false;
  }
  step.run = handlers(isa::Isa{})[info->number];
  if (step.run == nullptr) {
    fault("an instruction that the supervisor does not have");
    return false;
  }
  if (info->spec.words == 2 && pc % 8 != 0) {
    step.run = nullptr;
    fault("a two-word instruction that is not 8-byte aligned");
    return false;
  }
  for (std::uint32_t w = 0; w < info->spec.words; ++w) memory.mark_decoded(pc + 4 * w);
  return true;
}

void Supervisor::fault(const char* cause) {
  context_.stop = SupervisorContext::Stop::kFault;
  context_.cause = cause;
}

void Supervisor::run() {
  context_.stop = SupervisorContext::Stop::kNone;
  const std::uint64_t limit = context_.now + kMostCycles;
  while (context_.stop == SupervisorContext::Stop::kNone) {
    Step* step = step_at(context_.pc);
    if (step == nullptr) return;
    step->run(*this, step->word);
    if (context_.now > limit) [[unlikely]] {
      return fault("more than 2^34 cycles without a sync: an endless loop");
    }
  }
}

}  // namespace superstep
