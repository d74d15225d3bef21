#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/row_encoder.h"
#include "isa/exchange_ports.h"
#include "isa/fabric.h"
#include "isa/machine_config.h"
#include "isa/timing.h"
#include "sim/run_image.h"
#include "tests/machine_values.h"
#include "tests/sim/programs.h"
#include "tests/tile_run.h"

// Each key of a machine file by what it does to machine code, as its law says.

namespace superstep {
namespace {

using testing::key_values;
using testing::kVariedMachine;
using testing::machine_of;
using testing::number_of;

std::uint64_t in_cycles(const MachineConfig& machine, std::uint64_t nanoseconds) {
  const auto product = static_cast<unsigned __int128>(nanoseconds) * machine.tile.clock_hz;
  return static_cast<std::uint64_t>((product + 999'999'999) / 1'000'000'000);
}

/// A codelet with each instruction that has a cost of its own, on all workers of a tile.
std::uint64_t cycles_of_workers(const MachineConfig& machine) {
  testing::TileRun run(machine);
  run.load(testing::kCodelet,
           "f32exp $a0, $a1\n f32ln $a0, $a1\n f16v2exp $a0, $a1\n f16v2ln $a0, $a1\n"
           "f32tanh $a0, $a1\n f32sigm $a0, $a1\n f16v2tanh $a0, $a1\n f16v2sigm $a0, $a1\n"
           "f32div $a0, $a1, $a2\n f32oox $a0, $a1\n f32oorx $a0, $a1\n f32sqrt $a0, $a1\n"
           "f32sisov2amp $a0:1, $a2, $a4:5, TAMP_F32_E4_P0\n exitz $mzero");
  const TileStop stop = run.supervise(std::string("bri 1f\n1: ") + testing::kRunAllWorkers);
  EXPECT_EQ(stop.kind, TileStop::Kind::kSync) << run.cause();
  return stop.cycle;
}

void expect_workers_as(const MachineConfig& machine) {
  const MachineConfig::Costs& costs = machine.costs;
  const std::uint64_t slots = costs.f32exp + costs.f32ln + costs.f16v2exp + costs.f16v2ln +
                              costs.f32tanh + costs.f32sigm + costs.f16v2tanh + costs.f16v2sigm +
                              costs.f32div + costs.f32oox + costs.f32oorx + costs.f32sqrt +
                              16 / machine.tile.amp_units + 1;
  const std::uint64_t period = std::max(machine.tile.workers, machine.tile.pipeline_depth);
  // Both addresses are set in the two cycles after the branch.
  const std::uint64_t issue = costs.taken_branch + 1 + costs.result_latency;
  EXPECT_EQ(cycles_of_workers(machine),
            issue + costs.runall + machine.tile.workers - 1 + slots * period + 1);
}

/// What each tile receives from the host, and sends to it.
constexpr std::uint32_t kTileBytes = 2000;

/// A program on the first and the last tile: a visit to the host, in which each tile receives 2,000
/// bytes, three barriers of which the last two are internal, and another visit, in which each tile
/// sends 2,000 bytes.
std::uint64_t cycles_of_barriers(const MachineConfig& machine) {
  ProgramImage image;
  image.machine = machine;
  std::vector<StreamPiece> received, sent;
  constexpr std::uint32_t kReceived = kData + 0x1000;
  for (const std::uint32_t tile : {0U, machine.tiles() - 1}) {
    const bool is_wide = machine.isa.encoding == Encoding::kWide;
    const std::uint32_t host = is_wide ? kMuxHost : kMk2MuxHost;
    const std::uint32_t idle = is_wide ? kMuxIdle : kMk2MuxIdle;
    add_program(image, tile,
                fmt::format("setzi $m0, {}\n setzi $m1, {}\n setzi $m2, {}\n delay 100\n sync 4\n"
                            "put 0xa0, $m0\n sync 4\n put 0xa0, $m1\n"
                            "delay 10\n sync 3\n delay 10\n sync 3\n delay 10\n sync 4\n"
                            "put 0xa0, $m0\n put 0xa7, $m2\n sendoff 51, 7, 0, 3\n put 0xa0, $m1\n"
                            "sync 4\n delay 10\n sync 4\n",
                            host, idle, kData / 4));
    const std::vector<StreamBox> boxes = {{0, kTileBytes * sent.size(), kTileBytes}};
    received.push_back({TileId{tile}, kReceived, kTileBytes, boxes});
    sent.push_back({TileId{tile}, kData, kTileBytes, boxes});
  }
  const TensorType type{DType::kU32, {2 * kTileBytes / 4}};
  image.streams = {{Stream::Kind::kArgument, 0, type, received},
                   {Stream::Kind::kResult, 0, type, sent}};
  image.arguments = image.results = {type};
  image.alias = {std::nullopt};
  image.first.arguments = {0};
  image.last.results = {1};
  const RunResult result = run_image(image, {HostTensor(type)}, {});
  EXPECT_FALSE(result.trap) << result.trap->text();
  const RunTotals& totals = result.totals;
  return (totals.exchange + totals.compute + totals.sync + totals.host).value();
}

/// From the release of a tile to its first word and to its sync, in the visit in which it sends; in
/// the one in which it receives, to its sync and until its mux selects the host.
constexpr std::uint64_t kFirstWord = 2, kSendCycles = 503, kReceiveCycles = 1, kListening = 2;

/// Cycles of so many nanoseconds, rounded up.
std::uint64_t whole_cycles(const MachineConfig& machine, double nanoseconds) {
  return static_cast<std::uint64_t>(
      std::ceil(nanoseconds * static_cast<double>(machine.tile.clock_hz) / 1e9 - 1e-6));
}

/// A packet that can go from a cycle of its visit on.
struct Packet {
  std::uint64_t ready, bytes;
};

/// From the opening of a visit to the end of its last packet.
std::uint64_t last_end(const MachineConfig& machine, std::vector<Packet> packets) {
  const MachineConfig::Host& host = machine.host;
  const auto latency = static_cast<double>(host.phase_latency_ns);
  for (Packet& packet : packets)
    packet.ready = std::max(packet.ready, whole_cycles(machine, latency));
  std::ranges::stable_sort(packets, {}, &Packet::ready);
  // Of each link: when it is free, and when places in it are.
  std::vector<double> free(host.links, latency);
  std::vector<std::vector<double>> places(host.links);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::size_t link = i % host.links, on_link = i / host.links;
    double& time = free[link];
    if (packets[i].ready > whole_cycles(machine, latency)) {
      time = std::max(time, static_cast<double>(packets[i].ready) * 1e9 /
                                static_cast<double>(machine.tile.clock_hz));
    }
    if (on_link >= host.packets_in_flight) {
      time = std::max(time, places[link][on_link - host.packets_in_flight]);
    }
    time += host.packet_overhead_ns + static_cast<double>(packets[i].bytes) * 1e9 /
                                          static_cast<double>(host.bytes_per_second);
    places[link].push_back(time + latency);
  }
  return whole_cycles(machine, std::ranges::max(free));
}

/// The same, of the visit in which the tiles receive.
std::uint64_t received_by_law(const MachineConfig& machine,
                              const std::vector<std::uint64_t>& skews) {
  std::vector<Packet> packets;
  for (std::size_t tile = 0; tile < skews.size(); ++tile) {
    for (std::uint64_t left = kTileBytes; left > 0; left -= packets.back().bytes) {
      packets.push_back({std::ranges::max(skews) + kListening,
                         std::min<std::uint64_t>(left, machine.host.to_tile_packet_bytes)});
    }
  }
  return last_end(machine, packets);
}

/// The same, of the visit in which they send.
std::uint64_t sent_by_law(const MachineConfig& machine, const std::vector<std::uint64_t>& skews) {
  std::vector<Packet> packets;
  for (const std::uint64_t skew : skews) {
    for (std::uint64_t sent = 0; sent < kTileBytes;) {
      const std::uint64_t bytes =
          std::min<std::uint64_t>(kTileBytes - sent, machine.host.to_host_packet_bytes);
      sent += bytes;
      packets.push_back({skew + kFirstWord + sent / 4, bytes});
    }
  }
  return last_end(machine, packets);
}

std::uint64_t barriers_by_law(const MachineConfig& machine) {
  const std::uint64_t external = in_cycles(machine, machine.sync.external_latency_ns);
  std::uint64_t doublings = 0;
  while ((std::uint64_t{1} << doublings) < machine.tiles()) ++doublings;
  const std::uint64_t internal =
      machine.sync.internal_latency + doublings * machine.sync.per_doubling;
  std::vector<std::uint64_t> skew_of;
  for (const std::uint32_t tile : {0U, machine.tiles() - 1}) {
    const TilePlace place = place_of(machine, TileId{tile});
    const bool is_east = place.column >= std::max(machine.grid.columns / 2, 1U);
    const std::vector<std::uint32_t>& skews = machine.sync.column_skew;
    const std::size_t entry =
        is_east ? skews.size() - (machine.grid.columns - place.column) : place.column;
    skew_of.push_back(place.row * machine.sync.skew_per_row + skews[entry]);
  }
  const std::uint64_t skew = std::ranges::max(skew_of);
  // The second sync of a visit opens when the host is done, and the tiles have synced.
  const std::uint64_t first =
      std::max(received_by_law(machine, skew_of), skew + kReceiveCycles + external);
  const std::uint64_t second =
      std::max(sent_by_law(machine, skew_of), skew + kSendCycles + external);
  return 2 * external + first + second + 2 * internal + 4 * skew;
}

void expect_barriers_as(const MachineConfig& machine) {
  const MachineConfig base = load_machine(kVariedMachine);
  EXPECT_EQ(cycles_of_barriers(machine) - cycles_of_barriers(base),
            barriers_by_law(machine) - barriers_by_law(base));
}

/// Supersteps of a program on one tile that takes two values of a feed, by callbacks or ready.
std::vector<std::uint64_t> supersteps_of_feeds(const MachineConfig& machine, bool by_callback) {
  class Lengths : public Observer {
   public:
    void on_superstep(const SuperstepRecord& record) override {
      cycles.push_back((record.end - record.begin).value());
    }
    std::vector<std::uint64_t> cycles;
  };
  ProgramImage image;
  image.machine = machine;
  const bool is_wide = machine.isa.encoding == Encoding::kWide;
  const std::string visit = "sync 4\n put 0xa0, $m0\n delay 10\n sync 4\n";
  add_program(image, 0,
              fmt::format("setzi $m0, {}\n", is_wide ? kMuxHost : kMk2MuxHost) + visit +
                  "delay 4000\n" + visit + "sync 4\n");
  const TensorType type{DType::kU32, {1}};
  image.streams = {{Stream::Kind::kInfeed, 0, type, {{TileId{0}, kData, 4, {{0, 0, 4}}}}}};
  image.visits = {{kCode + 4, {{}, {0}}}, {kCode + 24, {{}, {0}}}};
  Simulation simulation(image);
  Lengths lengths;
  simulation.observe(lengths);
  for (int i = 0; i < 2 && !by_callback; ++i) simulation.feed(0, HostTensor(type));
  if (by_callback) simulation.connect_infeed(0, [](std::span<std::byte>) { return true; });
  const Stop stop = simulation.run();
  EXPECT_EQ(stop.kind, StopKind::kEnd) << (stop.trap ? stop.trap->text() : "");
  return lengths.cycles;
}

/// The host comes when its callback is done: it begins when the tiles wait, or, if values are made
/// ahead, at the end of the visit before.
void expect_callbacks_as(const MachineConfig& machine) {
  const std::vector<std::uint64_t> ready = supersteps_of_feeds(machine, false);
  const std::vector<std::uint64_t> called = supersteps_of_feeds(machine, true);
  ASSERT_EQ(ready.size(), 4U);
  ASSERT_EQ(called.size(), 4U);
  const std::uint64_t external = in_cycles(machine, machine.sync.external_latency_ns);
  const std::uint64_t latency = in_cycles(machine, machine.host.callback_latency_ns);
  const std::uint64_t first = ready[0] - external, second = ready[2] - external;
  EXPECT_EQ(called[0], first + std::max(external, latency));
  EXPECT_EQ(called[2], machine.host.prefetch == 0 ? second + std::max(external, latency)
                                                  : std::max(second + external, latency));
}

/// The law of the crossbar, from docs/timing.md.
std::uint64_t crossbar_latency(const MachineConfig& machine, const TilePlace& from,
                               const TilePlace& to) {
  const MachineConfig::Exchange& law = machine.exchange;
  const std::uint64_t rows = std::uint64_t{from.row + to.row} * law.per_row_latency;
  const auto is_east = [&](const TilePlace& p) { return p.column >= machine.grid.columns / 2; };
  const auto from_edge = [&](const TilePlace& p) {
    return is_east(p) ? machine.grid.columns - 1 - p.column : p.column;
  };
  if (from.column == to.column) return rows + law.same_column_latency;
  if (is_east(from) == is_east(to)) {
    const std::uint32_t apart = std::max(from.column, to.column) - std::min(from.column, to.column);
    return rows + law.same_side_latency + std::uint64_t{apart} * law.per_column_latency;
  }
  const std::uint32_t east = from_edge(is_east(from) ? from : to);
  const std::uint32_t west = from_edge(is_east(from) ? to : from);
  return east >= west ? rows + law.cross_east_latency +
                            std::uint64_t{east - west} * law.cross_east_per_column
                      : rows + law.cross_west_latency +
                            std::uint64_t{west - east} * law.cross_west_per_column;
}

std::uint64_t latency_by_law(const MachineConfig& machine, TileId source, TileId destination) {
  const TilePlace from = place_of(machine, source), to = place_of(machine, destination);
  const MachineConfig::Exchange& law = machine.exchange;
  const auto apart = [](std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; };
  const std::uint32_t lanes = machine.grid.lanes,
                      numbers = apart(index(source), index(destination));
  switch (law.fabric) {
    case FabricKind::kTable:
      return (from.row + to.row) * law.per_row_latency +
             law.table[from.column * machine.grid.columns + to.column];
    case FabricKind::kMesh:
      return law.port_latency +
             std::uint64_t{law.hop_latency} *
                 (apart(from.row, to.row) +
                  apart(from.column * lanes + from.lane, to.column * lanes + to.lane));
    case FabricKind::kRing:
      return law.port_latency +
             std::uint64_t{law.hop_latency} * std::min(numbers, machine.tiles() - numbers);
    case FabricKind::kCrossbar:
      break;
  }
  return crossbar_latency(machine, from, to);
}

/// One word from one tile to another, whose mux opens for the cycle in which the law has it arrive:
/// in any other the fabric traps.
void expect_arrival_as(const MachineConfig& machine) {
  const std::uint32_t last = machine.tiles() - 1;
  const std::uint32_t tiles[] = {0, last / 5, last / 3, last / 2, 2 * last / 3, last};
  for (const std::uint32_t source : tiles) {
    for (const std::uint32_t destination : tiles) {
      if (source == destination) continue;
      const std::uint64_t latency = latency_by_law(machine, TileId{source}, TileId{destination});
      const std::uint64_t from = release_skew(machine, TileId{source}).value();
      const std::uint64_t to = release_skew(machine, TileId{destination}).value();
      constexpr std::uint64_t kWait = 20'000;
      ProgramImage image;
      image.machine = machine;
      const std::vector<std::uint32_t> send =
          encode_row(machine, 3, std::vector<RowSend>{{kWait, kData, 1}}, {});
      const std::vector<std::uint32_t> receive =
          encode_row(machine, 3, {},
                     std::vector<RowReceive>{{kWait + from + latency - to, source, kData + 64, 1}});
      const auto add = [&](std::uint32_t tile, const std::vector<std::uint32_t>& row) {
        std::string text;
        for (const std::uint32_t word : row) text += fmt::format(".int {:#x}\n", word);
        add_program(image, tile, text + "sync 4\n");
      };
      add(std::min(source, destination), source < destination ? send : receive);
      add(std::max(source, destination), source < destination ? receive : send);
      const RunResult result = run_image(image, {}, {});
      EXPECT_FALSE(result.trap) << result.trap->text();
    }
  }
}

/// The cause of a trap of a codelet on one worker, or `none`.
std::string cause_of(const MachineConfig& machine, const std::string& codelet) {
  testing::TileRun run(machine);
  run.work_alone(codelet + "\n exitz $mzero");
  return run.cause();
}

void expect_memory_as(const MachineConfig& machine) {
  const auto load = [&](std::uint32_t address, const char* what) {
    return cause_of(machine, fmt::format("ldconst $m0, {:#x}\n {} $m0, 0", address, what));
  };
  const std::uint32_t end = machine.tile.memory_base + machine.tile.memory_bytes;
  EXPECT_EQ(load(end - 4, "ld32 $m1,"), "none");
  const auto no_memory = [](std::uint32_t address) {
    return fmt::format("an address outside the tile's memory, {:#x}", address);
  };
  EXPECT_EQ(load(end, "ld32 $m1,"), no_memory(end));
  EXPECT_EQ(load(machine.tile.memory_base, "ld32 $m1,"), "none");
  EXPECT_EQ(load(machine.tile.memory_base - 4, "ld32 $m1,"),
            no_memory(machine.tile.memory_base - 4));
  const std::uint32_t region1 = machine.tile.region1_base;
  const std::uint32_t region2 = end - machine.tile.region2_bytes;
  const auto outside = [](std::uint32_t address) {
    return fmt::format("a 128-bit access outside the interleaved region, {:#x}", address);
  };
  if (region1 < region2) {
    EXPECT_EQ(load(region1, "ld128 $a0:3,"), "none");
    EXPECT_EQ(load(region2 - 16, "ld128 $a0:3,"), "none");
  }
  EXPECT_EQ(load(region1 - 16, "ld128 $a0:3,"), outside(region1 - 16));
  if (region2 < end) {
    EXPECT_EQ(load(region2, "ld128 $a0:3,"), outside(region2));
    EXPECT_EQ(load(end - 16, "ld128 $a0:3,"), outside(end - 16));
  }
}

/// What two loads of one instruction take at two addresses: worker cycles, or 0 when they trap.
std::uint64_t cycles_of_loads(const MachineConfig& machine, std::uint32_t a, std::uint32_t b) {
  testing::TileRun run(machine);
  run.work_alone(
      fmt::format("ldconst $m0, {:#x}\n ldconst $m1, {:#x}\n"
                  "tapack $m2:3, $m0, $m1, $mzero\n"
                  "ld2x64pace $a0:1, $a2:3, $m2:3+=, $mzero, 0\n exitz $mzero",
                  a, b));
  return run.tile().fault()
             ? 0
             : run.tile().worker_instructions().all + run.tile().worker_busy_cycles();
}

/// Two loads of one instruction in the interleaved region.
void expect_banks_as(const MachineConfig& machine) {
  const auto cycles = [&](std::uint32_t apart) {
    const std::uint32_t at = machine.tile.region1_base;
    return cycles_of_loads(machine, at, at + apart);
  };
  const std::uint32_t pair = 2 * machine.tile.element_bytes;
  const std::uint64_t free = cycles(8);
  EXPECT_GT(free, 0U);
  EXPECT_EQ(cycles(pair + 8), free);
  EXPECT_EQ(cycles(pair), free);
  const bool stalls = machine.tile.bank_conflicts == BankConflicts::kStall;
  EXPECT_EQ(cycles(pair - 16), stalls ? free + machine.issue_period() : 0);
}

/// A tile has one region, two or three: the first is executable, the second interleaved.
void expect_regions_as(const MachineConfig& machine) {
  expect_memory_as(machine);
  const auto run_at = [&](std::uint32_t address) {
    return cause_of(machine, fmt::format("ldconst $m0, {:#x}\n br $m0", address));
  };
  const std::uint32_t end = machine.tile.memory_base + machine.tile.memory_bytes;
  const std::uint32_t element = machine.tile.element_bytes;
  const std::uint32_t region1 = machine.tile.region1_base;
  const std::uint32_t region2 = end - machine.tile.region2_bytes;
  for (const std::uint32_t address : {region1, region2, end - 4}) {
    EXPECT_EQ(run_at(address), fmt::format("execution at {:#x}, which is not executable", address));
  }
  if (region1 < region2) expect_banks_as(machine);
  const std::uint64_t free = cycles_of_loads(machine, region1 - element, region2);
  EXPECT_GT(free, 0U);
  EXPECT_EQ(cycles_of_loads(machine, region2, region2 + 8), 0U);
  EXPECT_EQ(cycles_of_loads(machine, region2, region2 + element - 8), 0U);
  EXPECT_EQ(cycles_of_loads(machine, region2, region2 + element), free);
  EXPECT_EQ(cycles_of_loads(machine, region2 - 8, region2), free);
}

/// A send of 1,000 words takes one instruction of the longest send, and another.
void expect_sends_as(const MachineConfig& machine) {
  const std::vector<std::uint32_t> row =
      encode_row(machine, 3, std::vector<RowSend>{{0, kData, 1000}}, {});
  EXPECT_EQ(row[1] >> 21 & 0x3f, machine.exchange.max_send_words - 1);
  expect_arrival_as(machine);
}

/// Cycles in which so many words that follow each other cross the exchange.
std::uint64_t cycles_of_words(const MachineConfig& machine, std::uint64_t words) {
  const std::uint64_t width = machine.exchange.width_bytes;
  return width < 4 ? words * (4 / width) : (words * 4 + width - 1) / width;
}

/// Tile 0 sends seven words to tile 63, whose mux is open from the cycle in which they begin to
/// arrive, for so many cycles.
struct Sent {
  std::optional<Trap> trap;
  std::vector<std::uint32_t> words;  ///< that tile 63 has, and one more
};
Sent send_seven(const MachineConfig& machine, std::uint64_t open_cycles) {
  constexpr std::uint32_t kWords = 7, kWait = 10'000;
  const TileId from{0}, to{machine.tiles() - 1};
  const std::uint64_t arrival = kWait + release_skew(machine, from).value() +
                                latency_by_law(machine, from, to) -
                                release_skew(machine, to).value();
  ProgramImage image;
  image.machine = machine;
  add_program(image, index(from),
              fmt::format("sync 3\n delay {}\n send {}, {:#x}, 3\n sync 3\n sync 4\n", kWait - 1,
                          kWords - 1, kData / 4));
  // The pointer is set in cycle 5 of the row, the mux after it.
  add_program(image, index(to),
              fmt::format("sync 3\n delaypic 5, 0, {:#x}\n delay {}\n delayxpic 0, 0, 0\n"
                          "delayxpic {}, 0, {:#x}\n sync 3\n sync 4\n",
                          (kData + 64) / 4, arrival - 7, open_cycles - 1, kMk2MuxIdle));
  Segment data{{from}, kData, {}};
  for (std::uint32_t byte = 0; byte < 4 * kWords; ++byte)
    data.bytes.push_back(static_cast<std::uint8_t>(byte % 4 == 0 ? byte / 4 + 1 : 0));
  image.segments.push_back(data);
  Simulation simulation(image);
  Sent sent;
  const Stop stop = simulation.run();
  sent.trap = stop.trap;
  for (std::uint32_t word = 0; word <= kWords && !stop.trap; ++word)
    sent.words.push_back(simulation.tile(to).word(kData + 64 + 4 * word));
  return sent;
}

/// Words move as many a cycle, or in as many cycles each, as the width says: a mux that is open for
/// just that long receives them, one that is open an item less or more does not.
void expect_width_as(const MachineConfig& machine) {
  const std::uint64_t cycles = cycles_of_words(machine, 7);
  const std::uint32_t item = std::max(4 / machine.exchange.width_bytes, 1U);
  const std::uint32_t words = std::max(machine.exchange.width_bytes / 4, 1U);
  const auto first_words = [&](std::uint32_t count) {
    std::vector<std::uint32_t> expected(8);
    for (std::uint32_t word = 0; word < count; ++word) expected[word] = word + 1;
    return expected;
  };
  EXPECT_EQ(send_seven(machine, cycles).words, first_words(7));
  const auto whole = static_cast<std::uint32_t>(cycles / item - 1) * words;
  EXPECT_EQ(send_seven(machine, cycles - item).words, first_words(whole));
  const Sent longer = send_seven(machine, cycles + item);
  ASSERT_TRUE(longer.trap);
  EXPECT_NE(longer.trap->text().find("but no word of it arrives"), std::string::npos)
      << longer.trap->text();

  // A send takes its tile as long.
  const auto cycles_of_row = [&](std::uint32_t sent) {
    ProgramImage image;
    image.machine = machine;
    add_program(image, 0,
                fmt::format("sync 3\n send {}, {:#x}, 3\n sync 4\n", sent - 1, kData / 4));
    const RunTotals totals = run_image(image, {}, {}).totals;
    return (totals.exchange + totals.compute + totals.sync).value();
  };
  for (const std::uint32_t sent : {2U, 3U, 7U, 8U, 64U})
    EXPECT_EQ(cycles_of_row(sent) - cycles_of_row(1),
              cycles_of_words(machine, sent) - cycles_of_words(machine, 1));
}

/// What is fetched ahead of exchange code must not lie in the element that is sent from.
void expect_fetch_as(const MachineConfig& machine) {
  for (const std::uint32_t ahead : {0U, 32U, 64U, 512U, 1024U}) {
    ProgramImage image;
    image.machine = machine;
    const std::uint32_t boundary = machine.tile.memory_base + machine.tile.element_bytes;
    // The last exchange instruction ends so many bytes before the boundary.
    const std::uint32_t row = boundary - ahead - 16;
    const std::vector<std::uint32_t> words =
        encode_row(machine, 3, std::vector<RowSend>{{1, boundary, 2}}, {});
    std::string text = fmt::format("bri {:#x}\n .fill {}, 4, 0x19e00000\n", row,
                                   (row - machine.tile.memory_base) / 4 - 1);
    for (const std::uint32_t word : words) text += fmt::format(".int {:#x}\n", word);
    add_program(image, 0, text + "sync 4\n");
    const RunResult result = run_image(image, {}, {});
    const std::uint32_t last = row + 4 * (static_cast<std::uint32_t>(words.size()) - 1);
    EXPECT_EQ(result.trap.has_value(), last + machine.tile.fetch_ahead_bytes - 4 >= boundary)
        << ahead << (result.trap ? result.trap->text() : "");
  }
}

/// What a key does to machine code: checks a machine.
using Law = void (*)(const MachineConfig&);

const std::map<std::string, Law>& laws() {
  static const std::map<std::string, Law> kLaws = {
      {"isa.encoding", expect_sends_as},
      {"grid.rows", expect_arrival_as},
      {"grid.columns", expect_arrival_as},
      {"grid.lanes", expect_arrival_as},
      {"grid.spares", expect_arrival_as},
      {"tile.workers", expect_workers_as},
      {"tile.pipeline_depth", expect_workers_as},
      {"tile.clock", expect_barriers_as},
      {"tile.memory_base", expect_memory_as},
      {"tile.memory", expect_memory_as},
      {"tile.region1_base", expect_memory_as},
      {"tile.region2", expect_regions_as},
      {"tile.element", expect_banks_as},
      {"tile.bank_conflicts", expect_banks_as},
      {"tile.fetch_ahead", expect_fetch_as},
      {"tile.amp_units", expect_workers_as},
      {"costs.f32exp", expect_workers_as},
      {"costs.f32ln", expect_workers_as},
      {"costs.f16v2exp", expect_workers_as},
      {"costs.f16v2ln", expect_workers_as},
      {"costs.f32tanh", expect_workers_as},
      {"costs.f32sigm", expect_workers_as},
      {"costs.f16v2tanh", expect_workers_as},
      {"costs.f16v2sigm", expect_workers_as},
      {"costs.f32div", expect_workers_as},
      {"costs.f32oox", expect_workers_as},
      {"costs.f32oorx", expect_workers_as},
      {"costs.f32sqrt", expect_workers_as},
      {"costs.taken_branch", expect_workers_as},
      {"costs.result_latency", expect_workers_as},
      {"costs.runall", expect_workers_as},
      {"exchange.fabric", expect_arrival_as},
      {"exchange.port_latency", expect_arrival_as},
      {"exchange.hop_latency", expect_arrival_as},
      {"exchange.table", expect_arrival_as},
      {"exchange.same_column_latency", expect_arrival_as},
      {"exchange.same_side_latency", expect_arrival_as},
      {"exchange.per_column_latency", expect_arrival_as},
      {"exchange.cross_east_latency", expect_arrival_as},
      {"exchange.cross_east_per_column", expect_arrival_as},
      {"exchange.cross_west_latency", expect_arrival_as},
      {"exchange.cross_west_per_column", expect_arrival_as},
      {"exchange.per_row_latency", expect_arrival_as},
      {"exchange.width", expect_width_as},
      {"exchange.max_send_words", expect_sends_as},
      {"sync.internal_latency", expect_barriers_as},
      {"sync.per_doubling", expect_barriers_as},
      {"sync.external_latency", expect_barriers_as},
      {"sync.skew_per_row", expect_barriers_as},
      {"sync.column_skew", expect_barriers_as},
      {"host.bandwidth", expect_barriers_as},
      {"host.packet_overhead", expect_barriers_as},
      {"host.phase_latency", expect_barriers_as},
      {"host.to_tile_packet", expect_barriers_as},
      {"host.to_host_packet", expect_barriers_as},
      {"host.links", expect_barriers_as},
      {"host.packets_in_flight", expect_barriers_as},
      {"host.callback_latency", expect_callbacks_as},
      {"host.prefetch", expect_callbacks_as},
  };
  return kLaws;
}

TEST(MachineKeys, EachHasALaw) {
  for (const ConfigKey& key : config_keys(load_machine(kVariedMachine))) {
    EXPECT_TRUE(laws().contains(key.key) && key_values().contains(key.key))
        << key.key << " is read by no law of this test";
  }
  EXPECT_EQ(laws().size(), config_keys(load_machine(kVariedMachine)).size());
}

TEST(MachineKeys, EachNumberIsVariedUpAndDown) {
  const MachineConfig base = load_machine(kVariedMachine);
  const std::vector<ConfigNumber> numbers = config_numbers(base);
  for (const ConfigKey& key : config_keys(base)) {
    const auto before = std::ranges::find(numbers, key.key, &ConfigNumber::key);
    if (key.unit == Unit::kName || before == numbers.end()) continue;  // a name or a list
    // The machine code of tests begins where the base has its memory.
    const bool is_bound = key.key == "tile.memory_base" || before->value >= key.highest;
    bool has_less = before->value <= key.lowest, has_more = is_bound;
    for (const std::string& value : key_values().at(key.key).values) {
      const double number = number_of(machine_of(key.key, value), key.key);
      has_less |= number < static_cast<double>(before->value);
      has_more |= number > static_cast<double>(before->value);
    }
    EXPECT_TRUE(has_less) << key.key;
    EXPECT_TRUE(has_more) << key.key;
  }
}

TEST(MachineKeys, MoveTheCyclesOfMachineCodeByTheirLaw) {
  for (const auto& [key, law] : laws()) {
    for (const std::string& value : key_values().at(key).values) {
      SCOPED_TRACE(key + "=" + value);
      law(machine_of(key, value));
    }
  }
}

TEST(MachineKeys, LatenciesAreExactAtTheFastestClock) {
  const MachineConfig fastest =
      load_machine(kVariedMachine, {"tile.clock=100 GHz", "sync.external_latency=500 ms",
                                    "host.phase_latency=700 ms", "host.callback_latency=900 ms"});
  expect_barriers_as(fastest);
  expect_callbacks_as(fastest);
}

}  // namespace
}  // namespace superstep
