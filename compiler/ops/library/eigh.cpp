// Eigenvalues and vectors of Hermitian matrices.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <numeric>
#include <string>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/jacobi.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

/// Which triangle is read, and whether values ascend.
struct Choice {
  bool is_lower, sorts;
};

// (a) to (vectors, values, info)

Choice choice_of_syevd(const Op& op) {
  const std::int64_t mode = setting(op, "mode");
  if (mode != 'V' && mode != 'N') {
    malformed(op, fmt::format("mode is {}, expected 78 or 86 (N, V)", mode));
  }
  return {setting(op, "uplo") == 'L', true};
}

std::vector<TensorType> infer_syevd(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_square(op, a);
  choice_of_syevd(op);
  return {a, of_batch(a, real_of(a.dtype), {a.shape.back()}), info_type(a)};
}

// (a) to (vectors, values), with a backend_config of "lower,sort,sweeps,tolerance"

Choice choice_of_eigh(const Op& op) {
  const std::string& text = attribute<std::string>(op, "backend_config");
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) {
    malformed(op, fmt::format("its backend_config is \"{}\", expected \"lower,sort,…\"", text));
  }
  const auto is_set = [&](std::size_t at) { return at < text.size() && text[at] == '1'; };
  return {is_set(0), is_set(comma + 1)};
}

std::vector<TensorType> infer_eigh(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_square(op, a);
  choice_of_eigh(op);
  return {a, of_batch(a, real_of(a.dtype), {a.shape.back()})};
}

/// Jacobi's rotations, one pair after the other, until nothing is left beside the diagonal: the
/// values are there then, and the vectors are the columns of `v`.
void diagonalize(HostMatrix& a, HostMatrix& v) {
  const std::size_t n = a.rows;
  constexpr int kSweeps = 60;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double beside = 0, all = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        all += std::norm(a.at(i, k));
        if (i != k) beside += std::norm(a.at(i, k));
      }
    }
    if (!(beside > 1e-34 * all)) return;
    for (std::size_t p = 0; p + 1 < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double size = std::abs(a.at(p, q));
        if (size == 0) continue;
        const double angle = 0.5 * std::atan2(2 * size, a.at(q, q).real() - a.at(p, p).real());
        const double c = std::cos(angle);
        const Complex s = std::sin(angle) * a.at(p, q) / size;
        for (std::size_t i = 0; i < n; ++i) {
          for (HostMatrix* matrix : {&a, &v}) {
            const Complex x = matrix->at(i, p), y = matrix->at(i, q);
            matrix->at(i, p) = c * x - std::conj(s) * y;
            matrix->at(i, q) = s * x + c * y;
          }
        }
        for (std::size_t k = 0; k < n; ++k) {
          const Complex x = a.at(p, k), y = a.at(q, k);
          a.at(p, k) = c * x - s * y;
          a.at(q, k) = std::conj(s) * x + c * y;
        }
      }
    }
  }
}

std::vector<HostTensor> evaluate(const Choice& choice, const HostTensor& operand,
                                 std::span<const TensorType> types) {
  std::vector<HostTensor> results(types.begin(), types.end());
  const auto n = static_cast<std::size_t>(operand.type.shape.back());
  for (std::size_t number = 0; number < matrices_in(operand.type); ++number) {
    HostMatrix a(operand, number), v(n, n), sorted(n, n);
    for (std::size_t i = 0; i < n; ++i) {
      v.at(i, i) = 1;
      a.at(i, i) = a.at(i, i).real();
      for (std::size_t k = 0; k < i; ++k) {
        (choice.is_lower ? a.at(k, i) : a.at(i, k)) =
            std::conj(choice.is_lower ? a.at(i, k) : a.at(k, i));
      }
    }
    const bool is_finite = std::ranges::all_of(a.elements, [](const Complex& x) {
      return std::isfinite(x.real()) && std::isfinite(x.imag());
    });
    diagonalize(a, v);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    if (choice.sorts && is_finite) {
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return a.at(i, i).real(); });
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double nothing = is_finite ? 0 : std::nan("");
      write_float(results[1], number * n + k, a.at(order[k], order[k]).real() + nothing);
      for (std::size_t i = 0; i < n; ++i) sorted.at(i, k) = v.at(i, order[k]) + nothing;
    }
    sorted.write_to(results[0], number);
  }
  return results;
}

std::vector<HostTensor> evaluate_syevd(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> types = {operands[0].type};
  return evaluate(choice_of_syevd(op), operands[0], infer_syevd(op, types));
}
std::vector<HostTensor> evaluate_eigh(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> types = {operands[0].type};
  return evaluate(choice_of_eigh(op), operands[0], infer_eigh(op, types));
}

/// The vectors and the values.
std::vector<Tensor> expanded(const Choice& choice, Tensor operand,
                             std::span<const TensorType> types) {
  GraphBuilder& builder = *operand.builder;
  if (operand.type().elements() == 0) {
    return {operand, builder.constant(HostTensor(types[1]))};
  }
  const Tensor a = batched(operand);
  const Tensor other = conjugate(transposed(a));
  const Tensor whole = choice.is_lower ? select(where_row_is("GE", a), a, other)
                                       : select(where_row_is("LE", a), a, other);
  // The diagonal is real.
  const Tensor on_diagonal = with_dtype(real_part(a), a.dtype());
  const Eigen result =
      eigen(is_complex(a.dtype()) ? select(where_row_is("EQ", a), on_diagonal, whole) : whole,
            choice.sorts);
  return {reshape(transposed(conjugate(result.adjoint_vectors)), types[0].shape),
          reshape(result.values, types[1].shape)};
}

std::vector<Tensor> expand_syevd(GraphBuilder& builder, const Op& op,
                                 std::span<const Tensor> operands) {
  const std::vector<TensorType> types = {operands[0].type()};
  const std::vector<TensorType> result_types = infer_syevd(op, types);
  std::vector<Tensor> results = expanded(choice_of_syevd(op), operands[0], result_types);
  results.push_back(builder.constant(HostTensor(result_types[2])));
  return results;
}
std::vector<Tensor> expand_eigh(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const std::vector<TensorType> types = {operands[0].type()};
  return expanded(choice_of_eigh(op), operands[0], infer_eigh(op, types));
}

}  // namespace

const LibraryFunction kSyevd{infer_syevd, evaluate_syevd, expand_syevd};
const LibraryFunction kEigh{infer_eigh, evaluate_eigh, expand_eigh};

}  // namespace superstep
