#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "isa/machine_config.h"
#include "sim/tile/code_store.h"
#include "sim/tile/port_rows.h"
#include "sim/tile/supervisor_context.h"
#include "sim/tile/worker_launcher.h"

namespace superstep {

/// Executes the supervisor program of a tile, one instruction after the other, in its own time.
class Supervisor {
 public:
  Supervisor(const MachineConfig& machine, TileMemory& memory, CodeStore& code);

  /// It and its workers ask `interrupted`, which outlives them, every now and then.
  void poll(const std::function<bool()>& interrupted) {
    poll_ = &interrupted;
    launcher_.poll(interrupted);
  }
  /// `observer`, which outlives it, sees each instruction of the tile from now on.
  void observe(InstructionObserver* observer) {
    observer_ = observer;
    launcher_.observe(observer);
  }
  /// Has the host fetch what `run` needs first.
  void prefetch() const {
    constexpr std::size_t kLine = 64;
    const auto* at = reinterpret_cast<const std::byte*>(&context_.registers);
    for (; at < launcher_.cold(); at += kLine) __builtin_prefetch(at, 1);
  }
  /// Where the host has the code at which it goes on, if that is known.
  [[nodiscard]] const std::byte* next_code() const { return memory_.place_of_code(context_.pc); }
  void boot(std::uint32_t pc);
  /// Goes on until `context().stop` is set.
  void run();

  [[nodiscard]] SupervisorContext& context() { return context_; }
  [[nodiscard]] const SupervisorContext& context() const { return context_; }
  [[nodiscard]] WorkerLauncher& launcher() { return launcher_; }
  [[nodiscard]] const WorkerLauncher& launcher() const { return launcher_; }
  [[nodiscard]] const MachineConfig& machine() const { return machine_; }

  /// Of a tile that waits at a sync.
  template <class Archive>
  void state(Archive& archive) {
    auto& [machine, memory, context, launcher, rows, poll, observer] = *this;
    archive(context, launcher, rows);
  }

  using Handler = void (*)(Supervisor&, std::uint32_t word);
  /// Executes the row that the instruction at the pc begins; false when that is to be executed
  /// alone.
  using RunRow = bool (Supervisor::*)();
  /// Exchange instructions that are executed again.
  bool run_exchange_row();
  /// Loads of common weights.
  bool run_weight_row();
  /// Stops with a fault of its next instruction, if no worker has faulted by then.
  void fault(const char* cause, TrapKind kind = TrapKind::kProgram);

 private:
  /// Nobody observes its instructions, and no worker is running.
  [[nodiscard]] bool is_alone() const;

  const MachineConfig& machine_;
  TileMemory& memory_;
  SupervisorContext context_;
  WorkerLauncher launcher_;
  PortRows rows_;
  const std::function<bool()>* poll_ = nullptr;
  InstructionObserver* observer_ = nullptr;
};

}  // namespace superstep
