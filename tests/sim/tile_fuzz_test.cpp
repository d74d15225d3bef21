// Random words and random legal programs on one tile: each call traps, returns or is stopped as an
// endless loop. SUPERSTEP_FUZZ sets how many of each, SUPERSTEP_FUZZ_SEED which.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <span>
#include <utility>

#include "isa/bundle.h"
#include "isa/instruction_word.h"
#include "isa/registers.h"
#include "isa/table.h"
#include "sim/tile/slot_counter.h"
#include "sim/tile/worker_handlers.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using isa::Control;
using isa::InstructionInfo;
using isa::OperandInfo;
using isa::Pipe;
using isa::Role;
using isa::Where;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kCode = 0x4d000, kState = 0x50000;

/// Who runs a program: one worker, all of them, or the supervisor, which calls it.
enum class Kind : std::uint8_t { kWorker, kMultiVertex, kSupervisor };
constexpr std::array kKinds = {Kind::kWorker, Kind::kMultiVertex, Kind::kSupervisor};

int programs() {
  const char* text = std::getenv("SUPERSTEP_FUZZ");
  return text == nullptr ? 20'000 : std::atoi(text);
}

std::uint64_t seed() {
  const char* text = std::getenv("SUPERSTEP_FUZZ_SEED");
  return text == nullptr ? 11 : std::strtoull(text, nullptr, 10);
}

class Random {
 public:
  explicit Random(std::uint64_t start) : state_(start) {}

  /// PCG (XSH RR): quick to seed.
  std::uint32_t word() {
    const std::uint64_t old =
        std::exchange(state_, state_ * 6364136223846793005U + 1442695040888963407U);
    return std::rotr(static_cast<std::uint32_t>((old >> 18 ^ old) >> 27),
                     static_cast<int>(old >> 59));
  }
  std::uint32_t below(std::uint32_t n) { return word() % n; }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

  /// Some word of an instruction, its registers and immediates at random.
  std::uint32_t instruction() {
    const auto& table = isa::instruction_table();
    const InstructionInfo& info = table[below(static_cast<std::uint32_t>(table.size()))];
    return info.pattern.value | (word() & ~info.pattern.mask);
  }
  /// A word of `info` that the machine has. Branches go into the `words` from kCode on, and most
  /// programs keep the addresses in $m0 to $m7 for their loads and stores.
  std::uint32_t legal(const InstructionInfo& info, std::uint32_t words) {
    std::uint32_t code = info.pattern.value;
    const bool is_access = info.mnemonic.starts_with("ld") || info.mnemonic.starts_with("st");
    bool has_base = false;
    for (const OperandInfo& operand : info.operands) {
      std::uint32_t bits = word() & operand.field.mask();
      if (operand.is_register && operand.file == isa::File::kMain && !one_in(40)) {
        if (operand.role == Role::kOut) {
          bits = 8 + below(8);
        } else if (is_access) {
          bits = has_base ? isa::kZero : below(8);
          has_base = true;
        }
      }
      if (operand.is_register) bits -= bits % operand.count;
      // Most offsets are small, so that addresses stay in the memory.
      if (!operand.is_register && !one_in(12)) bits = below(4) & operand.field.mask();
      if (operand.is_address) bits = (kCode + 4 * below(words)) / 4;
      code |= operand.field.insert(bits);
    }
    return isa::find_instruction(code) == &info ? code : encode("setzi $d, i", {15, 0});
  }

 private:
  std::uint64_t state_;
};

/// What a program may do in a bundle or an `rpt` body, and elsewhere.
struct Choices {
  std::vector<const InstructionInfo*> main, aux, any;
};
Choices choices_of(bool supervisor) {
  Choices choices;
  for (const InstructionInfo& info : isa::instruction_table()) {
    if (info.spec.where == (supervisor ? Where::kWorker : Where::kSupervisor)) continue;
    if (info.spec.words != 1) continue;
    if (info.spec.control != Control::kRepeat) choices.any.push_back(&info);
    if (info.spec.control != Control::kPlain || supervisor) continue;
    (info.spec.pipe == Pipe::kMain ? choices.main : choices.aux).push_back(&info);
  }
  return choices;
}

class Program {
 public:
  Program(Random& random, bool supervisor)
      : random_(random),
        supervisor_(supervisor),
        length_(8 + random.below(40)),
        choices_(&choices(supervisor)) {}

  Words make() {
    prologue();
    while (words_.size() < length_) {
      if (!supervisor_ && random_.one_in(12)) {
        repeat();
      } else if (!supervisor_ && random_.one_in(3)) {
        bundle();
      } else {
        words_.push_back(random_.legal(*pick(choices_->any), length_));
      }
    }
    return end();
  }

