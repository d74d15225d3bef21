#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <malloc.h>

#include "base/hdf5_file.h"
#include "compiler/image/streams.h"
#include "sim/checkpoint.h"
#include "sim/host/arguments.h"
#include "sim/host/feeds.h"
#include "sim/run_image.h"
#include "sim/trace/recorder.h"
#include "sim/trace/trace.h"
#include "tools/child_process.h"
#include "tools/command.h"
#include "tools/compile_file.h"
#include "tools/host_memory.h"
#include "tools/host_threads.h"
#include "report/json_text.h"
#include "report/numbers.h"
#include "report/report.h"
#include "tools/outputs.h"
#include "tools/progress.h"
#include "tools/report_answer.h"
#include "tools/race_option.h"
#include "tools/results.h"
#include "tools/signals.h"
#include "tools/tensors.h"
#include "tools/windows.h"

namespace superstep {
namespace {

std::optional<double> tolerance(const Options& options, const std::string& name) {
  const auto text = options.get(name);
  if (!text) return {};
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(*text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text->size() || !(value >= 0) || std::isinf(value))
    usage_error(fmt::format("--{} takes a finite number >= 0, found '{}'", name, *text));
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

/// The part of its image that says what a module takes.
ProgramImage signature_of(const Module& module) {
  ProgramImage signature;
  for (const ValueId argument : module.main.arguments())
    signature.arguments.push_back(module.main.type(argument));
  for (const std::string& label : module.argument_labels) {
    const auto position = static_cast<std::uint32_t>(signature.streams.size());
    signature.streams.push_back({Stream::Kind::kArgument, position, {}, {}, label});
  }
  signature.alias = alias_by_result(module);
  return signature;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// What the command line asks for, and what it asks to compare with.
struct Request {
  TraceLevel level = TraceLevel::kSuperstep;
  TraceWindow window;
  ToleranceOptions tolerances;
  std::vector<std::string> overrides;
  std::optional<TensorFile> expected;
  TensorFile parameters;
  std::optional<std::filesystem::path> output, outfeed, trace;  ///< files
  std::shared_ptr<FileLock> lock;                               ///< of the trace
};

/// Every file that the command reads, so that no output replaces one.
std::vector<NamedFile> inputs_of(const Options& options) {
  const std::string& program = options.words()[0];
  std::vector<NamedFile> inputs{{"the program", program}};
  if (!is_hdf5(program)) {
    add_machine(inputs, options.get("machine").value_or(kDefaultMachine), options.list("set"));
  }
  for (const std::string& input : options.list("input")) inputs.push_back({"an input", input});
  if (const auto file = options.get("infeed")) inputs.push_back({"the infeed", *file});
  if (const auto file = options.get("parameters")) inputs.push_back({"the parameters", *file});
  if (const auto file = options.get("expect")) inputs.push_back({"the expected results", *file});
  if (const auto file = options.get("from-checkpoint")) {
    inputs.push_back({"the checkpoint (--from-checkpoint)", *file});
  }
  return inputs;
}

/// Which rows a trace keeps at its lowest levels.
TraceWindow window_of(const Options& options, TraceLevel level) {
  TraceWindow window;
  for (const char* name : {"trace-supersteps", "trace-tiles", "trace-ops"}) {
    if (options.has(name) && level < TraceLevel::kVertex) {
      usage_error(fmt::format("--{} is for --trace vertex and instruction", name));
    }
  }
  if (const auto supersteps = options.get("trace-supersteps")) {
    const SuperstepWindow found = supersteps_of("--trace-supersteps", *supersteps);
    window.first_superstep = found.first;
    window.end_superstep = found.end;
  }
  if (const auto tiles = options.get("trace-tiles")) {
    std::vector<TileId>& kept = window.tiles.emplace();
    for (const std::uint32_t tile : tiles_of("--trace-tiles", *tiles)) kept.push_back(TileId{tile});
  }
  window.operations = options.get("trace-ops").value_or("");
  if (level >= TraceLevel::kInstruction && !window.tiles) {
    usage_error(
        "--trace instruction keeps each instruction of the tiles of --trace-tiles, which is not "
        "given; `report --view tiles` shows which ones are critical");
  }
  return window;
}

Request request_of(const Options& options) {
  const auto level = trace_level(options.get("trace").value_or("superstep"));
  if (!level) {
    usage_error(
        fmt::format("--trace takes summary, superstep, tile, vertex or instruction, found '{}'; -o "
                    "names the file",
                    *options.get("trace")));
  }
  Request request{.level = *level,
                  .window = window_of(options, *level),
                  .tolerances = {tolerance(options, "rtol"), tolerance(options, "atol")},
                  .overrides = options.list("set"),
                  .expected = {},
                  .parameters = {},
                  .output = options.get("output"),
                  .outfeed = options.get("outfeed"),
                  .trace = options.get("trace-file"),
                  .lock = {}};
  if (options.has("trace") && !request.trace) {
    usage_error("--trace says what a trace keeps, but nothing names its file: add -o RUN.h5");
  }
  for (const char* name : {"rtol", "atol"}) {
    if (options.has(name) && !options.has("expect"))
      usage_error(fmt::format("--{} is a tolerance of --expect, which is not given", name));
  }
  std::vector<NamedFile> outputs;
  if (request.trace) outputs = trace_outputs("the trace (-o)", *request.trace);
  if (request.output) outputs.push_back({"the results (--output)", *request.output});
  if (request.outfeed) outputs.push_back({"the outfeed (--outfeed)", *request.outfeed});
  if (const auto file = options.get("save-checkpoint")) {
    outputs.push_back({"the checkpoint (--save-checkpoint)", *file});
  }
  check_outputs(inputs_of(options), outputs);
  if (request.trace) request.lock = std::make_shared<FileLock>(*request.trace);
  const auto results_in = [](const std::string& file) {
    return read_behind_rehearsal(file, [&] { return read_tensors(file, "result"); });
  };
  if (const auto file = options.get("expect")) request.expected = results_in(*file);
  if (const auto file = options.get("parameters")) request.parameters = results_in(*file);
  if (options.has("parameters") && request.parameters.empty()) {
    throw MalformedInput({{{*options.get("parameters"), 0, 0},
                           "has no dataset result0 and so on, as `--output` writes them"}});
  }
  return request;
}

/// Throws HostLimit when what the program puts into the memory of all tiles, or the results of all
/// calls, do not fit into the host's memory.
void check_host_memory(const ProgramImage& image, std::uint32_t calls) {
  std::uint64_t tiles = 0;
  for (const MemoryCategory& category : image.info.memory)
    tiles = std::accumulate(category.bytes_by_tile.begin(), category.bytes_by_tile.end(), tiles);
  if (const std::uint64_t room = available_memory(); tiles > room) {
    throw HostLimit(fmt::format(
        "the program uses {} of the memory of {} tiles, but this host has {} left; a machine with "
        "fewer tiles, or with less memory a tile, takes less",
        bytes_text(tiles), image.machine.tiles(), bytes_text(room)));
  }
  std::uint64_t bytes = 0;
  for (std::size_t k = 0; k < image.results.size(); ++k) {
    const bool is_aliased = k < image.alias.size() && image.alias[k].has_value();
    bytes += image.results[k].bytes() * (is_aliased ? 1 : calls);
  }
  // They are kept once while the run lasts and copied for the file.
  const std::uint64_t room = available_memory() / 2;
  if (bytes > room) {
    throw HostLimit(
        fmt::format("the results of {} calls take {}, and twice that for their file, but this host "
                    "has {} left; a result that takes a donated argument's place is kept only once",
                    grouped(calls), bytes_text(bytes), bytes_text(2 * room)));
  }
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

/// What a run gave, and what its report shows.
struct RunOutcome {
  RunResult result;
  TraceSummary summary;
  bool has_lost_trace = false;  ///< it could not be written to its end, which the answer says
  bool is_cut_off = false;      ///< the run, for that
};

/// What remains of a trace that cannot be written goes to the answer.
void add_lost_trace(const InputOutputError& error, const std::filesystem::path& path,
                    Answer& answer) {
  for (const Problem& problem : error.problems()) answer.add_problem(problem);
  const std::string part = trace_part(path).string();
  if (!std::filesystem::exists(part)) return;
  answer.add_problem({{part, 0, 0},
                      "keeps the supersteps that were written; `superstep trace repair` makes a "
                      "trace of them"});
}

/// Runs the image, into a trace if one is asked for, and shows how far it is. A trace that cannot
/// be written ends the run. When something stops it, the answer gets the report of what ran before
/// that is thrown, if anything did.
RunOutcome simulate(const ProgramImage& image, const std::vector<HostTensor>& arguments,
                    RunOptions run, const Request& request, TraceOptions trace_options,
                    const Provenance& provenance, Progress& progress, Answer& answer) {
  progress.stage("simulate");
  const auto begin = std::chrono::steady_clock::now();
  std::optional<InterruptRequest> interrupt(std::in_place);
  std::optional<InputOutputError> trace_error;
  run.interrupted = [&] { return interrupt->asked() || trace_error; };
  Simulation simulation = begin_run(image, arguments, run);
  trace_options.calls -= simulation.calls_done();
  trace_options.begin = simulation.call_place();
  std::optional<TraceWriter> trace;
  if (request.trace) trace.emplace(*request.trace, trace_options, image, provenance);
  if (trace) run.observer = trace->observer();
  RunRecorder totals_only(image, trace_options);
  const RunRecorder& recorder = trace ? trace->recorder() : totals_only;
  run.on_superstep = [&](const SuperstepRecord& record) {
    if (!trace) totals_only.add(record);
    try {
      if (trace && !trace_error) trace->on_superstep(record);
    } catch (const InputOutputError& error) {
      trace_error = error;
    }
    if (!progress.due()) return;
    progress.show(fmt::format(
        "simulate  call {} of {}  superstep {}  cycle {}  {}",
        grouped(std::min(record.call + 1, run.calls)), grouped(run.calls), grouped(record.number),
        grouped(record.end),
        record.step < image.info.steps.size() ? image.info.steps[record.step].name : ""));
  };
  RunOutcome out;
  try {
    out.result = finish_run(std::move(simulation), arguments, run);
  } catch (const std::exception&) {
    progress.clear();
    if (recorder.totals().run.supersteps != 0) report(recorder.summary("running"), answer);
    throw;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  interrupt.reset();
  totals_only.finish(out.result);
  out.is_cut_off = trace_error.has_value();
  progress.stage("write the trace",
                 request.trace
                     ? fmt::format("`superstep trace repair {}` makes one of what is there",
                                   trace_part(*request.trace).string())
                     : "");
  try {
    if (trace && !trace_error) trace->finish(out.result, {{"wall_seconds", wall.count()}});
  } catch (const InputOutputError& error) {
    trace_error = error;
  }
  if (trace_error) add_lost_trace(*trace_error, *request.trace, answer);
  out.has_lost_trace = trace_error.has_value();
  progress.clear();
  out.summary =
      recorder.summary(out.is_cut_off ? "running" : outcome_of(out.result), out.result.trap);
  return out;
}

/// Compares with the expected results; whether all that can be compared agree.
bool compare(const Request& request, const std::vector<HostTensor>& results, Answer& answer) {
  if (!request.expected) return true;
  const auto comparisons = compare_results(results, *request.expected, request.tolerances);
  std::size_t agree = 0;
  for (const TensorComparison& comparison : comparisons) {
    if (comparison.difference.empty()) {
      ++agree;
    } else {
      answer.add_problem({{}, comparison.name + ": " + comparison.difference});
    }
  }
  if (comparisons.empty()) {
    answer.add_problem({{},
                        "nothing to compare: the file of --expect has no dataset result0 and so "
                        "on; a JAX result is written as result0, those of a tuple in order"});
  }
  if (agree != comparisons.size()) {
    answer.add_problem({{},
                        fmt::format("{} of {} expected results agree; the program has {}", agree,
                                    comparisons.size(), results.size())});
  }
  const bool is_right = agree == comparisons.size() && agree != 0;
  answer.fields()["expect"] = expect_fields(comparisons, results.size(), is_right);
  if (is_right) {
    answer.print("Expected  {} of {} results agree{}: {}\n", agree, results.size(),
                 agree == results.size() ? "" : ", the others are not in the file",
                 tolerances_text(comparisons));
  }
  return is_right;
}

/// Says that a file was written, if one was asked for.
void name_file(const char* title, const char* field,
               const std::optional<std::filesystem::path>& file, Answer& answer) {
  if (!file) return;
  answer.print("{:<9} {}\n", title, file->string());
  answer.fields()["files"][field] = file->string();
}

/// What the program gave inside its calls.
void write_outfeeds(const FeedTensors& outfeeds, const std::optional<std::filesystem::path>& file,
                    Answer& answer) {
  TensorFile tensors;
  for (const auto& [position, tensor] : outfeeds) {
    const std::string name = fmt::format("outfeed{}", position);
    answer.print("{:<10}{}\n", name, tensor.type.text());
    tensors[name] = tensor;
  }
  if (file) write_tensors(*file, tensors);
  name_file("Outfeed", "outfeed", file, answer);
}

}  // namespace

std::span<const AnswerField> run_fields() {
  static constexpr AnswerField kOwn[] = {
      {"machine_overrides", "list", "", "each --set"},
      {"machine_sha256", "text", "", "of the machine as a file with every key"},
      {"program_sha256", "text", "", "of the program text"},
      {"memory.biggest_tensors", "list", "", "of a program that does not fit, as in `compile`"},
      {"expect", "object", "", "the verdict of --expect"},
      {"expect.agrees", "boolean", "", "all that were compared agree, and something was"},
      {"expect.compared", "integer", "", "expected tensors"},
      {"expect.results", "integer", "", "results of the program"},
      {"expect.tensors", "list", "", "the expected tensors"},
      {"expect.tensors[].name", "text", "", "result0 and so on"},
      {"expect.tensors[].agrees", "boolean", "", ""},
      {"expect.tensors[].elements", "integer", "", ""},
      {"expect.tensors[].differing", "integer", "", "elements beyond the tolerance"},
      {"expect.tensors[].rtol", "number", "", "relative tolerance"},
      {"expect.tensors[].atol", "number", "", "absolute tolerance"},
      {"expect.tensors[].difference", "text", "", "in words, or empty"},
      {"files", "object", "", "what was written"},
      {"files.trace", "text", "", "the trace"},
      {"files.output", "text", "", "the results"},
      {"files.outfeed", "text", "", "what the program gave inside its calls"},
      {"files.checkpoint", "text", "", "the state behind --at-superstep"},
  };
  static const std::vector<AnswerField> kFields = [] {
    const std::span<const AnswerField> report = report_fields();
    std::vector<AnswerField> all(report.begin(), report.end());
    all.insert(all.end(), std::begin(kOwn), std::end(kOwn));
    return all;
  }();
  return kFields;
}

Options run_options() {
  Options options(
      "run PROGRAM [options]",
      "Compiles a StableHLO program, or takes one that `superstep compile -o` wrote, runs it on a "
      "simulated machine and reports.",
      {"superstep run step.mlir -m bow --input train.h5 --repeat 44 --expect expected.h5 -o run.h5",
       "superstep run affine.mlir -m tiny4 --input random:1 --set tile.workers=8",
       "superstep run affine.h5 --input random:1 --set 'host.phase_latency=2 us'"});
  options.value("machine,m", "NAME|FILE", "builtin machine or machine file (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine, as in tile.workers=8")
      .values("input,i", "FILE|random:SEED", "arguments arg0, arg1, …; later files win")
      .value("parameters", "FILE", "results of an earlier run as the arguments that no input gives")
      .value("repeat", "N", "calls of the program (1)")
      .value("output", "FILE", "write result0, result1, … there")
      .value("infeed", "FILE", "infeed0, infeed1, … of the program: the first axis counts visits")
      .value("outfeed", "FILE",
             "write outfeed0, outfeed1, … there, however the run ends; from a checkpoint on those "
             "of later visits")
      .value("trace-file,o", "FILE", "write the trace there")
      .value("trace", "LEVEL",
             "what it keeps: summary, superstep, tile, vertex or, of --trace-tiles, instruction "
             "(superstep)")
      .value("trace-supersteps", "A:B", "below tile only supersteps A to B - 1")
      .value("trace-tiles", "LIST", "below tile only these, as in 0,17,100-107")
      .value("trace-ops", "PATTERN", "below tile only operations like this shell pattern")
      .value(
          "expect", "FILE",
          "compare with result0, result1, … of this file; from a checkpoint on with those of the "
          "last calls")
      .value("rtol", "X", "relative tolerance of --expect (f32 1e-4, f16 2^-9, integers 0)")
      .value("atol", "X", "absolute tolerance of --expect (f32 1e-6, f16 2^-10, integers 0)")
      .value(HostThreads::kName, "N", HostThreads::kHelp)
      .value("max-supersteps", "N",
             "end a program, or a loop without supersteps, that is not done by then")
      .flag("no-cache", "compile also what was compiled before ($XDG_CACHE_HOME/superstep/images)")
      .value("check-races", "WHEN", race_checks_help(RaceChecks::kFirst).c_str())
      .value("save-checkpoint", "FILE", "write the state behind --at-superstep there, and go on")
      .value("at-superstep", "N", "supersteps that are done when it is written")
      .value("from-checkpoint", "FILE", "go on from there; program and options as in that run")
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

ExitCode run_command(const Options& options, Answer& answer) {
  RunOptions run;
  run.calls = options.number("repeat", 1, 1'000'000'000, 1);
  const HostThreads threads(options);
  run.threads = threads.count();
  run.check_races = race_checks_of(options, RaceChecks::kFirst);
  if (options.has("max-supersteps")) {
    run.max_supersteps = options.number("max-supersteps", 1, 1'000'000'000, 1);
  }
  if (options.has("save-checkpoint") != options.has("at-superstep")) {
    usage_error("--save-checkpoint FILE and --at-superstep N go together");
  }
  if (const auto file = options.get("save-checkpoint")) {
    run.save_checkpoint = {*file, options.number("at-superstep", 1, 1'000'000'000, 1)};
  }
  if (const auto file = options.get("from-checkpoint")) run.from_checkpoint = *file;
  Request request = request_of(options);
  const std::string& program = options.words()[0];
  const bool is_image = is_hdf5(program);
  ProgramImage image;
  if (is_image) image = image_of(options, answer);
  const SourcedMachine machine =
      is_image ? SourcedMachine{image.machine, image.sources}
               : load_sourced_machine(options.get("machine").value_or(kDefaultMachine),
                                      request.overrides);
  add_identity(machine.machine, request.overrides, answer);
  const Provenance provenance = provenance_of(options, run.threads);
  const TraceOptions trace_options{
      .level = request.trace ? request.level : TraceLevel::kSummary,
      .window = request.window,
      .calls = run.calls,
      .lock = request.lock,
      .sources = machine.sources,
      .config_origin = json_text(nlohmann::ordered_json(machine.sources)),
      .report = json_report};

  std::optional<std::vector<HostTensor>> loaded;
  const auto load = [&](const ProgramImage& signature) {
    loaded = load_arguments(signature, options.list("input"), request.parameters);
    check(signature, *loaded, run.calls);
  };
  Progress progress(options.has("quiet"));
  if (!is_image) {
    image = compile_file(
        program, machine, progress, answer,
        [&](const ProgramInfo& memory) {
          if (request.trace) {
            write_memory_trace(*request.trace, trace_options, machine.machine, memory, provenance);
          }
        },
        {.keep_exchange_plan = trace_options.level >= TraceLevel::kTile},
        options.has("no-cache") ? ImageCache() : ImageCache::of_user(),
        // What does not fit is said before a program is compiled.
        [&](const Module& module) { load(signature_of(module)); });
  }
  if (!loaded) load(image);
  const std::vector<HostTensor>& arguments = *loaded;
  malloc_trim(0);  // what compiling took is the simulator's
  run.infeeds = load_infeeds(image, options.get("infeed"));
  if (request.outfeed && feed_queues(image, Stream::Kind::kOutfeed).empty())
    usage_error("--outfeed names a file, but the program has no outfeed");
  check_host_memory(image, run.calls);
  if (const std::string why = window_problem(request.window, image); !why.empty()) {
    throw UserError(ExitCode::kUsage, {{{program, 0, 0}, why}});
  }
  if (const auto& file = run.from_checkpoint) {
    rehearse(*file, ExitCode::kMalformed, [&] { (void)read_checkpoint(*file, image); });
  }
  const RunOutcome ran =
      simulate(image, arguments, run, request, trace_options, provenance, progress, answer);
  const RunResult& result = ran.result;
  TraceSummary shown = ran.summary;
  if (!answer.is_json()) shown.trap.clear();  // the answer's problem says it
  std::optional<TraceFile> file;
  if (!answer.is_json() && request.trace && !ran.has_lost_trace) file.emplace(*request.trace);
  report(shown, answer, TextStyle::of_output(), file ? &*file : nullptr);
  if (result.checkpoint_error) {
    for (const Problem& problem : result.checkpoint_error->problems()) answer.add_problem(problem);
  }
  // However the run ended: what came is there.
  write_outfeeds(result.outfeeds, request.outfeed, answer);
  if (ran.is_cut_off) return ExitCode::kInputOutput;
  if (result.trap) answer.add_problem({{}, result.trap->text()});
  if (result.trap && result.trap->kind == TrapKind::kHost) {
    // Nothing but the values of its file can fail a host that has them all before.
    for (const auto& [position, values] : run.infeeds)
      answer.add_problem({{*options.get("infeed"), 0, 0},
                          fmt::format("infeed{} has {} visits", position, values.type.shape[0])});
  }
  if (result.trap) return ExitCode::kFailedCheck;
  if (result.interrupted) {
    const auto event =
        std::ranges::find(ran.summary.events, TraceEvent::Kind::kInterrupted, &TraceEvent::kind);
    answer.add_problem(
        {{}, fmt::format("interrupted {}: these are the supersteps before", event->text)});
    return ExitCode::kInterrupted;
  }

  if (run.from_checkpoint && request.expected)
    request.expected = of_last_calls(*std::move(request.expected), result.results, run.calls);
  if (run.calls == 1) answer.print("{}", results_text(result.results));
  answer.print("{}", curves_text(image, result.results, request.expected.value_or(TensorFile())));
  const bool is_right = compare(request, result.results, answer);
  if (request.output) write_tensor_list(*request.output, "result", result.results);
  if (!ran.has_lost_trace) name_file("Trace", "trace", request.trace, answer);
  name_file("Results", "output", request.output, answer);
  if (ran.has_lost_trace || result.checkpoint_error) return ExitCode::kInputOutput;
  if (run.save_checkpoint && !result.saved_checkpoint) {
    answer.add_problem(
        {{},
         fmt::format("the program is done after {} supersteps, and no checkpoint was "
                     "written: give a smaller --at-superstep",
                     grouped(result.totals.supersteps))});
    return ExitCode::kUsage;
  }
  if (run.save_checkpoint) {
    name_file("Checkpoint", "checkpoint", run.save_checkpoint->file, answer);
  }
  return is_right ? ExitCode::kOk : ExitCode::kFailedCheck;
}

}  // namespace superstep
