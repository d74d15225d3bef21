#include "compiler/image/tile_code.h"

#include <array>

#include "base/error.h"
#include "isa/assembler.h"

namespace superstep {
namespace {

constexpr std::uint32_t kZero = 15;
constexpr std::int64_t kLocalZone = 2;
constexpr std::int64_t kEndZone = 15;
/// CSR of worker 0's $mworker_base; the others follow (osmarks/ipu-stack).
constexpr std::uint32_t kWorkerBaseCsr = 0x21;
constexpr std::uint32_t kWeightsCsr = 80;  ///< $CCCSLOAD

/// Words of an instruction whose last operand, in the low bits, is filled in later: encoding by
/// name is slow.
std::uint32_t setzi(std::uint32_t reg) {
  static const std::array<std::uint32_t, 5> kWords{encode("setzi", {0, 0}), encode("setzi", {1, 0}),
                                                   encode("setzi", {2, 0}), encode("setzi", {3, 0}),
                                                   encode("setzi", {4, 0})};
  return kWords[reg];
}

/// Loads two common weights from where $CCCSLOAD points.
std::uint32_t load_weights(std::uint32_t first) {
  static const std::uint32_t kWord = encode("ld128putcs", {0});
  return kWord | first;
}

}  // namespace

void TileCode::set(std::uint32_t reg, std::uint32_t value) {
  SUPERSTEP_CHECK(value < (1U << 20), "an address has 20 bits");
  emit(setzi(reg) | value);
}

std::uint32_t TileCode::row(std::span<const std::uint32_t> code) {
  align();
  const std::uint32_t begin = here();
  words_.insert(words_.end(), code.begin(), code.end());
  return begin;
}

std::uint32_t TileCode::launch(std::uint32_t codelet, std::uint32_t state, std::uint32_t stride) {
  SUPERSTEP_CHECK(stride < (1U << 12), "a stride of vertex states has 12 bits");
  static const std::uint32_t kRunall = encode("runall", {0, 1, 0});
  static const std::uint32_t kWait = encode("sync", {kLocalZone});
  set(0, codelet);
  set(1, state);
  const std::uint32_t at = here();
  emit(kRunall | stride);
  emit(kWait);
  return at;
}

std::uint32_t TileCode::launch_together(std::span<const BusyStates> launches) {
  static const std::uint32_t kRun = encode("run", {0, 1, 0});
  static const std::uint32_t kWait = encode("sync", {kLocalZone});
  std::uint32_t at = 0;
  for (const BusyStates& launch : launches) {
    SUPERSTEP_CHECK(launch.busy * launch.stride < (1U << 16), "a state of `run` is near the first");
    set(0, launch.codelet);
    set(1, launch.state);
    if (at == 0) at = here();
    for (std::uint32_t n = 0; n < launch.busy; ++n) emit(kRun | (n * launch.stride));
  }
  emit(kWait);
  return at;
}

std::uint32_t TileCode::launch_weighted(const WeightedLaunch& launch) {
  // $m0 codelet, $m1 state, $m2 weights, $m3 blocks still to come, $m4 where the next stage begins.
  set(2, launch.weights);
  set(1, launch.state);
  std::uint32_t at = 0, loop = 0;
  for (std::size_t i = 0; i < launch.stages.size(); ++i) {
    const bool is_last = i + 1 == launch.stages.size();
    set(0, launch.stages[i].codelet);
    set(3, launch.stages[i].blocks - 1);
    const std::size_t next = words_.size();
    set(4, 0);
    if (i == 0) {
      emit(encode("put", {kWeightsCsr, 2}));
      loop = here();
      for (std::uint32_t n = 0; n < launch.loads; ++n) emit(load_weights(2 * n));
      at = here();
      emit(encode("runall", {0, 1, launch.state_words}));
      emit(encode("add", {1, 1, launch.workers * launch.state_words * 4}));
      emit(encode("sync", {kLocalZone}));
      emit(encode("brnzdec", {3, 0}) | loop / 4);
      if (!is_last) emit(encode("br", {4}));
    } else {
      branch(loop);
    }
    words_[next] |= here();
  }
  return at;
}

void TileCode::set_worker_base(std::uint32_t worker, std::uint32_t address) {
  set(0, address);
  emit(encode("put", {kWorkerBaseCsr + worker, 0}));
}

std::uint32_t TileCode::count_down(std::uint32_t address) {
  set(0, address);
  emit(encode("ld32", {1, 0, kZero, 0}));
  emit(encode("add", {1, 1, -1}));
  emit(encode("st32", {1, 0, kZero, 0}));
  const std::uint32_t at = here();
  emit(encode("brz", {1, 0}));
  return at;
}

void TileCode::patch(std::uint32_t branch, std::uint32_t target) {
  words_[(branch - address_) / 4] |= target / 4;
}

void TileCode::branch(std::uint32_t target) { emit(encode("brz", {kZero, target})); }

void TileCode::align() {
  if (words_.size() % 2 != 0) set(0, 0);
}

void TileCode::stop() { emit(encode("sync", {kEndZone})); }

}  // namespace superstep
