#include "compiler/schedule/merge.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <tuple>

#include "base/hash.h"
#include "isa/timing.h"

namespace superstep {
namespace {

using Send = MergedTransfers::Send;

/// Finds out whether keys are all different. Open addressing; nothing is cleared between two lists.
class KeySet {
 public:
  /// For a new list of so many keys.
  void begin(std::size_t keys) {
    if (slots_.size() < 2 * keys) slots_.assign(std::bit_ceil(2 * keys), {});
    ++list_;
  }
  /// Whether the key is new.
  bool insert(std::uint64_t key) {
    constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;  // Fibonacci hashing
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (key * kGolden >> 32) & mask;
    for (; slots_[at].list == list_; at = (at + 1) & mask) {
      if (slots_[at].key == key) return false;
    }
    slots_[at] = {key, list_};
    return true;
  }

 private:
  struct Slot {
    std::uint64_t key = 0, list = 0;
  };
  std::vector<Slot> slots_;
  std::uint64_t list_ = 0;
};

/// Merges what tiles send, one tile after the other.
class SenderMerge {
 public:
  explicit SenderMerge(const MachineConfig& machine) : machine_(machine), item_(machine) {}

  void begin(std::uint32_t sender) {
    sender_ = sender;
    sends_.clear();
    ends_.clear();
  }

  void add(const Transfer& transfer, std::uint32_t order) {
    const Send send{transfer.source.address, transfer.words, transfer.collective, order, 0, 0, 0};
    if (transfer.destinations.size() == 1) {
      const TransferEnd& to = transfer.destinations.front();
      if (index(to.tile) != sender_ || to.address != send.address) append(send, {&to, 1});
      return;
    }
    group_.clear();
    for (const TransferEnd& to : transfer.destinations) {
      if (index(to.tile) != sender_ || to.address != send.address) group_.push_back(to);
    }
    append_layers(send);
  }

  void merge(Joined joined) {
    if (joined == Joined::kAll) {
      for (Send& send : sends_) send.collective = 0;
    }
    if (ways_differ() && ranges_differ()) {
      cut_to_sender();
      return;
    }
    join_neighbours();
    join_multicasts();
    join_neighbours();
    cut_to_sender();
  }

  [[nodiscard]] std::span<const Send> sends() const { return sends_; }
  [[nodiscard]] std::span<const TransferEnd> ends_of(const Send& send) const {
    return std::span(ends_).subspan(send.first_end, send.end_count);
  }
  /// Whether no two sends are of one collective and to the same tiles, as far as is easily told.
  [[nodiscard]] bool ways_differ() {
    return all_differ([](const Send& s) { return std::uint64_t{s.collective} << 32 | s.tiles; });
  }

  [[nodiscard]] std::uint64_t words() const {
    std::uint64_t words = 0;
    for (const Send& send : sends_) words += send.words;
    return words;
  }

 private:
  [[nodiscard]] bool all_differ(auto key) {
    seen_.begin(sends_.size());
    return std::ranges::all_of(sends_, [&](const Send& send) { return seen_.insert(key(send)); });
  }

  /// Whether no two sends begin at one address, as far as is easily told.
  [[nodiscard]] bool ranges_differ() {
    const auto fallen =
        std::ranges::adjacent_find(sends_, std::ranges::greater_equal{}, &Send::address);
    return fallen == sends_.end() || all_differ([](const Send& s) { return s.address; });
  }

  void append(Send send, std::span<const TransferEnd> ends) {
    send.first_end = static_cast<std::uint32_t>(ends_.size());
    send.end_count = static_cast<std::uint32_t>(ends.size());
    for (const TransferEnd& to : ends) send.tiles = fnv1a_32(send.tiles, index(to.tile));
    ends_.insert(ends_.end(), ends.begin(), ends.end());
    sends_.push_back(send);
  }

  /// One send to the ends in `group_`; several when a tile has several addresses: it has one
  /// pointer.
  void append_layers(const Send& send) {
    std::sort(group_.begin(), group_.end(), [](const TransferEnd& a, const TransferEnd& b) {
      return std::tuple(a.tile, a.address) < std::tuple(b.tile, b.address);
    });
    while (!group_.empty()) {
      layer_.clear();
      std::size_t left = 0;
      for (const TransferEnd& to : group_) {
        if (layer_.empty() || layer_.back().tile != to.tile) {
          layer_.push_back(to);
        } else if (layer_.back().address != to.address) {
          group_[left++] = to;
        }
      }
      group_.resize(left);
      append(send, layer_);
    }
  }

  [[nodiscard]] bool continues(const Send& a, const Send& b) const {
    const std::uint32_t bytes = a.words * 4;
    return a.collective == b.collective && a.address + bytes == b.address &&
           std::ranges::equal(ends_of(a), ends_of(b),
                              [&](const TransferEnd& x, const TransferEnd& y) {
                                return x.tile == y.tile && x.address + bytes == y.address;
                              });
  }

  void join_neighbours() {
    // Runs of one distance in turn, so that copies of a range do not break each other.
    const auto key = [&](const Send& s) {
      return std::tuple(s.collective, s.tiles, s.end_count, ends_[s.first_end].address - s.address,
                        s.address, s.order);
    };
    sort_by(key);
    std::size_t kept = 0;
    for (const Send& send : sends_) {
      if (kept > 0 && continues(sends_[kept - 1], send)) {
        sends_[kept - 1].words += send.words;
        sends_[kept - 1].order = std::min(sends_[kept - 1].order, send.order);
      } else {
        sends_[kept++] = send;
      }
    }
    sends_.resize(kept);
  }

