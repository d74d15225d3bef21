// Random straight lines and loops of AMP bundles that step packed addresses, on one worker, behind
// rows of loads of common weights: what is executed at once does what a watched tile does, which
// goes by steps. SUPERSTEP_FUZZ sets
// how many, SUPERSTEP_FUZZ_SEED which.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "isa/bundle.h"
#include "isa/instruction_word.h"
#include "isa/registers.h"
#include "sim/tile/code_store.h"
#include "sim/tile/slot_counter.h"
#include "sim/tile/worker_context.h"
#include "tests/gc200.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kNan = 0x7fa12345, kHalfNans = 0x7e017d02;

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// Words of the vertex state: what the worker starts from, then what it leaves.
enum State : std::uint32_t {
  kAddresses,  ///< three
  kStrides = 3,
  kTurns,
  kFpControl = 6,
  kProductData = 8,  ///< 14 words of $a, then 32 of accumulators
  kEnd = kProductData + 14 + 32,
};

struct Product {
  MachineConfig machine = gc200();
  std::string supervisor;  ///< loads common weights and runs the worker
  Words code;
  std::array<std::uint32_t, kEnd> state{};
  std::uint32_t data_seed = 0;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Product make() {
    product_ = {};
    product_.data_seed = word();
    choose_machine();
    choose_state();
    write_supervisor();
    words_.clear();
    load_state();
    for (std::uint32_t part = 0, parts = 1 + below(3); part < parts; ++part) {
      kind_ = below(kAmps.size());
      phase_ = below(8);
      one_in(2) ? loop() : line(1 + below(24));
    }
    store_state();
    product_.code = words_;
    return product_;
  }

 private:
  /// An AMP instruction; how many registers its results, inputs and partials take.
  struct Amp {
    const char* name;
    std::array<std::uint32_t, 3> registers;
  };
  static constexpr std::array<Amp, 5> kAmps{{{"f32sisoamp", {2, 1, 2}},
                                             {"f32sisov2amp", {2, 1, 2}},
                                             {"f16v4sisoamp", {2, 2, 2}},
                                             {"f16v4hihoamp", {1, 2, 1}},
                                             {"f16v4hihov4amp", {2, 2, 2}}}};

  std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

  void choose_machine() {
    MachineConfig::Tile& tile = product_.machine.tile;
    if (one_in(3)) tile.amp_units = std::array{1U, 4U, 8U}[below(3)];
    if (one_in(4)) tile.bank_conflicts = BankConflicts::kStall;
    if (one_in(4)) {
      tile.region1_base = 0x70000;
      tile.element_bytes = one_in(2) ? 8 : 0x1000;
    }
    if (one_in(4)) tile.region2_bytes = 0x10000;
  }

  void choose_state() {
    const MachineConfig& machine = product_.machine;
    const std::uint32_t region1 = machine.tile.region1_base, end = machine.memory_end();
    // Mostly rows lie in the one region and sums in the other, in different elements.
    const auto near = [&](std::uint32_t limit) { return limit - 8 * below(24); };
    const std::uint32_t sums = one_in(4) ? near(end) : region1 + 0x1000 + 8 * below(64);
    const std::uint32_t apart = one_in(5) ? 8 * below(8) : 8 + 16 * below(20);
    std::array addresses{one_in(4) ? near(region1) : region1 - 0x4000 + 8 * below(64), sums,
                         one_in(2) ? sums - apart : sums + apart};
    if (one_in(6)) addresses[0] = sums + 8 * below(64);
    if (one_in(6)) addresses[below(3)] = near(machine.region2_base());
    if (one_in(6)) {
      const std::uint32_t element = machine.tile.element_bytes;
      addresses[1 + below(2)] = region1 - 8 * below(64) - element * below(3);
    }
    if (one_in(20)) addresses[below(3)] += 4;
    if (one_in(20)) addresses[below(2)] = machine.tile.memory_base;
    if (one_in(20) && machine.tile.bank_conflicts == BankConflicts::kTrap) {
      addresses[2] = testing::kCodelet + 8 * below(64);
    }
    if (one_in(40)) addresses[below(3)] = word();
    std::ranges::copy(addresses, product_.state.begin() + kAddresses);
    std::uint32_t strides = 0;
    for (int field = 0; field < 3; ++field) {
      const std::uint32_t step = one_in(10) ? below(1024) : below(16) - 6;
      strides = strides << 10 | (step & 1023U);
    }
    product_.state[kStrides] = strides;
    product_.state[kTurns] = one_in(10) ? 0 : one_in(10) ? 40 : below(8);
    // To other than the nearest f16, and with NaN where an f16 overflows.
    if (one_in(8)) product_.state[kFpControl] = one_in(2) ? isa::kFpCtlEsr : isa::kFpCtlNanoo;
    for (std::uint32_t i = kProductData; i < kEnd; ++i) product_.state.at(i) = value();
  }
  /// An f32 or two f16, not all of which are finite.
  std::uint32_t value() {
    if (one_in(12)) return one_in(2) ? kNan : kHalfNans;
    return one_in(20) ? word() : word() & 0xbfffbfffU;
  }

