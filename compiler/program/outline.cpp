#include "compiler/program/outline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.h"
#include "compiler/image/supervisor_registers.h"
#include "compiler/program/blocks.h"
#include "compiler/program/copy_buffers.h"
#include "compiler/program/repeats.h"
#include "compiler/program/step_shape.h"
#include "compiler/program/substitute.h"

namespace superstep {
namespace {

/// Supersteps that a procedure must save: calls take cycles, which less code is not worth
/// [assumed: 6 generated networks on small64 repeat nothing that would tell].
constexpr std::size_t kLeastSaved = 16;

/// Steps of a repeated sequence from `begin` to `end`.
struct StepRange {
  std::size_t begin = 0, end = 0;
};

/// What of a repeat becomes procedures.
struct Outline {
  std::vector<StepRange> ranges;
  std::vector<bool> is_copied;  ///< by buffer
};

/// A buffer of a procedure that is a copy.
struct Copied {
  BufferId formal{};
  std::vector<BufferId> actual, copy;  ///< by time
  bool is_written = false;
};

/// A step of a block, or, without one, what ends the steps of a block.
struct Element {
  Step* step = nullptr;
  std::uint64_t hash = 0;
  std::vector<BufferId> buffers;                  ///< of its shape
  std::size_t supersteps = 0;                     ///< in it
  std::uint32_t first_point = 0, last_point = 0;  ///< as lifetimes count
};

/// The elements of a block.
struct BlockElements {
  Block* block = nullptr;
  std::size_t begin = 0, end = 0;
};

/// What takes the place of elements up to `end`.
struct Replacement {
  std::size_t end = 0;
  std::vector<BufferCopy> before, after;
  Call call;
  bool is_first = false;            ///< the procedure gets these steps
  std::vector<Copied> copied = {};  ///< then in them
};

bool fits_procedure(const vertex::Scalars& scalars) {
  return vertex::scalar_code(scalars, supervisor::kScalarsOfProcedures).has_value();
}

/// Whether a step may be in a procedure, for which supervisors have fewer registers.
bool fits_procedure(const Step& step) {
  const auto fits = [](const Block& block) {
    return std::ranges::all_of(block.steps, [](const Step& s) { return fits_procedure(s); });
  };
  if (const auto* loop = std::get_if<Loop>(&step)) {
    return fits_procedure(loop->entry) && fits_procedure(loop->test) &&
           fits_procedure(loop->step) && fits(loop->condition) && fits(loop->body);
  }
  // A visit to the host is known by its place in the code.
  if (const auto* superstep = std::get_if<Superstep>(&step)) return superstep->feeds.empty();
  if (const auto* branch = std::get_if<Branch>(&step)) {
    return fits_procedure(branch->selector) && std::ranges::all_of(branch->arms, fits);
  }
  return true;
}

/// Lists the elements of a program, those of inner blocks first.
class ElementList {
 public:
  explicit ElementList(LoweredProgram& program) : program_(program) {
    unit_at.push_back(0);
    list(program.main);
    unit_at.push_back(++unit_);
    // The first superstep may follow a visit to the host.
    const BlockElements& main = blocks.back();
    if (main.begin < main.end) elements[main.begin].hash = unlike_all();
  }

  std::vector<Element> elements;
  std::vector<BlockElements> blocks;
  std::vector<std::uint32_t> unit_at;  ///< by point: of what is not divided, ascending
  LayoutNumbers layouts;

 private:
  [[nodiscard]] std::uint32_t next_point() const {
    return static_cast<std::uint32_t>(unit_at.size());
  }
  std::uint64_t unlike_all() { return fnv1a(kFnv1aBasis, ++unlike_); }

