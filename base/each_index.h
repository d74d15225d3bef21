#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace superstep {

/// The items 0 … count - 1 of a parallel loop in as many parts as threads, from each of which
/// ranges are taken.
class LoopParts {
 public:
  LoopParts(std::size_t count, std::size_t grain, std::size_t parts)
      : count_(count), grain_(grain), taken_(parts) {}

  [[nodiscard]] std::size_t size() const { return taken_.size(); }
  /// body(begin, end) for the ranges of a part that nobody has taken.
  template <class Body>
  void each_range_of(std::size_t part, const Body& body) {
    while (true) {
      const std::size_t first =
          begin(part) + taken_[part].items.fetch_add(grain_, std::memory_order_acq_rel);
      if (first >= begin(part + 1)) return;
      body(first, std::min(first + grain_, begin(part + 1)));
    }
  }
  /// Waits for those who have begun with a part, as long as a range of them may be worth less than
  /// what it costs to move it to another thread.
  void leave_to_its_thread(std::size_t part) const {
    constexpr std::chrono::microseconds kPatience{50};
    const auto begun = std::chrono::steady_clock::now();
    while (true) {
      const std::size_t taken = taken_[part].items.load(std::memory_order_acquire);
      if (taken == 0 || begin(part) + taken >= begin(part + 1)) return;
      if (std::chrono::steady_clock::now() - begun > kPatience) return;
      std::this_thread::yield();
    }
  }
  /// What was done with all items comes before what follows.
  void join() const {
    for (const Taken& taken : taken_)
      static_cast<void>(taken.items.load(std::memory_order_acquire));
  }

 private:
  /// In a cache line of its own.
  struct alignas(64) Taken {
    std::atomic<std::size_t> items = 0;
  };

  [[nodiscard]] std::size_t begin(std::size_t part) const { return count_ * part / size(); }

  std::size_t count_, grain_;
  std::vector<Taken> taken_;
};

/// body(begin, end) for ranges of `grain` or less that make up 0 … count - 1, on the threads of
/// TBB.
///
/// Each thread has a part of its own, the same in each loop of as many, so that what it works on
/// stays in its caches, and takes ranges of the others' when it is done and these take long. TBB
/// orders what the caller does before and after with what its threads do, but where TSan cannot see
/// it, because the packaged library is not built with it: so `has_begun` and the parts say it
/// again.
template <class Body>
void each_range(std::size_t count, std::size_t grain, const Body& body) {
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  if (count <= grain || threads == 1) {
    if (count != 0) body(std::size_t{0}, count);
    return;
  }
  LoopParts parts(count, grain, std::min(threads, (count + grain - 1) / grain));
  std::atomic<bool> has_begun = false;
  has_begun.store(true, std::memory_order_release);
  const auto run = [&](const auto&) {
    static_cast<void>(has_begun.load(std::memory_order_acquire));
    const auto own = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t part = (own + i) % parts.size();
      if (i != 0) parts.leave_to_its_thread(part);
      parts.each_range_of(part, body);
    }
  };
  // The other partitioners share flags between threads in headers, where TSan does see them.
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, parts.size()), run,
                    tbb::simple_partitioner());
  parts.join();
}

/// The same with one range a thread, of `least` or more: for what takes as long for each item, and
/// little for all.
template <class Body>
void each_part(std::size_t count, std::size_t least, const Body& body) {
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  each_range(count, std::max(least, (count + threads - 1) / threads), body);
}

/// body(i) for i = 0 … count - 1, in ranges of `grain` or less.
template <class Body>
void each_index(std::size_t count, std::size_t grain, const Body& body) {
  each_range(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) body(i);
  });
}

}  // namespace superstep
