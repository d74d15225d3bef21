#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/output_file.h"
#include "sim/tile/cycle_limit.h"
#include "sim/tile/slot_counter.h"
#include "toolchain/linker.h"
#include "tools/assemble_file.h"
#include "tools/codelet_memory.h"
#include "tools/codelet_run.h"
#include "tools/codelet_spec.h"
#include "tools/command.h"
#include "report/export/kanata_log.h"
#include "report/numbers.h"
#include "tools/outputs.h"
#include "tools/race_option.h"
#include "tools/signals.h"
#include "tools/tensors.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

/// What one call gave.
/// The instructions of a call.
class CallLog : public InstructionObserver {
 public:
  explicit CallLog(std::uint32_t workers) : log_(workers) {}

  void issued(const IssuedInstruction& instruction) override { log_.add({instruction}); }
  [[nodiscard]] const KanataLog& log() const { return log_; }
  [[nodiscard]] std::string text(const LinkedCode& code) const {
    std::string text;
    log_.write(
        0, [&](const TileInstruction& i) { return code.place_of(i.pc); },
        [&](std::string_view piece) { text += piece; });
    return text;
  }

 private:
  KanataLog log_;
};

struct Outcome {
  const CodeletSpec& spec;
  const LinkedCode& code;
  const CodeletCost& cost;
  const SlotCounter& counts;
  const MachineConfig& machine;
  std::vector<std::pair<const CodeletTensor*, HostTensor>> printed;
  const CodeletMemory& memory;
  std::vector<std::string> overrun;
  std::string trap;
  SourceLocation where;  ///< of the trap, or of what issued last before the call was stopped
  bool is_stopped;       ///< by its limit of cycles: memory may hold what was stored later
};

constexpr const char* kKindNames[] = {"worker", "multivertex", "supervisor"};

struct SlotField {
  const char* name;
  const char* json_name;
  std::uint64_t SlotCounts::*value;
  bool of_supervisor;
};
constexpr SlotField kSlotFields[] = {
    {"main", "main", &SlotCounts::main_only, true},
    {"aux", "aux", &SlotCounts::aux_only, false},
    {"bundle", "bundles", &SlotCounts::bundles, false},
    {"extra", "extra", &SlotCounts::extra_slots, true},
    {"result", "register_wait", &SlotCounts::register_wait, true},
    {"slot", "slot_wait", &SlotCounts::slot_wait, true},
    {"branch", "branch_wait", &SlotCounts::branch_wait, true},
    {"sync", "sync_wait", &SlotCounts::sync_wait, true},
};

std::string values_text(const HostTensor& tensor) {
  constexpr std::size_t kMostShown = 64;
  const auto n = static_cast<std::size_t>(tensor.type.elements());
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(n, kMostShown); ++i) {
    text += (i == 0 ? "" : ", ") + element_text(tensor, i, 9);
  }
  return text + (n > kMostShown ? fmt::format(", … {} in all]", n) : "]");
}

