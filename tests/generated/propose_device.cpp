// What one device does with others, of which there are none, and random numbers.

#include <array>
#include <cmath>
#include <string>

#include "compiler/ops/elements.h"
#include "tests/generated/op_kind.h"
#include "tests/generated/tensors.h"
#include "tests/regions.h"

namespace superstep {
namespace {

bool identity(RandomProgram& builder, const OpKind& kind) {
  return builder.add(kind.op, {builder.any(kind.dtypes)});
}

bool collective(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes, has_dimensions);
  const auto dimension = [&] {
    return static_cast<std::int64_t>(random.below(builder.type(x).shape.size()));
  };
  Attributes attributes{{"replica_groups", Indices{0}}};
  std::vector<Graph> regions;
  if (kind.op == "stablehlo.all_gather") attributes["all_gather_dim"] = dimension();
  if (kind.op == "stablehlo.reduce_scatter") attributes["scatter_dimension"] = dimension();
  if (kind.op == "stablehlo.all_to_all") {
    attributes["split_dimension"] = dimension();
    attributes["concat_dimension"] = dimension();
    attributes["split_count"] = std::int64_t{1};
  }
  if (kind.op == "stablehlo.all_reduce" || kind.op == "stablehlo.reduce_scatter" ||
      kind.op == "stablehlo.collective_reduce") {
    regions.push_back(binary_reducer("stablehlo.add", builder.type(x).dtype));
  }
  return builder.add(kind.op, {x}, std::move(attributes), std::move(regions));
}

bool permute(RandomProgram& builder, const OpKind& kind) {
  const Indices pairs = builder.random.chance(50) ? Indices{0, 0} : Indices{};
  return builder.add(kind.op, {builder.any(kind.dtypes)}, {{"source_target_pairs", pairs}});
}

bool number(RandomProgram& builder, const OpKind& kind) { return builder.add(kind.op, {}); }

ValueId scalar(RandomProgram& builder, DType dtype, double value) {
  HostTensor tensor(TensorType{dtype, {}});
  is_float(dtype) ? write_float(tensor, 0, value)
                  : write_int(tensor, 0, static_cast<std::int64_t>(value));
  return builder.argument(tensor.type, exactly(tensor));
}

bool draw(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const TensorType type{random_dtype(random, kind.dtypes), random_shape(random, 300)};
  const bool is_normal = is_float(type.dtype) && random.chance(40);
  const double low = static_cast<double>(random.between(0, 3));
  const ValueId a = scalar(builder, type.dtype, low);
  const ValueId b = scalar(builder, type.dtype, low + static_cast<double>(random.below(20)));
  HostTensor shape({DType::kI64, {static_cast<std::int64_t>(type.shape.size())}});
  for (std::size_t d = 0; d < type.shape.size(); ++d) shape.set(d, type.shape[d]);
  if (!builder.add("stablehlo.constant", {}, {{"value", shape}})) return false;
  return builder.add(kind.op, {a, b, builder.last()},
                     {{"rng_distribution", std::string(is_normal ? "NORMAL" : "UNIFORM")}}, {},
                     {type});
}

bool draw_bits(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array kAlgorithms = {"DEFAULT", "THREE_FRY", "PHILOX"};
  Random& random = builder.random;
  const std::string algorithm = random.pick(kAlgorithms);
  const std::int64_t words = algorithm == "THREE_FRY" ? 2 : random.between(2, 3);
  const TensorType state{DType::kU64, {words}};
  const TensorType type{random_dtype(random, kind.dtypes), random_shape(random, 300)};
  return builder.add(kind.op, {builder.of_type(state)}, {{"rng_algorithm", algorithm}}, {},
                     {state, type});
}

constexpr DTypeSet kWholeNumbers =
    (kIntegers | kSimpleFloats) &
    ~(only(DType::kI2) | only(DType::kI4) | only(DType::kU2) | only(DType::kU4));

constexpr std::array kKinds = {
    OpKind{"sdy.sharding_constraint", identity},
    OpKind{"stablehlo.all_gather", collective},
    OpKind{"stablehlo.all_reduce", collective},
    OpKind{"stablehlo.all_to_all", collective},
    OpKind{"stablehlo.collective_broadcast", collective},
    OpKind{"stablehlo.collective_permute", permute},
    OpKind{"stablehlo.collective_reduce", collective},
    OpKind{"stablehlo.cross-replica-sum", collective},
    OpKind{"stablehlo.partition_id", number},
    OpKind{"stablehlo.reduce_scatter", collective},
    OpKind{"stablehlo.replica_id", number},
    OpKind{"stablehlo.rng", draw, kWholeNumbers, Wants::kExact, 2},
    OpKind{"stablehlo.rng_bit_generator", draw_bits, kWholeNumbers, Wants::kExact, 3},
};

}  // namespace

std::span<const OpKind> device_kinds() { return kKinds; }

}  // namespace superstep
