#include "isa/machine_config.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include "base/error.h"
#include "base/files.h"
#include "base/toml.h"
#include "isa/builtin_machines.h"

namespace superstep {
namespace {

constexpr std::size_t kMaxExtends = 8;

/// The key table: name, unit, field, smallest and largest value, meaning.
template <class Machine, class Visit>
void for_each_key(Machine& m, Visit&& visit) {
  using enum Unit;
  visit("grid.rows", kCount, m.grid.rows, 1, 1024, "rows of tiles");
  visit("grid.columns", kCount, m.grid.columns, 1, 64,
        "columns; half on each side of the exchange spine");
  visit("grid.lanes", kCount, m.grid.lanes, 1, 4, "tiles at one row and column");
  visit("tile.workers", kCount, m.tile.workers, 1, 8, "worker contexts of one tile");
  visit("tile.clock", kHertz, m.tile.clock_hz, 1'000'000, 100'000'000'000, "tile clock");
  visit("tile.memory_base", kAddress, m.tile.memory_base, 0x4000, 0xf0000,
        "first address of tile memory");
  visit("tile.memory", kBytes, m.tile.memory_bytes, 0x8000, 0x1f0000, "memory of one tile");
  visit("tile.region1_base", kAddress, m.tile.region1_base, 0x4000, 0x1f0000,
        "first address of the interleaved region; below it memory is executable");
  visit("tile.element", kBytes, m.tile.element_bytes, 0x400, 0x40000,
        "one single-ported memory element");
  visit("tile.fetch_ahead", kBytes, m.tile.fetch_ahead_bytes, 0, 1024,
        "look-ahead of instruction fetch");
  visit("tile.amp_units", kCount, m.tile.amp_units, 8, 16,
        "output channels of one matrix instruction");
  visit("costs.f32exp", kCount, m.costs.f32exp, 1, 64, "worker slots");
  visit("costs.f32ln", kCount, m.costs.f32ln, 1, 64, "worker slots");
  visit("costs.f16v2exp", kCount, m.costs.f16v2exp, 1, 64, "worker slots");
  visit("costs.f16v2ln", kCount, m.costs.f16v2ln, 1, 64, "worker slots");
  visit("costs.f32tanh", kCount, m.costs.f32tanh, 1, 64, "worker slots");
  visit("costs.f32sigm", kCount, m.costs.f32sigm, 1, 64, "worker slots");
  visit("costs.f16v2tanh", kCount, m.costs.f16v2tanh, 1, 64, "worker slots");
  visit("costs.f16v2sigm", kCount, m.costs.f16v2sigm, 1, 64, "worker slots");
  visit("costs.f32div", kCount, m.costs.f32div, 1, 64, "worker slots");
  visit("costs.f32oox", kCount, m.costs.f32oox, 1, 64, "worker slots");
  visit("costs.f32oorx", kCount, m.costs.f32oorx, 1, 64, "worker slots");
  visit("costs.f32sqrt", kCount, m.costs.f32sqrt, 1, 64, "worker slots");
  visit("costs.taken_branch", kCycles, m.costs.taken_branch, 1, 64, "supervisor");
  visit("costs.result_latency", kCycles, m.costs.result_latency, 1, 64,
        "supervisor, until a result can be used");
  visit("costs.runall", kCycles, m.costs.runall, 1, 64, "supervisor");
  visit("exchange.same_column_latency", kCycles, m.exchange.same_column_latency, 1, 4096,
        "base latency within a column");
  visit("exchange.same_side_latency", kCycles, m.exchange.same_side_latency, 1, 4096,
        "base latency between columns of one side");
  visit("exchange.per_column_latency", kCycles, m.exchange.per_column_latency, 0, 4096,
        "per column of distance on one side");
  visit("exchange.cross_east_latency", kCycles, m.exchange.cross_east_latency, 1, 4096,
        "base latency across the spine, eastward offset >= 0");
  visit("exchange.cross_east_per_column", kCycles, m.exchange.cross_east_per_column, 0, 4096,
        "per column of that offset");
  visit("exchange.cross_west_latency", kCycles, m.exchange.cross_west_latency, 1, 4096,
        "base latency across the spine, offset < 0");
  visit("exchange.cross_west_per_column", kCycles, m.exchange.cross_west_per_column, 0, 4096,
        "per column of that offset");
  visit("exchange.per_row_latency", kCycles, m.exchange.per_row_latency, 0, 4096,
        "per row, at each end");
  visit("exchange.max_send_words", kCount, m.exchange.max_send_words, 1, 64,
        "words of one short send instruction");
  visit("sync.internal_latency", kCycles, m.sync.internal_latency, 1, 1'000'000,
        "last arrival to the opening of an internal barrier");
  visit("sync.external_latency", kNanoseconds, m.sync.external_latency_ns, 0, 1'000'000'000,
        "last arrival to the opening of an external barrier");
  visit("sync.skew_per_row", kCycles, m.sync.skew_per_row, 0, 4096, "release skew of each row");
  visit("sync.column_skew", kCycles, m.sync.column_skew, 0, 4096, "release skew of each column");
  visit("host.bandwidth", kBytesPerSecond, m.host.bytes_per_second, 1'000'000, 10'000'000'000'000,
        "host link, each direction");
  visit("host.packet_overhead", kNanoseconds, m.host.packet_overhead_ns, 0, 1'000'000'000,
        "per packet");
  visit("host.phase_latency", kNanoseconds, m.host.phase_latency_ns, 0, 1'000'000'000,
        "per host phase");
  visit("host.to_tile_packet", kBytes, m.host.to_tile_packet_bytes, 4, 1024,
        "largest packet, host to tile");
  visit("host.to_host_packet", kBytes, m.host.to_host_packet_bytes, 4, 256,
        "largest packet, tile to host");
}

struct Scale {
  std::string_view suffix;
  double factor;
};

std::vector<Scale> scales(Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return {};
    case Unit::kBytes:
    case Unit::kAddress:
      return {{"B", 1},         {"KiB", 1024}, {"MiB", 1 << 20},
              {"GiB", 1 << 30}, {"kB", 1e3},   {"MB", 1e6}};
    case Unit::kHertz:
      return {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
    case Unit::kNanoseconds:
      return {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}};
    case Unit::kBytesPerSecond:
      return {{"B/s", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"GiB/s", 1 << 30}};
    case Unit::kCycles:
      return {{"cycles", 1}, {"cycle", 1}};
  }
  return {};
}

std::string example(Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return "6";
    case Unit::kBytes:
      return "\"624 KiB\"";
    case Unit::kAddress:
      return "0x4c000";
    case Unit::kHertz:
      return "\"1.85 GHz\"";
    case Unit::kNanoseconds:
      return "\"300 ns\"";
    case Unit::kBytesPerSecond:
      return "\"27.2 GB/s\"";
    case Unit::kCycles:
      return "\"68 cycles\"";
  }
  return {};
}

std::string quantity(Unit unit, std::uint64_t value) {
  const auto in = [&](std::uint64_t factor, const char* suffix) {
    return fmt::format("\"{} {}\"", value / factor, suffix);
  };
  switch (unit) {
    case Unit::kCount:
      return fmt::format("{}", value);
    case Unit::kAddress:
      return fmt::format("{:#x}", value);
    case Unit::kBytes:
      return value != 0 && value % 1024 == 0 ? in(1024, "KiB") : in(1, "B");
    case Unit::kHertz:
      return value % 1'000'000 == 0 ? in(1'000'000, "MHz") : in(1, "Hz");
    case Unit::kNanoseconds:
      return in(1, "ns");
    case Unit::kBytesPerSecond:
      return value % 1'000'000 == 0 ? in(1'000'000, "MB/s") : in(1, "B/s");
    case Unit::kCycles:
      return in(1, "cycles");
  }
  return {};
}

/// Parses "624 KiB"; an error text when it is no quantity of this unit.
std::variant<double, std::string> parse_quantity(Unit unit, std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{})
    return fmt::format("\"{}\" does not begin with a number; write {}", text, example(unit));
  std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  std::string allowed;
  for (const Scale& scale : scales(unit)) {
    if (suffix == scale.suffix) return number * scale.factor;
    allowed += (allowed.empty() ? "" : ", ") + std::string(scale.suffix);
  }
  if (allowed.empty())
    return fmt::format("\"{}\" must be a plain number, as in {}", text, example(unit));
  const bool vague = suffix == "KB" || suffix == "K";
  return fmt::format("unknown unit '{}'; {}", suffix,
                     vague ? "write KiB (1024) or kB (1000)" : "allowed: " + allowed);
}

