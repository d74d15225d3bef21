#include "compiler/lower/products/product_plan.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "base/divide.h"
#include "compiler/cost/costs.h"
#include "compiler/lower/products/product_sums.h"
#include "compiler/vertex/amp_product.h"
#include "compiler/vertex/amp_transpose.h"
#include "compiler/vertex/dense_product.h"
#include "compiler/vertex/elementwise.h"
#include "compiler/vertex/half_transpose.h"
#include "compiler/vertex/timing_analysis.h"

namespace superstep {
namespace {

using vertex::AmpProduct;

/// Splits of `n` that give different largest parts, ascending; none exceeds `most`.
std::vector<std::int64_t> splits_of(std::int64_t n, std::int64_t most) {
  std::vector<std::int64_t> splits;
  std::int64_t last = 0;
  for (std::int64_t s = 1; s <= std::min(n, most); ++s) {
    const std::int64_t part = divide_up(n, s);
    if (part == last) continue;
    last = part;
    splits.push_back(divide_up(n, part));
  }
  return splits;
}

/// Shares of region 0 in thirteenths, which are its memory elements on Mk2: rows, and columns to be
/// transposed, share it with code and with those of other products. What they take at most, and
/// what they do with exchange code. A plan takes the first that will do
/// [chosen, not fitted: 48, 80 and 144 KiB of 208 leave much, some and hardly any room to other
/// tensors].
struct Region0Shares {
  std::int64_t operands, all;
};
constexpr std::int64_t kShares = 13;
constexpr std::array<Region0Shares, 3> kRegion0Shares{{{3, 9}, {5, 11}, {9, 11}}};
constexpr std::int64_t kShareThatStays = 1, kShareThatStaysOfAll = 3;

std::int64_t share_of_region0(const MachineConfig& machine, std::int64_t shares) {
  return std::int64_t{machine.tile.region1_base - machine.tile.memory_base} * shares / kShares;
}

/// Bytes of region 0 in memory elements without code, which shares none with data.
std::int64_t room_beside_code(const MachineConfig& machine) {
  const std::int64_t element = machine.tile.element_bytes;
  const std::int64_t begin = (machine.tile.memory_base / element + 1) * element;
  return std::max<std::int64_t>(machine.tile.region1_base - begin, 0);
}

/// Whether an operand of a plan is multiplied where it is stored.
bool is_left_in_place(const ProductProblem& problem, const ProductPlan& plan) {
  return plan.on_amp &&
         (problem.left_is_there || (problem.left_in_blocks && plan.column_splits == 1));
}
bool is_right_in_place(const ProductProblem& problem, const ProductPlan& plan) {
  return plan.on_amp &&
         (problem.right_is_there || (problem.right_in_blocks && plan.row_splits == 1));
}

class ProductPlanner {
 public:
  ProductPlanner(const MachineConfig& machine, const ProductProblem& problem)
      : machine_(machine),
        problem_(problem),
        sizes_(problem.sizes),
        costs_(machine),
        input_bytes_(static_cast<std::int64_t>(size_of(problem.input))),
        good_bytes_(machine.tile.memory_bytes / 3),
        most_bytes_(std::int64_t{machine.tile.memory_bytes} * 3 / 4),
        convert_cycles_(cycles_to_convert()) {}

  /// A product that may take over the rows of this one.
  struct Later {
    ProductPlanner* planner;
    std::int64_t cycles_alone;
  };

  ProductPlan run(std::optional<Later> later = std::nullopt) {
    later_ = later;
    search({}, 1, 1, 1);
    if (const auto kernel = amp_kernel()) {
      ProductPlan plan{
          .on_amp = true,
          .rows_inside = kernel->rows_inside,
          .transposes = comes_transposed(problem_.right_depth_inside, right_is_stored()),
          .transposes_rows =
              is_half() && comes_transposed(problem_.left_depth_inside, left_is_stored())};
      for (const Region0Shares& shares : kRegion0Shares) {
        region0_ = shares;
        plan.arranges = false;
        search(plan, plan.row_unit(), kernel->channels(), kernel->depth());
        plan.arranges = problem_.right_depth_inside && !right_is_stored();
        if (plan.arranges) search(plan, plan.row_unit(), kernel->channels(), kernel->depth());
        // Big products leave room in region 0 for arguments.
        if (amp_fits_well_ || (amp_fits_ && &shares != &kRegion0Shares[0])) break;
      }
    }
    if (!best_->on_amp) best_->cycles_on_amp = cycles_on_amp_;
    return *best_;
  }

