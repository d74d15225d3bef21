// Loops and branches.

#include <array>
#include <utility>

#include "tests/generated/op_kind.h"
#include "tests/generated/propose.h"
#include "tests/generated/tensors.h"

namespace superstep {
namespace {

constexpr DTypeSet kWord = only(DType::kI32);
constexpr std::int64_t kMostTrips = 4;

HostTensor word(std::int32_t value) {
  HostTensor tensor(TensorType{DType::kI32, {}});
  tensor.set<std::int32_t>(0, value);
  return tensor;
}

/// A region that starts with copies of values of `outer`, and may use more: the arguments that it
/// then has besides become operands, which `operands` gets.
class RandomRegion {
 public:
  RandomRegion(RandomProgram& outer, const std::vector<ValueId>& operands)
      : inner_(outer.random.bits()) {
    for (const ValueId operand : operands) {
      inner_.argument(outer.type(operand), outer.values()[index(operand)]);
    }
  }

  [[nodiscard]] RandomProgram& program() { return inner_; }
  /// The argument for operand `i`.
  [[nodiscard]] ValueId argument(std::size_t i) const { return inner_.graph().arguments()[i]; }

  void grow(std::size_t most_ops) {
    for (std::size_t i = inner_.random.below(most_ops) + 1; i > 0; --i) propose_op(inner_);
  }

  void add_operands(RandomProgram& outer, std::vector<ValueId>& operands) const {
    for (std::size_t i = operands.size(); i < inner_.graph().arguments().size(); ++i) {
      const ValueId inside = argument(i);
      operands.push_back(outer.argument(inner_.type(inside), inner_.values()[index(inside)]));
    }
  }

  /// With an argument for each operand.
  [[nodiscard]] Graph finish(const RandomProgram& outer, const std::vector<ValueId>& operands,
                             std::vector<ValueId> results) const {
    Graph graph = inner_.graph();
    for (std::size_t i = graph.arguments().size(); i < operands.size(); ++i) {
      graph.add_argument(outer.type(operands[i]), "unused");
    }
    graph.set_results(std::move(results));
    return graph;
  }

 private:
  RandomProgram inner_;
};

bool loop(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  if (!builder.add("stablehlo.constant", {}, {{"value", word(0)}})) return false;
  const ValueId counter = builder.last();
  std::vector<ValueId> operands{counter};
  for (std::size_t carried = random.below(3) + 1; carried > 0; --carried) {
    operands.push_back(builder.any(kAnyDType));
  }
  const std::size_t carried = operands.size();

  RandomRegion body(builder, operands);
  RandomProgram& in_body = body.program();
  if (!in_body.add("stablehlo.constant", {}, {{"value", word(1)}})) return false;
  const ValueId one = in_body.last();
  if (!in_body.add("stablehlo.add", {body.argument(0), one})) return false;
  std::vector<ValueId> next{in_body.last()};
  body.grow(4);
  for (std::size_t i = 1; i < carried; ++i) {
    next.push_back(in_body.of_type(builder.type(operands[i])));
  }
  body.add_operands(builder, operands);

  // The limit may be anything: the least of it and a constant counts.
  operands.push_back(
      random.chance(50)
          ? builder.any(kWord, [](const TensorType& type) { return type.shape.empty(); })
          : builder.leaf({DType::kI32, {}}));
  RandomRegion condition(builder, operands);
  RandomProgram& in_condition = condition.program();
  const auto most = static_cast<std::int32_t>(random.below(kMostTrips + 1));
  if (!in_condition.add("stablehlo.constant", {}, {{"value", word(most)}})) return false;
  const ValueId bound = in_condition.last();
  if (!in_condition.add("stablehlo.minimum", {condition.argument(operands.size() - 1), bound})) {
    return false;
  }
  const ValueId limit = in_condition.last();
  if (!in_condition.add("stablehlo.compare", {condition.argument(0), limit},
                        {{"comparison_direction", std::string("LT")}})) {
    return false;
  }
  ValueId goes_on = in_condition.last();
  if (random.chance(40)) {
    condition.grow(2);
    if (in_condition.add("stablehlo.or", {goes_on, in_condition.of_type({DType::kI1, {}})})) {
      const ValueId either = in_condition.last();
      if (in_condition.add("stablehlo.and", {goes_on, either})) goes_on = in_condition.last();
    }
  }
  condition.add_operands(builder, operands);
  return builder.add(kind.op, operands, {},
                     {condition.finish(builder, operands, {goes_on}),
                      body.finish(builder, operands, std::move(next))});
}

/// Branches of random ops with the same types of results; operands are what they use of outside.
struct Branches {
  std::vector<ValueId> operands;
  std::vector<Graph> regions;
};

Branches random_branches(RandomProgram& builder, std::size_t count) {
  Random& random = builder.random;
  Branches branches;
  std::vector<ValueId>& operands = branches.operands;
  for (std::size_t i = random.below(3); i > 0; --i) operands.push_back(builder.any(kAnyDType));
  std::vector<RandomRegion> regions;
  std::vector<std::vector<ValueId>> results;
  for (std::size_t r = 0; r < count; ++r) {
    RandomRegion& region = regions.emplace_back(builder, operands);
    region.grow(3);
    results.emplace_back();
    if (r == 0) {
      for (std::size_t i = random.below(2) + 1; i > 0; --i) {
        results[0].push_back(region.program().any(kAnyDType));
      }
    } else {
      for (const ValueId first : results[0]) {
        results.back().push_back(region.program().of_type(regions[0].program().type(first)));
      }
    }
    region.add_operands(builder, operands);
  }
  for (std::size_t r = 0; r < regions.size(); ++r) {
    branches.regions.push_back(regions[r].finish(builder, operands, results[r]));
  }
  return branches;
}

bool is_scalar(const TensorType& type) { return type.shape.empty(); }

bool branch(RandomProgram& builder, const OpKind& kind) {
  const ValueId decision = builder.any(kind.dtypes, is_scalar);
  const bool is_if = builder.type(decision).dtype == DType::kI1;
  Branches branches = random_branches(builder, is_if ? 2 : builder.random.below(4) + 1);
  branches.operands.insert(branches.operands.begin(), decision);
  return builder.add(kind.op, std::move(branches.operands), {}, std::move(branches.regions));
}

constexpr std::array kKinds = {
    OpKind{"stablehlo.case", branch, kWord, Wants::kAnything, 6},
    OpKind{"stablehlo.if", branch, kBooleans, Wants::kAnything, 4},
    OpKind{"stablehlo.while", loop, kAnyDType, Wants::kAnything, 10},
};

}  // namespace

std::span<const OpKind> control_kinds() { return kKinds; }

}  // namespace superstep