void print_text(const Outcome& o, Answer& answer) {
  answer.print("entry         {} ({}) on {}\n", o.spec.entry,
               kKindNames[static_cast<int>(o.spec.kind)], o.machine.name);
  if (o.trap.empty()) {
    answer.print("cycles        {} of the call", grouped(o.cost.cycles));
    if (const std::uint64_t clocks = o.cost.slowest_worker_clocks(); clocks != 0) {
      answer.print("; slowest worker {} slots = {} cycles",
                   grouped(clocks / o.machine.issue_period()), grouped(clocks));
    }
    answer.print("\n");
  } else {
    answer.print("{}\n", o.trap);
  }
  std::string header = fmt::format("\n{:<12}{:>8}{:>14}", "slots of", "total", "instructions");
  for (const SlotField& field : kSlotFields) {
    if (!std::string_view(field.json_name).ends_with("wait")) {
      header += fmt::format("{:>8}", field.name);
    }
  }
  answer.print("{}\n", header);
  for (std::uint32_t w = 0; w < o.machine.tile.workers; ++w) {
    const SlotCounts& counts = o.counts.worker(w);
    if (counts.instructions == 0) continue;
    answer.print("{:<12} {:>7} {:>13}", fmt::format("worker {}", w), counts.total(),
                 counts.instructions);
    for (const SlotField& field : kSlotFields) {
      if (!std::string_view(field.json_name).ends_with("wait")) {
        answer.print(" {:>7}", counts.*field.value);
      }
    }
    answer.print("\n");
  }
  const SlotCounts& supervisor = o.counts.supervisor();
  answer.print(
      "supervisor: {} instructions; cycles it waited: {} for results, {} for slots, {} in taken "
      "branches, {} in sync, {} in others\n",
      supervisor.instructions, supervisor.register_wait, supervisor.slot_wait,
      supervisor.branch_wait, supervisor.sync_wait, supervisor.extra_slots);
  if (o.is_stopped) {
    answer.print("\nno tensor is shown: a call that is stopped may have stored behind the limit\n");
  } else if (o.printed.empty()) {
    answer.print("\nno tensor changed\n");
  }
  for (const auto& [tensor, value] : o.printed) {
    answer.print("\n{} {} at {:#x}\n{}\n", tensor->name, value.type.text(),
                 o.memory.address_of(tensor->name), values_text(value));
  }
}

ordered_json json_of(const SlotCounts& counts, bool supervisor) {
  ordered_json json = {{"instructions", counts.instructions}};
  for (const SlotField& field : kSlotFields) {
    const bool is_wait = std::string_view(field.json_name).ends_with("wait");
    if (supervisor ? field.of_supervisor : !is_wait) json[field.json_name] = counts.*field.value;
  }
  return json;
}

void add_fields(const Outcome& o, Answer& answer) {
  ordered_json& json = answer.fields();
  json.update({{"entry", o.spec.entry},
               {"kind", kKindNames[static_cast<int>(o.spec.kind)]},
               {"machine", o.machine.name},
               {"trap", o.trap},
               {"cycles", o.cost.cycles},
               {"slowest_worker_cycles", o.cost.slowest_worker_clocks()},
               {"worker_instructions", o.cost.worker_instructions.all}});
  json["workers"] = ordered_json::array();
  for (std::uint32_t w = 0; w < o.machine.tile.workers; ++w) {
    ordered_json worker = json_of(o.counts.worker(w), false);
    worker["slots"] = o.counts.worker(w).total();
    json["workers"].push_back(worker);
  }
  json["supervisor"] = json_of(o.counts.supervisor(), true);
  json["overrun"] = o.overrun;
  json["tensors"] = ordered_json::object();
  for (const auto& [tensor, value] : o.printed) {
    ordered_json values = ordered_json::array();
    for (std::size_t i = 0; i < static_cast<std::size_t>(value.type.elements()); ++i) {
      values.push_back(element_as_double(value, i));
    }
    json["tensors"][tensor->name] = {{"dtype", name_of(value.type.dtype)},
                                     {"shape", value.type.shape},
                                     {"address", o.memory.address_of(tensor->name)},
                                     {"values", values}};
  }
}

/// What a call took until it was stopped or trapped: all that issued. More may have run.
CodeletCost cost_until(std::uint64_t cycle, const SlotCounter& counts,
                       const MachineConfig& machine) {
  CodeletCost cost;
  cost.cycles = cycle;
  cost.issue_period = machine.issue_period();
  for (std::uint32_t w = 0; w < machine.tile.workers; ++w) {
    cost.worker_slots.push_back(counts.worker(w).total());
    cost.worker_instructions.all += counts.worker(w).instructions;
  }
  return cost;
}

/// Where a call that was stopped is.
std::string last_issued(const CycleLimit& limit, const LinkedCode& code) {
  if (!limit.last()) return "before its first instruction";
  const IssuedInstruction& last = *limit.last();
  return fmt::format("after {} at pc {} ({:#x}), issued in cycle {}",
                     last.context == IssuedInstruction::kSupervisor
                         ? std::string("the supervisor")
                         : fmt::format("worker {}", last.context),
                     code.place_of(last.pc), last.pc, last.cycle);
}

