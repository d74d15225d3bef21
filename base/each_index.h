#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace superstep {

/// body(begin, end) for ranges of `grain` or less that make up 0 … count - 1, on the threads of
/// TBB.
///
/// TBB orders what the caller does before and after with what its threads do, but where TSan cannot
/// see it, because the packaged library is not built with it: so `has_begun` and `done` say it
/// again. The other partitioners share flags between threads in headers, where TSan does see them;
/// they gain nothing here (bench/README.md).
template <class Body>
void each_range(std::size_t count, std::size_t grain, const Body& body) {
  if (count <= grain || tbb::this_task_arena::max_concurrency() == 1) {
    if (count != 0) body(std::size_t{0}, count);
    return;
  }
  std::atomic<bool> has_begun = false;
  std::atomic<std::size_t> done = 0;
  has_begun.store(true, std::memory_order_release);
  const auto run = [&](const tbb::blocked_range<std::size_t>& range) {
    static_cast<void>(has_begun.load(std::memory_order_acquire));
    body(range.begin(), range.end());
    done.fetch_add(range.size(), std::memory_order_release);
  };
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain), run,
                    tbb::simple_partitioner());
  static_cast<void>(done.load(std::memory_order_acquire));
}

/// The same with about one range a thread, of `least` or more: for what takes as long for each
/// item, and little for all.
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
