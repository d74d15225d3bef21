// What programs that embed a simulation may not do: each is an error that says so.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/exchange/fabric.h"
#include "sim/simulation.h"
#include "tests/scratch_folder.h"
#include "tests/sim/call_programs.h"

namespace superstep {
namespace {

/// The message that `act` throws; empty when it throws nothing.
template <class Act>
std::string error_of(const Act& act) {
  try {
    act();
  } catch (const UserError& error) {
    const std::string text = error.what();
    return text.substr(text.starts_with("error: ") ? 7 : 0);
  }
  return "";
}

/// A value of the type of a pair with so many bytes.
HostTensor pair_of_bytes(std::size_t bytes) {
  HostTensor tensor = pair_of(1, 2);
  tensor.data.resize(bytes);
  return tensor;
}

bool give_zeros(std::span<std::byte> bytes) {
  std::ranges::fill(bytes, std::byte{});
  return true;
}

TEST(EmbeddingErrors, AValueHasTheBytesOfItsType) {
  Simulation sim(increments());
  EXPECT_EQ(error_of([&] { sim.set_argument(0, pair_of_bytes(1)); }),
            "arg0 has 1 B, and tensor<2xi32> is 8 B");
  EXPECT_EQ(error_of([&] { sim.set_argument(0, pair_of_bytes(9)); }),
            "arg0 has 9 B, and tensor<2xi32> is 8 B");
  Simulation fed(feeds());
  EXPECT_EQ(error_of([&] { fed.feed(0, pair_of_bytes(4)); }),
            "infeed0 has 4 B, and tensor<2xi32> is 8 B");
  EXPECT_THROW((void)run_image(increments(), {pair_of_bytes(1)}, {}), MalformedInput);
  RunOptions options;
  options.infeeds[0].type = {DType::kI32, {3, 2}};
  EXPECT_THROW((void)run_image(feeds(), {}, options), MalformedInput);
}

/// What a run throws whose host program sends these bytes as this argument.
std::string error_of_sending(std::uint32_t position, std::span<const std::byte> bytes) {
  Simulation sim(increments());
  sim.set_host_program([&](std::uint32_t) {
    sim.send_argument(position, bytes);
    return HostTurn::kLastCall;
  });
  return error_of([&] { (void)sim.run(); });
}

TEST(EmbeddingErrors, AHostProgramSendsArgumentsOfTheProgramAndTheirBytes) {
  const std::array<std::byte, 8> bytes{};
  EXPECT_EQ(error_of_sending(0, bytes), "");
  EXPECT_EQ(error_of_sending(0, std::span(bytes).first(1)),
            "arg0 has 1 B, and tensor<2xi32> is 8 B");
  EXPECT_EQ(error_of_sending(99, bytes), "the program has no arg99; it expects 1 arguments");
}

TEST(EmbeddingErrors, AHostProgramSendsAllArgumentsBeforeTheFirstCall) {
  const std::array<std::byte, 8> bytes{};
  for (const bool sends : {true, false}) {
    Simulation sim(increments());
    sim.set_host_program([&](std::uint32_t call) {
      if (sends && call == 0) sim.send_argument(0, bytes);
      return call == 1 ? HostTurn::kLastCall : HostTurn::kCall;
    });
    const Stop stop = sim.run();
    ASSERT_EQ(stop.kind, sends ? StopKind::kEnd : StopKind::kTrap);
    if (sends) continue;
    EXPECT_EQ(stop.trap->cause, "arg0 was not sent: the first call needs all arguments");
    EXPECT_EQ(stop.trap->context, "host");
    EXPECT_EQ(stop.trap->kind, TrapKind::kHost);
  }
}

TEST(EmbeddingErrors, ACallThatIsRefusedTakesNoArguments) {
  ProgramImage image = increments();
  image.arguments.push_back(image.arguments[0]);  // which nobody reads
  Simulation sim(image);
  sim.set_argument(0, pair_of(1, 2));
  EXPECT_THROW(sim.begin_call(), MalformedInput);
  // The host has nothing of it.
  sim.set_argument(0, pair_of(10, 20));
  sim.set_host_program([](std::uint32_t) { return HostTurn::kLastCall; });
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->cause, "arg0 was not sent: the first call needs all arguments");
}

TEST(EmbeddingErrors, AnArgumentHasAValueOrACallback) {
  Simulation sim(increments());
  sim.set_argument(0, pair_of(1, 2));
  EXPECT_EQ(error_of([&] { sim.connect_argument(0, give_zeros); }),
            "arg0 has a value that was set");
  sim.begin_call();
  EXPECT_EQ(error_of([&] { sim.connect_argument(0, give_zeros); }),
            "arg0 has a value that was set");
  EXPECT_EQ(sim.run().kind, StopKind::kCall);
  EXPECT_EQ(sim.result(0).get<std::int32_t>(0), 2);
  sim.connect_argument(0, give_zeros);
  EXPECT_EQ(sim.call().kind, StopKind::kCall);
  EXPECT_EQ(sim.result(0).get<std::int32_t>(0), 1);
}

TEST(EmbeddingErrors, NoCallbackIsEmpty) {
  Simulation sim(increments());
  EXPECT_EQ(error_of([&] { sim.connect_argument(0, {}); }), "the callback of arg0 is empty");
  EXPECT_EQ(error_of([&] { sim.connect_result(0, {}); }), "the callback of result0 is empty");
  EXPECT_EQ(error_of([&] { sim.set_host_program({}); }), "the host program is empty");
  sim.set_argument(0, pair_of(1, 2));
  EXPECT_EQ(sim.call().kind, StopKind::kCall) << "as if nobody had tried";
  Simulation fed(feeds());
  EXPECT_EQ(error_of([&] { fed.connect_infeed(0, {}); }), "the callback of infeed0 is empty");
  EXPECT_EQ(error_of([&] { fed.connect_outfeed(0, {}); }), "the callback of outfeed0 is empty");
}

/// Gives a result of one port, whoever takes part.
class OnePort : public FabricModel {
 public:
  OnePort() { result_.ports.resize(1); }
  const FabricResult& resolve(std::span<const FabricPort> /*ports*/) override { return result_; }