std::vector<NamedFile> inputs_of(const CodeletSpec& spec, const Options& options) {
  std::vector<NamedFile> inputs{{"the description", options.words()[0]}};
  add_machine(inputs, spec.machine, options.list("set"));
  for (const std::filesystem::path& source : spec.sources) inputs.push_back({"a source", source});
  return inputs;
}

std::vector<NamedFile> outputs_of(const Options& options) {
  std::vector<NamedFile> outputs;
  for (const char* name : {"output", "trace"}) {
    if (const auto file = options.get(name)) outputs.push_back({std::string("--") + name, *file});
  }
  return outputs;
}

}  // namespace

std::span<const AnswerField> run_codelet_fields() {
  static constexpr AnswerField kFields[] = {
      {"entry", "text", "", "name of the entry point"},
      {"kind", "text", "", "worker, multivertex or supervisor"},
      {"machine", "text", "", "name of the machine"},
      {"trap", "text", "", "what ended the call, or empty"},
      {"cycles", "integer", "cycle", "of the call"},
      {"slowest_worker_cycles", "integer", "cycle",
       "from its first issue to its exit, or through the last slot that issued before a trap"},
      {"worker_instructions", "integer", "", "of all workers; a bundle counts as two"},
      {"workers", "list", "", "slots of each by what they were used for"},
      {"supervisor", "object", "", "instructions, and cycles waited by reason"},
      {"overrun", "list", "", "tensors behind whose end bytes were written"},
      {"tensors", "object", "", "those printed, by name: dtype, shape, address, values"},
  };
  return kFields;
}

namespace {

/// Codelets in assembly divide their work by constants.
void check_is_mk2(const MachineConfig& machine) {
  constexpr std::uint32_t kWorkers = 6;
  if (machine.tile.workers == kWorkers && machine.isa.encoding == Encoding::kMk2) return;
  usage_error(fmt::format(
      "{} has {} workers and its encoding is {}: code for Mk2 may count on six workers and on mk2; "
      "--foreign-machine runs it all the same",
      machine.name, machine.tile.workers, machine.isa.encoding == Encoding::kMk2 ? "mk2" : "wide"));
}

}  // namespace

Options run_codelet_options() {
  Options options("run-codelet SPEC.toml [options]",
                  "Runs one entry point of assembly or of an ELF object on one tile, from a vertex "
                  "state that the file describes (docs/run-codelet.md).",
                  {"superstep run-codelet models/codelets/scale.toml",
                   "superstep run-codelet scale.toml --trace scale.kanata --json"});
  options.value("machine,m", "NAME|FILE", "machine, instead of the file's")
      .values("set", "KEY=VALUE", "override one key of the machine")
      .value("output", "FILE.h5", "write every tensor there, by its name")
      .value("trace", "FILE.kanata", "write each instruction there, for Konata")
      .value("max-cycles", "N", "stop the call after N cycles (no limit)")
      .value("check-races", "WHEN", race_checks_help(RaceChecks::kNever).c_str())
      .flag("foreign-machine",
            "run code for Mk2 on a machine that has not its six workers, or not its encoding")
      .positionals(1, 1);
  return options;
}

