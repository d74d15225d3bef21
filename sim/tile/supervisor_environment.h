#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "isa/exchange_ports.h"
#include "isa/registers.h"
#include "sim/tile/supervisor_context.h"
#include "sim/tile/worker_launcher.h"

namespace superstep {

/// What the instructions of a supervisor see of their tile.
class SupervisorEnvironment {
 public:
  SupervisorEnvironment(SupervisorContext& context, WorkerLauncher& launcher, std::uint64_t issue)
      : context_(context), launcher_(launcher), issue_(issue) {}

  /// The cycle this instruction issues in.
  [[nodiscard]] std::uint64_t cycle() const { return issue_; }
  /// The instruction takes `cycles` more than the one it issues in.
  void advance(std::uint64_t cycles) { extra_ += cycles; }

  template <class T>
  T load(std::uint32_t address) {
    if (!reaches_memory<T>(address)) return {};
    return context_.port.load<T>(address);
  }
  template <class T>
  void store(std::uint32_t address, T value) {
    if (!reaches_memory<T>(address)) return;
    TileMemory& memory = context_.port.memory();
    context_.port.store(address, value);
    if (context_.port.below_code_end(address) && memory.decoded(address, sizeof(T))) {
      memory.touched();
    }
  }

  void branch(std::uint32_t target) {
    taken_ = true;
    target_ = target;
  }
  [[nodiscard]] std::uint32_t next_pc() const { return context_.pc + 4; }
  /// The second word of a two-word instruction.
  [[nodiscard]] std::uint32_t inline_word() {
    TileMemory& memory = context_.port.memory();
    const std::uint32_t address = context_.pc + 4;
    return memory.has_code(address) ? memory.code(address) : memory.word(address);
  }

  std::uint32_t csr(std::uint32_t number);
  void set_csr(std::uint32_t number, std::uint32_t value);
  /// $CCCSLOAD, where common weights come from.
  [[nodiscard]] std::uint32_t weight_address() const { return context_.csrs[isa::kCccsLoad]; }
  void set_weight_address(std::uint32_t address) {
    if (!stopped_) context_.csrs.set(isa::kCccsLoad, address);
  }
  void set_weight(std::uint32_t number, std::uint64_t value);

  void run_all(std::uint32_t entry, std::uint32_t state, std::uint32_t stride);
  void run_one(std::uint32_t entry, std::uint32_t state_offset);
  void sync(std::uint32_t zone);
  /// The tile arrives at the next internal (0) or external (1) sync now; `sync ANS` waits for it.
  void sans(std::uint32_t zone);

  [[nodiscard]] Encoding encoding() const { return context_.encoding; }
  void exchange_mux(std::uint32_t event, std::uint32_t source);
  void exchange_pointer(std::uint32_t event, std::uint32_t address);
  std::uint64_t exchange_send(std::uint32_t words, std::uint32_t address, std::uint32_t control);
  std::uint64_t exchange_send_on(std::uint32_t words, std::uint32_t skipped_words,
                                 std::uint32_t control);
  std::uint64_t exchange_send_on(std::uint32_t words, std::uint32_t skipped_words) {
    return exchange_send_on(words, skipped_words, context_.send_control);
  }
  void exchange_events(std::uint64_t events) { advance(events - 1); }

  void fault(const char* cause, TrapKind kind = TrapKind::kProgram) {
    if (stopped_) return;
    stopped_ = true;
    context_.stop = SupervisorContext::Stop::kFault;
    context_.cause = cause;
    context_.kind = kind;
  }

  void fault(std::string cause) {
    if (stopped_) return;
    context_.named_cause = std::move(cause);
    fault(context_.named_cause.c_str());
  }

  /// A fault, or the words of the exchange are needed first: nothing may be written.
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool taken() const { return taken_; }
  [[nodiscard]] std::uint32_t target() const { return target_; }
  [[nodiscard]] std::uint64_t extra() const { return extra_; }

 private:
  [[nodiscard]] std::uint32_t context_status() const;
  /// Whether a program may write, and read back, a control register.
  [[nodiscard]] bool is_writable(std::uint32_t number) const;
  void refuse_csr(std::uint32_t number, const char* cause);
  /// False when the words that the ports were told to move must come first.
  bool exchange_is_over() {
    if (context_.ports.empty()) return true;
    if (!stopped_) context_.stop = SupervisorContext::Stop::kExchangeDone;
    stopped_ = true;
    return false;
  }
  template <class T>
  bool reaches_memory(std::uint32_t address) {
    if (stopped_ || !exchange_is_over()) return false;
    if (const char* problem = context_.port.problem<T>(address)) {
      fault(named_at(problem, address));
      return false;
    }
    context_.port.open();
    return true;
  }
  /// Whether workers run at a cycle, from that of this instruction on; those that take turns are
  /// there then.
  [[nodiscard]] bool workers_run_at(std::uint64_t cycle);
  /// Stops when a worker has faulted by a cycle or was interrupted.
  void stop_with_workers(std::uint64_t cycle);
  void capture(std::uint32_t words, std::uint32_t address);
  void record(PortEvent::Kind kind, std::uint32_t event, std::uint32_t value, std::uint32_t words,
              std::uint32_t direction);

  SupervisorContext& context_;
  WorkerLauncher& launcher_;
  std::uint64_t issue_;
  std::uint64_t extra_ = 0;
  std::uint32_t target_ = 0;
  bool taken_ = false;
  bool stopped_ = false;
};

}  // namespace superstep
