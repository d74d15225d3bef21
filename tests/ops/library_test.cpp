// Factors of random matrices: reference, lowering and a machine give what they are defined by.

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include "compiler/ops/elements.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/host_householder.h"
#include "tests/ops/host_algebra.h"
#include "tests/ops/on_machine.h"

namespace superstep {
namespace {

using enum DType;
using Complex = std::complex<double>;
using Results = std::vector<HostTensor>;

HostTensor random_matrices(DType dtype, std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  HostTensor tensor(TensorType{dtype, {2, rows, columns}});
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.type.elements()); ++i) {
    const double real = normal(random);
    write_number(tensor, i, Complex(real, normal(random)));
  }
  return tensor;
}

void expect_orthogonal(const HostMatrix& q, double bound) {
  EXPECT_LT(error_of_orthogonality(q), bound);
}

/// Checks what reference, lowering and, for small matrices, a machine give.
template <class Check>
void check_all(const OpCase& use, const Check& check) {
  const Graph graph = graph_of(use);
  {
    SCOPED_TRACE("reference");
    check(evaluate(graph, use.operands));
  }
  {
    SCOPED_TRACE("lowering");
    check(evaluate_split(graph, use.operands));
  }
  // Programs of complex<f64> take long.
  const TensorType& type = use.operands[0].type;
  if (type.elements() > 100 || type.dtype == kC128) return;
  SCOPED_TRACE("tiny4");
  check(run_on("tiny4", graph, use.operands));
}

/// Of two ways, whose results are the same but for rounding.
void expect_close_to_reference(const OpCase& use, double bound) {
  const Results expected = evaluate(graph_of(use), use.operands);
  check_all(use, [&](const Results& found) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      double difference = 0, size = 0;
      for (std::size_t e = 0; e < static_cast<std::size_t>(found[i].type.elements()); ++e) {
        if (!is_float(found[i].type.dtype) && !is_complex(found[i].type.dtype)) {
          EXPECT_EQ(read_int(found[i], e), read_int(expected[i], e));
          continue;
        }
        difference += std::norm(read_number(found[i], e) - read_number(expected[i], e));
        size += std::norm(read_number(expected[i], e));
      }
      EXPECT_LE(std::sqrt(difference), bound * std::sqrt(size)) << "result " << i;
    }
  });
}

struct Matrices {
  DType dtype;
  std::int64_t rows, columns;

  [[nodiscard]] std::int64_t least() const { return std::min(rows, columns); }
  [[nodiscard]] HostTensor random() const { return random_matrices(dtype, rows, columns); }
  [[nodiscard]] std::string function(const std::string& real, const std::string& complex) const {
    const bool is_double = dtype == kF64 || dtype == kC128;
    return "lapack_" +
           (is_real() ? (is_double ? "d" : "s") + real : (is_double ? "z" : "c") + complex) +
           "_ffi";
  }
  [[nodiscard]] bool is_real() const { return !is_complex(dtype); }
  [[nodiscard]] DType real() const { return real_of(dtype); }
  /// Some times what the arithmetic is wrong by.
  [[nodiscard]] double bound() const { return real() == kF64 ? 1e-14 : 3e-6; }
  [[nodiscard]] TensorType type(std::int64_t m, std::int64_t n) const { return {dtype, {2, m, n}}; }
};

class Library : public ::testing::TestWithParam<Matrices> {};