  void write_supervisor() {
    std::uint32_t from = 0x80000 + 16 * below(64);
    if (one_in(20)) from = product_.machine.memory_end() - 16 * below(40);
    if (one_in(40)) from += 8;
    std::string& text = product_.supervisor;
    text = "setzi $m0, " + std::to_string(from) + "\n put $CCCSLOAD, $m0\n";
    for (int load = 0, loads = one_in(8) ? 20 : 32; load < loads; ++load) {
      const std::string number = std::to_string(one_in(1000) ? 63 : 2 * load);
      // Two of one in between end a row.
      text += one_in(20) ? "ld64putcs 9\n ld64putcs " + number : "ld128putcs " + number;
      text += '\n';
    }
    text += testing::kRunWorker;
  }

  void put(std::string_view syntax, std::initializer_list<std::int64_t> operands) {
    words_.push_back(encode(syntax, operands));
  }
  void bundle(std::uint32_t main, std::uint32_t aux) {
    words_.push_back(main | isa::kCoIssue);
    words_.push_back(aux | isa::kCoIssue);
  }

  void load_state() {
    const auto load = [&](std::uint32_t to, std::uint32_t from) {
      put("ld32 $d, $b, $o, i", {to, isa::kVertexBase, isa::kZero, from});
    };
    for (std::uint32_t m = 0; m < 3; ++m) load(m, kAddresses + m);
    load(3, kStrides);
    load(6, kTurns);
    put("tapack $d, $a, $b, $c", {4, 0, 1, 2});
    for (std::uint32_t pair = 0; pair < 16; ++pair) {
      put("ld64 $d, $b, $o, i", {0, isa::kVertexBase, isa::kZero, (kProductData + 14) / 2 + pair});
      put("f32v2gina $d, $a, i", {2, 0, pair % 4});
    }
    for (std::uint32_t pair = 0; pair < 7; ++pair) {
      put("ld64 $d, $b, $o, i", {2 * pair, isa::kVertexBase, isa::kZero, kProductData / 2 + pair});
    }
    if (product_.state[kFpControl] != 0) {
      put("ld64 $d, $b, $o, i", {12, isa::kVertexBase, isa::kZero, kFpControl / 2});
      put("uput i, $a", {isa::kFpCtl - isa::kUpperCsrs, 12});
    }
  }
  void store_state() {
    for (std::uint32_t m = 0; m < 7; ++m) {
      put("st32 $s, $b, $o, i", {m, isa::kVertexBase, isa::kZero, kEnd + m});
    }
    for (std::uint32_t pair = 0; pair < 7; ++pair) {
      put("st64 $s, $b, $o, i", {2 * pair, isa::kVertexBase, isa::kZero, kEnd / 2 + 4 + pair});
    }
    for (std::uint32_t pair = 0; pair < 16; ++pair) {
      put("f32v2gina $d, $a, i", {0, 14, pair % 4});
      put("st64 $s, $b, $o, i", {0, isa::kVertexBase, isa::kZero, kEnd / 2 + 11 + pair});
    }
    put("exitz", {isa::kZero});
  }

  void loop() {
    if (words_.size() % 2 == 0) put("setzi $d, i", {isa::kZero, 0});
    const std::uint32_t bundles = 1 + below(one_in(4) ? 36 : 10);
    put("rpt $a, n", {6, bundles - 1});
    line(bundles);
  }
  void line(std::uint32_t bundles) {
    for (std::uint32_t i = 0; i < bundles; ++i) {
      if (one_in(60)) kind_ = below(kAmps.size());
      if (one_in(30)) phase_ = below(8);
      bundle(main(), amp());
    }
  }

