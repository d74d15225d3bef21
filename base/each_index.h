#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace superstep {

/// body(begin, end) for ranges of about `grain` that make up 0 … count - 1, on the threads of TBB.
///
/// TBB orders what the caller does before and after with what its threads do, but where TSan cannot
/// see it, because the packaged library is not built with it: so each range says it again.
template <class Body>
void each_range(std::size_t count, std::size_t grain, const Body& body) {
  if (count <= grain || tbb::this_task_arena::max_concurrency() == 1) {
    if (count != 0) body(std::size_t{0}, count);
    return;
  }
  std::atomic<std::uint32_t> begun = 0;
  std::atomic<std::uint32_t> ended = 0;
  begun.store(1, std::memory_order_release);
  const auto run = [&](const auto& range) {
    static_cast<void>(begun.load(std::memory_order_acquire));
    body(range.begin(), range.end());
    ended.fetch_add(1, std::memory_order_release);
  };
  // The other partitioners share flags between threads in headers, where TSan does see them.
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain), run,
                    tbb::simple_partitioner());
  static_cast<void>(ended.load(std::memory_order_acquire));
}

/// body(i) for i = 0 … count - 1, in such ranges.
template <class Body>
void each_index(std::size_t count, std::size_t grain, const Body& body) {
  each_range(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) body(i);
  });
}

}  // namespace superstep
