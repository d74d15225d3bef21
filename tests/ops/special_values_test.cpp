// Elementwise functions on tiles are as exact as docs/numerics.md says, by values of mpmath
// (special_values.py).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/ulp_error.h"

namespace superstep {
namespace {

using Real = long double;
/// The parts of operands and of the result, as a line of the file has them.
using Row = std::vector<Real>;

/// So many units in the last place: of f32, and of f64 for some rows, each of which takes long.
struct Bound {
  const char* op;
  double of_f32, of_f64;
  std::size_t every = 4;  ///< every so many-th row is for f64
  /// Below zero functions of f64 lose what their sums cancel.
  bool is_of_positive_f64 = false;
};

constexpr Bound kReal[] = {
    {"chlo.acos", 1.5, 0.51},
    {"chlo.acosh", 1.5, 0.51},
    {"chlo.asin", 1.5, 0.51},
    {"chlo.asinh", 1.5, 0.51},
    {"chlo.atan", 1.5, 0.51},
    {"chlo.atanh", 1.5, 0.51},
    {"chlo.bessel_i1e", 1.5, 2.3},
    {"chlo.cosh", 1.5, 0.51},
    {"chlo.digamma", 1.5, 2.3, 10, true},
    {"chlo.erf", 1.5, 0.51},
    {"chlo.erf_inv", 1.5, 1},
    {"chlo.erfc", 1.5, 1},
    {"chlo.lgamma", 1.5, 2.3, 10, true},
    {"chlo.polygamma", 1.5, 3, 25, true},
    {"chlo.sinh", 1.5, 0.51},
    {"chlo.tan", 1.5, 0.51},
    {"chlo.zeta", 1.5, 2.2, 20},
    {"stablehlo.atan2", 1.5, 0.51},
    {"stablehlo.cbrt", 1.5, 1},
    {"stablehlo.cosine", 1.5, 0.51},
    {"stablehlo.exponential", 0.51, 0.51},
    {"stablehlo.exponential_minus_one", 1.5, 0.51},
    {"stablehlo.log", 0.51, 0.51},
    {"stablehlo.log_plus_one", 1.5, 0.51},
    {"stablehlo.logistic", 0.51, 0.51},
    {"stablehlo.power", 1.5, 2.5},
    {"stablehlo.rsqrt", 0.51, 0.51},
    {"stablehlo.sine", 1.5, 0.51},
    {"stablehlo.tanh", 0.51, 0.51},
};

/// Of complex<f32>.
constexpr Bound kComplex[] = {
    {"chlo.acos", 2.5, 0},
    {"chlo.acosh", 2.5, 0},
    {"chlo.asin", 2.5, 0},
    {"chlo.asinh", 2.5, 0},
    {"chlo.atan", 2.5, 0},
    {"chlo.atanh", 2.5, 0},
    {"chlo.cosh", 2.5, 0},
    {"chlo.sinh", 2.5, 0},
    {"chlo.tan", 2.5, 0},
    {"stablehlo.cbrt", 2.5, 0},
    {"stablehlo.cosine", 2.5, 0},
    {"stablehlo.divide", 2.5, 0},
    {"stablehlo.exponential", 2.5, 0},
    {"stablehlo.exponential_minus_one", 2.5, 0},
    {"stablehlo.log", 2.5, 0},
    {"stablehlo.log_plus_one", 2.5, 0},
    {"stablehlo.logistic", 2.5, 0},
    {"stablehlo.multiply", 2.5, 0},
    {"stablehlo.power", 0.75, 0},
    {"stablehlo.rsqrt", 2.5, 0},
    {"stablehlo.sine", 2.5, 0},
    {"stablehlo.sqrt", 2.5, 0},
    {"stablehlo.tanh", 2.5, 0},
};

/// The numbers of f32 nearest to zeros, where pairs of f32 leave less of the result.
constexpr Bound kBesideZeros[] = {{"chlo.digamma", 2, 0}, {"chlo.polygamma", 17, 0}};

/// What the file has of an op.
std::vector<Row> rows_of(const std::string& op, std::size_t parts, const std::string& where) {
  std::istringstream lines(read_text_file(SUPERSTEP_SOURCE_DIR "/tests/ops/special_values.txt"));
  const std::string heading = "op " + op + " " + std::to_string(parts) + " " + where;
  std::vector<Row> rows;
  bool is_wanted = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("op ")) {
      is_wanted = line == heading;
    } else if (is_wanted) {
      std::istringstream words(line);
      Row& row = rows.emplace_back();
      for (std::string word; words >> word;) row.push_back(std::strtold(word.c_str(), nullptr));
    }
  }
  return rows;
}

