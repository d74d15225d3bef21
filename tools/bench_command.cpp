#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tools/host_threads.h"
#include "tools/command.h"
#include "tools/compile_file.h"
#include "base/files.h"
#include "base/output_file.h"
#include "report/json_text.h"
#include "report/numbers.h"
#include "tools/progress.h"
#include "tools/tensors.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema = "superstep-baseline/1";
/// What a baseline holds of a run, in the order of the file.
constexpr const char* kCounts[] = {"device_cycles", "compute_cycles", "exchange_cycles",
                                   "sync_cycles",   "host_cycles",    "supersteps"};

/// Runs one benchmark and returns its counts. Arguments that its input does not have are made up:
/// cycles depend on them only where code branches on data, and the seed is fixed.
ordered_json measure(const ordered_json& benchmark, const std::filesystem::path& root,
                     std::uint32_t threads, Progress& progress) {
  const SourcedMachine machine = load_sourced_machine(benchmark.at("machine").get<std::string>());
  Answer unseen("bench", {}, false);  // what does not fit is a row of the table
  const ProgramImage image = compile_file(
      (root / benchmark.at("program").get<std::string>()).string(), machine, progress, unseen);
  RunOptions run;
  run.calls = benchmark.at("calls").get<std::uint32_t>();
  run.threads = threads;
  std::vector<std::string> inputs = {"random:1"};
  if (benchmark.contains("input")) {
    inputs.push_back((root / benchmark["input"].get<std::string>()).string());
  }
  progress.stage("simulate");
  const RunResult result = run_image(image, load_arguments(image, inputs, TensorFile{}), run);
  if (result.trap) throw UserError(ExitCode::kFailedCheck, result.trap->text());
  const RunTotals& t = result.totals;
  return {{"device_cycles", (t.exchange + t.compute + t.sync).value()},
          {"compute_cycles", t.compute.value()},
          {"exchange_cycles", t.exchange.value()},
          {"sync_cycles", t.sync.value()},
          {"host_cycles", t.host.value()},
          {"supersteps", t.supersteps}};
}

/// What moved, largest part first by order of the file: `exchange_cycles +12, supersteps -1`.
std::string changes(const ordered_json& before, const ordered_json& after) {
  std::string text;
  for (const char* name : kCounts) {
    const auto a = before.value(name, std::int64_t{0}), b = after.at(name).get<std::int64_t>();
    if (a == b || std::string_view(name) == "device_cycles") continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {:+}", name, b - a);
  }
  return text;
}

/// Throws for a field of an object that is none of those that are known.
void check_fields(const std::string& path, const std::string& what, const ordered_json& object,
                  const std::vector<std::string>& known) {
  for (const auto& [field, value] : object.items()) {
    if (std::ranges::find(known, field) != known.end()) continue;
    const std::string guess = nearest(field, known);
    throw MalformedInput(
        {{SourceLocation{path, 0, 0},
          fmt::format("{} has an unknown field '{}'; {}", what, field,
                      guess.empty() ? fmt::format("it has {}", fmt::join(known, ", "))
                                    : "did you mean '" + guess + "'?")}});
  }
}

ordered_json read_baseline(const std::string& path) {
  ordered_json document = ordered_json::parse(read_text_file(path), nullptr, false);
  if (document.is_discarded() || !document.is_object() || document.value("schema", "") != kSchema ||
      !document.contains("benchmarks") || !document["benchmarks"].is_object())
    throw MalformedInput(
        {{SourceLocation{path, 0, 0},
          fmt::format("is no baseline file: JSON with \"schema\": \"{}\" and \"benchmarks\"",
                      kSchema)}});
  check_fields(path, "the file", document, {"schema", "benchmarks"});
  for (const auto& [name, entry] : document["benchmarks"].items()) {
    const std::string what = fmt::format("benchmark '{}'", name);
    if (entry.is_object())
      check_fields(path, what, entry, {"program", "machine", "calls", "input", "counts"});
    if (!entry.is_object() || !entry.contains("program") || !entry["program"].is_string() ||
        !entry.contains("machine") || !entry["machine"].is_string() || !entry.contains("calls") ||
        !entry["calls"].is_number_unsigned())
      throw MalformedInput(
          {{SourceLocation{path, 0, 0}, fmt::format("{} needs program, machine and calls", what)}});
    if (entry.contains("input") && !entry["input"].is_string())
      throw MalformedInput(
          {{SourceLocation{path, 0, 0}, fmt::format("input of {} is no file name", what)}});
    if (!entry.contains("counts")) continue;
    if (!entry["counts"].is_object())
      throw MalformedInput(
          {{SourceLocation{path, 0, 0}, fmt::format("counts of {} are no object", what)}});
    check_fields(path, "counts of " + what, entry["counts"],
                 {std::begin(kCounts), std::end(kCounts)});
  }
  return document;
}

