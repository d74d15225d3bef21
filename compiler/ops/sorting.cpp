#include "compiler/ops/sorting.h"

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/ops/iota.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/sort_words.h"
#include "compiler/ops/sorting_network.h"
#include "compiler/ops/take.h"

namespace superstep {
namespace {

using Tensors = std::vector<Tensor>;

/// Up to so many pairs of rows are compared all at once, which gives the place of each row if they
/// have an order; more are sorted as words where keys are, else by a network, which permutes rows
/// whatever the comparator says [assumed].
constexpr std::int64_t kMostPairs = std::int64_t{1} << 17;

/// Rows along one dimension; what is in front of it and behind it are batches.
class Rows {
 public:
  Rows(const Shape& shape, std::size_t dimension) : shape_(shape), dimension_(dimension) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::int64_t& size = d < dimension ? outer_ : d > dimension ? inner_ : count_;
      size *= shape[d];
    }
  }

  [[nodiscard]] std::int64_t dimension() const { return static_cast<std::int64_t>(dimension_); }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t pairs() const { return outer_ * inner_ * count_ * count_; }
  /// Along dimension 1 of rank 3.
  [[nodiscard]] Tensor in_middle(Tensor x) const { return reshape(x, {outer_, count_, inner_}); }
  /// Those of the first places.
  [[nodiscard]] Tensor from_middle(Tensor x) const {
    return reshape(window(x, {0, 0, 0}, {outer_, count_, inner_}), shape_);
  }
  /// Along the last dimension, behind one of batches unless there is only one batch.
  [[nodiscard]] Tensor at_end(Tensor x) const { return reshape(behind_batches(x), end_shape()); }
  [[nodiscard]] Tensor from_end(Tensor x) const {
    if (inner_ == 1) return reshape(x, shape_);
    return reshape(transpose(reshape(x, {outer_, inner_, count_}), {0, 2, 1}), shape_);
  }
  /// Along dimension 1 of rank 2, behind batches.
  [[nodiscard]] Tensor in_batches(Tensor x) const {
    return reshape(behind_batches(x), {outer_ * inner_, count_});
  }
  [[nodiscard]] Tensor from_batches(Tensor x) const { return from_end(x); }
  /// How what is `at_end` is indexed by rows.
  [[nodiscard]] Table table() const {
    const Shape shape = end_shape();
    if (shape.size() == 1) return {shape, {}, {0}};
    return {shape, {0}, {1}};
  }

 private:
  [[nodiscard]] Shape end_shape() const {
    const std::int64_t batches = outer_ * inner_;
    return batches == 1 ? Shape{count_} : Shape{batches, count_};
  }
  [[nodiscard]] Tensor behind_batches(Tensor x) const {
    return inner_ == 1 ? x : transpose(in_middle(x), {0, 2, 1});
  }

  Shape shape_;
  std::size_t dimension_;
  std::int64_t outer_ = 1, count_ = 1, inner_ = 1;
};

/// How many rows go in front of each.
Tensor places_of(const Tensors& keys, const Comparator& comparator) {
  GraphBuilder& builder = *keys[0].builder;
  const Shape shape = keys[0].shape();
  const std::int64_t count = shape.back();
  const auto rank = static_cast<std::int64_t>(shape.size());
  Shape pairs = shape;
  pairs.push_back(count);
  const auto spread = [&](std::int64_t dimension) {
    Indices dimensions;
    for (std::int64_t d = 0; d + 1 < rank; ++d) dimensions.push_back(d);
    dimensions.push_back(dimension);
    NumberedRows rows{{}, broadcast(builder.iota({DType::kI32, {count}}, 0), pairs, {dimension})};
    for (const Tensor& key : keys) rows.keys.push_back(broadcast(key, pairs, dimensions));
    return rows;
  };
  const NumberedRows rows = spread(rank), other = spread(rank - 1);
  Tensor goes = comparator.goes_in_front(builder, rows, other, count);
  if (!comparator.decides_alone()) goes = goes & compare("NE", rows.numbers, other.numbers);
  return sum(convert(goes, DType::kI32), {rank});
}

/// Rows put to their places.
Tensors put(const Tensors& operands, const Tensors& keys, const Rows& rows,
            const Comparator& comparator) {
  GraphBuilder& builder = *operands[0].builder;
  Op op;
  op.attributes = table_attributes(rows.table(), 1);
  op.attributes.insert({"unique_indices", true});
  Tensors tables, windows;
  Graph& region = op.regions.emplace_back();
  std::vector<ValueId> updates;
  for (const Tensor& operand : operands) {
    const Tensor x = rows.at_end(operand);
    tables.push_back(x.builder->constant(HostTensor(x.type())));
    Shape shape = x.shape();
    shape.push_back(1);
    windows.push_back(reshape(x, shape));
    region.add_argument({x.dtype(), {}}, {});
  }
  for (const Tensor& operand : operands) {
    updates.push_back(region.add_argument({operand.dtype(), {}}, {}));
  }
  region.set_results(std::move(updates));
  Tensors end_keys;
  for (const Tensor& key : keys) end_keys.push_back(rows.at_end(key));
  tables.push_back(places_of(end_keys, comparator));
  tables.insert(tables.end(), windows.begin(), windows.end());
  Tensors results;
  for (const Tensor& x : builder.append(kPutOp, tables, std::move(op))) {
    results.push_back(rows.from_end(x));
  }
  return results;
}

