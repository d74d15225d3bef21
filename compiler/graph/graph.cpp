#include "compiler/graph/graph.h"

#include <utility>

#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<Problem> located(std::vector<Problem> problems, const SourceLocation& where) {
  for (Problem& problem : problems) {
    if (problem.where == SourceLocation{}) problem.where = where;
  }
  return problems;
}

std::vector<TensorType> infer_at(const Op& op, std::span<const TensorType> operands) {
  try {
    return infer_types(op, operands);
  } catch (const MalformedInput& error) {
    throw MalformedInput(located(error.problems(), op.location.module));
  } catch (const Unsupported& error) {
    throw Unsupported(located(error.problems(), op.location.module));
  }
}

}  // namespace

ValueId Graph::add_argument(TensorType type, std::string name) {
  const ValueId id{static_cast<std::uint32_t>(values_.size())};
  values_.push_back({std::move(type), std::move(name), std::nullopt});
  arguments_.push_back(id);
  return id;
}

const Op& Graph::add_op(Op op, const std::vector<std::string>& result_names) {
  SUPERSTEP_CHECK(op.definition != nullptr, "an op without a definition");
  std::vector<TensorType> operands;
  operands.reserve(op.operands.size());
  for (const ValueId operand : op.operands) {
    SUPERSTEP_CHECK(index(operand) < values_.size(), "an operand of another graph");
    operands.push_back(type(operand));
  }
  std::vector<TensorType> types = infer_at(op, operands);
  const auto producer = static_cast<std::uint32_t>(ops_.size());
  op.results.clear();
  for (std::size_t i = 0; i < types.size(); ++i) {
    op.results.push_back(ValueId{static_cast<std::uint32_t>(values_.size())});
    values_.push_back(
        {std::move(types[i]), i < result_names.size() ? result_names[i] : std::string(), producer});
  }
  return ops_.emplace_back(std::move(op));
}

}  // namespace superstep
