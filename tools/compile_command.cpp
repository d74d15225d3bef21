#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "compiler/graph/op_graph.h"
#include "compiler/program/step_graph.h"
#include "tools/command.h"
#include "tools/compile_file.h"
#include "tools/numbers.h"
#include "tools/places.h"
#include "tools/plan_events.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/text_table.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

constexpr const char* kStepKinds[] = {"compute", "exchange", "host"};

/// The steps of a call: what is done, for which operation, and how much.
std::string plan(const ProgramInfo& info, const std::string& file) {
  const std::vector<StepInfo>& steps = info.steps;
  constexpr auto kLeft = TextTable::Align::kLeft, kRight = TextTable::Align::kRight;
  bool has_python = false;
  std::uint64_t flops = 0, bytes = 0;
  for (const StepInfo& step : steps) {
    has_python = has_python || !step.source.python.file.empty();
    flops += step.flops;
    bytes += step.exchange_bytes;
  }
  const auto number = [](std::uint64_t n, const char* unit) {
    return n == 0 ? std::string() : grouped(n) + unit;
  };
  const auto make = [&](PlaceForm form) {
    TextTable table({kRight, kLeft, kLeft, kRight, kRight, kRight, kLeft, kLeft});
    table.add(with_headings({"#", "kind", "step", "work", "est.", "cycles"}, has_python, form));
    for (const StepInfo& step : steps) {
      const bool moves = step.kind == StepInfo::Kind::kExchange;
      table.add(with_place({step.superstep ? std::to_string(*step.superstep) : "",
                            kStepKinds[static_cast<std::size_t>(step.kind)], step.name,
                            moves ? number(step.exchange_bytes, " B") : number(step.flops, " flop"),
                            number(step.estimated_cycles, ""), number(step.predicted_cycles, "")},
                           step.source, form));
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
         "of each superstep, and the barriers between them\n";
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
  fields["estimated_cycles"] = image.info.estimated_cycles;
  fields["predicted_cycles"] = image.info.predicted_cycles;
  fields["plan"] = ordered_json::array();
  for (const StepInfo& step : image.info.steps) {
    fields["plan"].push_back(
        {{"name", step.name},
         {"kind", kStepKinds[static_cast<std::size_t>(step.kind)]},
         {"superstep", step.superstep ? ordered_json(*step.superstep) : ordered_json()},
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
      {"graphviz", "text", "", "with --emit=graph or steps: these as GraphViz draws them"},
      {"estimated_cycles", "integer", "cycle",
       "of a call besides its visit to the host, with exchanges as estimated before a schedule"},
      {"predicted_cycles", "integer", "cycle",
       "of a call besides its visit to the host: exchanges, the slowest tile of each superstep, "
       "barriers"},
      {"plan", "list", "", "the steps of a call, in order"},
      {"plan[].name", "text", "", ""},
      {"plan[].kind", "text", "", "compute, exchange or host"},
      {"plan[].superstep", "integer or null", "",
       "those of one number run from one barrier to the next, on different tiles at once"},
      {"plan[].source", "text", "", "file:line:column, or empty"},
      {"plan[].python", "text", "", "file:line of the Python source, or empty"},
      {"plan[].flops", "integer", "flop", "useful ones"},
      {"plan[].exchange_bytes", "integer", "B", "written to tile memories"},
      {"plan[].bound_cycles", "integer", "cycle", "of an exchange: words of its busiest port"},
      {"plan[].estimated_cycles", "integer", "cycle",
       "of an exchange: as estimated before it was scheduled"},
      {"plan[].predicted_cycles", "integer", "cycle",
       "of one execution: an exchange by its schedule, compute by its code"},
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
  };
  return kFields;
}

Options compile_options() {
  Options options("compile PROGRAM.mlir [options]",
                  "Compiles a StableHLO program (`-`: from standard input), shows plan and memory.",
                  {"superstep compile step.mlir -m bow"});
  options.value("machine,m", "NAME|FILE", "builtin machine or machine file (gc200)")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .value("emit", "WHAT", "only graph (ops) or steps, for GraphViz, or plan")
      .value("threads,j", "N", "host threads (all)")
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

ExitCode compile_command(const Options& options, Answer& answer) {
  Progress progress(options.has("quiet"));
  const MachineConfig machine =
      load_machine(options.get("machine").value_or("gc200"), options.list("set"));
  add_identity(machine, options.list("set"), answer);
  const std::string& path = options.words()[0];
  const std::string emit = options.get("emit").value_or("");
  CompileOptions wanted{.threads = options.number(
                            "threads", 1, 256, std::max(1U, std::thread::hardware_concurrency()))};
  std::string text;
  std::optional<StepDrawing> steps;
  if (emit == "graph") {
    wanted.on_graph = [&](const Module& module) { text = graphviz(module.main, module.name); };
  } else if (emit == "steps") {
    wanted.on_steps = [&](const LoweredProgram& program) {
      text = steps.emplace(program).graphviz(path);
    };
  } else if (!emit.empty() && emit != "plan") {
    usage_error(fmt::format("--emit takes graph, steps or plan, found '{}'", emit));
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
  progress.clear();
  add_fields(image, answer);
  if (steps) text = steps->graphviz(path, image.info.steps);
  show_drawing();
  if (emit == "plan") answer.print("{}", plan(image.info, path));
  if (!emit.empty()) return ExitCode::kOk;
  answer.print("{} on {} ({} of {} tiles, {:.3f} GHz)\n", image.info.module, machine.name,
               image.entries.size(), machine.tiles(),
               static_cast<double>(machine.tile.clock_hz) / 1e9);
  for (std::size_t k = 0; k < image.arguments.size(); ++k)
    answer.print("  {:<10}{}\n", fmt::format("arg{}", k), image.arguments[k].text());
  for (std::size_t k = 0; k < image.results.size(); ++k) {
    const bool aliased = k < image.alias.size() && image.alias[k];
    answer.print("  {:<10}{}{}\n", fmt::format("result{}", k), image.results[k].text(),
                 aliased ? fmt::format("  in the place of arg{}", *image.alias[k]) : "");
  }
  answer.print("{}", plan(image.info, path));
  answer.print("{}", plan_events_text(image.info.events, output_columns()));
  answer.print("{}", memory_report(image.info, machine, output_columns()));
  return ExitCode::kOk;
}

}  // namespace superstep
