#include <fmt/format.h>

#include <map>
#include <sstream>

#include "isa/machine_config.h"
#include "tools/command.h"
#include "tools/machine_lines.h"

namespace superstep {
namespace {

/// A machine file with a comment after each key: where its value comes from.
std::string with_sources(const std::string& toml,
                         const std::map<std::string, std::string>& sources) {
  std::string out, section;
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) section = line.substr(1, line.find(']') - 1) + ".";
    const std::size_t equals = line.find(" =");
    const auto source = equals == std::string::npos
                            ? sources.end()
                            : sources.find(section + line.substr(0, equals));
    out += source == sources.end() || section.empty()
               ? line
               : fmt::format("{:<36}  # {}", line, source->second);
    out += "\n";
  }
  return out;
}

}  // namespace

Options config_options() {
  Options options(
      "config list | keys | show MACHINE | check FILE…",
      "Lists machines and keys, prints a machine with the source of each number, checks files.",
      {"superstep config show bow --set tile.workers=8", "superstep config check mine.toml",
       "superstep config keys"});
  options.values("set", "KEY=VALUE", "override one key of the machine").positionals(1, 1000);
  return options;
}

ExitCode config_command(const Options& options) {
  const std::string& verb = options.words()[0];
  const std::vector<std::string> rest(options.words().begin() + 1, options.words().end());
  if (verb == "list") {
    for (const std::string& name : builtin_machines()) {
      const MachineConfig machine = load_machine(name);
      fmt::print("{:<10}{:>6} tiles  {}\n", name, machine.tiles(), machine.description);
    }
    return ExitCode::kOk;
  }
  if (verb == "keys") {
    for (const ConfigKey& key : config_keys())
      fmt::print("{:<34}{:<20}{}\n", key.key, key.default_value, key.help);
    return ExitCode::kOk;
  }
  if (verb == "show") {
    if (rest.size() != 1) usage_error("config show takes one machine");
    const MachineConfig machine = load_machine(rest[0], options.list("set"));
    fmt::print("{}", with_sources(to_toml(machine), machine_sources(rest[0], options.list("set"))));
    return ExitCode::kOk;
  }
  if (verb == "check") {
    if (rest.empty()) usage_error("config check takes one or more machine files");
    for (const std::string& file : rest) {
      (void)load_machine(file, options.list("set"));
      fmt::print("{}: ok\n", file);
    }
    return ExitCode::kOk;
  }
  const std::string guess = nearest(verb, {"list", "keys", "show", "check"});
  usage_error(fmt::format(
      "unknown verb '{}'{}", verb,
      guess.empty() ? "; use list, keys, show or check" : "; did you mean '" + guess + "'?"));
}

}  // namespace superstep
