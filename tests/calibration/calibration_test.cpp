// What was measured on chips beside what the simulator takes for the same: lines of
// docs/validation.md. Kernels of PopLibs are in tests/poplibs/hardware_test.cpp.

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/schedule/schedule.h"
#include "toolchain/assembler.h"
#include "isa/timing.h"
#include "sim/simulation.h"
#include "tests/calibration/point.h"
#include "tests/exchange/row_decoder.h"
#include "tests/gc200.h"
#include "tests/sim/programs.h"
#include "tests/tile_places.h"
#include "tools/codelet_run.h"

namespace superstep {
namespace {

using test::calibration_point;
using test::CalibrationPoint;
using test::expect_on_page;

TEST(Calibration, V03LatenciesByColumnAreThoseThatTheLawWasFittedTo) {
  // osmarks/ipu-stack crates/ipu-target/src/topology.rs: half round trips of the C600.
  constexpr std::array<std::uint64_t, 15> kMeasured = {35, 41, 47, 53, 59, 65, 71, 91,
                                                       84, 77, 70, 63, 56, 49, 42};
  const MachineConfig machine = load_machine("c600");
  for (std::uint32_t column = 1; column < 16; ++column) {
    EXPECT_EQ(exchange_latency(machine, TileId{0}, top_of(machine, column)).value(),
              kMeasured.at(column - 1))
        << "column " << column;
  }
  expect_on_page(
      {.id = "V03",
       .what = "latency of a word from column 0 to columns 1 to 15, row 0, cycles",
       .chip = "C600",
       .measured = "35 to 91 (formula)",
       .ours = "the same",
       .residual = "0",
       .role = CalibrationPoint::Role::kFit,
       .tolerance = "1 cycle",
       .is_met = true,
       .cause = "four of the law's seven numbers were chosen by these 15, three by other pairs"});
}

TEST(Calibration, V05APhaseCostsBarrierSkewAndItsCalls) {
  // osmarks/ipu-stack, phase A2: from the last tile's entry to the last exit, less the events of
  // the schedule.
  constexpr double kMeasured = 237;
  constexpr std::uint64_t kEvents = 100;
  ProgramImage image;
  image.machine = load_machine("c600");
  std::uint32_t last = 0;  // the last one to leave a barrier
  for (std::uint32_t t = 0; t < image.machine.tiles(); ++t) {
    const Cycles skew = release_skew(image.machine, TileId{t});
    if (skew > release_skew(image.machine, TileId{last})) last = t;
  }
  for (const std::uint32_t tile : {0U, last}) {
    add_program(image, tile,
                fmt::format("get $m1, $COUNT_L\n call $lr, 1f\n get $m2, $COUNT_L\n sync 3\n"
                            "1: sync 3\n delay {}\n br $lr\n",
                            kEvents - 1));
  }
  Simulation simulation(image);
  simulation.step_superstep();
  ASSERT_EQ(simulation.step_superstep().kind, StopKind::kSuperstep);
  std::uint64_t entry = 0, exit = 0;
  for (const std::uint32_t tile : {0U, last}) {
    const TileView view = simulation.tile(TileId{tile});
    entry = std::max<std::uint64_t>(entry, view.supervisor_register(1));
    exit = std::max<std::uint64_t>(exit, view.supervisor_register(2));
  }
  const std::uint64_t ours = exit - entry - kEvents;
  // Reading the counter and the sync issue in a cycle each.
  const MachineConfig& machine = image.machine;
  EXPECT_EQ(ours, 1 + machine.costs.taken_branch + barrier_latency(machine).value() +
                      release_skew(machine, TileId{last}).value() + machine.costs.taken_branch);
  expect_on_page(calibration_point("V05", "an exchange phase beyond its schedule, cycles", "C600",
                                   kMeasured, static_cast<double>(ours), 5,
                                   "machine: our barrier, skew and calls do not add up to it, and "
                                   "what is missing is not known"));
}

/// a = b + s c, in f32, on all workers of a tile: the bytes of a cycle, in trips of two elements.
double triad_bytes_a_cycle(const std::string& loop) {
  constexpr std::uint32_t kCodelet = 0x4d000, kState = 0x50000;
  constexpr std::uint32_t kA = 0x60000, kB = 0x68000, kC = 0x70000;
  constexpr std::uint32_t kWorkers = 6, kBytesATrip = 24;
  const std::string text = fmt::format(
      ".align 8\n"
      "get $m0, $WSR\n and $m0, $m0, 7\n ld32 $m1, $mvertex_base, $mzero, 0\n"
      "mul $m2, $m0, $m1\n shl $m2, $m2, 3\n"
      "ld32 $m3, $mvertex_base, $mzero, 1\n add $m3, $m3, $m2\n"
      "ld32 $m4, $mvertex_base, $mzero, 2\n add $m4, $m4, $m2\n"
      "ld32 $m5, $mvertex_base, $mzero, 3\n add $m5, $m5, $m2\n"
      "ld32 $a8, $mvertex_base, $mzero, 4\n ld64step $a2:3, $mzero, $m4+=, 1\n nop\n"
      "{{ ld64step $a0:1, $mzero, $m3+=, 1 ; f32v2mul $a6:7, $a8:B, $a2:3 }}\n"
      "{}\n exitz $mzero\n",
      loop);
  const auto cycles_of = [&](std::uint32_t trips) {
    CodeletRun run(gc200());
    const auto put = [&](std::uint32_t address, const auto& values) {
      EXPECT_TRUE(run.write(address, std::as_bytes(std::span(values))));
    };
    put(kCodelet, assemble(text, "triad.S").words_at(kCodelet));
    std::vector<float> b, c;
    for (std::uint32_t i = 0; i < 2 * kWorkers * trips; ++i) {
      b.push_back(static_cast<float>(i));
      c.push_back(static_cast<float>(2 * i + 1));
    }
    put(kB, b);
    put(kC, c);
    constexpr float kS = 3;
    put(kState, std::array{trips, kB, kC, kA, std::bit_cast<std::uint32_t>(kS)});
    const CodeletCost cost = run.call(CodeletKind::kMultiVertex, kCodelet, kState);
    EXPECT_FALSE(run.fault()) << run.fault()->cause;
    std::vector<float> a(b.size());
    EXPECT_TRUE(run.read(kA, std::as_writable_bytes(std::span(a))));
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], b[i] + kS * c[i]);
    return cost.cycles;
  };
  constexpr std::uint32_t kTrips = 64;
  return static_cast<double>(kBytesATrip * kWorkers * kTrips) /
         static_cast<double>(cycles_of(2 * kTrips) - cycles_of(kTrips));
}

