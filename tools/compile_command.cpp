#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/hdf5_file.h"
#include "compiler/graph/op_graph.h"
#include "compiler/program/step_graph.h"
#include "isa/image_file.h"
#include "sim/host/feeds.h"
#include "sim/trace/enumerations.h"
#include "tools/command.h"
#include "tools/compile_file.h"
#include "tools/host_threads.h"
#include "report/numbers.h"
#include "tools/outputs.h"
#include "report/places.h"
#include "report/plan_events.h"
#include "tools/progress.h"
#include "report/report.h"
#include "report/text_table.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

std::string kind_of(const StepInfo& step) {
  return std::string(kStepKinds[static_cast<std::size_t>(step.kind)]);
}

std::string number(std::uint64_t n, const char* unit = "") {
  return n == 0 ? std::string() : grouped(n) + unit;
}

/// The rows of a plan that has loops and branches.
class ControlColumns {
 public:
  explicit ControlColumns(const std::vector<StepInfo>& steps)
      : steps_(steps), executions_(executions_by_step(steps)) {}

  [[nodiscard]] bool are_needed() const {
    return std::ranges::any_of(steps_, &StepInfo::is_control);
  }
  [[nodiscard]] std::uint64_t executions(std::size_t s) const { return executions_[s]; }
  /// What executes a step is above it, with less in front.
  [[nodiscard]] std::string name(std::size_t s) const {
    std::size_t depth = 0;
    for (auto p = steps_[s].parent; p; p = steps_[*p].parent) ++depth;
    return std::string(2 * depth, ' ') + steps_[s].name;
  }
  [[nodiscard]] static std::string trips(const StepInfo& loop) {
    return (loop.trips ? grouped(*loop.trips) : "?") + (loop.trips == 1 ? " trip" : " trips");
  }
  /// Cycles of a call; with unknown trips nobody knows.
  [[nodiscard]] std::string all(std::size_t s) const {
    if (steps_[s].predicted_cycles == 0 || executions_[s] == 0) return {};
    for (std::optional<std::uint32_t> p = static_cast<std::uint32_t>(s); p; p = steps_[*p].parent) {
      if (steps_[*p].kind == StepInfo::Kind::kLoop && !steps_[*p].trips) return "?";
    }
    return number(executions_[s] * steps_[s].trips.value_or(1) * steps_[s].predicted_cycles);
  }

 private:
  const std::vector<StepInfo>& steps_;
  std::vector<std::uint64_t> executions_;
};

/// The steps of a call: what is done, for which operation, and how much.
std::string plan(const ProgramInfo& info, const std::string& file) {
  const std::vector<StepInfo>& steps = info.steps;
  const ControlColumns control(steps);
  constexpr auto kLeft = TextTable::Align::kLeft, kRight = TextTable::Align::kRight;
  bool has_python = false;
  std::uint64_t flops = 0, bytes = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    has_python = has_python || !steps[s].source.python.file.empty();
    flops += control.executions(s) * steps[s].flops;
    bytes += control.executions(s) * steps[s].exchange_bytes;
  }
  const auto work = [](const StepInfo& step) {
    if (step.kind == StepInfo::Kind::kLoop) return ControlColumns::trips(step);
    return step.kind == StepInfo::Kind::kExchange ? number(step.exchange_bytes, " B")
                                                  : number(step.flops, " flop");
  };
  const auto make = [&](PlaceForm form) {
    std::vector<std::string> headings{"#", "kind", "step", "work", "est.", "cycles"};
    TextTable table =
        control.are_needed()
            ? TextTable({kRight, kLeft, kLeft, kRight, kRight, kRight, kRight, kLeft, kLeft})
            : TextTable({kRight, kLeft, kLeft, kRight, kRight, kRight, kLeft, kLeft});
    if (control.are_needed()) headings.emplace_back("all");
    table.add(with_headings(std::move(headings), has_python, form));
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const StepInfo& step = steps[s];
      std::vector<std::string> row{step.superstep ? std::to_string(*step.superstep) : "",
                                   kind_of(step),
                                   control.name(s),
                                   work(step),
                                   number(step.estimated_cycles),
                                   number(step.predicted_cycles)};
      if (control.are_needed()) row.push_back(control.all(s));
      table.add(with_place(std::move(row), step.source, form));
    }
    return table;
  };
  return fmt::format("Plan of {}\n{}", file, text_in(output_columns(), make)) +
         fmt::format(
             "Sum of a call: {} flop, {} B moved\n"
             "Cycles of a call besides the host: {} (est. {})\n",
             grouped(flops), grouped(bytes), grouped(info.predicted_cycles),
             grouped(info.estimated_cycles)) +
         "Est.: cycles of an exchange as estimated before it was scheduled; cycles: by its\n"
         "schedule, those of compute by its code on the slowest tile. Steps of one\n"
         "superstep (#) may run on different tiles at once: a call takes the slowest tile\n"
         "of each superstep, and the barriers between them\n" +
         (control.are_needed()
              ? "Cycles of a loop are those of a trip, of a branch those of its longest arm; all:\n"
                "of a call, which is predicted with the trips that are known, else (?) with one\n"
              : "");
}

