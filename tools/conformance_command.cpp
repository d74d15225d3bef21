#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/each_index.h"
#include "base/output_file.h"
#include "tools/command.h"
#include "tools/compile_file.h"
#include "tools/conformance.h"
#include "tools/conformance_record.h"
#include "tools/host_threads.h"
#include "report/numbers.h"
#include "tools/progress.h"
#include "tools/signals.h"
#include "report/text_table.h"

namespace superstep {
namespace {

/// Few tiles are quick, and with more than one all that moves between tiles moves.
constexpr const char* kMachine = "tiny4";

struct Row {
  std::array<std::size_t, 5> verdicts{};  ///< by Verdict
  std::uint64_t device_steps = 0, worker_instructions = 0;

  void add(const ConformanceOutcome& outcome) {
    ++verdicts.at(static_cast<std::size_t>(outcome.verdict));
    device_steps += outcome.device_steps;
    worker_instructions += outcome.worker_instructions;
  }
  [[nodiscard]] std::vector<std::string> cells(std::string name, std::string dtype) const {
    std::vector<std::string> out{std::move(name), std::move(dtype)};
    for (const std::size_t count : verdicts) out.push_back(count == 0 ? "-" : grouped(count));
    out.push_back(grouped(device_steps));
    out.push_back(grouped(worker_instructions));
    return out;
  }
};

std::string table_of(const std::vector<ConformanceOutcome>& outcomes) {
  std::map<std::pair<std::string, std::string>, Row> rows;
  Row all;
  for (const ConformanceOutcome& outcome : outcomes) {
    if (!outcome.disabled.empty()) continue;
    rows[{outcome.primitive, outcome.dtype}].add(outcome);
    all.add(outcome);
  }
  using enum TextTable::Align;
  TextTable table({kLeft, kLeft, kRight, kRight, kRight, kRight, kRight, kRight, kRight});
  table.add({"primitive", "dtype", "passed", "wrong", "refused", "not run", "malformed",
             "device steps", "worker instructions"});
  for (const auto& [key, row] : rows) table.add(row.cells(key.first, key.second));
  table.add(all.cells("all", ""));
  return table.text();
}

std::string name_of(const ConformanceOutcome& outcome) {
  const bool is_main = outcome.function.empty() || outcome.function == "main";
  return is_main ? outcome.file : outcome.file + " @" + outcome.function;
}

/// What was refused or not run, by its reason; the modules where a reason has few.
std::string by_reason(const std::vector<ConformanceOutcome>& outcomes, Verdict verdict) {
  std::map<std::string, std::vector<std::string>> reasons;
  std::size_t modules = 0;
  for (const ConformanceOutcome& outcome : outcomes) {
    if (outcome.verdict != verdict || !outcome.disabled.empty()) continue;
    ++modules;
    reasons[outcome.reason].push_back(outcome.primitive + (outcome.dtype.empty() ? "" : " ") +
                                      outcome.dtype);
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(reasons.begin(),
                                                                       reasons.end());
  std::ranges::stable_sort(
      sorted, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::string text;
  if (modules != 0) text = fmt::format("\n{}: {} modules\n", name_of(verdict), modules);
  for (auto& [reason, names] : sorted) {
    text += fmt::format("{:>6}  {}\n", names.size(), reason);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (std::string& name : names) name += ",";
    names.back().pop_back();
    text += wrapped(names, 10, output_columns());
  }
  return text;
}

/// Each module of a verdict with its reason.
std::string by_module(const std::vector<ConformanceOutcome>& outcomes, Verdict verdict) {
  std::string text;
  for (const ConformanceOutcome& outcome : outcomes) {
    if (outcome.verdict != verdict || !outcome.disabled.empty()) continue;
    text += fmt::format("  {}: {}\n", name_of(outcome), outcome.reason);
  }
  return text.empty() ? text : fmt::format("\n{}\n{}", name_of(verdict), text);
}

std::string disabled_text(const std::vector<ConformanceOutcome>& outcomes) {
  std::string text;
  for (const ConformanceOutcome& outcome : outcomes) {
    if (outcome.disabled.empty()) continue;
    text +=
        fmt::format("  {} ({}): {}{}\n", name_of(outcome), outcome.disabled,
                    name_of(outcome.verdict), outcome.reason.empty() ? "" : ", " + outcome.reason);
  }
  if (text.empty()) return text;
  return "\ndisabled by their own RUN line; their outcome does not count\n" + text;
}

nlohmann::ordered_json fields_of(const ConformanceOutcome& outcome) {
  nlohmann::ordered_json fields = {
      {"name", outcome.name},         {"file", outcome.file},
      {"function", outcome.function}, {"primitive", outcome.primitive},
      {"dtype", outcome.dtype},       {"verdict", name_of(outcome.verdict)}};
  if (!outcome.reason.empty()) fields["reason"] = outcome.reason;
  if (!outcome.disabled.empty()) fields["disabled"] = outcome.disabled;
  fields["device_steps"] = outcome.device_steps;
  fields["worker_instructions"] = outcome.worker_instructions;
  return fields;
}

}  // namespace

std::span<const AnswerField> conformance_fields() {
  static constexpr AnswerField kFields[] = {
      {"machine", "text", "", "name of the machine"},
      {"machine_overrides", "list", "", "each --set"},
      {"machine_sha256", "text", "", "of the machine as a file with every key"},
      {"modules", "list", "", "in the order of files"},
      {"modules[].name", "text", "", "folder, path in it and, of several in a file, number"},
      {"modules[].file", "text", "", ""},
      {"modules[].function", "text", "", "that has the checks"},
      {"modules[].primitive", "text", "", "by the name of the file"},
      {"modules[].dtype", "text", "", "by the name of the file, else of what is checked"},
      {"modules[].verdict", "text", "", "passed, wrong, refused, not run or malformed"},
      {"modules[].reason", "text", "", "unless it passed"},
      {"modules[].disabled", "text", "", "why its RUN line is disabled; then it does not count"},
      {"modules[].device_steps", "integer", "", "supersteps in which tiles compute or exchange"},
      {"modules[].worker_instructions", "integer", "", ""},
  };
  return kFields;
}

Options conformance_options() {
  Options options(
      "conformance DIR|FILE.mlir ... [options]",
      "Runs modules that check themselves, as StableHLO's test data do: what a module has as "
      "data is sent to the tiles as arguments, and results are compared by the rules of the check "
      "dialect. A module counts as not run if no tile computes or exchanges anything for the ops "
      "that make what is compared. Each *.mlir file of a folder counts, as malformed if there is "
      "no module in it. An interrupt ends with what came of the modules that are done. Fails "
      "unless every module passes that is not disabled, or with "
      "--expect where anything is not as "
      "FILE has it: how many modules of a folder pass, and what becomes of each other one.",
      {"superstep conformance stablehlo/stablehlo/testdata --expect testdata.txt --update",
       "superstep conformance stablehlo/stablehlo/testdata --expect testdata.txt",
       "superstep conformance stablehlo/stablehlo/testdata --filter scatter_add -m small64"});
  options.value("machine,m", "NAME|FILE", "builtin machine or machine file (tiny4)")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .value("max-supersteps", "N",
             "a module, or a loop without supersteps in it, that is not done by then is wrong "
             "(10,000,000)")
      .value("filter", "TEXT", "only files with TEXT in their name")
      .value("expect", "FILE", "compare what becomes of the modules with FILE")
      .flag("update", "write what became of them into the FILE of --expect")
      .value(HostThreads::kName, "N", HostThreads::kHelp)
      .flag("quiet,q", "no progress")
      .positionals(1, 1'000'000);
  return options;
}

ExitCode conformance_command(const Options& options, Answer& answer) {
  const SourcedMachine machine =
      load_sourced_machine(options.get("machine").value_or(kMachine), options.list("set"));
  add_identity(machine.machine, options.list("set"), answer);
  const std::optional<std::string> record = options.get("expect");
  const bool update = options.has("update");
  if (update && !record) usage_error("--update needs --expect FILE");
  if (update) check_output(*record);
  const ConformanceRecord expected = record && !update ? read_record(*record) : ConformanceRecord();
  const std::string filter = options.get("filter").value_or("");
  std::vector<ConformanceModule> modules;
  for (const std::string& word : options.words()) {
    for (ConformanceModule& module : conformance_modules(word)) {
      if (module.file.find(filter) != std::string::npos) modules.push_back(std::move(module));
    }
  }
  if (modules.empty()) {
    usage_error(fmt::format("no *.mlir file of {}{}", fmt::join(options.words(), ", "),
                            filter.empty() ? "" : " has '" + filter + "' in its name"));
  }
  const HostThreads threads(options);
  const InterruptRequest interrupt;
  ConformanceLimits limits;
  limits.interrupted = [&] { return interrupt.asked(); };
  if (options.has("max-supersteps"))
    limits.max_supersteps = options.number("max-supersteps", 1, 1'000'000'000, 1);
  Progress progress(options.has("quiet"));
  std::mutex mutex;
  std::size_t done = 0;
  std::vector<std::optional<ConformanceOutcome>> ran(modules.size());
  std::vector<std::string> cut_off;
  each_index(modules.size(), 1, [&](std::size_t i) {
    if (interrupt.asked()) return;
    ran[i] = run_conformance(modules[i], machine.machine, limits);
    const std::lock_guard lock(mutex);
    if (ran[i]) {
      ++done;
    } else {
      cut_off.push_back(modules[i].name);
    }
    if (progress.due()) progress.show(fmt::format("{} of {} modules", done, modules.size()));
  });
  progress.clear();
  std::vector<ConformanceOutcome> outcomes;
  for (std::optional<ConformanceOutcome>& outcome : ran) {
    if (outcome) outcomes.push_back(*std::move(outcome));
  }
  nlohmann::ordered_json& rows = answer.fields()["modules"] = nlohmann::ordered_json::array();
  for (const ConformanceOutcome& outcome : outcomes) rows.push_back(fields_of(outcome));
  answer.print("{}{}{}{}{}{}", table_of(outcomes), by_module(outcomes, Verdict::kWrong),
               by_module(outcomes, Verdict::kMalformed), by_reason(outcomes, Verdict::kRefused),
               by_reason(outcomes, Verdict::kNotRun), disabled_text(outcomes));
  if (done != modules.size()) {
    answer.add_problem(
        {{},
         fmt::format("interrupted: {} of {} modules are done{}{}", done, modules.size(),
                     cut_off.empty() ? "" : "; what ran: ", fmt::join(cut_off, ", "))});
    return ExitCode::kInterrupted;
  }
  if (update) {
    replace_file(*record, text_of(record_of(outcomes)));
    answer.print("\n{} written\n", *record);
    return ExitCode::kOk;
  }
  if (record) {
    const std::vector<std::string> sentences = differences(expected, outcomes);
    for (const std::string& sentence : sentences) answer.add_problem({{*record, 0, 0}, sentence});
    return sentences.empty() ? ExitCode::kOk : ExitCode::kFailedCheck;
  }
  const auto failed = std::ranges::count_if(outcomes, [](const ConformanceOutcome& outcome) {
    return outcome.verdict != Verdict::kPassed && outcome.disabled.empty();
  });
  if (failed == 0) return ExitCode::kOk;
  answer.add_problem({{}, fmt::format("{} of {} modules do not pass", failed, modules.size())});
  return ExitCode::kFailedCheck;
}

}  // namespace superstep