TEST(Calibration, V13TriadTakesItsSlots) {
  // Louw and McIntosh-Smith: 12,420 GB/s on 1,216 tiles at 1.6 GHz, by hand-written assembly that
  // is not published.
  constexpr double kMeasured = 6.38;
  const std::string body =
      "{ ld64step $a2:3, $mzero, $m4+=, 1 ; f32v2add $a4:5, $a0:1, $a6:7 }\n"
      "{ ld64step $a0:1, $mzero, $m3+=, 1 ; f32v2mul $a6:7, $a8:B, $a2:3 }\n"
      "{ st64step $a4:5, $mzero, $m5+=, 1 ; fnop }\n";
  expect_on_page(calibration_point(
      "V13", "STREAM triad in f32, 64-bit accesses and a branch, B a cycle of a tile", "GC2",
      kMeasured, triad_bytes_a_cycle("add $m1, $m1, -1\n nop\n1:\n" + body + "brnzdec $m1, 1b"), 5,
      "neither: the measured code is not published, and lies between the two loops"));
  expect_on_page(calibration_point("V13", "the same in a repeat block", "GC2", kMeasured,
                                   triad_bytes_a_cycle("nop\n rpt $m1, 2\n" + body), 5, "neither"));
}

TEST(Calibration, V19FourMulticastsFollowEachOtherWithoutTheMuxsLead) {
  // osmarks/ipu-stack: a program of the SDK, of 52 words each, to a tile of row 1.
  constexpr std::array<std::uint64_t, 4> kMux = {2, 54, 106, 158};
  constexpr std::array<std::uint64_t, 4> kPointer = {56, 108, 160, 212};
  constexpr std::uint32_t kWords = 52;
  const MachineConfig machine = load_machine("c600");
  const std::vector<TileId> tiles = {TileId{0}, TileId{2}, TileId{3},
                                     TileId{4}, TileId{6}, TileId{8}};
  std::vector<Transfer> transfers;
  for (const std::uint32_t source : {0U, 4U, 6U, 8U}) {
    const std::uint32_t to = 0x60000 + 0x1000 * source;
    transfers.push_back({{TileId{source}, 0x50000}, {{TileId{2}, to}, {TileId{3}, to}}, kWords});
  }
  const ExchangePhase phase = schedule_exchange(machine, transfers, tiles);
  const auto row = std::ranges::find(phase.rows, TileId{2}, &ExchangeRow::tile);
  ASSERT_EQ(place_of(machine, TileId{2}).row, 1U);
  std::vector<std::uint64_t> mux, pointer;
  for (const PortEvent& event : test::RowDecoder(0).run(row->code)) {
    if (event.kind == PortEvent::Kind::kMux) mux.push_back(event.cycle);
    if (event.kind == PortEvent::Kind::kPointer) pointer.push_back(event.cycle);
  }
  ASSERT_GE(mux.size(), 4U);
  ASSERT_GE(pointer.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(mux[i] - mux[0], kMux.at(i) - kMux[0]);
    EXPECT_EQ(pointer[i] - pointer[0], kPointer.at(i) - kPointer[0]);
  }
  const auto difference = [](std::uint64_t ours, std::uint64_t chips) {
    return static_cast<std::int64_t>(ours) - static_cast<std::int64_t>(chips);
  };
  const std::int64_t step_off = difference(mux[1] - mux[0], kMux[1] - kMux[0]);
  const std::int64_t lead_off = difference(pointer[0] - mux[0], kPointer[0] - kMux[0]);
  expect_on_page(
      {.id = "V19",
       .what = "four multicasts of 52 words to row 1: from one to the next; from the "
               "mux's event to the pointer's",
       .chip = "C600",
       .measured = fmt::format("{}; {} (program)", kMux[1] - kMux[0], kPointer[0] - kMux[0]),
       .ours = fmt::format("{}; {}", mux[1] - mux[0], pointer[0] - mux[0]),
       .residual = fmt::format("{}; {:+} cycles", step_off, lead_off),
       .tolerance = "exact",
       .is_met = step_off == 0 && lead_off == 0,
       .cause = "machine: its mux acts when a word arrives, without the chip's lead"});
}