ExitCode run_codelet_command(const Options& options, Answer& answer) {
  const RaceChecks check_races = race_checks_of(options, RaceChecks::kNever);
  CodeletSpec spec = read_codelet_spec(options.words()[0]);
  if (const auto machine = options.get("machine")) spec.machine = *machine;
  check_outputs(inputs_of(spec, options), outputs_of(options));
  const MachineConfig machine = load_machine(spec.machine, options.list("set"));
  if (!options.has("foreign-machine")) check_is_mk2(machine);

  std::vector<LinkInput> inputs;
  std::vector<std::string> headers;
  for (const std::filesystem::path& source : spec.sources) {
    inputs.push_back(
        {source.string(), load_object(source, spec.includes, spec.defines, machine, &headers)});
  }
  std::vector<NamedFile> more;
  for (const std::string& file : headers) more.push_back({"a header of a source", file});
  check_outputs(more, outputs_of(options));
  CallLog trace(machine.tile.workers);
  SlotCounter counts(machine, options.has("trace") ? &trace : nullptr);
  std::optional<std::uint64_t> most_cycles;
  if (options.has("max-cycles"))
    most_cycles =
        options.long_number("max-cycles", 1, std::numeric_limits<std::uint64_t>::max(), 1);
  CycleLimit limit(most_cycles, counts);
  const InterruptRequest interrupt;
  // Some of PopLibs' workers wait for one another.
  CodeletRun run(machine, {.take_turns = true, .check_races = check_races, .interrupted = [&] {
                             return limit.is_reached() || interrupt.asked();
                           }});
  const LinkedCode code =
      link(inputs, std::vector<std::string>{spec.entry}, machine, run.free_begin(), run.free_end());
  run.load(code);
  const CodeletMemory memory(spec, run, code.end());
  run.set_fp_control(spec.fp_control);
  run.observe(&limit);
  const PlacedSymbol* entry = code.find(spec.entry);
  SUPERSTEP_CHECK(entry != nullptr, "what was linked has its entry");
  if (entry->mode == Object::Mode::kSupervisor && spec.kind != CodeletKind::kSupervisor) {
    throw MalformedInput(
        fmt::format("`{}` is `.supervisor` code: its kind is \"supervisor\", not \"{}\"",
                    spec.entry, kKindNames[static_cast<int>(spec.kind)]));
  }
  CodeletCost cost = run.call(spec.kind, entry->address, memory.vertex_state());
  const bool is_stopped = limit.is_reached() || (most_cycles && cost.cycles > *most_cycles);
  if (is_stopped || run.fault()) {
    cost = cost_until(is_stopped ? *most_cycles : cost.cycles, counts, machine);
  }

  Outcome outcome{spec, code, cost, counts, machine, {}, memory, {}, {}, {}, is_stopped};
  const bool is_interrupted = interrupt.asked() && !is_stopped;
  if (limit.last()) outcome.where = code.source_of(limit.last()->pc);
  if (is_stopped) {
    outcome.trap = fmt::format("stopped at cycle {}, the limit of --max-cycles, {}", *most_cycles,
                               last_issued(limit, code));
  } else if (is_interrupted && run.fault()) {
    outcome.trap = "interrupted " + last_issued(limit, code);
  } else if (const auto& fault = run.fault()) {
    outcome.trap = fmt::format("{} trap at cycle {}, {}, pc {} ({:#x}): {}", name_of(fault->kind),
                               fault->cycle.value(), fault->context, code.place_of(fault->pc),
                               fault->pc, fault->cause);
    outcome.where = code.source_of(fault->pc);
  }
  if (!is_stopped) {
    outcome.overrun = memory.overrun(run);
    TensorFile all;
    for (const CodeletTensor& tensor : spec.tensors) {
      HostTensor value = memory.value_of(tensor, run);
      all[tensor.name] = value;
      const bool is_named =
          std::find(spec.print.begin(), spec.print.end(), tensor.name) != spec.print.end();
      if (is_named || (spec.print.empty() && value.data != tensor.value.data)) {
        outcome.printed.emplace_back(&tensor, std::move(value));
      }
    }
    if (const auto file = options.get("output")) write_tensors(*file, all);
  }
  if (const auto file = options.get("trace")) {
    replace_file(*file, trace.text(code));
    if (trace.log().left_out() != 0) {
      answer.add_problem(
          {{*file, 0, 0},
           fmt::format("leaves out the last {} instructions", trace.log().left_out())});
    }
  }
  print_text(outcome, answer);
  add_fields(outcome, answer);
  for (const std::string& name : outcome.overrun) {
    answer.add_problem({{}, fmt::format("bytes behind the end of tensor '{}' were written", name)});
  }
  if (!outcome.trap.empty()) answer.add_problem({outcome.where, outcome.trap});
  if (is_interrupted && !outcome.trap.empty()) return ExitCode::kInterrupted;
  return outcome.trap.empty() && outcome.overrun.empty() ? ExitCode::kOk : ExitCode::kFailedCheck;
}

}  // namespace superstep
