#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "compiler/image/supervisor_registers.h"

namespace superstep {

/// The supervisor program of one tile, built word by word at its final address.
class TileCode {
 public:
  /// `address` is a multiple of 8.
  explicit TileCode(std::uint32_t address) : address_(address) {}

  /// Where the next word goes.
  [[nodiscard]] std::uint32_t here() const {
    return address_ + static_cast<std::uint32_t>(words_.size()) * 4;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& words() const { return words_; }

  /// An exchange or host row, which needs an 8-byte boundary; returns where it begins.
  std::uint32_t row(std::span<const std::uint32_t> code);
  /// A row that begins where a sync has just ended: `code` without its own, at an address of
  /// `align_after_sync`.
  void row_after_sync(std::span<const std::uint32_t> code);

  /// Runs all workers, worker w with the vertex state `stride` words times w behind `state`.
  struct LaunchAll {
    std::uint32_t codelet = 0, state = 0;  ///< addresses
    std::uint32_t stride = 0;              ///< words
  };
  /// The states of a launch that need a worker.
  struct BusyStates {
    std::uint32_t codelet = 0, state = 0;  ///< addresses; the state's from the begin of memory
    std::uint32_t stride = 0;              ///< words
    std::uint32_t busy = 0;                ///< states
  };
  /// Launches side by side, of together no more states than there are workers, which lie within
  /// `kNearStates`, and no more codelets than `kCodeletsTogether`.
  using LaunchTogether = std::vector<BusyStates>;
  /// Blocks of common weights: for each, loads the weights and runs all workers, whose states of
  /// `state_words` words each follow those of the block before.
  struct WeightedLaunch {
    struct Stage {
      std::uint32_t codelet = 0;  ///< address
      std::uint32_t blocks = 0;   ///< not 0
    };
    std::vector<Stage> stages;
    std::uint32_t state = 0, weights = 0;  ///< addresses
    std::uint32_t workers = 0, state_words = 0;
    std::uint32_t loads = 0;  ///< of 128 bits for a block
  };
  using AnyLaunch = std::variant<LaunchAll, LaunchTogether, WeightedLaunch>;

  /// Sets the registers of a launch, so that it need not wait for them. Neighbours in time use
  /// different banks.
  void prepare(const AnyLaunch& launch, std::uint32_t bank);
  /// Runs a prepared launch, prepares the one that comes next, if any, where that costs nothing,
  /// emits `meanwhile`, for which registers of the second bank are free then, and waits for the
  /// workers. Returns the address of the first `runall` or `run`.
  std::uint32_t launch(const AnyLaunch& launch, std::uint32_t bank, const AnyLaunch* next,
                       std::uint32_t next_bank, const std::function<void()>& meanwhile = {});
  /// Bytes from the first state of `LaunchTogether` within which it finds the others.
  static constexpr std::uint32_t kNearStates = 1U << 18;
  static constexpr std::uint32_t kBanks = supervisor::kBanks;
  /// Of `LaunchTogether`, whose last register has where its first state is.
  static constexpr std::uint32_t kCodeletsTogether = supervisor::kBankRegisters - 1;

  /// Calls what begins at `target`; returns the address of the `call`.
  std::uint32_t call(std::uint32_t target);
  /// Ends what is called.
  void end_call();

  /// Gives worker `worker` its stack.
  void set_worker_base(std::uint32_t worker, std::uint32_t address);
  /// An instruction of scalars.
  void scalar(std::uint32_t word) { emit(word); }
  /// Sets a register to a number of more bits than its `setzi` has, which is without it here.
  void set_by(std::uint32_t setzi, std::uint32_t value);
  /// Branches when a register is 0. The target is set by `patch`.
  std::uint32_t branch_if_zero(std::uint32_t reg);
  /// Branches when a register is not 0.
  void branch_if_not_zero(std::uint32_t reg, std::uint32_t target);
  /// Counts a register down.
  void decrement(std::uint32_t reg);
  /// Goes on at `target`.
  void jump(std::uint32_t target);
  /// Goes on at a target that is set by `patch`.
  std::uint32_t jump();
  /// Makes the branch at `branch` go to `target`.
  void patch(std::uint32_t branch, std::uint32_t target);
  void align();
  /// To an 8-byte boundary less a word, by an instruction that every tile has: rows that follow
  /// keep their common time.
  void align_after_sync();
  /// The end of the program.
  void stop();

 private:
  void emit(std::uint32_t word) { words_.push_back(word); }
  void set(std::uint32_t reg, std::uint32_t value);
  std::uint32_t run_all(const LaunchAll& launch, std::uint32_t bank);
  std::uint32_t run_together(const LaunchTogether& launches, std::uint32_t bank);
  template <class PrepareNext>
  std::uint32_t run_weighted(const WeightedLaunch& launch, std::uint32_t bank,
                             const PrepareNext& prepare_next);

  std::uint32_t address_;
  std::vector<std::uint32_t> words_;
};

}  // namespace superstep
