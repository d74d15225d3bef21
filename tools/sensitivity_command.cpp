#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/hdf5_file.h"
#include "isa/machine_config.h"
#include "isa/machine_keys.h"
#include "sim/run_image.h"
#include "sim/trace/cost_source.h"
#include "tools/command.h"
#include "tools/compile_file.h"
#include "tools/host_threads.h"
#include "report/numbers.h"
#include "tools/progress.h"
#include "tools/tensors.h"
#include "report/text_table.h"

namespace superstep {
namespace {

constexpr const char* kFactors[] = {"0.5", "2"};

/// What a run takes on a machine of which a key may be changed, or why there is none.
struct CyclesOrProblem {
  std::uint64_t device = 0, host = 0;
  std::string value = {};  ///< of the key, as a machine file has it
  bool is_exact = true;    ///< else it is rounded to a whole number of its unit
  std::string problem = {};
};

/// What a key does when its number is halved and doubled.
struct Sensitivity {
  ConfigKey key;
  std::string source;
  CostSource kind = CostSource::kAssumed;
  std::vector<CyclesOrProblem> outcomes;  ///< by factor
};

/// Runs the program on machines that differ from one in one key.
class Variation {
 public:
  Variation(const Options& options, std::uint32_t threads, Progress& progress)
      : path_(options.words()[0]),
        machine_name_(options.get("machine").value_or(kDefaultMachine)),
        overrides_(options.list("set")),
        base_(load_sourced_machine(machine_name_, overrides_)),
        progress_(progress) {
    run_.calls = options.number("repeat", 1, 1'000'000'000, 1);
    run_.threads = threads;
    image_ = compiled(base_);
    run_.infeeds = load_infeeds(image_, options.get("infeed"));
    arguments_ = load_arguments(image_, options.list("input"), TensorFile{});
  }

  [[nodiscard]] const SourcedMachine& base() const { return base_; }
  [[nodiscard]] CyclesOrProblem plain() const { return outcome_of(image_); }

  /// With the number of a key, or each of its list, times a factor.
  [[nodiscard]] CyclesOrProblem scaled(const ConfigKey& key, const std::string& factor) {
    std::vector<std::string> overrides = overrides_;
    overrides.push_back(key.key + "=x" + factor);
    try {
      const SourcedMachine machine = load_sourced_machine(machine_name_, overrides);
      const std::string value = value_of(machine.machine, key.key);
      if (value == key.value) return {.value = value, .problem = "rounded it is " + value};
      CyclesOrProblem outcome;
      if (key.scope == Scope::kCompile) {
        outcome = outcome_of(compiled(machine));
      } else {
        ProgramImage image = image_;
        image.machine = machine.machine;
        outcome = outcome_of(image);
      }
      outcome.value = value;
      outcome.is_exact = is_exact(machine.machine, key.key, std::stod(factor));
      return outcome;
    } catch (const UserError& error) {
      return {.problem = error.problems()[0].message};
    }
  }

 private:
  [[nodiscard]] static std::string value_of(const MachineConfig& machine, const std::string& key) {
    const std::vector<ConfigKey> keys = config_keys(machine);
    return std::ranges::find(keys, key, &ConfigKey::key)->value;
  }

  [[nodiscard]] bool is_exact(const MachineConfig& machine, const std::string& key,
                              double factor) const {
    const std::vector<ConfigNumber> before = config_numbers(base_.machine);
    const std::vector<ConfigNumber> after = config_numbers(machine);
    return std::ranges::equal(before, after, [&](const ConfigNumber& a, const ConfigNumber& b) {
      return a.key.substr(0, a.key.find('[')) != key ||
             static_cast<double>(b.value) == factor * static_cast<double>(a.value);
    });
  }

  [[nodiscard]] ProgramImage compiled(const SourcedMachine& machine) const {
    Answer unseen("sensitivity", {}, false);  // what does not fit is a cell of the table
    return compile_file(path_, machine, progress_, unseen);
  }

  [[nodiscard]] CyclesOrProblem outcome_of(const ProgramImage& image) const {
    progress_.stage("simulate");
    const RunResult result = run_image(image, arguments_, run_);
    if (result.trap) throw UserError(ExitCode::kFailedCheck, result.trap->text());
    return {.device = result.totals.device().value(), .host = result.totals.host.value()};
  }

  std::string path_, machine_name_;
  std::vector<std::string> overrides_;
  SourcedMachine base_;
  Progress& progress_;
  RunOptions run_;
  std::vector<HostTensor> arguments_;
  ProgramImage image_;
};

double change(std::uint64_t before, std::uint64_t after) {
  if (before == 0) return 0;
  return 100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
}

/// The most that device and host cycles together move by.
double effect(const Sensitivity& row, const CyclesOrProblem& plain) {
  double most = 0;
  for (const CyclesOrProblem& outcome : row.outcomes) {
    if (!outcome.problem.empty()) continue;
    most =
        std::max(most, std::fabs(change(plain.device + plain.host, outcome.device + outcome.host)));
  }
  return most;
}

std::string cell(std::uint64_t before, const CyclesOrProblem& outcome, std::uint64_t after) {
  if (!outcome.problem.empty()) return "-";
  return before == after ? "0" : fmt::format("{:+.2f}", change(before, after));
}

std::string table_of(const std::vector<Sensitivity>& rows, const CyclesOrProblem& plain) {
  using enum TextTable::Align;
  TextTable table({kLeft, kRight, kLeft, kLeft, kRight, kRight, kRight, kRight});
  table.add({"key", "value", "source", "read by", "device /2", "x2", "host /2", "x2"});
  for (const Sensitivity& row : rows) {
    const CyclesOrProblem &half = row.outcomes[0], &twice = row.outcomes[1];
    table.add({row.key.key, row.key.value,
               std::string(kCostSources[static_cast<std::size_t>(row.kind)]),
               row.key.scope == Scope::kCompile ? "compiler" : "simulator",
               cell(plain.device, half, half.device), cell(plain.device, twice, twice.device),
               cell(plain.host, half, half.host), cell(plain.host, twice, twice.host)});
  }
  return table.text();
}

/// The numbers that a factor did not give exactly.
std::string rounded_text(const std::vector<Sensitivity>& rows) {
  std::string out;
  for (const Sensitivity& row : rows) {
    for (std::size_t f = 0; f < row.outcomes.size(); ++f) {
      const CyclesOrProblem& outcome = row.outcomes[f];
      if (!outcome.problem.empty() || outcome.is_exact) continue;
      out += fmt::format("rounded: {} x {} of {} is {}\n", row.key.key, kFactors[f], row.key.value,
                         outcome.value);
    }
  }
  return out;
}

nlohmann::ordered_json fields_of(const Sensitivity& row) {
  nlohmann::ordered_json outcomes = nlohmann::ordered_json::array();
  for (std::size_t f = 0; f < std::size(kFactors); ++f) {
    const CyclesOrProblem& outcome = row.outcomes[f];
    nlohmann::ordered_json of_factor = {{"factor", std::stod(kFactors[f])}};
    if (!outcome.value.empty()) of_factor["value"] = outcome.value;
    if (outcome.problem.empty()) {
      of_factor["device_cycles"] = outcome.device;
      of_factor["host_cycles"] = outcome.host;
    } else {
      of_factor["problem"] = outcome.problem;
    }
    outcomes.push_back(std::move(of_factor));
  }
  return {{"key", row.key.key},
          {"value", row.key.value},
          {"source", row.source},
          {"compiled_again", row.key.scope == Scope::kCompile},
          {"outcomes", std::move(outcomes)}};
}

}  // namespace

std::span<const AnswerField> sensitivity_fields() {
  static constexpr AnswerField kFields[] = {
      {"machine", "text", "", "name of the machine"},
      {"machine_overrides", "list", "", "each --set"},
      {"machine_sha256", "text", "", "of the machine as a file with every key"},
      {"device_cycles", "integer", "cycle", "of the machine as it is"},
      {"host_cycles", "integer", "cycle", "likewise"},
      {"keys", "list", "", "by their effect, the greatest first"},
      {"keys[].key", "text", "", "of the machine file"},
      {"keys[].value", "text", "", "as a machine file has it"},
      {"keys[].source", "text", "", "where the number comes from"},
      {"keys[].compiled_again", "boolean", "", "the compiler reads it"},
      {"keys[].outcomes", "list", "", "of the number halved and doubled"},
      {"keys[].outcomes[].factor", "number", "", ""},
      {"keys[].outcomes[].value", "text", "", "of the key, rounded to a whole number of its unit"},
      {"keys[].outcomes[].device_cycles", "integer", "cycle", ""},
      {"keys[].outcomes[].host_cycles", "integer", "cycle", ""},
      {"keys[].outcomes[].problem", "text", "", "why there is no run with it"},
  };
  return kFields;
}

Options sensitivity_options() {
  Options options("sensitivity PROGRAM.mlir [options]",
                  "Halves and doubles each assumed or extrapolated number of a machine and shows "
                  "by how many per cent cycles change. The program is compiled again where the "
                  "compiler reads the number.",
                  {"superstep sensitivity step.mlir -m bow --input random:1",
                   "superstep sensitivity step.mlir -m bow --input random:1 --all"});
  options.value("machine,m", "NAME|FILE", "builtin machine or machine file (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .values("input,i", "FILE", "arguments arg0, arg1, …; random:SEED makes those up that remain")
      .value("infeed", "FILE", "infeed0, infeed1, … of the program: the first axis counts visits")
      .value("repeat", "N", "calls of the program (1)")
      .flag("all", "each number of the machine, whatever its source")
      .value(HostThreads::kName, "N", HostThreads::kHelp)
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

ExitCode sensitivity_command(const Options& options, Answer& answer) {
  if (is_hdf5(options.words()[0])) {
    usage_error(
        fmt::format("'{}' is compiled: sensitivity compiles for machines with other "
                    "numbers, and takes a StableHLO program",
                    options.words()[0]));
  }
  const HostThreads threads(options);
  Progress progress(options.has("quiet"));
  Variation variation(options, threads.count(), progress);
  const SourcedMachine& base = variation.base();
  add_identity(base.machine, options.list("set"), answer);
  const CyclesOrProblem plain = variation.plain();
  std::vector<Sensitivity> rows;
  std::vector<std::string> zeros;
  for (const ConfigKey& key : config_keys(base.machine)) {
    if (key.unit == Unit::kName || !reads_key(base.machine, key.key)) continue;
    const auto source = base.sources.find(key.key);
    const std::string text = source == base.sources.end() ? "assumed" : source->second;
    const CostSource kind = cost_source(base.sources, key.key);
    const bool is_open = kind == CostSource::kAssumed || kind == CostSource::kExtrapolated;
    if (!options.has("all") && !is_open) continue;
    const auto numbers = config_numbers(base.machine);
    const bool is_zero = std::ranges::none_of(numbers, [&](const ConfigNumber& number) {
      return number.key.substr(0, number.key.find('[')) == key.key && number.value != 0;
    });
    if (is_zero) {
      zeros.push_back(key.key);
      continue;
    }
    progress.set_prefix(key.key + "  ");
    Sensitivity row{key, text, kind, {}};
    for (const char* factor : kFactors) row.outcomes.push_back(variation.scaled(key, factor));
    rows.push_back(std::move(row));
  }
  progress.clear();
  std::ranges::stable_sort(rows, [&](const Sensitivity& a, const Sensitivity& b) {
    return effect(a, plain) > effect(b, plain);
  });
  answer.print("{}: {} device and {} host cycles; changes in per cent\n\n", base.machine.name,
               grouped(plain.device), grouped(plain.host));
  answer.print("{}", table_of(rows, plain));
  answer.print("{}", rounded_text(rows));
  for (const Sensitivity& row : rows) {
    for (std::size_t f = 0; f < row.outcomes.size(); ++f) {
      if (row.outcomes[f].problem.empty()) continue;
      answer.print("no run with {} x {}: {}\n", kFactors[f], row.key.key, row.outcomes[f].problem);
    }
  }
  if (!zeros.empty()) {
    answer.print("0, which no factor changes: {}\n", fmt::format("{}", fmt::join(zeros, ", ")));
  }
  nlohmann::ordered_json& fields = answer.fields();
  fields["device_cycles"] = plain.device;
  fields["host_cycles"] = plain.host;
  fields["keys"] = nlohmann::ordered_json::array();
  for (const Sensitivity& row : rows) fields["keys"].push_back(fields_of(row));
  return ExitCode::kOk;
}

}  // namespace superstep
