#include <algorithm>
#include <array>

#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

bool starts_with_any(const std::string& s, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return s.starts_with(p); });
}
bool contains_any(const std::string& s, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view p) { return s.find(p) != std::string::npos; });
}

/// Instructions with state that their operands do not show keep their places.
bool has_hidden_state(const Instruction& i) {
  return contains_any(i.mnemonic, {"amp", "slic", "gina", "acc", "mac", "axpy", "put", "urand"});
}

bool is_load(const Instruction& i) { return i.mnemonic.starts_with("ld"); }
bool is_store(const Instruction& i) { return i.mnemonic.starts_with("st"); }

bool names(const Instruction& i, std::string_view text) {
  return std::any_of(i.args.begin(), i.args.end(),
                     [&](const Arg& a) { return a.kind == Arg::Kind::kText && a.text == text; });
}

bool writes(const Arg& a) { return a.kind == Arg::Kind::kDef || a.kind == Arg::Kind::kBoth; }

/// Vertex states, stacks and data do not overlap, and nothing writes a state.
bool same_memory(const Instruction& x, const Instruction& y) {
  if (names(x, "$mvertex_base") || names(y, "$mvertex_base")) return false;
  return names(x, "$mworker_base") == names(y, "$mworker_base");
}

/// Slots by which `after` has to follow `before`; nothing when they are independent. A bundle reads
/// before it writes.
std::optional<std::size_t> distance(const Instruction& before, const Instruction& after) {
  std::optional<std::size_t> result;
  for (const Arg& b : after.args) {
    if (b.kind == Arg::Kind::kText) continue;
    for (const Arg& a : before.args) {
      if (a.kind == Arg::Kind::kText || a.reg.id != b.reg.id) continue;
      if (writes(a)) return 1;
      if (writes(b)) result = 0;
    }
  }
  const bool stores = is_store(before) || is_store(after);
  const bool memory = (is_store(before) || is_load(before)) && (is_store(after) || is_load(after));
  if (stores && memory && same_memory(before, after)) return 1;
  return result;
}

}  // namespace

bool WorkerCode::is_aux(const Instruction& i) const {
  if (i.mnemonic == "fnop") return true;
  if (i.mnemonic == "nop" || i.mnemonic == "atom" || i.mnemonic == "get") return false;
  if (is_load(i) || is_store(i) || starts_with_any(i.mnemonic, {"br", "exit", "rpt"})) return false;
  const auto result = std::find_if(i.args.begin(), i.args.end(),
                                   [](const Arg& a) { return a.kind != Arg::Kind::kText; });
  return result != i.args.end() && file(result->reg) != File::kM;
}

// List scheduling: of the instructions whose operands are there, the one with the longest way to
// the end goes first, and one for the other pipe goes beside it.
std::vector<WorkerCode::Item> WorkerCode::scheduled(std::vector<Item> block) const {
  const std::size_t n = block.size();
  struct Edge {
    std::size_t before, distance;
  };
  std::vector<std::vector<Edge>> edges(n);
  std::vector<std::uint64_t> height(n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      auto d = distance(block[i].parts[0], block[j].parts[0]);
      if (!d && j + 1 == n && (block[j].label != ~0U || block[j].ends_block)) d = 0;
      if (d) edges[j].push_back({i, *d});
    }
  }
  for (std::size_t j = n; j-- > 0;) {
    height[j] += slots_of(block[j].parts[0].mnemonic);
    for (const Edge& e : edges[j]) {
      const std::uint64_t way = e.distance == 0 ? height[j] - 1 : height[j];
      height[e.before] = std::max(height[e.before], way);
    }
  }
  std::vector<std::size_t> slot(n, n);
  std::vector<Item> result;
  for (std::size_t placed = 0, now = 0; placed < n; ++now) {
    std::array<std::size_t, 2> chosen{n, n};
    for (int turn = 0; turn < 2; ++turn) {
      std::size_t best = n;
      for (std::size_t j = 0; j < n; ++j) {
        if (slot[j] != n || chosen[is_aux(block[j].parts[0])] != n) continue;
        const bool ready = std::all_of(edges[j].begin(), edges[j].end(), [&](const Edge& e) {
          return slot[e.before] != n && slot[e.before] + e.distance <= now;
        });
        if (ready && (best == n || height[j] > height[best])) best = j;
      }
      if (best == n) break;
      chosen[is_aux(block[best].parts[0])] = best;
      slot[best] = now;
      ++placed;
    }
    Item item = std::move(block[chosen[0] != n ? chosen[0] : chosen[1]]);
    if (chosen[0] != n && chosen[1] != n) item.parts.push_back(block[chosen[1]].parts[0]);
    result.push_back(std::move(item));
  }
  return result;
}

std::vector<WorkerCode::Item> WorkerCode::bundled(const std::vector<Item>& items,
                                                  bool reorder) const {
  std::vector<Item> result, block;
  bool repeating = false;
  const auto flush = [&] {
    if (reorder) block = scheduled(std::move(block));
    for (Item& item : block) {
      if (repeating && item.parts.size() == 1) {
        const bool aux = is_aux(item.parts[0]);
        item.parts.insert(aux ? item.parts.begin() : item.parts.end(),
                          aux ? Instruction("nop", {}) : idle_aux());
      }
      result.push_back(std::move(item));
    }
    block.clear();
  };
  for (const Item& item : items) {
    const bool plain = item.kind == Item::Kind::kCode && item.parts.size() == 1 &&
                       !has_hidden_state(item.parts[0]);
    if (!plain) {
      flush();
      result.push_back(item);
      if (item.kind == Item::Kind::kRepeat) repeating = true;
      if (item.kind == Item::Kind::kEndRepeat) repeating = false;
      continue;
    }
    block.push_back(item);
    if (item.label != ~0U || item.ends_block) flush();
  }
  flush();
  return result;
}

}  // namespace superstep::vertex
