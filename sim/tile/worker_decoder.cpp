#include "sim/tile/worker_decoder.h"

#include <fmt/format.h>

#include "isa/bundle.h"
#include "isa/instruction_word.h"
#include "isa/instructions.h"
#include "isa/registers.h"
#include "isa/table.h"
#include "sim/tile/amp_line.h"

namespace superstep {

namespace {

using isa::Control;
using isa::InstructionInfo;
using isa::OperandInfo;
using isa::Role;

/// Steps run on to each other only inside such a piece of code: builds without tail calls nest a
/// call for each step.
constexpr std::uint32_t kMostLineBytes = 512;

const WorkerStep* run_fault(WorkerContext& context, const WorkerStep* step) {
  context.stopped = step;
  context.fail(step->fault->cause.c_str(), step->pc, step->fault->kind);
  return nullptr;
}

std::uint8_t place_of_register(const OperandInfo& operand, std::uint32_t number, bool writes) {
  if (number + operand.count == 16) return writes ? kSinkRegisters : kZeroRegisters;
  if (writes && operand.file == isa::File::kMain && number == isa::kReadOnly) return kSinkRegisters;
  const std::uint32_t first = operand.file == isa::File::kMain ? 0 : kAuxRegisters;
  return static_cast<std::uint8_t>(first + number);
}

/// Whether an instruction loads two values into one register (`ld2x64pace`).
bool destinations_overlap(const InstructionInfo& info, std::uint32_t word) {
  for (std::size_t i = 0; i < info.operands.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const OperandInfo &a = info.operands[i], &b = info.operands[j];
      if (!a.is_register || !b.is_register || a.role != Role::kOut || b.role != Role::kOut)
        continue;
      const std::uint32_t at = a.field.extract(word), other = b.field.extract(word);
      if (a.file == b.file && at < other + b.count && other < at + a.count) return true;
    }
  }
  return false;
}

/// An instruction, in its classes.
InstructionCounts classes_of(const InstructionInfo& info) {
  const bool is_load = info.memory == isa::Memory::kLoad || info.memory == isa::Memory::kBoth;
  const bool is_store = info.memory == isa::Memory::kStore || info.memory == isa::Memory::kBoth;
  return {.all = 1,
          .aux = info.spec.pipe == isa::Pipe::kAux,
          .amp = info.spec.on_amp,
          .loads = is_load,
          .stores = is_store,
          .branches = info.spec.control == Control::kBranch};
}

/// Whether an instruction writes no register that can be read, like `nop` and `fnop`.
bool has_no_effect(const InstructionInfo& info, const std::array<std::uint8_t, 6>& places) {
  if (!worker_handlers()[info.number].pure) return false;
  std::size_t slot = 0;
  for (const OperandInfo& operand : info.operands) {
    if (!operand.is_register) continue;
    if (operand.role != Role::kOut) ++slot;
    if (operand.role != Role::kIn && places[slot++] != kSinkRegisters) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<WorkerCode> WorkerDecoder::decode(std::uint32_t entry) {
  code_.reset(new WorkerCode());
  code_->kind_ = kind_;
  code_->entry_ = step_at(entry);
  while (!pending_.empty()) {
    WorkerStep* step = pending_.back();
    pending_.pop_back();
    if (step->run == nullptr) decode_step(*step);
  }
  const bool joins = kind_ == CodeKind::kOrdinary || kind_ == CodeKind::kCareful;
  for (const auto& [repeat, body] : repeats_) {
    for (const WorkerStep* step = repeat->next; step != body->end; step = step->next) {
      body->slots += step->cost.slots();
      body->instructions += step->cost.instructions();
    }
    if (joins && repeat->next->next == body->end) {
      body->run = turns_handler(repeat->next->run);
    }
    if (joins && body->run == nullptr) {
      body->line = amp_body(*repeat->next, *body->end, code_->amp_lines_);
      if (body->line != nullptr) body->run = body->line->run_turns;
    }
  }
  if (joins) join_lines();
  for (const auto& [address, value] : words_) code_->words_.push_back({address, value});
  code_->begin_ = steps_.begin()->first;
  code_->by_word_.resize((steps_.rbegin()->first - code_->begin_) / 4 + 1);
  for (const auto& [pc, step] : steps_) code_->by_word_[(pc - code_->begin_) / 4] = step;
  return std::move(code_);
}

void WorkerDecoder::join_lines() {
  // The last step of a body gives back the one behind it, so that the turns can be counted.
  for (const auto& [repeat, body] : repeats_) {
    const WorkerStep* step = repeat->next;
    while (step->next != body->end) step = step->next;
    plain_.erase(step);
  }
  // From the end, so that costs are added up.
  for (auto at = steps_.rbegin(); at != steps_.rend(); ++at) {
    WorkerStep& step = *at->second;
    if (!plain_.contains(&step)) continue;
    if (step.pc / kMostLineBytes != step.next->pc / kMostLineBytes) continue;
    step.then = step.next->run;
    step.cost += step.next->cost;
    begin_amp_line(step);
  }
}

void WorkerDecoder::begin_amp_line(WorkerStep& step) {
  const AmpLine* line = amp_line(step, code_->amp_lines_);
  if (line == nullptr) return;
  step.run = line->run;
  step.line = line;
}

WorkerStep* WorkerDecoder::step_at(std::uint32_t pc) {
  const auto [found, is_new] = steps_.try_emplace(pc, nullptr);
  if (is_new) {
    found->second = &code_->steps_.emplace_back();
    found->second->pc = pc;
    pending_.push_back(found->second);
  }
  return found->second;
}

const WorkerHandlers& WorkerDecoder::handlers_of(const InstructionInfo& info) const {
  switch (kind_) {
    case CodeKind::kModed:
      return moded_worker_handlers()[info.number];
    case CodeKind::kCareful:
      return careful_worker_handlers()[info.number];
    default:
      return worker_handlers()[info.number];
  }
}

bool WorkerDecoder::executable(std::uint32_t pc) const {
  return pc % 4 == 0 && pc >= machine_.tile.memory_base && pc < machine_.tile.region1_base &&
         memory_.contains(pc, 4);
}

std::uint32_t WorkerDecoder::word_at(std::uint32_t pc) {
  return words_.try_emplace(pc, memory_.word(pc)).first->second;
}

void WorkerDecoder::make_fault(WorkerStep& step, std::string cause, TrapKind kind) {
  step.run = run_fault;
  step.fault = &code_->faults_.emplace_back(StepFault{kind, std::move(cause)});
  step.cost = {};
}

void WorkerDecoder::make_amp_fault(WorkerStep& step, std::uint32_t word) {
  make_fault(step,
             fmt::format("`{}` on a machine without AMP units (tile.amp_units = 0)",
                         disassemble(word, step.pc)),
             TrapKind::kMachine);
}

void WorkerDecoder::decode_step(WorkerStep& step) {
  if (!executable(step.pc)) {
    return make_fault(step, fmt::format("execution at {:#x}, which is not executable", step.pc));
  }
  step.word = word_at(step.pc);
  const InstructionInfo* info = isa::find_instruction(step.word);
  if (info == nullptr) {
    return make_fault(step, fmt::format("{:#010x} is no instruction", step.word));
  }
  const WorkerHandlers& handlers = handlers_of(*info);
  if (handlers.solo == nullptr) {
    return make_fault(step, fmt::format("`{}` on a worker", disassemble(step.word, step.pc)));
  }
  if (destinations_overlap(*info, step.word)) {
    return make_fault(step, fmt::format("`{}` has one register twice as its destination",
                                        disassemble(step.word, step.pc)));
  }
  const std::uint32_t slots = info->worker_slots(machine_);
  if (slots == 0) return make_amp_fault(step, step.word);
  step.cost = StepCost(slots, classes_of(*info));
  place_registers(*info, step.word, step.registers);
  note_status(*info, step.word);
  if ((step.word & isa::kCoIssue) != 0) return decode_bundle(step, *info);
  step.run = handlers.solo;
  link(step, *info, step.pc + 4);
}

void WorkerDecoder::decode_bundle(WorkerStep& step, const InstructionInfo& main) {
  const std::uint32_t second = step.pc + 4;
  if (!executable(second)) return make_fault(step, "a bundle at the end of executable memory");
  step.aux_word = word_at(second);
  const InstructionInfo* aux = isa::find_instruction(step.aux_word);
  if (aux == nullptr || (step.aux_word & isa::kCoIssue) == 0) {
    return make_fault(step, fmt::format("{:#010x} is no second half of a bundle", step.aux_word));
  }
  const WorkerHandlers& handlers = handlers_of(*aux);
  step.run = kind_ == CodeKind::kOrdinary ? bundle_handler(main, step.word, *aux, step.aux_word)
                                          : handlers_of(main).bundle;
  step.aux = handlers.aux;
  if (step.run == nullptr || step.aux == nullptr) {
    return make_fault(step,
                      fmt::format("`{}` and `{}` are no bundle", disassemble(step.word, step.pc),
                                  disassemble(step.aux_word, second)));
  }
  if (isa::share_destination(main, step.word, *aux, step.aux_word)) {
    return make_fault(
        step, fmt::format("`{}` and `{}` write one register", disassemble(step.word, step.pc),
                          disassemble(step.aux_word, second)));
  }
  place_registers(*aux, step.aux_word, step.aux_registers);
  note_status(*aux, step.aux_word);
  const std::uint32_t slots = aux->worker_slots(machine_);
  if (slots == 0) return make_amp_fault(step, step.aux_word);
  InstructionCounts both = classes_of(main);
  both += classes_of(*aux);
  step.cost = StepCost(std::max(step.cost.slots(), slots), both);
  // In other modes, what writes nowhere may raise exceptions and draw random numbers.
  if (kind_ != CodeKind::kModed) drop_idle_half(step, main, *aux);
  link(step, main, step.pc + 8);
}

void WorkerDecoder::drop_idle_half(WorkerStep& step, const InstructionInfo& main,
                                   const InstructionInfo& aux) const {
  if (has_no_effect(aux, step.aux_registers) && main.spec.control == Control::kPlain) {
    step.run = handlers_of(main).solo;
  } else if (has_no_effect(main, step.registers)) {
    step.run = handlers_of(aux).solo;
    step.word = step.aux_word;
    step.registers = step.aux_registers;
  }
}

void WorkerDecoder::note_status(const InstructionInfo& info, std::uint32_t word) {
  if (info.number == isa::kNumberOf<isa::Br>) code_->may_read_float_status_ = true;
  const bool is_upper = info.number == isa::kNumberOf<isa::Uget>;
  if (!is_upper && info.number != isa::kNumberOf<isa::Get>) return;
  const std::uint32_t base = is_upper ? isa::kUpperCsrs : 0;
  const auto number = base + static_cast<std::uint32_t>(info.operands[1].decode(word));
  code_->may_read_float_status_ |= number == isa::kFpSts;
  code_->reads_cycle_counter_ |= number == isa::kCountL || number == isa::kCountU;
}

void WorkerDecoder::link(WorkerStep& step, const InstructionInfo& info, std::uint32_t next) {
  switch (info.spec.control) {
    case Control::kExit:
      return;
    case Control::kRepeat:
      return link_repeat(step, info, next);
    case Control::kBranch:
      if (!info.operands.empty() && info.operands.back().is_address) {
        step.target = step_at(static_cast<std::uint32_t>(info.operands.back().decode(step.word)));
      }
      break;
    case Control::kPlain:
      plain_.insert(&step);
      break;
    case Control::kSystem:
      break;
  }
  const bool goes_on =
      info.number != isa::kNumberOf<isa::Br> && info.number != isa::kNumberOf<isa::Bri>;
  if (goes_on) step.next = step_at(next);
}

void WorkerDecoder::link_repeat(WorkerStep& step, const InstructionInfo& info, std::uint32_t body) {
  const auto bundles = static_cast<std::uint32_t>(info.operands[1].decode(step.word)) + 1;
  if (body % 8 != 0) return make_fault(step, "the body of `rpt` is not 8-byte aligned");
  for (std::uint32_t pc = body; pc < body + 8 * bundles; pc += 4) {
    if (!executable(pc)) return make_fault(step, "the body of `rpt` leaves executable memory");
    const std::uint32_t word = word_at(pc);
    const InstructionInfo* inner = isa::find_instruction(word);
    // A second half that is none is a fault of its bundle.
    const bool is_half = (word & isa::kCoIssue) != 0 && inner != nullptr;
    if (is_half ? inner->spec.control != Control::kPlain : pc % 8 == 0) {
      return make_fault(step, fmt::format("`{}` in the body of `rpt`", disassemble(word, pc)));
    }
  }
  step.next = step_at(body);
  RepeatedBody& repeated = code_->bodies_.emplace_back();
  repeated.end = step_at(body + 8 * bundles);
  step.body = &repeated;
  // Decoded now, so that the turns of the body can be walked: a step in it that faults has no next
  // one.
  for (std::uint32_t i = 0; i < bundles; ++i) {
    WorkerStep* inner = step_at(body + 8 * i);
    if (inner->run == nullptr) decode_step(*inner);
    if (inner->next == nullptr) inner->next = step_at(body + 8 * (i + 1));
  }
  repeats_.emplace_back(&step, &repeated);
}

void WorkerDecoder::place_registers(const InstructionInfo& info, std::uint32_t word,
                                    std::array<std::uint8_t, 6>& places) const {
  std::size_t slot = 0;
  for (const OperandInfo& operand : info.operands) {
    if (!operand.is_register) continue;
    const std::uint32_t number = operand.field.extract(word);
    if (operand.role != Role::kOut) places[slot++] = place_of_register(operand, number, false);
    if (operand.role == Role::kIn) continue;
    places[slot++] = isa::is_fnop(word) ? kSinkRegisters : place_of_register(operand, number, true);
  }
}

}  // namespace superstep