void add_fields(const ProgramImage& image, Answer& answer) {
  ordered_json& fields = answer.fields();
  fields["module"] = image.info.module;
  fields["tiles"] = image.machine.tiles();
  fields["tiles_used"] = image.entries.size();
  fields["arguments"] = ordered_json::array();
  for (const TensorType& type : image.arguments) fields["arguments"].push_back(type.text());
  fields["results"] = ordered_json::array();
  for (std::size_t k = 0; k < image.results.size(); ++k) {
    const bool aliased = k < image.alias.size() && image.alias[k];
    fields["results"].push_back(
        {{"type", image.results[k].text()},
         {"argument", aliased ? ordered_json(*image.alias[k]) : ordered_json()}});
  }
  for (const auto& [name, kind] : {std::pair("infeeds", Stream::Kind::kInfeed),
                                   std::pair("outfeeds", Stream::Kind::kOutfeed)}) {
    fields[name] = ordered_json::array();
    for (const auto& [position, queue] : feed_queues(image, kind)) {
      fields[name].push_back(queue.type.text());
    }
  }
  fields["estimated_cycles"] = image.info.estimated_cycles;
  fields["predicted_cycles"] = image.info.predicted_cycles;
  fields["plan"] = ordered_json::array();
  const auto or_null = [](const auto& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  for (const StepInfo& step : image.info.steps) {
    fields["plan"].push_back({{"name", step.name},
                              {"kind", kind_of(step)},
                              {"superstep", or_null(step.superstep)},
                              {"parent", or_null(step.parent)},
                              {"trips", or_null(step.trips)},
                              {"source", step.source.module.text()},
                              {"python", step.source.python.text()},
                              {"flops", step.flops},
                              {"exchange_bytes", step.exchange_bytes},
                              {"bound_cycles", step.bound_cycles},
                              {"estimated_cycles", step.estimated_cycles},
                              {"predicted_cycles", step.predicted_cycles}});
  }
  fields["plan_events"] = plan_events_document(image.info.events);
  fields["memory"] = memory_document(image.info, image.machine);
}

}  // namespace

