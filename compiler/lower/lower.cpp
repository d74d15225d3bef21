#include "compiler/lower/lower.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/elementwise.h"
#include "compiler/lower/moves/copy_elements.h"
#include "compiler/lower/reductions/reduce.h"
#include "compiler/ops/op.h"
#include "compiler/passes/rewrite.h"
#include "compiler/program/coalesce_copies.h"
#include "compiler/vertex/amp_product.h"

namespace superstep {
namespace {

class GraphLowering {
 public:
  GraphLowering(const Module& module, ProgramBuilder builder, const LoweringChoices& choices,
                const std::map<ValueId, LayoutPtr>* placed = nullptr)
      : module_(module),
        graph_(module.main),
        block_(module, std::move(builder), choices, placed),
        fusion_(builder_, values_, module.main, users_) {
    find_users();
  }

  LoweredProgram run(const CompileProgress& progress) {
    add_arguments();
    const std::vector<std::optional<BufferId>> results = lower_ops(progress);
    for (const std::optional<BufferId>& result : results) {
      if (result) builder_.mutable_buffer(*result).is_result = true;
    }
    for (std::size_t a = 0; a < arguments_.size(); ++a) {
      const ValueId argument = graph_.arguments()[a];
      if (values_.elements(argument) > 0) arguments_[a] = values_.stored(argument);
    }
    LoweredProgram program = builder_.finish(block_.choices.order);
    program.arguments = arguments_;
    program.results = results;
    coalesce_copies(program);
    return program;
  }

  Block run_region(const RegionBuffers& buffers, ProgramBuilder& outer, const InLoop* loop) {
    arguments_ = buffers.arguments;
    storage_ = buffers.results;
    is_region_ = true;
    for (std::size_t a = 0; a < arguments_.size(); ++a) {
      if (!arguments_[a]) continue;
      values_.set_stored(graph_.arguments()[a], *arguments_[a], {});
      given_.insert(*arguments_[a]);
    }
    for (const std::optional<BufferId>& storage : storage_) {
      if (storage) given_.insert(*storage);
    }
    (void)lower_ops({});
    const StepOrder order = block_.choices.order;
    if (loop != nullptr && order != StepOrder::kLeastMemory) {
      loop->superstep = builder_.hoist_invariants(outer, loop->superstep, loop->changing);
    }
    return builder_.finish_block(order);
  }

 private:
  /// Lowers all ops; where the results are.
  std::vector<std::optional<BufferId>> lower_ops(const CompileProgress& progress) {
    block_.products.emplace(builder_, values_, find_products(), block_.choices.squeezed);
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      show_share(progress, "lower", i, graph_.ops().size(), "ops");
      lower_op(graph_.ops()[i]);
    }
    store_results();
    if (progress) progress("fuse elementwise ops");
    fusion_.finish();
    return settle_results();
  }

  void find_users() {
    users_.resize(graph_.values().size());
    for (const Op& op : graph_.ops()) {
      for (const ValueId operand : op.operands) users_[index(operand)].push_back(&op);
    }
    for (const ValueId result : graph_.results()) users_[index(result)].push_back(nullptr);
  }

  void add_arguments() {
    for (std::size_t a = 0; a < graph_.arguments().size(); ++a) {
      const ValueId argument = graph_.arguments()[a];
      arguments_.emplace_back();
      if (values_.elements(argument) == 0) continue;
      const bool keeps_state = a < module_.argument_alias.size() && module_.argument_alias[a];
      if (!keeps_state && is_operand_of_product(argument)) {
        values_.set_open(argument);
      } else {
        arguments_.back() = values_.place(argument, layout_of_argument(argument));
        given_.insert(*arguments_.back());
      }
    }
    storage_.resize(graph_.results().size());
    for (std::size_t a = module_.argument_alias.size(); a-- > 0;) {
      if (const auto result = module_.argument_alias[a]) storage_[*result] = arguments_[a];
    }
  }

