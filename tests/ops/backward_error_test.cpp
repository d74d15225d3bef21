// Factors and solutions of hard matrices, on a machine: no further from what defines them than ten
// times what LAPACK's are (lapack_errors.py).

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <tuple>
#include <utility>

#include "compiler/ops/elements.h"
#include "tests/ops/hard_matrices.h"
#include "tests/ops/host_algebra.h"
#include "tests/ops/on_machine.h"

namespace superstep {
namespace {

using enum DType;
using Complex = std::complex<double>;
using Results = std::vector<HostTensor>;

constexpr double kTimesLapack = 10;

class Lapack {
 public:
  Lapack() {
    std::ifstream file(SUPERSTEP_SOURCE_DIR "/tests/ops/lapack_errors.txt");
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string what, matrix;
      std::size_t rows = 0;
      double error = 0;
      if (words >> what >> matrix >> rows >> error) errors_[{what, matrix, rows}] = error;
    }
  }

  void expect(const std::string& what, const HardMatrix& hard, double error) const {
    const auto found = errors_.find({what, hard.name, hard.matrix.rows});
    ASSERT_NE(found, errors_.end()) << what << " of " << hard.name;
    EXPECT_LE(error, kTimesLapack * found->second)
        << what << " of " << hard.name << ", " << error / found->second << " times LAPACK's";
  }

 private:
  std::map<std::tuple<std::string, std::string, std::size_t>, double> errors_;
};

Results run(const OpCase& use) { return run_on("tiny4", graph_of(use), use.operands); }

double error_of_product(const HostMatrix& product, const HostMatrix& whole) {
  return distance(product, whole) / size_of(whole);
}

HostMatrix column(const HostMatrix& a, std::size_t k) {
  HostMatrix result(a.rows, 1);
  for (std::size_t i = 0; i < a.rows; ++i) result.at(i, 0) = a.at(i, k);
  return result;
}

/// Of the worst column, each of which is a system of its own.
double error_of_solution(const HostMatrix& a, const HostMatrix& x, const HostMatrix& b) {
  double worst = 0;
  for (std::size_t k = 0; k < x.columns; ++k) {
    const HostMatrix its_x = column(x, k);
    worst = std::max(worst, distance(times(a, its_x), column(b, k)) / size_of(its_x));
  }
  return worst / size_of(a);
}

/// What is on and above (or on and below) the diagonal.
HostMatrix triangle(HostMatrix a, bool is_lower) {
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.columns; ++k) {
      if (is_lower ? k > i : k < i) a.at(i, k) = 0;
    }
  }
  return a;
}

HostMatrix unit_lower(const HostMatrix& a) {
  HostMatrix result = triangle(a, true);
  for (std::size_t i = 0; i < a.rows; ++i) result.at(i, i) = 1;
  return result;
}

HostTensor of_all(const std::vector<HostMatrix>& matrices) {
  std::vector<HardMatrix> all;
  all.reserve(matrices.size());
  for (const HostMatrix& matrix : matrices) all.push_back({"", matrix});
  return as_tensor(all);
}

/// Solutions of op(A) X = B with triangular A.
HostTensor solved(const HostTensor& a, const HostTensor& b, bool is_lower, bool has_unit_diagonal,
                  bool transposes) {
  const OpCase use{"stablehlo.triangular_solve",
                   "",
                   {a, b},
                   {{"left_side", true},
                    {"lower", is_lower},
                    {"unit_diagonal", has_unit_diagonal},
                    {"transpose_a", std::string(transposes ? "TRANSPOSE" : "NO_TRANSPOSE")}},
                   {},
                   0,
                   {},
                   {b.type}};
  return run(use)[0];
}

/// Tests are of so many rows.
class BackwardError : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static std::size_t rows() { return GetParam(); }
  [[nodiscard]] static std::int64_t size() { return static_cast<std::int64_t>(GetParam()); }
  Lapack lapack;
};

TEST_P(BackwardError, OfCholesky) {
  const std::vector<HardMatrix> matrices = hard_positive_matrices(rows());
  const HostTensor a = as_tensor(matrices);
  const Results found =
      run({"stablehlo.cholesky", "", {a}, {{"lower", true}}, {}, 0, {}, {a.type}});
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const HostMatrix factor(found[0], i);
    lapack.expect("cholesky", matrices[i],
                  error_of_product(times(factor, factor.adjoint()), matrices[i].matrix));
  }
}

