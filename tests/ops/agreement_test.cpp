// Every elementwise op on every dtype it takes: the lowering, run on the host, against the
// reference.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "compiler/ops/elements.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

constexpr DType kDTypes[] = {kI1, kI8, kI16, kI32, kU8, kU16, kU32, kBF16, kF16, kF32};
constexpr std::size_t kElements = 5000;

/// What docs/numerics.md allows: transcendental functions 2 ULP of f32 and 1 of shorter floats,
/// everything else nothing.
std::uint64_t tolerance(std::string_view op, DType dtype) {
  if (!is_float(dtype) || !is_transcendental(op)) return 0;
  return is_short_float(dtype) ? 1 : 2;
}

std::vector<double> specials(DType dtype) {
  if (dtype == kI1) return {0, 1};
  if (!is_float(dtype)) {
    const double top = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)));
    return {0,       1,       2, 3, top / 2 - 1, top / 2, top / 2 + 1, top - 3,
            top - 2, top - 1, 7, 8, 15,          16,      31,          32};
  }
  const double inf = std::numeric_limits<double>::infinity();
  const int fraction_bits = dtype == kBF16 ? 7 : dtype == kF16 ? 10 : 23;
  const int most_exponent = dtype == kF16 ? 15 : 127;
  const double step = std::ldexp(1, -fraction_bits);
  const double largest = std::ldexp(2 - step, most_exponent);
  const double normal = std::ldexp(1, 1 - most_exponent);
  const double smallest = normal * step;
  std::vector<double> values = {0,
                                smallest,
                                normal,
                                normal - smallest,
                                1,
                                1 + step,
                                1 - step / 2,
                                0.5,
                                1.5,
                                2.5,
                                2,
                                3,
                                88.5,
                                0.41421357,
                                largest,
                                inf,
                                std::numeric_limits<double>::quiet_NaN()};
  const std::vector<double> positive = values;
  for (const double value : positive) values.push_back(-value);
  return values;
}

/// Specials in every combination, then random bits, then numbers of everyday size.
std::vector<HostTensor> sample(const std::vector<DType>& dtypes) {
  std::mt19937 random(12345);
  std::vector<HostTensor> operands;
  for (const DType dtype : dtypes) {
    operands.emplace_back(TensorType{dtype, {static_cast<std::int64_t>(kElements)}});
  }
  for (std::size_t i = 0; i < kElements; ++i) {
    std::size_t combination = i;
    for (std::size_t operand = 0; operand < dtypes.size(); ++operand) {
      const DType dtype = dtypes[operand];
      const std::vector<double> special = specials(dtype);
      HostTensor& tensor = operands[operand];
      const std::uint32_t bits = static_cast<std::uint32_t>(random());
      const double everyday = (static_cast<double>(bits) - 2147483648.0) / 2147483648.0 * 12;
      if (i < 2000 && (dtypes.size() == 1 || dtypes.size() == 2)) {
        const double value = special[combination % special.size()];
        combination /= special.size();
        is_float(dtype) ? write_float(tensor, i, value)
                        : write_int(tensor, i, static_cast<std::int64_t>(value));
      } else if (i < 4000 || !is_float(dtype)) {
        write_bits(tensor, i, dtype == kI1 ? bits & 1 : bits);
      } else {
        write_float(tensor, i, everyday);
      }
    }
  }
  return operands;
}

std::vector<OpCase> uses(const OpDefinition& op) {
  std::vector<Attributes> attributes = {{}};
  std::vector<std::vector<TensorType>> declared = {{}};
  if (op.name == "stablehlo.compare") {
    attributes.clear();
    for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      attributes.push_back({{"comparison_direction", std::string(direction)}});
      attributes.push_back({{"comparison_direction", std::string(direction)},
                            {"compare_type", std::string("TOTALORDER")}});
    }
  }
  if (op.name == "stablehlo.reduce_precision") {
    attributes.clear();
    for (const auto& [exponent, fraction] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {5, 10}, {8, 7}, {4, 3}, {1, 0}, {8, 0}, {3, 30}}) {
      attributes.push_back({{"exponent_bits", exponent}, {"mantissa_bits", fraction}});
    }
  }
  if (op.name == "stablehlo.convert" || op.name == "stablehlo.bitcast_convert") {
    declared.clear();
    for (const DType to : kDTypes) {
      declared.push_back({{to, {static_cast<std::int64_t>(kElements)}}});
    }
  }
  std::vector<OpCase> all;
  for (const DType dtype : kDTypes) {
    for (const std::vector<DType>& dtypes :
         {std::vector<DType>{dtype}, std::vector<DType>{dtype, dtype},
          std::vector<DType>{dtype, dtype, dtype}, std::vector<DType>{kI1, dtype, dtype}}) {
      for (const Attributes& choice : attributes) {
        for (const std::vector<TensorType>& types : declared) {
          all.push_back({std::string(op.name),
                         std::string(name_of(dtype)),
                         sample(dtypes),
                         choice,
                         {},
                         tolerance(op.name, dtype),
                         {},
                         types});
        }
      }
    }
  }
  return all;
}

