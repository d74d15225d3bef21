#include "compiler/schedule/merge.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "isa/timing.h"

namespace superstep {
namespace {

struct Candidate {
  Transfer transfer;
  std::size_t order = 0;  ///< position of its first part in the given list
};

bool same_tiles(const Transfer& a, const Transfer& b) {
  return std::equal(a.destinations.begin(), a.destinations.end(), b.destinations.begin(),
                    b.destinations.end(),
                    [](const TransferEnd& x, const TransferEnd& y) { return x.tile == y.tile; });
}

bool continues(const Transfer& a, const Transfer& b) {
  const std::uint32_t bytes = a.words * 4;
  return a.source.tile == b.source.tile && a.source.address + bytes == b.source.address &&
         std::equal(a.destinations.begin(), a.destinations.end(), b.destinations.begin(),
                    b.destinations.end(), [&](const TransferEnd& x, const TransferEnd& y) {
                      return x.tile == y.tile && x.address + bytes == y.address;
                    });
}

void join_neighbours(std::vector<Candidate>& list) {
  const auto tiles_then_address = [](const Candidate& a, const Candidate& b) {
    const Transfer& x = a.transfer;
    const Transfer& y = b.transfer;
    if (x.source.tile != y.source.tile) return x.source.tile < y.source.tile;
    if (!same_tiles(x, y)) {
      return std::lexicographical_compare(
          x.destinations.begin(), x.destinations.end(), y.destinations.begin(),
          y.destinations.end(),
          [](const TransferEnd& d, const TransferEnd& e) { return d.tile < e.tile; });
    }
    // Runs of one destination address in turn, so that copies of a range do not break each other.
    const auto key = [](const Candidate& c) {
      const TransferEnd& to = c.transfer.destinations.front();
      return std::tuple(to.address - c.transfer.source.address, c.transfer.source.address, c.order);
    };
    return key(a) < key(b);
  };
  std::sort(list.begin(), list.end(), tiles_then_address);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (kept > 0 && continues(list[kept - 1].transfer, list[i].transfer)) {
      list[kept - 1].transfer.words += list[i].transfer.words;
      list[kept - 1].order = std::min(list[kept - 1].order, list[i].order);
    } else if (kept++ != i) {
      list[kept - 1] = std::move(list[i]);
    }
  }
  list.resize(kept);
}

bool disjoint(const Transfer& a, const Transfer& b) {
  auto x = a.destinations.begin();
  auto y = b.destinations.begin();
  while (x != a.destinations.end() && y != b.destinations.end()) {
    if (x->tile == y->tile) return false;
    x->tile < y->tile ? ++x : ++y;
  }
  return true;
}

void join_multicasts(std::vector<Candidate>& list) {
  std::sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
    const auto key = [](const Candidate& c) {
      const Transfer& t = c.transfer;
      return std::tuple(t.source.tile, t.source.address, t.words, t.destinations.front().tile,
                        c.order);
    };
    return key(a) < key(b);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Transfer& next = list[i].transfer;
    if (kept > 0) {
      Transfer& last = list[kept - 1].transfer;
      if (last.source.tile == next.source.tile && last.source.address == next.source.address &&
          last.words == next.words && disjoint(last, next)) {
        const auto middle = last.destinations.size();
        last.destinations.insert(last.destinations.end(), next.destinations.begin(),
                                 next.destinations.end());
        std::inplace_merge(last.destinations.begin(),
                           last.destinations.begin() + static_cast<std::ptrdiff_t>(middle),
                           last.destinations.end(), [](const TransferEnd& d, const TransferEnd& e) {
                             return d.tile < e.tile;
                           });
        list[kept - 1].order = std::min(list[kept - 1].order, list[i].order);
        continue;
      }
    }
    if (kept++ != i) list[kept - 1] = std::move(list[i]);
  }
  list.resize(kept);
}

/// Words of a piece of a transfer to its own sender: all when they lie in different blocks.
std::uint32_t longest_piece(const MachineConfig& machine, const Transfer& transfer) {
  for (const TransferEnd& to : transfer.destinations) {
    if (to.tile != transfer.source.tile) continue;
    const std::uint32_t last = transfer.words * 4 - 4;
    const bool apart =
        memory_block(machine, to.address + last) < memory_block(machine, transfer.source.address) ||
        memory_block(machine, transfer.source.address + last) < memory_block(machine, to.address);
    if (apart) continue;
    return static_cast<std::uint32_t>(
        exchange_latency(machine, transfer.source.tile, to.tile).value());
  }
  return transfer.words;
}

/// One transfer with several addresses on one tile becomes several: a tile has one pointer.
void add_candidates(const Transfer& transfer, std::size_t order, std::vector<Candidate>& list) {
  std::vector<TransferEnd> left;
  for (const TransferEnd& to : transfer.destinations) {
    if (to.tile != transfer.source.tile || to.address != transfer.source.address) {
      left.push_back(to);
    }
  }
  std::sort(left.begin(), left.end(), [](const TransferEnd& a, const TransferEnd& b) {
    return std::tuple(a.tile, a.address) < std::tuple(b.tile, b.address);
  });
  while (!left.empty()) {
    Candidate candidate{{transfer.source, {}, transfer.words}, order};
    std::vector<TransferEnd> again;
    for (const TransferEnd& to : left) {
      std::vector<TransferEnd>& taken = candidate.transfer.destinations;
      if (taken.empty() || taken.back().tile != to.tile) {
        taken.push_back(to);
      } else if (taken.back().address != to.address) {
        again.push_back(to);
      }
    }
    list.push_back(std::move(candidate));
    left = std::move(again);
  }
}

}  // namespace

std::uint32_t memory_block(const MachineConfig& machine, std::uint32_t address) {
  const std::uint32_t pairs = machine.tile.region1_base;
  return memory_element(
      machine,
      address < pairs ? address : address - (address - pairs) % (2 * machine.tile.element_bytes));
}

std::vector<Transfer> merge_transfers(const MachineConfig& machine,
                                      std::span<const Transfer> transfers) {
  std::vector<Candidate> list;
  list.reserve(transfers.size());
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].words > 0) add_candidates(transfers[i], i, list);
  }
  join_neighbours(list);
  join_multicasts(list);
  join_neighbours(list);
  std::sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.order, a.transfer.source.address) <
           std::tuple(b.order, b.transfer.source.address);
  });
  std::vector<Transfer> merged;
  merged.reserve(list.size());
  for (Candidate& candidate : list) {
    Transfer& whole = candidate.transfer;
    const std::uint32_t limit = longest_piece(machine, whole);
    while (whole.words > limit) {
      Transfer piece = whole;
      piece.words = limit;
      merged.push_back(piece);
      whole.words -= limit;
      whole.source.address += limit * 4;
      for (TransferEnd& to : whole.destinations) to.address += limit * 4;
    }
    merged.push_back(std::move(whole));
  }
  return merged;
}

}  // namespace superstep