TEST_P(Library, QrIsAProductOfReflectors) {
  const Matrices& matrices = GetParam();
  const HostTensor a = matrices.random();
  const TensorType taus{matrices.dtype, {2, matrices.least()}};
  const OpCase factor =
      library_call(matrices.function("geqrf", "geqrf"), "{}", {a}, {a.type, taus});
  expect_close_to_reference(factor, matrices.bound());
  const Results factors = evaluate(graph_of(factor), factor.operands);
  const HostTensor c = random_matrices(matrices.dtype, matrices.rows, 3);
  const HostTensor d = random_matrices(matrices.dtype, 2, matrices.rows);
  for (const char* way : {"false", "true"}) {
    const std::string name = matrices.function("ormqr", "unmqr");
    const std::string transpose = std::string(", transpose = ") + way + "}";
    expect_close_to_reference(
        library_call(name, "{left = true" + transpose, {factors[0], factors[1], c}, {c.type}),
        matrices.bound());
    expect_close_to_reference(
        library_call(name, "{left = false" + transpose, {factors[0], factors[1], d}, {d.type}),
        matrices.bound());
  }
  if (matrices.rows < matrices.columns) return;
  const OpCase product =
      library_call(matrices.function("orgqr", "ungqr"), "{}", {factors[0], factors[1]}, {a.type});
  expect_close_to_reference(product, matrices.bound());
  check_all(product, [&](const Results& found) {
    for (std::size_t number = 0; number < 2; ++number) {
      const HostMatrix q(found[0], number);
      HostMatrix r(factors[0], number);
      r.rows = r.columns;
      r.elements.resize(r.rows * r.columns);
      for (std::size_t i = 0; i < r.rows; ++i) {
        for (std::size_t k = 0; k < i; ++k) r.at(i, k) = 0;
      }
      expect_orthogonal(q, matrices.bound());
      const HostMatrix whole(a, number);
      EXPECT_LT(distance(times(q, r), whole), matrices.bound() * size_of(whole));
    }
  });
}

TEST_P(Library, PivotedColumnsComeByTheirLength) {
  const Matrices& matrices = GetParam();
  const HostTensor a = matrices.random();
  const TensorType taus{matrices.dtype, {2, matrices.least()}};
  HostTensor first(TensorType{kI32, {2, matrices.columns}});
  for (const bool has_first : {false, true}) {
    if (has_first) write_int(first, static_cast<std::size_t>(matrices.columns) - 1, 1);
    const OpCase use = library_call(matrices.function("geqp3", "geqp3"), "{}", {a, first},
                                    {a.type, first.type, taus});
    expect_close_to_reference(use, matrices.bound());
    const auto columns = static_cast<std::size_t>(matrices.columns);
    check_all(use, [&](const Results& found) {
      if (has_first) {
        EXPECT_EQ(read_int(found[1], 0), matrices.columns);
      }
      for (std::size_t number = 0; number < 2; ++number) {
        HostMatrix chosen(a, number), packed(found[0], number), r = packed;
        for (std::size_t k = 0; k < columns; ++k) {
          const auto from = static_cast<std::size_t>(read_int(found[1], number * columns + k) - 1);
          ASSERT_LT(from, columns);
          const HostMatrix whole(a, number);
          for (std::size_t i = 0; i < whole.rows; ++i) chosen.at(i, k) = whole.at(i, from);
          for (std::size_t i = k + 1; i < r.rows; ++i) r.at(i, k) = 0;
        }
        std::vector<Complex> all;
        const auto count = static_cast<std::size_t>(matrices.least());
        for (std::size_t k = 0; k < count; ++k) {
          all.push_back(read_number(found[2], number * count + k));
        }
        host_reflect(packed, all, false, r);
        EXPECT_LT(distance(r, chosen), matrices.bound() * size_of(chosen));
        for (std::size_t k = has_first ? 2 : 1; k < count; ++k) {
          EXPECT_LE(std::abs(packed.at(k, k)),
                    std::abs(packed.at(k - 1, k - 1)) * (1 + matrices.bound()));
        }
      }
    });
  }
}

TEST_P(Library, LuHasThePivotsOfItsColumns) {
  const Matrices& matrices = GetParam();
  const HostTensor a = matrices.random();
  const TensorType pivots{kI32, {2, matrices.least()}}, order{kI32, {2, matrices.rows}};
  expect_close_to_reference(
      library_call(matrices.function("getrf", "getrf"), "{}", {a}, {a.type, pivots, {kI32, {2}}}),
      matrices.bound());
  expect_close_to_reference(library_call("LuDecomposition", "", {a}, {a.type, pivots, order}),
                            matrices.bound());
}