  /// A register pair or quad of $a, mostly among few of them.
  std::uint32_t aux(std::uint32_t registers) {
    const std::uint32_t number = one_in(6) ? below(16) : below(8);
    return number - number % registers;
  }
  /// What the main pipe does, with registers that the results of the AMP, $a10 and $a11, are not.
  std::uint32_t main() {
    const std::uint32_t addresses = one_in(50) ? 2 : 4, strides = one_in(50) ? below(8) : 3;
    const std::uint32_t selectors = one_in(2) ? below(64) : below(4);
    const auto free = [&](std::uint32_t registers) { return below(8 / registers) * registers; };
    switch (below(9)) {
      case 0:
        return encode("ld2x64pace",
                      {2 * below(2), 4 + 2 * below(2), addresses, strides, selectors & 15});
      case 1:
      case 2:
      case 3:
        return encode("ldst64pace", {free(2), aux(2), addresses, strides, selectors & 15});
      case 4:
      case 5:
      case 6:
        return encode("ld2xst64pace", {free(4), aux(2), addresses, strides, selectors});
      case 7:
        return encode("st64pace", {aux(2), addresses, strides, selectors & 3});
      default:
        return encode("setzi $d, i", {isa::kZero, 0});
    }
  }
  std::uint32_t amp() {
    if (one_in(80)) return encode("f32v2add $d, $a, $b", {10, aux(2), aux(2)});
    const Amp& amp = kAmps.at(kind_);
    return encode(amp.name, {10, aux(amp.registers[1]), aux(amp.registers[2]), phase_++ % 8});
  }

  std::mt19937 random_;
  Product product_;
  Words words_;
  std::size_t kind_ = 0;
  std::uint32_t phase_ = 0;
};

struct Outcome {
  TileStop stop;
  std::optional<TileFault> fault;
  std::uint64_t cycles = 0;
  InstructionCounts counted;
  std::vector<std::byte> memory;
};

enum class Watched : std::uint8_t { kNo, kForRaces, kStepByStep };

Outcome run(const Product& product, Watched watched) {
  RaceShadows shadows(product.machine);  // outlives the tile
  testing::TileRun run(product.machine);
  Tile& tile = run.tile();
  std::mt19937 random(product.data_seed);
  Words data((run.machine().memory_end() - 0x51000) / 4);
  for (std::uint32_t& word : data) {
    word = static_cast<std::uint32_t>(random());
    word = word % 64 == 0 ? kNan : word % 64 == 1 ? kHalfNans : word & 0xbfffbfffU;
  }
  run.put(0x51000, data);
  run.put(testing::kCodelet, product.code);
  run.put(testing::kData, Words(product.state.begin(), product.state.end()));
  SlotCounter counter(run.machine(), nullptr);
  if (watched == Watched::kStepByStep) tile.observe(&counter);
  if (watched == Watched::kForRaces) tile.check_races(RaceChecks::kAlways, shadows);
  Outcome outcome;
  outcome.stop = run.supervise(product.supervisor);
  outcome.fault = tile.fault();
  outcome.cycles = tile.worker_busy_cycles();
  outcome.counted = tile.worker_instructions();
  outcome.memory.resize(run.machine().tile.memory_bytes);
  EXPECT_TRUE(tile.memory().read(run.machine().tile.memory_base, outcome.memory));
  return outcome;
}

/// Executes code as a worker that nobody watches does, with these $m; how many lines of it are
/// executed at once.
std::uint64_t lines_at_once(TileMemory& memory, const MachineConfig& machine, const Words& m) {
  Weights weights;
  CodeStore store(machine);
  const WorkerCode* code = store.find(testing::kCodelet, memory);
  code->mark_decoded(memory);
  WorkerContext worker(machine, memory, weights, 0);
  worker.begin();
  for (std::size_t i = 0; i < m.size(); ++i) worker.registers.at(i) = m[i];
  worker.registers[isa::kVertexBase] = testing::kData;
  const WorkerStep* step = code->entry();
  while (step != nullptr) step = step->run(worker, step);
  return worker.lines_at_once;
}

bool executes_lines_at_once(const Product& product) {
  TileMemory memory(product.machine);
  EXPECT_TRUE(memory.write(testing::kCodelet, std::as_bytes(std::span(product.code))));
  EXPECT_TRUE(memory.write(testing::kData, std::as_bytes(std::span(product.state))));
  return lines_at_once(memory, product.machine, {}) > 0;
}