  void list(Block& block) {
    std::vector<Element> own;
    for (Step& step : block.steps) {
      const StepShape shape(program_, step, layouts);
      Element element{&step, shape.hash(), shape.buffers(), 0, next_point(), 0};
      if (!fits_procedure(step)) element.hash = unlike_all();
      const std::size_t supersteps = supersteps_;
      std::visit([&](auto& kind) { enter(kind); }, step);
      element.supersteps = supersteps_ - supersteps;
      element.last_point = next_point() - 1;
      own.push_back(std::move(element));
    }
    blocks.push_back({&block, elements.size(), elements.size() + own.size()});
    std::ranges::move(own, std::back_inserter(elements));
    elements.push_back({nullptr, unlike_all(), {}});
  }

  void enter(const Superstep& superstep) {
    ++supersteps_;
    unit_at.insert(unit_at.end(), superstep.computes.size() + 1, ++unit_);
  }
  void enter(const Call&) { SUPERSTEP_CHECK(false, "procedures are made once"); }
  void enter(const HostVisit&) { SUPERSTEP_CHECK(false, "calls are looped later"); }
  void enter(Loop& loop) {
    unit_at.push_back(++unit_);
    list(loop.condition);
    list(loop.body);
    unit_at.push_back(++unit_);
  }
  void enter(Branch& branch) {
    unit_at.push_back(++unit_);
    for (Block& arm : branch.arms) list(arm);
  }

  LoweredProgram& program_;
  std::uint32_t unit_ = 0;
  std::size_t supersteps_ = 0;
  std::uint64_t unlike_ = 0;
};

class Outliner {
 public:
  Outliner(LoweredProgram& program, OutlineEffort effort)
      : program_(program), effort_(effort), lifetimes_(lifetimes_of(program)), list_(program) {
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) chosen_root_.push_back(BufferId{b});
    root_ = chosen_root_;
  }

  void run() {
    std::vector<std::pair<std::size_t, Repeat>> candidates;
    const auto add = [&](Repeat repeat) {
      if (repeat.times() < 2 || saved(repeat, {{0, repeat.length}}) < kLeastSaved) return;
      const Outline outline = outline_of(repeat);
      const std::size_t estimate = saved(repeat, outline.ranges);
      if (estimate < kLeastSaved) return;
      // There may be copies in front of a call and behind it.
      const std::size_t copies = 2 * copying_calls(repeat, outline);
      candidates.emplace_back(estimate - std::min(estimate, copies), std::move(repeat));
    };
    for (const Repeat& repeat : repeats()) {
      // The first and the last time may use what keeps its place: an argument, what a loop carries.
      const auto first = repeat.begins.begin(), end = repeat.begins.end();
      add(repeat);
      add({{first + 1, end}, repeat.length});
      add({{first, end - 1}, repeat.length});
      add({{first + 1, end - 1}, repeat.length});
    }
    std::ranges::stable_sort(candidates, std::greater{}, &std::pair<std::size_t, Repeat>::first);
    struct Choice {
      Repeat repeat;
      Outline outline;
    };
    std::map<std::size_t, Choice> chosen;  // by begin
    for (const auto& [order, repeat] : candidates) {
      if (!is_free(repeat)) continue;
      Outline outline = outline_of(repeat);
      if (saved(repeat, outline.ranges) < kLeastSaved || !are_equal(repeat)) continue;
      take(repeat);
      chosen.emplace(repeat.begins[0], Choice{repeat, std::move(outline)});
      chosen_root_ = root_;
    }
    for (const auto& [begin, choice] : chosen) make_procedures(choice.repeat, choice.outline);
    for (const BlockElements& block : list_.blocks) rebuild(block);
    if (copies_ > 0) program_.events.push_back(copies_event());
  }

 private:
  [[nodiscard]] std::vector<Repeat> repeats() const {
    std::vector<std::uint64_t> hashes;
    for (const Element& element : list_.elements) hashes.push_back(element.hash);
    return repeats_of(hashes,
                      effort_ == OutlineEffort::kFree ? RepeatKind::kTandem : RepeatKind::kAny);
  }

  [[nodiscard]] const Element& element(const Repeat& repeat, std::size_t time,
                                       std::size_t j) const {
    return list_.elements[repeat.begins[time] + j];
  }
  [[nodiscard]] const std::vector<BufferId>& buffers(const Repeat& repeat, std::size_t time,
                                                     std::size_t j) const {
    return element(repeat, time, j).buffers;
  }

