#include <algorithm>
#include <array>
#include <queue>
#include <unordered_map>

#include "compiler/vertex/worker_code.h"
#include "isa/registers.h"

namespace superstep::vertex {
namespace {

/// Instructions with state that their operands do not show keep their places.
bool keeps_its_place(const Instruction& i) {
  const isa::Control control = i.record->spec.control;
  return i.record->has_hidden_state && control != isa::Control::kBranch &&
         control != isa::Control::kExit;
}

/// Which instructions of a block have to follow which, by how many slots: 1 behind what they read
/// or overwrite, 0 behind what reads what they overwrite, as a bundle reads before it writes.
class Dependences {
 public:
  struct Edge {
    std::size_t after;
    std::uint8_t distance;
  };

  explicit Dependences(std::size_t instructions) : edges_(instructions), before_(instructions) {}

  /// Adds the next instruction of the block.
  void add(const Instruction& instruction) {
    for (const Arg& arg : instruction.args) {
      if (!arg.is_virtual()) continue;
      Uses& uses = registers_[arg.reg.id];
      if (arg.is_written()) {
        write(uses);
      } else {
        read(uses);
      }
    }
    if (instruction.record->memory != isa::Memory::kNone) {
      // Vertex states, stacks and data do not overlap, and nothing writes a state.
      if (!instruction.names(isa::kVertexBase)) {
        Uses& uses = instruction.names(isa::kWorkerBase) ? stack_ : data_;
        if (instruction.record->memory == isa::Memory::kLoad) {
          read(uses);
        } else {
          for (const std::size_t reader : uses.readers) follow(reader, 1);
          write(uses);
        }
      }
    }
    ++next_;
  }
  /// The last instruction leaves the block: it follows all others.
  void end() {
    --next_;
    for (std::size_t i = 0; i < next_; ++i) follow(i, 0);
  }