std::span<const AnswerField> compile_fields() {
  static constexpr AnswerField kFields[] = {
      {"module", "text", "", "name of the StableHLO module"},
      {"machine", "text", "", "name of the machine"},
      {"machine_overrides", "list", "", "each --set"},
      {"machine_sha256", "text", "", "of the machine as a file with every key"},
      {"program_sha256", "text", "", "of the program text"},
      {"tiles", "integer", "", "of the chip"},
      {"tiles_used", "integer", "", "with a program"},
      {"arguments", "list", "", "StableHLO type of each"},
      {"results", "list", "", ""},
      {"results[].type", "text", "", "StableHLO type"},
      {"results[].argument", "integer or null", "", "the donated argument whose place it takes"},
      {"infeeds", "list", "", "StableHLO type of what each visit inside a call takes"},
      {"outfeeds", "list", "", "StableHLO type of what each visit inside a call gives"},
      {"graphviz", "text", "", "with --emit=graph or steps: these as GraphViz draws them"},
      {"estimated_cycles", "integer", "cycle",
       "of a call besides its visit to the host, with exchanges as estimated before a schedule"},
      {"predicted_cycles", "integer", "cycle",
       "of a call besides its visit to the host: exchanges, the slowest tile of each superstep, "
       "barriers; loops with their known trips, or one, branches with the longest arm"},
      {"plan", "list", "", "the steps of a call, in order"},
      {"plan[].name", "text", "", ""},
      {"plan[].kind", "text", "", "compute, exchange, host, loop, branch or arm"},
      {"plan[].superstep", "integer or null", "",
       "those of one number run from one barrier to the next, on different tiles at once"},
      {"plan[].parent", "integer or null", "",
       "the loop or arm that executes it, or the branch of an arm: its place in the plan, from 0"},
      {"plan[].trips", "integer or null", "",
       "of one execution of a loop; null where they follow from data"},
      {"plan[].source", "text", "", "file:line:column, or empty"},
      {"plan[].python", "text", "", "file:line of the Python source, or empty"},
      {"plan[].flops", "integer", "flop", "useful ones"},
      {"plan[].exchange_bytes", "integer", "B", "written to tile memories"},
      {"plan[].bound_cycles", "integer", "cycle", "of an exchange: words of its busiest port"},
      {"plan[].estimated_cycles", "integer", "cycle",
       "of an exchange: as estimated before it was scheduled"},
      {"plan[].predicted_cycles", "integer", "cycle",
       "of one execution: an exchange by its schedule, compute by its code, the longest arm of a "
       "branch, one trip of a loop"},
      kPlanEventFields[0],
      kPlanEventFields[1],
      kPlanEventFields[2],
      kPlanEventFields[3],
      kPlanEventFields[4],
      kPlanEventFields[5],
      {"memory", "object", "", "of the tile that holds most"},
      {"memory.tile_bytes", "integer", "B", "memory of a tile"},
      {"memory.worst_tile", "integer", "", "tile with most memory in use"},
      {"memory.worst_tile_bytes", "integer", "B", "memory in use there"},
      {"memory.worst_tile_categories", "object", "B", "what it is used for: a number by category"},
      {"memory.biggest_tensors", "list", "", "those that take most of a tile"},
      {"memory.biggest_tensors[].name", "text", "", ""},
      {"memory.biggest_tensors[].type", "text", "", ""},
      {"memory.biggest_tensors[].tile_bytes", "integer", "B", "on the tile that holds most of it"},
      {"memory.biggest_tensors[].source", "text", "", "file:line:column, or empty"},
      {"memory.biggest_tensors[].python", "text", "", "file:line, or empty"},
      {"files", "object", "", "what was written"},
      {"files.image", "text", "", "the compiled program"},
  };
  return kFields;
}

