#include "compiler/program/coalesce_copies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/overloaded.h"
#include "compiler/program/blocks.h"
#include "compiler/program/substitute.h"

namespace superstep {
namespace {

/// Steps that are executed one after the other, by points.
struct Span {
  std::uint32_t begin = 0;
  std::optional<std::uint32_t> of_branch = {};  ///< of an arm: where the block of its branch begins
};

/// A compute set that makes all of `to` of `from`, element by element: where both are one buffer
/// it may as well.
struct Update {
  ComputeSet* set = nullptr;
  BufferId from{}, to{};
  std::uint32_t point = 0;
  Span block = {};      ///< that has it
  bool is_copy = true;  ///< makes `to` equal to `from`
};

class Coalescing {
 public:
  explicit Coalescing(LoweredProgram& program)
      : program_(program), points_(program.buffers.size()), now_(program.buffers.size()) {
    std::iota(now_.begin(), now_.end(), 0U);
    walk(program.main, {});
  }

  void run() {
    for (Update& copy : updates_) {
      if (!copy.is_copy || copy.set->launches.empty()) continue;
      if (!merge_with_copy_back(copy)) merge_into_copy(copy);
    }
    std::map<BufferId, BufferId> others;
    for (std::uint32_t b = 0; b < now_.size(); ++b) {
      if (now_[b] != b) others.emplace(BufferId{b}, current(BufferId{b}));
    }
    if (others.empty()) return;
    remove_empty(program_.main);
    for (Step& step : program_.main.steps) substitute(step, others);
  }

 private:
  void use(BufferId buffer) {
    std::vector<std::uint32_t>& points = points_[index(buffer)];
    if (points.empty() || points.back() != point_) points.push_back(point_);
  }
  void use(const vertex::Scalars& scalars) {
    ++point_;
    for (const BufferId input : scalars.inputs) use(input);
    for (const vertex::Scalars::Store& store : scalars.stores) use(store.to);
  }

  void walk(Block& block, std::optional<std::uint32_t> of_branch) {
    const Span span{point_, of_branch};
    for (Step& step : block.steps) {
      std::visit(Overloaded{[&](Superstep& superstep) { walk(superstep, span); },
                            [&](Loop& loop) {
                              use(loop.entry);
                              walk(loop.condition, {});
                              use(loop.test);
                              walk(loop.body, {});
                              use(loop.step);
                            },
                            [&](Branch& branch) {
                              use(branch.selector);
                              for (Block& arm : branch.arms) walk(arm, span.begin);
                            },
                            [](const Call&) {}, [](const HostVisit&) {}},
                 step);
    }
  }

  void walk(Superstep& superstep, const Span& block) {
    ++point_;
    const MovedBuffers moved = moved_buffers(superstep);
    for (const BufferId buffer : moved.read) use(buffer);
    for (const BufferId buffer : moved.written) use(buffer);
    for (ComputeSet& set : superstep.computes) {
      ++point_;
      for (const BufferId buffer : set.reads) use(buffer);
      for (const BufferId buffer : set.writes) use(buffer);
      if (is_update(set)) {
        const auto& its = std::get<vertex::Elementwise>(program_.codelets[set.codelet]);
        updates_.push_back({&set, set.reads[0], set.writes[0], point_, block, its.is_copy()});
      }
    }
  }

  [[nodiscard]] const Buffer& buffer(BufferId id) const { return program_.buffers[index(id)]; }

  [[nodiscard]] bool is_update(const ComputeSet& set) const {
    if (set.reads.size() != 1 || set.writes.size() != 1 || set.reads == set.writes) return false;
    const auto* its = std::get_if<vertex::Elementwise>(&program_.codelets[set.codelet]);
    if (its == nullptr || its->outputs.size() != 1 ||
        its->inputs != std::vector{vertex::Access::kVector}) {
      return false;
    }
    const Buffer &from = buffer(set.reads[0]), &to = buffer(set.writes[0]);
    if (from.layout != to.layout || from.element_bytes != to.element_bytes ||
        from.region != to.region) {
      return false;
    }
    // Every element from its own place.
    std::int64_t left = 0;
    for (const Interval& interval : from.layout->intervals()) {
      left += interval.count * static_cast<std::int64_t>(interval.tiles.size());
    }
    for (const Launch& launch : set.launches) {
      const std::int64_t elements = launch.state[0].value, byte = launch.state[1].value;
      left -= elements;
      const VertexState whole =
          vertex::unary_state(elements, StateWord::address(set.writes[0], byte),
                              StateWord::address(set.reads[0], byte));
      if (!std::ranges::equal(launch.state, whole)) return false;
    }
    return left == 0;
  }