SortedRows by_network(const Tensors& keys, bool is_numbered, const Rows& rows,
                      const Comparator& comparator) {
  Tensors in_middle;
  for (const Tensor& key : keys) in_middle.push_back(rows.in_middle(key));
  SortedRows sorted = sort_by_network(in_middle, is_numbered, comparator);
  for (Tensor& key : sorted.keys) key = rows.from_middle(key);
  if (sorted.numbers) sorted.numbers = rows.from_middle(*sorted.numbers);
  return sorted;
}

SortedRows by_words(Tensor key, bool is_numbered, const Rows& rows, const Comparator& comparator) {
  const Tensor words = rows.in_batches(*comparator.word(key));
  Op sort;
  sort.attributes = {{"is_numbered", is_numbered}, {"count", words.shape()[1]}};
  const Tensors results = words.builder->append(kSortWordsOp, std::array{words}, std::move(sort));
  SortedRows sorted{{comparator.key_of(rows.from_batches(results[0]))}, {}};
  if (is_numbered) sorted.numbers = rows.from_batches(results[1]);
  return sorted;
}

SortedRows order_of(const Tensors& keys, bool is_numbered, const Rows& rows,
                    const Comparator& comparator) {
  return comparator.word(keys[0]) ? by_words(keys[0], is_numbered, rows, comparator)
                                  : by_network(keys, is_numbered, rows, comparator);
}

/// Rows of the numbers, which are along the last dimension.
Tensor take(Tensor x, Tensor numbers, const Rows& rows) {
  Op op;
  op.attributes = table_attributes(rows.table(), 1);
  return rows.from_end(x.builder->apply(kTakeOp, {rows.at_end(x), numbers}, std::move(op)));
}

/// The operands in an order, which has numbers unless they all are keys.
Tensors in_order(std::span<const Tensor> operands, const SortedRows& order, const Rows& rows,
                 const Comparator& comparator) {
  Tensors results;
  for (const Tensor& operand : operands) {
    const std::size_t number = static_cast<std::size_t>(&operand - operands.data());
    if (const auto key = comparator.operand_of(number, order.keys)) {
      results.push_back(*key);
    } else if (is_place(operand.builder->graph(), operand.id, rows.dimension())) {
      results.push_back(convert(*order.numbers, operand.dtype()));
    } else {
      results.push_back(take(operand, rows.at_end(*order.numbers), rows));
    }
  }
  return results;
}

}  // namespace

std::vector<Tensor> sorted(std::span<const Tensor> operands, std::size_t dimension,
                           const Comparator& comparator) {
  const Rows rows(operands[0].shape(), dimension);
  if (operands[0].type().elements() == 0 || rows.count() == 1) {
    return {operands.begin(), operands.end()};
  }
  const Tensors keys = comparator.keys(operands);
  if (keys.empty()) return {operands.begin(), operands.end()};  // nothing says any order
  if (rows.pairs() <= kMostPairs && comparator.is_order()) {
    return put({operands.begin(), operands.end()}, keys, rows, comparator);
  }
  bool are_all_keys = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    are_all_keys = are_all_keys && comparator.operand_of(i, keys);
  }
  if (are_all_keys && comparator.decides_alone()) {
    return in_order(operands, order_of(keys, false, rows, comparator), rows, comparator);
  }
  const auto numbered = [&](std::span<const Tensor> of, const Tensors& its_keys) {
    return in_order(of, order_of(its_keys, true, rows, comparator), rows, comparator);
  };
  const auto differs = comparator.differs(operands[0], keys[0]);
  if (!differs || !comparator.word(keys[0])) return numbered(operands, keys);
  // Few floats have a key that is none: zeros below zero, NaNs. Where there is no such one, rows of
  // equal keys are equal.
  const Tensor any = reduce(
      convert(*differs, DType::kI32), operands[0].builder->number(DType::kI32, 0),
      all_dimensions(operands[0].shape().size()), [](Tensor a, Tensor b) { return maximum(a, b); });
  Op choice;
  choice.regions.resize(2);
  for (const bool differ : {false, true}) {
    Graph& arm = choice.regions[differ ? 1 : 0];
    GraphBuilder inner(arm, operands[0].builder->location());
    const Tensor x = inner.argument(operands[0].type()), key = inner.argument(keys[0].type());
    const Tensor result =
        differ ? numbered(std::array{x}, {key})[0]
               : comparator.operand_alike(order_of({key}, false, rows, comparator).keys[0]);
    arm.set_results({result.id});
  }
  return any.builder->append(kCaseOp, std::array{any, operands[0], keys[0]}, std::move(choice));
}

}  // namespace superstep
