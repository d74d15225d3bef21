#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "isa/machine_config.h"

// Values of every key of a machine file, for tests that vary them.

namespace superstep::testing {

/// Tests vary keys of this machine.
inline constexpr const char* kVariedMachine = "small64";

/// Which value of a key makes a better machine, for the device cycles of a program.
enum class Better : std::uint8_t {
  kLess,
  kMore,
  kSame,    ///< none: they do not depend on it
  kVisits,  ///< they have the latency of the syncs that begin visits, and do not depend on more
  /// No order of them is known. More tiles or workers share the work, but are farther apart or
  /// issue less often; regions share one memory; the others are no single number.
  kNeither,
};

struct KeyValues {
  std::vector<std::string> values;  ///< up, down and the extremes
  Better better;
};

inline std::string table_text() {
  std::string text = "[20";
  for (int entry = 1; entry < 16; ++entry) text += fmt::format(", {}", 20 + entry * 7 % 40);
  return text + "]";
}

inline const std::map<std::string, KeyValues>& key_values() {
  using enum Better;
  const std::vector<std::string> slots = {"1", "2", "11", "64"};
  const std::vector<std::string> supervisor = {"1 cycle", "2 cycles", "11 cycles", "64 cycles"};
  const std::vector<std::string> latency = {"1 cycle", "16 cycles", "80 cycles", "4096 cycles"};
  const std::vector<std::string> distance = {"0 cycles", "3 cycles", "20 cycles", "4096 cycles"};
  static const std::map<std::string, KeyValues> kValues = {
      {"isa.encoding", {{"mk2", "wide"}, kNeither}},
      {"grid.rows", {{"1", "2", "7", "40"}, kNeither}},
      {"grid.columns", {{"1", "3", "16"}, kNeither}},
      {"grid.lanes", {{"1", "2", "3"}, kNeither}},
      {"grid.spares", {{"1", "7", "15"}, kNeither}},
      {"tile.workers", {{"1", "2", "5", "8", "16"}, kNeither}},
      {"tile.pipeline_depth", {{"1 cycle", "4 cycles", "7 cycles", "64 cycles"}, kLess}},
      {"tile.clock", {{"1 MHz", "0.6 GHz", "3 GHz", "100 GHz"}, kVisits}},
      {"tile.memory_base", {{"0x4000", "0x40000", "0x48000"}, kSame}},
      {"tile.memory", {{"216 KiB", "600 KiB", "720 KiB", "1744 KiB"}, kMore}},
      {"tile.region1_base", {{"0x58000", "0xa0000", "0xe8000", "0xec000"}, kNeither}},
      {"tile.region2", {{"32 KiB", "192 KiB", "416 KiB"}, kLess}},
      {"tile.element", {{"1 KiB", "8 KiB", "32 KiB"}, kLess}},
      {"tile.bank_conflicts", {{"trap", "stall"}, kNeither}},
      {"tile.fetch_ahead", {{"0 B", "32 B", "128 B", "1 KiB"}, kLess}},
      {"tile.amp_units", {{"4", "8"}, kMore}},
      {"costs.f32exp", {slots, kLess}},
      {"costs.f32ln", {slots, kLess}},
      {"costs.f16v2exp", {slots, kLess}},
      {"costs.f16v2ln", {slots, kLess}},
      {"costs.f32tanh", {slots, kLess}},
      {"costs.f32sigm", {slots, kLess}},
      {"costs.f16v2tanh", {slots, kLess}},
      {"costs.f16v2sigm", {slots, kLess}},
      {"costs.f32div", {slots, kLess}},
      {"costs.f32oox", {slots, kLess}},
      {"costs.f32oorx", {slots, kLess}},
      {"costs.f32sqrt", {slots, kLess}},
      {"costs.taken_branch", {supervisor, kLess}},
      {"costs.result_latency", {supervisor, kLess}},
      {"costs.runall", {supervisor, kLess}},
      {"exchange.fabric", {{"crossbar", "mesh", "ring"}, kNeither}},
      {"exchange.port_latency", {latency, kLess}},
      {"exchange.hop_latency", {{"1 cycle", "16 cycles", "200 cycles"}, kLess}},
      {"exchange.table", {{table_text()}, kNeither}},
      {"exchange.same_column_latency", {latency, kLess}},
      {"exchange.same_side_latency", {latency, kLess}},
      {"exchange.per_column_latency", {distance, kLess}},
      {"exchange.cross_east_latency", {latency, kLess}},
      {"exchange.cross_east_per_column", {distance, kLess}},
      {"exchange.cross_west_latency", {latency, kLess}},
      {"exchange.cross_west_per_column", {distance, kLess}},
      {"exchange.per_row_latency", {distance, kLess}},
      {"exchange.width", {{"1 B", "2 B", "8 B", "16 B"}, kMore}},
      {"exchange.max_send_words", {{"1", "7", "63"}, kMore}},
      {"sync.internal_latency", {{"1 cycle", "34 cycles", "500 cycles", "1000000 cycles"}, kLess}},
      {"sync.per_doubling", {{"1 cycle", "50 cycles", "4096 cycles"}, kLess}},
      {"sync.external_latency", {{"0 ns", "1 ns", "3 us", "1000 ms"}, kVisits}},
      {"sync.skew_per_row", {distance, kLess}},
      {"sync.column_skew", {{"[0, 0, 0, 0]", "[0, 8, 40, 90]", "[4096, 0, 0, 4096]"}, kNeither}},
      {"host.bandwidth", {{"1 MB/s", "10 GB/s", "100 GB/s", "10000 GB/s"}, kSame}},
      {"host.packet_overhead", {{"0 ns", "5 ns", "70 ns", "1000 ms"}, kSame}},
      {"host.phase_latency", {{"0 ns", "500 ns", "2 us", "1000 ms"}, kSame}},
      {"host.to_tile_packet", {{"4 B", "64 B"}, kSame}},
      {"host.to_host_packet", {{"4 B", "64 B"}, kSame}},
      {"host.links", {{"1", "2", "3", "64"}, kSame}},
      {"host.packets_in_flight", {{"1", "2", "7", "65536"}, kSame}},
      {"host.callback_latency", {{"0 ns", "1 us", "61 us", "1000 ms"}, kSame}},
      {"host.prefetch", {{"1", "2", "64"}, kSame}},
  };
  return kValues;
}

/// What a key with a value needs besides itself to say something.
inline std::vector<std::string> settings_of(const std::string& key, const std::string& value) {
  const std::map<std::string, std::string> others = {
      {"exchange.port_latency", "exchange.fabric=mesh"},
      {"exchange.hop_latency", "exchange.fabric=ring"},
      {"exchange.table", "exchange.fabric=table"},
      {"tile.region1_base", "tile.memory=640 KiB"},
  };
  if (const auto other = others.find(key); other != others.end()) return {other->second};
  if (key == "tile.memory" && value == "216 KiB") return {"tile.region1_base=0x70000"};
  // Both regions begin with a whole element.
  if (key == "tile.element" && value == "32 KiB") return {"tile.memory_base=0x48000"};
  return {};
}

inline MachineConfig machine_of(const std::string& key, const std::string& value) {
  std::vector<std::string> settings = settings_of(key, value);
  settings.push_back(key + "=" + value);
  return load_machine(kVariedMachine, settings);
}

inline double number_of(const MachineConfig& machine, const std::string& key) {
  for (const ConfigNumber& number : config_numbers(machine))
    if (number.key == key) return static_cast<double>(number.value);
  return 0;
}

}  // namespace superstep::testing
