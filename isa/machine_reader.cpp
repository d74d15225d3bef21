#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/toml.h"
#include "isa/builtin_machines.h"
#include "isa/exchange_ports.h"
#include "isa/key_names.h"
#include "isa/machine_config.h"
#include "isa/machine_keys.h"
#include "isa/machine_limits.h"
#include "isa/machine_values.h"

namespace superstep {
namespace {

constexpr std::size_t kMaxExtends = 8;

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Reads one file after another and then overrides into a machine, and keeps every problem.
class MachineReader {
 public:
  MachineReader(const std::string& machine, const std::vector<std::string>& overrides) {
    read_file(machine, 0, {});
    finish(machine, overrides);
  }

  /// Of what was compiled.
  MachineReader(const std::string& text, const std::string& file,
                const std::vector<std::string>& overrides)
      : is_compiled_(true) {
    read_text(text, file, 0);
    finish(file, overrides);
  }

  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  [[nodiscard]] MachineSources sources() const {
    MachineSources sources;
    for (const auto& [key, setting] : set_) sources[key] = setting.source;
    return sources;
  }

 private:
  /// Reads a file alone: no rule is checked.
  explicit MachineReader(const std::string& machine) { read_file(machine, 0, {}); }

  /// What set a key last.
  struct Setting {
    SourceLocation where;
    std::string source;
    std::size_t layer = 0;
    bool is_override = false;
    bool is_choice = false;    ///< neither scaled nor of a file that sets every key
    bool is_of_tiles = false;  ///< what `grid.tiles` stands for
  };
  struct Found {
    Problem problem;
    std::size_t layer = 0;
    bool is_override = false;
  };

  void finish(const std::string& file, const std::vector<std::string>& overrides) {
    name_after_file(file);
    const MachineConfig of_files = widened();
    is_override_ = true;
    for (const std::string& setting : overrides) override_with(setting);
    place_tiles();
    if (!overrides.empty()) {
      const bool has_some = machine_.name.find(" with ") != std::string::npos;
      machine_.name += fmt::format("{}{}", has_some ? ", " : " with ", fmt::join(overrides, ", "));
    }
    const MachineConfig wide = widened();
    if (wide.isa.encoding != machine_.isa.encoding) {
      set_["isa.encoding"].source = "derived: " + beyond_mk2(machine_);
    }
    machine_ = wide;
    limit_sends();
    mark_extrapolated();
    check_rules(of_files);
    check_read();
    throw_problems();
  }

  void fail(const SourceLocation& where, std::string message) {
    found_.push_back({{where, std::move(message)}, layer_, is_override_});
  }

  void read_file(const std::string& name, std::size_t depth, const SourceLocation& from) {
    if (depth > kMaxExtends) {
      is_whole_ = false;
      return fail(from, fmt::format("'extends' is nested deeper than {} files", kMaxExtends));
    }
    if (std::ranges::find(files_, name) != files_.end()) {
      is_whole_ = false;
      return fail(from, fmt::format("'extends' comes back to '{}'", name));
    }
    const std::string builtin = name.starts_with("builtin:") ? name.substr(8) : name;
    for (const BuiltinMachine& file : builtin_machine_files()) {
      if (file.name == builtin) return read_text(file.text, "builtin:" + builtin, depth);
    }
    const bool is_file = name.ends_with(".toml") || name.find('/') != std::string::npos;
    if (depth == 0 && is_file) check_input(name);
    if (!std::filesystem::exists(name)) {
      const std::string guess = nearest(builtin, builtin_machines());
      is_whole_ = false;
      return fail(from, fmt::format("no machine '{}': neither a file nor a builtin ({}){}", name,
                                    fmt::join(builtin_machines(), ", "),
                                    guess.empty() ? "" : "; did you mean '" + guess + "'?"));
    }
    files_.push_back(name);
    read_text(read_text_file(name), name, depth);
  }

