#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace superstep {

/// Room for so many things that all tiles keep of a superstep for one who watches them.
class SharedRoom {
 public:
  /// For one more, from any thread; not behind as many as there is room for.
  bool take() { return taken_.fetch_add(1, std::memory_order_relaxed) < most_; }
  /// Whether more asked for it than found room.
  [[nodiscard]] bool is_exceeded() const { return taken_ > most_; }
  void open(std::uint64_t most) {
    most_ = most;
    taken_ = 0;
  }

 private:
  std::atomic<std::uint64_t> taken_ = 0;
  std::uint64_t most_ = 0;
};

/// The rooms of all who watch one tile, which outlive it: what it keeps is kept once for all.
class SharedRooms {
 public:
  explicit SharedRooms(std::vector<SharedRoom*> rooms = {}) : rooms_(std::move(rooms)) {}

  /// Takes one in each; whether any has it.
  bool take() {
    bool has_any = false;
    for (SharedRoom* const room : rooms_) has_any = room->take() || has_any;
    return has_any;
  }
  [[nodiscard]] bool empty() const { return rooms_.empty(); }

 private:
  std::vector<SharedRoom*> rooms_;
};

}  // namespace superstep
