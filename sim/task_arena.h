#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/each_index.h"

namespace superstep {

/// The threads of one simulation, no more than the process allows; several may run in one process.
class TaskArena {
 public:
  explicit TaskArena(std::uint32_t threads)
      : threads_(std::clamp<std::size_t>(
            threads, 1,
            tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism))) {
    arena_.initialize(static_cast<int>(threads_));
  }

  /// body(begin, end) for ranges of about `grain` or more, or one, that make up 0 … count - 1.
  template <class Body>
  void each_of_ranges(std::size_t count, std::size_t grain, const Body& body) {
    if (threads_ == 1 || count <= grain) {
      if (count != 0) body(std::size_t{0}, count);
    } else {
      // More ranges balance no better.
      grain = std::max(grain, count / (threads_ * kRangesOfThread));
      arena_.execute([&] { each_range(count, grain, body); });
    }
  }
  /// The same with one range a thread, of `least` or more.
  template <class Body>
  void each_of_parts(std::size_t count, std::size_t least, const Body& body) {
    each_of_ranges(count, std::max(least, (count + threads_ - 1) / threads_), body);
  }
  /// body(i) for i = 0 … count - 1, in ranges of about `grain` or more.
  template <class Body>
  void each(std::size_t count, std::size_t grain, const Body& body) {
    each_of_ranges(count, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i != end; ++i) body(i);
    });
  }

  /// body() with the arena's threads for the parallel loops in it.
  template <class Body>
  void run(const Body& body) {
    arena_.execute(body);
  }

 private:
  static constexpr std::size_t kRangesOfThread = 8;

  std::size_t threads_;
  tbb::task_arena arena_;
};

}  // namespace superstep
