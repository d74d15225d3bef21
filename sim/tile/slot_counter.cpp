#include "sim/tile/slot_counter.h"

#include "isa/instructions.h"
#include "isa/table.h"

namespace superstep {

void SlotCounter::issued(const IssuedInstruction& instruction) {
  const bool is_supervisor = instruction.context == IssuedInstruction::kSupervisor;
  SlotCounts& counts = is_supervisor ? of_supervisor_ : of_workers_.at(instruction.context);
  const isa::InstructionInfo* info = isa::find_instruction(instruction.words[0]);
  counts.instructions += instruction.instructions;
  if (instruction.instructions == 2) {
    ++counts.bundles;
  } else if (info != nullptr && info->spec.pipe == isa::Pipe::kAux) {
    ++counts.aux_only;
  } else {
    ++counts.main_only;
  }
  counts.register_wait += instruction.register_wait;
  counts.slot_wait += instruction.slot_wait;
  if (!is_supervisor) {
    counts.extra_slots += instruction.cycles / period_ - 1;
  } else if (info != nullptr && info->spec.control == isa::Control::kBranch) {
    counts.branch_wait += instruction.cycles - 1;
  } else if (info != nullptr && info->number == isa::kNumberOf<isa::Sync>) {
    counts.sync_wait += instruction.cycles - 1;
  } else {
    counts.extra_slots += instruction.cycles - 1;
  }
  if (next_ != nullptr) next_->issued(instruction);
}

}  // namespace superstep