  /// Pairs of which only the parts are used lie part by part, whose elements are neighbours then.
  [[nodiscard]] LayoutPtr layout_of_argument(ValueId argument) {
    const LayoutPtr assigned = values_.assigned().of(argument);
    if (values_.elements(argument) % 2 != 0) return assigned;
    const auto& users = users_[index(argument)];
    const auto is_part = [&](const Op* user) {
      const std::vector<Box> boxes = user == nullptr ? std::vector<Box>{} : boxes_of(*user);
      const Axis each{values_.elements(argument) / 2, 2, 1};
      return boxes.size() == 1 && boxes[0].to == 0 && boxes[0].from < 2 &&
             boxes[0].axes == Axes{each};
    };
    if (users.empty() || !std::ranges::all_of(users, is_part)) return assigned;
    const LayoutPtr pairs =
        builder_.layouts().of_pairs(values_.assigned().of(users[0]->results[0]));
    return pairs ? pairs : assigned;
  }

  /// The same of a result that is made of its parts; null if it is not.
  [[nodiscard]] LayoutPtr layout_of_pairs(ValueId result) {
    const Op* op = graph_.producer_of(result);
    const std::vector<Box> boxes = op == nullptr ? std::vector<Box>{} : boxes_of(*op);
    const Axis each{values_.elements(result) / 2, 1, 2};
    if (boxes.size() != 2 || boxes[0] != Box{0, 0, {each}} || boxes[1] != Box{0, 1, {each}}) {
      return nullptr;
    }
    const ValueId part = op->operands[0];
    const LayoutPtr layout = values_.layout(part);
    return builder_.layouts().of_pairs(layout ? layout : values_.assigned().of(part));
  }

  /// The copies that an op is, if it is nothing else.
  [[nodiscard]] std::vector<Box> boxes_of(const Op& op) const {
    std::vector<Box> boxes;
    if (const auto* rearrange = lowering_as<RearrangeLowering>(op, graph_)) {
      for (const StridedBox& box : rearrange->boxes(op, graph_)) boxes.push_back(to_box(box));
    }
    return boxes;
  }

  /// The only use of a value, if it is one operand of one op.
  [[nodiscard]] const Op* only_user(ValueId v) const {
    const auto& users = users_[index(v)];
    return users.size() == 1 ? users[0] : nullptr;
  }

  /// Whether one op reads a value, itself or reshaped.
  [[nodiscard]] bool has_one_reader(ValueId v) const {
    for (; only_user(v) != nullptr && values_.root(v) != v;
         v = graph_.producer_of(v)->operands[0]) {
      if (graph_.producer_of(v)->operands.size() != 1) return false;
    }
    return only_user(v) != nullptr;
  }

  /// Whether a value is used by one product only, which then may choose where it lies; it may be
  /// transposed for that.
  [[nodiscard]] bool is_operand_of_product(ValueId v) const {
    const Op* user = only_user(v);
    if (user != nullptr && permutation(*user) != nullptr) user = only_user(user->results[0]);
    return user != nullptr && user->definition->traits.is_product;
  }

  void lower_op(const Op& op) {
    const auto is_empty = [&](ValueId r) { return values_.elements(r) == 0; };
    if (std::ranges::all_of(op.results, is_empty) && !has_effect(op)) return;
    std::visit(Overloaded{[&](const ElementwiseLowering&) { lower_elementwise(op); },
                          [&](const RearrangeLowering& rearrange) {
                            if (done_.contains(&op)) return;
                            lower_rearrangement(op, rearrange.boxes(op, graph_));
                          },
                          [&](const ConstantLowering&) {
                            values_.set_constant(op.results[0], op.definition->evaluate(op, {})[0]);
                          },
                          [&](const ExpandLowering&) {
                            SUPERSTEP_CHECK(false, "ops that expand are gone before lowering");
                          },
                          [&](const StepLowering& step) { step.lower(block_, op); }},
               lowering_of(op, graph_));
  }

  void lower_elementwise(const Op& op) {
    if (may_convert_in_reduction(op) &&
        converts_in_reduction(block_, op, *only_user(op.results[0]))) {
      block_.conversions[op.results[0]] = &op;
    } else if (is_cheaper_than_its_result(op)) {
      fusion_.add_with_user(op);
    } else {
      fusion_.add(op);
    }
  }

  [[nodiscard]] bool is_elementwise(const Op& op) const {
    return lowering_as<ElementwiseLowering>(op, graph_) != nullptr;
  }