  /// The plan on the rows of another product: its tiles stay, its depth is rows and its rows depth.
  std::optional<ProductPlan> following(const ProductProblem& before, const ProductPlan& plan) {
    const ProductSizes& sizes = before.sizes;
    // Both take the rows as one dense block, without padding in either direction.
    const bool is_dense = sizes.rows % kDenseUnit == 0 && sizes.depth % kDenseUnit == 0 &&
                          plan.rows % kDenseUnit == 0 && plan.depth % kDenseUnit == 0;
    const std::int64_t operand_bytes = plan.rows * plan.depth * input_bytes_;
    if (!plan.on_amp || is_half() || !is_dense || plan.step_depth != plan.depth ||
        sizes.batches != 1 || sizes.columns != sizes_.columns || before.left_in_blocks ||
        before.left_is_there || operand_bytes > most_bytes_that_stay(machine_)) {
      return std::nullopt;
    }
    ProductPlan next = plan;
    std::swap(next.row_splits, next.depth_splits);
    std::swap(next.rows, next.depth);
    next.step_depth = next.depth;
    next.rows_inside = !plan.rows_inside;
    next.transposes = comes_transposed(problem_.right_depth_inside, right_is_stored());
    next.arranges = false;
    next.follows = true;
    next.sums = plan_sums(machine_, costs_, sum_problem(next));
    region0_ = kRegion0Shares[0];
    if (!suits_amp(next) || bytes(next) > good_bytes_) return std::nullopt;
    next.cycles = cycles_of(next);
    return next;
  }

 private:
  /// The AMP codelet for this product, if there is one.
  [[nodiscard]] std::optional<AmpProduct> amp_kernel() const {
    if (!has_amp_codelet(machine_, problem_.input)) return std::nullopt;
    if (problem_.most_region0_bytes == 0) return std::nullopt;
    AmpProduct kernel{.operands = problem_.input};
    kernel.rows_inside =
        !is_half() && comes_transposed(problem_.left_depth_inside, left_is_stored());
    return kernel;
  }
  /// Whether an operand is stored as it is multiplied.
  [[nodiscard]] bool left_is_stored() const {
    return problem_.left_in_blocks || problem_.left_is_there;
  }
  [[nodiscard]] bool right_is_stored() const {
    return problem_.right_in_blocks || problem_.right_is_there;
  }
  static bool comes_transposed(bool depth_inside, bool is_stored) {
    return !depth_inside && !is_stored;
  }
  [[nodiscard]] bool is_half() const { return problem_.input == DType::kF16; }
  /// Most bytes of operands in region 0.
  [[nodiscard]] std::int64_t room_in_region0() const {
    const std::int64_t usual =
        std::min(share_of_region0(machine_, region0_.operands), room_beside_code(machine_));
    return std::min(usual, problem_.most_region0_bytes.value_or(usual));
  }

  [[nodiscard]] std::int64_t cycles_to_convert() const {
    if (problem_.result == DType::kF32 || !is_float(problem_.result)) return 0;
    vertex::Expression expression;
    const vertex::Node result =
        expression.convert(expression.input(0, DType::kF32), problem_.result);
    const vertex::Elementwise convert{std::move(expression), {result}, {vertex::Access::kVector}};
    const std::vector<std::uint32_t> state{static_cast<std::uint32_t>(problem_.results_per_tile), 0,
                                           0};
    const auto workers =
        vertex::TimingAnalysis(machine_, convert.code(machine_)).launch(state, 0, 0);
    return static_cast<std::int64_t>(vertex::launch_cycles(machine_, workers));
  }

