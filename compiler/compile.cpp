#include "compiler/compile.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/check_size.h"
#include "compiler/image/build.h"
#include "compiler/image/fit.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

struct Pass {
  std::string_view name;
  Graph (*run)(Graph);
};

constexpr Pass kPasses[] = {
    {"expand ops", expand_ops},
    {"convert product operands", convert_product_operands},
    {"unwrap reductions", unwrap_reductions},
    {"fold constants", fold_constants},
    {"merge equal ops", merge_equal_ops},
    {"compare extremes", compare_extremes},
    {"remove unused ops", remove_unused_ops},
};

/// Plans products again, with less room for their operands, until the program fits.
class Fitting {
 public:
  Fitting(const Module& module, const MachineConfig& machine, const CompileProgress& progress,
          bool keep_exchange_plan)
      : module_(module),
        machine_(machine),
        progress_(progress),
        keeps_exchange_plan_(keep_exchange_plan) {}

  /// Where nothing helps, what does not fit is the program as it was planned first.
  ProgramImage run(const std::function<void(const ProgramInfo&)>& on_memory) {
    std::exception_ptr first;
    ProgramInfo memory;
    for (int tries = 0;; ++tries) {
      LoweredProgram program = lower(module_, machine_, progress_, squeezed_);
      products_ = program.products;
      try {
        return build_image(
            module_, machine_, std::move(program), progress_,
            [&](const ProgramInfo& info) {
              if (!first) memory = info;
            },
            keeps_exchange_plan_);
      } catch (const TileIsFull& full) {
        if (!first) first = std::current_exception();
        if (tries < kMostTries ? squeeze_one(full) : tries == kMostTries && squeeze_all(full)) {
          if (progress_) progress_("plan a product again, with less room");
          continue;
        }
      }
      if (on_memory) on_memory(memory);
      std::rethrow_exception(first);
    }
  }

 private:
  /// Tries that halve the room of one product before all leave the AMP units.
  static constexpr int kMostTries = 4;

  /// Of the products on the full tile, that which takes most of region 0; the first of equal ones.
  [[nodiscard]] bool squeeze_one(const TileIsFull& full) {
    const auto is_there = [&](const PlannedProduct& product) {
      return product.on_amp && std::ranges::any_of(product.buffers, [&](BufferId buffer) {
               return std::ranges::find(full.buffers, buffer) != full.buffers.end();
             });
    };
    std::optional<std::size_t> most;
    for (std::size_t p = 0; p < products_.size(); ++p) {
      if (!is_there(products_[p])) continue;
      if (!most || products_[p].region0_bytes > products_[*most].region0_bytes) most = p;
    }
    if (!most) return squeeze_all(full);
    squeezed_[*most] = {products_[*most].region0_bytes / 2, full.shortage};
    return true;
  }

  [[nodiscard]] bool squeeze_all(const TileIsFull& full) {
    bool found = false;
    for (std::size_t p = 0; p < products_.size(); ++p) {
      if (!products_[p].on_amp) continue;
      squeezed_[p] = {0, full.shortage};
      found = true;
    }
    return found;
  }

  const Module& module_;
  const MachineConfig& machine_;
  const CompileProgress& progress_;
  bool keeps_exchange_plan_;
  std::vector<PlannedProduct> products_;
  SqueezedProducts squeezed_;
};

}  // namespace

ProgramImage compile(const Module& module, const MachineConfig& machine,
                     const CompileProgress& progress,
                     const std::function<void(const ProgramInfo&)>& on_memory,
                     bool keep_exchange_plan) {
  const auto stage = [&](std::string_view name) {
    if (progress) progress(name);
  };
  Module simple = module;
  for (const auto& [name, pass] : kPasses) {
    stage(name);
    simple.main = apply_with_regions(std::move(simple.main), pass);
  }
  check_size(simple, machine, on_memory);
  return Fitting(simple, machine, progress, keep_exchange_plan).run(on_memory);
}

}  // namespace superstep
