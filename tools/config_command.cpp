#include <fmt/format.h>

#include "isa/machine_config.h"
#include "isa/machine_keys.h"
#include "tools/command.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

/// Throws every problem of every file; says of the others that they are well.
void check_files(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                 Answer& answer) {
  std::vector<Problem> problems;
  ExitCode code = ExitCode::kOk;
  for (const std::string& file : files) {
    try {
      (void)load_machine(file, overrides);
      answer.print("{}: ok\n", file);
      answer.fields()["files"].push_back(file);
    } catch (const UserError& error) {
      if (code == ExitCode::kOk || error.code() == ExitCode::kMalformed) code = error.code();
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw UserError(code, std::move(problems));
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
      {"keys[].default", "text", "", "that of gc200, as a file has it"},
      {"keys[].range", "text", "", "what is allowed, in the unit of the key"},
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
    for (const ConfigKey& key : file_keys(load_machine("gc200"))) {
      answer.print("{:<34}{:<20}{:<44}{}\n", key.key, key.value, key.range, key.help);
      answer.fields()["keys"].push_back(
          {{"key", key.key}, {"default", key.value}, {"range", key.range}, {"meaning", key.help}});
    }
    return ExitCode::kOk;
  }
  if (verb == "show") {
    if (rest.size() != 1) usage_error("config show takes one machine");
    const MachineConfig machine = load_machine(rest[0], options.list("set"));
    const auto sources = machine_sources(rest[0], options.list("set"));
    answer.print("{}", to_toml(machine, sources));
    answer.fields() = {{"name", machine.name}, {"toml", to_toml(machine)}, {"sources", sources}};
    return ExitCode::kOk;
  }
  if (verb == "check") {
    if (rest.empty()) usage_error("config check takes one or more machine files");
    check_files(rest, options.list("set"), answer);
    return ExitCode::kOk;
  }
  const std::string guess = nearest(verb, {"list", "keys", "show", "check"});
  usage_error(fmt::format(
      "unknown verb '{}'{}", verb,
      guess.empty() ? "; use list, keys, show or check" : "; did you mean '" + guess + "'?"));
}

}  // namespace superstep
