#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace superstep {

/// Of a tile; the supervisor has base registers for so many.
inline constexpr std::uint32_t kMostWorkers = 16;

/// The words of the exchange, and how much of a machine they can name: those of Mk2, or our own for
/// machines beyond them (isa/machine_limits.h).
enum class Encoding : std::uint8_t { kMk2, kWide };

/// How the words of an exchange reach other tiles (isa/timing.h): all ways apart with a latency by
/// a law or a table, or over links that they share.
enum class FabricKind : std::uint8_t { kCrossbar, kTable, kMesh, kRing };

/// What accesses of one worker instruction to one memory element are.
enum class BankConflicts : std::uint8_t { kTrap, kStall };

/// A machine as data: everything that the assembler, the compiler and the simulator need to know
/// about it. Its numbers come from a machine file (`load_machine`): one that nobody filled in is no
/// machine.
struct MachineConfig {
  struct Isa {
    Encoding encoding{};

    bool operator==(const Isa&) const = default;
  };
  struct Grid {
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;  ///< the first half lies on one side of the exchange spine
    std::uint32_t lanes = 0;    ///< tiles at one row and column
    std::uint32_t spares = 0;   ///< places without a tile, the last ones

    bool operator==(const Grid&) const = default;
  };
  struct Tile {
    std::uint32_t workers = 0;
    std::uint32_t pipeline_depth = 0;  ///< cycles from an instruction of a worker to its next
    std::uint64_t clock_hz = 0;
    std::uint32_t memory_base = 0;
    std::uint32_t memory_bytes = 0;
    std::uint32_t region1_base = 0;   ///< interleaved from here, not executable
    std::uint32_t region2_bytes = 0;  ///< the last ones: neither
    std::uint32_t element_bytes = 0;
    BankConflicts bank_conflicts{};
    std::uint32_t fetch_ahead_bytes = 0;
    std::uint32_t amp_units = 0;

    bool operator==(const Tile&) const = default;
  };
  /// Worker slots of instructions that take more than one.
  struct Costs {
    std::uint32_t f32exp = 0, f32ln = 0, f16v2exp = 0, f16v2ln = 0, f32tanh = 0, f32sigm = 0,
                  f16v2tanh = 0, f16v2sigm = 0, f32div = 0, f32oox = 0, f32oorx = 0, f32sqrt = 0;
    std::uint32_t taken_branch = 0;    ///< supervisor, cycles
    std::uint32_t result_latency = 0;  ///< supervisor, cycles until a result can be used
    std::uint32_t runall = 0;          ///< supervisor, cycles

    bool operator==(const Costs&) const = default;
  };
  struct Exchange {
    FabricKind fabric{};
    std::uint32_t same_column_latency = 0, same_side_latency = 0, per_column_latency = 0,
                  cross_east_latency = 0, cross_east_per_column = 0, cross_west_latency = 0,
                  cross_west_per_column = 0, per_row_latency = 0;
    std::uint32_t port_latency = 0, hop_latency = 0;  ///< of mesh and ring
    std::vector<std::uint32_t> table;                 ///< from each column to each column
    std::uint32_t width_bytes = 0;                    ///< of a port, each cycle
    std::uint32_t max_send_words = 0;                 ///< of one short send instruction

    bool operator==(const Exchange&) const = default;
  };
  struct Sync {
    std::uint32_t internal_latency = 0;
    std::uint32_t per_doubling = 0;  ///< more for each doubling of the tiles
    std::uint32_t external_latency_ns = 0;
    std::uint32_t skew_per_row = 0;
    std::vector<std::uint32_t> column_skew;

    bool operator==(const Sync&) const = default;
  };
  struct Host {
    std::uint64_t bytes_per_second = 0;  ///< each direction
    std::uint32_t packet_overhead_ns = 0;
    std::uint32_t phase_latency_ns = 0;
    std::uint32_t to_tile_packet_bytes = 0;
    std::uint32_t to_host_packet_bytes = 0;
    std::uint32_t links = 0;              ///< side by side
    std::uint32_t packets_in_flight = 0;  ///< of each link, in each direction
    std::uint32_t callback_latency_ns = 0;
    std::uint32_t prefetch = 0;  ///< values of a stream that callbacks make ahead

    bool operator==(const Host&) const = default;
  };

  std::string name = "unnamed";
  std::string description;
  Isa isa;
  Grid grid;
  Tile tile;
  Costs costs;
  Exchange exchange;
  Sync sync;
  Host host;