TEST(Calibration, V21AProductOfTheCompilerTakesLongerThanTheVendors) {
  // graphcore-research's PopSparse notebook: 197.7 Tflop/s.
  constexpr double kMeasured = 321'500;
  const Module module = import_stablehlo(
      "module @gemm {\n"
      "  func.func public @main(%arg0: tensor<4096x4096xf16>, %arg1: tensor<4096x1024xf16>)"
      " -> tensor<4096x1024xf16> {\n"
      "    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]"
      " : (tensor<4096x4096xf16>, tensor<4096x1024xf16>) -> tensor<4096x1024xf16>\n"
      "    return %0 : tensor<4096x1024xf16>\n  }\n}\n",
      "gemm.mlir");
  Simulation simulation(compile(module, load_machine("bow")), {.threads = 2});
  for (std::uint32_t k = 0; k < 2; ++k) {
    simulation.set_argument(k, HostTensor(simulation.image().arguments[k]));
  }
  ASSERT_EQ(simulation.call(true).kind, StopKind::kEnd);
  const RunTotals& totals = simulation.totals();
  const auto device = static_cast<double>((totals.cycles - totals.host).value());
  // Each unit of the AMP does four products of f16 a cycle.
  const MachineConfig& bow = simulation.image().machine;
  const auto peak =
      static_cast<std::uint64_t>(4096.0 * 4096 * 1024 / (4.0 * bow.tile.amp_units * bow.tiles()));
  expect_on_page(calibration_point(
      "V21", "f16 product 4096 x 4096 x 1024, f16 partials on the chip, device cycles", "Bow",
      kMeasured, device, 15,
      fmt::format(
          "compiler: a kernel at the machine's rate (V01) needs {},{:03} cycles at its peak",
          peak / 1000, peak % 1000)));
  test::expect_line(fmt::format("- **V21.** Of our device cycles {:.0f} % are compute.",
                                100 * static_cast<double>(totals.compute.value()) / device));
}

TEST(Calibration, V27AStreamCopyTakesWhatTheHostsLatencyWasChosenBy) {
  // graphcore/tutorials, the first copy of the profile, which is of control: begin, middle and end.
  constexpr double kMeasured = 155 + 1513 + 87;
  ProgramImage image = image_of(1);
  image.machine = load_machine("gc200");
  const TensorType word{DType::kU32, {1}};
  image.streams = {{Stream::Kind::kArgument, 0, word, {{TileId{0}, kData, 4, {{0, 0, 4}}}}}};
  image.arguments = {word};
  image.first.arguments = {0};
  add_program(image, 0, "sync 4\n delayxpic 0, 0, 0x600\n sync 4\n sync 3\n");
  const std::uint32_t behind_visit = kCode + 4 * 4;
  Simulation simulation(image);
  simulation.set_argument(0, HostTensor(word));
  simulation.begin_call();
  while (simulation.tile(TileId{0}).supervisor_pc() != behind_visit) {
    ASSERT_EQ(simulation.step_superstep().kind, StopKind::kSuperstep);
  }
  // From its arrival, in the first cycle, to the sync behind the visit.
  const Cycles ours =
      simulation.totals().sync + simulation.totals().host - barrier_latency(image.machine);
  CalibrationPoint point = calibration_point(
      "V27", "a stream copy of control (ours of 4 B), its three parts together, cycles", "GC200",
      kMeasured, static_cast<double>(ours.value()), 20, "`host.phase_latency` was chosen by it");
  point.role = CalibrationPoint::Role::kFit;
  expect_on_page(point);
}

}  // namespace
}  // namespace superstep
