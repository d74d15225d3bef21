#include <gtest/gtest.h>

#include <fmt/format.h>

#include "isa/registers.h"
#include "isa/sync_zones.h"
#include "sim/simulation.h"
#include "sim/trap.h"
#include "tests/sim/call_programs.h"

namespace superstep {
namespace {

/// How a run ends in which each tile has a program of its own.
std::string kind_of(const std::vector<std::string>& programs, const RunOptions& options = {},
                    std::uint32_t amp_units = 16) {
  ProgramImage image = image_of(static_cast<std::uint32_t>(programs.size()));
  image.machine.tile.amp_units = amp_units;
  for (std::uint32_t t = 0; t < programs.size(); ++t) add_program(image, t, programs[t]);
  const RunResult result = run_image(image, {}, options);
  if (!result.trap) return "none";
  EXPECT_TRUE(result.trap->text().starts_with(name_of(result.trap->kind)));
  return std::string(name_of(result.trap->kind));
}

/// A program that launches `codelet` on all workers.
std::string launch_of(const std::string& codelet) {
  return fmt::format("  setzi $m0, worker\n  runall $m0, $m15, 0\n  sync {}\n.align 8\nworker:\n{}",
                     kZoneLocal, codelet);
}

std::string sync_in(std::uint32_t zone) { return fmt::format("  sync {}\n", zone); }

TEST(TrapKind, OfCodeThatTheMachineDoesNotAllowIsProgram) {
  EXPECT_EQ(kind_of({"  ld32 $m0, $m15, $m15, 0\n"}), "program");
  EXPECT_EQ(kind_of({"  trap 1\n"}), "program");
  EXPECT_EQ(kind_of({"  get $m0, 200\n"}), "program");
  EXPECT_EQ(kind_of({launch_of("  ld32 $m0, $m15, $m15, 0\n")}), "program");
}

TEST(TrapKind, OfARegisterThatOnlyTheChipHasIsUnmodelled) {
  const std::string get = fmt::format("  get $m0, {}\n", isa::kIncomingDelta);
  EXPECT_EQ(kind_of({get}), "unmodelled");
  EXPECT_EQ(kind_of({launch_of(fmt::format("  get $m0, {}\n", isa::kDbgData))}), "unmodelled");
  EXPECT_EQ(kind_of({launch_of("  setzi $a0, 0x40000\n  uput $FP_CTL, $a0\n")}), "unmodelled");
}

TEST(TrapKind, OfAnInstructionForUnitsThatAreNotThereIsMachine) {
  const std::string codelet = "  f32sisov2amp $a0:1, $a2, $a4:5, TAMP_F32_E4_P0\n";
  EXPECT_EQ(kind_of({launch_of(codelet)}, {}, 0), "machine");
}

TEST(TrapKind, OfWorkersThatShareAWordIsRace) {
  const std::string store = "  st32 $a15, $m13, $m15, 1\n  exitz $m15\n";
  EXPECT_EQ(kind_of({launch_of("  setzi $m13, 0x80000\n" + store)}), "race");
}

TEST(TrapKind, OfTilesThatWaitForEachOtherIsDeadlock) {
  EXPECT_EQ(kind_of({sync_in(kZoneInternal), sync_in(kZoneExternal)}), "deadlock");
}

TEST(TrapKind, OfAProgramThatGoesOnForeverIsLimit) {
  RunOptions options;
  options.max_supersteps = 3;
  EXPECT_EQ(kind_of({"again:\n" + sync_in(kZoneInternal) + "  bri again\n"}, options), "limit");
}

TEST(TrapKind, OfAStreamThatTheHostHasNoValueForIsHost) {
  const auto kind_with = [](const StreamSource& source) {
    Simulation simulation(feeds());
    if (source) simulation.connect_infeed(0, source);
    const Stop stop = simulation.run();
    if (!stop.trap) return std::string("none");
    EXPECT_TRUE(stop.trap->text().starts_with("host trap")) << stop.trap->text();
    return std::string(name_of(stop.trap->kind));
  };
  EXPECT_EQ(kind_with(nullptr), "host") << "empty";
  EXPECT_EQ(kind_with([](std::span<std::byte>) { return false; }), "host") << "dry";
  EXPECT_EQ(kind_with([](std::span<std::byte>) -> bool { throw 42; }), "host") << "fails";
  EXPECT_EQ(kind_with([](std::span<std::byte>) { return true; }), "none");
}

}  // namespace
}  // namespace superstep