  /// The points of a repeat, by time: the first and the last. Steps in blocks of a step have points
  /// of its own.
  using Points = std::pair<std::uint32_t, std::uint32_t>;
  [[nodiscard]] Points points(const Repeat& repeat, std::size_t time) const {
    return {element(repeat, time, 0).first_point,
            element(repeat, time, repeat.length - 1).last_point};
  }
  /// Whether no step of it is in what is chosen.
  [[nodiscard]] bool is_free(const Repeat& repeat) const {
    for (std::size_t time = 0; time < repeat.times(); ++time) {
      const auto [first, last] = points(repeat, time);
      const auto next = taken_.lower_bound(first);  // by last point
      if (next != taken_.end() && next->second <= last) return false;
    }
    return true;
  }
  void take(const Repeat& repeat) {
    for (std::size_t time = 0; time < repeat.times(); ++time) {
      const auto [first, last] = points(repeat, time);
      taken_.emplace(last, first);
    }
  }

  /// Supersteps that calls take the place of.
  [[nodiscard]] std::size_t saved(const Repeat& repeat,
                                  const std::vector<StepRange>& ranges) const {
    std::size_t supersteps = 0;
    for (const StepRange& range : ranges) {
      for (std::size_t j = range.begin; j < range.end; ++j) {
        supersteps += element(repeat, 0, j).supersteps;
      }
    }
    return supersteps * (repeat.times() - 1);
  }

  /// Calls around which buffers are copied.
  [[nodiscard]] std::size_t copying_calls(const Repeat& repeat, const Outline& outline) const {
    const auto copies = [&](const StepRange& range) {
      for (std::size_t j = range.begin; j < range.end; ++j) {
        for (const BufferId id : buffers(repeat, 0, j)) {
          if (outline.is_copied[index(id)]) return true;
        }
      }
      return false;
    };
    return repeat.times() * static_cast<std::size_t>(std::ranges::count_if(outline.ranges, copies));
  }

  /// Whether shapes are equal, and not only their hashes.
  [[nodiscard]] bool are_equal(const Repeat& repeat) {
    for (std::size_t j = 0; j < repeat.length; ++j) {
      const auto shape = [&](std::size_t time) {
        return StepShape(program_, *element(repeat, time, j).step, list_.layouts);
      };
      const StepShape first = shape(0);
      for (std::size_t time = 1; time < repeat.times(); ++time) {
        if (shape(time).words() != first.words()) return false;
      }
    }
    return true;
  }

  BufferId root(BufferId id) {
    while (root_[index(id)] != id) {
      id = root_[index(id)] = root_[index(root_[index(id)])];
    }
    return id;
  }

  /// What of a repeat can be called: buffers that take each other's place at different times are
  /// never in use at once, or copied.
  Outline outline_of(const Repeat& repeat) {
    std::vector<bool> is_in(repeat.length, true), is_copied(root_.size(), false);
    for (bool changed = true; changed;) {
      unite(repeat, is_in, is_copied);
      const std::vector<bool> conflicts = conflicts_of_classes();
      changed = false;
      for (std::size_t j = 0; j < repeat.length; ++j) {
        const auto is_free = [&](BufferId id) { return !conflicts[index(root(id))]; };
        if (!is_in[j] || std::ranges::all_of(buffers(repeat, 0, j), is_free)) continue;
        changed = true;
        if (effort_ == OutlineEffort::kFree) {
          is_in[j] = false;
          continue;
        }
        for (std::size_t time = 0; time < repeat.times(); ++time) {
          for (const BufferId id : buffers(repeat, time, j)) {
            if (!is_free(id)) is_copied[index(id)] = true;
          }
        }
      }
      if (!changed) changed = leave_ambiguous(repeat, is_in, is_copied);
    }
    return {ranges_of(is_in), std::move(is_copied)};
  }

