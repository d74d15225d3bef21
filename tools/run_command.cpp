#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <thread>

#include <unistd.h>

#include "compiler/compile.h"
#include "sim/host/arguments.h"
#include "sim/machine.h"
#include "sim/trace/trace.h"
#include "tools/command.h"
#include "tools/files.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/report.h"

namespace superstep {
namespace {

volatile std::sig_atomic_t interrupt_asked = 0;

void ask_interrupt(int) {
  // The second one ends the process at once.
  std::signal(SIGINT, SIG_DFL);
  interrupt_asked = 1;
}

double tolerance(const Options& options, const std::string& name, double otherwise) {
  const auto text = options.get(name);
  if (!text) return otherwise;
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(*text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text->size() || !(value >= 0))
    usage_error(fmt::format("--{} takes a number >= 0, found '{}'", name, *text));
  return value;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// The scalars that each call gave beside the expected ones: the loss curve.
std::string curves(const ProgramImage& image, const std::vector<HostTensor>& results,
                   const TensorFile& expected) {
  std::string out;
  for (const auto& [name, want] : expected) {
    for (std::size_t k = 0; k < results.size(); ++k) {
      const HostTensor& got = results[k];
      if (name != fmt::format("result{}", k) || got.type.shape.size() != 1 ||
          !(got.type == want.type) || !is_float(got.type.dtype))
        continue;
      const auto n = static_cast<std::size_t>(got.type.elements());
      if (n < 2 || !image.results[k].shape.empty()) continue;
      out += fmt::format("{:<10}{:>12}{:>16}{:>16}{:>14}\n", "call", name, "found", "expected",
                         "difference");
      for (std::size_t row = 0; row <= 8; ++row) {
        const std::size_t i = row * (n - 1) / 8;
        if (row > 0 && i == (row - 1) * (n - 1) / 8) continue;
        const double a = element_as_double(got, i), b = element_as_double(want, i);
        out += fmt::format("{:<10}{:>12}{:>16.7g}{:>16.7g}{:>14.2e}\n", i, "", a, b, a - b);
      }
    }
  }
  return out;
}

void print_small_results(const std::vector<HostTensor>& results) {
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto n = static_cast<std::size_t>(results[k].type.elements());
    std::string line = fmt::format("result{}  {}", k, results[k].type.text());
    if (n <= 16) {
      line += "  [";
      for (std::size_t i = 0; i < n; ++i)
        line += fmt::format("{}{:.7g}", i == 0 ? "" : ", ", element_as_double(results[k], i));
      line += "]";
    }
    fmt::print("{}\n", line);
  }
}

}  // namespace

ExitCode run_command(const std::vector<std::string>& words) {
  Options options(
      "run PROGRAM.mlir [options]",
      "Compiles a StableHLO program, runs it on a simulated machine and reports.",
      {"superstep run step.mlir -m bow --input train.h5 --repeat 44 --expect expected.h5 -o run.h5",
       "superstep run affine.mlir -m tiny4 --input random:1 --set tile.workers=8"});
  options.value("machine,m", "NAME|FILE", "builtin machine or machine file (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .values("input,i", "FILE|random:SEED", "arguments arg0, arg1, …; later files win")
      .value("parameters", "FILE", "results of an earlier run as the arguments that no input gives")
      .value("output", "FILE", "write result0, result1, … there")
      .value("trace,o", "FILE", "write the trace there")
      .value("level", "LEVEL", "summary, superstep or tile (tile)")
      .value("repeat", "N", "calls of the program (1)")
      .value("expect", "FILE", "compare with result0, result1, … of this file")
      .value("rtol", "X", "relative tolerance of --expect (1e-4)")
      .value("atol", "X", "absolute tolerance of --expect (1e-6)")
      .value("threads,j", "N", "host threads (all)")
      .flag("check-races", "trap when workers touch the same word")
      .flag("json", "print the report as JSON")
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  if (!options.parse(words)) return ExitCode::kOk;
  const std::string path = options.words()[0];
  const auto level = trace_level(options.get("level").value_or("tile"));
  if (!level)
    usage_error(
        fmt::format("--level is summary, superstep or tile, found '{}'", *options.get("level")));
  const double rtol = tolerance(options, "rtol", 1e-4), atol = tolerance(options, "atol", 1e-6);
  RunOptions run;
  run.calls = options.number("repeat", 1, 1'000'000'000, 1);
  run.threads =
      options.number("threads", 1, 256, std::max(1U, std::thread::hardware_concurrency()));
  run.check_races = options.has("check-races");

  Progress progress(options.has("quiet"));
  const MachineConfig machine =
      load_machine(options.get("machine").value_or("gc200"), options.list("set"));
  const Module module = import_stablehlo(read_text_file(path), path);
  ProgramInfo info;
  ProgramImage image;
  try {
    image = compile(
        module, machine,
        [&](std::string_view stage) { progress.show(fmt::format("compile   {}", stage)); },
        [&](const ProgramInfo& memory) { info = memory; });
  } catch (const DoesNotFit&) {
    fmt::print("{}", memory_report(info, machine));
    throw;
  }
  const std::vector<HostTensor> arguments = load_arguments(
      image.arguments, options.list("input"),
      options.has("parameters") ? read_tensors(*options.get("parameters")) : TensorFile{});
  check_arguments(image, arguments, run.calls);
  TensorFile expected;
  if (options.has("expect")) expected = read_tensors(*options.get("expect"));

  // Without -o the trace only feeds the report.
  const bool keep_trace = options.has("trace");
  const std::filesystem::path trace_path =
      keep_trace
          ? std::filesystem::path(*options.get("trace"))
          : std::filesystem::temp_directory_path() / fmt::format("superstep-{}.h5", getpid());
  std::string command_line = "superstep run";
  for (const std::string& word : words) command_line += " " + word;
  TraceWriter trace(trace_path, keep_trace ? *level : TraceLevel::kSuperstep, image,
                    {{"software", "superstep"},
                     {"software_version", SUPERSTEP_VERSION},
                     {"command_line", command_line},
                     {"created", date_now()},
                     {"host_threads", std::to_string(run.threads)}});

  std::uint32_t calls_done = 0;
  run.on_superstep = [&](const SuperstepRecord& record) {
    trace.on_superstep(record);
    progress.show(fmt::format(
        "simulate  call {}/{}  superstep {}  {}", calls_done, run.calls, record.number,
        record.step < image.info.steps.size() ? image.info.steps[record.step].name : ""));
  };
  run.on_call = [&](std::uint32_t calls) { calls_done = calls; };
  run.interrupted = [] { return interrupt_asked != 0; };
  std::signal(SIGINT, ask_interrupt);
  const auto begin = std::chrono::steady_clock::now();
  const RunResult result = run_image(image, arguments, run);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  trace.finish(result, {{"wall_seconds", fmt::format("{:.3f}", wall.count())}});

  const TraceSummary summary = read_trace(trace_path);
  if (!keep_trace) std::filesystem::remove(trace_path);
  const bool json = options.has("json");
  fmt::print("{}", json ? json_report(summary) : text_report(summary));
  if (result.trap) {
    fmt::print(stderr, "{}\n", result.trap->text());
    return ExitCode::kFailedCheck;
  }
  if (result.interrupted) return ExitCode::kInterrupted;
  if (options.has("output")) {
    TensorFile out;
    for (std::size_t k = 0; k < result.results.size(); ++k)
      out[fmt::format("result{}", k)] = result.results[k];
    write_tensors(*options.get("output"), out);
  }
  if (!json) {
    if (run.calls == 1) print_small_results(result.results);
    if (keep_trace) fmt::print("Trace     {}\n", trace_path.string());
  }
  if (expected.empty()) return ExitCode::kOk;
  if (!json) fmt::print("{}", curves(image, result.results, expected));
  const auto differences = compare_results(result.results, expected, rtol, atol);
  for (const std::string& line : differences) fmt::print(stderr, "error: {}\n", line);
  if (!differences.empty()) return ExitCode::kFailedCheck;
  if (!json)
    fmt::print("Expected  {} tensors agree within {:g} relative, {:g} absolute\n", expected.size(),
               rtol, atol);
  return ExitCode::kOk;
}

}  // namespace superstep
