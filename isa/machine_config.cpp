#include "isa/machine_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <sstream>
#include <type_traits>

#include "base/toml.h"
#include "isa/builtin_machines.h"
#include "isa/machine_keys.h"
#include "isa/machine_limits.h"
#include "isa/quantity_text.h"

namespace superstep {
namespace {

/// Not a list.
template <class Field>
constexpr bool kIsOne = std::is_integral_v<Field> || std::is_enum_v<Field>;

template <class Field>
std::string allowed_text(const Key& key, const Field& /*field*/) {
  return kIsOne<Field> ? range_text(key) : list_text(key);
}

/// The value of a field as a machine file has it; the number of a name that is none.
template <class Field>
std::string value_text(const Key& key, const Field& field) {
  if constexpr (std::is_enum_v<Field>) {
    const auto number = static_cast<std::size_t>(field);
    return number < key.names.size() ? fmt::format("\"{}\"", key.names[number])
                                     : fmt::format("{}", number);
  } else if constexpr (std::is_integral_v<Field>) {
    return quantity_text(key.unit, field);
  } else {
    return fmt::format("[{}]", fmt::join(field, ", "));
  }
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

/// Whether a key allows all that its field holds.
template <class Field>
bool allows(const Key& key, const Field& field) {
  if constexpr (kIsOne<Field>) {
    return key.allows(static_cast<std::uint64_t>(field));
  } else {
    return std::ranges::all_of(field, [&](std::uint64_t value) { return key.allows(value); });
  }
}

}  // namespace

bool Key::allows(std::uint64_t value) const {
  if (!only.empty()) return std::ranges::find(only, value) != only.end();
  return value >= lowest && value <= highest && value % multiple_of == 0;
}

std::string range_text(const Key& key) {
  std::vector<std::string> all;
  for (const char* name : key.names) all.push_back(fmt::format("\"{}\"", name));
  for (const std::uint64_t value : key.only) all.push_back(quantity_text(key.unit, value));
  if (!all.empty()) {
    const std::string last = all.back();
    all.pop_back();
    return fmt::format("{} or {}", fmt::join(all, ", "), last);
  }
  const std::string low = quantity_text(key.unit, key.lowest);
  const std::string high = quantity_text(key.unit, key.highest);
  std::string text = fmt::format("{} to {}", low, high);
  if (key.multiple_of > 1)
    text += fmt::format(", multiples of {}", quantity_text(key.unit, key.multiple_of));
  return text;
}

std::string list_text(const Key& key) {
  return fmt::format("a list of numbers without a unit, {} to {}, as in [0, 4, 9]", key.lowest,
                     key.highest);
}

namespace {

template <class Field>
ConfigKey config_key(const Key& key, const Field& field) {
  return {.key = key.name,
          .unit = key.unit,
          .lowest = key.lowest,
          .highest = key.highest,
          .range = allowed_text(key, field),
          .value = value_text(key, field),
          .help = key.help,
          .scope = key.scope};
}

}  // namespace

std::vector<ConfigKey> config_keys(const MachineConfig& machine) {
  std::vector<ConfigKey> keys;
  for_each_key(machine,
               [&](const Key& key, const auto& field) { keys.push_back(config_key(key, field)); });
  return keys;
}

std::vector<ConfigKey> file_keys(const MachineConfig& machine) {
  std::vector<ConfigKey> keys = config_keys(machine);
  keys.insert(std::ranges::find(keys, "grid.rows", &ConfigKey::key),
              config_key(tiles_key(), machine.tiles()));
  return keys;
}

bool reads_key(const MachineConfig& machine, std::string_view name) {
  bool reads = false;
  for_each_key(machine, [&](const Key& key, const auto&) {
    if (key.name != name) return;
    reads = key.fabrics.empty() ||
            std::ranges::find(key.fabrics, machine.exchange.fabric) != key.fabrics.end();
  });
  return reads;
}

std::vector<ConfigNumber> config_numbers(const MachineConfig& machine) {
  std::vector<ConfigNumber> numbers;
  for_each_key(machine, [&](const Key& key, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (kIsOne<Field>) {
      numbers.push_back({key.name, key.unit, static_cast<std::uint64_t>(field)});
    } else {
      for (std::size_t i = 0; i < field.size(); ++i)
        numbers.push_back({fmt::format("{}[{}]", key.name, i), key.unit, field[i]});
    }
  });
  return numbers;
}

std::vector<std::string> builtin_machines() {
  std::vector<std::string> names;
  for (const BuiltinMachine& file : builtin_machine_files()) names.emplace_back(file.name);
  return names;
}

std::string to_toml(const MachineConfig& machine, const MachineSources& sources) {
  std::string text = fmt::format("schema = 1\nname = {}\ndescription = {}\n", quoted(machine.name),
                                 quoted(machine.description));
  std::string section;
  for_each_key(machine, [&](const Key& key, const auto& field) {
    const std::string name = key.name;
    const std::size_t dot = name.find('.');
    if (name.substr(0, dot) != section) {
      section = name.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    const std::string value = value_text(key, field);
    const auto source = sources.find(name);
    text += source == sources.end()
                ? fmt::format("{} = {}\n", name.substr(dot + 1), value)
                : fmt::format("{} = {{ value = {}, source = {} }}\n", name.substr(dot + 1), value,
                              quoted(source->second));
  });
  return text;
}

std::vector<BrokenRule> problems(const MachineConfig& m) {
  std::vector<BrokenRule> broken;
  std::set<std::string> out_of_range;
  std::size_t rule = 0;
  const auto require = [&](bool holds, std::vector<std::string> keys, std::string message) {
    const bool is_known = std::ranges::none_of(
        keys, [&](const std::string& key) { return out_of_range.contains(key); });
    if (!holds && is_known) broken.push_back({rule, std::move(keys), std::move(message)});
    ++rule;
  };
  for_each_key(m, [&](const Key& key, const auto& field) {
    const bool is_allowed = allows(key, field);
    require(is_allowed, {key.name},
            fmt::format("{} must be {}, found {}", key.name, allowed_text(key, field),
                        value_text(key, field)));
    if (!is_allowed) out_of_range.insert(key.name);
  });
  const auto bytes = [](std::uint64_t n) { return quantity_text(Unit::kBytes, n); };
  const auto& tile = m.tile;
  const EncodingLimits limits = limits_of(m.isa.encoding);
  const auto named = [&](auto of) {
    return fmt::format("at most {} with isa.encoding = \"mk2\" and {} with \"wide\"",
                       of(limits_of(Encoding::kMk2)), of(limits_of(Encoding::kWide)));
  };
  const std::uint64_t places = std::uint64_t{m.grid.rows} * m.grid.columns * m.grid.lanes;
  const std::uint64_t tiles = places - std::min<std::uint64_t>(places, m.grid.spares);
  require(
      tiles <= limits.tiles, {"isa.encoding", "grid.rows", "grid.columns", "grid.lanes"},
      fmt::format("grid.rows {} x grid.columns {} x grid.lanes {} = {} tiles; exchange muxes name "
                  "{}",
                  m.grid.rows, m.grid.columns, m.grid.lanes, tiles,
                  named([](const EncodingLimits& of) { return of.tiles; })));
  const std::uint64_t end = std::uint64_t{tile.memory_base} + tile.memory_bytes;
  require(end <= limits.memory_end, {"isa.encoding", "tile.memory", "tile.memory_base"},
          fmt::format(
              "tile.memory = {} from tile.memory_base {:#x} ends at {:#x}; addresses reach {}",
              bytes(tile.memory_bytes), tile.memory_base, end,
              named([](const EncodingLimits& of) { return fmt::format("{:#x}", of.memory_end); })));
  require(tile.workers <= limits.workers, {"isa.encoding", "tile.workers"},
          fmt::format("tile.workers = {}; their numbers have room for {}", tile.workers,
                      named([](const EncodingLimits& of) { return of.workers; })));
  require(tile.region1_base >= tile.memory_base, {"tile.region1_base", "tile.memory_base"},
          fmt::format("tile.region1_base {:#x} lies below tile.memory_base {:#x}; code needs "
                      "memory between them",
                      tile.region1_base, tile.memory_base));
  require(tile.region1_base <= end, {"tile.memory", "tile.region1_base", "tile.memory_base"},
          fmt::format("tile.memory = {} ends at {:#x}, below tile.region1_base {:#x}; set "
                      "tile.region1_base too: code lies below it, interleaved data from there on",
                      bytes(tile.memory_bytes), end, tile.region1_base));
  const bool is_power = std::has_single_bit(tile.element_bytes);
  const std::uint64_t behind0 = end - std::min<std::uint64_t>(tile.region1_base, end);
  require(tile.region2_bytes <= behind0, {"tile.region2", "tile.region1_base", "tile.memory"},
          fmt::format("tile.region2 = {} is more than the {} from tile.region1_base {:#x} to the "
                      "end of memory",
                      bytes(tile.region2_bytes), bytes(behind0), tile.region1_base));
  const std::uint64_t pair = 2 * std::uint64_t{tile.element_bytes};
  const std::uint64_t region1 = behind0 - std::min<std::uint64_t>(tile.region2_bytes, behind0);
  require(tile.region2_bytes == 0 || !is_power || region1 % pair == 0,
          {"tile.region2", "tile.element", "tile.region1_base", "tile.memory"},
          fmt::format("tile.region2 = {} leaves {} to the interleaved region, no multiple of {}: "
                      "that is made of pairs of memory elements",
                      bytes(tile.region2_bytes), bytes(region1), bytes(pair)));
  require(is_power, {"tile.element"},
          fmt::format("tile.element must be a power of two, found {}", bytes(tile.element_bytes)));
  for (const auto& [key, base] : {std::pair{"tile.memory_base", tile.memory_base},
                                  std::pair{"tile.region1_base", tile.region1_base}}) {
    require(!is_power || base % tile.element_bytes == 0, {"tile.element", key},
            fmt::format("{} {:#x} is no multiple of tile.element = {}: both regions begin with a "
                        "whole memory element",
                        key, base, bytes(tile.element_bytes)));
  }
  require(m.sync.column_skew.size() >= m.grid.columns, {"sync.column_skew", "grid.columns"},
          fmt::format("sync.column_skew has {} entries for grid.columns = {}; give it one for "
                      "each column",
                      m.sync.column_skew.size(), m.grid.columns));
  const std::size_t columns = m.grid.columns;
  require(m.exchange.fabric != FabricKind::kTable || m.exchange.table.size() == columns * columns,
          {"exchange.fabric", "exchange.table", "grid.columns"},
          fmt::format("exchange.table has {} entries for grid.columns = {}; exchange.fabric = "
                      "\"table\" needs {}, one from each column to each column",
                      m.exchange.table.size(), columns, columns * columns));
  require(m.exchange.max_send_words * 4 % std::max(m.exchange.width_bytes, 4U) == 0,
          {"exchange.max_send_words", "exchange.width"},
          fmt::format("exchange.max_send_words = {} are no whole cycles of exchange.width = {}; "
                      "take a multiple of {}",
                      m.exchange.max_send_words, bytes(m.exchange.width_bytes),
                      m.exchange.width_bytes / 4));
  require(m.grid.spares < m.grid.columns * m.grid.lanes,
          {"grid.spares", "grid.columns", "grid.lanes"},
          fmt::format("grid.spares = {} of rows of {} places; fewer grid.rows would do",
                      m.grid.spares, m.grid.columns * m.grid.lanes));
  return broken;
}

std::string beyond_mk2(const MachineConfig& machine) {
  MachineConfig mk2 = machine;
  mk2.isa.encoding = Encoding::kMk2;
  std::vector<std::string> reasons;
  for (BrokenRule& broken : problems(mk2)) {
    if (std::ranges::find(broken.keys, "isa.encoding") != broken.keys.end())
      reasons.push_back(std::move(broken.message));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace superstep