/// Q H Q^H of H on and above the first subdiagonal, and of the reflectors below it.
HostMatrix turned_back(const HostMatrix& packed, const HostTensor& taus, std::size_t number,
                       double bound) {
  const std::size_t n = packed.rows;
  HostMatrix reflectors(n - 1, n - 1), h = packed;
  std::vector<Complex> its_taus;
  for (std::size_t k = 0; k + 1 < n; ++k) {
    its_taus.push_back(read_number(taus, number * (n - 1) + k));
    for (std::size_t i = 0; i + 1 < n; ++i) reflectors.at(i, k) = packed.at(i + 1, k);
    for (std::size_t i = k + 2; i < n; ++i) h.at(i, k) = 0;
  }
  HostMatrix inner = identity(n - 1), q = identity(n);
  host_reflect(reflectors, its_taus, false, inner);
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t k = 1; k < n; ++k) q.at(i, k) = inner.at(i - 1, k - 1);
  }
  expect_orthogonal(q, bound);
  return times(times(q, h), q.adjoint());
}

TEST_P(Library, HessenbergMatricesAreSimilar) {
  const Matrices& matrices = GetParam();
  const std::int64_t n = matrices.rows;
  if (n != matrices.columns) return;
  const HostTensor a = matrices.random();
  const TensorType taus{matrices.dtype, {2, n - 1}}, info{kI32, {2}};
  const std::string config = "{high = " + std::to_string(n) + " : i32, low = 1 : i32}";
  check_all(library_call(matrices.function("gehrd", "gehrd"), config, {a}, {a.type, taus, info}),
            [&](const Results& found) {
              for (std::size_t number = 0; number < 2; ++number) {
                const HostMatrix whole(a, number), packed(found[0], number);
                EXPECT_LT(distance(turned_back(packed, found[1], number, matrices.bound()), whole),
                          matrices.bound() * size_of(whole));
              }
            });
}

TEST_P(Library, TridiagonalMatricesAreSimilar) {
  const Matrices& matrices = GetParam();
  const std::int64_t n = matrices.rows;
  if (n != matrices.columns) return;
  const HostTensor a = matrices.random();
  const TensorType taus{matrices.dtype, {2, n - 1}}, info{kI32, {2}};
  const auto size = static_cast<std::size_t>(n);
  // The upper triangle as if it were the lower one, with all in the opposite order.
  for (const bool is_upper : {false, true}) {
    const auto ordered = [&](HostMatrix matrix) {
      if (is_upper) std::ranges::reverse(matrix.elements);
      return matrix;
    };
    const OpCase use = library_call(
        matrices.function("sytrd", "hetrd"), is_upper ? "{uplo = 85 : ui8}" : "{uplo = 76 : ui8}",
        {a}, {a.type, {matrices.real(), {2, n}}, {matrices.real(), {2, n - 1}}, taus, info});
    check_all(use, [&](const Results& found) {
      for (std::size_t number = 0; number < 2; ++number) {
        HostMatrix whole = ordered(HostMatrix(a, number)),
                   packed = ordered(HostMatrix(found[0], number));
        HostTensor its_taus(taus);
        for (std::size_t k = 0; k + 1 < size; ++k) {
          const std::size_t from = is_upper ? size - 2 - k : k;
          write_number(its_taus, number * (size - 1) + k,
                       read_number(found[3], number * (size - 1) + from));
        }
        for (std::size_t i = 0; i < size; ++i) {
          whole.at(i, i) = whole.at(i, i).real();
          const std::size_t place = is_upper ? size - 1 - i : i;
          EXPECT_EQ(packed.at(i, i), Complex(read_float(found[1], number * size + place)));
          for (std::size_t k = i + 1; k < size; ++k) {
            EXPECT_EQ(packed.at(i, k), whole.at(i, k)) << "the other triangle stays";
            whole.at(i, k) = std::conj(whole.at(k, i));
            packed.at(i, k) = 0;
          }
          if (i == 0) continue;
          const std::size_t between = is_upper ? size - 1 - i : i - 1;
          const double beside = read_float(found[2], number * (size - 1) + between);
          EXPECT_EQ(packed.at(i, i - 1), Complex(beside));
          packed.at(i - 1, i) = beside;
        }
        EXPECT_LT(distance(turned_back(packed, its_taus, number, matrices.bound()), whole),
                  matrices.bound() * size_of(whole));
      }
    });
  }
}

