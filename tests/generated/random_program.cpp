#include "tests/generated/random_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/verify.h"
#include "tests/generated/bounding.h"
#include "tests/generated/tensors.h"

namespace superstep {
namespace {

constexpr std::int64_t kMostElements = 2000;
/// Of elements that are pairs of words, with which tiles compute in software.
constexpr std::int64_t kMostWide = 300;

std::int64_t most_elements(DType dtype) { return is_wide(dtype) ? kMostWide : kMostElements; }

}  // namespace

void RandomProgram::note(Bounded value) {
  const bool is_exact = are_exact(std::span(&value, 1));
  kinds_.push_back(!is_exact                  ? Wants::kAnything
                   : is_moderate(value.value) ? Wants::kModerate
                                              : Wants::kExact);
  values_.push_back(std::move(value));
}

bool RandomProgram::suits(ValueId value) const { return kinds_[index(value)] >= wants_; }

ValueId RandomProgram::argument(TensorType type, Bounded value) {
  const ValueId argument =
      graph_.add_argument(std::move(type), fmt::format("arg{}", arguments_.size()));
  arguments_.push_back(value.value);
  note(std::move(value));
  return argument;
}

ValueId RandomProgram::leaf(TensorType type) {
  if (random.chance(15) && !type.shape.empty()) {
    const ValueId scalar = leaf({type.dtype, {}});
    const std::vector<std::int64_t> none;
    if (add("stablehlo.broadcast_in_dim", {scalar}, {{"broadcast_dimensions", none}}, {}, {type})) {
      return last();
    }
  }
  // Numbers of f8 end too soon, and some of them are none.
  const bool counts = type.dtype != DType::kI1 && !is_narrow(type.dtype);
  if (random.chance(4) && !type.shape.empty() && counts && wants_ != Wants::kModerate) {
    const auto along = static_cast<std::int64_t>(random.below(type.shape.size()));
    if (add("stablehlo.iota", {}, {{"iota_dimension", along}}, {}, {type})) return last();
  }
  HostTensor value = random_tensor(random, type, wants_ == Wants::kModerate);
  // Few tensors are constants: what depends on constants alone is folded and proves nothing.
  const bool is_constant = random.chance(type.shape.empty() ? 40 : 3);
  if (is_constant && add("stablehlo.constant", {}, {{"value", value}})) return last();
  return argument(std::move(type), exactly(std::move(value)));
}

ValueId RandomProgram::any(DTypeSet dtypes, const std::function<bool(const TensorType&)>& fits) {
  const auto is_of_kind = [&](const TensorType& type) {
    return (only(type.dtype) & dtypes) != 0 && (!fits || fits(type));
  };
  std::vector<ValueId> found;
  for (std::uint32_t v = 0; v < values_.size(); ++v) {
    if (is_of_kind(graph_.type(ValueId{v})) && suits(ValueId{v})) found.push_back(ValueId{v});
  }
  if (!found.empty() && random.chance(80)) {
    // Recent values, so that ops form chains.
    return random.chance(50) ? found.back() : random.pick(found);
  }
  TensorType type;
  do {
    type.dtype = random_dtype(random, dtypes);
    type.shape = random_shape(random, most_elements(type.dtype) / 2);
  } while (!is_of_kind(type));
  return leaf(type);
}

ValueId RandomProgram::of_type(TensorType type) {
  std::vector<ValueId> found;
  for (std::uint32_t v = 0; v < values_.size(); ++v) {
    if (graph_.type(ValueId{v}) == type && suits(ValueId{v})) found.push_back(ValueId{v});
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
    if (result.elements() > most_elements(result.dtype)) return false;
  }
  op.declared = results;
  std::optional<std::vector<Bounded>> values = propagate(op, inputs);
  if (!values) return false;
  graph_.add_op(std::move(op));
  for (Bounded& value : *values) note(std::move(value));
  return true;
}

}  // namespace superstep
