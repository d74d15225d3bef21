#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace superstep {

/// A thread and its helpers, who go through ranges of indices together, one range after the other.
///
/// A range of the machine takes a fraction of a millisecond, in which a sleeping thread hardly
/// wakes up: so helpers look out for the next one for a while before they sleep, and nobody waits
/// for a helper that has not begun.
class ThreadTeam {
 public:
  /// `threads` with the one that calls `each_index`.
  explicit ThreadTeam(std::uint32_t threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// body(i) for i = 0 … count - 1, about `grain` neighbours at a time. An index comes to the same
  /// thread each time if it can: its data are in the cache there. Once all have ended, throws what
  /// the earliest of them has thrown.
  template <class Body>
  void each_index(std::size_t count, std::size_t grain, const Body& body) {
    if (helpers_.empty() || count <= grain) {
      for (std::size_t i = 0; i < count; ++i) body(i);
      return;
    }
    run({[](const void* of, std::size_t begin, std::size_t end) {
           for (std::size_t i = begin; i != end; ++i) (*static_cast<const Body*>(of))(i);
         },
         &body, count, grain});
  }

 private:
  struct Work {
    void (*run)(const void* body, std::size_t begin, std::size_t end) = nullptr;
    const void* body = nullptr;
    std::size_t count = 0, grain = 1;
  };
  /// Pieces of the present range that are left of one thread's share, and the number of the range.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> left = 0;
  };

  void run(const Work& work);
  void help(std::size_t self);
  /// Does what is left of the own share, then of others'.
  void do_pieces(std::size_t self);
  void do_piece(std::size_t piece);

  Work work_;  ///< whoever has taken a piece may read it
  std::uint32_t range_ = 0;
  std::vector<Share> shares_;                     ///< by thread; the caller is the first
  alignas(64) std::atomic<std::uint32_t> begun_;  ///< ranges
  alignas(64) std::atomic<std::size_t> done_;     ///< pieces of this range
  std::atomic<bool> ends_ = false;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::size_t failed_piece_ = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace superstep
