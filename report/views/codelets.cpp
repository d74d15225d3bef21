#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report/codelet_totals.h"
#include "report/numbers.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

ViewTable codelets_table(const ViewInput& input) {
  std::vector<CodeletTotals> codelets = codelet_totals(input.file, input.trace.workers);
  std::uint64_t all = 0, instructions = 0;
  for (const CodeletTotals& of : codelets) {
    all += of.cycles;
    instructions += of.instructions.all;
  }
  std::erase_if(codelets,
                [&](const CodeletTotals& of) { return !matches(input.options, of.name); });
  std::ranges::stable_sort(codelets, std::ranges::greater{}, &CodeletTotals::cycles);
  const auto step_name = [&](std::uint32_t step) {
    return step < input.trace.steps.size() ? input.trace.steps[step].info.name : std::string();
  };
  ViewTable table{.name = "codelets",
                  .title = "Codelets, most cycles of workers first",
                  .columns = {{"codelet"},
                              {"launches", Form::kCount, "1", 2},
                              {"runs", Form::kCount, "1", 5, "of workers, from launch to exit"},
                              {"cycles", Form::kCycles, "", 0, "of all workers"},
                              {"time", Form::kTime, "", 7},
                              {"%", Form::kShare, "1"},
                              {"a run", Form::kReal, "cycle", 3},
                              {"longest", Form::kCycles},
                              {"balance", Form::kShare, "1", 0,
                               "mean of the workers over the busiest one, of a step on a tile"},
                              {"main", Form::kShare, "1", 4, "slots in which the main pipe issues"},
                              {"AMP", Form::kShare, "1", 6, "slots in which the AMP issues"},
                              {"most in", Form::kText, "", 0, "its step with most cycles"},
                              {"superstep", Form::kCount, "1", 1, "of the longest run"},
                              {"tile", Form::kCount, "1", 1, "of the longest run"}}};
  // A worker has one slot in as many cycles as there are workers.
  const auto issued = [&](std::uint64_t count, std::uint64_t cycles) {
    return ratio(count * input.trace.workers, cycles);
  };
  for (const CodeletTotals& of : codelets) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    const auto most =
        std::ranges::max_element(of.by_step, {}, [](const auto& s) { return s.second; });
    table.add(of.name, of.launches, of.runs, of.cycles,
              time_cell(Cycles(of.cycles), input.trace.clock_hz), ratio(of.cycles, all),
              ratio(of.cycles, of.runs), of.longest.length, ratio(of.cycles, of.slots),
              issued(of.instructions.main(), of.cycles), issued(of.instructions.amp, of.cycles),
              step_name(most->first), of.longest.superstep, std::uint64_t{of.longest.tile});
  }
  note_more(table, codelets.size() - table.rows.size());
  table.compared = {{"codelet"}, {"cycles", "launches", "longest"}};
  if (instructions < input.trace.instructions.all) {
    table.compared.incomplete = fmt::format(
        "The trace has {} of the {} instructions that workers issued: a window, or its size limit, "
        "leaves out the others.",
        grouped(instructions), grouped(input.trace.instructions.all));
    table.notes.push_back(table.compared.incomplete);
  }
  note_no_match(table, input.options);
  return table;
}

/// What instructions of one opcode took, in workers or supervisors.
struct OfOpcode {
  std::uint64_t issued = 0, cycles = 0, register_wait = 0, slot_wait = 0;
};

ViewTable instructions_table(const ViewInput& input) {
  const std::vector<OpcodeRow> opcodes = input.file.read(kOpcodes);
  const auto name_of = [&](std::optional<std::uint32_t> opcode) {
    return opcode && *opcode < opcodes.size() ? opcodes[*opcode].name : std::string("(unknown)");
  };
  std::map<std::pair<std::string, std::string>, OfOpcode> by_name;
  input.file.for_each_row(kInstructions, [&](const InstructionRow& row) {
    std::string name = name_of(row.opcode);
    if (row.aux_opcode) name = fmt::format("{{{}; {}}}", name, name_of(row.aux_opcode));
    OfOpcode& of = by_name[{std::move(name), row.worker ? "worker" : "supervisor"}];
    ++of.issued;
    of.cycles += row.cycles;
    of.register_wait += row.register_wait;
    of.slot_wait += row.slot_wait;
  });
  std::erase_if(by_name,
                [&](const auto& entry) { return !matches(input.options, entry.first.first); });
  std::vector<std::pair<std::pair<std::string, std::string>, OfOpcode>> order(by_name.begin(),
                                                                              by_name.end());
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto& entry) { return entry.second.cycles; });
  ViewTable table{
      .name = "instructions",
      .title = "Instructions and bundles, most cycles first",
      .columns = {
          {"instruction"},
          {"in", Form::kText},
          {"issued", Form::kCount, "1"},
          {"cycles", Form::kCycles, "", 0, "until the next of its context"},
          {"register wait", Form::kCycles, "", 1, "of supervisors, before it, for a register"},
          {"slot wait", Form::kCycles, "", 1, "of supervisors, for a slot without a worker"}}};
  for (const auto& [key, of] : order) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    table.add(key.first, key.second, of.issued, of.cycles,
              cell_if(of.register_wait != 0, of.register_wait),
              cell_if(of.slot_wait != 0, of.slot_wait));
  }
  note_more(table, order.size() - table.rows.size());
  note_no_match(table, input.options);
  return table;
}

}  // namespace

std::vector<ViewTable> codelets_view(const ViewInput& input) {
  std::vector<ViewTable> tables = {codelets_table(input)};
  if (input.file.rows(kInstructions) != 0) tables.push_back(instructions_table(input));
  return tables;
}

}  // namespace superstep
