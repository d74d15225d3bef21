#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "compiler/import/parser.h"
#include "compiler/ops/comparator.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/selection.h"
#include "compiler/ops/sort_words.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  TensorType values = operands[0];
  if (values.shape.empty()) malformed(op, "a scalar has no last dimension");
  const std::int64_t k = attribute<std::int64_t>(op, "k");
  if (k < 0 || k > values.shape.back()) {
    malformed(
        op, fmt::format("k is {}, but the last dimension has {} elements", k, values.shape.back()));
  }
  values.shape.back() = k;
  return {values, {DType::kI32, values.shape}};
}

/// Of floats in total order: -NaN < -inf < … < -0 < +0 < … < inf < NaN.
bool is_above(const HostTensor& x, std::size_t a, std::size_t b) {
  const DType dtype = x.type.dtype;
  if (!is_float(dtype)) {
    return is_signed(dtype) ? read_int(x, a) > read_int(x, b) : read_bits(x, a) > read_bits(x, b);
  }
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  // Of negative numbers the one with the lesser magnitude is above.
  const auto place = [&](std::size_t i) {
    const std::uint64_t bits = read_bits(x, i);
    return (bits & sign) != 0 ? sign - 1 - (bits & (sign - 1)) : bits | sign;
  };
  return place(a) > place(b);
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const auto count = static_cast<std::size_t>(x.type.shape.back());
  const auto k = static_cast<std::size_t>(attribute<std::int64_t>(op, "k"));
  const std::vector<TensorType> types = infer(op, std::vector{x.type});
  HostTensor values(types[0]), indices(types[1]);
  for (std::size_t to = 0; to < static_cast<std::size_t>(types[0].elements()); to += k) {
    const std::size_t first = to / k * count;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), first);
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return is_above(x, a, b); });
    for (std::size_t i = 0; i < k; ++i) {
      copy_element(values, to + i, x, order[i]);
      write_int(indices, to + i, static_cast<std::int64_t>(order[i] - first));
    }
  }
  return {std::move(values), std::move(indices)};
}

/// Whether the first of two numbers is above the second, as a sort's comparator of numbers and
/// their places.
Graph is_above_comparator(DType dtype, const OpLocation& location) {
  Graph comparator;
  GraphBuilder builder(comparator, location);
  const Tensor a = builder.argument({dtype, {}}), b = builder.argument({dtype, {}});
  for (int i = 0; i < 2; ++i) static_cast<void>(builder.argument({DType::kI32, {}}));
  Op compare;
  compare.attributes = {{"comparison_direction", std::string("GT")}};
  if (is_float(dtype)) compare.attributes.insert({"compare_type", std::string("TOTALORDER")});
  comparator.set_results({builder.apply(kCompareOp, {a, b}, std::move(compare)).id});
  return comparator;
}

/// So many elements of keys that are no words are taken one after the other, rather than sorted
/// with all others. Each takes two reductions, a sort so many steps as this has eighths [measured
/// on bow: the first 8 of 32,000 take a fifth of a sort by a network].
std::int64_t most_selected(const Shape& shape) {
  const auto phases =
      static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(shape.back() - 1)));
  return phases * (phases + 1) / 8;
}

std::vector<Tensor> by_sort(Tensor x, std::int64_t k, Graph comparator) {
  GraphBuilder& builder = *x.builder;
  const auto last = static_cast<std::int64_t>(x.shape().size()) - 1;
  Op sort;
  sort.attributes = {{"dimension", last}, {"is_stable", true}};
  sort.regions.push_back(std::move(comparator));
  const std::vector<Tensor> rows = {x, builder.iota({DType::kI32, x.shape()}, last)};
  std::vector<Tensor> results;
  Shape taken = x.shape();
  taken.back() = k;
  for (const Tensor& sorted : builder.append(kSortOp, rows, std::move(sort))) {
    results.push_back(window(sorted, std::vector<std::int64_t>(taken.size()), taken));
  }
  return results;
}

/// The first words of rows, which ascend as the keys descend.
std::vector<Tensor> by_words(Tensor words, std::int64_t k, const Comparator& comparator) {
  Shape found = words.shape();
  const std::int64_t rows = found.back();
  found.back() = k;
  Op sort;
  sort.attributes = {{"is_numbered", true}, {"count", k}};
  const std::vector<Tensor> first = words.builder->append(
      kSortWordsOp, std::array{reshape(words, {words.type().elements() / rows, rows})},
      std::move(sort));
  return {*comparator.operand_of(0, std::array{comparator.key_of(reshape(first[0], found))}),
          reshape(first[1], found)};
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const Tensor x = operands[0];
  const std::int64_t k = attribute<std::int64_t>(op, "k");
  Graph region = is_above_comparator(x.dtype(), builder.location());
  const Comparator comparator(region);
  if (k == 0 || x.type().elements() == 0 || !comparator.decides_alone()) {
    return by_sort(x, k, std::move(region));
  }
  const auto last = static_cast<std::int64_t>(x.shape().size()) - 1;
  const std::vector<Tensor> rows = {x, builder.iota({DType::kI32, x.shape()}, last)};
  const Tensor keys = comparator.keys(rows)[0];
  if (const auto words = comparator.word(keys)) return by_words(*words, k, comparator);
  if (k > most_selected(x.shape())) return by_sort(x, k, std::move(region));
  const auto flipped = [](Tensor key) { return key ^ key.like(-1); };
  const Candidates found = least_one_by_one({flipped(keys), rows[1], x.shape().back()}, k);
  return {*comparator.operand_of(0, std::array{flipped(found.keys)}), found.places};
}

// `(%x, k = 3) : type -> types`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  parser.expect('(', "in front of the operand");
  op.operands = {parser.parse_value()};
  parser.expect(',', "in front of `k`");
  if (!parser.accept_word("k")) parser.fail("expected `k`, found " + parser.found());
  parser.expect('=', "behind `k`");
  op.attributes.insert_or_assign("k", parser.expect_integer("an integer"));
  parser.expect(')', "behind the operand and `k`");
  parser.add_optional_dictionary(op);
  parser.parse_types(op);
}

}  // namespace

const OpDefinition kTopKOp{
    .name = "chlo.top_k",
    .summary =
        "The k largest elements along the last dimension, from the largest, and where they are; of "
        "equal ones the first. Floats are in total order.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kNumbers | kBooleans}},
    .syntax = {.parse = parse},
    .attributes = "k",
};

}  // namespace superstep
