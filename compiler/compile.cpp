#include "compiler/compile.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/image/build.h"
#include "compiler/image/oversized.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/passes.h"

namespace superstep {

ProgramImage compile(const Module& module, const MachineConfig& machine,
                     const CompileProgress& progress,
                     const std::function<void(const ProgramInfo&)>& on_memory,
                     bool keep_exchange_plan) {
  const auto stage = [&](std::string_view name) {
    if (progress) progress(name);
  };
  Module simple{module.name, {}, module.argument_alias};
  stage("convert product operands");
  simple.main = convert_product_operands(module.main);
  stage("unwrap reductions");
  simple.main = unwrap_reductions(std::move(simple.main));
  stage("fold constants");
  simple.main = fold_constants(simple.main);
  stage("merge equal ops");
  simple.main = merge_equal_ops(simple.main);
  stage("compare extremes");
  simple.main = compare_extremes(std::move(simple.main));
  stage("remove unused ops");
  simple.main = remove_unused_ops(std::move(simple.main));
  if (auto tensors = oversized(simple, machine)) {
    return build_image(simple, machine, *std::move(tensors), progress, on_memory,
                       keep_exchange_plan);
  }
  LoweredProgram program = lower(simple, machine, progress);
  const bool has_amp = std::ranges::any_of(program.codelets, [](const vertex::Vertex& kind) {
    return std::holds_alternative<vertex::AmpProduct>(kind);
  });
  if (has_amp) {
    // Their operands need certain regions; without them more may fit. If not, the memory that is
    // reported is that with them.
    try {
      return build_image(simple, machine, std::move(program), progress, {}, keep_exchange_plan);
    } catch (const DoesNotFit&) {
      stage("lower without AMP products");
    }
    MachineConfig without = machine;
    without.tile.amp_units = 0;
    try {
      return build_image(simple, machine, lower(simple, without, progress), progress, {},
                         keep_exchange_plan);
    } catch (const DoesNotFit&) {
      program = lower(simple, machine, progress);
    }
  }
  return build_image(simple, machine, std::move(program), progress, on_memory, keep_exchange_plan);
}

}  // namespace superstep