 private:
  FabricResult result_;
};

TEST(EmbeddingErrors, AFabricIsThereAndHasAResultOfEachPort) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n delay 30\n send 1, 0x20000, 3\n sync 3\n sync 4\n");
  add_program(image, 1, "sync 3\n delaypic 10, 0, 0x20000\n sync 3\n sync 4\n");
  EXPECT_EQ(error_of([&] {
              Simulation sim(image, {.make_fabric = [](const MachineConfig&) { return nullptr; }});
            }),
            "make_fabric gives no fabric");
  const SimulationOptions options = {
      .make_fabric = [](const MachineConfig&) { return std::make_unique<OnePort>(); }};
  Simulation sim(image, options);
  EXPECT_EQ(error_of([&] { (void)sim.run(); }), "the fabric gives results of 1 ports, not 2");
  Simulation looked_into(image, options);
  EXPECT_EQ(error_of([&] { (void)looked_into.run_until({.cycle = Cycles(150)}); }),
            "the fabric gives results of 1 ports, not 2");
}

TEST(EmbeddingErrors, AMachineHasItsKeysInTheirRanges) {
  ProgramImage image = increments();
  image.machine.tile.element_bytes = 0;
  image.machine.host.to_tile_packet_bytes = 0;
  image.machine.grid.rows = 0;
  EXPECT_EQ(error_of([&] { Simulation sim(image); }),
            "grid.rows must be 1 to 8192, found 0\n"
            "error: tile.element must be \"1 KiB\" to \"256 KiB\", found \"0 B\"\n"
            "error: host.to_tile_packet must be \"4 B\" to \"1 KiB\", multiples of \"4 B\", found "
            "\"0 B\"");
}

TEST(EmbeddingErrors, AnEngineIsThere) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 4\n");
  EXPECT_EQ(error_of([&] {
              Simulation sim(image, {.make_engine = [](TileId, Engine&) { return nullptr; }});
            }),
            "make_engine gives no engine");
}

TEST(EmbeddingErrors, AStepOfMoreCyclesThanThereAreGoesToTheEnd) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n delay 30\n sync 3\n sync 4\n");
  Simulation sim(image), expected(image);
  sim.step_superstep();
  ASSERT_GT(sim.now(), Cycles(0));
  EXPECT_EQ(sim.step_cycles(std::numeric_limits<std::uint64_t>::max()).kind, StopKind::kEnd);
  EXPECT_EQ(expected.run().kind, StopKind::kEnd);
  EXPECT_EQ(sim.now(), expected.now());
}

class Throws : public Observer {
  void on_superstep(const SuperstepRecord& /*record*/) override {
    throw std::runtime_error("disk full");
  }
};

TEST(EmbeddingErrors, NothingGoesOnBehindAnException) {
  Throws observer;
  Simulation sim(increments());
  sim.observe(observer);
  sim.set_argument(0, pair_of(1, 2));
  EXPECT_THROW((void)sim.call(), std::runtime_error);
  const std::string broken =
      "an exception left the simulation inside superstep 0: make or load another one";
  EXPECT_EQ(error_of([&] { (void)sim.call(); }), broken);
  EXPECT_EQ(error_of([&] { (void)sim.run(); }), broken);
  EXPECT_EQ(error_of([&] { (void)sim.run_until({.cycle = Cycles(0)}); }), broken);
  EXPECT_EQ(error_of([&] { sim.save(scratch_folder() / "broken.h5"); }), broken);
  EXPECT_EQ(error_of([&] { sim.step_back(1); }), broken);
}

TEST(EmbeddingErrors, PlacesInsideASuperstepNameTheirCycle) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n delay 300\n sync 3\n sync 4\n");
  Simulation sim(image);
  ASSERT_EQ(sim.run_until({.cycle = Cycles(200)}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.place().substr(0, 21), "cycle 200, superstep ");
  sim.step_back(50);
  EXPECT_EQ(sim.place().substr(0, 21), "cycle 150, superstep ");
}

