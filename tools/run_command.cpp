#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include <malloc.h>
#include <unistd.h>

#include "sim/host/arguments.h"
#include "sim/machine.h"
#include "sim/trace/trace.h"
#include "tools/command.h"
#include "tools/compile_file.h"
#include "tools/files.h"
#include "tools/machine_lines.h"
#include "tools/numbers.h"
#include "tools/progress.h"
#include "tools/report.h"

namespace superstep {
namespace {

std::atomic<bool> interrupt_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void ask_interrupt(int signal) {
  // The second one ends the process at once.
  std::signal(signal, SIG_DFL);
  interrupt_asked = true;
}

/// From now on a request to end the process ends the run, with a whole trace of what is finished.
void take_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, ask_interrupt);
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

/// Throws when an argument does not fit; when they would with more calls, says with how many.
void check(const ProgramImage& image, const std::vector<HostTensor>& arguments,
           std::uint32_t calls) {
  try {
    check_arguments(image, arguments, calls);
  } catch (const MalformedInput& error) {
    std::vector<Problem> problems = error.problems();
    for (std::size_t k = 0; k < std::min(arguments.size(), image.arguments.size()); ++k) {
      const std::vector<std::int64_t>& shape = arguments[k].type.shape;
      const auto n = static_cast<std::uint32_t>(shape.empty() ? 0 : shape[0]);
      if (n > 1 && n != calls && is_sliced(image.arguments[k], arguments[k].type, n)) {
        problems.push_back({{}, fmt::format("arg{} holds {} calls; give --repeat {}", k, n, n)});
        break;
      }
    }
    throw MalformedInput(std::move(problems));
  }
}

/// An output that cannot be written is found out before the run, not after it.
void check_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_directory(folder))
    usage_error(fmt::format("{}: there is no folder {}", file.string(), folder.string()));
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// Where each key of the machine comes from, as a JSON object.
std::string origin_of(const std::string& machine, const std::vector<std::string>& overrides) {
  const std::map<std::string, std::string> sources = machine_sources(machine, overrides);
  return nlohmann::ordered_json(sources).dump();
}

/// At most this many calls of a curve are shown.
constexpr std::size_t kCurveRows = 9;

/// The scalars that each call gave beside the expected ones: the loss curve.
std::string curves(const ProgramImage& image, const std::vector<HostTensor>& results,
                   const TensorFile& expected) {
  std::string out;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto want = expected.find(fmt::format("result{}", k));
    const HostTensor& got = results[k];
    if (want == expected.end() || !(got.type == want->second.type) || !is_float(got.type.dtype) ||
        !image.results[k].shape.empty() || got.type.shape.size() != 1)
      continue;
    const auto n = static_cast<std::size_t>(got.type.elements());
    if (n < 2) continue;
    const auto relative = [&](std::size_t i) {
      const double a = element_as_double(got, i), b = element_as_double(want->second, i);
      return a == b ? 0.0 : std::abs(a - b) / std::abs(b);
    };
    out += fmt::format("{:<10}{:>8}{:>16}{:>16}{:>16}\n", want->first, "call", "found", "expected",
                       "relative error");
    const std::size_t rows = std::min(n, kCurveRows);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t i = row * (n - 1) / (rows - 1);
      out +=
          fmt::format("{:<10}{:>8}{:>16.7g}{:>16.7g}{:>16.1e}\n", "", i, element_as_double(got, i),
                      element_as_double(want->second, i), relative(i));
    }
    std::size_t worst = 0;
    for (std::size_t i = 1; i < n; ++i)
      if (relative(i) > relative(worst)) worst = i;
    out += fmt::format("{:<10}largest relative error of all {} calls: {:.1e}, call {}\n", "", n,
                       relative(worst), worst);
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

/// Where a trace goes that nobody asked for: it only feeds the report.
struct ScratchTrace {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("superstep-{}.h5", getpid());
  ScratchTrace() = default;
  ScratchTrace(const ScratchTrace&) = delete;
  ScratchTrace& operator=(const ScratchTrace&) = delete;
  ~ScratchTrace() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    std::filesystem::remove(path.string() + ".part", ignored);
  }
};

}  // namespace

