#include "compiler/program/outline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "compiler/program/blocks.h"
#include "compiler/program/copy_buffers.h"
#include "compiler/program/substitute.h"

namespace superstep {
namespace {

/// Supersteps that a procedure must save: calls take cycles, which less code is not worth
/// [assumed: 6 generated networks on small64 repeat nothing that would tell].
constexpr std::size_t kLeastSaved = 16;
/// A value may lie at one of two places by turns; then only every other time is equal [assumed:
/// longer periods have not been seen].
constexpr std::size_t kMostTurns = 4;

/// Numbers of layouts, equal for equal intervals.
class LayoutNumbers {
 public:
  std::size_t of(const Layout* layout) {
    const auto [at, is_new] = by_address_.try_emplace(layout);
    if (is_new) at->second = by_content_.try_emplace(layout, by_content_.size()).first->second;
    return at->second;
  }

 private:
  struct Less {
    bool operator()(const Layout* a, const Layout* b) const {
      return a->intervals() < b->intervals();
    }
  };
  std::unordered_map<const Layout*, std::size_t> by_address_;
  std::map<const Layout*, std::size_t, Less> by_content_;
};

/// A superstep as words that do not depend on which buffers it uses, and those buffers in order of
/// first use. Equal words: the same work.
class Shape {
 public:
  Shape(const LoweredProgram& program, const Superstep& superstep, LayoutNumbers& layouts)
      : program_(program), layouts_(layouts) {
    add(superstep.movements.size());
    for (const Movement& movement : superstep.movements) {
      add(movement.source);
      add(movement.words);
      add(movement.destinations.size());
      for (const Movement::End& end : movement.destinations) add(end);
    }
    for (const ComputeSet& set : superstep.computes) add(set);
  }

  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }
  [[nodiscard]] const std::vector<BufferId>& buffers() const { return buffers_; }
  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t hash = kFnv1aBasis;
    for (const std::uint64_t word : words_) {
      hash = fnv1a(hash, word);
      hash ^= hash >> 32;  // high bits of a word must not stay high
    }
    return hash;
  }

 private:
  void add(std::uint64_t word) { words_.push_back(word); }
  void add(BufferId id) {
    const auto [at, is_new] = number_.try_emplace(index(id), buffers_.size());
    add(at->second);
    if (!is_new) return;
    buffers_.push_back(id);
    const Buffer& buffer = program_.buffers[index(id)];
    add(layouts_.of(buffer.layout.get()));
    add(std::uint64_t{buffer.element_bytes} << 8 | static_cast<std::uint64_t>(buffer.region));
  }
  void add(const Movement::End& end) {
    add(end.buffer);
    add(std::uint64_t{index(end.tile)} << 32 | end.byte);
  }
  void add(const StateWord& word) {
    add(std::uint64_t{word.value} << 8 | static_cast<std::uint64_t>(word.base));
    if (word.base == StateWord::Base::kBuffer) add(word.buffer);
  }
  void add(const VertexState& state) {
    const auto [at, is_new] = states_.try_emplace(state.identity(), states_.size());
    add(at->second);
    if (!is_new) return;
    add(state.size());
    for (const StateWord& word : state) add(word);
  }
  void add(const ComputeSet& set) {
    add(std::uint64_t{set.codelet} << 32 | set.launches.size());
    add(set.flops);
    for (const auto* list : {&set.reads, &set.writes}) {
      add(list->size());
      for (const BufferId id : *list) add(id);
    }
    for (const Launch& launch : set.launches) {
      add(std::uint64_t{index(launch.tile)} << 32 | launch.worker_words);
      add(launch.state);
      add(launch.stages.size());
      for (const Launch::Stage& stage : launch.stages) {
        add(std::uint64_t{stage.codelet} << 32 | stage.blocks);
      }
      if (launch.stages.empty()) continue;
      add(launch.weights);
      add(launch.weight_loads);
    }
  }