  static std::vector<StepRange> ranges_of(const std::vector<bool>& is_in) {
    std::vector<StepRange> ranges;
    for (std::size_t j = 0; j < is_in.size(); ++j) {
      if (!is_in[j]) continue;
      if (ranges.empty() || ranges.back().end != j) ranges.push_back({j, j});
      ++ranges.back().end;
    }
    return ranges;
  }

  /// Makes one class of the buffers that take each other's place, here or in what is chosen.
  void unite(const Repeat& repeat, const std::vector<bool>& is_in,
             const std::vector<bool>& is_copied) {
    root_ = chosen_root_;
    for (std::size_t j = 0; j < repeat.length; ++j) {
      if (!is_in[j]) continue;
      const std::vector<BufferId>& formals = buffers(repeat, 0, j);
      for (std::size_t time = 1; time < repeat.times(); ++time) {
        for (std::size_t i = 0; i < formals.size(); ++i) {
          if (is_copied[index(formals[i])]) continue;
          const BufferId a = root(formals[i]), b = root(buffers(repeat, time, j)[i]);
          root_[index(std::max(a, b))] = std::min(a, b);
        }
      }
    }
  }

  /// By root: whether two of the class are in use in the same superstep, or keep their values.
  std::vector<bool> conflicts_of_classes() {
    std::vector<std::vector<BufferId>> members(root_.size());
    for (std::uint32_t b = 0; b < root_.size(); ++b) {
      if (lifetimes_[b].is_used()) members[index(root(BufferId{b}))].push_back(BufferId{b});
    }
    std::vector<bool> conflicts(root_.size());
    for (std::size_t r = 0; r < members.size(); ++r) {
      std::vector<BufferId>& all = members[r];
      if (all.size() < 2) continue;
      std::ranges::sort(all, {}, [&](BufferId id) { return lifetimes_[index(id)].first; });
      conflicts[r] = std::ranges::any_of(all, [&](BufferId id) {
        return program_.buffers[index(id)].kind != Buffer::Kind::kTemporary;
      });
      for (std::size_t i = 1; i < all.size(); ++i) {
        const std::uint32_t last = list_.unit_at[lifetimes_[index(all[i - 1])].last];
        if (list_.unit_at[lifetimes_[index(all[i])].first] <= last) conflicts[r] = true;
      }
    }
    return conflicts;
  }

  /// Takes out a superstep for which a formal buffer of the same range would be another one, or two
  /// of them one that is copied.
  bool leave_ambiguous(const Repeat& repeat, std::vector<bool>& is_in,
                       const std::vector<bool>& is_copied) {
    for (const StepRange& range : ranges_of(is_in)) {
      for (std::size_t time = 1; time < repeat.times(); ++time) {
        std::map<BufferId, BufferId> actual, formal;
        for (std::size_t j = range.begin; j < range.end; ++j) {
          const std::vector<BufferId>& formals = buffers(repeat, 0, j);
          for (std::size_t i = 0; i < formals.size(); ++i) {
            const BufferId f = formals[i], a = buffers(repeat, time, j)[i];
            const bool may_meet = !is_copied[index(f)] && !is_copied[index(a)];
            if (actual.try_emplace(f, a).first->second == a &&
                (may_meet || formal.try_emplace(a, f).first->second == f)) {
              continue;
            }
            is_in[j] = false;
            return true;
          }
        }
      }
    }
    return false;
  }

  void make_procedures(const Repeat& repeat, const Outline& outline) {
    for (const StepRange& range : outline.ranges) {
      const ProcedureId procedure{static_cast<std::uint32_t>(program_.procedures.size())};
      std::vector<Copied> copied = copied_by(repeat, range, outline.is_copied);
      program_.procedures.push_back({{}, formals(repeat, range, copied)});
      for (std::size_t time = 0; time < repeat.times(); ++time) {
        Replacement replacement{.end = repeat.begins[time] + range.end,
                                .before = copies_in(repeat, range, time, copied),
                                .after = copies_out(repeat, range, time, copied),
                                .call = {procedure, bindings(repeat, range, time, copied), {}}};
        for (std::size_t j = range.begin; j < range.end; ++j) {
          add_origins(*element(repeat, time, j).step, replacement.call);
        }
        if (time == 0) {
          replacement.is_first = true;
          replacement.copied = copied;
        }
        replacements_.emplace(repeat.begins[time] + range.begin, std::move(replacement));
      }
    }
  }