Options run_options() {
  Options options(
      "run PROGRAM.mlir [options]",
      "Compiles a StableHLO program, runs it on a simulated machine and reports.",
      {"superstep run step.mlir -m bow --input train.h5 --repeat 44 --expect expected.h5 -o run.h5",
       "superstep run affine.mlir -m tiny4 --input random:1 --set tile.workers=8"});
  options.value("machine,m", "NAME|FILE", "builtin machine or machine file (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine, as in tile.workers=8")
      .values("input,i", "FILE|random:SEED", "arguments arg0, arg1, …; later files win")
      .value("parameters", "FILE", "results of an earlier run as the arguments that no input gives")
      .value("repeat", "N", "calls of the program (1)")
      .value("output", "FILE", "write result0, result1, … there")
      .value("trace-file,o", "FILE", "write the trace there")
      .value("trace", "LEVEL", "what it keeps: summary, superstep or tile (superstep)")
      .value("expect", "FILE", "compare with result0, result1, … of this file")
      .value("rtol", "X", "relative tolerance of --expect (1e-4)")
      .value("atol", "X", "absolute tolerance of --expect (1e-6)")
      .value("threads,j", "N", "host threads (all)")
      .flag("check-races", "trap when workers touch the same word")
      .flag("json", "print the report as JSON")
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

ExitCode run_command(const Options& options) {
  const std::string path = options.words()[0];
  const auto level = trace_level(options.get("trace").value_or("superstep"));
  if (!level)
    usage_error(
        fmt::format("--trace takes summary, superstep or tile, found '{}'; -o names the file",
                    *options.get("trace")));
  const double rtol = tolerance(options, "rtol", 1e-4), atol = tolerance(options, "atol", 1e-6);
  RunOptions run;
  run.calls = options.number("repeat", 1, 1'000'000'000, 1);
  run.threads =
      options.number("threads", 1, 256, std::max(1U, std::thread::hardware_concurrency()));
  run.check_races = options.has("check-races");

  for (const char* file : {"output", "trace-file"})
    if (const auto name = options.get(file)) check_folder(*name);
  TensorFile expected, parameters;
  if (const auto file = options.get("expect")) expected = read_tensors(*file);
  if (const auto file = options.get("parameters")) parameters = read_tensors(*file);

  Progress progress(options.has("quiet"));
  const std::string machine_name = options.get("machine").value_or("gc200");
  const std::vector<std::string> overrides = options.list("set");
  const MachineConfig machine = load_machine(machine_name, overrides);
  const Provenance provenance = {{"software", std::string("superstep")},
                                 {"software_version", std::string(SUPERSTEP_VERSION)},
                                 {"build_type", std::string(SUPERSTEP_BUILD_TYPE)},
                                 {"compiler", std::string(SUPERSTEP_COMPILER)},
                                 {"command_line", options.command_line()},
                                 {"created", date_now()},
                                 {"host_threads", std::uint64_t{run.threads}}};
  const bool keep_trace = options.has("trace-file");
  const TraceOptions trace_options{.level = keep_trace ? *level : TraceLevel::kSummary,
                                   .calls = run.calls,
                                   .config_origin = origin_of(machine_name, overrides),
                                   .report = json_report};
  const ProgramImage image = compile_file(
      path, machine, progress,
      [&](const ProgramInfo& memory) {
        if (const auto file = options.get("trace-file"))
          write_memory_trace(*file, trace_options, machine, memory, provenance);
      },
      trace_options.level == TraceLevel::kTile);
  malloc_trim(0);  // what compiling took is the simulator's
  const std::vector<HostTensor> arguments =
      load_arguments(image.arguments, options.list("input"), parameters);
  check(image, arguments, run.calls);

  take_interrupts();
  std::optional<ScratchTrace> scratch;
  if (!keep_trace) scratch.emplace();
  const std::filesystem::path trace_path =
      scratch ? scratch->path : std::filesystem::path(*options.get("trace-file"));
  TraceWriter trace(trace_path, trace_options, image, provenance);

  std::uint32_t calls_done = 0;
  run.on_superstep = [&](const SuperstepRecord& record) {
    trace.on_superstep(record);
    if (!progress.due()) return;
    progress.show(fmt::format(
        "simulate  call {} of {}  superstep {}  cycle {}  {}", grouped(calls_done + 1),
        grouped(run.calls), grouped(record.number), grouped(record.end),
        record.step < image.info.steps.size() ? image.info.steps[record.step].name : ""));
  };
  run.on_call = [&](std::uint32_t calls) { calls_done = std::min(calls, run.calls - 1); };
  run.interrupted = [] { return interrupt_asked.load(std::memory_order_relaxed); };
  progress.stage("simulate");
  const auto begin = std::chrono::steady_clock::now();
  const RunResult result = run_image(image, arguments, run);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  trace.finish(result, {{"wall_seconds", wall.count()}});
  progress.clear();

  // Files before text: a reader of the text that goes away early costs nothing.
  const TraceSummary summary = read_trace(trace_path);
  const bool whole = !result.trap && !result.interrupted;
  if (options.has("output") && whole) {
    TensorFile out;
    for (std::size_t k = 0; k < result.results.size(); ++k)
      out[fmt::format("result{}", k)] = result.results[k];
    write_tensors(*options.get("output"), out);
  }
  const bool json = options.has("json");
  fmt::print("{}", json ? json_report(summary) : text_report(summary));
  if (result.trap) fmt::print(stderr, "error: {}\n", result.trap->text());
  ExitCode code = result.trap          ? ExitCode::kFailedCheck
                  : result.interrupted ? ExitCode::kInterrupted
                                       : ExitCode::kOk;
  if (whole) {
    if (!json && run.calls == 1) print_small_results(result.results);
    if (!json) fmt::print("{}", curves(image, result.results, expected));
    const auto differences = compare_results(result.results, expected, rtol, atol);
    for (const std::string& line : differences) fmt::print(stderr, "error: {}\n", line);
    if (!differences.empty()) code = ExitCode::kFailedCheck;
    if (!json && !expected.empty() && differences.empty())
      fmt::print("Expected  {} tensors agree within {:g} relative + {:g} absolute\n",
                 expected.size(), rtol, atol);
  }
  if (!json && keep_trace) fmt::print("Trace     {}\n", trace_path.string());
  if (!json && whole && options.has("output")) fmt::print("Results   {}\n", *options.get("output"));
  return code;
}

}  // namespace superstep