Options compile_options() {
  Options options("compile PROGRAM [options]",
                  "Compiles a StableHLO program (`-`: from standard input), or takes one that `-o` "
                  "wrote, shows plan and memory.",
                  {"superstep compile step.mlir -m bow",
                   "superstep compile step.mlir -m bow -o step.h5", "superstep compile step.h5"});
  options.value("machine,m", "NAME|FILE", "builtin machine or machine file (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .value("emit", "WHAT", "only graph (ops) or steps, for GraphViz, or plan")
      .value("output,o", "FILE", "write the compiled program there, for `superstep run FILE`")
      .value(HostThreads::kName, "N", HostThreads::kHelp)
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

namespace {

/// Plan and memory of an image, or only what `emit` asks for.
void show(const ProgramImage& image, const std::string& path, const std::string& emit,
          Answer& answer) {
  add_fields(image, answer);
  if (emit == "plan") answer.print("{}", plan(image.info, path));
  if (!emit.empty()) return;
  answer.print("{} on {} ({} of {} tiles, {:.3f} GHz)\n", image.info.module, image.machine.name,
               image.entries.size(), image.machine.tiles(),
               static_cast<double>(image.machine.tile.clock_hz) / 1e9);
  for (std::size_t k = 0; k < image.arguments.size(); ++k)
    answer.print("  {:<10}{}\n", fmt::format("arg{}", k), image.arguments[k].text());
  for (std::size_t k = 0; k < image.results.size(); ++k) {
    const bool aliased = k < image.alias.size() && image.alias[k];
    answer.print("  {:<10}{}{}\n", fmt::format("result{}", k), image.results[k].text(),
                 aliased ? fmt::format("  in the place of arg{}", *image.alias[k]) : "");
  }
  for (const bool is_in : {true, false}) {
    const auto kind = is_in ? Stream::Kind::kInfeed : Stream::Kind::kOutfeed;
    for (const auto& [position, queue] : feed_queues(image, kind)) {
      answer.print("  {:<10}{}  at each visit\n",
                   fmt::format("{}{}", is_in ? "infeed" : "outfeed", position), queue.type.text());
    }
  }
  answer.print("{}", plan(image.info, path));
  answer.print("{}", plan_events_text(image.info.events, output_columns()));
  answer.print("{}", memory_report(image.info, image.machine, output_columns()));
}

void show_compiled(const Options& options, const std::string& emit, Answer& answer) {
  const std::string& path = options.words()[0];
  if (options.has("output") || emit == "graph" || emit == "steps") {
    usage_error(
        fmt::format("'{}' is compiled: -o and --emit graph or steps take a StableHLO "
                    "program",
                    path));
  }
  const ProgramImage image = image_of(options, answer);
  add_identity(image.machine, options.list("set"), answer);
  show(image, path, emit, answer);
}

}  // namespace

ExitCode compile_command(const Options& options, Answer& answer) {
  Progress progress(options.has("quiet"));
  const std::string& path = options.words()[0];
  const std::string emit = options.get("emit").value_or("");
  const HostThreads threads(options);
  if (!emit.empty() && emit != "graph" && emit != "steps" && emit != "plan") {
    usage_error(fmt::format("--emit takes graph, steps or plan, found '{}'", emit));
  }
  if (is_hdf5(path)) {
    show_compiled(options, emit, answer);
    return ExitCode::kOk;
  }
  const std::string machine_name = options.get("machine").value_or(kDefaultMachine);
  const SourcedMachine machine = load_sourced_machine(machine_name, options.list("set"));
  add_identity(machine.machine, options.list("set"), answer);
  const std::optional<std::string> output = options.get("output");
  if (output) {
    std::vector<NamedFile> inputs{{"the program", path}};
    add_machine(inputs, machine_name, options.list("set"));
    check_outputs(inputs, {{"the image (-o)", *output}});
  }
  CompileOptions wanted{.keep_exchange_plan = output.has_value()};
  std::string text;
  std::optional<StepDrawing> steps;
  if (emit == "graph") {
    wanted.on_graph = [&](const Module& module) { text = graphviz(module.main, module.name); };
  } else if (emit == "steps") {
    wanted.on_steps = [&](const LoweredProgram& program) {
      text = steps.emplace(program).graphviz(path);
    };
  }
  const auto show_drawing = [&] {
    if (text.empty()) return;
    answer.fields()["graphviz"] = text;
    answer.print("{}", text);
  };
  ProgramImage image;
  try {
    image = compile_file(path, machine, progress, answer, {}, std::move(wanted));
  } catch (const DoesNotFit&) {
    show_drawing();  // of what was there before the program was refused
    throw;
  }
  if (output) {
    progress.stage("write     " + *output);
    write_image(*output, image);
  }
  progress.clear();
  if (steps) text = steps->graphviz(path, image.info.steps);
  show_drawing();
  show(image, path, emit, answer);
  if (output) answer.fields()["files"]["image"] = *output;
  if (output && emit.empty()) answer.print("{:<10}{}\n", "Image", *output);
  return ExitCode::kOk;
}

}  // namespace superstep
