#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "sim/tile/worker_context.h"

namespace superstep {

/// An AMP phase and what steps packed addresses beside it, decoded: registers are places in
/// `WorkerContext::registers`.
struct AmpBundle {
  enum Access : std::uint8_t { kLoadFirst = 1, kLoadSecond = 2, kStoreThird = 4 };
  static constexpr std::uint8_t kStays = 4;

  std::uint8_t accesses = 0;  ///< of `Access`
  std::uint8_t phase = 0;
  std::uint8_t first_to = 0, second_to = 0, third_from = 0;
  /// The selectors of the steps of the addresses, or that one stays.
  std::array<std::uint8_t, 3> selectors{kStays, kStays, kStays};
  std::array<std::uint8_t, 6> operands{};  ///< of the AMP instruction
};

/// How far the bundles of a line go, with some strides: distances from where an address is in front
/// of them.
struct AmpCourse {
  struct Step {
    AmpBundle bundle;
    std::uint16_t alike = 1;  ///< from here on, with the same accesses
    std::array<std::int64_t, 3> by{};
  };

  AmpCourse(const std::vector<AmpBundle>& bundles, std::uint32_t with_strides);

  std::uint32_t strides;
  std::vector<Step> steps;
  std::array<std::int64_t, 3> low{}, high{};  ///< the least and the greatest of an access
  std::array<std::int64_t, 3> end{};          ///< behind the bundles
  const AmpCourse* next = nullptr;            ///< with other strides
};

/// The courses of a line that were asked for. Safe to use from several host threads.
class AmpCourses {
 public:
  AmpCourses() = default;
  ~AmpCourses();
  AmpCourses(const AmpCourses&) = delete;
  AmpCourses& operator=(const AmpCourses&) = delete;

  /// The one with these strides; null when there are too many others.
  [[nodiscard]] const AmpCourse* with(std::uint32_t strides,
                                      const std::vector<AmpBundle>& bundles) const {
    const AmpCourse* course = newest_.load(std::memory_order_acquire);
    while (course != nullptr && course->strides != strides) course = course->next;
    return course != nullptr ? course : add(strides, bundles);
  }

 private:
  const AmpCourse* add(std::uint32_t strides, const std::vector<AmpBundle>& bundles) const;

  mutable std::atomic<const AmpCourse*> newest_ = nullptr;
};

/// AMP bundles of one kind one after the other that step the same packed addresses: what the inner
/// loops of products are. It is executed at once when all its accesses are simply allowed, which
/// follows from the first addresses and the strides.
struct AmpLine {
  struct Registers {
    std::uint8_t addresses, strides;
    bool operator==(const Registers&) const = default;
  };

  std::vector<AmpBundle> bundles;
  AmpCourses courses;
  std::optional<Registers> registers;
  std::array<bool, 3> reaches{};  ///< which of the addresses are accessed
  /// Two of them: whether bundles access both, and whether their distance is always the same then.
  struct Pair {
    bool meet = false, step_alike = true;
  };
  static constexpr std::array<std::pair<std::size_t, std::size_t>, 3> kPairs{
      {{0, 1}, {0, 2}, {1, 2}}};
  std::array<Pair, kPairs.size()> pairs{};
  const WorkerStep* last = nullptr;    ///< of its steps
  RunWorkerStep alone = nullptr;       ///< executes the first of them
  RunWorkerStep run = nullptr;         ///< executes it
  RunWorkerTurns run_turns = nullptr;  ///< executes it as the body of a loop
};

/// Makes the line that begins with `first` and ends where steps do not run on. Null when it is too
/// short to be worth it.
[[nodiscard]] const AmpLine* amp_line(const WorkerStep& first, std::deque<AmpLine>& lines);
/// The same from `first` to in front of `end`, the body of a loop. Null when there are other steps.
[[nodiscard]] const AmpLine* amp_body(const WorkerStep& first, const WorkerStep& end,
                                      std::deque<AmpLine>& lines);

}  // namespace superstep