  /// A loop of one bundle.
  Words make_loop_of(const InstructionInfo& main, const InstructionInfo& aux) {
    prologue();
    if (words_.size() % 2 == 0) words_.push_back(encode("setzi $d, i", {isa::kZero, 0}));
    words_.push_back(encode("rpt i, n", {random_.below(6), 0}));
    bundle(main, aux);
    return end();
  }

  [[nodiscard]] static const Choices& choices(bool supervisor) {
    static const Choices kWorker = choices_of(false), kSupervisor = choices_of(true);
    return supervisor ? kSupervisor : kWorker;
  }

 private:
  const InstructionInfo* pick(const std::vector<const InstructionInfo*>& from) {
    return from[random_.below(static_cast<std::uint32_t>(from.size()))];
  }

  /// Registers with addresses, small numbers and data.
  void prologue() {
    for (std::uint32_t m = 0; m < (supervisor_ ? 8U : 12U); ++m) {
      const std::uint32_t address = random_.one_in(2) ? 0x80000 + 16 * random_.below(0x6000)
                                                      : 0x50000 + 16 * random_.below(0x2000);
      const std::uint32_t value = random_.one_in(3) ? random_.below(64) : address;
      words_.push_back(encode("setzi $d, i", {m, value}));
    }
    for (std::uint32_t a = 0; a < 14 && !supervisor_; a += 2) {
      words_.push_back(encode("ld64 $d, $b, $o, i", {a, isa::kVertexBase, isa::kZero, a / 2}));
    }
    length_ += static_cast<std::uint32_t>(words_.size());
  }
  void bundle(const InstructionInfo& main, const InstructionInfo& aux) {
    words_.push_back(random_.legal(main, length_) | isa::kCoIssue);
    words_.push_back(random_.legal(aux, length_) | isa::kCoIssue);
  }
  void bundle() { bundle(*pick(choices_->main), *pick(choices_->aux)); }
  void repeat() {
    const std::uint32_t bundles = 1 + random_.below(3);
    if (words_.size() % 2 == 0) words_.push_back(encode("setzi $d, i", {isa::kZero, 0}));
    words_.push_back(encode("rpt i, n", {random_.below(6), bundles - 1}));
    for (std::uint32_t i = 0; i < bundles; ++i) bundle();
  }
  /// What a worker holds goes into its state.
  Words end() {
    const auto store = [&](std::string_view syntax, std::uint32_t number, std::uint32_t at) {
      words_.push_back(encode(syntax, {number, isa::kVertexBase, isa::kZero, at}));
    };
    for (std::uint32_t m = 0; m < 12 && !supervisor_; ++m) {
      store("st32 $s, $b, $o, i", m, 16 + m);
    }
    for (std::uint32_t pair = 0; pair < 7 && !supervisor_; ++pair) {
      store("st64 $s, $b, $o, i", 2 * pair, 14 + pair);
    }
    for (std::uint32_t pair = 0; pair < 8 && !supervisor_; ++pair) {
      words_.push_back(encode("f32v2gina $d, $a, i", {0, 14, pair % 2}));
      store("st64 $s, $b, $o, i", 0, 21 + pair);
    }
    words_.push_back(supervisor_ ? encode("br", {isa::kLinkRegister})
                                 : encode("exitz", {isa::kZero}));
    return words_;
  }

  Random& random_;
  bool supervisor_;
  std::uint32_t length_;
  const Choices* choices_;
  Words words_;
};

/// Counts the instructions of workers by their names.
class ClassCounter : public InstructionObserver {
 public:
  void issued(const IssuedInstruction& bundle) override {
    if (bundle.context == IssuedInstruction::kSupervisor) return;
    for (std::uint32_t i = 0; i < bundle.instructions; ++i) {
      const InstructionInfo& info = *isa::find_instruction(bundle.words[i]);
      const std::string_view name = info.mnemonic;
      ++counts_.all;
      counts_.aux += info.spec.pipe == Pipe::kAux;
      counts_.amp += (name.ends_with("amp") && !name.ends_with("clamp")) || name.ends_with("slic");
      counts_.loads += name.starts_with("ld");
      counts_.stores += name.starts_with("st") || name.find("st64") != name.npos;
      counts_.branches += name.starts_with("br") || name == "call";
    }
  }
  [[nodiscard]] const InstructionCounts& counts() const { return counts_; }

 private:
  InstructionCounts counts_;
};

struct Outcome {
  TileStop stop;
  std::array<std::uint64_t, 6> worker_cycles{};
  InstructionCounts counted, seen;
  bool interrupted = false;
  bool faulted = false;
  std::array<std::uint32_t, 64> state{};
};

constexpr const char* kCall =
    "setzi $sp, 0x60000\n setzi $m0, 0x50000\n call $lr, 0x4d000\n sync 4";