/// Reads one file after another into a machine and keeps every problem.
class Reader {
 public:
  MachineConfig machine;
  std::vector<Problem> found;

  void read_file(const std::string& name, std::size_t depth, const SourceLocation& from) {
    if (depth > kMaxExtends)
      return fail(from, fmt::format("'extends' is nested deeper than {} files, or in a circle",
                                    kMaxExtends));
    const std::string builtin = name.starts_with("builtin:") ? name.substr(8) : name;
    for (const BuiltinMachine& file : builtin_machine_files()) {
      if (file.name == builtin) return read_text(file.text, "builtin:" + builtin, depth);
    }
    if (!std::filesystem::exists(name)) {
      const std::string guess = nearest(builtin, builtin_machines());
      return fail(from, fmt::format("no machine '{}': neither a file nor a builtin ({}){}", name,
                                    fmt::join(builtin_machines(), ", "),
                                    guess.empty() ? "" : "; did you mean '" + guess + "'?"));
    }
    read_text(read_text_file(name), name, depth);
  }

  void override_with(const std::string& setting) {
    const SourceLocation where{"--set " + setting, 0, 0};
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) return fail(where, "expected key=value, as in tile.workers=8");
    const std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
    for (const std::string& text : {key + " = " + value, key + " = \"" + value + "\""}) {
      try {
        const toml::table table = toml::parse(text, "--set " + setting);
        return read_table(table, "", where);
      } catch (const std::exception&) {
        continue;
      }
    }
    fail(where,
         "the value is not TOML; quantities need quotes or a unit, as in tile.clock='1.85 GHz'");
  }

 private:
  void fail(const SourceLocation& where, std::string message) {
    found.push_back({where, std::move(message)});
  }

  static SourceLocation at(const std::string& file, const toml::source_region& source) {
    return {file, static_cast<std::uint32_t>(source.begin.line),
            static_cast<std::uint32_t>(source.begin.column)};
  }

  void read_text(std::string_view text, const std::string& file, std::size_t depth) {
    toml::table table;
    try {
      table = toml::parse(text, file);
    } catch (const toml::parse_error& error) {
      return fail(at(file, error.source()), std::string(error.description()));
    } catch (const std::logic_error&) {
      return fail({file, 0, 0}, "this is not TOML: a key or table name is malformed");
    }
    if (const toml::node* base = table.get("extends")) {
      const auto where = at(file, base->source());
      if (const auto parent = base->value<std::string>()) {
        const bool builtin = parent->starts_with("builtin:") || file.starts_with("builtin:");
        const auto folder = std::filesystem::path(file).parent_path();
        read_file(builtin ? *parent : (folder / *parent).string(), depth + 1, where);
      } else {
        fail(where, "'extends' names one machine, as in \"builtin:gc200\" or \"other.toml\"");
      }
    }
    if (const toml::node* name = table.get("name")) {
      if (const auto value = name->value<std::string>())
        machine.name = *value;
      else
        fail(at(file, name->source()), "'name' is a string");
    }
    if (const toml::node* text_node = table.get("description")) {
      if (const auto value = text_node->value<std::string>())
        machine.description = *value;
      else
        fail(at(file, text_node->source()), "'description' is a string");
    }
    if (const toml::node* schema = table.get("schema");
        schema && schema->value<std::int64_t>() != 1)
      fail(at(file, schema->source()), "unknown schema; this version reads schema = 1");
    for (const auto* meta : {"extends", "name", "description", "schema"}) table.erase(meta);
    read_table(table, "", {file, 0, 0});
  }

  void read_table(const toml::table& table, const std::string& prefix,
                  const SourceLocation& origin) {
    for (const auto& [name, node] : table) {
      const std::string key = prefix + std::string(name.str());
      SourceLocation where = origin;
      if (!origin.file.starts_with("--set")) where = at(origin.file, name.source());
      if (prefix.empty() && node.is_table()) {
        read_table(*node.as_table(), key + ".", where);
      } else {
        read_value(key, node, where);
      }
    }
  }

  void read_value(const std::string& key, const toml::node& node, const SourceLocation& where) {
    bool known = false;
    std::vector<std::string> keys;
    for_each_key(machine, [&](const char* name, Unit unit, auto& field, std::uint64_t low,
                              std::uint64_t high, const char*) {
      keys.emplace_back(name);
      if (key != name) return;
      known = true;
      if constexpr (std::is_integral_v<std::remove_reference_t<decltype(field)>>) {
        if (const auto value = read_number(key, unit, node, low, high, where))
          field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
      } else {
        const toml::array* list = node.as_array();
        if (!list) return fail(where, fmt::format("'{}' is a list, as in [0, 4, 9]", key));
        std::vector<std::uint32_t> values;
        for (const toml::node& item : *list) {
          if (const auto value = item.value_exact<std::int64_t>();
              value && *value >= 0 && static_cast<std::uint64_t>(*value) <= high)
            values.push_back(static_cast<std::uint32_t>(*value));
          else
            return fail(where, fmt::format("'{}' lists numbers from {} to {}", key, low, high));
        }
        field = std::move(values);
      }
    });
    if (known) return;
    std::string guess = nearest(key, keys);
    if (guess.empty()) {
      const auto leaf = [](const std::string& full) { return full.substr(full.find('.') + 1); };
      for (const std::string& candidate : keys)
        if (leaf(candidate) == leaf(key)) guess = candidate;
    }
    fail(where, fmt::format("unknown key '{}'; {}", key,
                            guess.empty() ? "`superstep config keys` lists them"
                                          : "did you mean '" + guess + "'?"));
  }

  std::optional<std::uint64_t> read_number(const std::string& key, Unit unit,
                                           const toml::node& node, std::uint64_t low,
                                           std::uint64_t high, const SourceLocation& where) {
    double value = 0;
    if (const auto integer = node.value_exact<std::int64_t>()) {
      if (unit != Unit::kCount && unit != Unit::kAddress) {
        fail(where, fmt::format("'{}' needs a unit; write {}", key, example(unit)));
        return {};
      }
      value = static_cast<double>(*integer);
    } else if (const auto text = node.value_exact<std::string>()) {
      const auto parsed = parse_quantity(unit, *text);
      if (const auto* message = std::get_if<std::string>(&parsed)) {
        fail(where, fmt::format("'{}': {}", key, *message));
        return {};
      }
      value = std::get<double>(parsed);
    } else {
      fail(where, fmt::format("'{}' has the wrong type; write {}", key, example(unit)));
      return {};
    }
    if (!(value >= static_cast<double>(low)) || !(value <= static_cast<double>(high)) ||
        value != std::floor(value)) {
      fail(where, fmt::format("'{}' must be a whole number from {} to {}", key, quantity(unit, low),
                              quantity(unit, high)));
      return {};
    }
    return static_cast<std::uint64_t>(value);
  }
};

}  // namespace