  [[nodiscard]] const std::vector<Edge>& behind(std::size_t i) const { return edges_[i]; }
  /// How many edges end at an instruction.
  [[nodiscard]] std::size_t before(std::size_t i) const { return before_[i]; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Uses {
    std::size_t writer = kNone;        ///< the last one
    std::vector<std::size_t> readers;  ///< since then
  };

  void follow(std::size_t before, std::uint8_t distance) {
    if (before == next_) return;
    edges_[before].push_back({next_, distance});
    ++before_[next_];
  }
  void read(Uses& uses) {
    if (uses.writer != kNone) follow(uses.writer, 1);
    uses.readers.push_back(next_);
  }
  void write(Uses& uses) {
    if (uses.writer != kNone) follow(uses.writer, 1);
    for (const std::size_t reader : uses.readers) follow(reader, 0);
    uses = {next_, {}};
  }

  std::vector<std::vector<Edge>> edges_;
  std::vector<std::size_t> before_;
  std::unordered_map<std::uint32_t, Uses> registers_;
  Uses stack_, data_;
  std::size_t next_ = 0;
};

/// Whether two neighbours may issue together. Their operands need no more registers than carry
/// values from and to the stack, and a branch goes alone, as nothing can be stored behind it.
bool may_issue_together(const Instruction& first, const Instruction& second) {
  if (first.pipe() == second.pipe() || first.is_branch() || second.is_branch()) return false;
  std::array<std::int32_t, 2> operands{};
  for (const Instruction* i : {&first, &second}) {
    for (const Arg& arg : i->args) {
      if (arg.is_virtual()) ++operands[arg.reg.file == File::kM ? 0 : 1];
    }
  }
  if (std::ranges::max(operands) > kSpillRegisters) return false;
  return std::ranges::none_of(first.args, [&](const Arg& written) {
    return written.is_virtual() && written.is_written() &&
           std::ranges::any_of(second.args, [&](const Arg& arg) {
             return arg.is_virtual() && arg.reg.id == written.reg.id;
           });
  });
}

}  // namespace

// List scheduling: of the instructions whose operands are there, the one with the longest way to
// the end goes first, and one for the other pipe goes beside it.
std::vector<WorkerCode::Item> WorkerCode::list_scheduled(std::vector<Item> block) const {
  const std::size_t n = block.size();
  Dependences dependences(n);
  for (const Item& item : block) dependences.add(item.parts[0]);
  if (n > 0 && block[n - 1].ends_block()) dependences.end();
  std::vector<std::uint64_t> height(n, 0);
  for (std::size_t i = n; i-- > 0;) {
    for (const Dependences::Edge& e : dependences.behind(i))
      height[i] = std::max(height[i], height[e.after] - (e.distance == 0 ? 1 : 0));
    height[i] += slots_of(block[i]);
  }

  const auto later = [&](std::size_t a, std::size_t b) {
    return height[a] != height[b] ? height[a] < height[b] : a > b;
  };
  using Queue = std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)>;
  std::array<Queue, 2> ready{Queue(later), Queue(later)};
  const auto pipe = [&](std::size_t i) {
    return static_cast<std::size_t>(block[i].parts[0].pipe());
  };
  std::vector<std::size_t> waits(n), earliest(n, 0), next;
  for (std::size_t i = 0; i < n; ++i) {
    waits[i] = dependences.before(i);
    if (waits[i] == 0) ready[pipe(i)].push(i);
  }
  std::vector<Item> result;
  const auto issue = [&](std::size_t i) {
    const std::size_t now = result.size();
    ready[pipe(i)].pop();
    for (const Dependences::Edge& e : dependences.behind(i)) {
      earliest[e.after] = std::max(earliest[e.after], now + e.distance);
      if (--waits[e.after] > 0) continue;
      if (earliest[e.after] <= now) {
        ready[pipe(e.after)].push(e.after);
      } else {
        next.push_back(e.after);
      }
    }
  };
  while (!ready[0].empty() || !ready[1].empty()) {
    const std::size_t first_pipe =
        ready[0].empty() || (!ready[1].empty() && later(ready[0].top(), ready[1].top())) ? 1 : 0;
    const std::size_t first = ready[first_pipe].top();
    issue(first);
    Queue& others = ready[1 - first_pipe];
    const std::size_t second = others.empty() ? n : others.top();
    if (second != n) issue(second);
    const std::size_t main = first_pipe == 0 ? first : second;
    const std::size_t aux = first_pipe == 0 ? second : first;
    Item item = std::move(block[main != n ? main : aux]);
    if (main != n && aux != n) item.parts.push_back(std::move(block[aux].parts[0]));
    result.push_back(std::move(item));
    for (const std::size_t i : next) ready[pipe(i)].push(i);
    next.clear();
  }
  return result;
}

std::vector<WorkerCode::Item> WorkerCode::paired(std::vector<Item> block) {
  std::vector<Item> result;
  for (Item& item : block) {
    Item* before = result.empty() ? nullptr : &result.back();
    if (before == nullptr || before->parts.size() != 1 ||
        !may_issue_together(before->parts[0], item.parts[0])) {
      result.push_back(std::move(item));
      continue;
    }
    const bool is_aux = item.parts[0].pipe() == isa::Pipe::kAux;
    before->parts.insert(is_aux ? before->parts.end() : before->parts.begin(),
                         std::move(item.parts[0]));
  }
  return result;
}

std::vector<WorkerCode::Item> WorkerCode::bundled(const std::vector<Item>& items,
                                                  bool reorder) const {
  std::vector<Item> result, block;
  bool repeating = false;
  const auto flush = [&] {
    block = reorder ? list_scheduled(std::move(block)) : paired(std::move(block));
    for (Item& item : block) {
      if (repeating && item.parts.size() == 1) {
        const bool aux = item.parts[0].pipe() == isa::Pipe::kAux;
        item.parts.insert(aux ? item.parts.begin() : item.parts.end(),
                          aux ? idle_main() : idle_aux());
      }
      result.push_back(std::move(item));
    }
    block.clear();
  };
  for (const Item& item : items) {
    const bool plain =
        item.kind == Item::Kind::kCode && item.parts.size() == 1 && !keeps_its_place(item.parts[0]);
    if (!plain) {
      flush();
      result.push_back(item);
      if (item.kind == Item::Kind::kRepeat) repeating = true;
      if (item.kind == Item::Kind::kEndRepeat) repeating = false;
      continue;
    }
    block.push_back(item);
    if (item.ends_block()) flush();
  }
  flush();
  return result;
}

}  // namespace superstep::vertex
