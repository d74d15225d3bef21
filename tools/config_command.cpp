#include <fmt/format.h>

#include <map>
#include <sstream>

#include "isa/machine_config.h"
#include "tools/command.h"
#include "tools/machine_lines.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

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

std::span<const AnswerField> config_fields() {
  static constexpr AnswerField kFields[] = {
      {"machines", "list", "", "list: the builtin machines"},
      {"machines[].name", "text", "", ""},
      {"machines[].tiles", "integer", "", ""},
      {"machines[].description", "text", "", ""},
      {"keys", "list", "", "keys: every key of a machine file"},
      {"keys[].key", "text", "", ""},
      {"keys[].default", "text", "", "as a file has it"},
      {"keys[].meaning", "text", "", ""},
      {"name", "text", "", "show: name of the machine"},
      {"toml", "text", "", "show: the machine as a file with every key"},
      {"sources", "object", "", "show: where the value of each key comes from"},
      {"files", "list", "", "check: files that are in order"},
  };
  return kFields;
}

Options config_options() {
  Options options(
      "config list | keys | show MACHINE | check FILE…",
      "Lists machines and keys, prints a machine with the source of each number, checks files.",
      {"superstep config show bow --set tile.workers=8", "superstep config check mine.toml",
       "superstep config keys"});
  options.values("set", "KEY=VALUE", "override one key of the machine").positionals(1, 1000);
  return options;
}

ExitCode config_command(const Options& options, Answer& answer) {
  const std::string& verb = options.words()[0];
  const std::vector<std::string> rest(options.words().begin() + 1, options.words().end());
  if (verb == "list") {
    answer.fields()["machines"] = ordered_json::array();
    for (const std::string& name : builtin_machines()) {
      const MachineConfig machine = load_machine(name);
      answer.print("{:<10}{:>6} tiles  {}\n", name, machine.tiles(), machine.description);
      answer.fields()["machines"].push_back(
          {{"name", name}, {"tiles", machine.tiles()}, {"description", machine.description}});
    }
    return ExitCode::kOk;
  }
  if (verb == "keys") {
    answer.fields()["keys"] = ordered_json::array();
    for (const ConfigKey& key : config_keys()) {
      answer.print("{:<34}{:<20}{}\n", key.key, key.default_value, key.help);
      answer.fields()["keys"].push_back(
          {{"key", key.key}, {"default", key.default_value}, {"meaning", key.help}});
    }
    return ExitCode::kOk;
  }
  if (verb == "show") {
    if (rest.size() != 1) usage_error("config show takes one machine");
    const MachineConfig machine = load_machine(rest[0], options.list("set"));
    const auto sources = machine_sources(rest[0], options.list("set"));
    answer.print("{}", with_sources(to_toml(machine), sources));
    answer.fields() = {{"name", machine.name}, {"toml", to_toml(machine)}, {"sources", sources}};
    return ExitCode::kOk;
  }
  if (verb == "check") {
    if (rest.empty()) usage_error("config check takes one or more machine files");
    for (const std::string& file : rest) {
      (void)load_machine(file, options.list("set"));
      answer.print("{}: ok\n", file);
      answer.fields()["files"].push_back(file);
    }
    return ExitCode::kOk;
  }
  const std::string guess = nearest(verb, {"list", "keys", "show", "check"});
  usage_error(fmt::format(
      "unknown verb '{}'{}", verb,
      guess.empty() ? "; use list, keys, show or check" : "; did you mean '" + guess + "'?"));
}

}  // namespace superstep
