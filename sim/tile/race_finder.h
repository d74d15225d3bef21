#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/tile/race_checks.h"
#include "sim/tile/memory.h"

namespace superstep {

/// Who touched each word of a tile last. Numbers of runs grow, so that nothing is cleared when they
/// begin anew, on the same tile or on another one.
class RaceShadow {
 public:
  /// One launch of one worker; 0 is none.
  using RunNumber = std::uint32_t;
  struct Access {
    RunNumber run = 0;
    std::uint32_t pc = 0;
  };
  struct Word {
    Access writer;
    /// Of different runs, those that leave last: beside any writer one of them is another run. Of
    /// workers that take turns, when more than two read, one that has left may be forgotten for one
    /// that leaves sooner.
    std::array<Access, 2> readers;
  };

  explicit RaceShadow(const MachineConfig& machine);

  [[nodiscard]] RunNumber next_run() { return ++last_run_; }
  /// Its numbers come to an end: others must take another one.
  [[nodiscard]] bool is_used_up() const { return last_run_ >= kMostRuns; }
  /// What is known of the word at an address of the memory.
  [[nodiscard]] Word& word(std::uint32_t address) {
    return reinterpret_cast<Word*>(pages_.get())[(address - base_) / 4];
  }

 private:
  static constexpr RunNumber kMostRuns = RunNumber{1} << 31;

  std::uint32_t base_;
  HostPages pages_;
  RunNumber last_run_ = 0;
};

/// Shadows for the tiles of a machine that check at the same time. Safe to use from several host
/// threads.
class RaceShadows {
 public:
  /// `machine` outlives it.
  explicit RaceShadows(const MachineConfig& machine) : machine_(machine) {}

  [[nodiscard]] std::unique_ptr<RaceShadow> take();
  void give_back(std::unique_ptr<RaceShadow> shadow);

 private:
  const MachineConfig& machine_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RaceShadow>> free_;
};

/// Finds words of a tile that workers share without order. A worker comes after another when it is
/// launched after that one has left; otherwise neither may write a word that the other touches.
class RaceFinder {
 public:
  using RunNumber = RaceShadow::RunNumber;

  /// `shadows` outlive it.
  explicit RaceFinder(RaceShadows& shadows) : shadows_(shadows) {}
  ~RaceFinder() { pause(); }
  RaceFinder(const RaceFinder&) = delete;
  RaceFinder& operator=(const RaceFinder&) = delete;

  /// A worker is launched at cycle `issue`.
  [[nodiscard]] RunNumber begin(std::uint32_t worker, std::uint64_t issue);
  /// It has left at `cycle`.
  void end(RunNumber run, std::uint64_t cycle) { runs_[run - first_run_].end = cycle; }
  /// No worker is running: others may use the shadow.
  void pause();

  /// Notes an access of a run that has not left; null, or what is wrong with it, valid until the
  /// next call.
  [[nodiscard]] const char* access(RunNumber run, std::uint32_t pc, std::uint32_t address,
                                   std::uint32_t bytes, bool writes);

 private:
  using Access = RaceShadow::Access;
  /// When a run was: from its launch to when the worker had left.
  struct RunSpan {
    std::uint32_t worker = 0;
    std::uint64_t issue = 0;
    std::uint64_t end = ~std::uint64_t{0};
  };

  /// Whether it was made by another run that `run` does not come after.
  [[nodiscard]] bool races(const Access& access, RunNumber run) const {
    return access.run >= first_run_ && access.run != run &&
           runs_[access.run - first_run_].end > runs_[run - first_run_].issue;
  }
  /// When the run that made it left; the end of time while it has not.
  [[nodiscard]] std::uint64_t end_of(const Access& access) const {
    return runs_[access.run - first_run_].end;
  }
  const char* explain(const Access& other, bool other_wrote, std::uint32_t word, bool writes);

  RaceShadows& shadows_;
  std::unique_ptr<RaceShadow> shadow_;
  RunNumber first_run_ = 1;
  std::vector<RunSpan> runs_;  ///< from `first_run_` on: since no worker was running
  std::string message_;
};

}  // namespace superstep