  /// Puts calls into a block; those of inner blocks are there.
  void rebuild(const BlockElements& of) {
    Block block;
    for (std::size_t at = of.begin; at < of.end;) {
      const auto found = replacements_.find(at);
      if (found == replacements_.end()) {
        block.steps.push_back(std::move(*list_.elements[at++].step));
        continue;
      }
      Replacement& replacement = found->second;
      const std::uint32_t number = index(replacement.call.procedure);
      Procedure& procedure = program_.procedures[number];
      Origin origin = place_of(replacement.call);
      const std::string name = "procedure." + std::to_string(number);
      origin.name = name + ".operands";
      add_copies(replacement.before, origin, block);
      for (; at < replacement.end; ++at) {
        if (!replacement.is_first) continue;
        substitute_copied(*list_.elements[at].step, replacement.copied);
        procedure.block.steps.push_back(std::move(*list_.elements[at].step));
      }
      block.steps.emplace_back(std::move(replacement.call));
      origin.name = name + ".results";
      add_copies(replacement.after, origin, block);
    }
    *of.block = std::move(block);
  }

  /// The copied buffers of a range, with storage for their copies.
  [[nodiscard]] std::vector<Copied> copied_by(const Repeat& repeat, const StepRange& range,
                                              const std::vector<bool>& is_copied) {
    std::map<BufferId, Copied> by_formal;
    for (std::size_t j = range.begin; j < range.end; ++j) {
      const std::vector<BufferId>& formals = buffers(repeat, 0, j);
      const std::set<BufferId> written = buffers_of(*element(repeat, 0, j).step).written;
      for (std::size_t i = 0; i < formals.size(); ++i) {
        if (!is_copied[index(formals[i])]) continue;
        const auto [at, is_new] = by_formal.try_emplace(formals[i], Copied{formals[i], {}, {}});
        Copied& copied = at->second;
        copied.is_written |= written.contains(formals[i]);
        for (std::size_t time = 0; is_new && time < repeat.times(); ++time) {
          copied.actual.push_back(buffers(repeat, time, j)[i]);
          copied.copy.push_back(add_copy_of(copied.actual.back()));
        }
      }
    }
    std::vector<Copied> all;
    for (auto& [formal, copied] : by_formal) all.push_back(std::move(copied));
    return all;
  }

  BufferId add_copy_of(BufferId id) {
    const Buffer& of = program_.buffers[index(id)];
    Buffer copy{.kind = Buffer::Kind::kTemporary,
                .name = of.name + ".copy",
                .type = of.type,
                .element_bytes = of.element_bytes,
                .layout = of.layout,
                .contents = {},
                .source = of.source,
                .read_past = of.read_past,
                .region = of.region};
    program_.buffers.push_back(std::move(copy));
    return BufferId{static_cast<std::uint32_t>(program_.buffers.size() - 1)};
  }

  [[nodiscard]] CompileEvent copies_event() const {
    return {.kind = CompileEvent::Kind::kDroppedPlan,
            .operation = "repeated steps",
            .source = {},
            .reason = "share their code, since the program does not fit a tile without that: " +
                      std::to_string(copies_) + " buffers are copied for it",
            .advice = "a higher tile.region1_base or fewer steps would help"};
  }

  static void substitute_copied(Step& step, const std::vector<Copied>& copied) {
    std::map<BufferId, BufferId> copies;
    for (const Copied& c : copied) copies.emplace(c.formal, c.copy[0]);
    if (!copies.empty()) substitute(step, copies);
  }

