#include "compiler/ops/sort_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "compiler/ops/elements.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  if (operands[0].shape.size() != 2) {
    malformed(op, fmt::format("the words are {}, expected batches of rows", operands[0].text()));
  }
  const TensorType first{operands[0].dtype,
                         {operands[0].shape[0], attribute<std::int64_t>(op, "count")}};
  return std::vector<TensorType>(attribute<bool>(op, "is_numbered") ? 2 : 1, first);
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& words = operands[0];
  std::vector<HostTensor> results;
  for (const TensorType& type : infer(op, std::vector{words.type})) results.emplace_back(type);
  const auto rows = static_cast<std::size_t>(words.type.shape[1]);
  const auto count = static_cast<std::size_t>(results[0].type.shape[1]);
  for (std::size_t first = 0, to = 0; first < static_cast<std::size_t>(words.type.elements());
       first += rows, to += count) {
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), first);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return read_int(words, i); });
    for (std::size_t i = 0; i < count; ++i) {
      copy_element(results[0], to + i, words, order[i]);
      if (results.size() == 2) {
        write_int(results[1], to + i, static_cast<std::int64_t>(order[i] - first));
      }
    }
  }
  return results;
}

std::vector<Vote> no_votes(const Op&, const Graph&) { return {}; }

}  // namespace

const OpDefinition kSortWordsOp{
    .name = "superstep.sort_words",
    .summary = "The first words of rows in ascending order, and the numbers that they had.",
    .infer = infer,
    .evaluate = evaluate,
    // Always divided.
    .lowerings = {StepLowering{nullptr, no_votes, divide_sort}},
    .traits = {.operands = {only(DType::kI32)}},
};

}  // namespace superstep