class WatchesAsIssued : public Observer {
 public:
  explicit WatchesAsIssued(std::vector<TileId> tiles) : tiles_(std::move(tiles)) {}
  [[nodiscard]] Watch watch() const override { return {.tiles = tiles_, .as_issued = true}; }

 private:
  std::vector<TileId> tiles_;
};

TEST(EmbeddingErrors, AnObserverSeesTheInstructionsOfOneTileAsTheyIssue) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 4\n");
  add_program(image, 1, "sync 4\n");
  Simulation sim(image);
  WatchesAsIssued both({TileId{0}, TileId{1}});
  EXPECT_EQ(error_of([&] { sim.observe(both); }),
            "as issued an observer sees one tile, not 2: tiles run at the same time");
  WatchesAsIssued one({TileId{1}});
  sim.observe(one);
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
}

constexpr const char* kWhileItRuns =
    "the simulation runs, and a callback or an observer of it may not run, call or change it: do "
    "so when it has stopped";

/// What may not be done with a simulation that runs.
std::vector<std::function<void(Simulation&)>> acts_of_a_run(Observer& observer) {
  return {
      [](Simulation& sim) { (void)sim.run(); },
      [](Simulation& sim) { (void)sim.run_until({.superstep = 100}); },
      [](Simulation& sim) { (void)sim.step_superstep(); },
      [](Simulation& sim) { (void)sim.step_cycles(3); },
      [](Simulation& sim) { sim.step_back(0); },
      [](Simulation& sim) { sim.begin_call(); },
      [](Simulation& sim) { (void)sim.call(true); },
      [](Simulation& sim) { (void)sim.call(std::vector<HostTensor>{}); },
      [](Simulation& sim) { sim.save("nowhere.h5"); },
      [](Simulation& sim) { (void)sim.tile(TileId{0}).write(kData, {}); },
      [&](Simulation& sim) { sim.observe(observer); },
      [](Simulation& sim) { sim.set_host_program([](std::uint32_t) { return HostTurn::kCall; }); },
      [](Simulation& sim) { sim.connect_infeed(0, give_zeros); },
      [](Simulation& sim) { sim.connect_outfeed(0, [](std::span<const std::byte>) {}); },
  };
}

TEST(EmbeddingErrors, ACallbackDoesNotRunCallOrChangeItsSimulation) {
  Observer observer;
  for (const auto& act : acts_of_a_run(observer)) {
    Simulation plain(feeds()), sim(feeds());
    plain.connect_infeed(0, give_zeros);
    int refused = 0;
    sim.connect_infeed(0, [&](std::span<std::byte> value) {
      if (error_of([&] { act(sim); }) == kWhileItRuns) ++refused;
      return give_zeros(value);
    });
    EXPECT_EQ(plain.run().kind, StopKind::kEnd);
    EXPECT_EQ(sim.run().kind, StopKind::kEnd);
    EXPECT_GE(refused, 3);
    EXPECT_EQ(sim.now(), plain.now()) << "as if nothing had been tried";
    EXPECT_EQ(sim.take(0).value().data, pair_of(0, 0).data);
  }
}

TEST(EmbeddingErrors, AnObserverThatRunsItsSimulationIsAnError) {
  struct Runs : Observer {
    void on_superstep(const SuperstepRecord&) override { (void)sim->run(); }
    Simulation* sim = nullptr;
  } observer;
  Simulation sim(increments());
  observer.sim = &sim;
  sim.observe(observer);
  sim.set_argument(0, pair_of(1, 2));
  EXPECT_EQ(error_of([&] { (void)sim.call(true); }), kWhileItRuns);
}

TEST(EmbeddingErrors, ACallbackThatDoesNotCatchThatIsALocatedTrap) {
  Simulation sim(feeds());
  sim.connect_infeed(0, [&](std::span<std::byte>) { return sim.run().kind == StopKind::kEnd; });
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->context, "host");
  EXPECT_NE(stop.trap->cause.find(kWhileItRuns), std::string::npos) << stop.trap->cause;
}

TEST(EmbeddingErrors, ASimulationThatStandsAgainCanBeChanged) {
  Simulation sim(increments());
  sim.set_argument(0, pair_of(1, 2));
  ASSERT_EQ(sim.call().kind, StopKind::kCall);
  const std::uint32_t word = 7;
  EXPECT_TRUE(sim.tile(TileId{0}).write(kData, std::as_bytes(std::span(&word, 1))));
}

TEST(EmbeddingErrors, AnImageIsThere) {
  EXPECT_EQ(error_of([] { Simulation sim(std::shared_ptr<const ProgramImage>{}); }),
            "the image of a simulation is null");
  EXPECT_EQ(error_of([] { (void)Simulation::load("nowhere.h5", nullptr); }),
            "the image of a simulation is null");
}

}  // namespace
}  // namespace superstep
