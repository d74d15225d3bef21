#pragma once

#include <cstdint>
#include <string>

#include "isa/exchange_ports.h"
#include "isa/machine_config.h"

namespace superstep {

/// Input muxes name tiles and, from kMuxHost on, what is no tile.
constexpr std::uint32_t kMostTiles = kMuxHost;
/// Pointers of the exchange have 18 bits of words, addresses in tile code 20 bits.
constexpr std::uint32_t kMemoryLimit = 0x100000;

constexpr const char* kWhyMostTiles = "the numbers from there on name the host in exchange muxes";
constexpr const char* kWhyMemoryLimit =
    "pointers of the exchange have 18 bits of words, addresses in tile code 20 bits";

/// What the key table says of a key besides its field.
struct Key {
  const char* name;
  Unit unit;
  const char* help;
  std::uint64_t lowest, highest;
  std::uint64_t multiple_of = 1;
  const char* why_highest = "";
  Scope scope = Scope::kCompile;

  [[nodiscard]] bool has_two_values() const { return highest - lowest == multiple_of; }
};

/// What a key allows: `1 to 8`, `8 or 16`, `"4 B" to "1 KiB", multiples of "4 B"`.
[[nodiscard]] std::string range_text(const Key& key);

/// The key table, in the order of the file: calls `visit(Key, field)` for each.
template <class Machine, class Visit>
void for_each_key(Machine& m, Visit&& visit) {
  using enum Unit;
  visit(Key{"grid.rows", kCount, "rows of tiles", 1, kMostTiles, 1, kWhyMostTiles}, m.grid.rows);
  visit(Key{"grid.columns", kCount, "columns; half on each side of the exchange spine", 1, 64},
        m.grid.columns);
  visit(Key{"grid.lanes", kCount, "tiles at one row and column", 1, 4}, m.grid.lanes);
  visit(Key{"tile.workers", kCount, "worker contexts of one tile", 1, 8, 1,
            "a worker's number has 3 bits"},
        m.tile.workers);
  visit(Key{"tile.clock", kHertz, "tile clock", 1'000'000, 100'000'000'000}, m.tile.clock_hz);
  visit(Key{"tile.memory_base", kAddress, "first address of tile memory", 0x4000, 0xf0000, 64},
        m.tile.memory_base);
  visit(Key{"tile.memory", kBytes, "memory of one tile", 0x8000, kMemoryLimit - 0x4000, 64,
            kWhyMemoryLimit},
        m.tile.memory_bytes);
  visit(Key{"tile.region1_base", kAddress,
            "first address of the interleaved region; below it memory is executable", 0x4000,
            kMemoryLimit, 64, kWhyMemoryLimit},
        m.tile.region1_base);
  visit(Key{"tile.element", kBytes, "one single-ported memory element", 0x400, 0x40000},
        m.tile.element_bytes);
  visit(Key{"tile.fetch_ahead", kBytes, "look-ahead of instruction fetch", 0, 1024},
        m.tile.fetch_ahead_bytes);
  visit(Key{"tile.amp_units", kCount,
            "output channels of one matrix instruction; matrix instructions are simulated for 16, "
            "so that "
            "products do without them on a machine of 8",
            8, 16, 8},
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
  visit(Key{"exchange.same_column_latency", kCycles, "base latency within a column", 1, 4096},
        m.exchange.same_column_latency);
  visit(Key{"exchange.same_side_latency", kCycles, "base latency between columns of one side", 1,
            4096},
        m.exchange.same_side_latency);
  visit(Key{"exchange.per_column_latency", kCycles, "per column of distance on one side", 0, 4096},
        m.exchange.per_column_latency);
  visit(Key{"exchange.cross_east_latency", kCycles,
            "base latency across the spine, eastward offset >= 0", 1, 4096},
        m.exchange.cross_east_latency);
  visit(Key{"exchange.cross_east_per_column", kCycles, "per column of that offset", 0, 4096},
        m.exchange.cross_east_per_column);
  visit(Key{"exchange.cross_west_latency", kCycles, "base latency across the spine, offset < 0", 1,
            4096},
        m.exchange.cross_west_latency);
  visit(Key{"exchange.cross_west_per_column", kCycles, "per column of that offset", 0, 4096},
        m.exchange.cross_west_per_column);
  visit(Key{"exchange.per_row_latency", kCycles, "per row, at each end", 0, 4096},
        m.exchange.per_row_latency);
  visit(Key{"exchange.max_send_words", kCount, "words of one short send instruction", 1, 64},
        m.exchange.max_send_words);
  visit(Key{"sync.internal_latency", kCycles, "last arrival to the opening of an internal barrier",
            1, 1'000'000},
        m.sync.internal_latency);
  visit(Key{"sync.external_latency", kNanoseconds,
            "last arrival to the opening of an external barrier", 0, 1'000'000'000},
        m.sync.external_latency_ns);
  visit(Key{"sync.skew_per_row", kCycles, "release skew of each row", 0, 4096},
        m.sync.skew_per_row);
  visit(
      Key{"sync.column_skew", kCycles,
          "release skew of each column; a machine with fewer columns takes entries from both ends",
          0, 4096},
      m.sync.column_skew);
  visit(Key{"host.bandwidth", kBytesPerSecond, "host link, each direction", 1'000'000,
            10'000'000'000'000, 1, "", Scope::kRun},
        m.host.bytes_per_second);
  visit(
      Key{"host.packet_overhead", kNanoseconds, "per packet", 0, 1'000'000'000, 1, "", Scope::kRun},
      m.host.packet_overhead_ns);
  visit(Key{"host.phase_latency", kNanoseconds, "per host phase", 0, 1'000'000'000, 1, "",
            Scope::kRun},
        m.host.phase_latency_ns);
  visit(Key{"host.to_tile_packet", kBytes, "largest packet, host to tile", 4, 1024, 4, "",
            Scope::kRun},
        m.host.to_tile_packet_bytes);
  visit(Key{"host.to_host_packet", kBytes, "largest packet, tile to host", 4, 256, 4, "",
            Scope::kRun},
        m.host.to_host_packet_bytes);
  visit(Key{"host.callback_latency", kNanoseconds, "each callback of a stream", 0, 1'000'000'000},
        m.host.callback_latency_ns);
  visit(Key{"host.prefetch", kCount, "values of a stream that callbacks make ahead", 0, 64},
        m.host.prefetch);
}

}  // namespace superstep