  void search(const ProductPlan& start, std::int64_t row_unit, std::int64_t column_unit,
              std::int64_t depth_unit) {
    const std::int64_t tiles = machine_.tiles();
    const std::int64_t rows = divide_up(sizes_.rows, row_unit);
    const std::int64_t columns = divide_up(sizes_.columns, column_unit);
    const std::int64_t depth = divide_up(sizes_.depth, depth_unit);
    for (const std::int64_t b : splits_of(sizes_.batches, tiles)) {
      // Batches share nothing: other splits only help when batches alone do not fill the machine.
      if (b < sizes_.batches && b * 2 <= tiles && sizes_.batches <= tiles) continue;
      for (const std::int64_t k : splits_of(depth, tiles / b)) {
        for (const std::int64_t c : splits_of(columns, tiles / (b * k))) {
          for (const std::int64_t r : splits_of(rows, tiles / (b * k * c))) {
            ProductPlan plan = start;
            plan.batch_splits = b;
            plan.depth_splits = k;
            plan.column_splits = c;
            plan.row_splits = r;
            plan.batches = divide_up(sizes_.batches, b);
            plan.rows = divide_up(rows, r) * row_unit;
            plan.columns = divide_up(columns, c) * column_unit;
            plan.depth = divide_up(depth, k) * depth_unit;
            if (plan.on_amp) {
              consider_steps(plan, depth_unit);
            } else {
              plan.step_depth = plan.depth;
              consider(plan);
            }
          }
        }
      }
    }
  }

  /// The least number of steps with which the operands fit.
  void consider_steps(ProductPlan plan, std::int64_t depth_unit) {
    const std::int64_t units = plan.depth / depth_unit;
    const bool in_blocks = left_is_stored() || right_is_stored();
    std::int64_t last = 0;
    for (std::int64_t steps = 1; steps <= std::min(units, kMostSteps); ++steps) {
      const std::int64_t step_units = divide_up(units, steps);
      if (step_units == last) continue;
      last = step_units;
      plan.step_depth = step_units * depth_unit;
      if (in_blocks) {
        // Stored blocks are whole steps.
        plan.depth = divide_up(units, step_units) * plan.step_depth;
        if ((plan.depth_splits - 1) * plan.depth >= sizes_.depth) continue;
      }
      if (!suits_amp(plan)) continue;
      if (consider(plan) <= good_bytes_) return;
    }
  }

  /// Depth of an operand that a tile holds at once.
  [[nodiscard]] std::int64_t held_depth(const ProductPlan& plan, bool in_place) const {
    return in_place ? plan.depth : plan.step_depth;
  }

  /// Bytes of the sums on a tile, and of the operands of a step or of the parts of other sums and
  /// what becomes of them. Many parts are received before they are in order.
  [[nodiscard]] std::int64_t bytes(const ProductPlan& plan) const {
    const std::int64_t rows = plan.rows * (plan.transposes_rows ? 2 : 1);
    const std::int64_t columns = plan.columns * (plan.transposes || plan.arranges ? 2 : 1);
    const std::int64_t operands = plan.batches * input_bytes_ *
                                  (rows * held_depth(plan, is_left_in_place(problem_, plan)) +
                                   columns * held_depth(plan, is_right_in_place(problem_, plan)));
    std::int64_t parts = 0;
    if (plan.depth_splits > 1 && keeps_blocks(plan)) {
      parts = plan.batches * plan.rows * plan.columns * 4;
      parts += parts / plan.depth_splits;
    } else if (plan.depth_splits > 1) {
      const std::int64_t received = plan.sums.received(sum_problem(plan));
      // A run of results that travels alone is a group of columns.
      const std::int64_t runs = received / AmpProduct{.operands = DType::kF32}.channels();
      const bool is_staged = runs > costs_.many_transfers();
      parts = (received * (is_staged ? 2 : 1) + problem_.results_per_tile) * 4;
    }
    return plan.batches * plan.rows * plan.columns * 4 + std::max(operands, parts);
  }

  /// The bytes of a plan, which is kept if it is the best so far.
  std::int64_t consider(ProductPlan plan) {
    plan.sums = plan_sums(machine_, costs_, sum_problem(plan));
    plan.cycles = cycles_of(plan);
    const std::int64_t bytes = this->bytes(plan);
    keep(plan, bytes);
    return bytes;
  }

