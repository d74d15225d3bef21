// Q R by Householder's reflections, and products with Q.

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/host_householder.h"
#include "compiler/ops/library/householder.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

std::int64_t rows_of(const TensorType& type) { return type.shape[type.shape.size() - 2]; }
std::int64_t columns_of(const TensorType& type) { return type.shape.back(); }

// (a) to (R and reflectors, taus)

std::vector<TensorType> infer_geqrf(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_matrices(op, a);
  return {a, of_batch(a, a.dtype, {std::min(rows_of(a), columns_of(a))})};
}

std::vector<HostTensor> evaluate_geqrf(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> types = {operands[0].type};
  const std::vector<TensorType> results = infer_geqrf(op, types);
  HostTensor packed(results[0]), all_taus(results[1]);
  for (std::size_t number = 0; number < matrices_in(types[0]); ++number) {
    HostMatrix a(operands[0], number);
    const std::vector<Complex> taus = host_householder(a);
    a.write_to(packed, number);
    for (std::size_t k = 0; k < taus.size(); ++k) {
      write_number(all_taus, number * taus.size() + k, taus[k]);
    }
  }
  return {std::move(packed), std::move(all_taus)};
}

std::vector<Tensor> expand_geqrf(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const std::vector<TensorType> types = {operands[0].type()};
  const std::vector<TensorType> results = infer_geqrf(op, types);
  const Reflectors factors = householder_factors(transposed(batched(operands[0])));
  return {reshape(transposed(factors.packed), results[0].shape),
          reshape(factors.taus, results[1].shape)};
}

/// The operands of what follows from reflectors.
void require_reflectors(const Op& op, const TensorType& packed, const TensorType& taus) {
  require_matrices(op, packed);
  const std::int64_t count = taus.shape.empty() ? 0 : taus.shape.back();
  require_type(op, taus, of_batch(packed, packed.dtype, {count}));
  if (count <= std::min(rows_of(packed), columns_of(packed))) return;
  malformed(op, fmt::format("there are {} reflectors in {}", count, packed.text()));
}

std::vector<Complex> taus_of(const HostTensor& taus, std::size_t number) {
  const auto count = static_cast<std::size_t>(taus.type.shape.back());
  std::vector<Complex> result;
  for (std::size_t k = 0; k < count; ++k) result.push_back(read_number(taus, number * count + k));
  return result;
}

Reflectors reflectors_of(Tensor packed, Tensor taus) {
  const Tensor rows = transposed(batched(packed));
  return {rows, reshape(taus, {rows.shape()[0], taus.shape().back()})};
}

// (reflectors, taus) to the first columns of Q

std::vector<TensorType> infer_orgqr(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 2);
  require_reflectors(op, operands[0], operands[1]);
  if (rows_of(operands[0]) < columns_of(operands[0])) {
    malformed(op, fmt::format("{} has more columns than rows", operands[0].text()));
  }
  return {operands[0]};
}

std::vector<HostTensor> evaluate_orgqr(const Op&, std::span<const HostTensor> operands) {
  HostTensor result(operands[0].type);
  for (std::size_t number = 0; number < matrices_in(result.type); ++number) {
    const HostMatrix packed(operands[0], number);
    HostMatrix q(packed.rows, packed.columns);
    for (std::size_t k = 0; k < q.columns; ++k) q.at(k, k) = 1;
    host_reflect(packed, taus_of(operands[1], number), false, q);
    q.write_to(result, number);
  }
  return {std::move(result)};
}

std::vector<Tensor> expand_orgqr(GraphBuilder& builder, const Op&,
                                 std::span<const Tensor> operands) {
  const Reflectors reflectors = reflectors_of(operands[0], operands[1]);
  const Shape shape = reflectors.packed.shape();
  const Tensor start = identity(builder, operands[0].dtype(), shape[0], shape[1], shape[2]);
  return {reshape(transposed(reflected(reflectors, start, false)), operands[0].shape())};
}

// (reflectors, taus, C) to op(Q) C or C op(Q)

struct Side {
  bool is_left, transposes;
};
Side side_of(const Op& op) { return {setting(op, "left") != 0, setting(op, "transpose") != 0}; }

std::vector<TensorType> infer_ormqr(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 3);
  require_reflectors(op, operands[0], operands[1]);
  const TensorType& c = operands[2];
  require_matrices(op, c);
  const bool is_left = side_of(op).is_left;
  const bool fits = c.dtype == operands[0].dtype && batch_of(c) == batch_of(operands[0]) &&
                    (is_left ? rows_of(c) : columns_of(c)) == rows_of(operands[0]);
  if (!fits) {
    malformed(op, fmt::format("the operands are {} and {}, whose product is not defined",
                              operands[0].text(), c.text()));
  }
  return {c};
}

std::vector<HostTensor> evaluate_ormqr(const Op& op, std::span<const HostTensor> operands) {
  const Side side = side_of(op);
  const bool is_left = side.is_left, is_adjoint = side.transposes == is_left;
  HostTensor result(operands[2].type);
  for (std::size_t number = 0; number < matrices_in(result.type); ++number) {
    const HostMatrix c(operands[2], number);
    // C Q is the adjoint of Q^H C^H.
    HostMatrix product = is_left ? c : c.adjoint();
    host_reflect(HostMatrix(operands[0], number), taus_of(operands[1], number), is_adjoint,
                 product);
    (is_left ? product : product.adjoint()).write_to(result, number);
  }
  return {std::move(result)};
}

std::vector<Tensor> expand_ormqr(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const Side side = side_of(op);
  const bool is_left = side.is_left, is_adjoint = side.transposes == is_left;
  const Reflectors reflectors = reflectors_of(operands[0], operands[1]);
  const Tensor c = batched(operands[2]);
  // What is reflected is given as its transpose, which for C^H is the conjugate of C.
  const Tensor product = reflected(reflectors, is_left ? transposed(c) : conjugate(c), is_adjoint);
  return {reshape(is_left ? transposed(product) : conjugate(product), operands[2].shape())};
}

}  // namespace

const LibraryFunction kGeqrf{infer_geqrf, evaluate_geqrf, expand_geqrf};
const LibraryFunction kOrgqr{infer_orgqr, evaluate_orgqr, expand_orgqr};
const LibraryFunction kOrmqr{infer_ormqr, evaluate_ormqr, expand_ormqr};

}  // namespace superstep