Outcome run(const Words& words, Kind kind, std::uint32_t data_seed, bool observed) {
  testing::TileRun tile;
  tile.put(kCode, words);
  Outcome outcome;
  Random data(data_seed);
  for (std::uint32_t& word : outcome.state) word = data.word();
  const std::span<std::uint32_t, 64> state(outcome.state);
  EXPECT_TRUE(tile.tile().memory().write(kState, std::as_bytes(state)));
  // An endless loop is not a fault of the simulator.
  const std::function<bool()> interrupted = [&] { return outcome.interrupted = true; };
  tile.tile().poll(interrupted);
  ClassCounter classes;
  SlotCounter counter(tile.machine(), &classes);
  if (observed) tile.tile().observe(&counter);
  outcome.stop = tile.supervise(kind == Kind::kWorker        ? testing::kRunWorker
                                : kind == Kind::kMultiVertex ? testing::kRunAllWorkers
                                                             : kCall);
  outcome.seen = classes.counts();
  // One of its own is a sync with tiles or a host that are not there.
  outcome.faulted = outcome.stop.kind != TileStop::Kind::kSync || outcome.stop.pc >= kCode;
  if (const auto fault = tile.tile().fault()) {
    EXPECT_FALSE(fault->cause.empty());
    EXPECT_FALSE(fault->context.empty());
  }
  for (std::uint32_t w = 0; w < 6; ++w) {
    outcome.worker_cycles.at(w) = tile.tile().worker_busy_cycles(w);
  }
  outcome.counted = tile.tile().worker_instructions();
  EXPECT_TRUE(tile.tile().memory().read(kState, std::as_writable_bytes(state)));
  return outcome;
}

TEST(TileFuzz, RandomWordsTrapOrEnd) {
  Random random(seed());
  int ended = 0;
  for (int i = 0; i < programs(); ++i) {
    Words words(4 + random.below(28));
    for (std::uint32_t& word : words) {
      word = random.one_in(8) ? random.word() : random.instruction();
      if (random.one_in(2)) word &= ~isa::kCoIssue;
    }
    if (random.one_in(2)) words.resize(1 + words.size() / 8);
    words.push_back(encode("exitz", {isa::kZero}));
    const Kind kind = kKinds[random.below(3)];
    const Outcome outcome = run(words, kind, 1, false);
    ended += outcome.faulted ? 0 : 1;
    ASSERT_FALSE(HasFailure()) << "program " << i;
  }
  EXPECT_GT(ended, programs() / 200);
}

TEST(TileFuzz, RandomLegalProgramsTrapOrEndAndWatchingThemChangesNothing) {
  Random random(~seed());
  int ended = 0;
  for (int i = 0; i < programs(); ++i) {
    const Kind kind = kKinds[random.below(3)];
    const Words words = Program(random, kind == Kind::kSupervisor).make();
    const std::uint32_t data = random.word();
    const Outcome plain = run(words, kind, data, false);
    ended += plain.faulted ? 0 : 1;
    if (i % 8 == 0) {
      const Outcome seen = run(words, kind, data, true);
      // An endless loop may stop elsewhere.
      if (seen.interrupted || plain.interrupted) continue;
      EXPECT_EQ(seen.stop.kind, plain.stop.kind);
      EXPECT_EQ(seen.stop.cycle, plain.stop.cycle);
      EXPECT_EQ(seen.worker_cycles, plain.worker_cycles);
      EXPECT_EQ(seen.counted, plain.counted);
      // One that faults is seen and does not count.
      if (!seen.faulted) {
        EXPECT_EQ(seen.seen, plain.counted);
      }
      EXPECT_EQ(seen.state, plain.state);
    }
    ASSERT_FALSE(HasFailure()) << "program " << i;
  }
  EXPECT_GT(ended, programs() / 20);
}

// Bundles of inner loops have handlers of their own, which a watched worker does not use.
TEST(TileFuzz, LoopsOfPairsDoWhatTheirHalvesDo) {
  Random random(seed());
  const Choices& choices = Program::choices(false);
  int pairs = 0;
  for (const InstructionInfo* main : choices.main) {
    for (const InstructionInfo* aux : choices.aux) {
      const auto general = worker_handlers()[main->number].bundle;
      if (bundle_handler(*main, random.legal(*main, 1), *aux, random.legal(*aux, 1)) == general) {
        continue;
      }
      ++pairs;
      for (int i = 0; i < 16; ++i) {
        const Words words = Program(random, false).make_loop_of(*main, *aux);
        const std::uint32_t data = random.word();
        const Outcome plain = run(words, Kind::kWorker, data, false);
        const Outcome seen = run(words, Kind::kWorker, data, true);
        ASSERT_EQ(seen.stop.kind, plain.stop.kind);
        ASSERT_EQ(seen.worker_cycles, plain.worker_cycles);
        ASSERT_EQ(seen.counted, plain.counted);
        ASSERT_EQ(seen.state, plain.state) << main->mnemonic << " with " << aux->mnemonic;
      }
    }
  }
  EXPECT_GT(pairs, 100);
}

}  // namespace
}  // namespace superstep