  /// Whether users had better compute a result themselves: booleans take a byte, which neither
  /// vertices nor exchanges handle well, and one that follows from a single value, as where it is
  /// compared with a constant or itself, takes no more than what is kept for others anyway, or for
  /// several such results.
  [[nodiscard]] bool is_cheaper_than_its_result(const Op& op) const {
    const ValueId result = op.results[0];
    if (values_.type(result).dtype != DType::kI1) return false;
    std::set<ValueId> varying(op.operands.begin(), op.operands.end());
    std::erase_if(varying, [&](ValueId v) { return values_.repeated_bits(v).has_value(); });
    if (varying.size() != 1) return false;
    const ValueId operand = *varying.begin();
    const auto computes = [&](const Op* user) {
      return user != nullptr && is_elementwise(*user) && !may_convert_in_reduction(*user) &&
             values_.elements(user->results[0]) == values_.elements(result);
    };
    const auto keeps = [&](const Op* user) { return user == nullptr || !is_elementwise(*user); };
    const auto is_boolean = [&](const Op* user) {
      return user != nullptr && values_.type(user->results[0]).dtype == DType::kI1;
    };
    const auto& users = users_[index(result)];
    const auto& others = users_[index(operand)];
    return !users.empty() && std::ranges::all_of(users, computes) &&
           (std::ranges::any_of(others, keeps) || std::ranges::count_if(others, is_boolean) > 1) &&
           values_.root(operand) == operand && !values_.constant(operand) &&
           values_.elements(operand) > 1;
  }

  /// Whether an op makes wider elements for one reduction only.
  [[nodiscard]] bool may_convert_in_reduction(const Op& op) const {
    if (op.operands.size() != 1) return false;
    const ValueId operand = op.operands[0], result = op.results[0];
    const Op* user = only_user(result);
    return user != nullptr && user->definition->traits.is_reduction && user->operands.size() == 2 &&
           user->operands[0] == result && values_.elements(result) > 0 &&
           size_of(values_.type(operand).dtype) < size_of(values_.type(result).dtype) &&
           !values_.constant(operand) && !values_.repeated_bits(operand);
  }

  void lower_rearrangement(const Op& op, const std::vector<StridedBox>& strided) {
    const ValueId result = op.results[0];
    const std::int64_t elements = values_.elements(result);
    std::vector<std::pair<ValueId, Box>> boxes;
    for (const StridedBox& box : strided) {
      const Box simple = to_box(box);
      if (simple.elements() > 0) boxes.emplace_back(op.operands[box.operand], simple);
    }
    if (boxes.size() == 1) {
      const auto& [operand, box] = boxes[0];
      const Box same = simplified({0, 0, {{elements, 1, 1}}});
      if (box == same && values_.elements(operand) == elements) {
        values_.set_same(result, operand);
        return;
      }
      const std::optional<std::uint64_t> bits = values_.repeated_bits(operand);
      if (bits && box.elements() == elements) {
        values_.set_repeated(result, *bits);
        return;
      }
    }
    std::vector<Piece> pieces;
    Time ready;
    for (const auto& [operand, box] : boxes) {
      const bool is_only_moved = boxes.size() == 1 && !repeats(box) && has_one_reader(operand);
      Reading reading =
          is_only_moved ? values_.read_side_by_side(operand, box) : values_.read(operand, box);
      ready = std::max(ready, reading.ready);
      std::ranges::move(reading.pieces, std::back_inserter(pieces));
    }
    values_.set_view(result, std::move(pieces), ready, boxes.size() == 1);
  }

  /// The products that have elements, in order. One that is only transposed is computed transposed.
  [[nodiscard]] std::vector<ProductOp> find_products() {
    std::vector<ProductOp> products;
    for (const Op& op : graph_.ops()) {
      if (!op.definition->traits.is_product || values_.elements(op.results[0]) == 0) continue;
      block_.product_numbers[&op] = products.size();
      ProductOp& product = products.emplace_back(ProductOp{.op = &op});
      for (std::size_t i = 0; i < 2; ++i) product.operands[i] = untransposed(op.operands[i]);
      product.target = {op.results[0]};
      const Op* user = only_user(op.results[0]);
      if (const auto* permuted = user == nullptr ? nullptr : permutation(*user)) {
        done_.insert(user);
        product.target = {user->results[0], *permuted};
      }
      product.may_keep_blocks = suits_any_order(product.target.value);
    }
    return products;
  }