  void read_text(std::string_view text, const std::string& file, std::size_t depth) {
    toml::table table;
    try {
      table = parse_toml(text, file);
    } catch (const MalformedInput& error) {
      is_whole_ = false;
      for (const Problem& problem : error.problems()) fail(problem.where, problem.message);
      return;
    }
    const toml::node* base = table.get("extends");
    if (base != nullptr) read_base(*base, file, depth);
    ++layer_;
    file_ = file;
    read_text_key(table, "name", machine_.name);
    check_name(table);
    read_text_key(table, "description", machine_.description);
    if (const toml::node* schema = table.get("schema");
        schema != nullptr && schema->value<std::int64_t>() != 1)
      fail(toml_place(file, schema->source()), "unknown schema; this version reads schema = 1");
    for (const auto* meta : {"extends", "name", "description", "schema"}) table.erase(meta);
    sets_all_ = base == nullptr;
    read_table(table, "", "");
    place_tiles();
    if (sets_all_) check_complete();
  }

  void read_base(const toml::node& base, const std::string& file, std::size_t depth) {
    const SourceLocation where = toml_place(file, base.source());
    const auto parent = base.value<std::string>();
    if (!parent) {
      is_whole_ = false;
      return fail(where, "'extends' names one machine, as in \"builtin:gc200\" or \"other.toml\"");
    }
    const bool is_builtin = parent->starts_with("builtin:") || file.starts_with("builtin:");
    const auto folder = std::filesystem::path(file).parent_path();
    read_file(is_builtin ? *parent : (folder / *parent).string(), depth + 1, where);
  }

  void read_text_key(const toml::table& table, const char* key, std::string& value) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return;
    const auto text = node->value<std::string>();
    const auto is_control = [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    if (!text || text->empty() || std::ranges::any_of(*text, is_control))
      return fail(toml_place(file_, node->source()), fmt::format("'{}' is a line of text", key));
    value = *text;
  }

  /// A name is not taken for a builtin's that it differs from by blanks or a prefix alone.
  void check_name(const toml::table& table) {
    if (machine_.name == trimmed(machine_.name) && !machine_.name.starts_with("builtin:")) return;
    fail(toml_place(file_, table.get("name")->source()),
         "'name' has no blanks at its ends, and does not begin with 'builtin:'");
  }

  /// A file that extends no other sets every key.
  void check_complete() {
    std::vector<std::string> missing;
    for (const std::string& key : key_names())
      if (!set_.contains(key) && unread_.insert(key).second) missing.push_back(key);
    if (missing.empty()) return;
    fail({file_, 0, 0}, fmt::format("this machine neither extends another nor sets every key; it "
                                    "leaves out {}; extends = \"builtin:gc200\" takes them from "
                                    "there",
                                    first_few(missing)));
  }

  /// `KIND: text`; an empty text, with a problem, when the node is no source.
  std::string read_source(const toml::node& node) {
    const SourceLocation where = toml_place(file_, node.source());
    const auto text = node.value<std::string>();
    const std::size_t colon = text ? text->find(':') : std::string::npos;
    const std::vector<std::string>& kinds = source_kinds();
    if (colon != std::string::npos && !trimmed(text->substr(colon + 1)).empty() &&
        std::ranges::find(kinds, text->substr(0, colon)) != kinds.end())
      return *text;
    fail(where, fmt::format("a source is a text that begins with its kind ({}) and a colon, as in "
                            "\"published: data sheet\"{}",
                            fmt::join(kinds, ", "), text ? "; found \"" + *text + "\"" : ""));
    return {};
  }