class Agreement : public ::testing::TestWithParam<const OpDefinition*> {};

TEST_P(Agreement, OfLoweringAndReferenceOnEveryDType) {
  const OpDefinition& op = *GetParam();
  std::set<std::string> taken;
  for (const OpCase& use : uses(op)) {
    Graph graph;
    try {
      graph = graph_of(use);
    } catch (const UserError&) {
      continue;
    }
    taken.insert(use.what);
    const HostTensor reference = evaluate(graph, use.operands)[0];
    const HostTensor lowered = run_lowering(graph.ops()[0], graph, use.operands)[0];
    EXPECT_TRUE(close(lowered, reference, use.ulp)) << op.name << " on " << use.what;
  }
  EXPECT_FALSE(taken.empty());
}

// All uses of an op are one program, so that bow runs it once.
TEST_P(Agreement, OfMachinesAndReferenceOnEveryDType) {
  Graph graph;
  std::vector<ValueId> results;
  std::vector<HostTensor> arguments, expected;
  std::vector<OpCase> taken;
  for (OpCase& use : uses(*GetParam())) {
    try {
      expected.push_back(evaluate(graph_of(use), use.operands)[0]);
    } catch (const UserError&) {
      continue;
    }
    Op op;
    op.definition = GetParam();
    op.attributes = use.attributes;
    op.declared = use.declared;
    for (HostTensor& operand : use.operands) {
      op.operands.push_back(graph.add_argument(operand.type, "x"));
      arguments.push_back(operand);
    }
    results.push_back(graph.add_op(std::move(op)).results[0]);
    taken.push_back(std::move(use));
  }
  graph.set_results(std::move(results));
  for (const char* machine : {"tiny4", "bow"}) {
    const std::vector<HostTensor> found = run_on(machine, graph, arguments);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(close(found[i], expected[i], taken[i].ulp)) << taken[i].what << " on " << machine;
    }
  }
}

std::vector<const OpDefinition*> elementwise_ops() {
  std::vector<const OpDefinition*> ops;
  for (const OpDefinition* op : all_ops()) {
    if (std::holds_alternative<ElementwiseLowering>(*op->lowerings.begin())) ops.push_back(op);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Ops, Agreement, ::testing::ValuesIn(elementwise_ops()),
                         [](const auto& info) {
                           std::string name(info.param->name);
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

std::string dtypes_taken(const std::string& op, std::size_t operands) {
  std::string taken;
  for (const DType dtype : kAllDTypes) {
    const std::vector<HostTensor> zeros(operands, HostTensor({dtype, {2}}));
    OpCase use{op, "", zeros, {}, {}, 0, {}};
    try {
      static_cast<void>(graph_of(use));
      taken += std::string(name_of(dtype)) + " ";
    } catch (const UserError&) {
    }
  }
  return taken;
}

const std::string kNarrowFloats =
    "f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3B11FNUZ f8E4M3FN f8E4M3FNUZ f8E5M2 f8E5M2FNUZ "
    "f8E8M0FNU ";

// The tables of docs/spec.md of openxla/stablehlo.
TEST(OpDTypes, AreThoseOfTheSpecification) {
  EXPECT_EQ(dtypes_taken("stablehlo.add", 2),
            "i1 i8 i16 i32 i64 ui8 ui16 ui32 ui64 bf16 f16 f32 f64 complex<f32> complex<f64> i2 i4 "
            "ui2 ui4 " +
                kNarrowFloats);
  EXPECT_EQ(dtypes_taken("stablehlo.subtract", 2),
            "i8 i16 i32 i64 ui8 ui16 ui32 ui64 bf16 f16 f32 f64 complex<f32> complex<f64> i2 i4 "
            "ui2 ui4 " +
                kNarrowFloats);
  EXPECT_EQ(dtypes_taken("stablehlo.abs", 1),
            "i8 i16 i32 i64 bf16 f16 f32 f64 complex<f32> complex<f64> i2 i4 " + kNarrowFloats);
  EXPECT_EQ(dtypes_taken("stablehlo.and", 2),
            "i1 i8 i16 i32 i64 ui8 ui16 ui32 ui64 i2 i4 ui2 ui4 ");
  EXPECT_EQ(dtypes_taken("stablehlo.shift_left", 2),
            "i8 i16 i32 i64 ui8 ui16 ui32 ui64 i2 i4 ui2 ui4 ");
  EXPECT_EQ(dtypes_taken("stablehlo.tanh", 1),
            "bf16 f16 f32 f64 complex<f32> complex<f64> " + kNarrowFloats);
  EXPECT_EQ(dtypes_taken("stablehlo.popcnt", 1),
            "i8 i16 i32 i64 ui8 ui16 ui32 ui64 i2 i4 ui2 ui4 ");
}

}  // namespace
}  // namespace superstep
