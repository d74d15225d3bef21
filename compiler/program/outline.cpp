#include "compiler/program/outline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "compiler/program/blocks.h"

namespace superstep {
namespace {

/// Supersteps that a procedure must save: calls take cycles, which less code is not worth.
constexpr std::size_t kLeastSaved = 16;
/// A value may lie at one of two places by turns; then only every other time is equal.
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
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, by words
    for (const std::uint64_t word : words_) {
      hash = (hash ^ word) * 0x100000001b3;
      hash ^= hash >> 32;
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

class Outliner {
 public:
  explicit Outliner(LoweredProgram& program)
      : program_(program), lifetimes_(lifetimes_of(program)) {
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) chosen_root_.push_back(BufferId{b});
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
      candidates.emplace_back(saved(repeat, runs_of(repeat)), repeat);
      // The first time may read an argument, which keeps its place.
      const Repeat others{repeat.begin + repeat.period, repeat.period, repeat.times - 1};
      if (others.times > 1) candidates.emplace_back(saved(others, runs_of(others)), others);
    }
    std::ranges::stable_sort(candidates, std::greater{}, &std::pair<std::size_t, Repeat>::first);
    struct Choice {
      Repeat repeat;
      std::vector<Run> runs;
    };
    std::map<std::size_t, Choice> chosen;  // by begin
    for (const auto& [estimate, repeat] : candidates) {
      if (estimate < kLeastSaved) break;
      const bool is_free = std::ranges::none_of(chosen, [&repeat = repeat](const auto& other) {
        return repeat.begin < other.second.repeat.end() && other.second.repeat.begin < repeat.end();
      });
      if (!is_free) continue;
      std::vector<Run> runs = runs_of(repeat);
      if (saved(repeat, runs) < kLeastSaved || !are_equal(repeat)) continue;
      chosen.emplace(repeat.begin, Choice{repeat, std::move(runs)});
      chosen_root_ = root_;
    }
    Block main;
    std::size_t at = 0;
    const auto keep_until = [&](std::size_t end) {
      for (; at < end; ++at) main.steps.push_back(std::move(program_.main.steps[at]));
    };
    for (auto& [begin, choice] : chosen) {
      keep_until(begin);
      outline(choice.repeat, choice.runs, main);
      at = choice.repeat.end();
    }
    keep_until(hashes_.size());
    program_.main = std::move(main);
  }

 private:
  /// Tandem repeats of equal shapes; the first superstep, which may follow a visit to the host, is
  /// in none.
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
  /// never in use at once.
  std::vector<Run> runs_of(const Repeat& repeat) {
    std::vector<bool> is_in(repeat.period, true);
    for (bool changed = true; changed;) {
      unite(repeat, is_in);
      const std::vector<bool> conflicts = conflicts_of_classes();
      changed = false;
      for (std::size_t j = 0; j < repeat.period; ++j) {
        if (!is_in[j]) continue;
        const bool can = std::ranges::none_of(buffers(repeat, 0, j), [&](BufferId id) {
          return static_cast<bool>(conflicts[index(root(id))]);
        });
        if (can) continue;
        is_in[j] = false;
        changed = true;
      }
      if (!changed) changed = leave_ambiguous(repeat, is_in);
    }
    return runs(is_in);
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
  void unite(const Repeat& repeat, const std::vector<bool>& is_in) {
    root_ = chosen_root_;
    for (std::size_t j = 0; j < repeat.period; ++j) {
      if (!is_in[j]) continue;
      const std::vector<BufferId>& formals = buffers(repeat, 0, j);
      for (std::size_t time = 1; time < repeat.times; ++time) {
        for (std::size_t i = 0; i < formals.size(); ++i) {
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

  /// Takes out a superstep for which a formal buffer of the same run would be another one.
  bool leave_ambiguous(const Repeat& repeat, std::vector<bool>& is_in) {
    for (const Run& run : runs(is_in)) {
      for (std::size_t time = 1; time < repeat.times; ++time) {
        std::map<BufferId, BufferId> actual;
        for (std::size_t j = run.begin; j < run.end; ++j) {
          const std::vector<BufferId>& formals = buffers(repeat, 0, j);
          for (std::size_t i = 0; i < formals.size(); ++i) {
            const BufferId other = buffers(repeat, time, j)[i];
            if (actual.try_emplace(formals[i], other).first->second == other) continue;
            is_in[j] = false;
            return true;
          }
        }
      }
    }
    return false;
  }

  void outline(const Repeat& repeat, const std::vector<Run>& runs, Block& main) {
    std::vector<ProcedureId> procedures;
    for (const Run& run : runs) {
      procedures.push_back(ProcedureId{static_cast<std::uint32_t>(program_.procedures.size())});
      program_.procedures.push_back({{}, formals(repeat, run)});
    }
    for (std::size_t time = 0; time < repeat.times; ++time) {
      std::size_t j = 0;
      const auto step = [&]() -> Step& {
        return program_.main.steps[repeat.begin + time * repeat.period + j];
      };
      for (std::size_t r = 0; r < runs.size(); ++r) {
        for (; j < runs[r].begin; ++j) main.steps.push_back(std::move(step()));
        Call call{procedures[r], bindings(repeat, runs[r], time), {}};
        for (; j < runs[r].end; ++j) {
          call.origins.push_back(origins_of(std::get<Superstep>(step())));
          Block& block = program_.procedures[index(procedures[r])].block;
          if (time == 0) block.steps.push_back(std::move(step()));
        }
        main.steps.emplace_back(std::move(call));
      }
      for (; j < repeat.period; ++j) main.steps.push_back(std::move(step()));
    }
  }

  [[nodiscard]] std::vector<Call::Binding> bindings(const Repeat& repeat, const Run& run,
                                                    std::size_t time) const {
    std::vector<Call::Binding> bindings;
    for (std::size_t j = run.begin; j < run.end; ++j) {
      const std::vector<BufferId>& formals = buffers(repeat, 0, j);
      for (std::size_t i = 0; i < formals.size(); ++i) {
        const BufferId actual = buffers(repeat, time, j)[i];
        if (actual != formals[i]) bindings.push_back({formals[i], actual});
      }
    }
    std::ranges::sort(bindings);
    bindings.erase(std::unique(bindings.begin(), bindings.end()), bindings.end());
    return bindings;
  }

  [[nodiscard]] std::vector<BufferId> formals(const Repeat& repeat, const Run& run) const {
    std::vector<BufferId> formals;
    for (std::size_t time = 1; time < repeat.times; ++time) {
      for (const Call::Binding& binding : bindings(repeat, run, time)) {
        formals.push_back(binding.formal);
      }
    }
    std::ranges::sort(formals);
    formals.erase(std::unique(formals.begin(), formals.end()), formals.end());
    return formals;
  }

  LoweredProgram& program_;
  LayoutNumbers layouts_;
  std::vector<Lifetime> lifetimes_;
  std::vector<BufferId> root_, chosen_root_;    ///< of classes, by buffer
  std::vector<std::uint64_t> hashes_;           ///< by superstep
  std::vector<std::vector<BufferId>> buffers_;  ///< by superstep: those of its shape
  std::vector<std::uint32_t> superstep_at_;     ///< by point
};

}  // namespace

void outline_repeats(LoweredProgram& program) {
  if (program.main.steps.size() > kLeastSaved) Outliner(program).run();
}

}  // namespace superstep
