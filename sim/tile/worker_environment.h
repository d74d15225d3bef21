#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "isa/control_registers.h"
#include "isa/instructions/amp_pipeline.h"
#include "isa/instructions/memory_access.h"
#include "isa/registers.h"
#include "sim/tile/float_mode.h"
#include "sim/tile/worker_context.h"

namespace superstep {

/// What the instructions of a worker see of their tile. Only says that an instruction failed, with
/// nothing changed that doing it again would not change alike: CarefulEnvironment finds out why.
class WorkerEnvironment {
 public:
  /// An instruction, or bundle, of `bytes` at `pc`.
  WorkerEnvironment(WorkerContext& context, std::uint32_t pc, std::uint32_t bytes)
      : context_(context), pc_(pc), next_pc_(pc + bytes) {}

  template <class T>
  T load(std::uint32_t address) {
    if (!context_.port.allowed<T>(address)) [[unlikely]] {
      failed_ = true;
      return {};
    }
    return context_.port.load<T>(address);
  }
  template <class T>
  void store(std::uint32_t address, T value) {
    if (failed_) return;
    if (!context_.port.allowed<T>(address)) [[unlikely]] {
      failed_ = true;
      return;
    }
    put(address, value);
  }
  /// Whether several accesses of this instruction are possible, and in different elements; then
  /// `get` and `put` do them.
  template <class... Accesses>
  bool reach(const Accesses&... accesses) {
    const bool reached = are_apart(accesses.address...) &&
                         (context_.port.allowed<typename Accesses::Value>(accesses.address) && ...);
    if (!reached) [[unlikely]]
      failed_ = true;
    return reached;
  }
  template <class T>
  [[nodiscard]] T get(std::uint32_t address) const {
    return context_.port.load<T>(address);
  }
  template <class T>
  void put(std::uint32_t address, T value) {
    context_.port.store(address, value);
    stored_at_ = address;
    stored_bytes_ = sizeof(T);
  }

  /// Slots that conflicts of banks take: those that do are left to the careful one.
  [[nodiscard]] std::uint32_t waits() const { return 0; }

  void branch(std::uint32_t target) {
    taken_ = true;
    target_ = target;
  }
  [[nodiscard]] std::uint32_t next_pc() const { return next_pc_; }
  void repeat(std::uint32_t count, std::uint32_t /*bundles*/) { repeat_count_ = count; }
  void exit(bool /*status*/) {}

  [[nodiscard]] float& accumulator(std::uint32_t number) {
    return context_.accumulators[(number & 1U) * 16 + number / 2];
  }
  /// Accumulator 2 c, and 2 c + 1, of channel c.
  [[nodiscard]] float* even_accumulators() { return context_.accumulators.data(); }
  [[nodiscard]] isa::SumsInMemory even_sums() { return isa::SumsInMemory(even_accumulators()); }
  [[nodiscard]] float* odd_accumulators() { return context_.accumulators.data() + 16; }
  [[nodiscard]] const float* f16_weights(std::uint32_t phase) const {
    return context_.weights->halves(phase);
  }
  /// CWEI_m_n, number 4 m + n, as it was loaded.
  [[nodiscard]] std::uint64_t raw_weight(std::uint32_t number) const {
    return context_.weights->raw(number);
  }
  [[nodiscard]] const float* f32_weights(std::uint32_t phase) const {
    return context_.weights->singles(phase);
  }

  std::uint32_t csr(std::uint32_t number) {
    switch (number) {
      case isa::kPc:
        return pc_;
      case isa::kWsr:
        return context_.id;
      case isa::kVertexBaseCsr:
        return context_.registers[isa::kVertexBase];
      case isa::kWorkerBaseCsr:
        return context_.registers[isa::kWorkerBase];
      case isa::kRepeatCount:  // a body has no `get`
      case isa::kDbgBrkId:     // nothing breaks into a run
        return 0;
      case isa::kRepeatFirst:
        return context_.last_repeat == nullptr ? 0 : context_.last_repeat->next->pc;
      case isa::kRepeatEnd:
        return context_.last_repeat == nullptr ? 0 : context_.last_repeat->body->end->pc;
      case isa::kCountL:  // code that reads it runs step by step
        return isa::low(context_.cycle);
      case isa::kCountU:
        return isa::high(context_.cycle);
      case isa::kFpSts:
        return context_.fp.status;
      case isa::kFpNfmt:
        return context_.fp.format;
      case isa::kFpScl:
        return context_.fp.scale;
      case isa::kFpClr:
      case isa::kPrngSeed:
        return 0;
      case isa::kFpCtl:
        return context_.fp.control;
      case isa::kTas:
        return context_.tas;
      case isa::kPrng00:
      case isa::kPrng01:
      case isa::kPrng10:
      case isa::kPrng11:
        return half_of(context_.random[(number - isa::kPrng00) / 2], (number - isa::kPrng00) % 2);
      default:
        refuse_csr(number, "a control register that a worker does not have");
        return 0;
    }
  }
  void set_csr(std::uint32_t number, std::uint32_t value) {
    if (number == isa::kFpClr) {
      if ((value & isa::kFpClrZaacc) != 0) context_.accumulators.fill(0.0F);
      context_.fp.status &= ~(value & isa::kFpExceptions);
    } else if (number == isa::kFpCtl) {
      if (const char* problem = isa::fp_control_problem(value)) {
        return fault(problem, TrapKind::kUnmodelled);
      }
      const bool was_moded = context_.moded;
      set_float_control(context_, value);
      if (context_.moded != was_moded) context_.cause = kFloatModeChange;
    } else if (number == isa::kFpNfmt) {
      context_.fp.format = value;
    } else if (number == isa::kFpScl) {
      context_.fp.scale = value;
    } else if (number == isa::kTas) {
      context_.tas = value;
    } else if (number >= isa::kPrng00 && number <= isa::kPrng11) {
      set_half_of(context_.random[(number - isa::kPrng00) / 2], (number - isa::kPrng00) % 2, value);
    } else if (number == isa::kPrngSeed) {
      // graphcore/ipu_assembly_support, $PRNG_SEED.
      context_.random = {isa::pair_of(value, ~value),
                         isa::pair_of(value << 13 | ~value >> 19, ~value << 13 | value >> 19)};
    } else {
      refuse_csr(number, "a control register that a worker cannot write");
    }
  }

