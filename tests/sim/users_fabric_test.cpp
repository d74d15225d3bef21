// A simulation whose fabric is its user's.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.h"
#include "isa/timing.h"
#include "sim/exchange/fabric.h"
#include "tests/gc200.h"
#include "tests/sim/call_programs.h"

namespace superstep {
namespace {

/// A fabric that counts the phases that it is given.
class CountingFabric : public FabricModel {
 public:
  CountingFabric(const MachineConfig& machine, int& phases) : fabric_(machine), phases_(phases) {}
  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    ++phases_;
    return fabric_.resolve(ports);
  }

 private:
  Fabric fabric_;
  int& phases_;
};

TEST(UsersFabric, RunsOnAFabricOfItsUser) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n delay 30\n send 1, 0x20000, 3\n sync 4\n");
  add_program(image, 1, "sync 3\n sync 4\n");
  int phases = 0;
  Simulation sim(image, {.make_fabric = [&](const MachineConfig& machine) {
                   return std::make_unique<CountingFabric>(machine, phases);
                 }});
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(phases, 1);
}

/// Moves words itself, by what the ports are told.
class WordFabric : public FabricModel {
 public:
  explicit WordFabric(const MachineConfig& machine) : machine_(machine) {}

  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    result_ = {};
    result_.ports.resize(ports.size());
    for (std::size_t to = 0; to < ports.size(); ++to) receive(ports, to);
    return result_;
  }

 private:
  void receive(std::span<const FabricPort> ports, std::size_t to) {
    std::uint32_t pointer = 0;
    std::optional<std::uint32_t> source;
    std::uint64_t cycle = 0;
    const auto listen_until = [&](std::uint64_t end) {
      for (; source && cycle < end; ++cycle, pointer += 4) {
        std::memcpy(&ports[to].memory[pointer - machine_.tile.memory_base],
                    word_from(ports, *source, ports[to].tile, cycle), 4);
        result_.bytes += 4;
      }
      cycle = end;
    };
    for (const PortEvent& event : ports[to].events()) {
      result_.ports[to].last_event =
          event.cycle + (event.kind == PortEvent::Kind::kSend ? event.words - 1 : 0);
      if (event.kind == PortEvent::Kind::kSend) continue;
      listen_until(event.cycle);
      if (event.kind == PortEvent::Kind::kPointer) pointer = event.value;
      const bool is_tile = event.value < machine_.tiles();
      if (event.kind == PortEvent::Kind::kMux) {
        source = is_tile ? std::optional(event.value) : std::nullopt;
      }
    }
  }

  /// The word that arrives from a tile in a cycle.
  const std::byte* word_from(std::span<const FabricPort> ports, std::uint32_t source, TileId to,
                             std::uint64_t cycle) {
    const FabricPort& from = *std::ranges::find(ports, TileId{source}, &FabricPort::tile);
    const std::uint64_t sent = cycle - exchange_latency(machine_, from.tile, to).value();
    for (const PortEvent& event : from.events()) {
      const bool has_word = event.kind == PortEvent::Kind::kSend && sent >= event.cycle &&
                            sent < event.cycle + event.words;
      if (!has_word) continue;
      const auto offset = static_cast<std::uint32_t>(sent - event.cycle) * 4;
      return &from.memory[event.value + offset - machine_.tile.memory_base];
    }
    ADD_FAILURE() << "no word arrives in cycle " << cycle;
    return ports[0].memory.data();
  }

  MachineConfig machine_ = gc200();
  FabricResult result_;
};

TEST(UsersFabric, AFabricCanBeMadeOfTheEventsOfPortsAlone) {
  // The exchange is a loop of three trips: what its ports are told comes as rows, too.
  ProgramImage image = image_of(2);
  add_program(image, 0,
              "setzi $m0, 3\nloop:\n sync 3\n send 3, 0x20000, 3\n delay 99\n"
              "add $m0, $m0, -1\n brnz $m0, loop\n sync 4\n");
  add_program(image, 1,
              "setzi $m0, 3\nloop:\n sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n"
              "delayxpic 3, 0, 0x640\n delay 60\n add $m0, $m0, -1\n brnz $m0, loop\n sync 4\n");
  image.segments.push_back({{TileId{0}}, kData, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}});
  Simulation sim(image, {.make_fabric = [](const MachineConfig& machine) {
                   return std::make_unique<WordFabric>(machine);
                 }});
  Simulation expected(image);
  for (std::uint32_t trip = 0; trip < 3; ++trip) {
    for (Simulation* one : {&sim, &expected}) {
      const std::array<std::uint32_t, 1> first = {100 + trip};
      ASSERT_TRUE(one->tile(TileId{0}).write(kData, std::as_bytes(std::span(first))));
      const Stop stop = one->step_superstep();
      ASSERT_NE(stop.kind, StopKind::kTrap) << stop.trap->text();
    }
    EXPECT_EQ(sim.now(), expected.now());
    for (std::uint32_t word = 0; word < 4; ++word) {
      EXPECT_EQ(sim.tile(TileId{1}).word(kData + 4 * word),
                expected.tile(TileId{1}).word(kData + 4 * word));
    }
  }
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
}

TEST(UsersFabric, AFabricOfAMachineThatNobodyFilledInIsRefusedWithWhatItLacks) {
  try {
    const Fabric fabric{MachineConfig{}};
    FAIL() << "a fabric without a port's width";
  } catch (const MalformedInput& error) {
    EXPECT_NE(std::string(error.what()).find("exchange.width"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace superstep
