#include "tools/op_costs.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "compiler/program/blocks.h"
#include "compiler/vertex/timing_analysis.h"
#include "sim/run_image.h"

namespace superstep {
namespace {

/// An op on vectors, with what some need besides operands.
Op use_of(const OpDefinition& op, const TensorType& type) {
  static const std::map<std::string_view, Attributes> kAttributes = {
      {"chlo.broadcast_compare", {{"comparison_direction", "LT"}}},
      {"stablehlo.compare", {{"comparison_direction", "LT"}}},
      {"stablehlo.reduce_precision",
       {{"exponent_bits", std::int64_t{8}}, {"mantissa_bits", std::int64_t{7}}}},
  };
  Op use;
  use.definition = &op;
  if (const auto found = kAttributes.find(op.name); found != kAttributes.end())
    use.attributes = found->second;
  if (op.name == "stablehlo.convert")
    use.declared = {{type.dtype == DType::kF32 ? DType::kF16 : DType::kF32, type.shape}};
  if (op.name == "stablehlo.bitcast_convert")
    use.declared = {{unsigned_of_size(size_of(type.dtype)), type.shape}};
  return use;
}

/// Whether what a launch takes depends on more than its state.
bool data_decide(const LoweredProgram& program, const MachineConfig& machine) {
  constexpr std::uint32_t kState = 0x40000000;  // the address of the state; buffers lie at 0
  for (const Superstep* superstep : supersteps_of(program)) {
    for (const ComputeSet& set : superstep->computes) {
      const vertex::TimingAnalysis analysis(machine,
                                            code_of(program.codelets[set.codelet], machine));
      for (const Launch& launch : set.launches) {
        std::vector<std::uint32_t> words;
        for (const StateWord& word : launch.state)
          words.push_back(word.value + (word.base == StateWord::Base::kState ? kState : 0));
        if (std::ranges::any_of(analysis.launch(words, kState, launch.worker_words),
                                &vertex::WorkerTiming::depends_on_data)) {
          return true;
        }
      }
    }
  }
  return false;
}

void count_ops(const Graph& graph, std::map<std::string_view, std::size_t>& counts) {
  for (const Op& op : graph.ops()) {
    ++counts[op.definition->name];
    for (const Graph& region : op.regions) count_ops(region, counts);
  }
}

}  // namespace

const MachineConfig& machine_of_costs() {
  static const MachineConfig kMachine = load_machine("bow", {"grid.tiles=1"});
  return kMachine;
}

std::optional<Module> vector_use(const OpDefinition& op, DType dtype, std::int64_t elements) {
  const TensorType type{dtype, {elements}};
  const OperandTypes& operands = op.traits.operands;
  bool takes_dtype = false;
  Module module;
  Op use = use_of(op, type);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto takes = [&](DType d) { return (operands.of(i) & only(d)) != 0; };
    takes_dtype |= takes(dtype);
    const DType taken = takes(dtype) ? dtype : *std::ranges::find_if(kAllDTypes, takes);
    use.operands.push_back(module.main.add_argument({taken, type.shape}, std::to_string(i)));
  }
  if (!takes_dtype || op.traits.regions != 0) return std::nullopt;
  try {
    const Op& added = module.main.add_op(std::move(use));
    if (lowering_as<RearrangeLowering>(added, module.main) != nullptr) return std::nullopt;
    module.main.set_results(added.results);
  } catch (const UserError&) {
    return std::nullopt;
  }
  const std::vector<ValueId>& results = module.main.results();
  if (results.size() != 1 || module.main.type(results[0]).shape != type.shape) return std::nullopt;
  module.argument_alias.resize(operands.size());
  return module;
}

std::optional<ElementCost> element_cost(const OpDefinition& op, DType dtype) {
  // Whole turns of each of six workers.
  constexpr std::int64_t kFew = 48, kMore = 96;
  const std::optional<Module> few = vector_use(op, dtype, kFew);
  if (!few) return std::nullopt;
  ElementCost cost;
  bool is_nothing = false;
  CompileOptions options;
  options.on_graph = [&](const Module& module) { is_nothing = module.main.ops().empty(); };
  options.on_steps = [&](const LoweredProgram& program) {
    cost.data_decide = data_decide(program, machine_of_costs());
  };
  const auto cycles_of = [&](const Module& module) {
    return static_cast<double>(compile(module, machine_of_costs(), options).info.predicted_cycles);
  };
  const double more = cycles_of(*vector_use(op, dtype, kFew + kMore)) - cycles_of(*few);
  if (!is_nothing) cost.cycles = more / kMore;
  return cost;
}

ProgramCost cost_of(const Module& module, const MachineConfig& machine) {
  ProgramCost cost;
  CompileOptions options;
  options.on_graph = [&](const Module& planned) { count_ops(planned.main, cost.ops); };
  const ProgramImage image = compile(module, machine, options);
  for (const StepInfo& step : image.info.steps) {
    cost.computes += step.kind == StepInfo::Kind::kCompute ? 1 : 0;
    cost.exchanges += step.kind == StepInfo::Kind::kExchange ? 1 : 0;
    cost.exchange_bytes += step.exchange_bytes;
  }
  const RunTotals totals =
      run_image(image, {image.arguments.begin(), image.arguments.end()}, {}).totals;
  cost.compute = totals.compute;
  cost.exchange = totals.exchange;
  return cost;
}

}  // namespace superstep
