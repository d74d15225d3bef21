#include "compiler/image/tile_code.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "isa/instruction_word.h"
#include "isa/registers.h"
#include "isa/sync_zones.h"

namespace superstep {
namespace {

/// Registers of a weighted launch, from the first of its bank.
constexpr std::uint32_t kCodelet = 0, kState = 1, kWeights = 2,
                        kBlocks = 3;  ///< of the stage, still to come

/// Words of an instruction whose last operand, in the low bits, is filled in later: encoding by
/// name is slow.
std::uint32_t setzi(std::uint32_t reg) {
  static const std::array<std::uint32_t, supervisor::kPadding + 1> kWords = [] {
    std::array<std::uint32_t, supervisor::kPadding + 1> words{};
    for (std::uint32_t r = 0; r < words.size(); ++r) words[r] = encode("setzi", {r, 0});
    return words;
  }();
  return kWords[reg];
}

std::uint32_t wait_for_workers() {
  static const std::uint32_t kWord = encode("sync", {kZoneLocal});
  return kWord;
}

/// Each once, in order of first use.
std::vector<std::uint32_t> codelets_of(const TileCode::LaunchTogether& launches) {
  std::vector<std::uint32_t> codelets;
  for (const TileCode::BusyStates& launch : launches) {
    if (std::ranges::find(codelets, launch.codelet) == codelets.end()) {
      codelets.push_back(launch.codelet);
    }
  }
  return codelets;
}

std::uint32_t first_state(const TileCode::LaunchTogether& launches) {
  return std::ranges::min(launches, {}, &TileCode::BusyStates::state).state;
}

/// Load `n` of `loads` of two common weights each, from where $CCCSLOAD points. All 32 loads are
/// of both sets of channels, of which pairs of results leave in turn.
std::uint32_t load_weights(std::uint32_t n, std::uint32_t loads) {
  static const std::uint32_t kWord = encode("ld128putcs", {0});
  if (loads <= 16) return kWord | 2 * n;
  const std::uint32_t pair = n / 4;
  return kWord | (pair % 2 * 32 + pair / 2 * 8 + n % 4 * 2);
}

}  // namespace

void TileCode::set(std::uint32_t reg, std::uint32_t value) { set_by(setzi(reg), value); }

void TileCode::set_by(std::uint32_t setzi, std::uint32_t value) {
  constexpr unsigned kBits = 20, kRegisterShift = 20;
  static const std::uint32_t kOr = encode("or $d, $a, i<<20", {0, 0, 0});
  emit(setzi | (value & ((1U << kBits) - 1)));
  const std::uint32_t reg = setzi >> kRegisterShift & 0xf;
  if (value >> kBits != 0) emit(kOr | reg << 20 | reg << 16 | value >> kBits);
}

std::uint32_t TileCode::row(std::span<const std::uint32_t> code) {
  align();
  const std::uint32_t begin = here();
  words_.insert(words_.end(), code.begin(), code.end());
  return begin;
}

void TileCode::row_after_sync(std::span<const std::uint32_t> code) {
  SUPERSTEP_CHECK(words_.size() % 2 != 0, "a row without its first word is aligned");
  words_.insert(words_.end(), code.begin() + 1, code.end());
}

void TileCode::prepare(const AnyLaunch& launch, std::uint32_t bank) {
  const std::uint32_t first = bank * supervisor::kBankRegisters;
  if (const auto* all = std::get_if<LaunchAll>(&launch)) {
    set(first, all->codelet);
    set(first + 1, all->state);
  } else if (const auto* together = std::get_if<LaunchTogether>(&launch)) {
    const std::vector<std::uint32_t> codelets = codelets_of(*together);
    SUPERSTEP_CHECK(codelets.size() <= kCodeletsTogether, "a register for each codelet");
    for (std::uint32_t i = 0; i < codelets.size(); ++i) set(first + i, codelets[i]);
    set(first + kCodeletsTogether, first_state(*together));
  } else {
    const auto& weighted = std::get<WeightedLaunch>(launch);
    set(first + kWeights, weighted.weights);
    set(first + kState, weighted.state);
    set(first + kCodelet, weighted.stages[0].codelet);
    set(first + kBlocks, weighted.stages[0].blocks - 1);
  }
}

std::uint32_t TileCode::launch(const AnyLaunch& launch, std::uint32_t bank, const AnyLaunch* next,
                               std::uint32_t next_bank, const std::function<void()>& meanwhile) {
  const auto prepare_next = [&] {
    if (next != nullptr) prepare(*next, next_bank);
  };
  if (const auto* weighted = std::get_if<WeightedLaunch>(&launch)) {
    // Its own registers are needed until it ends.
    const bool is_free = bank != next_bank;
    const std::uint32_t at = is_free ? run_weighted(*weighted, bank, prepare_next)
                                     : run_weighted(*weighted, bank, [] {});
    if (!is_free) prepare_next();
    if (meanwhile) meanwhile();
    return at;
  }
  const auto* all = std::get_if<LaunchAll>(&launch);
  const std::uint32_t at =
      all != nullptr ? run_all(*all, bank) : run_together(std::get<LaunchTogether>(launch), bank);
  prepare_next();
  if (meanwhile) meanwhile();
  emit(wait_for_workers());
  return at;
}

std::uint32_t TileCode::run_all(const LaunchAll& launch, std::uint32_t bank) {
  SUPERSTEP_CHECK(launch.stride < (1U << 12), "a stride of vertex states has 12 bits");
  static const std::array<std::uint32_t, supervisor::kBanks> kRunall{
      encode("runall", {0, 1, 0}),
      encode("runall", {supervisor::kBankRegisters, supervisor::kBankRegisters + 1, 0})};
  const std::uint32_t at = here();
  emit(kRunall[bank] | launch.stride);
  return at;
}

std::uint32_t TileCode::run_together(const LaunchTogether& launches, std::uint32_t bank) {
  const std::vector<std::uint32_t> codelets = codelets_of(launches);
  const std::uint32_t first = bank * supervisor::kBankRegisters, base = first_state(launches);
  const std::uint32_t at = here();
  for (const BusyStates& launch : launches) {
    const auto number = std::ranges::find(codelets, launch.codelet) - codelets.begin();
    for (std::uint32_t n = 0; n < launch.busy; ++n) {
      const std::uint32_t state = launch.state + 4 * n * launch.stride - base;
      SUPERSTEP_CHECK(state < kNearStates, "states of launches side by side are near");
      emit(encode("run", {first + number, first + kCodeletsTogether, state / 4}));
    }
  }
  return at;
}

template <class PrepareNext>
std::uint32_t TileCode::run_weighted(const WeightedLaunch& launch, std::uint32_t bank,
                                     const PrepareNext& prepare_next) {
  const std::uint32_t first = bank * supervisor::kBankRegisters;
  std::uint32_t at = 0;
  // Between `runall` and the workers' first slots the supervisor does what else there is to do;
  // then it has no slot until a worker has left.
  for (std::size_t i = 0; i < launch.stages.size(); ++i) {
    if (i == 0) {
      emit(encode("put", {isa::kCccsLoad, first + kWeights}));
    } else {
      set(first + kCodelet, launch.stages[i].codelet);
      set(first + kBlocks, launch.stages[i].blocks - 1);
    }
    const std::uint32_t loop = here();
    emit(wait_for_workers());
    for (std::uint32_t n = 0; n < launch.loads; ++n) emit(load_weights(n, launch.loads));
    if (i == 0) at = here();
    emit(encode("runall", {first + kCodelet, first + kState, launch.state_words}));
    emit(encode("add", {first + kState, first + kState, launch.workers * launch.state_words * 4}));
    if (launch.stages[i].blocks > 1) emit(encode("brnzdec", {first + kBlocks, 0}) | loop / 4);
  }
  prepare_next();
  emit(wait_for_workers());
  return at;
}

void TileCode::set_worker_base(std::uint32_t worker, std::uint32_t address) {
  set(0, address);
  emit(encode("put", {isa::kFirstWorkerBase + worker, 0}));
}

std::uint32_t TileCode::branch_if_zero(std::uint32_t reg) {
  const std::uint32_t at = here();
  emit(encode("brz", {reg, 0}));
  return at;
}

void TileCode::branch_if_not_zero(std::uint32_t reg, std::uint32_t target) {
  emit(encode("brnz", {reg, target}));
}

void TileCode::decrement(std::uint32_t reg) { emit(encode("add", {reg, reg, -1})); }

void TileCode::jump(std::uint32_t target) { emit(encode("bri", {target})); }

std::uint32_t TileCode::jump() {
  const std::uint32_t at = here();
  jump(0);
  return at;
}

void TileCode::patch(std::uint32_t branch, std::uint32_t target) {
  words_[(branch - address_) / 4] |= target / 4;
}

std::uint32_t TileCode::call(std::uint32_t target) {
  const std::uint32_t at = here();
  emit(encode("call", {supervisor::kLink, target}));
  return at;
}

void TileCode::end_call() { emit(encode("br", {supervisor::kLink})); }

void TileCode::align() {
  if (words_.size() % 2 != 0) set(supervisor::kPadding, 0);
}

void TileCode::align_after_sync() {
  SUPERSTEP_CHECK(words_.size() % 2 == 0,
                  "a sync that has just ended is the second word of a pair");
  set(supervisor::kPadding, 0);
}

void TileCode::stop() { emit(encode("sync", {kZoneExternal})); }

}  // namespace superstep