/// On tiny4. Operands are numbers of f32 in any dtype.
HostTensor results_of(const std::string& op, DType dtype, const std::vector<Row>& rows) {
  const std::size_t parts = is_complex(dtype) ? 2 : 1;
  Graph graph;
  GraphBuilder builder(graph, {});
  std::vector<HostTensor> inputs;
  std::vector<Tensor> operands;
  for (std::size_t first = 0; first + parts < rows[0].size(); first += parts) {
    HostTensor& input =
        inputs.emplace_back(TensorType{dtype, {static_cast<std::int64_t>(rows.size())}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto real = static_cast<float>(rows[i][first]);
      if (parts == 2) {
        write_complex(input, i, {real, static_cast<float>(rows[i][first + 1])});
      } else {
        write_float(input, i, real);
      }
    }
    operands.push_back(builder.argument(input.type));
  }
  graph.set_results({builder.append(*find_op(op), operands)[0].id});
  return run_on("tiny4", graph, inputs)[0];
}

/// In units in the last place, of a complex number in that of its length.
template <class Float>
double error_of(const HostTensor& found, std::size_t i, const Row& row) {
  if (!is_complex(found.type.dtype)) return ulp_error(found.get<Float>(i), row.back());
  const std::complex<Real> exact(row[row.size() - 2], row.back());
  const Real off = std::abs(std::complex<Real>(read_complex(found, i)) - exact);
  const int exponent =
      std::max(std::ilogb(std::abs(exact)), std::numeric_limits<Float>::min_exponent - 1);
  return static_cast<double>(
      off / std::ldexp(Real{1}, exponent + 1 - std::numeric_limits<Float>::digits));
}

template <class Float>
void expect_near(const std::string& op, DType dtype, const std::vector<Row>& rows, double bound) {
  ASSERT_FALSE(rows.empty()) << op;
  const HostTensor found = results_of(op, dtype, rows);
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double error = error_of<Float>(found, i, rows[i]);
    if (!(error <= worst)) {
      worst = error;
      at = i;
    }
  }
  std::ostringstream row;
  row.precision(9);
  for (const Real number : rows[at]) row << " " << number;
  ::testing::Test::RecordProperty("ulp", std::to_string(worst) + " of" + row.str());
  EXPECT_LE(worst, bound) << op << " of" << row.str();
}

class SpecialValues : public ::testing::TestWithParam<Bound> {};

TEST_P(SpecialValues, OfF32AreWithinTheBound) {
  const auto& bound = GetParam();
  expect_near<float>(bound.op, DType::kF32, rows_of(bound.op, 1, "anywhere"), bound.of_f32);
}

TEST_P(SpecialValues, OfF64AreWithinTheBound) {
  const auto& bound = GetParam();
  const std::vector<Row> all = rows_of(bound.op, 1, "anywhere");
  std::vector<Row> rows;
  for (std::size_t i = 0; i < all.size(); i += bound.every) {
    const Real last = all[i][all[i].size() - 2];
    if (!bound.is_of_positive_f64 || last > 0) rows.push_back(all[i]);
  }
  expect_near<double>(bound.op, DType::kF64, rows, bound.of_f64);
}

class ComplexSpecialValues : public ::testing::TestWithParam<Bound> {};

TEST_P(ComplexSpecialValues, OfF32AreWithinTheBound) {
  const auto& bound = GetParam();
  expect_near<float>(bound.op, DType::kC64, rows_of(bound.op, 2, "anywhere"), bound.of_f32);
}

class ValuesBesideZeros : public ::testing::TestWithParam<Bound> {};

TEST_P(ValuesBesideZeros, OfF32AreWithinTheBound) {
  const auto& bound = GetParam();
  expect_near<float>(bound.op, DType::kF32, rows_of(bound.op, 1, "zeros"), bound.of_f32);
}

std::string name_of_case(const ::testing::TestParamInfo<Bound>& info) {
  const std::string op(info.param.op);
  return op.substr(op.find('.') + 1);
}
INSTANTIATE_TEST_SUITE_P(Functions, SpecialValues, ::testing::ValuesIn(kReal), name_of_case);
INSTANTIATE_TEST_SUITE_P(Functions, ComplexSpecialValues, ::testing::ValuesIn(kComplex),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Functions, ValuesBesideZeros, ::testing::ValuesIn(kBesideZeros),
                         name_of_case);

}  // namespace
}  // namespace superstep