void expect_equal(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.stop.kind, b.stop.kind);
  EXPECT_EQ(a.stop.cycle, b.stop.cycle);
  ASSERT_EQ(a.fault.has_value(), b.fault.has_value());
  if (a.fault) {
    EXPECT_EQ(a.fault->cause, b.fault->cause);
    EXPECT_EQ(a.fault->pc, b.fault->pc);
    EXPECT_EQ(a.fault->cycle, b.fault->cycle);
  }
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.counted, b.counted);
  EXPECT_TRUE(a.memory == b.memory);
}

TEST(AmpLine, DoesWhatItsBundlesDo) {
  Generator generator(static_cast<unsigned>(number_from("SUPERSTEP_FUZZ_SEED", 11)));
  const int products = number_from("SUPERSTEP_FUZZ", 3'000);
  int ended = 0, with_lines = 0;
  for (int i = 0; i < products; ++i) {
    const Product product = generator.make();
    const Outcome outcome = run(product, Watched::kNo);
    ended += outcome.fault ? 0 : 1;
    with_lines += executes_lines_at_once(product) ? 1 : 0;
    expect_equal(outcome, run(product, Watched::kStepByStep));
    if (i % 4 == 0) expect_equal(outcome, run(product, Watched::kForRaces));
    ASSERT_FALSE(HasFailure()) << "product " << i;
  }
  // Others fault, most of them somewhere in a line.
  EXPECT_GT(ended, products / 4);
  EXPECT_LT(ended, products * 3 / 4);
  // In most others a sum is NaN, or an access of each line is not simply allowed.
  EXPECT_GT(with_lines, products / 4);
  EXPECT_LT(with_lines, products * 3 / 4);
}

/// Lines that are executed at once of so many turns of three bundles, which load from one address
/// on and store from another on: a straight line, or a loop where there are several.
std::uint64_t lines_of_products(std::uint32_t loads, std::uint32_t stores, std::uint32_t turns,
                                const MachineConfig& machine = gc200()) {
  std::string text = "tapack $m4:5, $m0, $m0, $m1\n";
  text += turns == 1 ? "setzi $m15, 0\n" : "rpt $m2, 2\n";
  for (const char* phase : {"0", "1", "2"}) {
    text += std::string(
                "{ ldst64pace $a0:1, $a2:3, $m4:5+=, $m15, 0 ; "
                "f32sisoamp $a4:5, $a0, $a2:3, ") +
            phase + " }\n";
  }
  const Words code = assemble(text + "exitz $m15\n", "test.S").words_at(testing::kCodelet);
  TileMemory memory(machine);
  EXPECT_TRUE(memory.write(testing::kCodelet, std::as_bytes(std::span(code))));
  return lines_at_once(memory, machine, {loads, stores, turns});
}

TEST(AmpLine, IsExecutedAtOnceWhereAllItsAccessesAreAllowed) {
  const MachineConfig machine = gc200();
  const std::uint32_t region1 = machine.tile.region1_base, end = machine.memory_end();
  const std::uint32_t rows = region1 - 0x4000, sums = region1 + 0x1000;
  for (const std::uint32_t turns : {1U, 5U}) {
    EXPECT_EQ(lines_of_products(rows, sums, turns), 1U) << turns;
    // Up to the last word, and no further.
    const std::uint32_t bytes = 8 * 3 * turns;
    EXPECT_EQ(lines_of_products(rows, end - bytes, turns), 1U) << turns;
    // Then turn by turn, and bundle by bundle in the last one.
    EXPECT_EQ(lines_of_products(rows, end - bytes + 8, turns), turns - 1) << turns;
    EXPECT_EQ(lines_of_products(rows + 4, sums, turns), 0U) << turns << ", of no pair of words";
    // What lies in one element cannot be loaded and stored in a cycle.
    const std::uint32_t element = machine.tile.element_bytes;
    EXPECT_EQ(lines_of_products(rows, rows + element, turns), 1U) << turns;
    EXPECT_EQ(lines_of_products(rows, rows + element / 2, turns), 0U) << turns;
    EXPECT_EQ(lines_of_products(rows, testing::kCodelet, turns), 0U) << turns << ", over its code";
  }
}

}  // namespace
}  // namespace superstep