  std::uint64_t random() { return context_.next_random(); }

  void fault(const char* cause, TrapKind kind = TrapKind::kProgram) {
    failed_ = true;
    context_.cause = cause;
    context_.kind = kind;
  }

  void fault(std::string cause) {
    context_.named_cause = std::move(cause);
    fault(context_.named_cause.c_str());
  }

  void refuse_csr(std::uint32_t number, const char* cause) {
    const bool is_known = isa::worker_access(number) == isa::Access::kUnmodelled;
    fault(is_known ? "a control register of workers that is not modelled" : cause,
          is_known ? TrapKind::kUnmodelled : TrapKind::kProgram);
  }

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool taken() const { return taken_; }
  /// Whether a store may have changed code: `stored_bytes` at `stored_at`. Most data lies above all
  /// code.
  [[nodiscard]] bool stored_low() const {
    return stored_bytes_ != 0 && context_.port.below_code_end(stored_at_);
  }
  [[nodiscard]] std::uint32_t stored_at() const { return stored_at_; }
  [[nodiscard]] std::uint32_t stored_bytes() const { return stored_bytes_; }
  [[nodiscard]] std::uint32_t target() const { return target_; }
  [[nodiscard]] std::uint32_t repeat_count() const { return repeat_count_; }

 protected:
  [[nodiscard]] bool are_apart(std::uint32_t a, std::uint32_t b) const {
    return context_.port.apart(a, b);
  }
  [[nodiscard]] bool are_apart(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return are_apart(a, b) && are_apart(a, c) && are_apart(b, c);
  }

  WorkerContext& context_;
  std::uint32_t pc_;
  bool failed_ = false;

 private:
  static std::uint32_t half_of(std::uint64_t word, std::uint32_t half) {
    return half == 0 ? isa::low(word) : isa::high(word);
  }
  static void set_half_of(std::uint64_t& word, std::uint32_t half, std::uint32_t value) {
    word = half == 0 ? isa::pair_of(value, isa::high(word)) : isa::pair_of(isa::low(word), value);
  }

  std::uint32_t next_pc_;
  std::uint32_t target_ = 0;
  std::uint32_t repeat_count_ = 0;
  std::uint32_t stored_at_ = 0;  ///< where the instruction's one store went
  std::uint32_t stored_bytes_ = 0;
  bool taken_ = false;
};

/// Looks at each access and says what is wrong.
class CarefulEnvironment : public WorkerEnvironment {
 public:
  using WorkerEnvironment::WorkerEnvironment;

  template <class T>
  T load(std::uint32_t address) {
    if (failed_ || !may_access<T>(address, false)) return {};
    return context_.port.load<T>(address);
  }
  template <class T>
  void store(std::uint32_t address, T value) {
    if (!failed_ && may_access<T>(address, true)) put(address, value);
  }
  template <class... Accesses>
  bool reach(const Accesses&... accesses) {
    if (!are_apart(accesses.address...)) note_conflicts({accesses.address...});
    return !failed_ && (may_access(accesses) && ...);
  }
  /// Of an instruction that has not failed.
  [[nodiscard]] std::uint32_t waits() const { return waits_; }

 private:
  /// Accesses of one instruction to one element wait, or are a fault.
  void note_conflicts(std::initializer_list<std::uint32_t> addresses) {
    const auto element_of = [&](std::uint32_t address) {
      return context_.port.element_of(address);
    };
    for (const std::uint32_t* at = addresses.begin(); at != addresses.end(); ++at) {
      const std::uint32_t* const other = std::find_if(
          addresses.begin(), at, [&](std::uint32_t a) { return element_of(a) == element_of(*at); });
      if (other == at) continue;
      if (!context_.stalls) {
        return fault(
            named_at("two accesses of one instruction to the same memory element", *other, *at));
      }
      ++waits_;
    }
  }
  template <class T>
  bool may_access(const isa::Read<T>& read) {
    return may_access<T>(read.address, false);
  }
  template <class T>
  bool may_access(const isa::Write<T>& write) {
    return may_access<T>(write.address, true);
  }
  template <class T>
  bool may_access(std::uint32_t address, bool writes) {
    if (const char* problem = context_.port.problem<T>(address)) {
      fault(named_at(problem, address));
    } else if (context_.races != nullptr) {
      const char* race = context_.races->access(context_.race_run, pc_, address, sizeof(T), writes);
      if (race != nullptr) fault(race, TrapKind::kRace);
    }
    return !failed_;
  }

  std::uint32_t waits_ = 0;
};

}  // namespace superstep