  [[nodiscard]] std::int64_t cycles_of(const ProductPlan& plan) const {
    const std::int64_t outputs = plan.batches * plan.rows * plan.columns;
    std::int64_t cycles = gather_cycles(plan);
    cycles += plan.on_amp ? amp_cycles(plan) : dense_cycles(plan);
    if (!keeps_blocks(plan)) {
      cycles += plan.sums.cycles;
    } else if (plan.depth_splits > 1) {
      cycles +=
          costs_.phase() + costs_.moved(outputs) +
          cycles_to_add(machine_, costs_, divide_up(outputs, plan.depth_splits), plan.depth_splits);
    }
    if (plan.on_amp || plan.depth_splits > 1) cycles += convert_cycles_;
    return cycles;
  }

  [[nodiscard]] SumProblem sum_problem(const ProductPlan& plan) const {
    return {.results = sizes_.batches * sizes_.rows * sizes_.columns,
            .parts = plan.depth_splits,
            .per_tile = problem_.results_per_tile,
            .at_end = problem_.sums_of_runs_per_tile.value_or(problem_.results_per_tile),
            .sent = plan.batches * plan.rows * plan.columns,
            .come_in_runs = problem_.result_columns_inside};
  }

  [[nodiscard]] bool keeps_blocks(const ProductPlan& plan) const {
    return plan.on_amp && problem_.keeps_blocks;
  }

  /// To receive the operands of all steps. A step is not shorter than what a tile that holds some
  /// of them sends: with the depth outside, those that hold another step's are idle. Tiles that
  /// share a stored block hold a part of it each, which they receive with the others.
  [[nodiscard]] std::int64_t gather_cycles(const ProductPlan& plan) const {
    const std::int64_t steps = divide_up(plan.depth, plan.step_depth);
    const auto words = [&](std::int64_t elements) { return elements * input_bytes_ / 4; };
    const auto sent = [&](std::int64_t per_tile, std::int64_t free, bool depth_inside) {
      if (depth_inside || per_tile == 0) return words(per_tile);
      const std::int64_t depth = divide_up(per_tile, free);
      return words(steps * per_tile * std::min(depth, plan.step_depth) / depth);
    };
    std::int64_t rows = plan.follows ? 0 : plan.batches * plan.rows * plan.depth;
    std::int64_t columns = plan.batches * plan.columns * plan.depth;
    std::int64_t sent_rows =
        plan.follows ? 0 : sent(problem_.left_per_tile, sizes_.rows, problem_.left_depth_inside);
    std::int64_t sent_columns =
        sent(problem_.right_per_tile, sizes_.columns, problem_.right_depth_inside);
    const auto in_parts = [&](std::int64_t& elements, std::int64_t& sends, std::int64_t sharers) {
      sends = sharers > 1 ? words(elements / sharers) : 0;
      if (sharers == 1) elements = 0;
    };
    if (plan.on_amp && problem_.left_in_blocks) in_parts(rows, sent_rows, plan.column_splits);
    if (plan.on_amp && problem_.right_in_blocks) in_parts(columns, sent_columns, plan.row_splits);
    const auto is_there = [&](std::int64_t& elements, std::int64_t& sends) {
      elements = sends = 0;
    };
    if (plan.on_amp && problem_.left_is_there) is_there(rows, sent_rows);
    if (plan.on_amp && problem_.right_is_there) is_there(columns, sent_columns);
    if (rows + columns == 0) return 0;
    const std::int64_t received = costs_.port(words(rows + columns), transfers(plan));
    const std::int64_t sent_words = std::max(sent_rows, sent_columns);
    return steps * costs_.phase() + Costs::exchange(received, costs_.moved(sent_words));
  }

  /// Whether operands and exchange code fit region 0, and strides the codelets.
  [[nodiscard]] bool suits_amp(const ProductPlan& plan) const {
    const AmpProduct kernel{.operands = problem_.input, .rows_inside = plan.rows_inside};
    const std::int64_t pitch = (plan.rows_inside ? plan.rows : plan.step_depth) * input_bytes_;
    const std::int64_t columns = plan.transposes && !is_half() ? plan.columns : 0;
    const std::int64_t operands = region0_bytes(problem_, plan);
    return pitch <= vertex::amp_max_pitch(kernel) &&
           columns * input_bytes_ <= kMostTransposedPitch && operands <= room_in_region0() &&
           operands + transfers(plan) * Costs::kReceiveRowBytes <=
               share_of_region0(machine_, region0_.all);
  }