  /// A section, or the whole file when the prefix is empty. Its `source`, or else that around it,
  /// is that of its keys that have none.
  void read_table(const toml::table& table, const std::string& prefix, std::string source) {
    if (const toml::node* node = table.get("source")) source = read_source(*node);
    for (const auto& [name, node] : table) {
      if (name.str() == "source") continue;
      const std::string key = prefix + std::string(name.str());
      const SourceLocation where = toml_place(file_, name.source());
      const toml::table* section = prefix.empty() ? node.as_table() : nullptr;
      if (const toml::node* factor = scale_of(node)) {
        scale_keys(key, *factor, where);
      } else if (section == nullptr) {
        read_key(key, node, where, source);
      } else if (section->empty() && !is_section(key)) {
        fail(where, fmt::format("unknown table '{}'; `superstep config keys` lists the keys", key));
      } else {
        read_table(*section, key + ".", source);
      }
    }
  }

  static bool is_section(const std::string& name) {
    return std::ranges::any_of(key_names(),
                               [&](const std::string& key) { return key.starts_with(name + "."); });
  }

  void override_with(const std::string& setting) {
    ++layer_;
    sets_all_ = false;
    file_ = "--set " + setting;
    const SourceLocation where{file_, 0, 0};
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) return fail(where, "expected key=value, as in tile.workers=8");
    const std::string value = trimmed(setting.substr(equals + 1));
    toml::table parsed;
    try {
      parsed = parse_toml("value = " + value, file_);
    } catch (const MalformedInput&) {
    }
    const std::string key = trimmed(setting.substr(0, equals));
    if (value.starts_with('x') || key.find('*') != std::string::npos) {
      double factor = 0;
      const char* end = value.data() + value.size();
      const auto [rest, error] = std::from_chars(value.data() + 1, end, factor);
      if (value.starts_with('x') && error == std::errc{} && rest == end)
        return scale_keys(key, toml::value<double>(factor), where);
    }
    // "1.5 GHz" is no TOML without its quotes.
    if (parsed.size() != 1) parsed = toml::table{{"value", value}};
    read_key(key, *parsed.get("value"), where, "user: --set " + setting);
  }

  /// The `scale` of a table that has one.
  const toml::node* scale_of(const toml::node& node) {
    const toml::table* table = node.as_table();
    const toml::node* scale = table == nullptr ? nullptr : table->get("scale");
    if (scale != nullptr && table->size() > 1) {
      fail(toml_place(file_, node.source()),
           "a number that is scaled keeps its source: 'scale' has no other key beside it");
    }
    return scale;
  }

  /// Multiplies the numbers of a key, or of all that `section.*` and the like stand for. A pattern
  /// leaves names out, and numbers that would not be allowed, unless the machine reads them.
  void scale_keys(const std::string& pattern, const toml::node& node, const SourceLocation& where) {
    const auto factor = node.value<double>();
    if (!factor || !(*factor >= 0)) {
      return fail(where,
                  fmt::format("'{}' is scaled by a number from 0 on, as in scale = 1.5", pattern));
    }
    const bool is_pattern = pattern.find('*') != std::string::npos;
    bool is_found = false;
    for_each_key(machine_, [&](const Key& key, auto& field) {
      if (!matches(pattern, key.name)) return;
      is_found = true;
      if (!set_.contains(key.name)) return;  // a file that extends nothing leaves it out
      using Field = std::remove_reference_t<decltype(field)>;
      if constexpr (std::is_enum_v<Field>) {
        if (!is_pattern) fail(where, fmt::format("'{}' is a name, which has no scale", key.name));
      } else {
        Field scaled = field;
        bool is_allowed = true;
        const auto scale = [&](auto& number) {
          const double value = std::round(static_cast<double>(number) * *factor);
          is_allowed = is_allowed && value <= static_cast<double>(key.highest) &&
                       key.allows(static_cast<std::uint64_t>(value));
          if (is_allowed) number = static_cast<std::remove_reference_t<decltype(number)>>(value);
        };
        if constexpr (std::is_integral_v<Field>) {
          scale(scaled);
        } else {
          for (auto& number : scaled) scale(number);
        }
        if (!is_allowed) {
          fail(where, fmt::format("{} x '{}' is not {}", *factor, key.name, range_text(key)));
          if (!is_pattern) {
            unread_.insert(key.name);
          } else {
            unscaled_.emplace_back(key.name, std::move(found_.back()));
            found_.pop_back();
          }
          return;
        }
        field = std::move(scaled);
        Setting& setting = set_[key.name];
        setting = {where, scaled_source(*factor, setting.source), layer_, is_override_};
      }
    });
    if (!is_found) fail(where, fmt::format("no key is like '{}'", pattern));
  }

