#include <algorithm>

#include "base/error.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {

// What has the fewest uses for the time it lives goes to the stack. Positions: instruction i reads
// at 2i and writes at 2i + 1, so a result may take the register of an operand that ends there.
std::vector<WorkerCode::Interval> WorkerCode::intervals(const std::vector<Item>& items,
                                                        std::size_t registers,
                                                        std::uint32_t labels) {
  struct Block {
    std::size_t first, last;
    std::vector<std::size_t> next;
    std::vector<bool> in;
  };
  std::vector<Block> blocks;
  std::vector<std::size_t> block_of_label(labels, 0);
  bool open = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!open || items[i].kind == Item::Kind::kLabel)
      blocks.push_back({i, i, {}, std::vector<bool>(registers)});
    open = true;
    blocks.back().last = i;
    if (items[i].kind == Item::Kind::kLabel) block_of_label[items[i].label] = blocks.size() - 1;
    if (items[i].ends_block()) open = false;
    // The body of a repeat is a block that may follow itself.
    if (items[i].kind == Item::Kind::kRepeat || items[i].kind == Item::Kind::kEndRepeat)
      open = false;
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Item& last = items[blocks[b].last];
    const bool falls_through =
        last.kind != Item::Kind::kCode || !last.parts[0].never_falls_through();
    if (falls_through && b + 1 < blocks.size()) blocks[b].next.push_back(b + 1);
    if (const auto target = last.target()) blocks[b].next.push_back(block_of_label[*target]);
    if (last.kind == Item::Kind::kRepeat) blocks[b].next.push_back(b + 2);
    if (last.kind == Item::Kind::kEndRepeat) blocks[b].next.push_back(b);
  }
  const auto live_out = [&](const Block& block) {
    std::vector<bool> live(registers);
    for (const std::size_t n : block.next) {
      if (n >= blocks.size()) continue;
      for (std::size_t r = 0; r < registers; ++r) live[r] = live[r] || blocks[n].in[r];
    }
    return live;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks.size(); b-- > 0;) {
      std::vector<bool> live = live_out(blocks[b]);
      for (std::size_t i = blocks[b].last + 1; i-- > blocks[b].first;) {
        for (const Instruction& part : items[i].parts) {
          for (const Arg& arg : part.args) {
            if (arg.kind == Arg::Kind::kDef) live[arg.reg.id] = false;
          }
        }
        for (const Instruction& part : items[i].parts) {
          for (const Arg& arg : part.args) {
            if (arg.kind == Arg::Kind::kUse || arg.kind == Arg::Kind::kBoth)
              live[arg.reg.id] = true;
          }
        }
      }
      if (live != blocks[b].in) {
        blocks[b].in = std::move(live);
        changed = true;
      }
    }
  }

  constexpr std::uint32_t kNever = ~0U;
  std::vector<Interval> found(registers);
  for (Interval& interval : found) interval = {{}, kNever, 0, false, 0};
  const auto touch = [&](std::size_t r, std::size_t position) {
    found[r].first = std::min(found[r].first, static_cast<std::uint32_t>(position));
    found[r].last = std::max(found[r].last, static_cast<std::uint32_t>(position));
  };
  std::vector<double> weight(items.size(), 1);
  for (const Block& block : blocks) {
    for (const std::size_t n : block.next) {
      if (n >= blocks.size() || blocks[n].first > block.last) continue;
      for (std::size_t i = blocks[n].first; i <= block.last; ++i) weight[i] *= 10;
    }
  }
  bool repeating = false;
  for (const Block& block : blocks) {
    const std::vector<bool> out = live_out(block);
    for (std::size_t r = 0; r < registers; ++r) {
      if (block.in[r]) touch(r, 2 * block.first);
      if (out[r]) touch(r, 2 * block.last + 1);
    }
    for (std::size_t i = block.first; i <= block.last; ++i) {
      const Item& item = items[i];
      if (item.kind == Item::Kind::kRepeat) repeating = true;
      if (item.kind == Item::Kind::kEndRepeat) repeating = false;
      for (const Instruction& part : item.parts) {
        for (const Arg& arg : part.args) {
          if (!arg.is_virtual()) continue;
          found[arg.reg.id].reg = arg.reg;
          found[arg.reg.id].uses += weight[i];
          touch(arg.reg.id, arg.kind == Arg::Kind::kDef ? 2 * i + 1 : 2 * i);
          if (arg.kind == Arg::Kind::kBoth) touch(arg.reg.id, 2 * i + 1);
          // A store to the stack can stand neither inside a repeat nor behind a taken branch.
          if (repeating || (part.is_branch() && arg.is_written())) found[arg.reg.id].pinned = true;
        }
      }
    }
  }
  std::erase_if(found, [](const Interval& interval) { return interval.first == kNever; });
  std::stable_sort(found.begin(), found.end(),
                   [](const Interval& x, const Interval& y) { return x.first < y.first; });
  return found;
}