TEST_P(Library, TridiagonalSystemsHaveSolutions) {
  const Matrices& matrices = GetParam();
  const std::int64_t n = matrices.rows;
  HostTensor diagonals = random_matrices(matrices.dtype, 3 * n, 1);
  const HostTensor b = matrices.random();
  std::vector<HostTensor> operands(3, HostTensor(TensorType{matrices.dtype, {2, n}}));
  for (std::size_t operand = 0; operand < 3; ++operand) {
    const auto count = static_cast<std::size_t>(2 * n);
    for (std::size_t i = 0; i < count; ++i) {
      write_number(operands[operand], i, read_number(diagonals, operand * count + i));
    }
  }
  const TensorType diagonal = operands[0].type;
  operands.push_back(b);
  const OpCase use = library_call(matrices.function("gtsv", "gtsv"), "{}", operands,
                                  {diagonal, diagonal, diagonal, b.type, {kI32, {2}}});
  const auto size = static_cast<std::size_t>(n);
  check_all(use, [&](const Results& found) {
    for (std::size_t number = 0; number < 2; ++number) {
      const auto at = [&](std::size_t operand, std::size_t i) {
        return read_number(operands[operand], number * size + i);
      };
      const HostMatrix x(found[3], number), sides(b, number);
      HostMatrix whole(size, size);
      for (std::size_t i = 0; i < size; ++i) {
        whole.at(i, i) = at(1, i);
        if (i > 0) whole.at(i, i - 1) = at(0, i);
        if (i + 1 < size) whole.at(i, i + 1) = at(2, i);
      }
      EXPECT_LT(distance(times(whole, x), sides), matrices.bound() * size_of(whole) * size_of(x));
      EXPECT_EQ(read_int(found[4], number), 0);
    }
  });
}

TEST_P(Library, EigenvectorsDiagonalize) {
  const Matrices& matrices = GetParam();
  if (matrices.rows != matrices.columns) return;
  HostTensor a = matrices.random();
  for (std::size_t number = 0; number < 2; ++number) {
    HostMatrix matrix(a, number);
    const HostMatrix other = matrix.adjoint();
    for (std::size_t i = 0; i < matrix.elements.size(); ++i)
      matrix.elements[i] += other.elements[i];
    matrix.write_to(a, number);
  }
  for (const char* triangle : {"76", "85"}) {
    const std::string config = std::string("{mode = 86 : ui8, uplo = ") + triangle + " : ui8}";
    const OpCase use = library_call(matrices.function("syevd", "heevd"), config, {a},
                                    {a.type, {matrices.real(), {2, matrices.rows}}, {kI32, {2}}});
    check_all(use, [&](const Results& found) {
      for (std::size_t number = 0; number < 2; ++number) {
        const HostMatrix v(found[0], number), whole(a, number);
        expect_orthogonal(v, matrices.bound());
        EXPECT_LT(distance(combined(v, found[1], number, v.adjoint()), whole),
                  matrices.bound() * size_of(whole));
        for (std::size_t k = 1; k < v.columns; ++k) {
          EXPECT_LE(read_float(found[1], number * v.columns + k - 1),
                    read_float(found[1], number * v.columns + k));
        }
      }
    });
  }
}

