#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace superstep {

/// The open calls of a supervisor among those that its image marks with steps, which add up.
class CallStack {
 public:
  struct Mark {
    std::uint32_t pc = 0, step = 0;
  };

  /// `marks` ascend by pc.
  void mark(std::vector<Mark> marks) { marks_ = std::move(marks); }
  void clear() {
    open_.clear();
    step_ = 0;
  }
  /// The instruction at `pc` branches; whether it is a marked call.
  bool branch(std::uint32_t pc, std::uint32_t target) {
    if (marks_.empty()) return false;
    if (!open_.empty() && target == open_.back().pc + 4) {
      step_ -= open_.back().step;
      open_.pop_back();
      return false;
    }
    const auto at = std::ranges::lower_bound(marks_, pc, {}, &Mark::pc);
    if (at == marks_.end() || at->pc != pc) return false;
    step_ += at->step;
    open_.push_back(*at);
    return true;
  }
  /// What the steps of marks are counted from.
  [[nodiscard]] std::uint32_t step() const { return step_; }

  /// All but the marks.
  template <class Archive>
  void state(Archive& archive) {
    auto& [marks, open, step] = *this;
    archive(open, step);
  }

 private:
  std::vector<Mark> marks_, open_;
  std::uint32_t step_ = 0;
};

}  // namespace superstep
