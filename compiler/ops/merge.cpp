#include "compiler/ops/merge.h"

#include <algorithm>
#include <fmt/format.h>

#include "compiler/ops/elements.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const bool alternates = attribute<bool>(op, "alternates");
  const Shape& shape = operands[0].shape;
  if (shape.size() != 3 || (alternates && shape[0] % 2 != 0) || shape[1] % 2 != 0 || shape[2] < 1 ||
      shape[2] > 2) {
    malformed(op, fmt::format("the keys are {}, expected rows of an even number of one word or two",
                              operands[0].text()));
  }
  return {operands[0]};
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  HostTensor result(operands[0].type);
  const Shape& shape = result.type.shape;
  const auto length = static_cast<std::size_t>(shape[1]),
             words = static_cast<std::size_t>(shape[2]);
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape[0]); ++row) {
    std::vector<std::vector<std::int64_t>> keys(length);
    for (std::size_t i = 0; i < length * words; ++i) {
      keys[i / words].push_back(read_int(operands[0], row * length * words + i));
    }
    std::ranges::sort(keys);
    if (attribute<bool>(op, "alternates") && row % 2 == 1) std::ranges::reverse(keys);
    for (std::size_t i = 0; i < length * words; ++i) {
      write_int(result, row * length * words + i, keys[i / words][i % words]);
    }
  }
  return {std::move(result)};
}

std::vector<Vote> votes(const Op& op, const Graph& graph) {
  const Shape& shape = graph.type(op.results[0]).shape;
  return {{.value = op.results[0], .row = shape[1] * shape[2]}};
}

}  // namespace

const OpDefinition kMergeOp{
    .name = "superstep.merge",
    .summary = "Rows of keys, of which one half ascends and one descends, in order.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {StepLowering{lower_merge, votes}},
    .traits = {.operands = {only(DType::kI32)}},
};

}  // namespace superstep