  /// Whether the order of a value makes no difference to those who use it: the host, ops on single
  /// elements whose other operands are the same in any order, and products of so few elements that
  /// runs are short anyway.
  [[nodiscard]] bool suits_any_order(ValueId value) {
    const std::int64_t elements = values_.elements(value);
    std::vector<ValueId> open{value};
    std::set<ValueId> seen;  // ops use values twice
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (!seen.insert(v).second) continue;
      if (values_.assigned().is_fixed(v)) return false;
      const auto suits = [&](const Op* user) {
        if (user == nullptr) return true;
        if (user->definition->traits.is_product) return has_short_runs(values_.type(v));
        if (user->definition->traits.is_opaque) {
          for (std::size_t i = 0; i < user->operands.size(); ++i) {
            if (user->operands[i] == v) open.push_back(user->results[i]);
          }
          return true;
        }
        const bool has_one_order =
            is_elementwise(*user) && values_.elements(user->results[0]) == elements &&
            std::ranges::all_of(user->operands, [&](ValueId o) { return o == v || is_splat(o); });
        if (has_one_order) open.insert(open.end(), user->results.begin(), user->results.end());
        return has_one_order;
      };
      if (!std::ranges::all_of(users_[index(v)], suits)) return false;
    }
    return true;
  }

  /// Whether tiles hold no more elements in a row than blocks of a product's results do.
  [[nodiscard]] bool has_short_runs(const TensorType& type) {
    return is_float(type.dtype) && builder_.layouts().of(type)->intervals()[0].count <=
                                       vertex::AmpProduct{.operands = type.dtype}.channels();
  }

  /// Whether a value is a constant or one element repeated.
  [[nodiscard]] bool is_splat(ValueId v) const {
    while (values_.elements(v) != 1) {
      const Op* op = graph_.producer_of(v);
      if (op == nullptr) return false;
      if (lowering_as<ConstantLowering>(*op, graph_) != nullptr) return true;
      if (lowering_as<RearrangeLowering>(*op, graph_) == nullptr || op->operands.size() != 1) {
        return false;
      }
      v = op->operands[0];
    }
    return true;
  }

  /// The order that an op gives the dimensions of its operand, if it does nothing else.
  [[nodiscard]] const std::vector<std::int64_t>* permutation(const Op& op) const {
    const auto* rearrange = lowering_as<RearrangeLowering>(op, graph_);
    const bool permutes = rearrange != nullptr && rearrange->permutation != nullptr;
    return permutes ? &rearrange->permutation(op) : nullptr;
  }

  /// An operand of a product, without the transpose of an argument that is the product's only.
  PermutedValue untransposed(ValueId operand) {
    const Op* op = graph_.producer_of(operand);
    const std::vector<std::int64_t>* permuted = op != nullptr ? permutation(*op) : nullptr;
    if (permuted == nullptr || !values_.is_open(op->operands[0])) return {operand};
    done_.insert(op);
    return {op->operands[0], *permuted};
  }

  void store_results() {
    for (std::size_t r = 0; r < graph_.results().size(); ++r) {
      const ValueId result = graph_.results()[r];
      if (is_wanted(r)) place_of(result, storage_[r]);
    }
  }

  /// Where a result is: like the storage that it takes, if any. What is only in another order than
  /// something else is stored in that order.
  BufferId place_of(ValueId result, std::optional<BufferId> storage) {
    if (!storage) {
      if (const auto permuted = values_.permuted(result)) {
        const BufferId buffer = values_.add_storage(result, permuted->layout);
        const Time time = permuted->source.time.next_round();
        copy_elements(builder_, permuted->source.buffer, buffer, time);
        values_.set_stored(result, buffer, time);
      } else if (const LayoutPtr pairs = is_region_ ? nullptr : layout_of_pairs(result)) {
        return values_.stored(result, pairs, values_.origin(result)).buffer;
      }
      return values_.stored(result);
    }
    return values_.stored(result, builder_.buffer(*storage).layout, values_.origin(result)).buffer;
  }

  [[nodiscard]] static BufferId moved_to(const std::map<BufferId, BufferId>& moved, BufferId from) {
    const auto to = moved.find(from);
    return to == moved.end() ? from : to->second;
  }

