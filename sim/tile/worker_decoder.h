#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "isa/machine_config.h"
#include "isa/table.h"
#include "sim/tile/code_store.h"
#include "sim/tile/worker_context.h"
#include "sim/tile/worker_handlers.h"

namespace superstep {

/// Follows worker code from an entry and predecodes what it reaches.
class WorkerDecoder {
 public:
  WorkerDecoder(const MachineConfig& machine, const TileMemory& memory, CodeKind kind)
      : machine_(machine), memory_(memory), kind_(kind) {}

  [[nodiscard]] std::unique_ptr<WorkerCode> decode(std::uint32_t entry);

 private:
  WorkerStep* step_at(std::uint32_t pc);
  [[nodiscard]] const WorkerHandlers& handlers_of(const isa::InstructionInfo& info) const;
  void decode_step(WorkerStep& step);
  void decode_bundle(WorkerStep& step, const isa::InstructionInfo& main);
  /// A bundle with a half that does nothing runs as the other one.
  void drop_idle_half(WorkerStep& step, const isa::InstructionInfo& main,
                      const isa::InstructionInfo& aux) const;
  void note_status(const isa::InstructionInfo& info, std::uint32_t word);
  void link(WorkerStep& step, const isa::InstructionInfo& info, std::uint32_t next);
  void link_repeat(WorkerStep& step, const isa::InstructionInfo& info, std::uint32_t body);
  void join_lines();
  /// The step runs the AMP bundles behind it too, where they are a line.
  void begin_amp_line(WorkerStep& step);
  void make_fault(WorkerStep& step, std::string cause, TrapKind kind = TrapKind::kProgram);
  void make_amp_fault(WorkerStep& step, std::uint32_t word);
  [[nodiscard]] bool executable(std::uint32_t pc) const;
  std::uint32_t word_at(std::uint32_t pc);
  void place_registers(const isa::InstructionInfo& info, std::uint32_t word,
                       std::array<std::uint8_t, 6>& places) const;

  const MachineConfig& machine_;
  const TileMemory& memory_;
  CodeKind kind_;
  std::unique_ptr<WorkerCode> code_;
  std::map<std::uint32_t, WorkerStep*> steps_;
  std::map<std::uint32_t, std::uint32_t> words_;
  std::vector<WorkerStep*> pending_;
  std::vector<std::pair<WorkerStep*, RepeatedBody*>> repeats_;
  std::set<const WorkerStep*> plain_;  ///< steps that could run on to the next one
};

}  // namespace superstep
