#pragma once

#include <cstdint>
#include <span>
#include <vector>

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
  /// Runs all workers and waits for them, worker w with the vertex state `stride` words times w
  /// behind `state`; returns the address of the `runall`.
  std::uint32_t launch(std::uint32_t codelet, std::uint32_t state, std::uint32_t stride);
  /// The states of a launch that need a worker.
  struct BusyStates {
    std::uint32_t codelet = 0, state = 0;  ///< addresses; the state's from the begin of memory
    std::uint32_t stride = 0;              ///< words
    std::uint32_t busy = 0;                ///< states
  };
  /// Runs launches that together have no more states than there are workers side by side, and
  /// waits for them; returns the address of the first `run`.
  std::uint32_t launch_together(std::span<const BusyStates> launches);
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
  /// Returns the address of the `runall`.
  std::uint32_t launch_weighted(const WeightedLaunch& launch);
  /// Gives worker `worker` its stack.
  void set_worker_base(std::uint32_t worker, std::uint32_t address);
  /// Counts down the word at `address` and branches when it reaches 0. The target is set by
  /// `patch`.
  std::uint32_t count_down(std::uint32_t address);
  /// Makes the branch at `branch` go to `target`.
  void patch(std::uint32_t branch, std::uint32_t target);
  void branch(std::uint32_t target);
  void align();
  /// The end of the program.
  void stop();

 private:
  void emit(std::uint32_t word) { words_.push_back(word); }
  void set(std::uint32_t reg, std::uint32_t value);

  std::uint32_t address_;
  std::vector<std::uint32_t> words_;
};

}  // namespace superstep
