#pragma once

#include <atomic>
#include <cstdint>

namespace superstep {

/// Room for so many things that all tiles keep of a superstep.
class SharedRoom {
 public:
  /// For one more, from any thread; not behind as many as there is room for.
  bool take() { return taken_.fetch_add(1, std::memory_order_relaxed) < most_; }
  /// How many asked for it.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  void open(std::uint64_t most) {
    most_ = most;
    taken_ = 0;
  }

 private:
  std::atomic<std::uint64_t> taken_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace superstep
