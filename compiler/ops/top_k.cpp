#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "compiler/import/parser.h"
#include "compiler/ops/comparator.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
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

/// So many elements at most are taken one after the other, rather than sorted with all others. Each
/// takes two reductions, a sort so many steps as this has eighths [measured on bow: the first 8
/// of 32,000 f32 take a fifth of a sort, those of 1,024 rows of 1,024 an eighth].
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

/// Of integers, the largest, then the largest of the others, and so on.
std::vector<Tensor> by_selection(Tensor keys, Tensor lowest, std::int64_t k) {
  GraphBuilder& builder = *keys.builder;
  const Shape shape = keys.shape();
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  const auto none = static_cast<double>(shape.back());
  Shape found = shape;
  found.back() = k;
  // As floats, which vertices take in pairs, places are exact up to here.
  constexpr double kMostInFloats = std::int64_t{1} << 24;
  const DType place_dtype = none < kMostInFloats ? DType::kF32 : DType::kI32;
  const std::vector<Tensor> begin = {keys, builder.iota({place_dtype, shape}, last),
                                     broadcast(lowest, found, {}),
                                     broadcast(builder.number(place_dtype, 0), found, {})};
  // What is taken is the lowest and has no place any more.
  const auto step = [&](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
    const Tensor key = values[0], place = values[1];
    GraphBuilder& inner = *turn.builder;
    const Indices batches = all_dimensions(shape.size() - 1);
    const Tensor least = inner.constant(*constant_value(builder.graph(), lowest.id));
    const Tensor largest =
        reduce(key, least, {last}, [](Tensor a, Tensor b) { return maximum(a, b); });
    const Tensor is_largest = compare("EQ", key, broadcast(largest, shape, batches));
    const Tensor first =
        reduce(select(is_largest, place, place.like(none)), inner.number(place_dtype, none), {last},
               [](Tensor a, Tensor b) { return minimum(a, b); });
    const Tensor is_taken = compare("EQ", place, broadcast(first, shape, batches));
    const Tensor is_turn =
        compare("EQ", inner.iota({DType::kI32, found}, last), broadcast(turn, found, {}));
    return {select(is_taken, broadcast(least, shape, {}), key),
            select(is_taken, place.like(none), place),
            select(is_turn, broadcast(largest, found, batches), values[2]),
            select(is_turn, broadcast(first, found, batches), values[3])};
  };
  const std::vector<Tensor> results = repeat_counted(k, begin, step);
  return {results[2], convert(results[3], DType::kI32)};
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const Tensor x = operands[0];
  const std::int64_t k = attribute<std::int64_t>(op, "k");
  Graph region = is_above_comparator(x.dtype(), builder.location());
  const Comparator comparator(region);
  if (k == 0 || x.type().elements() == 0 || k > most_selected(x.shape()) ||
      !comparator.decides_alone()) {
    return by_sort(x, k, std::move(region));
  }
  const std::vector<Tensor> rows = {x, builder.iota({DType::kI32, x.shape()}, 0)};
  const Tensor keys = comparator.keys(rows)[0];
  std::vector<Tensor> results = by_selection(keys, comparator.last_key(keys), k);
  results[0] = *comparator.operand_of(0, std::span(results).first(1));
  return results;
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
