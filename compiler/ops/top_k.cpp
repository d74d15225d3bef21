#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/import/parser.h"
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

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const Tensor x = operands[0];
  const auto last = static_cast<std::int64_t>(x.shape().size()) - 1;
  Op sort;
  sort.attributes = {{"dimension", last}, {"is_stable", true}};
  Graph& comparator = sort.regions.emplace_back();
  GraphBuilder inner(comparator, builder.location());
  const Tensor a = inner.argument({x.dtype(), {}}), b = inner.argument({x.dtype(), {}});
  for (int i = 0; i < 2; ++i) static_cast<void>(inner.argument({DType::kI32, {}}));
  Op compare;
  compare.attributes = {{"comparison_direction", std::string("GT")}};
  if (is_float(x.dtype())) compare.attributes.insert({"compare_type", std::string("TOTALORDER")});
  comparator.set_results({inner.apply(kCompareOp, {a, b}, std::move(compare)).id});
  const std::vector<Tensor> rows = {x, builder.iota({DType::kI32, x.shape()}, last)};
  std::vector<Tensor> results;
  Shape taken = x.shape();
  taken.back() = attribute<std::int64_t>(op, "k");
  for (const Tensor& sorted : builder.append(kSortOp, rows, std::move(sort))) {
    results.push_back(window(sorted, std::vector<std::int64_t>(taken.size()), taken));
  }
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
};

}  // namespace superstep