std::vector<ConfigKey> config_keys() {
  std::vector<ConfigKey> keys;
  const MachineConfig defaults;
  for_each_key(defaults, [&](const char* name, Unit unit, const auto& field, std::uint64_t,
                             std::uint64_t, const char* help) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(field)>>) {
      keys.push_back({name, unit, quantity(unit, field), help});
    } else {
      keys.push_back({name, unit, fmt::format("[{}]", fmt::join(field, ", ")), help});
    }
  });
  return keys;
}

std::vector<ConfigNumber> config_numbers(const MachineConfig& machine) {
  std::vector<ConfigNumber> numbers;
  for_each_key(machine, [&](const char* name, Unit unit, const auto& field, std::uint64_t,
                            std::uint64_t, const char*) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(field)>>) {
      numbers.push_back({name, unit, field});
    } else {
      for (std::size_t i = 0; i < field.size(); ++i) {
        numbers.push_back({fmt::format("{}[{}]", name, i), unit, field[i]});
      }
    }
  });
  return numbers;
}

MachineConfig load_machine(const std::string& machine, const std::vector<std::string>& overrides) {
  Reader reader;
  reader.read_file(machine, 0, {});
  for (const std::string& setting : overrides) reader.override_with(setting);
  if (reader.found.empty()) {
    for (std::string& broken : problems(reader.machine))
      reader.found.push_back({{machine, 0, 0}, std::move(broken)});
  }
  if (!reader.found.empty()) throw MalformedInput(std::move(reader.found));
  return reader.machine;
}