TEST_P(Library, EigenvectorsOfAnyMatrixAreScaled) {
  const Matrices& matrices = GetParam();
  const std::int64_t n = matrices.rows;
  if (n != matrices.columns) return;
  const HostTensor a = matrices.random();
  const bool is_real = matrices.is_real();
  const DType complex = complex_of(matrices.real());
  const TensorType values{matrices.dtype, {2, n}}, vectors{complex, a.type.shape}, info{kI32, {2}};
  std::vector<TensorType> types = {values, vectors, vectors, info};
  if (is_real) types.insert(types.begin(), values);
  const OpCase use =
      library_call(matrices.function("geev", "geev"),
                   "{compute_left = 86 : ui8, compute_right = 86 : ui8}", {a}, types);
  const auto size = static_cast<std::size_t>(n);
  check_all(use, [&](const Results& found) {
    for (std::size_t number = 0; number < 2; ++number) {
      const auto value = [&](std::size_t k) {
        const Complex real = read_number(found[0], number * size + k);
        return is_real ? Complex(real.real(), read_float(found[1], number * size + k)) : real;
      };
      for (const bool is_left : {true, false}) {
        // A left vector u of a value is one of the adjoint matrix, of the conjugate.
        HostMatrix whole(a, number);
        if (is_left) whole = whole.adjoint();
        const HostMatrix v(found[types.size() - (is_left ? 3 : 2)], number);
        HostMatrix scaled = v;
        for (std::size_t k = 0; k < size; ++k) {
          double length = 0;
          for (std::size_t i = 0; i < size; ++i) {
            length += std::norm(v.at(i, k));
            scaled.at(i, k) *= is_left ? std::conj(value(k)) : value(k);
            if (is_real && value(k).imag() == 0) {
              EXPECT_EQ(v.at(i, k).imag(), 0);
            }
          }
          EXPECT_NEAR(length, 1, matrices.bound());
          if (!is_real || value(k).imag() <= 0) continue;
          ASSERT_LT(k + 1, size);
          EXPECT_EQ(value(k + 1), std::conj(value(k)));
          for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(v.at(i, k + 1), std::conj(v.at(i, k)));
        }
        EXPECT_LT(distance(times(whole, v), scaled), matrices.bound() * size_of(whole))
            << (is_left ? "left" : "right");
      }
    }
    EXPECT_EQ(read_int(found.back(), 0), 0);
  });
}

/// Whether T is triangular but for blocks of two rows with equal elements on the diagonal, which
/// are those of the pairs among its values.
void expect_blocks(const HostMatrix& t, const std::vector<Complex>& values, double bound) {
  for (std::size_t i = 0; i < t.rows; ++i) {
    for (std::size_t k = 0; k + 1 < i; ++k) EXPECT_EQ(t.at(i, k), Complex(0));
    EXPECT_EQ(t.at(i, i), Complex(values[i].real()));
    const bool is_second = i > 0 && t.at(i, i - 1) != Complex(0);
    const bool is_first = i + 1 < t.rows && t.at(i + 1, i) != Complex(0);
    EXPECT_EQ(is_first || is_second, values[i].imag() != 0) << "row " << i;
    if (!is_second) continue;
    const double across = t.at(i, i - 1).real() * t.at(i - 1, i).real();
    EXPECT_EQ(values[i], std::conj(values[i - 1]));
    EXPECT_GT(values[i - 1].imag(), 0);
    EXPECT_NEAR(across, -values[i].imag() * values[i].imag(), bound * size_of(t) * size_of(t));
  }
}

