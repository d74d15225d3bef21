#include "compiler/vertex/register_allocation.h"

#include <algorithm>
#include <cmath>

#include "compiler/vertex/control_flow.h"

namespace superstep::vertex {

std::vector<Interval> live_intervals(const std::vector<WorkerCode::Item>& items,
                                     std::size_t registers, std::uint32_t labels) {
  using Item = WorkerCode::Item;
  const ControlFlow flow = control_flow(items, labels);
  const std::vector<LiveRegisters> live = live_registers(flow, items, registers);
  const std::vector<std::uint32_t> depths = loop_depths(flow);
  constexpr std::uint32_t kNever = ~0U;
  std::vector<Interval> found(registers);
  for (Interval& interval : found) interval.first = kNever;
  const auto touch = [&](std::size_t r, std::size_t position) {
    found[r].first = std::min(found[r].first, static_cast<std::uint32_t>(position));
    found[r].last = std::max(found[r].last, static_cast<std::uint32_t>(position));
  };
  bool repeating = false;
  for (std::size_t b = 0; b < live.size(); ++b) {
    const BasicBlock& block = flow[b];
    for (std::size_t r = 0; r < registers; ++r) {
      if (live[b].in[r]) touch(r, 2 * block.first);
      if (live[b].out[r]) touch(r, 2 * block.last + 1);
    }
    const double weight = std::pow(10, depths[b]);
    for (std::size_t i = block.first; i <= block.last; ++i) {
      const Item& item = items[i];
      if (item.kind == Item::Kind::kRepeat) repeating = true;
      if (item.kind == Item::Kind::kEndRepeat) repeating = false;
      for (const Instruction& part : item.parts) {
        for (const Arg& arg : part.args) {
          if (!arg.is_virtual()) continue;
          found[arg.reg.id].reg = arg.reg;
          found[arg.reg.id].uses += weight;
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

Assignment linear_scan(const std::vector<Interval>& intervals, std::size_t registers,
                       std::int32_t main_registers, Spill spill) {
  Assignment result;
  result.machine.assign(registers, -1);
  result.slot.assign(registers, -1);
  const std::int32_t reserved = spill == Spill::kNothing ? 0 : kSpillRegisters;
  // Two pairs take four.
  result.carriers = reserved + (spill == Spill::kWordsAndPairs ? 1 : 0);
  std::vector<std::uint32_t> owner_m(static_cast<std::size_t>(main_registers - reserved), ~0U);
  std::vector<std::uint32_t> owner_a(static_cast<std::size_t>(kARegisters - result.carriers), ~0U);
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
      const auto consider = [&](const Interval& candidate, bool pairs) {
        const File f = candidate.reg.file;
        if (candidate.pinned || (f == File::kPair) != pairs || (f == File::kM) != m_file) return;
        if (victim == nullptr || candidate.density() < victim->density()) victim = &candidate;
      };
      for (const bool pairs : {false, true}) {
        if (victim != nullptr || (pairs && spill != Spill::kWordsAndPairs)) break;
        consider(interval, pairs);
        for (const Interval& candidate : active) consider(candidate, pairs);
      }
      if (spill == Spill::kNothing || victim == nullptr) {
        result.ok = false;
        return result;
      }
      const std::uint32_t spilled = victim->reg.id;
      if (victim->reg.file == File::kPair) result.slots += result.slots % 2;
      result.slot[spilled] = static_cast<std::int32_t>(result.slots);
      result.slots += victim->reg.file == File::kPair ? 2 : 1;
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