  /// Whether a key is what a pattern with at most one `*` stands for.
  static bool matches(std::string_view pattern, std::string_view key) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == key;
    const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
    return key.size() >= head.size() + tail.size() && key.starts_with(head) && key.ends_with(tail);
  }

  /// Rows and spares for as many tiles as were asked for. In another file or override, columns that
  /// are set later change them, and rows or spares take their place: later rows are whole.
  void place_tiles() {
    if (!tiles_) return;
    bool is_replaced = false;
    for (const auto* const key : {"grid.rows", "grid.spares"}) {
      const auto beside = set_.find(key);
      if (beside == set_.end() || beside->second.is_of_tiles) continue;
      const Setting& setting = beside->second;
      is_replaced = is_replaced || setting.layer > tiles_set_.layer;
      if (setting.is_override != tiles_set_.is_override ||
          (!setting.is_override && setting.layer != tiles_set_.layer))
        continue;
      tiles_.reset();
      return fail(setting.where,
                  fmt::format("'{}' is set beside 'grid.tiles', which it follows from; set one of "
                              "them",
                              key));
    }
    MachineConfig::Grid& grid = machine_.grid;
    Setting &rows = set_["grid.rows"], &spares = set_["grid.spares"];
    if (is_replaced) {
      tiles_.reset();
      if (!spares.is_of_tiles) return;
      grid.spares = 0;
      spares = rows;
      return;
    }
    // At least one: columns that a file should set, and does not, are 0.
    const std::uint32_t width = std::max(grid.columns * grid.lanes, 1U);
    grid.rows = (*tiles_ + width - 1) / width;
    grid.spares = grid.rows * width - *tiles_;
    rows = spares = tiles_set_;
  }

  /// Laws of the grid were fitted on that of gc200, and say nothing of a larger one.
  void mark_extrapolated() {
    const MachineConfig::Grid& grid = machine_.grid;
    static const MachineConfig::Grid kFitted = MachineReader("gc200").machine_.grid;
    if (grid.rows <= kFitted.rows && grid.columns <= kFitted.columns) return;
    for_each_key(machine_, [&](const Key& key, const auto&) {
      const auto setting = set_.find(key.name);
      if (!key.is_law_of_grid || setting == set_.end()) return;
      std::string& source = setting->second.source;
      if (source.starts_with("user:") || source.starts_with("extrapolated:")) return;
      source = fmt::format("extrapolated: to {} rows and {} columns from {} and {}; {}", grid.rows,
                           grid.columns, kFitted.rows, kFitted.columns, source);
    });
  }

