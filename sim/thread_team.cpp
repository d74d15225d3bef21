#include "sim/thread_team.h"

#include <algorithm>
#include <utility>

namespace superstep {

namespace {

constexpr unsigned kPieceBits = 20, kRangeBits = 24;
constexpr std::size_t kMostPieces = (std::size_t{1} << kPieceBits) - 1;

/// Looks, of some 10 ns each, until a helper sleeps: longer than what the machine does alone
/// between two ranges. Every so many looks it lets others have the processor.
constexpr unsigned kLooks = 20000, kLooksBetweenYields = 500;

struct Left {
  std::uint64_t range, begin, end;

  static Left of(std::uint64_t packed) {
    return {packed >> (2 * kPieceBits), packed >> kPieceBits & kMostPieces, packed & kMostPieces};
  }
  [[nodiscard]] std::uint64_t packed() const {
    return range << (2 * kPieceBits) | begin << kPieceBits | end;
  }
};

/// Takes the first or the last piece; false when none is left. What was written before the range
/// began is then seen.
bool take(std::atomic<std::uint64_t>& share, bool first, std::size_t& piece) {
  std::uint64_t packed = share.load(std::memory_order_acquire);
  while (true) {
    Left left = Left::of(packed);
    if (left.begin == left.end) return false;
    piece = first ? left.begin++ : --left.end;
    if (share.compare_exchange_weak(packed, left.packed(), std::memory_order_acquire)) return true;
  }
}

void look_again(unsigned looks) {
  if (looks % kLooksBetweenYields == kLooksBetweenYields - 1) return std::this_thread::yield();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(std::uint32_t threads)
    : shares_(std::max(1U, threads)), begun_(0), done_(0) {
  for (std::size_t self = 1; self < shares_.size(); ++self) {
    helpers_.emplace_back([this, self] { help(self); });
  }
}

ThreadTeam::~ThreadTeam() {
  ends_.store(true);
  begun_.fetch_add(1);
  begun_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadTeam::run(const Work& work) {
  work_ = work;
  work_.grain = std::max({work.grain, std::size_t{1}, work.count / kMostPieces + 1});
  const std::size_t pieces = (work_.count + work_.grain - 1) / work_.grain;
  done_.store(0, std::memory_order_relaxed);
  range_ = (range_ + 1) % (1U << kRangeBits);
  for (std::size_t t = 0; t < shares_.size(); ++t) {
    const Left share{range_, t * pieces / shares_.size(), (t + 1) * pieces / shares_.size()};
    shares_[t].left.store(share.packed(), std::memory_order_release);
  }
  begun_.fetch_add(1);
  begun_.notify_all();
  do_pieces(0);
  for (unsigned looks = 0; done_.load(std::memory_order_acquire) != pieces; ++looks) {
    look_again(looks);
  }
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::help(std::size_t self) {
  std::uint32_t seen = 0;
  while (true) {
    std::uint32_t begun = seen;
    for (unsigned looks = 0; begun == seen; ++looks) {
      if (looks < kLooks) {
        look_again(looks);
      } else {
        begun_.wait(seen);
      }
      begun = begun_.load(std::memory_order_acquire);
    }
    seen = begun;
    if (ends_.load()) return;
    do_pieces(self);
  }
}

void ThreadTeam::do_pieces(std::size_t self) {
  std::size_t piece = 0, done = 0;
  for (std::size_t t = 0; t < shares_.size(); ++t) {
    Share& share = shares_[(self + t) % shares_.size()];
    for (; take(share.left, t == 0, piece); ++done) do_piece(piece);
  }
  // The range cannot end, and no other begin, before this.
  if (done != 0) done_.fetch_add(done, std::memory_order_release);
}

void ThreadTeam::do_piece(std::size_t piece) {
  const std::size_t begin = piece * work_.grain;
  try {
    work_.run(work_.body, begin, std::min(begin + work_.grain, work_.count));
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (failure_ != nullptr && failed_piece_ < piece) return;
    failure_ = std::current_exception();
    failed_piece_ = piece;
  }
}

}  // namespace superstep