  /// Updates what is no result and nobody reads later where it is, so that a chain of updates
  /// copies once at most. By storage that is not needed then, what takes its place.
  std::map<BufferId, BufferId> update_in_place() {
    std::set<BufferId> kept;
    for (std::size_t r = 0; r < graph_.results().size(); ++r) {
      if (is_wanted(r)) kept.insert(place_of(graph_.results()[r], storage_[r]));
    }
    std::map<BufferId, BufferId> moved;
    for (const auto& [from, to] : block_.updates) {
      const BufferId table = moved_to(moved, from);
      if (builder_.buffer(table).kind != Buffer::Kind::kTemporary || given_.contains(table) ||
          kept.contains(from)) {
        continue;
      }
      if (builder_.take_storage(to, table)) moved[to] = table;
    }
    return moved;
  }

  /// Every result in a buffer of its own, which is the argument's where they share storage. Runs
  /// after everything else.
  std::vector<std::optional<BufferId>> settle_results() {
    const std::map<BufferId, BufferId> moved = update_in_place();
    const Time last = builder_.end();
    std::vector<std::optional<BufferId>> settled(graph_.results().size());
    for (std::size_t r = 0; r < settled.size(); ++r) {
      const ValueId value = graph_.results()[r];
      if (!is_wanted(r)) continue;
      const std::optional<BufferId> storage = storage_[r];
      const BufferId stored = moved_to(moved, place_of(value, storage));
      settled[r] = stored;
      // An argument's storage may be taken by another result before the host reads it.
      if (is_argument(stored) && storage != stored) {
        settled[r] = values_.add_storage(value, builder_.buffer(stored).layout);
        copy_elements(builder_, stored, *settled[r], last);
      }
    }
    for (std::size_t r = 0; r < settled.size(); ++r) {
      const std::optional<BufferId> storage = storage_[r];
      if (!settled[r]) continue;
      if (storage && *storage != *settled[r]) {
        const BufferId stored = *settled[r];
        // A value that is two results may be in another argument's storage already.
        if (!is_argument(stored) && builder_.take_storage(stored, *storage)) {
          std::ranges::replace(settled, std::optional(stored), storage);
        } else {
          copy_elements(builder_, stored, *storage, last.next_round());
          settled[r] = storage;
        }
      }
    }
    return settled;
  }

  /// Whether a result has elements that somebody uses: a region's have storage then.
  [[nodiscard]] bool is_wanted(std::size_t result) const {
    return values_.elements(graph_.results()[result]) > 0 && (!is_region_ || storage_[result]);
  }

  [[nodiscard]] bool is_argument(BufferId buffer) const {
    return builder_.buffer(buffer).kind == Buffer::Kind::kArgument || given_.contains(buffer);
  }

  const Module& module_;
  const Graph& graph_;
  BlockLowering block_;
  ProgramBuilder& builder_ = block_.builder;
  Values& values_ = block_.values;
  ElementwiseFusion fusion_;
  std::vector<std::vector<const Op*>> users_;  ///< null stands for the caller
  std::vector<std::optional<BufferId>> arguments_;
  std::vector<std::optional<BufferId>> storage_;  ///< by result: the argument's that it takes
  std::set<BufferId> given_;                      ///< of arguments, and a region's of results
  std::set<const Op*> done_;
  bool is_region_ = false;
};

}  // namespace

LoweredProgram lower(const Module& module, const MachineConfig& machine,
                     const CompileProgress& progress, const SqueezedProducts& squeezed,
                     StepOrder order) {
  return GraphLowering(module, ProgramBuilder(machine), {squeezed, order}).run(progress);
}

Block lower_region(BlockLowering& outer, const Graph& region, const RegionBuffers& buffers,
                   const InLoop* loop) {
  Module module{.name = {}, .main = region, .argument_alias = {}};
  if (loop != nullptr) {
    for (std::uint32_t r = 0; r < region.results().size(); ++r) {
      const bool is_carried = r < buffers.arguments.size() && buffers.results[r] &&
                              buffers.results[r] == buffers.arguments[r];
      module.argument_alias.push_back(is_carried ? std::optional(r) : std::nullopt);
    }
  }
  std::map<ValueId, LayoutPtr> placed;
  for (std::size_t a = 0; a < buffers.arguments.size(); ++a) {
    const std::optional<BufferId> buffer = buffers.arguments[a];
    if (buffer) placed.emplace(region.arguments()[a], outer.builder.buffer(*buffer).layout);
  }
  return GraphLowering(module, ProgramBuilder(&outer.builder), outer.choices, &placed)
      .run_region(buffers, outer.builder, loop);
}

}  // namespace superstep
