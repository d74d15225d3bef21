#include "tests/generated/random_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/verify.h"
#include "tests/generated/tensors.h"

namespace superstep {
namespace {

constexpr std::int64_t kMostElements = 2000;

}  // namespace

ValueId RandomProgram::argument(TensorType type, Bounded value) {
  const ValueId argument =
      graph_.add_argument(std::move(type), fmt::format("arg{}", arguments_.size()));
  arguments_.push_back(value.value);
  values_.push_back(std::move(value));
  return argument;
}

ValueId RandomProgram::leaf(TensorType type) {
  const auto last = [&] { return ValueId{static_cast<std::uint32_t>(values_.size() - 1)}; };
  if (random.chance(15) && !type.shape.empty()) {
    const ValueId scalar = leaf({type.dtype, {}});
    const std::vector<std::int64_t> none;
    if (add("stablehlo.broadcast_in_dim", {scalar}, {{"broadcast_dimensions", none}}, {}, {type})) {
      return last();
    }
  }
  if (random.chance(4) && !type.shape.empty() && type.dtype != DType::kI1) {
    const auto along = static_cast<std::int64_t>(random.below(type.shape.size()));
    if (add("stablehlo.iota", {}, {{"iota_dimension", along}}, {}, {type})) return last();
  }
  HostTensor value = random_tensor(random, type);
  // Few tensors are constants: what depends on constants alone is folded and proves nothing.
  const bool is_constant = random.chance(type.shape.empty() ? 40 : 3);
  if (is_constant && add("stablehlo.constant", {}, {{"value", value}})) return last();
  return argument(std::move(type), exactly(std::move(value)));
}

ValueId RandomProgram::any(std::span<const DType> dtypes,
                           const std::function<bool(const TensorType&)>& fits) {
  const auto suits = [&](const TensorType& type) {
    return std::ranges::find(dtypes, type.dtype) != dtypes.end() && (!fits || fits(type));
  };
  std::vector<ValueId> found;
  for (std::uint32_t v = 0; v < values_.size(); ++v) {
    if (suits(graph_.type(ValueId{v}))) found.push_back(ValueId{v});
  }
  if (!found.empty() && random.chance(80)) {
    // Recent values, so that ops form chains.
    return random.chance(50) ? found.back() : random.pick(found);
  }
  TensorType type{random_dtype(random), random_shape(random, kMostElements / 2)};
  while (!suits(type)) type = {random.pick(dtypes), random_shape(random, kMostElements / 2)};
  return leaf(type);
}

ValueId RandomProgram::of_type(TensorType type) {
  std::vector<ValueId> found;
  for (std::uint32_t v = 0; v < values_.size(); ++v) {
    if (graph_.type(ValueId{v}) == type) found.push_back(ValueId{v});
  }
  return !found.empty() && random.chance(60) ? random.pick(found) : leaf(type);
}

bool RandomProgram::add(std::string_view name, std::vector<ValueId> operands, Attributes attributes,
                        std::vector<Graph> regions, std::vector<TensorType> declared) {
  Op op;
  op.definition = find_op(name);
  SUPERSTEP_CHECK(op.definition != nullptr, std::string(name));
  op.operands = std::move(operands);
  op.attributes = std::move(attributes);
  op.regions = std::move(regions);
  op.declared = std::move(declared);
  op.location = {{"generated", static_cast<std::uint32_t>(graph_.ops().size() + 1), 0}};
  std::vector<TensorType> types;
  std::vector<Bounded> inputs;
  for (const ValueId operand : op.operands) {
    types.push_back(type(operand));
    inputs.push_back(values_[index(operand)]);
  }
  const std::vector<TensorType> results = infer_types(op, types);
  for (const TensorType& result : results) {
    if (result.elements() > kMostElements) return false;
  }
  op.declared = results;
  std::optional<std::vector<Bounded>> values = propagate(op, inputs);
  if (!values) return false;
  graph_.add_op(std::move(op));
  for (Bounded& value : *values) values_.push_back(std::move(value));
  return true;
}

}  // namespace superstep