  /// A key whose value is `node`, or the `value` of a table that may have a `source` beside it.
  void read_key(const std::string& key, const toml::node& node, const SourceLocation& where,
                std::string source) {
    std::vector<std::string> keys = key_names();
    keys.emplace_back(tiles_key().name);
    if (std::ranges::find(keys, key) == keys.end()) {
      const std::string guess = key_like(key, keys);
      // What it was meant to set is not known, so no rule speaks of it.
      unread_.insert(guess);
      return fail(where, fmt::format("unknown key '{}'; {}", key,
                                     guess.empty() ? "`superstep config keys` lists them"
                                                   : "did you mean '" + guess + "'?"));
    }
    if (is_override_ && is_compiled_ && scope_of(key) == Scope::kCompile) {
      return fail(where, fmt::format("'{}' is part of what was compiled; compile the program again "
                                     "with this --set, and write it with -o",
                                     key));
    }
    const toml::node* value = &node;
    if (const toml::table* table = node.as_table()) {
      value = table->get("value");
      for (const auto& [name, part] : *table) {
        if (name.str() == "source") {
          source = read_source(part);
        } else if (name.str() != "value") {
          fail(where, fmt::format("'{}' has a value and a source, no '{}'", key, name.str()));
        }
      }
      if (value == nullptr) {
        unread_.insert(key);
        return fail(where,
                    fmt::format("'{}' has no value; write {{ value = …, source = \"…\" }}", key));
      }
    }
    if (!read_value(key, *value, where)) {
      unread_.insert(key);
      return;
    }
    unread_.erase(key);
    if (source.empty()) {
      if (file_.starts_with("builtin:"))
        fail(where, fmt::format("'{}' has no source, which a builtin machine needs", key));
      source = fmt::format("user: {}:{}", where.file, where.line);
    }
    const bool is_tiles = key == tiles_key().name;
    (is_tiles ? tiles_set_ : set_[key]) = {where,        std::move(source), layer_,
                                           is_override_, !sets_all_,        is_tiles};
  }

  bool read_value(const std::string& name, const toml::node& node, const SourceLocation& where) {
    std::optional<std::string> problem;
    for_each_key(machine_, [&](const Key& key, auto& field) {
      if (name == key.name) problem = read_field(key, node, field);
    });
    if (name == tiles_key().name) {
      std::uint32_t tiles = 0;
      problem = read_field(tiles_key(), node, tiles);
      if (!problem) tiles_ = tiles;
    }
    if (!problem) return true;
    fail(where, *std::move(problem));
    return false;
  }

  /// The machine, with the wide encoding where that of a builtin machine has no room for it.
  [[nodiscard]] MachineConfig widened() const {
    MachineConfig machine = machine_;
    const auto encoding = set_.find("isa.encoding");
    if (encoding != set_.end() && encoding->second.where.file.starts_with("builtin:") &&
        !beyond_mk2(machine).empty())
      machine.isa.encoding = Encoding::kWide;
    return machine;
  }

  /// A builtin's name is that of its numbers alone.
  void name_after_file(const std::string& file) {
    if (!is_whole_) return;
    for (const BuiltinMachine& builtin : builtin_machine_files()) {
      if (builtin.name != machine_.name || builtin.name == file ||
          file == "builtin:" + std::string(builtin.name))
        continue;
      if (config_numbers(load_machine(machine_.name)) != config_numbers(machine_))
        machine_.name += " with " + std::filesystem::path(file).filename().string();
      return;
    }
  }

  /// Rules between keys that were all read. A rule is the override's that breaks it, at the key
  /// that was set last.
  void check_rules(const MachineConfig& of_files) {
    if (!is_whole_) return;
    std::set<std::size_t> broken_by_files;
    for (const BrokenRule& rule : problems(of_files)) broken_by_files.insert(rule.rule);
    for (const BrokenRule& broken : problems(machine_)) {
      if (std::ranges::any_of(broken.keys,
                              [&](const std::string& key) { return unread_.contains(key); }))
        continue;
      const Setting* last = nullptr;
      for (const std::string& key : broken.keys) {
        const Setting& setting = set_.at(key);
        if (last == nullptr || setting.layer > last->layer) last = &setting;
      }
      const bool is_override = last->is_override && !broken_by_files.contains(broken.rule);
      found_.push_back({{last->where, broken.message}, last->layer, is_override});
    }
  }

