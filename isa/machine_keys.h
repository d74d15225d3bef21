#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/machine_config.h"
#include "isa/machine_limits.h"

namespace superstep {

constexpr EncodingLimits kWidest = limits_of(Encoding::kWide);

/// What the key table says of a key besides its field.
struct Key {
  const char* name;
  Unit unit;
  const char* help;
  std::uint64_t lowest, highest;
  std::uint64_t multiple_of = 1;
  std::vector<std::uint64_t> only = {};  ///< nothing else; all in the range when empty
  std::vector<const char*> names = {};   ///< of kName, by number
  bool is_law_of_grid = false;           ///< fitted on the places of one machine
  Scope scope = Scope::kCompile;
  std::vector<FabricKind> fabrics = {};  ///< that read it; all when empty

  [[nodiscard]] bool allows(std::uint64_t value) const;
};

/// Whether a machine reads a key: fabrics of other kinds have keys of their own.
[[nodiscard]] bool reads_key(const MachineConfig& machine, std::string_view name);

/// What a key allows: `1 to 8`, `8 or 16`, `"4 B" to "1 KiB", multiples of "4 B"`.
[[nodiscard]] std::string range_text(const Key& key);
/// The same of a key with several numbers.
[[nodiscard]] std::string list_text(const Key& key);

[[nodiscard]] inline Key law_of_grid(Key key) {
  key.is_law_of_grid = true;
  return key;
}

/// A key that other fabrics than these do not read.
[[nodiscard]] inline Key of_fabrics(std::vector<FabricKind> fabrics, Key key) {
  key.fabrics = std::move(fabrics);
  return key;
}

/// A key that the compiler does not read.
[[nodiscard]] inline Key of_run(Key key) {
  key.scope = Scope::kRun;
  return key;
}

/// A key whose value is one of some names.
[[nodiscard]] inline Key named(const char* name, const char* help, std::vector<const char*> names) {
  const std::size_t most = names.size() - 1;
  return {.name = name,
          .unit = Unit::kName,
          .help = help,
          .lowest = 0,
          .highest = most,
          .only = {},
          .names = std::move(names)};
}

/// Not in the table: it stands for `grid.rows` and `grid.spares`, which a machine is written with.
[[nodiscard]] inline Key tiles_key() {
  return {"grid.tiles", Unit::kCount, "sets grid.rows and grid.spares to those of so many tiles", 1,
          kWidest.tiles};
}

/// `config_keys` with `grid.tiles`, which a file may set in place of rows and spares.
[[nodiscard]] std::vector<ConfigKey> file_keys(const MachineConfig& machine);

/// The key table, in the order of the file: calls `visit(Key, field)` for each.
template <class Machine, class Visit>
void for_each_key(Machine& m, Visit&& visit) {
  using enum Unit;
  visit(named("isa.encoding", "words of the exchange; a machine beyond mk2 gets wide by itself",
              {"mk2", "wide"}),
        m.isa.encoding);
  visit(Key{"grid.rows", kCount, "rows of tiles", 1, kWidest.tiles}, m.grid.rows);
  visit(Key{"grid.columns", kCount, "columns; half on each side of the exchange spine", 1, 64},
        m.grid.columns);
  visit(Key{"grid.lanes", kCount, "tiles at one row and column", 1, 4}, m.grid.lanes);
  visit(Key{"grid.spares", kCount, "places without a tile, the last ones", 0, kWidest.tiles},
        m.grid.spares);
  visit(Key{"tile.workers", kCount, "worker contexts of one tile", 1, kMostWorkers},
        m.tile.workers);
  visit(
      Key{"tile.pipeline_depth", kCycles,
          "least from an instruction of a worker to its next: workers issue every `workers` or so "
          "many cycles, whichever is more",
          1, 64},
      m.tile.pipeline_depth);
  visit(Key{"tile.clock", kHertz, "tile clock", 1'000'000, 100'000'000'000}, m.tile.clock_hz);
  visit(Key{"tile.memory_base", kAddress, "first address of tile memory", 0x4000,
            kWidest.memory_end - 0x8000, 64},
        m.tile.memory_base);
  visit(Key{"tile.memory", kBytes, "memory of one tile", 0x8000, kWidest.memory_end - 0x4000, 64},
        m.tile.memory_bytes);
  visit(Key{"tile.region1_base", kAddress,
            "first address of the interleaved region; below it memory is executable", 0x4000,
            kWidest.memory_end, 64},
        m.tile.region1_base);
  visit(Key{"tile.region2", kBytes,
            "the end of tile memory that is a third region, neither interleaved nor executable", 0,
            kWidest.memory_end - 0x4000, 64},
        m.tile.region2_bytes);
  visit(Key{"tile.element", kBytes, "one single-ported memory element", 0x400, 0x40000},
        m.tile.element_bytes);
  visit(named("tile.bank_conflicts",
              "two accesses of one worker instruction to one memory element: a trap, or one more "
              "slot for each",
              {"trap", "stall"}),
        m.tile.bank_conflicts);
  visit(Key{"tile.fetch_ahead", kBytes, "look-ahead of instruction fetch", 0, 1024},
        m.tile.fetch_ahead_bytes);
  visit(Key{.name = "tile.amp_units",
            .unit = kCount,
            .help = "units of the matrix pipe; a matrix instruction takes 16 / units worker slots, "
                    "and without units it is a trap",
            .lowest = 0,
            .highest = MachineConfig::kAmpChannels,
            .only = {0, 4, 8, 16}},
        m.tile.amp_units);
  visit(Key{"costs.f32exp", kCount, "worker slots", 1, 64}, m.costs.f32exp);
  visit(Key{"costs.f32ln", kCount, "worker slots", 1, 64}, m.costs.f32ln);
  visit(Key{"costs.f16v2exp", kCount, "worker slots", 1, 64}, m.costs.f16v2exp);
  visit(Key{"costs.f16v2ln", kCount, "worker slots", 1, 64}, m.costs.f16v2ln);
  visit(Key{"costs.f32tanh", kCount, "worker slots", 1, 64}, m.costs.f32tanh);
  visit(Key{"costs.f32sigm", kCount, "worker slots", 1, 64}, m.costs.f32sigm);
  visit(Key{"costs.f16v2tanh", kCount, "worker slots", 1, 64}, m.costs.f16v2tanh);
  visit(Key{"costs.f16v2sigm", kCount, "worker slots", 1, 64}, m.costs.f16v2sigm);
  visit(Key{"costs.f32div", kCount, "worker slots", 1, 64}, m.costs.f32div);
  visit(Key{"costs.f32oox", kCount, "worker slots", 1, 64}, m.costs.f32oox);
  visit(Key{"costs.f32oorx", kCount, "worker slots", 1, 64}, m.costs.f32oorx);
  visit(Key{"costs.f32sqrt", kCount, "worker slots", 1, 64}, m.costs.f32sqrt);
  visit(Key{"costs.taken_branch", kCycles, "supervisor", 1, 64}, m.costs.taken_branch);
  visit(Key{"costs.result_latency", kCycles, "supervisor, until a result can be used", 1, 64},
        m.costs.result_latency);
  visit(Key{"costs.runall", kCycles, "supervisor", 1, 64}, m.costs.runall);
  visit(
      named("exchange.fabric",
            "crossbar: latency by the law of the keys below; table: by column; mesh: by row, then "
            "column, over links between neighbours; ring: the shorter way in order of the tiles",
            {"crossbar", "table", "mesh", "ring"}),
      m.exchange.fabric);
  const auto of_links = [](Key key) {
    return of_fabrics({FabricKind::kMesh, FabricKind::kRing}, std::move(key));
  };
  const auto of_crossbar = [](Key key) {
    return of_fabrics({FabricKind::kCrossbar}, law_of_grid(std::move(key)));
  };
  visit(of_links(Key{"exchange.port_latency", kCycles, "mesh and ring: besides the hops", 1, 4096}),
        m.exchange.port_latency);
  visit(of_links(Key{"exchange.hop_latency", kCycles, "mesh and ring: over each link", 1, 4096}),
        m.exchange.hop_latency);
  visit(of_fabrics({FabricKind::kTable},
                   Key{"exchange.table", kCycles,
                       "table: base latency from column to column, those from the first column "
                       "first",
                       1, 4096}),
        m.exchange.table);
  visit(of_crossbar(
            Key{"exchange.same_column_latency", kCycles, "base latency within a column", 1, 4096}),
        m.exchange.same_column_latency);
  visit(of_crossbar(Key{"exchange.same_side_latency", kCycles,
                        "base latency between columns of one side", 1, 4096}),
        m.exchange.same_side_latency);
  visit(of_crossbar(Key{"exchange.per_column_latency", kCycles,
                        "per column of distance on one side", 0, 4096}),
        m.exchange.per_column_latency);
  visit(of_crossbar(Key{"exchange.cross_east_latency", kCycles,
                        "base latency across the spine, eastward offset >= 0", 1, 4096}),
        m.exchange.cross_east_latency);
  visit(of_crossbar(
            Key{"exchange.cross_east_per_column", kCycles, "per column of that offset", 0, 4096}),
        m.exchange.cross_east_per_column);
  visit(of_crossbar(Key{"exchange.cross_west_latency", kCycles,
                        "base latency across the spine, offset < 0", 1, 4096}),
        m.exchange.cross_west_latency);
  visit(of_crossbar(
            Key{"exchange.cross_west_per_column", kCycles, "per column of that offset", 0, 4096}),
        m.exchange.cross_west_per_column);
  visit(of_fabrics(
            {FabricKind::kCrossbar, FabricKind::kTable},
            law_of_grid(Key{"exchange.per_row_latency", kCycles, "per row, at each end", 0, 4096})),
        m.exchange.per_row_latency);
  visit(Key{.name = "exchange.width",
            .unit = kBytes,
            .help = "what a tile sends, and what it receives, in a cycle; words move whole: below "
                    "4 B each takes 4 / width cycles",
            .lowest = 1,
            .highest = 16,
            .only = {1, 2, 4, 8, 16}},
        m.exchange.width_bytes);
  visit(Key{"exchange.max_send_words", kCount,
            "words of the longest short send that the compiler writes, at most 32 with wide; the "
            "simulator takes any that the encoding has",
            1, 64},
        m.exchange.max_send_words);
  visit(law_of_grid(Key{"sync.internal_latency", kCycles,
                        "last arrival to the opening of an internal barrier", 1, 1'000'000}),
        m.sync.internal_latency);
  visit(Key{"sync.per_doubling", kCycles, "more for each doubling of the number of tiles", 0, 4096},
        m.sync.per_doubling);
  visit(Key{"sync.external_latency", kNanoseconds,
            "last arrival to the opening of an external barrier", 0, 1'000'000'000},
        m.sync.external_latency_ns);
  visit(law_of_grid(Key{"sync.skew_per_row", kCycles, "release skew of each row", 0, 4096}),
        m.sync.skew_per_row);
  visit(
      law_of_grid(Key{
          "sync.column_skew", kCycles,
          "release skew of each column; a machine with fewer columns takes entries from both ends",
          0, 4096}),
      m.sync.column_skew);
  visit(of_run(Key{"host.bandwidth", kBytesPerSecond, "each link, in each direction", 1'000'000,
                   10'000'000'000'000}),
        m.host.bytes_per_second);
  visit(of_run(Key{"host.packet_overhead", kNanoseconds, "per packet", 0, 1'000'000'000}),
        m.host.packet_overhead_ns);
  visit(of_run(Key{"host.phase_latency", kNanoseconds, "per host phase", 0, 1'000'000'000}),
        m.host.phase_latency_ns);
  visit(of_run(Key{"host.to_tile_packet", kBytes, "largest packet, host to tile", 4, 1024, 4}),
        m.host.to_tile_packet_bytes);
  visit(of_run(Key{"host.to_host_packet", kBytes, "largest packet, tile to host", 4, 256, 4}),
        m.host.to_host_packet_bytes);
  visit(of_run(Key{"host.links", kCount, "links side by side, to which packets are dealt in turn",
                   1, 64}),
        m.host.links);
  visit(of_run(Key{"host.packets_in_flight", kCount,
                   "packets of a link and direction that may be on their way; the room of one is "
                   "free again a phase latency after it has arrived",
                   1, 65'536}),
        m.host.packets_in_flight);
  visit(of_run(Key{"host.callback_latency", kNanoseconds, "each callback of a stream", 0,
                   1'000'000'000}),
        m.host.callback_latency_ns);
  visit(of_run(Key{"host.prefetch", kCount, "values of a stream that callbacks make ahead", 0, 64}),
        m.host.prefetch);
}

}  // namespace superstep