TEST_P(Library, SchurFormsAreTriangular) {
  const Matrices& matrices = GetParam();
  if (matrices.rows != matrices.columns) return;
  const HostTensor a = matrices.random();
  const bool is_real = matrices.is_real();
  const TensorType info{kI32, {2}}, values{matrices.dtype, {2, matrices.rows}};
  std::vector<TensorType> types = {a.type, a.type, values, info, info};
  if (is_real) types.insert(types.begin() + 2, values);
  const OpCase use = library_call(matrices.function("gees", "gees"),
                                  "{mode = 86 : ui8, sort = 78 : ui8}", {a}, types);
  check_all(use, [&](const Results& found) {
    for (std::size_t number = 0; number < 2; ++number) {
      const HostMatrix whole(a, number), t(found[0], number), z(found[1], number);
      // A step of a real matrix has two shifts, and is two products as long.
      const double bound = (is_real ? 2 : 1) * matrices.bound();
      expect_orthogonal(z, bound);
      EXPECT_LT(distance(times(times(z, t), z.adjoint()), whole), bound * size_of(whole));
      std::vector<Complex> its_values;
      for (std::size_t i = 0; i < t.rows; ++i) {
        its_values.push_back(read_number(found[2], number * t.rows + i));
        if (is_real) its_values.back().imag(read_float(found[3], number * t.rows + i));
      }
      if (is_real) {
        expect_blocks(t, its_values, bound);
        continue;
      }
      for (std::size_t i = 0; i < t.rows; ++i) {
        EXPECT_EQ(t.at(i, i), its_values[i]);
        for (std::size_t k = 0; k < i; ++k) EXPECT_EQ(t.at(i, k), Complex(0));
      }
    }
  });
}

TEST_P(Library, SingularVectorsDiagonalize) {
  const Matrices& matrices = GetParam();
  HostTensor a = matrices.random();
  // Of the second matrix all rows are alike: its other values are 0, but not their vectors.
  const auto columns = static_cast<std::size_t>(matrices.columns);
  const std::size_t all = static_cast<std::size_t>(matrices.rows) * columns;
  for (std::size_t i = 0; i < all; ++i) write_number(a, all + i, read_number(a, i % columns));
  const std::int64_t m = matrices.rows, n = matrices.columns, k = matrices.least();
  for (const bool is_full : {true, false}) {
    const OpCase use = library_call(matrices.function("gesdd", "gesdd"),
                                    is_full ? "{mode = 65 : ui8}" : "{mode = 83 : ui8}", {a},
                                    {a.type,
                                     {matrices.real(), {2, k}},
                                     matrices.type(m, is_full ? m : k),
                                     matrices.type(is_full ? n : k, n),
                                     {kI32, {2}}});
    check_all(use, [&](const Results& found) {
      for (std::size_t number = 0; number < 2; ++number) {
        const HostMatrix u(found[2], number), vh(found[3], number), whole(a, number);
        expect_orthogonal(u, matrices.bound());
        expect_orthogonal(vh.adjoint(), matrices.bound());
        EXPECT_LT(distance(combined(u, found[1], number, vh), whole),
                  matrices.bound() * size_of(whole));
        const auto values = static_cast<std::size_t>(k);
        for (std::size_t i = 1; i < values; ++i) {
          EXPECT_GE(read_float(found[1], number * values + i - 1),
                    read_float(found[1], number * values + i));
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Library,
                         ::testing::Values(Matrices{kF32, 1, 1}, Matrices{kF32, 2, 2},
                                           Matrices{kF32, 7, 4}, Matrices{kF32, 3, 8},
                                           Matrices{kF32, 7, 7}, Matrices{kF32, 16, 16},
                                           Matrices{kC64, 4, 4}, Matrices{kC64, 5, 3},
                                           Matrices{kC64, 2, 5}, Matrices{kC64, 9, 9},
                                           Matrices{kF64, 4, 4}, Matrices{kF64, 5, 3},
                                           Matrices{kC128, 4, 4}, Matrices{kC128, 3, 4}),
                         [](const auto& info) {
                           return std::string(info.param.is_real() ? "f" : "c") +
                                  (info.param.dtype == kF32    ? "32_"
                                   : info.param.dtype == kC128 ? "128_"
                                                               : "64_") +
                                  std::to_string(info.param.rows) + "x" +
                                  std::to_string(info.param.columns);
                         });

}  // namespace
}  // namespace superstep
