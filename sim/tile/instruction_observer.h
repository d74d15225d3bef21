#pragma once

#include <array>
#include <cstdint>

namespace superstep {

/// An instruction or bundle that a context of a tile executed.
struct IssuedInstruction {
  static constexpr std::uint32_t kSupervisor = ~std::uint32_t{0};

  std::uint32_t context = 0;  ///< number of the worker, or kSupervisor
  std::uint32_t pc = 0;
  std::array<std::uint32_t, 2> words{};  ///< the second one of a bundle only
  std::uint32_t instructions = 1;        ///< 2 for a bundle
  std::uint64_t cycle = 0;               ///< when it issued
  std::uint64_t cycles = 0;              ///< until the next one of its context could
  std::uint64_t register_wait = 0;       ///< supervisor: cycles before `cycle`, for a register
  std::uint64_t slot_wait = 0;           ///< supervisor: after those, for a slot without a worker
};

/// Sees the instructions of a tile one by one: those of one context in order; of a worker all from
/// launch to exit, before those of the supervisor that run beside it.
class InstructionObserver {
 public:
  virtual ~InstructionObserver() = default;
  virtual void issued(const IssuedInstruction& instruction) = 0;
};

/// For what needs an observer though nobody looks.
class NullObserver : public InstructionObserver {
 public:
  void issued(const IssuedInstruction&) override {}
};

}  // namespace superstep