  void add_copies(const std::vector<BufferCopy>& copies, const Origin& origin, Block& block) {
    copies_ += copies.size();
    if (!copies.empty()) block.steps.emplace_back(copy_buffers(program_, copies, origin));
  }
  /// Where the first step of a call that says it is written.
  static Origin place_of(const Call& call) {
    for (const SuperstepOrigins& origins : call.origins) {
      if (!origins.exchange.operation.empty()) return {"", "", origins.exchange.source};
      for (const Origin& origin : origins.computes) {
        if (!origin.operation.empty()) return {"", "", origin.source};
      }
    }
    return {};
  }

  /// Copies of what was there before.
  [[nodiscard]] std::vector<BufferCopy> copies_in(const Repeat& repeat, const StepRange& range,
                                                  std::size_t time,
                                                  const std::vector<Copied>& copied) const {
    std::vector<BufferCopy> copies;
    for (const Copied& c : copied) {
      if (lifetimes_[index(c.actual[time])].first <
          element(repeat, time, range.begin).first_point) {
        copies.push_back({c.actual[time], c.copy[time]});
      }
    }
    return copies;
  }

  /// Copies of what has changed and is used again.
  [[nodiscard]] std::vector<BufferCopy> copies_out(const Repeat& repeat, const StepRange& range,
                                                   std::size_t time,
                                                   const std::vector<Copied>& copied) const {
    std::vector<BufferCopy> copies;
    for (const Copied& c : copied) {
      const std::uint32_t last = lifetimes_[index(c.actual[time])].last;
      if (c.is_written && last > element(repeat, time, range.end - 1).last_point) {
        copies.push_back({c.copy[time], c.actual[time]});
      }
    }
    return copies;
  }

  [[nodiscard]] std::vector<Call::Binding> bindings(const Repeat& repeat, const StepRange& range,
                                                    std::size_t time,
                                                    const std::vector<Copied>& copied) const {
    std::map<BufferId, const Copied*> by_formal;
    for (const Copied& c : copied) by_formal.emplace(c.formal, &c);
    std::vector<Call::Binding> bindings;
    for (std::size_t j = range.begin; j < range.end; ++j) {
      const std::vector<BufferId>& formals = buffers(repeat, 0, j);
      for (std::size_t i = 0; i < formals.size(); ++i) {
        const auto c = by_formal.find(formals[i]);
        const Call::Binding binding =
            c == by_formal.end() ? Call::Binding{formals[i], buffers(repeat, time, j)[i]}
                                 : Call::Binding{c->second->copy[0], c->second->copy[time]};
        if (binding.actual != binding.formal) bindings.push_back(binding);
      }
    }
    std::ranges::sort(bindings);
    bindings.erase(std::unique(bindings.begin(), bindings.end()), bindings.end());
    return bindings;
  }

  [[nodiscard]] std::vector<BufferId> formals(const Repeat& repeat, const StepRange& range,
                                              const std::vector<Copied>& copied) const {
    std::vector<BufferId> formals;
    for (std::size_t time = 1; time < repeat.times(); ++time) {
      for (const Call::Binding& binding : bindings(repeat, range, time, copied)) {
        formals.push_back(binding.formal);
      }
    }
    std::ranges::sort(formals);
    formals.erase(std::unique(formals.begin(), formals.end()), formals.end());
    return formals;
  }

  LoweredProgram& program_;
  OutlineEffort effort_;
  std::vector<Lifetime> lifetimes_;
  ElementList list_;
  std::map<std::uint32_t, std::uint32_t> taken_;     ///< points of what is chosen: last, first
  std::map<std::size_t, Replacement> replacements_;  ///< by first element
  std::size_t copies_ = 0;
  std::vector<BufferId> root_, chosen_root_;  ///< of classes, by buffer
};

}  // namespace

void outline_repeats(LoweredProgram& program, OutlineEffort effort) {
  if (supersteps_of(program).size() > kLeastSaved) Outliner(program, effort).run();
}

}  // namespace superstep