WorkerCode::Assignment WorkerCode::linear_scan(const std::vector<Interval>& intervals,
                                               bool may_spill) const {
  Assignment result;
  result.machine.assign(registers_, -1);
  result.slot.assign(registers_, -1);
  const std::int32_t reserved = may_spill ? kSpillRegisters : 0;
  std::vector<std::uint32_t> owner_m(static_cast<std::size_t>(kMRegisters - reserved), ~0U);
  std::vector<std::uint32_t> owner_a(static_cast<std::size_t>(kARegisters - reserved), ~0U);
  std::vector<Interval> active;
  const auto owners = [&](Reg r) -> std::vector<std::uint32_t>& {
    return r.file == File::kM ? owner_m : owner_a;
  };
  const auto release = [&](const Interval& interval) {
    for (std::uint32_t& owner : owners(interval.reg)) {
      if (owner == interval.reg.id) owner = ~0U;
    }
  };
  const auto take = [&](const Interval& interval) {
    auto& free = owners(interval.reg);
    const std::uint32_t id = interval.reg.id;
    if (interval.reg.file == File::kPair) {
      for (std::size_t i = 0; i + 1 < free.size(); i += 2) {
        if (free[i] != ~0U || free[i + 1] != ~0U) continue;
        free[i] = free[i + 1] = id;
        result.machine[id] = static_cast<std::int32_t>(i);
        return true;
      }
      return false;
    }
    // Single values from above leave the pairs below whole.
    for (std::size_t i = free.size(); i-- > 0;) {
      if (free[i] != ~0U) continue;
      free[i] = id;
      result.machine[id] = static_cast<std::int32_t>(i);
      return true;
    }
    return false;
  };
  for (const Interval& interval : intervals) {
    std::erase_if(active, [&](const Interval& a) {
      if (a.last >= interval.first) return false;
      release(a);
      return true;
    });
    while (!take(interval)) {
      const bool m_file = interval.reg.file == File::kM;
      const Interval* victim = nullptr;
      const auto consider = [&](const Interval& candidate) {
        const File f = candidate.reg.file;
        if (candidate.pinned || f == File::kPair || (f == File::kM) != m_file) return;
        if (victim == nullptr || candidate.density() < victim->density()) victim = &candidate;
      };
      consider(interval);
      for (const Interval& candidate : active) consider(candidate);
      if (!may_spill || victim == nullptr) {
        result.ok = false;
        return result;
      }
      const std::uint32_t spilled = victim->reg.id;
      result.slot[spilled] = static_cast<std::int32_t>(result.slots++);
      result.machine[spilled] = -1;
      if (spilled == interval.reg.id) break;
      release(*victim);
      std::erase_if(active, [&](const Interval& a) { return a.reg.id == spilled; });
    }
    if (result.machine[interval.reg.id] >= 0) active.push_back(interval);
  }
  return result;
}

}  // namespace superstep::vertex
