#include "tests/poplibs/worker_random.h"

#include <bit>

namespace superstep::poplibs {
namespace {

constexpr unsigned kWorkers = 6;
constexpr unsigned kWarmUp = 15;

std::uint64_t wide(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32;
}

}  // namespace

WorkerRandom::WorkerRandom(unsigned worker, const Seeds& seeds)
    : low_(wide(seeds.words[0], seeds.words[1])), high_(wide(seeds.hardware | worker, seeds.user)) {
  for (unsigned i = 0; i < kWarmUp; ++i) next();
}

std::uint64_t WorkerRandom::next() {
  const std::uint64_t both = low_ & high_;
  const std::uint64_t either = low_ ^ high_;
  const std::uint64_t word = either ^ (std::rotl(both, 1) | std::rotl(both, 2));
  low_ = std::rotl(low_, 55) ^ either ^ either << 14;
  high_ = std::rotl(either, 36);
  return word;
}

double WorkerRandom::nearly_normal() {
  std::uint64_t word = next();
  int sum = 0;
  for (int i = 0; i < 12; ++i, word >>= 5) sum += static_cast<int>(word % 32);
  return (sum - 186) / 32.0;
}

std::vector<WorkerRandom> worker_randoms() {
  std::vector<WorkerRandom> all;
  for (unsigned worker = 0; worker < kWorkers; ++worker) all.emplace_back(worker);
  return all;
}

void append_word(std::vector<std::uint8_t>& bytes, std::uint32_t word) {
  for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> 8 * i));
}

std::vector<std::uint8_t> seed_state(std::uint32_t address) {
  const Seeds seeds;
  std::vector<std::uint8_t> bytes;
  append_word(bytes, address + 16);
  append_word(bytes, seeds.user);
  append_word(bytes, seeds.hardware);
  append_word(bytes, 0);
  for (const std::uint32_t word : seeds.words) append_word(bytes, word);
  return bytes;
}

void seed_workers(Case& run) {
  run.before = OtherCall{"__runCodelet_poprand__SetSeed", seed_state(Case::kBefore)};
}

}  // namespace superstep::poplibs
