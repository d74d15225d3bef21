// What devices do together, where there is one; functions of elements and random numbers.

#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

OpCase collective(const std::string& name, Attributes attributes, std::vector<Graph> regions = {}) {
  const HostTensor x = numbers(kF32, {2, 2}, {1, 2, 3, 4});
  attributes.emplace("replica_groups", Indices{0});
  return {"stablehlo." + name, "OneDevice", {x}, std::move(attributes), {x}, 0, std::move(regions)};
}

OpCase random(const std::string& what, const std::string& distribution, double a, double b,
              const HostTensor& expected) {
  const DType dtype = expected.type.dtype;
  const HostTensor shape = numbers(kI64, {1}, {static_cast<double>(expected.type.elements())});
  return {"stablehlo.rng",
          what,
          {numbers(dtype, {}, {a}), numbers(dtype, {}, {b}), shape},
          {{"rng_distribution", distribution}},
          {expected},
          0,
          {}};
}

}  // namespace

std::vector<OpCase> device_cases() {
  const HostTensor x = vector_of(kF32, {1, -2, 3});
  const Graph difference = region_of({{kF32, {}}, {kF32, {}}}, [](std::span<const Tensor> a) {
    return std::vector{convert(a[0] - a[1] * 2, kI32)};
  });
  const Graph seven = region_of({{kF32, {}}}, [](std::span<const Tensor> a) {
    return std::vector{a[0].builder->number(kF32, 7)};
  });
  return {
      collective("all_gather", {{"all_gather_dim", std::int64_t{1}}}),
      collective("all_reduce", {}, {binary_reducer("stablehlo.add", kF32)}),
      collective("all_to_all", {{"split_dimension", std::int64_t{0}},
                                {"concat_dimension", std::int64_t{1}},
                                {"split_count", std::int64_t{1}}}),
      collective("collective_broadcast", {}),
      collective("collective_reduce", {}, {binary_reducer("stablehlo.add", kF32)}),
      collective("cross-replica-sum", {}),
      collective("reduce_scatter", {{"scatter_dimension", std::int64_t{0}}},
                 {binary_reducer("stablehlo.maximum", kF32)}),
      {"stablehlo.collective_permute",
       "ToItself",
       {x},
       {{"source_target_pairs", Indices{0, 0}}},
       {x},
       0,
       {}},
      {"stablehlo.collective_permute",
       "ToNobody",
       {x},
       {{"source_target_pairs", Indices{}}},
       {vector_of(kF32, {0, 0, 0})},
       0,
       {}},
      {"stablehlo.partition_id", "OneDevice", {}, {}, {numbers(kU32, {}, {0})}, 0, {}},
      {"stablehlo.replica_id", "OneDevice", {}, {}, {numbers(kU32, {}, {0})}, 0, {}},
      {"stablehlo.get_dimension_size",
       "OfTwo",
       {numbers(kI8, {1, 2}, {3, 4})},
       {{"dimension", std::int64_t{1}}},
       {numbers(kI32, {}, {2})},
       0,
       {}},
      {"stablehlo.map",
       "OfTwoOperands",
       {x, vector_of(kF32, {1, 1, -1})},
       {{"dimensions", Indices{0}}},
       {vector_of(kI32, {-1, -4, 5})},
       0,
       {difference}},
      {"stablehlo.map",
       "OfNone",
       {x},
       {{"dimensions", Indices{0}}},
       {vector_of(kF32, {7, 7, 7})},
       0,
       {seven}},
      random("UniformBetweenEqualNumbers", "UNIFORM", 5, 5, vector_of(kF32, {5, 5})),
      random("UniformIntegersBelowNothing", "UNIFORM", -3, -3, vector_of(kI8, {-3, -3, -3})),
      random("NormalWithoutDeviation", "NORMAL", 0.5, 0, vector_of(kF16, {0.5, 0.5})),
      random("NoNumbers", "UNIFORM", 0, 1, vector_of(kF32, {})),
  };
}

}  // namespace superstep
