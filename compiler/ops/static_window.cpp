#include "compiler/ops/static_window.h"

#include <algorithm>

#include "compiler/ops/op.h"

namespace superstep {

std::optional<HostTensor> constant_value(const Graph& graph, ValueId value) {
  const std::optional<std::uint32_t> producer = graph.value(value).producer;
  if (!producer) return std::nullopt;
  const Op& op = graph.ops()[*producer];
  if (lowering_as<ConstantLowering>(op, graph) == nullptr) return std::nullopt;
  return op.definition->evaluate(op, {})[0];
}

bool are_constant(const Graph& graph, std::span<const ValueId> values) {
  return std::ranges::all_of(
      values, [&](ValueId value) { return constant_value(graph, value).has_value(); });
}

Tensor window(Tensor x, const std::vector<std::int64_t>& start, const Shape& sizes) {
  std::vector<std::int64_t> limit = start;
  for (std::size_t i = 0; i < limit.size(); ++i) limit[i] += sizes[i];
  return slice(x, start, std::move(limit), std::vector<std::int64_t>(start.size(), 1));
}

Tensor with_window(Tensor x, const std::vector<std::int64_t>& start, Tensor window) {
  // Whole in the dimensions that are done, as the window in the others.
  std::vector<std::int64_t> first = start;
  Shape sizes = window.shape();
  const auto part = [&](std::size_t d, std::int64_t begin, std::int64_t end) {
    first[d] = begin;
    sizes[d] = end - begin;
    return superstep::window(x, first, sizes);
  };
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const std::int64_t whole = x.shape()[d], begin = start[d], end = begin + sizes[d];
    std::vector<Tensor> parts;
    if (begin > 0) parts.push_back(part(d, 0, begin));
    parts.push_back(window);
    if (end < whole) parts.push_back(part(d, end, whole));
    if (parts.size() > 1) window = concatenate(parts, static_cast<std::int64_t>(d));
    first[d] = 0;
    sizes[d] = whole;
  }
  return window;
}

}  // namespace superstep
