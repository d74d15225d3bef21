// JAX's approx_max_k and approx_min_k: inputs, an initial value of each, and a comparator. All
// elements are looked at, so that the result is that of recall 1.

#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::span<const TensorType> inputs_of(std::span<const TensorType> operands) {
  return operands.first(operands.size() / 2);
}

Op as_sort(const Op& op) {
  Op sort = op;
  sort.definition = &kSortOp;
  sort.attributes = {{"dimension", setting(op, "reduction_dim")}};
  sort.declared.clear();
  return sort;
}

std::vector<TensorType> infer_top_k(const Op& op, std::span<const TensorType> operands) {
  if (operands.empty() || operands.size() % 2 != 0) {
    malformed(op, fmt::format("has {} operands, expected as many inputs as initial values",
                              operands.size()));
  }
  const std::size_t count = operands.size() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const TensorType scalar{operands[i].dtype, {}};
    if (operands[count + i] == scalar) continue;
    malformed(op, fmt::format("initial value {} is {}, expected {}", i, operands[count + i].text(),
                              scalar.text()));
  }
  std::vector<TensorType> results = kSortOp.infer(as_sort(op), inputs_of(operands));
  const std::int64_t d = setting(op, "reduction_dim"), k = setting(op, "top_k");
  if (d < 0) malformed(op, fmt::format("reduction_dim is {}", d));
  const auto along = static_cast<std::size_t>(d);
  const std::int64_t all = results[0].shape[along];
  // Without that, as many as the module says, among which the first k are.
  const bool is_k = setting(op, "aggregate_to_topk") != 0;
  const bool is_declared = !op.declared.empty() && op.declared[0].shape.size() > along;
  if (!is_k && !is_declared) malformed(op, "needs result types");
  const std::int64_t taken = is_k ? k : op.declared[0].shape[along];
  if (k < 0 || taken < k || taken > all) {
    malformed(op, fmt::format("top_k is {} and the result has {} of {} elements", k, taken, all));
  }
  for (TensorType& type : results) type.shape[along] = taken;
  return results;
}

std::vector<HostTensor> evaluate_top_k(const Op& op, std::span<const HostTensor> operands) {
  std::vector<TensorType> types;
  for (const HostTensor& operand : operands) types.push_back(operand.type);
  const std::vector<TensorType> taken = infer_top_k(op, types);
  std::vector<HostTensor> results;
  for (const HostTensor& sorted :
       kSortOp.evaluate(as_sort(op), operands.first(operands.size() / 2))) {
    HostTensor& result = results.emplace_back(taken[results.size()]);
    for_each_of_window(
        sorted.type.shape, result.type.shape, Indices(result.type.shape.size()),
        [&](std::size_t from, std::size_t to) { copy_element(result, to, sorted, from); });
  }
  return results;
}

std::vector<Tensor> expand_top_k(GraphBuilder& builder, const Op& op,
                                 std::span<const Tensor> operands) {
  std::vector<TensorType> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  const Shape taken = infer_top_k(op, types)[0].shape;
  std::vector<Tensor> results;
  for (const Tensor& sorted :
       builder.append(kSortOp, operands.first(operands.size() / 2), as_sort(op))) {
    results.push_back(window(sorted, Indices(taken.size()), taken));
  }
  return results;
}

}  // namespace

const LibraryFunction kApproxTopK{infer_top_k, evaluate_top_k, expand_top_k, 1};

}  // namespace superstep
