#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report/report.h"
#include "report/rules/rules.h"
#include "report/workers_of_tile.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

/// Elements that an instruction of the auxiliary pipe computes at most, of 64 bits of registers
/// [published: instruction set]; 0 of types that it does not compute with.
std::uint64_t lanes_of(DType dtype) {
  return dtype == DType::kF32 ? 2 : dtype == DType::kF16 ? 4 : 0;
}

}  // namespace

std::optional<double> find_uneven_workers(const RuleInput& input) {
  const auto& [rule, t, file, insights] = input;
  if (!file || !file->has(kVertices) || t.workers == 0) return std::nullopt;
  struct OfWorkers {
    std::uint64_t slots = 0, busy = 0;  ///< slots: cycles of the busiest one, times all of a tile
  };
  OfWorkers sum;
  std::map<std::uint32_t, OfWorkers> by_operation;
  std::uint64_t instructions = 0;
  const std::uint64_t workers = t.workers;
  using StepOperation = std::pair<std::uint32_t, std::uint32_t>;  // step, operation
  const auto book = [&](const StepOperation& of, std::uint64_t busiest, std::uint64_t busy) {
    for (OfWorkers* of : {&sum, &by_operation[of.second]}) {
      of->slots += busiest * workers;
      of->busy += busy;
    }
  };
  WorkersOfTile<StepOperation, decltype(book)> of_tile(book);
  file->for_each_row(kVertices, [&](const VertexRow& row) {
    of_tile.add(row, {row.step, row.operation});
    instructions += row.instructions.all;
  });
  of_tile.finish();
  if (sum.slots == 0) return std::nullopt;
  const double of_all = ratio(sum.slots - sum.busy, sum.slots);
  if (of_all <= rule.limit) return of_all;
  const auto most = std::ranges::max_element(by_operation, {}, [](const auto& operation) {
    return operation.second.slots - operation.second.busy;
  });
  const std::string name = name_of_operation(*file, most->first);
  say(input,
      fmt::format(
          "for {} % of the time of {} they wait for the busiest one of their tile in a step, "
          "most in {} (as if {:.1f} of {} worked)",
          percent(of_all),
          instructions == t.instructions.all ? "workers" : "workers that are traced", name,
          static_cast<double>(workers) * ratio(most->second.busy, most->second.slots), workers),
      Cycles(), name);
  return of_all;
}

std::optional<double> find_few_flops(const RuleInput& input) {
  const auto& [rule, t, file, insights] = input;
  if (!file || !file->has(kVertices) || t.workers == 0) return std::nullopt;
  struct OfOperation {
    std::uint64_t worker_cycles = 0, amp = 0, flops = 0;
  };
  std::map<std::uint32_t, OfOperation> by_number;
  std::uint64_t instructions = 0;
  file->for_each_row(kVertices, [&](const VertexRow& row) {
    OfOperation& of = by_number[row.operation];
    of.worker_cycles += row.length;
    of.amp += row.instructions.amp;
    instructions += row.instructions.all;
  });
  // A window, or the limit of the file's size, leaves workers out.
  if (instructions != t.instructions.all) return std::nullopt;
  const std::vector<OperationRow> operations = file->read(kOperations);
  std::map<std::string, OfOperation> by_name;
  for (const auto& [number, of] : by_number) {
    if (number < operations.size()) by_name[operations[number].name] = of;
  }
  for (const StepTotals& step : t.steps) {
    by_name[step.operation_name].flops += step.runs * step.info.flops;
  }
  for (const OperationTotals& operation : operations_of(t)) {
    const OfOperation& of = by_name[operation.name];
    if (of.flops == 0 || of.amp != 0 || of.worker_cycles == 0) continue;
    const auto tensor = std::ranges::find(t.tensors, operation.name, &TensorInfo::name);
    const std::uint64_t lanes = tensor == t.tensors.end() ? 0 : lanes_of(tensor->type.dtype);
    // A worker has one slot in as many cycles as there are workers.
    const double rate = ratio(of.flops * t.workers, of.worker_cycles);
    if (lanes == 0 || rate >= kFewFlops * static_cast<double>(lanes)) continue;
    const double of_device = ratio(operation.device(), t.totals.device());
    if (of_device > rule.limit)
      say(input,
          fmt::format("{} takes {} % of device cycles and makes {:.2f} useful operations in a slot "
                      "of its workers, where an instruction makes {} of {}",
                      operation.name, percent(of_device), rate, lanes, name_of(tensor->type.dtype)),
          Cycles(), operation.name);
    return of_device;
  }
  return 0;
}

}  // namespace superstep
