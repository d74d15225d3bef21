#include <utility>
#include <fmt/format.h>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/strided_box.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

struct Window {
  Indices start, limit, stride;
};

Window window_of(const Op& op, std::size_t rank) {
  return {index_list(op, "start_indices", rank), index_list(op, "limit_indices", rank),
          index_list(op, "strides", rank)};
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType& operand = operands[0];
  const Window window = window_of(op, operand.shape.size());
  TensorType result{operand.dtype, {}};
  for (std::size_t i = 0; i < operand.shape.size(); ++i) {
    const std::int64_t start = window.start[i];
    const std::int64_t limit = window.limit[i];
    const std::int64_t stride = window.stride[i];
    if (start < 0 || start > limit || limit > operand.shape[i] || stride < 1) {
      malformed(op, fmt::format("slice {}:{}:{} of dimension {} of {} does not satisfy "
                                "0 <= start <= limit <= size and stride >= 1",
                                start, limit, stride, i, operand.text()));
    }
    result.shape.push_back((limit - start) / stride + ((limit - start) % stride == 0 ? 0 : 1));
  }
  return {std::move(result)};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& x = operands[0];
  const Window window = window_of(op, x.type.shape.size());
  const std::vector<TensorType> types = {x.type};
  HostTensor result(infer(op, types)[0]);
  if (result.type.elements() == 0) return {std::move(result)};
  const Indices from = row_major_strides(x.type.shape);
  const Indices to = row_major_strides(result.type.shape);
  Indices index(to.size());
  do {
    Indices source(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) {
      source[i] = window.start[i] + index[i] * window.stride[i];
    }
    copy_element(result, element_at(index, to), x, element_at(source, from));
  } while (next_index(index, result.type.shape));
  return {std::move(result)};
}

std::vector<StridedBox> boxes(const Op& op, const Graph& graph) {
  const Shape& shape = graph.type(op.operands[0]).shape;
  const Shape& result = graph.type(op.results[0]).shape;
  const Window window = window_of(op, shape.size());
  Indices from = row_major_strides(shape);
  const auto offset = static_cast<std::int64_t>(element_at(window.start, from));
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (result[i] > 1) from[i] *= window.stride[i];  // else of any size, and never taken
  }
  return single_box({0, result, from, row_major_strides(result), offset, 0});
}

// `%x [0:4, 1:8:2] : …`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  if (parser.token().is('(')) return parser.parse_usual(op);
  op.operands = {parser.parse_value()};
  Window window;
  parser.expect('[', "in front of the ranges of a slice");
  if (!parser.accept(']')) {
    do {
      window.start.push_back(parser.expect_integer("the start of a range"));
      parser.expect(':', "in a range");
      window.limit.push_back(parser.expect_integer("the limit of a range"));
      window.stride.push_back(parser.accept(':') ? parser.expect_integer("the stride of a range")
                                                 : 1);
    } while (parser.accept(','));
    parser.expect(']', "behind the ranges of a slice");
  }
  op.attributes.insert_or_assign("start_indices", std::move(window.start));
  op.attributes.insert_or_assign("limit_indices", std::move(window.limit));
  op.attributes.insert_or_assign("strides", std::move(window.stride));
  parser.add_optional_dictionary(op);
  parser.parse_types(op);
}

}  // namespace

const OpDefinition kSliceOp{
    .name = "stablehlo.slice",
    .summary = "The elements of a box of a tensor, every stride-th in each dimension.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {RearrangeLowering{boxes}},
    .traits = {.operands = {kAnyDType}},
    .syntax = {.parse = parse},
    .attributes = "start_indices limit_indices strides",
};

}  // namespace superstep