TEST_P(BackwardError, OfTriangularSystems) {
  const std::vector<HardMatrix> matrices = hard_triangular_matrices(rows());
  const HostMatrix side = sides_of_equations(rows());
  const HostTensor b = of_all(std::vector<HostMatrix>(matrices.size(), side));
  for (const bool is_lower : {true, false}) {
    for (const bool transposes : {false, true}) {
      std::vector<HostMatrix> triangles;
      for (const HardMatrix& hard : matrices) {
        triangles.push_back(is_lower ? hard.matrix : hard.matrix.adjoint());
      }
      const HostTensor x = solved(of_all(triangles), b, is_lower, false, transposes);
      const std::string what =
          std::string(is_lower ? "lower" : "upper") + (transposes ? "_transposed" : "");
      for (std::size_t i = 0; i < matrices.size(); ++i) {
        const HostMatrix whole = transposes ? triangles[i].adjoint() : triangles[i];
        lapack.expect(what, matrices[i],
                      error_of_solution(whole, HostMatrix(x, i), HostMatrix(b, i)));
      }
    }
  }
}

/// P B, by the numbers of the rows that were exchanged with each one.
HostMatrix exchanged(HostMatrix b, const std::vector<std::size_t>& pivots) {
  for (std::size_t k = 0; k < pivots.size(); ++k) {
    for (std::size_t j = 0; j < b.columns; ++j) std::swap(b.at(k, j), b.at(pivots[k], j));
  }
  return b;
}

std::vector<std::size_t> pivots_of(const HostTensor& pivots, std::size_t number) {
  const auto count = static_cast<std::size_t>(pivots.type.shape.back());
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < count; ++k) {
    result.push_back(static_cast<std::size_t>(read_int(pivots, number * count + k)) - 1);
  }
  return result;
}

/// By elimination in double, which is as good as exact beside f32; of all elements times `scale`.
Complex determinant(HostMatrix a, double scale) {
  Complex result = 1;
  for (std::size_t k = 0; k < a.rows; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < a.rows; ++i) {
      if (std::abs(a.at(i, k)) > std::abs(a.at(pivot, k))) pivot = i;
    }
    if (pivot != k) result = -result;
    for (std::size_t j = 0; j < a.rows; ++j) std::swap(a.at(k, j), a.at(pivot, j));
    result *= a.at(k, k) * scale;
    for (std::size_t i = k + 1; i < a.rows; ++i) {
      const Complex factor = a.at(i, k) / a.at(k, k);
      for (std::size_t j = k; j < a.rows; ++j) a.at(i, j) -= factor * a.at(k, j);
    }
  }
  return result;
}

Complex determinant_of(const HostMatrix& factors, const std::vector<std::size_t>& pivots,
                       double scale) {
  Complex result = 1;
  for (std::size_t k = 0; k < pivots.size(); ++k) {
    result *= scale * (pivots[k] == k ? factors.at(k, k) : -factors.at(k, k));
  }
  return result;
}

TEST_P(BackwardError, OfLuAndWhatIsSolvedWithIt) {
  std::vector<HardMatrix> matrices = hard_matrices(rows());
  const HostTensor a = as_tensor(matrices);
  const auto count = static_cast<std::int64_t>(matrices.size());
  const Results lu = run(library_call("lapack_sgetrf_ffi", "{}", {a},
                                      {a.type, {kI32, {count, size()}}, {kI32, {count}}}));
  std::vector<std::vector<std::size_t>> pivots;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const HostMatrix factors(lu[0], i), &whole = matrices[i].matrix;
    pivots.push_back(pivots_of(lu[1], i));
    lapack.expect("lu", matrices[i],
                  error_of_product(times(unit_lower(factors), triangle(factors, false)),
                                   exchanged(whole, pivots[i])));
    if (matrices[i].name == "rank_deficient") continue;
    const double scale = 1 / size_of(whole);
    const Complex exact = determinant(whole, scale);
    lapack.expect("determinant", matrices[i],
                  std::abs(determinant_of(factors, pivots[i], scale) - exact) / std::abs(exact));
  }
  for (const bool is_inverse : {false, true}) {
    const HostMatrix side = is_inverse ? identity(rows()) : sides_of_equations(rows());
    std::vector<HostMatrix> sides;
    sides.reserve(matrices.size());
    for (const auto& its_pivots : pivots) sides.push_back(exchanged(side, its_pivots));
    const HostTensor inner = solved(lu[0], of_all(sides), true, true, false);
    const HostTensor x = solved(lu[0], inner, false, false, false);
    const HostMatrix rounded_side(of_all({side}), 0);
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      if (matrices[i].name == "rank_deficient") continue;
      lapack.expect(is_inverse ? "inverse" : "solve", matrices[i],
                    error_of_solution(matrices[i].matrix, HostMatrix(x, i), rounded_side));
    }
  }
}