/// One benchmark a line, so that a change of one is a change of one line.
std::string baseline_text(const ordered_json& document) {
  std::string text = fmt::format("{{\"schema\": \"{}\", \"benchmarks\": {{\n", kSchema);
  bool first = true;
  for (const auto& [name, entry] : document["benchmarks"].items()) {
    text += fmt::format("{}\"{}\": {}", first ? "" : ",\n", name, json_text(entry));
    first = false;
  }
  return text + "\n}}\n";
}

}  // namespace

std::span<const AnswerField> bench_fields() {
  static constexpr AnswerField kFields[] = {
      {"benchmarks", "list", "", "those that were run"},
      {"benchmarks[].name", "text", "", ""},
      {"benchmarks[].verdict", "text", "", "ok, new, changed, slower, faster or failed"},
      {"benchmarks[].message", "text", "", "why it failed"},
      {"benchmarks[].before", "object", "", "counts of the baseline, by name"},
      {"benchmarks[].counts", "object", "", "counts that were found, by name"},
  };
  return kFields;
}

Options bench_options() {
  Options options("bench BASELINE.json [options]",
                  "Runs the benchmarks of a baseline file and compares simulated cycles exactly: "
                  "any change fails (docs/baseline.md).",
                  {"superstep bench tests/baseline/cycles.json",
                   "superstep bench tests/baseline/cycles.json --update",
                   "superstep bench tests/baseline/cycles.json --match digits"});
  options.flag("update", "write what was found into the file")
      .value("match", "TEXT", "only benchmarks with TEXT in their name")
      .value("root", "DIR", "folder that program paths are relative to (the current one)")
      .value(HostThreads::kName, "N", HostThreads::kHelp)
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

ExitCode bench_command(const Options& options, Answer& answer) {
  const std::string& path = options.words()[0];
  ordered_json document = read_baseline(path);
  const std::string match = options.get("match").value_or("");
  const std::filesystem::path root = options.get("root").value_or("");
  const HostThreads threads(options);
  const bool update = options.has("update");
  if (update) check_output(path);
  Progress progress(options.has("quiet"));
  std::size_t compared = 0, changed = 0, failed = 0;
  ordered_json rows = ordered_json::array();
  std::string table = fmt::format("{:<36}{:>18}{:>14}{:>10}  {}\n", "benchmark", "device cycles",
                                  "change", "", "verdict");
  for (auto& [name, entry] : document["benchmarks"].items()) {
    if (name.find(match) == std::string::npos) continue;
    ++compared;
    progress.set_prefix(name + "  ");
    ordered_json found;
    try {
      found = measure(entry, root, threads.count(), progress);
    } catch (const UserError& error) {
      ++failed;
      rows.push_back({{"name", name}, {"verdict", "failed"}, {"message", error.what()}});
      table +=
          fmt::format("{:<36}{:>18}{:>14}{:>10}  FAILED: {}\n", name, "-", "", "", error.what());
      continue;
    }
    const ordered_json before = entry.value("counts", ordered_json::object());
    const auto a = before.value("device_cycles", std::int64_t{0});
    const auto b = found["device_cycles"].get<std::int64_t>();
    const bool same = before == found;
    if (!same) ++changed;
    const char* verdict = same             ? "ok"
                          : before.empty() ? "new"
                          : b == a         ? "changed"
                          : b > a          ? "slower"
                                           : "faster";
    rows.push_back({{"name", name}, {"verdict", verdict}, {"before", before}, {"counts", found}});
    const std::string percent =
        a == 0
            ? ""
            : fmt::format("{:+.2f} %", 100.0 * static_cast<double>(b - a) / static_cast<double>(a));
    table +=
        fmt::format("{:<36}{:>18}{:>14}{:>10}  {}\n", name, grouped(static_cast<std::uint64_t>(b)),
                    same || before.empty() ? "" : fmt::format("{:+}", b - a), same ? "" : percent,
                    same             ? "ok"
                    : before.empty() ? "NEW"
                    : b == a         ? "CHANGED  " + changes(before, found)
                    : b > a          ? "SLOWER  " + changes(before, found)
                                     : "FASTER  " + changes(before, found));
    entry["counts"] = std::move(found);
  }
  progress.clear();
  answer.print("{}", table);
  answer.fields()["benchmarks"] = std::move(rows);
  if (compared == 0)
    usage_error(fmt::format("no benchmark of {} has '{}' in its name", path, match));
  if (update) replace_file(path, baseline_text(document));
  answer.print("{} compared, {} changed, {} failed{}\n", compared, changed, failed,
               update ? "; " + path + " written" : "");
  if (failed != 0) {
    answer.add_problem({{path, 0, 0}, fmt::format("{} of {} benchmarks failed", failed, compared)});
    return ExitCode::kFailedCheck;
  }
  if (changed == 0 || update) return ExitCode::kOk;
  answer.add_problem(
      {{path, 0, 0},
       fmt::format("cycles differ; accept them with `superstep bench {} --update`", path)});
  return ExitCode::kRegression;
}

}  // namespace superstep