  /// Each key that was set is read, and was scaled where it should be. One that was set before the
  /// fabric is that of a machine which this one varies; one that is scaled stands in a pattern, or
  /// is varied to see what it does.
  void check_read() {
    const auto fabric = set_.find("exchange.fabric");
    if (fabric == set_.end()) return;
    const std::vector<ConfigKey> keys = config_keys(machine_);
    const ConfigKey& kind = *std::ranges::find(keys, fabric->first, &ConfigKey::key);
    for (const auto& [key, setting] : set_) {
      const bool is_later = setting.is_override || setting.layer >= fabric->second.layer;
      if (!setting.is_choice || !is_later || reads_key(machine_, key)) continue;
      found_.push_back({{setting.where, fmt::format("nothing reads '{}' where exchange.fabric = {}",
                                                    key, kind.value)},
                        setting.layer,
                        setting.is_override});
    }
    for (const auto& [key, found] : unscaled_) {
      if (reads_key(machine_, key)) found_.push_back(found);
    }
  }

  /// A short send is no longer than the encoding has room for: one that nobody chose becomes so
  /// long, another one is a problem.
  void limit_sends() {
    const auto longest = set_.find("exchange.max_send_words");
    const std::uint32_t most = max_send(machine_.isa.encoding);
    std::uint32_t& words = machine_.exchange.max_send_words;
    if (longest == set_.end() || words <= most) return;
    Setting& setting = longest->second;
    const std::string limit = fmt::format("isa.encoding = \"wide\" has room for {}", most);
    if (setting.is_choice && !setting.where.file.starts_with("builtin:")) {
      found_.push_back(
          {{setting.where, fmt::format("exchange.max_send_words = {}; {}", words, limit)},
           setting.layer,
           setting.is_override});
      return;
    }
    words = most;
    setting.source = "derived: " + limit;
  }

  void throw_problems() {
    if (found_.empty()) return;
    std::ranges::stable_sort(found_, {}, [](const Found& found) {
      const SourceLocation& where = found.problem.where;
      return std::tuple(found.layer, where.line, where.column);
    });
    std::vector<Problem> problems;
    bool is_usage = true;
    for (Found& found : found_) {
      is_usage = is_usage && found.is_override;
      problems.push_back(std::move(found.problem));
    }
    if (is_usage) throw UserError(ExitCode::kUsage, std::move(problems));
    throw MalformedInput(std::move(problems));
  }

  std::vector<std::string> files_;  ///< that were read, builtin ones left out
  MachineConfig machine_;
  std::map<std::string, Setting> set_;
  std::optional<std::uint32_t> tiles_;  ///< `grid.tiles`
  Setting tiles_set_;
  std::set<std::string> unread_;  ///< keys that were to be set and are not
  std::vector<Found> found_;
  /// By a pattern: keys, and problems where the machine reads them.
  std::vector<std::pair<std::string, Found>> unscaled_;
  std::string file_;       ///< that is being read, or the override
  std::size_t layer_ = 0;  ///< its number in the order of reading
  bool is_override_ = false;
  bool sets_all_ = false;  ///< that file extends no other
  bool is_compiled_ = false;
  bool is_whole_ = true;  ///< no file is missing or malformed as a whole
};

}  // namespace

MachineConfig load_machine(const std::string& machine, const std::vector<std::string>& overrides) {
  return MachineReader(machine, overrides).machine();
}

std::vector<std::string> machine_files(const std::string& machine,
                                       const std::vector<std::string>& overrides) {
  return MachineReader(machine, overrides).files();
}

MachineSources machine_sources(const std::string& machine,
                               const std::vector<std::string>& overrides) {
  return MachineReader(machine, overrides).sources();
}

SourcedMachine load_sourced_machine(const std::string& machine,
                                    const std::vector<std::string>& overrides) {
  const MachineReader reader(machine, overrides);
  return {reader.machine(), reader.sources()};
}

SourcedMachine read_compiled_machine(const std::string& text, const std::string& file,
                                     const std::vector<std::string>& overrides) {
  const MachineReader reader(text, file, overrides);
  return {reader.machine(), reader.sources()};
}

}  // namespace superstep