TEST_P(BackwardError, OfQr) {
  const std::vector<HardMatrix> matrices = hard_matrices(rows());
  const HostTensor a = as_tensor(matrices);
  const TensorType taus{kF32, {static_cast<std::int64_t>(matrices.size()), size()}};
  const Results packed = run(library_call("lapack_sgeqrf_ffi", "{}", {a}, {a.type, taus}));
  const Results found =
      run(library_call("lapack_sorgqr_ffi", "{}", {packed[0], packed[1]}, {a.type}));
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const HostMatrix q(found[0], i);
    lapack.expect(
        "qr", matrices[i],
        error_of_product(times(q, triangle(HostMatrix(packed[0], i), false)), matrices[i].matrix));
    lapack.expect("qr_orthogonality", matrices[i], error_of_orthogonality(q));
  }
}

TEST_P(BackwardError, OfEigenvectorsOfSymmetricMatrices) {
  const std::vector<HardMatrix> matrices = hard_symmetric_matrices(rows());
  const HostTensor a = as_tensor(matrices);
  const auto count = static_cast<std::int64_t>(matrices.size());
  const Results found = run(library_call("lapack_ssyevd_ffi", "{mode = 86 : ui8, uplo = 76 : ui8}",
                                         {a}, {a.type, {kF32, {count, size()}}, {kI32, {count}}}));
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const HostMatrix v(found[0], i);
    lapack.expect("eigh", matrices[i],
                  error_of_product(combined(v, found[1], i, v.adjoint()), matrices[i].matrix));
    lapack.expect("eigh_orthogonality", matrices[i], error_of_orthogonality(v));
  }
}

TEST_P(BackwardError, OfSingularVectors) {
  const std::vector<HardMatrix> matrices = hard_matrices(rows());
  const HostTensor a = as_tensor(matrices);
  const auto count = static_cast<std::int64_t>(matrices.size());
  const Results found =
      run(library_call("lapack_sgesdd_ffi", "{mode = 65 : ui8}", {a},
                       {a.type, {kF32, {count, size()}}, a.type, a.type, {kI32, {count}}}));
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const HostMatrix u(found[2], i), vh(found[3], i);
    lapack.expect("svd", matrices[i],
                  error_of_product(combined(u, found[1], i, vh), matrices[i].matrix));
    lapack.expect("svd_orthogonality", matrices[i],
                  std::max(error_of_orthogonality(u), error_of_orthogonality(vh.adjoint())));
  }
}

TEST_P(BackwardError, OfEigenvectors) {
  const std::vector<HardMatrix> matrices = hard_matrices(rows());
  const HostTensor a = as_tensor(matrices);
  const auto count = static_cast<std::int64_t>(matrices.size());
  const TensorType values{kF32, {count, size()}}, vectors{kC64, a.type.shape};
  const Results found =
      run(library_call("lapack_sgeev_ffi", "{compute_left = 86 : ui8, compute_right = 86 : ui8}",
                       {a}, {values, values, vectors, vectors, {kI32, {count}}}));
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    EXPECT_EQ(read_int(found[4], i), 0) << matrices[i].name;
    for (const bool is_left : {false, true}) {
      const HostMatrix v(found[is_left ? 2 : 3], i);
      HostMatrix scaled = v;
      for (std::size_t k = 0; k < rows(); ++k) {
        const Complex value(read_float(found[0], i * rows() + k),
                            read_float(found[1], i * rows() + k));
        for (std::size_t row = 0; row < rows(); ++row) {
          scaled.at(row, k) *= is_left ? std::conj(value) : value;
        }
      }
      const HostMatrix& whole = matrices[i].matrix;
      lapack.expect(is_left ? "eig_left" : "eig", matrices[i],
                    distance(times(is_left ? whole.adjoint() : whole, v), scaled) / size_of(whole));
    }
  }
}

TEST_P(BackwardError, OfSchurForms) {
  const std::vector<HardMatrix> matrices = hard_matrices(rows());
  const HostTensor a = as_tensor(matrices);
  const auto count = static_cast<std::int64_t>(matrices.size());
  const TensorType values{kF32, {count, size()}}, info{kI32, {count}};
  const Results found = run(library_call("lapack_sgees_ffi", "{mode = 86 : ui8, sort = 78 : ui8}",
                                         {a}, {a.type, a.type, values, values, info, info}));
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    EXPECT_EQ(read_int(found[5], i), 0) << matrices[i].name;
    const HostMatrix t(found[0], i), z(found[1], i);
    lapack.expect("schur", matrices[i],
                  error_of_product(times(times(z, t), z.adjoint()), matrices[i].matrix));
    lapack.expect("schur_orthogonality", matrices[i], error_of_orthogonality(z));
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, BackwardError, ::testing::Values(8, 16, 17, 24),
                         [](const auto& info) { return std::to_string(info.param) + "Rows"; });

}  // namespace
}  // namespace superstep