  /// Runs of words that a tile receives.
  [[nodiscard]] std::int64_t transfers(const ProductPlan& plan) const {
    const std::int64_t steps = divide_up(plan.depth, plan.step_depth);
    std::int64_t left = problem_.left_depth_inside ? plan.rows : plan.depth;
    if (plan.follows) left = 0;
    std::int64_t right = problem_.right_depth_inside ? plan.columns : plan.depth;
    if (problem_.left_depth_inside) left *= steps;
    if (plan.arranges) {
      right *= steps;
    } else if (plan.on_amp && problem_.right_depth_inside) {
      right *= plan.depth * input_bytes_ / 32;
    }
    left *= plan.batches;
    right *= plan.batches;
    // A tile receives the parts of the others that share a block.
    if (plan.on_amp && problem_.left_in_blocks) left = plan.column_splits - 1 + steps;
    if (plan.on_amp && problem_.right_in_blocks) right = plan.row_splits - 1 + steps;
    if (plan.on_amp && problem_.left_is_there) left = 0;
    if (plan.on_amp && problem_.right_is_there) right = 0;
    return left + right;
  }

  [[nodiscard]] std::int64_t dense_cycles(const ProductPlan& plan) const {
    const std::int64_t outputs = divide_up(plan.rows * plan.columns, machine_.tile.workers);
    std::int64_t cycles = plan.batches * costs_.launch(vertex::dense_product_slots(
                                             problem_.input, outputs, plan.depth));
    // Elements that lie the other way are put in order one by one.
    const auto arrange = [&](std::int64_t elements) {
      return costs_.copy(plan.batches, elements, 1, static_cast<std::uint32_t>(input_bytes_));
    };
    if (!problem_.left_depth_inside) cycles += arrange(plan.rows * plan.depth);
    if (!problem_.right_depth_inside) cycles += arrange(plan.columns * plan.depth);
    return cycles;
  }

  [[nodiscard]] std::int64_t amp_cycles(const ProductPlan& plan) const {
    const AmpProduct kernel{.operands = problem_.input, .rows_inside = plan.rows_inside};
    const std::int64_t workers = machine_.tile.workers;
    const std::int64_t groups = plan.columns / kernel.channels();
    const std::int64_t depths = plan.depth / kernel.depth();
    std::int64_t cycles = plan.batches * vertex::amp_launch_cycles(machine_, kernel, plan.rows,
                                                                   groups, groups * (depths - 1));
    const std::int64_t steps = divide_up(plan.depth, plan.step_depth);
    cycles += (steps - 1) * costs_.launch();
    const auto transpose = [&](std::int64_t count, std::int64_t in_strip) {
      const std::int64_t blocks = divide_up(count, workers);
      const std::int64_t strips = divide_up(blocks - 1, in_strip) + 1;
      cycles += steps * plan.batches *
                costs_.launch(is_half() ? vertex::half_transpose_slots(strips, blocks)
                                        : vertex::amp_transpose_slots(strips, blocks));
    };
    const std::int64_t inputs = divide_up(depths, steps);
    if (is_half()) {
      const std::int64_t quads = inputs * kernel.depth() / 4;
      if (plan.transposes) transpose(quads * plan.columns / 4, plan.columns / 4);
      if (plan.transposes_rows) transpose(quads * plan.rows / 4, plan.rows / 4);
    } else if (plan.transposes) {
      transpose(groups * 8 * inputs, inputs);
    }
    if (plan.arranges) {
      cycles += steps * costs_.copy(plan.batches, plan.columns * inputs, kernel.depth(),
                                    static_cast<std::uint32_t>(input_bytes_));
    }
    return cycles;
  }

  /// Excess, cycles or bytes, bytes: the least is best.
  using Rank = std::tuple<int, std::int64_t, std::int64_t>;