  [[nodiscard]] std::uint32_t tiles() const {
    return grid.rows * grid.columns * grid.lanes - grid.spares;
  }
  [[nodiscard]] std::uint32_t memory_end() const { return tile.memory_base + tile.memory_bytes; }
  /// The end of the interleaved region.
  [[nodiscard]] std::uint32_t region2_base() const { return memory_end() - tile.region2_bytes; }
  /// Cycles from a slot of a worker to its next.
  [[nodiscard]] std::uint32_t issue_period() const {
    return std::max(tile.workers, tile.pipeline_depth);
  }
  /// Slots of a matrix instruction, which 16 units execute in one; 0 without units.
  [[nodiscard]] std::uint32_t amp_slots() const {
    return tile.amp_units == 0 ? 0 : kAmpChannels / tile.amp_units;
  }
  static constexpr std::uint32_t kAmpChannels = 16;  ///< of a matrix instruction, at most

  bool operator==(const MachineConfig&) const = default;
};

/// What a key of a machine file is measured in.
enum class Unit : std::uint8_t {
  kCount,
  kBytes,
  kAddress,
  kHertz,
  kNanoseconds,
  kBytesPerSecond,
  kCycles,
  kName  ///< one of a few names
};

/// Until when a key can change: a compiled program keeps the machine that it was compiled for.
enum class Scope : std::uint8_t {
  kCompile,  ///< compiler and simulator go by it
  kRun,      ///< the simulator alone
};

/// One key of a machine file, for help and docs.
struct ConfigKey {
  std::string key;  ///< `section.name`
  Unit unit = Unit::kCount;
  std::uint64_t lowest = 0, highest = 0;
  std::string range;  ///< what is allowed, in the key's unit
  std::string value;  ///< as a machine file has it
  std::string help;
  Scope scope = Scope::kCompile;
};

/// Every key with a machine's value, in the order of the file.
[[nodiscard]] std::vector<ConfigKey> config_keys(const MachineConfig& machine);

/// One number of a machine; those of a list are `section.name[0]` and so on, and a name is its
/// number among those that are allowed.
struct ConfigNumber {
  std::string key;
  Unit unit = Unit::kCount;
  std::uint64_t value = 0;
  bool operator==(const ConfigNumber&) const = default;
};

/// Every number of a machine, in the order of the file.
[[nodiscard]] std::vector<ConfigNumber> config_numbers(const MachineConfig& machine);

/// Reads a machine file (TOML; `extends`; quantities with units) and then `section.key=value`
/// overrides. `machine` is a builtin name or a path. Throws UserError with every problem at once:
/// MalformedInput when one is of a file, kUsage when all are of overrides. The name of what is no
/// builtin machine any more says so: "bow with tile.workers=8".
[[nodiscard]] MachineConfig load_machine(const std::string& machine,
                                         const std::vector<std::string>& overrides = {});

/// The files that `load_machine` reads for the same words, those that `extends` names included;
/// none for a builtin machine. Throws what it throws.
[[nodiscard]] std::vector<std::string> machine_files(
    const std::string& machine, const std::vector<std::string>& overrides = {});

/// Where the number of each key comes from: `KIND: text` as the machine file says it, with one of
/// the kinds of `source_kinds`, else `user: FILE:LINE` or `user: --set KEY=VALUE`.
using MachineSources = std::map<std::string, std::string>;

/// Those of the machine that `load_machine` reads from the same words; throws what it throws.
[[nodiscard]] MachineSources machine_sources(const std::string& machine,
                                             const std::vector<std::string>& overrides = {});

/// A machine and where its numbers come from.
struct SourcedMachine {
  MachineConfig machine;
  MachineSources sources;
};

/// What `load_machine` and `machine_sources` give.
[[nodiscard]] SourcedMachine load_sourced_machine(const std::string& machine,
                                                  const std::vector<std::string>& overrides = {});

/// Reads a machine from text that `to_toml` gave, called `file` in messages, for what was compiled
/// for it: the overrides may only be of keys that the compiler does not read (Scope::kRun). Throws
/// what `load_machine` throws.
[[nodiscard]] SourcedMachine read_compiled_machine(const std::string& text, const std::string& file,
                                                   const std::vector<std::string>& overrides = {});

/// The source of a number times a factor, as `scale` and `--set KEY=xFACTOR` make it.
[[nodiscard]] std::string scaled_source(double factor, std::string_view source);
/// The source of the number that was scaled, if `source` is of a scaled one.
[[nodiscard]] std::optional<std::string_view> scaled_source(std::string_view source);

/// What a source may begin with.
[[nodiscard]] const std::vector<std::string>& source_kinds();

/// The names of the builtin machines, in order of the alphabet.
[[nodiscard]] std::vector<std::string> builtin_machines();

/// The machine as TOML that `load_machine` reads back to the same value and `machine_sources` to
/// the given sources.
[[nodiscard]] std::string to_toml(const MachineConfig& machine, const MachineSources& sources = {});

/// The range of a key, or a rule between keys, that a machine breaks.
struct BrokenRule {
  std::size_t rule = 0;           ///< the same number for the same rule
  std::vector<std::string> keys;  ///< that it is about
  std::string message;
};

/// Every broken range, and rule between keys in their ranges; empty when it can be built.
[[nodiscard]] std::vector<BrokenRule> problems(const MachineConfig& machine);

}  // namespace superstep
