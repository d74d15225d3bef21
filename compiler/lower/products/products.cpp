#include "compiler/lower/products/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/products/product_lowering.h"
#include "compiler/ops/op.h"

namespace superstep {

std::optional<ProductProblem> Products::follower_of(std::size_t number,
                                                    const ProductProblem& problem,
                                                    const Product& product) const {
  for (std::size_t next = number + 1; next < all_.size(); ++next) {
    const ProductOp& op = all_[next];
    const auto is_operand = [&](const PermutedValue& operand) {
      return operand.value == product.left.operand;
    };
    if (std::ranges::none_of(op.operands, is_operand)) continue;
    ProductLowering later(builder_, values_, op);
    later.orient();
    if (later.can_follow(product)) return later.problem_after(problem);
  }
  return std::nullopt;
}

void lower_product(BlockLowering& block, const Op& op) {
  block.products->lower(block.product_numbers.at(&op));
}

const SqueezedProduct* Products::squeezed() const {
  const auto at = squeezed_.find(builder_.product_number());
  return at == squeezed_.end() ? nullptr : &at->second;
}

void Products::note(const ProductProblem& problem, const Product& product,
                    std::vector<BufferId> buffers) {
  using enum CompileEvent::Kind;
  const SqueezedProduct* squeezed = this->squeezed();
  const ProductPlan& plan = product.plan;
  builder_.add_product({plan.on_amp, plan.cycles, plan.on_amp ? region0_bytes(problem, plan) : 0,
                        std::move(buffers)});
  const MachineConfig& machine = builder_.machine();
  if (!is_float(problem.input)) return;
  if (plan.on_amp) {
    if (squeezed == nullptr) return;
    builder_.add_event(
        kDroppedPlan, product.origin,
        fmt::format("has its operands in {} of {:.1f} KiB, since {}",
                    product.steps() == 1 ? "one step" : fmt::format("{} steps", product.steps()),
                    static_cast<double>(region0_bytes(problem, plan)) / 1024, squeezed->reason),
        "a machine with more tiles, or fewer tensors alive beside it, would help");
    return;
  }
  const std::string off = "is not on the AMP units: ";
  if (!has_interleaved_memory(machine)) {
    builder_.add_event(
        kNoAmp, product.origin, off + "tiles have no interleaved memory for weights and sums",
        "a lower tile.region1_base or tile.region2, or more tile.memory, would help");
  } else if (!has_amp_codelet(machine, problem.input)) {
    builder_.add_event(kNoAmp, product.origin, off + "the machine has none (tile.amp_units = 0)",
                       "tile.amp_units is 0, 4, 8 or 16");
  } else if (squeezed != nullptr) {
    builder_.add_event(kNoAmp, product.origin, off + squeezed->reason,
                       "a machine with more tiles, or fewer tensors alive beside it, would help");
  } else if (plan.cycles_on_amp) {
    builder_.add_event(kSmallProduct, product.origin,
                       fmt::format("{}so small a product takes an estimated {} cycles there, {} "
                                   "without them",
                                   off, *plan.cycles_on_amp, plan.cycles));
  } else {
    builder_.add_event(
        kNoAmp, product.origin,
        fmt::format("{}no blocks of its operands fit the {} KiB of executable memory of a tile "
                    "beside code, which takes whole memory elements of {} KiB",
                    off, (machine.tile.region1_base - machine.tile.memory_base) / 1024,
                    machine.tile.element_bytes / 1024),
        "a higher tile.region1_base, a machine with more tiles or smaller operands would help");
  }
}

std::int64_t Products::bytes_there(const Product& product) {
  const ProductPlan& plan = product.plan;
  const std::int64_t rows = product.left.is_there ? plan.rows : 0;
  const std::int64_t columns = product.right.is_there ? plan.columns : 0;
  return plan.batches * (rows + columns) * plan.depth *
         static_cast<std::int64_t>(size_of(product.input));
}

std::uint32_t Products::first_tile(const Op& op, const ProductPlan& plan) {
  Time ready;
  std::vector<std::int64_t> key{plan.batch_splits, plan.row_splits, plan.column_splits,
                                plan.depth_splits};
  for (const ValueId operand : op.operands) {
    ready = std::max(ready, values_.time(operand));
    const Shape& shape = values_.type(operand).shape;
    key.insert(key.end(), shape.begin(), shape.end());
  }
  std::vector<Start>& starts = starts_[key];
  for (Start& start : starts) {
    if (start.ready.superstep >= ready.superstep) continue;
    start.ready = ready;
    return start.tile;
  }
  const auto tiles = static_cast<std::uint32_t>(plan.tiles());
  starts.push_back({builder_.layouts().take_tiles(tiles), ready});
  return starts.back().tile;
}

void Products::lower(std::size_t number) {
  ProductLowering product(builder_, values_, all_[number]);
  if (!product.prepare()) {
    builder_.add_product({});
    return;
  }
  const bool may_stay =
      squeezed() == nullptr && bytes_that_stay_ < most_bytes_that_stay_of_all(builder_.machine());
  const auto problem_now = [&] {
    ProductProblem problem = product.problem();
    if (const SqueezedProduct* its = squeezed()) problem.most_region0_bytes = its->region0_bytes;
    if (!may_stay) problem.left_is_there = problem.right_is_there = false;
    return problem;
  };
  ProductProblem problem = problem_now();
  const std::optional<ProductProblem> later =
      bytes_that_stay_ < most_bytes_that_stay_of_all(builder_.machine())
          ? follower_of(number, problem, product.product())
          : std::nullopt;
  ProductPlan plan = plan_product(builder_.machine(), problem, later ? &*later : nullptr);
  const RowsThere* before = nullptr;
  for (const RowsThere& there : rows_there_) {
    if (!product.can_follow(*there.product)) continue;
    const auto next =
        plan_following(builder_.machine(), problem, there.problem, there.product->plan);
    if (!next || next->cycles >= plan.cycles) continue;
    plan = *next;
    before = &there;
  }
  if (before != nullptr) {
    // Rows that are there have no padding.
    problem.keeps_blocks = false;
    (void)product.lower(problem, plan, before->product->first_tile, before->rows);
    note(problem, product.product(), product.buffers());
    return;
  }
  if (!later) {
    // Where rows are neighbours in the result, each result travels alone.
    product.exchange_roles();
    const ProductProblem exchanged = problem_now();
    const ProductPlan other = plan_product(builder_.machine(), exchanged);
    if (std::pair(other.excess, other.cycles) < std::pair(plan.excess, plan.cycles)) {
      problem = exchanged;
      plan = other;
    } else {
      product.exchange_roles();
    }
  }
  const StoredValue rows =
      product.lower(problem, plan, first_tile(*all_[number].op, plan), std::nullopt);
  note(problem, product.product(), product.buffers());
  if (plan.on_amp) bytes_that_stay_ += bytes_there(product.product());
  if (later && plan_following(builder_.machine(), *later, problem, plan)) {
    bytes_that_stay_ += plan.rows * plan.depth * static_cast<std::int64_t>(size_of(problem.input));
    rows_there_.push_back({std::make_shared<const Product>(product.product()), problem, rows});
  }
}

}  // namespace superstep