  const LoweredProgram& program_;
  LayoutNumbers& layouts_;
  std::vector<std::uint64_t> words_;
  std::vector<BufferId> buffers_;
  std::unordered_map<std::uint32_t, std::size_t> number_;
  std::unordered_map<const void*, std::size_t> states_;
};

/// `times` times `period` supersteps of equal shapes, from `begin` on.
struct Repeat {
  std::size_t begin = 0, period = 0, times = 0;

  [[nodiscard]] std::size_t end() const { return begin + period * times; }
};

/// Supersteps of a period from `begin` to `end`.
struct Run {
  std::size_t begin = 0, end = 0;
};

/// What of a repeat becomes procedures.
struct Outline {
  std::vector<Run> runs;
  std::vector<bool> is_copied;  ///< by buffer
};

/// A buffer of a procedure that is a copy.
struct Copied {
  BufferId formal{};
  std::vector<BufferId> actual, copy;  ///< by time
  bool is_written = false;
};

class Outliner {
 public:
  Outliner(LoweredProgram& program, SharedBuffers shared)
      : program_(program), shared_(shared), lifetimes_(lifetimes_of(program)) {
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) chosen_root_.push_back(BufferId{b});
    root_ = chosen_root_;
    for (const Step& step : program.main.steps) {
      const auto& superstep = std::get<Superstep>(step);
      const Shape shape(program, superstep, layouts_);
      hashes_.push_back(shape.hash());
      buffers_.push_back(shape.buffers());
      const auto points = static_cast<std::uint32_t>(superstep.computes.size() + 1);
      superstep_at_.insert(superstep_at_.end(), points,
                           static_cast<std::uint32_t>(hashes_.size() - 1));
    }
    superstep_at_.insert(superstep_at_.begin(), 0);
    superstep_at_.push_back(static_cast<std::uint32_t>(hashes_.size()));
  }

  void run() {
    std::vector<std::pair<std::size_t, Repeat>> candidates;
    for (const Repeat& repeat : repeats()) {
      candidates.emplace_back(saved(repeat, outline_of(repeat).runs), repeat);
      // The first time may read an argument, which keeps its place.
      const Repeat others{repeat.begin + repeat.period, repeat.period, repeat.times - 1};
      if (others.times > 1) candidates.emplace_back(saved(others, outline_of(others).runs), others);
    }
    std::ranges::stable_sort(candidates, std::greater{}, &std::pair<std::size_t, Repeat>::first);
    struct Choice {
      Repeat repeat;
      Outline outline;
    };
    std::map<std::size_t, Choice> chosen;  // by begin
    for (const auto& [estimate, repeat] : candidates) {
      if (estimate < kLeastSaved) break;
      const bool is_free = std::ranges::none_of(chosen, [&repeat = repeat](const auto& other) {
        return repeat.begin < other.second.repeat.end() && other.second.repeat.begin < repeat.end();
      });
      if (!is_free) continue;
      Outline outline = outline_of(repeat);
      if (saved(repeat, outline.runs) < kLeastSaved || !are_equal(repeat)) continue;
      chosen.emplace(repeat.begin, Choice{repeat, std::move(outline)});
      chosen_root_ = root_;
    }
    Block main;
    std::size_t at = 0;
    const auto keep_until = [&](std::size_t end) {
      for (; at < end; ++at) main.steps.push_back(std::move(program_.main.steps[at]));
    };
    for (auto& [begin, choice] : chosen) {
      keep_until(begin);
      make_procedures(choice.repeat, choice.outline, main);
      at = choice.repeat.end();
    }
    keep_until(hashes_.size());
    program_.main = std::move(main);
    if (copies_ > 0) program_.events.push_back(copies_event());
  }

 private:
  /// Tandem repeats of equal shapes; the first superstep, which may follow a visit to the host, is
  /// in none. Periods times supersteps are compared, quick as hashes are: 0.7 % of the time to
  /// compile 2,000 reductions of unequal sizes for bow.
  [[nodiscard]] std::vector<Repeat> repeats() const {
    std::vector<Repeat> repeats;
    const std::size_t n = hashes_.size();
    for (std::size_t period = 1; period <= n / 2; ++period) {
      for (std::size_t begin = 1; begin + period < n;) {
        std::size_t end = begin;
        while (end + period < n && hashes_[end] == hashes_[end + period]) ++end;
        const Repeat repeat{begin, period, (end - begin) / period + 1};
        if (repeat.times > 1 && !repeats_shorter(repeats, repeat)) repeats.push_back(repeat);
        begin = end + 1;
      }
    }
    return repeats;
  }

  /// Whether one that is there has so many times that this one says nothing new.
  static bool repeats_shorter(const std::vector<Repeat>& repeats, const Repeat& repeat) {
    return std::ranges::any_of(repeats, [&](const Repeat& other) {
      return other.begin <= repeat.begin && repeat.period > kMostTurns * other.period &&
             repeat.period % other.period == 0 && repeat.end() <= other.end() + other.period;
    });
  }

  static std::size_t saved(const Repeat& repeat, const std::vector<Run>& runs) {
    std::size_t supersteps = 0;
    for (const Run& run : runs) supersteps += run.end - run.begin;
    return supersteps * (repeat.times - 1);
  }

  /// Whether shapes are equal, and not only their hashes.
  [[nodiscard]] bool are_equal(const Repeat& repeat) {
    for (std::size_t j = 0; j < repeat.period; ++j) {
      const auto shape = [&](std::size_t time) {
        const std::size_t number = repeat.begin + time * repeat.period + j;
        return Shape(program_, std::get<Superstep>(program_.main.steps[number]), layouts_);
      };
      const Shape first = shape(0);
      for (std::size_t time = 1; time < repeat.times; ++time) {
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

  [[nodiscard]] const std::vector<BufferId>& buffers(const Repeat& repeat, std::size_t time,
                                                     std::size_t j) const {
    return buffers_[repeat.begin + time * repeat.period + j];
  }

  /// What of a period can be called: buffers that take each other's place at different times are
  /// never in use at once, or copied.
  Outline outline_of(const Repeat& repeat) {
    std::vector<bool> is_in(repeat.period, true), is_copied(root_.size(), false);
    for (bool changed = true; changed;) {
      unite(repeat, is_in, is_copied);
      const std::vector<bool> conflicts = conflicts_of_classes();
      changed = false;
      for (std::size_t j = 0; j < repeat.period; ++j) {
        const auto is_free = [&](BufferId id) { return !conflicts[index(root(id))]; };
        if (!is_in[j] || std::ranges::all_of(buffers(repeat, 0, j), is_free)) continue;
        changed = true;
        if (shared_ == SharedBuffers::kUnlessInUseAtOnce) {
          is_in[j] = false;
          continue;
        }
        for (std::size_t time = 0; time < repeat.times; ++time) {
          for (const BufferId id : buffers(repeat, time, j)) {
            if (!is_free(id)) is_copied[index(id)] = true;
          }
        }
      }
      if (!changed) changed = leave_ambiguous(repeat, is_in, is_copied);
    }
    return {runs(is_in), std::move(is_copied)};
  }

  static std::vector<Run> runs(const std::vector<bool>& is_in) {
    std::vector<Run> runs;
    for (std::size_t j = 0; j < is_in.size(); ++j) {
      if (!is_in[j]) continue;
      if (runs.empty() || runs.back().end != j) runs.push_back({j, j});
      ++runs.back().end;
    }
    return runs;
  }

  /// Makes one class of the buffers that take each other's place, here or in what is chosen.
  void unite(const Repeat& repeat, const std::vector<bool>& is_in,
             const std::vector<bool>& is_copied) {
    root_ = chosen_root_;
    for (std::size_t j = 0; j < repeat.period; ++j) {
      if (!is_in[j]) continue;
      const std::vector<BufferId>& formals = buffers(repeat, 0, j);
      for (std::size_t time = 1; time < repeat.times; ++time) {
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
        const std::uint32_t last = superstep_at_[lifetimes_[index(all[i - 1])].last];
        if (superstep_at_[lifetimes_[index(all[i])].first] <= last) conflicts[r] = true;
      }
    }
    return conflicts;
  }

  /// Takes out a superstep for which a formal buffer of the same run would be another one, or two
  /// of them one that is copied.
  bool leave_ambiguous(const Repeat& repeat, std::vector<bool>& is_in,
                       const std::vector<bool>& is_copied) {
    for (const Run& run : runs(is_in)) {
      for (std::size_t time = 1; time < repeat.times; ++time) {
        std::map<BufferId, BufferId> actual, formal;
        for (std::size_t j = run.begin; j < run.end; ++j) {
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

  void make_procedures(const Repeat& repeat, const Outline& outline, Block& main) {
    const std::vector<Run>& runs = outline.runs;
    std::vector<ProcedureId> procedures;
    std::vector<std::vector<Copied>> copied;
    for (const Run& run : runs) {
      procedures.push_back(ProcedureId{static_cast<std::uint32_t>(program_.procedures.size())});
      copied.push_back(copied_by(repeat, run, outline.is_copied));
      program_.procedures.push_back({{}, formals(repeat, run, copied.back())});
    }
    for (std::size_t time = 0; time < repeat.times; ++time) {
      std::size_t j = 0;
      const auto step = [&]() -> Step& {
        return program_.main.steps[repeat.begin + time * repeat.period + j];
      };
      for (std::size_t r = 0; r < runs.size(); ++r) {
        for (; j < runs[r].begin; ++j) main.steps.push_back(std::move(step()));
        const std::string name = "procedure " + std::to_string(index(procedures[r]));
        add_copies(copies_in(repeat, runs[r], time, copied[r]), name + " operands", main);
        Call call{procedures[r], bindings(repeat, runs[r], time, copied[r]), {}};
        for (; j < runs[r].end; ++j) {
          call.origins.push_back(origins_of(std::get<Superstep>(step())));
          if (time > 0) continue;
          substitute_copied(std::get<Superstep>(step()), copied[r]);
          program_.procedures[index(procedures[r])].block.steps.push_back(std::move(step()));
        }
        main.steps.emplace_back(std::move(call));
        add_copies(copies_out(repeat, runs[r], time, copied[r]), name + " results", main);
      }
      for (; j < repeat.period; ++j) main.steps.push_back(std::move(step()));
    }
  }

  /// The copied buffers of a run, with storage for their copies.
  [[nodiscard]] std::vector<Copied> copied_by(const Repeat& repeat, const Run& run,
                                              const std::vector<bool>& is_copied) {
    std::map<BufferId, Copied> by_formal;
    for (std::size_t j = run.begin; j < run.end; ++j) {
      const std::vector<BufferId>& formals = buffers(repeat, 0, j);
      const std::vector<BufferId> written =
          written_by(std::get<Superstep>(program_.main.steps[repeat.begin + j]));
      for (std::size_t i = 0; i < formals.size(); ++i) {
        if (!is_copied[index(formals[i])]) continue;
        const auto [at, is_new] = by_formal.try_emplace(formals[i], Copied{formals[i], {}, {}});
        Copied& copied = at->second;
        copied.is_written |= std::ranges::binary_search(written, formals[i]);
        for (std::size_t time = 0; is_new && time < repeat.times; ++time) {
          copied.actual.push_back(buffers(repeat, time, j)[i]);
          copied.copy.push_back(add_copy_of(copied.actual.back()));
        }
      }
    }
    std::vector<Copied> all;
    for (auto& [formal, copied] : by_formal) all.push_back(std::move(copied));
    return all;
  }

  [[nodiscard]] static std::vector<BufferId> written_by(const Superstep& superstep) {
    std::vector<BufferId> written = moved_buffers(superstep).written;
    for (const ComputeSet& set : superstep.computes) {
      written.insert(written.end(), set.writes.begin(), set.writes.end());
    }
    std::ranges::sort(written);
    return written;
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

  static void substitute_copied(Superstep& superstep, const std::vector<Copied>& copied) {
    std::map<BufferId, BufferId> copies;
    for (const Copied& c : copied) copies.emplace(c.formal, c.copy[0]);
    if (!copies.empty()) substitute(superstep, copies);
  }

  void add_copies(const std::vector<BufferCopy>& copies, const std::string& name, Block& main) {
    copies_ += copies.size();
    if (!copies.empty()) main.steps.emplace_back(copy_buffers(program_, copies, name));
  }

  /// Copies of what was there before.
  [[nodiscard]] std::vector<BufferCopy> copies_in(const Repeat& repeat, const Run& run,
                                                  std::size_t time,
                                                  const std::vector<Copied>& copied) const {
    std::vector<BufferCopy> copies;
    for (const Copied& c : copied) {
      const std::uint32_t first = superstep_at_[lifetimes_[index(c.actual[time])].first];
      if (first < repeat.begin + time * repeat.period + run.begin) {
        copies.push_back({c.actual[time], c.copy[time]});
      }
    }
    return copies;
  }

  /// Copies of what has changed and is used again.
  [[nodiscard]] std::vector<BufferCopy> copies_out(const Repeat& repeat, const Run& run,
                                                   std::size_t time,
                                                   const std::vector<Copied>& copied) const {
    std::vector<BufferCopy> copies;
    for (const Copied& c : copied) {
      const std::uint32_t last = superstep_at_[lifetimes_[index(c.actual[time])].last];
      if (c.is_written && last >= repeat.begin + time * repeat.period + run.end) {
        copies.push_back({c.copy[time], c.actual[time]});
      }
    }
    return copies;
  }

  [[nodiscard]] std::vector<Call::Binding> bindings(const Repeat& repeat, const Run& run,
                                                    std::size_t time,
                                                    const std::vector<Copied>& copied) const {
    std::map<BufferId, const Copied*> by_formal;
    for (const Copied& c : copied) by_formal.emplace(c.formal, &c);
    std::vector<Call::Binding> bindings;
    for (std::size_t j = run.begin; j < run.end; ++j) {
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

  [[nodiscard]] std::vector<BufferId> formals(const Repeat& repeat, const Run& run,
                                              const std::vector<Copied>& copied) const {
    std::vector<BufferId> formals;
    for (std::size_t time = 1; time < repeat.times; ++time) {
      for (const Call::Binding& binding : bindings(repeat, run, time, copied)) {
        formals.push_back(binding.formal);
      }
    }
    std::ranges::sort(formals);
    formals.erase(std::unique(formals.begin(), formals.end()), formals.end());
    return formals;
  }

  LoweredProgram& program_;
  SharedBuffers shared_;
  LayoutNumbers layouts_;
  std::vector<Lifetime> lifetimes_;
  std::size_t copies_ = 0;
  std::vector<BufferId> root_, chosen_root_;    ///< of classes, by buffer
  std::vector<std::uint64_t> hashes_;           ///< by superstep
  std::vector<std::vector<BufferId>> buffers_;  ///< by superstep: those of its shape
  std::vector<std::uint32_t> superstep_at_;     ///< by point
};

}  // namespace

void outline_repeats(LoweredProgram& program, SharedBuffers shared) {
  const auto is_superstep = [](const Step& step) {
    return std::holds_alternative<Superstep>(step);
  };
  if (!std::ranges::all_of(program.main.steps, is_superstep)) return;
  if (program.main.steps.size() > kLeastSaved) Outliner(program, shared).run();
}

}  // namespace superstep
