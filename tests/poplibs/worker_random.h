#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/poplibs/case.h"

namespace superstep::poplibs {

/// What poprand::SetSeed is given: its fields and the two words of its `seed`.
struct Seeds {
  std::array<std::uint32_t, 2> words{0x2545f491, 0x9e3779b9};
  std::uint32_t user = 0x55555555;
  std::uint32_t hardware = 0xaaaaaaa0;
};

/// Random words of one worker after SetSeed. The generator is xoroshiro128aox (arXiv 2203.04058);
/// SetSeed puts the seed into the lower half of its state, the number of the worker with the
/// modifiers into the upper half, and draws fifteen words (graphcore/poplibs
/// lib/poprand/codelets/asm/Seeds.S).
class WorkerRandom {
 public:
  explicit WorkerRandom(unsigned worker, const Seeds& seeds = {});
  std::uint64_t next();
  /// The approximation of a normal distribution by twelve 5-bit numbers (graphcore/poplibs
  /// lib/poprand/codelets/RandomUtils.hpp, grand).
  double nearly_normal();

 private:
  std::uint64_t low_;
  std::uint64_t high_;
};

/// The generators of all workers.
std::vector<WorkerRandom> worker_randoms();

/// SetSeed runs before the case.
void seed_workers(Case& run);

/// Fields of a SetSeed vertex and its two seeds, as it lies at `address`.
std::vector<std::uint8_t> seed_state(std::uint32_t address);

void append_word(std::vector<std::uint8_t>& bytes, std::uint32_t word);

}  // namespace superstep::poplibs
