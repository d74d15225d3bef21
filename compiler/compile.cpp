#include "compiler/compile.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "compiler/check_size.h"
#include "compiler/image/build.h"
#include "compiler/image/fit.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/feeds.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "isa/machine_limits.h"

namespace superstep {
namespace {

struct Pass {
  std::string_view name;
  std::variant<Graph (*)(Graph), Graph (*)(Graph, const MachineConfig&)> run;
  bool enters_regions = false;  ///< by itself
};

constexpr Pass kPasses[] = {
    {"expand shorthands", expand_shorthands, true},
    {"widen narrow types", widen_narrow_types, true},
    {"fold constants", fold_constants},  // some expand to less then
    {"expand ops", expand_ops},
    {"unroll loops", unroll_loops, true},
    {"split wide types", split_wide_types, true},
    {"sink constants", sink_constants},
    {"fold constants", fold_constants},
    {"divide ops", divide_ops},
    {"fold constants", fold_constants},
    {"merge equal ops", merge_equal_ops},
    {"compare extremes", compare_extremes},
    {"remove unused ops", remove_unused_ops},
    {"expand ops", expand_ops},  // branches of which only scalars are left
};

/// Plans again, with less room, until the program fits.
class Fitting {
 public:
  Fitting(const Module& module, const MachineConfig& machine, const CompileOptions& options)
      : module_(module), machine_(machine), options_(options) {}

  /// Where nothing helps, what does not fit is the program as it was planned first.
  ProgramImage run() {
    std::exception_ptr first;
    ProgramInfo memory;
    const auto keep_first = [&](const ProgramInfo& info) {
      if (!first) memory = info;
    };
    for (;;) {
      LoweredProgram program = lower(module_, machine_, options_.progress, squeezed_, order_);
      products_ = program.products;
      if (order_ == StepOrder::kLeastMemory) program.events.push_back(order_event());
      if (options_.on_steps) options_.on_steps(program);
      try {
        return build_image(module_, machine_, std::move(program), options_.progress, keep_first,
                           options_.keep_exchange_plan, saves_code_);
      } catch (const TileIsFull& full) {
        if (order_ == StepOrder::kBalanced) {
          order_ = StepOrder::kEarliest;
          continue;
        }
        if (!first) {
          first = std::current_exception();
          shortage_ = full.shortage;
        }
        if (plan_again(full)) continue;
      }
      if (options_.on_memory) options_.on_memory(memory);
      std::rethrow_exception(first);
    }
  }

 private:
  /// Tries that halve the room of one product before all leave the AMP units [assumed, for the time
  /// to compile].
  static constexpr int kMostTries = 4;

  /// Less code where that takes most of what can hold it; an order of steps that keeps less alive;
  /// then less room for one product after another; at last none of them on the AMP units, in that
  /// order. False when all has been tried, or would not help.
  [[nodiscard]] bool plan_again(const TileIsFull& full) {
    const std::uint32_t room = machine_.tile.region1_base - machine_.tile.memory_base;
    if (!saves_code_ && full.code_bytes > room / 2) {
      saves_code_ = true;
      if (options_.progress) options_.progress("share the code of repeated steps");
      return true;
    }
    const int tries = tries_++;
    if (tries == 0) {
      order_ = StepOrder::kLeastMemory;
      if (options_.progress) options_.progress("order steps again, so that less is alive");
      return true;
    }
    // Products in more steps have more code.
    if (full.code_bytes > room) return false;
    const bool is_last = tries > kMostTries;
    order_ = is_last ? StepOrder::kLeastMemory : StepOrder::kEarliest;
    if (tries > kMostTries + 1 || !(is_last ? squeeze_all(full) : squeeze_one(full))) return false;
    if (options_.progress) options_.progress("plan a product again, with less room");
    return true;
  }

  [[nodiscard]] CompileEvent order_event() const {
    return {.kind = CompileEvent::Kind::kDroppedPlan,
            .operation = "order of steps",
            .source = {},
            .reason = "keeps little alive and takes more supersteps, since " + shortage_,
            .advice = "a machine with more tiles, or fewer tensors alive at once, would help"};
  }

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
  const CompileOptions& options_;
  int tries_ = 0;
  bool saves_code_ = false;
  std::string shortage_;  ///< of the program as it was planned first
  std::vector<PlannedProduct> products_;
  SqueezedProducts squeezed_;
  StepOrder order_ = StepOrder::kBalanced;
};

/// The host's side of arguments and results is as the module has it: wide ones are split inside.
void declare_types(const Graph& main, const FeedTypes& feeds, ProgramImage& image) {
  const auto types_of = [&](const std::vector<ValueId>& values) {
    std::vector<TensorType> types;
    for (const ValueId v : values) types.push_back(main.type(v));
    return types;
  };
  image.arguments = types_of(main.arguments());
  image.results = types_of(main.results());
  for (Stream& stream : image.streams) {
    if (stream.kind == Stream::Kind::kArgument) stream.type = image.arguments[stream.position];
    if (stream.kind == Stream::Kind::kResult) stream.type = image.results[stream.position];
    if (stream.kind == Stream::Kind::kInfeed) stream.type = feeds.in[stream.position];
    if (stream.kind == Stream::Kind::kOutfeed) stream.type = feeds.out[stream.position];
  }
}

void check_machine(const MachineConfig& machine) {
  std::vector<Problem> found;
  for (BrokenRule& broken : problems(machine)) found.push_back({{}, std::move(broken.message)});
  if (!found.empty()) throw MalformedInput(std::move(found));
}

}  // namespace

ProgramImage compile(const Module& module, const MachineConfig& machine,
                     const CompileOptions& options) {
  check_machine(machine);
  check_size(module, machine, Passes::kNone, options.on_memory);
  Module simple = module;
  const FeedTypes feeds = number_feeds(simple.main);
  for (const Pass& pass : kPasses) {
    if (options.progress) options.progress(pass.name);
    const auto run = [&](Graph graph) {
      return std::visit(
          Overloaded{[&](Graph (*simplify)(Graph)) { return simplify(std::move(graph)); },
                     [&](Graph (*plan)(Graph, const MachineConfig&)) {
                       return plan(std::move(graph), machine);
                     }},
          pass.run);
    };
    simple.main = pass.enters_regions ? run(std::move(simple.main))
                                      : apply_with_regions(std::move(simple.main), run);
  }
  if (options.on_graph) options.on_graph(simple);
  check_size(simple, machine, Passes::kAll, options.on_memory);
  ProgramImage image = Fitting(simple, machine, options).run();
  if (machine.isa.encoding == Encoding::kWide) {
    image.info.events.push_back(
        {.kind = CompileEvent::Kind::kWideEncoding,
         .operation = "machine",
         .source = {},
         .reason = "has exchange words of the wide encoding: " + beyond_mk2(machine),
         .advice = {}});
  }
  declare_types(module.main, feeds, image);
  return image;
}

}  // namespace superstep