std::vector<std::string> builtin_machines() {
  std::vector<std::string> names;
  for (const BuiltinMachine& file : builtin_machine_files()) names.emplace_back(file.name);
  return names;
}

std::string to_toml(const MachineConfig& machine) {
  const auto quoted = [](const std::string& text) {
    std::ostringstream out;
    out << toml::value<std::string>(text);
    return out.str();
  };
  std::string text = fmt::format("schema = 1\nname = {}\ndescription = {}\n", quoted(machine.name),
                                 quoted(machine.description));
  std::string section;
  for_each_key(machine, [&](const char* name, Unit unit, const auto& field, std::uint64_t,
                            std::uint64_t, const char*) {
    const std::string key = name;
    const std::size_t dot = key.find('.');
    if (key.substr(0, dot) != section) {
      section = key.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(field)>>) {
      text += fmt::format("{} = {}\n", key.substr(dot + 1), quantity(unit, field));
    } else {
      text += fmt::format("{} = [{}]\n", key.substr(dot + 1), fmt::join(field, ", "));
    }
  });
  return text;
}

std::vector<std::string> problems(const MachineConfig& m) {
  std::vector<std::string> broken;
  const auto require = [&](bool holds, std::string rule) {
    if (!holds) broken.push_back(std::move(rule));
  };
  const auto& tile = m.tile;
  require((tile.element_bytes & (tile.element_bytes - 1)) == 0,
          fmt::format("tile.element must be a power of two, found {} B", tile.element_bytes));
  require(tile.memory_base % 64 == 0 && tile.memory_bytes % 64 == 0,
          "tile.memory_base and tile.memory must be multiples of 64 B");
  require(std::uint64_t{tile.memory_base} + tile.memory_bytes <= 0x200000,
          "tile memory must end below 0x200000: addresses have 21 bits");
  require(tile.region1_base >= tile.memory_base && tile.region1_base <= m.memory_end() &&
              tile.region1_base % 64 == 0,
          "tile.region1_base must lie in tile memory, at a multiple of 64 B");
  require(tile.amp_units == 8 || tile.amp_units == 16, "tile.amp_units must be 8 or 16");
  require(m.tiles() <= 4096, fmt::format("a chip has at most 4096 tiles, found {} x {} x {}",
                                         m.grid.rows, m.grid.columns, m.grid.lanes));
  require(m.sync.column_skew.size() >= m.grid.columns,
          fmt::format("sync.column_skew has {} entries for {} columns", m.sync.column_skew.size(),
                      m.grid.columns));
  require(m.host.to_tile_packet_bytes % 4 == 0 && m.host.to_host_packet_bytes % 4 == 0,
          "host packets must be whole 4-byte words");
  return broken;
}

}  // namespace superstep