  void keep(const ProductPlan& plan, std::int64_t bytes) {
    const bool is_good = bytes <= good_bytes_;
    const bool may_be = plan.on_amp && bytes <= most_bytes_;
    amp_fits_ |= may_be;
    amp_fits_well_ |= plan.on_amp && is_good;
    const int excess = is_good ? 0 : may_be ? 1 : 2;
    if (plan.on_amp && excess < 2) {
      cycles_on_amp_ = std::min(plan.cycles, cycles_on_amp_.value_or(plan.cycles));
    }
    const Rank rank{excess, excess < 2 ? cycles_with_later(plan) : bytes, bytes};
    if (best_ && rank >= best_rank_) return;
    best_ = plan;
    best_->excess = excess;
    best_rank_ = rank;
  }

  [[nodiscard]] std::int64_t cycles_with_later(const ProductPlan& plan) const {
    if (!later_) return plan.cycles;
    const std::optional<ProductPlan> next = later_->planner->following(problem_, plan);
    const std::int64_t alone = later_->cycles_alone;
    return plan.cycles + (next ? std::min(next->cycles, alone) : alone);
  }

  /// Strides of the codelet that transposes reach 511 units of 8 bytes.
  static constexpr std::int64_t kMostTransposedPitch = 511 * 8;
  /// Steps that are tried [assumed: each is a phase, so that more do not pay].
  static constexpr std::int64_t kMostSteps = 64;
  /// Inputs of a block of weights: the codelets pad neither rows nor depth of multiples.
  static constexpr std::int64_t kDenseUnit = 8;

  const MachineConfig& machine_;
  const ProductProblem& problem_;
  const ProductSizes& sizes_;
  Costs costs_;
  std::int64_t input_bytes_;
  /// A block, its operands and what is received of them should leave room for the rest. On the AMP
  /// units they may take more: what then does not fit is planned again with less room. Shares of
  /// a tile's memory [assumed].
  std::int64_t good_bytes_, most_bytes_;
  std::int64_t convert_cycles_;  ///< of f32 results to the dtype that is wanted
  std::optional<ProductPlan> best_;
  std::optional<std::int64_t> cycles_on_amp_;
  Rank best_rank_;
  Region0Shares region0_ = kRegion0Shares[0];
  bool amp_fits_ = false, amp_fits_well_ = false;
  std::optional<Later> later_;
};

}  // namespace

std::int64_t most_bytes_that_stay(const MachineConfig& machine) {
  return share_of_region0(machine, kShareThatStays);
}
std::int64_t most_bytes_that_stay_of_all(const MachineConfig& machine) {
  return share_of_region0(machine, kShareThatStaysOfAll);
}

bool has_interleaved_memory(const MachineConfig& machine) {
  return machine.region2_base() >= machine.tile.region1_base + 2 * machine.tile.element_bytes;
}

bool has_amp_codelet(const MachineConfig& machine, DType input) {
  return is_float(input) && machine.tile.amp_units > 0 && has_interleaved_memory(machine);
}

std::int64_t region0_bytes(const ProductProblem& problem, const ProductPlan& plan) {
  const std::int64_t columns = plan.transposes && problem.input != DType::kF16 ? plan.columns : 0;
  // Rows that are multiplied where they are stored are there with their whole depth.
  const std::int64_t rows =
      plan.rows * (is_left_in_place(problem, plan) ? plan.depth : plan.step_depth);
  return plan.batches * (rows + columns * plan.step_depth) *
         static_cast<std::int64_t>(size_of(problem.input));
}

ProductPlan plan_product(const MachineConfig& machine, const ProductProblem& problem,
                         const ProductProblem* later) {
  ProductPlanner planner(machine, problem);
  if (later == nullptr) return planner.run();
  ProductPlanner follower(machine, *later);
  return planner.run(
      ProductPlanner::Later{&follower, ProductPlanner(machine, *later).run().cycles});
}

std::optional<ProductPlan> plan_following(const MachineConfig& machine,
                                          const ProductProblem& problem,
                                          const ProductProblem& before,
                                          const ProductPlan& plan_before) {
  return ProductPlanner(machine, problem).following(before, plan_before);
}

}  // namespace superstep
