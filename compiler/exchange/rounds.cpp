#include "compiler/exchange/rounds.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace superstep {
namespace {

/// A transfer's place among those of equally many destinations that share a tile with it.
struct Rank {
  std::uint32_t number = 0;
  std::uint32_t of = 0;
};

/// Ranks by `other` among transfers of equal `shared`.
std::vector<Rank> ranks(std::span<const Transfer> transfers, auto shared, auto other) {
  std::vector<std::tuple<std::size_t, TileId, TileId, std::uint32_t>> order;
  order.reserve(transfers.size());
  for (std::uint32_t i = 0; i < transfers.size(); ++i) {
    const Transfer& transfer = transfers[i];
    order.emplace_back(transfer.destinations.size(), shared(transfer), other(transfer), i);
  }
  std::ranges::sort(order);
  std::vector<Rank> ranks(transfers.size());
  const auto group_of = [](const auto& entry) {
    return std::pair(std::get<0>(entry), std::get<1>(entry));
  };
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(
        first, order.end(), [&](const auto& entry) { return group_of(entry) != group_of(*first); });
    const auto size = static_cast<std::uint32_t>(last - first);
    for (std::uint32_t number = 0; first != last; ++first) {
      ranks[std::get<3>(*first)] = {number++, size};
    }
  }
  return ranks;
}

}  // namespace

std::vector<std::uint32_t> rounds_of(std::span<const Transfer> transfers) {
  const auto source = [](const Transfer& transfer) { return transfer.source.tile; };
  const auto destination = [](const Transfer& transfer) {
    return transfer.destinations.front().tile;
  };
  const std::vector<Rank> sent = ranks(transfers, source, destination);
  const std::vector<Rank> received = ranks(transfers, destination, source);
  std::vector<std::uint32_t> rounds(transfers.size());
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const std::uint32_t size = std::max(sent[i].of, received[i].of);
    rounds[i] = (sent[i].number + size - received[i].number) % size;
  }
  return rounds;
}

}  // namespace superstep
