#include "sim/tile/engine.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/tile/supervisor.h"
#include "tests/gc200.h"
#include "tests/sim/knowing_engine.h"
#include "tests/sim/programs.h"
#include "toolchain/assembler.h"

namespace superstep {
namespace {

/// A worker takes eight slots: one, four of a loop, one, a store, and to leave.
constexpr const char* kTwoLaunches =
    "  setzi $m1, worker\n"
    "  setzi $m3, 0x80000\n"
    "  runall $m1, $m3, 1\n"
    "  sync 2\n"
    "  runall $m1, $m3, 1\n"
    "  sync 2\n"
    "  sync 3\n"
    "  .align 8\n"
    "worker:\n"
    "  setzi $m0, 3\n"
    "1:\n"
    "  brnzdec $m0, 1b\n"
    "  setzi $m2, 7\n"
    "  st32 $m2, $m13, $m15, 0\n"
    "  exitz $m15\n";
constexpr std::uint64_t kSlots = 8;
constexpr std::uint64_t kRuns = 12;

/// The supervisor of a tile with a program.
class Program {
 public:
  Program() : code_(machine_), memory_(machine_), supervisor_(machine_, memory_, code_) {
    const std::vector<std::uint32_t> words = assemble(kTwoLaunches, "test.S").words_at(kCode);
    EXPECT_TRUE(memory_.write(kCode, std::as_bytes(std::span(words))));
  }

  /// To its sync; when it arrives there.
  std::uint64_t run() {
    supervisor_.boot(kCode);
    supervisor_.run();
    launcher().leave_host();
    EXPECT_EQ(supervisor_.context().stop, SupervisorContext::Stop::kSync);
    return supervisor_.context().arrival;
  }
  WorkerLauncher& launcher() { return supervisor_.launcher(); }
  std::vector<std::uint32_t> stored() {
    std::vector<std::uint32_t> words(machine_.tile.workers);
    EXPECT_TRUE(memory_.read(kData, std::as_writable_bytes(std::span(words))));
    return words;
  }
  [[nodiscard]] std::uint32_t issue_period() const { return machine_.issue_period(); }

 private:
  MachineConfig machine_ = gc200();
  CodeStore code_;
  TileMemory memory_;
  Supervisor supervisor_;
};

/// Counts what it is given, and has another one run it.
struct CountingEngine : Engine {
  explicit CountingEngine(Engine& engine) : other(engine) {}

  std::uint64_t run(WorkerContext& worker, const WorkerStep* step) override {
    ++runs;
    const std::uint64_t took = other.run(worker, step);
    slots += took;
    return took;
  }

  Engine& other;
  std::uint64_t runs = 0, slots = 0;
};

TEST(Engine, IsGivenEachWorkerOnceAndSaysWhatItTook) {
  Program alone, counted;
  CountingEngine engine(counted.launcher().engine());
  counted.launcher().set_engine(engine);
  EXPECT_EQ(counted.run(), alone.run());
  EXPECT_EQ(counted.stored(), alone.stored());
  EXPECT_EQ(counted.stored(), std::vector<std::uint32_t>(6, 7));
  EXPECT_EQ(engine.runs, kRuns);
  EXPECT_EQ(engine.slots, kRuns * kSlots);
  EXPECT_EQ(counted.launcher().instructions(), alone.launcher().instructions());
}

TEST(Engine, OfAnotherKindDecidesWhatWorkersDoAndTake) {
  Program interpreted, known, slower;
  KnowingEngine engine(kSlots), slow_engine(kSlots + 1);
  known.launcher().set_engine(engine);
  slower.launcher().set_engine(slow_engine);
  const std::uint64_t arrival = interpreted.run();
  EXPECT_EQ(known.run(), arrival);
  EXPECT_EQ(known.launcher().busy_cycles(), interpreted.launcher().busy_cycles());
  EXPECT_EQ(known.stored(), std::vector<std::uint32_t>(6, 0));
  EXPECT_GT(slower.run(), arrival);
  EXPECT_EQ(slower.launcher().busy_cycles(), kRuns * (kSlots + 1) * slower.issue_period());
}

/// Two tiles with the program, on a simulation.
ProgramImage two_tiles() {
  ProgramImage image = image_of(2);
  for (const std::uint32_t tile : {0U, 1U}) {
    add_program(
        image, tile,
        std::string(kTwoLaunches).replace(std::string(kTwoLaunches).find("sync 3"), 6, "sync 4"));
  }
  return image;
}

TEST(Engine, OfASimulationIsMadeForEachTileAroundItsInterpreter) {
  const ProgramImage image = two_tiles();
  Simulation alone(image, {.threads = 2});
  EXPECT_EQ(alone.run().kind, StopKind::kEnd);
  std::map<TileId, CountingEngine*> engines;
  Simulation counted(image, {.threads = 2, .make_engine = [&](TileId tile, Engine& interpreter) {
                               auto engine = std::make_unique<CountingEngine>(interpreter);
                               engines[tile] = engine.get();
                               return engine;
                             }});
  EXPECT_EQ(counted.run().kind, StopKind::kEnd);
  EXPECT_EQ(counted.now(), alone.now());
  ASSERT_EQ(engines.size(), 2U);
  for (const auto& [tile, engine] : engines) {
    EXPECT_EQ(engine->runs, kRuns);
    EXPECT_EQ(engine->slots, kRuns * kSlots);
  }
}

TEST(Engine, OfASimulationDecidesWhatItsWorkersTake) {
  const ProgramImage image = two_tiles();
  const auto cycles_with = [&](std::uint64_t slots) {
    Simulation sim(image, {.make_engine = [&](TileId, Engine&) {
                     return std::make_unique<KnowingEngine>(slots);
                   }});
    EXPECT_EQ(sim.run().kind, StopKind::kEnd);
    EXPECT_EQ(sim.tile(TileId{1}).word(kData), 0U);
    return sim.totals().compute.value();
  };
  Simulation interpreted(image);
  EXPECT_EQ(interpreted.run().kind, StopKind::kEnd);
  EXPECT_EQ(interpreted.tile(TileId{1}).word(kData), 7U);
  EXPECT_EQ(cycles_with(kSlots), interpreted.totals().compute.value());
  EXPECT_EQ(cycles_with(kSlots + 1),
            interpreted.totals().compute.value() + 2 * image.machine.issue_period());
}

}  // namespace
}  // namespace superstep