  void join_multicasts() {
    const auto range = [](const Send& s) { return std::tuple(s.collective, s.address, s.words); };
    sort_by([](const Send& s) { return std::tuple(s.collective, s.address, s.words, s.order); });
    unjoined_.swap(sends_);
    sends_.clear();
    for (auto first = unjoined_.begin(); first != unjoined_.end();) {
      const auto last = std::find_if(
          first, unjoined_.end(), [&](const Send& send) { return range(send) != range(*first); });
      if (last - first == 1) {
        sends_.push_back(*first);
      } else {
        Send send = *first;
        send.tiles = 0;
        group_.clear();
        for (auto part = first; part != last; ++part) {
          const auto ends = ends_of(*part);
          group_.insert(group_.end(), ends.begin(), ends.end());
        }
        append_layers(send);
      }
      first = last;
    }
    unjoined_.clear();
  }

  void cut_to_sender() {
    const std::size_t whole = sends_.size();
    for (std::size_t i = 0; i < whole; ++i) {
      const std::uint32_t limit = longest_piece(sends_[i]);
      while (sends_[i].words > limit) {
        Send rest = sends_[i];
        rest.address += limit * 4;
        rest.words -= limit;
        const std::vector<TransferEnd> ends(ends_of(rest).begin(), ends_of(rest).end());
        rest.tiles = 0;
        append(rest, ends);
        for (TransferEnd& to : std::span(ends_).last(ends.size())) to.address += limit * 4;
        sends_[i].words = limit;
        std::swap(sends_[i], sends_.back());
      }
    }
  }

  /// Words of a piece of a transfer to its own sender: all when they lie in different blocks.
  [[nodiscard]] std::uint32_t longest_piece(const Send& send) const {
    for (const TransferEnd& to : ends_of(send)) {
      if (index(to.tile) != sender_) continue;
      const std::uint32_t last = send.words * 4 - 4;
      const bool apart =
          memory_block(machine_, to.address + last) < memory_block(machine_, send.address) ||
          memory_block(machine_, send.address + last) < memory_block(machine_, to.address);
      if (apart) continue;
      const Cycles latency = exchange_latency(machine_, to.tile, to.tile);
      return std::max(static_cast<std::uint32_t>(item_.words_in(latency.value())), item_.words());
    }
    return send.words;
  }

  void sort_by(auto key) {
    const auto less = [&](const Send& a, const Send& b) { return key(a) < key(b); };
    if (!std::is_sorted(sends_.begin(), sends_.end(), less)) {
      std::sort(sends_.begin(), sends_.end(), less);
    }
  }

  const MachineConfig& machine_;
  ExchangeItem item_;
  std::uint32_t sender_ = 0;
  std::vector<TransferEnd> ends_;
  std::vector<Send> sends_, unjoined_;
  KeySet seen_;
  std::vector<TransferEnd> group_, layer_;
};

/// Numbers of transfers by sender, and where those of each sender begin.
struct BySender {
  std::vector<std::uint32_t> first, transfers;

  BySender(std::uint32_t tiles, std::span<const Transfer> all)
      : first(tiles + 1), transfers(all.size()) {
    for (const Transfer& transfer : all) ++first.at(index(transfer.source.tile) + 1);
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      transfers[next[index(all[i].source.tile)]++] = i;
    }
  }
};

std::uint64_t most_received(std::uint32_t tiles, std::span<const Transfer> transfers) {
  std::vector<std::uint64_t> words(tiles);
  for (const Transfer& transfer : transfers) {
    for (const TransferEnd& to : transfer.destinations) words.at(index(to.tile)) += transfer.words;
  }
  return *std::ranges::max_element(words);
}

}  // namespace

std::uint32_t memory_block(const MachineConfig& machine, std::uint32_t address) {
  const std::uint32_t pairs = machine.tile.region1_base;
  const bool is_paired = address >= pairs && address < machine.region2_base();
  return memory_element(
      machine,
      is_paired ? address - (address - pairs) % (2 * machine.tile.element_bytes) : address);
}

MergedTransfers merge_transfers(const MachineConfig& machine, std::span<const Transfer> transfers,
                                Joined joined) {
  const std::uint32_t tiles = machine.tiles();
  const std::uint64_t most = most_received(tiles, transfers);
  const BySender by_sender(tiles, transfers);
  MergedTransfers merged;
  merged.first_send.reserve(tiles + 1);
  merged.ways_differ.reserve(tiles);
  merged.sends.reserve(transfers.size());
  merged.ends.reserve(transfers.size());
  SenderMerge merge(machine);
  for (std::uint32_t sender = 0; sender < tiles; ++sender) {
    merged.first_send.push_back(static_cast<std::uint32_t>(merged.sends.size()));
    merge.begin(sender);
    for (std::uint32_t i = by_sender.first[sender]; i < by_sender.first[sender + 1]; ++i) {
      const std::uint32_t number = by_sender.transfers[i];
      if (transfers[number].words > 0) merge.add(transfers[number], number);
    }
    merge.merge(joined);
    if (joined != Joined::kAll && merge.words() > most) merge.merge(Joined::kAll);
    merged.ways_differ.push_back(merge.ways_differ());
    for (Send send : merge.sends()) {
      const auto to = merge.ends_of(send);
      send.first_end = static_cast<std::uint32_t>(merged.ends.size());
      merged.ends.insert(merged.ends.end(), to.begin(), to.end());
      merged.sends.push_back(send);
    }
  }
  merged.first_send.push_back(static_cast<std::uint32_t>(merged.sends.size()));
  return merged;
}

}  // namespace superstep
