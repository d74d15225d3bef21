#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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
#include "tools/machine_lines.h"
#include "tools/numbers.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/results.h"
#include "tools/tensors.h"

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

/// What the command line asks for, and what it asks to compare with.
struct Request {
  TraceLevel level = TraceLevel::kSuperstep;
  double rtol = 0, atol = 0;
  std::string machine;
  std::vector<std::string> overrides;
  TensorFile expected, parameters;
  std::optional<std::filesystem::path> output, trace;  ///< files
  bool json = false;
};

Request request_of(const Options& options) {
  const auto level = trace_level(options.get("trace").value_or("superstep"));
  if (!level) {
    usage_error(
        fmt::format("--trace takes summary, superstep or tile, found '{}'; -o names the file",
                    *options.get("trace")));
  }
  Request request{.level = *level,
                  .rtol = tolerance(options, "rtol", 1e-4),
                  .atol = tolerance(options, "atol", 1e-6),
                  .machine = options.get("machine").value_or("gc200"),
                  .overrides = options.list("set"),
                  .expected = {},
                  .parameters = {},
                  .output = options.get("output"),
                  .trace = options.get("trace-file"),
                  .json = options.has("json")};
  for (const auto& file : {request.output, request.trace}) {
    if (file) check_folder(*file);
  }
  if (const auto file = options.get("expect")) request.expected = read_tensors(*file);
  if (const auto file = options.get("parameters")) request.parameters = read_tensors(*file);
  return request;
}

Provenance provenance_of(const Options& options, std::uint32_t threads) {
  return {{"software", std::string("superstep")},
          {"software_version", std::string(SUPERSTEP_VERSION)},
          {"build_type", std::string(SUPERSTEP_BUILD_TYPE)},
          {"compiler", std::string(SUPERSTEP_COMPILER)},
          {"command_line", options.command_line()},
          {"created", date_now()},
          {"host_threads", std::uint64_t{threads}}};
}

/// Runs the image into `trace` and shows how far it is.
RunResult simulate(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                   RunOptions run, TraceWriter& trace, Progress& progress) {
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
  RunResult result = run_image(image, arguments, run);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  trace.finish(result, {{"wall_seconds", wall.count()}});
  progress.clear();
  return result;
}

/// Prints the results of a run that came to its end; whether they are as expected.
bool print_results(const Request& request, const ProgramImage& image,
                   const std::vector<HostTensor>& results, std::uint32_t calls) {
  const auto differences = compare_results(results, request.expected, request.rtol, request.atol);
  if (!request.json) {
    if (calls == 1) fmt::print("{}", results_text(results));
    fmt::print("{}", curves_text(image, results, request.expected));
  }
  for (const std::string& line : differences) fmt::print(stderr, "error: {}\n", line);
  if (!request.json && !request.expected.empty() && differences.empty()) {
    fmt::print("Expected  {} tensors agree within {:g} relative + {:g} absolute\n",
               request.expected.size(), request.rtol, request.atol);
  }
  return differences.empty();
}

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
  RunOptions run;
  run.calls = options.number("repeat", 1, 1'000'000'000, 1);
  run.threads =
      options.number("threads", 1, 256, std::max(1U, std::thread::hardware_concurrency()));
  run.check_races = options.has("check-races");
  const Request request = request_of(options);
  const MachineConfig machine = load_machine(request.machine, request.overrides);
  const Provenance provenance = provenance_of(options, run.threads);
  const TraceOptions trace_options{.level = request.trace ? request.level : TraceLevel::kSummary,
                                   .calls = run.calls,
                                   .config_origin = origin_of(request.machine, request.overrides),
                                   .report = json_report};

  Progress progress(options.has("quiet"));
  const ProgramImage image = compile_file(
      options.words()[0], machine, progress,
      [&](const ProgramInfo& memory) {
        if (request.trace) {
          write_memory_trace(*request.trace, trace_options, machine, memory, provenance);
        }
      },
      trace_options.level == TraceLevel::kTile);
  malloc_trim(0);  // what compiling took is the simulator's
  const std::vector<HostTensor> arguments =
      load_arguments(image.arguments, options.list("input"), request.parameters);
  check(image, arguments, run.calls);

  take_interrupts();
  std::optional<ScratchTrace> scratch;
  if (!request.trace) scratch.emplace();
  const std::filesystem::path trace_path = scratch ? scratch->path : *request.trace;
  TraceWriter trace(trace_path, trace_options, image, provenance);
  const RunResult result = simulate(image, arguments, run, trace, progress);

  // Files before text: a reader of the text that goes away early costs nothing.
  const TraceSummary summary = read_trace(trace_path);
  const bool is_whole = !result.trap && !result.interrupted;
  if (request.output && is_whole) write_tensors(*request.output, results_by_name(result.results));
  fmt::print("{}", request.json ? json_report(summary) : text_report(summary));
  if (result.trap) fmt::print(stderr, "error: {}\n", result.trap->text());
  const bool is_right = is_whole && print_results(request, image, result.results, run.calls);
  if (!request.json) {
    if (request.trace) fmt::print("Trace     {}\n", request.trace->string());
    if (request.output && is_whole) fmt::print("Results   {}\n", request.output->string());
  }
  if (result.interrupted && !result.trap) return ExitCode::kInterrupted;
  return is_right ? ExitCode::kOk : ExitCode::kFailedCheck;
}

}  // namespace superstep