  /// The buffer that now is one with `id`.
  [[nodiscard]] BufferId current(BufferId id) const {
    std::uint32_t b = index(id);
    while (now_[b] != b) b = now_[b];
    return BufferId{b};
  }
  [[nodiscard]] bool may_go(BufferId id) const {
    return buffer(id).kind == Buffer::Kind::kTemporary && !buffer(id).is_result;
  }
  /// Whether `id` is used from one point on, before another.
  [[nodiscard]] bool is_used(BufferId id, std::uint32_t from, std::uint32_t before) const {
    const std::vector<std::uint32_t>& points = points_[index(id)];
    const auto at = std::ranges::lower_bound(points, from);
    return at != points.end() && *at < before;
  }

  /// Of a buffer that is copied, used, and made anew of the copy, if it is not used in between: the
  /// copy becomes the buffer.
  bool merge_with_copy_back(Update& copy) {
    const BufferId from = current(copy.from), to = current(copy.to);
    if (from == to || !may_go(to) || points_[index(to)].front() != copy.point) return false;
    const auto back = std::ranges::find_if(updates_, [&](const Update& other) {
      return !other.set->launches.empty() && other.block.begin == copy.block.begin &&
             other.point > copy.point && current(other.from) == to && current(other.to) == from;
    });
    if (back == updates_.end() || points_[index(to)].back() != back->point ||
        is_used(from, copy.point + 1, back->point)) {
      return false;
    }
    if (back->is_copy) back->set->launches.clear();
    merge(copy, to, from);
    return true;
  }

  /// Of a buffer that is used for nothing after it was copied, and made after all earlier uses of
  /// the copy, or of it by each arm of a branch that still uses it: it is made there.
  void merge_into_copy(Update& copy) {
    const BufferId from = current(copy.from), to = current(copy.to);
    if (from == to || !may_go(from)) return;
    const std::vector<std::uint32_t>& points = points_[index(from)];
    if (points.front() <= copy.block.begin || points.back() != copy.point) return;
    std::vector<Update*> in_arms;
    for (Update& update : updates_) {
      const bool is_in_arm = update.block.of_branch == copy.block.begin;
      if (!is_in_arm || current(update.from) != to || current(update.to) != from) continue;
      if (!is_used(from, update.block.begin + 1, update.point)) in_arms.push_back(&update);
    }
    const std::vector<std::uint32_t>& uses = points_[index(to)];
    for (auto use = std::ranges::lower_bound(uses, points.front());
         use != uses.end() && *use < copy.point; ++use) {
      const auto is_before = [&](const Update* update) {
        return *use > update->block.begin && *use <= update->point;
      };
      if (std::ranges::none_of(in_arms, is_before)) return;
    }
    for (Update* update : in_arms) {
      if (update->is_copy) update->set->launches.clear();
    }
    merge(copy, from, to);
  }

  /// Without `copy`, one buffer becomes the other.
  void merge(Update& copy, BufferId gone, BufferId kept) {
    copy.set->launches.clear();
    now_[index(gone)] = index(kept);
    Buffer& storage = program_.buffers[index(kept)];
    storage.read_past = std::max(storage.read_past, buffer(gone).read_past);
    std::vector<std::uint32_t> points;
    std::ranges::set_union(points_[index(gone)], points_[index(kept)], std::back_inserter(points));
    points_[index(kept)] = std::move(points);
  }

  /// Takes out compute sets that launch nothing, then supersteps that do nothing.
  static void remove_empty(Block& block) {
    for (Step& step : block.steps) {
      std::visit(
          Overloaded{[](Superstep& superstep) {
                       std::erase_if(superstep.computes,
                                     [](const ComputeSet& set) { return set.launches.empty(); });
                     },
                     [](Loop& loop) {
                       remove_empty(loop.condition);
                       remove_empty(loop.body);
                     },
                     [](Branch& branch) { std::ranges::for_each(branch.arms, remove_empty); },
                     [](const Call&) {}, [](const HostVisit&) {}},
          step);
    }
    std::erase_if(block.steps, [](const Step& step) {
      const auto* superstep = std::get_if<Superstep>(&step);
      return superstep != nullptr && superstep->movements.empty() && superstep->computes.empty() &&
             superstep->feeds.empty();
    });
  }

  LoweredProgram& program_;
  std::vector<std::vector<std::uint32_t>> points_;  ///< by buffer: where it is used, ascending
  std::vector<std::uint32_t> now_;                  ///< by buffer: what it is one with
  std::vector<Update> updates_;
  std::uint32_t point_ = 0;
};

bool has_control(const Block& block) {
  return std::ranges::any_of(block.steps, [](const Step& step) {
    return std::holds_alternative<Loop>(step) || std::holds_alternative<Branch>(step);
  });
}

}  // namespace

void coalesce_copies(LoweredProgram& program) {
  if (has_control(program.main)) Coalescing(program).run();
}

}  // namespace superstep
