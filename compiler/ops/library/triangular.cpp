// Factors of positive definite matrices and solutions of triangular systems, as LAPACK calls them.

#include <fmt/format.h>

#include <string>

#include "compiler/ops/cholesky.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/triangular_solve.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// The rest of the op as one without a name of its own would say it.
Op plain(const Op& op, const OpDefinition& definition, Attributes attributes) {
  Op call = op;
  call.definition = &definition;
  call.attributes = std::move(attributes);
  call.declared.clear();
  return call;
}

Op as_cholesky(const Op& op) {
  return plain(op, kCholeskyOp, {{"lower", setting(op, "uplo") == 'L'}});
}

std::vector<TensorType> infer_potrf(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const std::vector<TensorType> factor = kCholeskyOp.infer(as_cholesky(op), operands);
  return {factor[0], info_type(factor[0])};
}

std::vector<HostTensor> evaluate_potrf(const Op& op, std::span<const HostTensor> operands) {
  const TensorType& type = operands[0].type;
  HostTensor info(info_type(type));
  const auto n = static_cast<std::size_t>(type.shape.back());
  for (std::size_t i = 0; i < static_cast<std::size_t>(info.type.elements()); ++i) {
    write_int(info, i, first_unfit_pivot(operands[0], i * n * n, setting(op, "uplo") == 'L'));
  }
  return {kCholeskyOp.evaluate(as_cholesky(op), operands)[0], std::move(info)};
}

/// The number of the first pivot that is not above 0, from 1; 0 where there is none.
std::vector<Tensor> expand_potrf(GraphBuilder& builder, const Op& op,
                                 std::span<const Tensor> operands) {
  const auto [factor, pivots] = cholesky(operands[0], setting(op, "uplo") == 'L');
  const Shape info = info_type(factor.type()).shape;
  if (factor.type().elements() == 0)
    return {factor, builder.constant(HostTensor({DType::kI32, info}))};
  const Tensor number = builder.iota({DType::kI32, pivots.shape()}, 1) + 1.0;
  const double none = static_cast<double>(pivots.shape()[1] + 1);
  const Tensor first = superstep::reduce(select(pivots > 0.0, number.like(none), number),
                                         builder.number(DType::kI32, none), {1},
                                         [](Tensor a, Tensor b) { return minimum(a, b); });
  return {factor, reshape(select(first == none, first.like(0), first), info)};
}

Op as_triangular_solve(const Op& op) {
  const std::int64_t transpose = setting(op, "trans_x");
  const char* const name = transpose == 'N'   ? "NO_TRANSPOSE"
                           : transpose == 'T' ? "TRANSPOSE"
                                              : "ADJOINT";
  if (transpose != 'N' && transpose != 'T' && transpose != 'C') {
    malformed(op, fmt::format("trans_x is {}, expected 78, 84 or 67 (N, T, C)", transpose));
  }
  return plain(op, kTriangularSolveOp,
               {{"left_side", setting(op, "side") == 'L'},
                {"lower", setting(op, "uplo") == 'L'},
                {"unit_diagonal", setting(op, "diag") == 'U'},
                {"transpose_a", std::string(name)}});
}

std::vector<TensorType> infer_trsm(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 2);
  return kTriangularSolveOp.infer(as_triangular_solve(op), operands);
}
std::vector<HostTensor> evaluate_trsm(const Op& op, std::span<const HostTensor> operands) {
  return kTriangularSolveOp.evaluate(as_triangular_solve(op), operands);
}
std::vector<Tensor> expand_trsm(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands) {
  const Op rest = as_triangular_solve(op);
  return {builder.apply(kTriangularSolveOp, {operands[0], operands[1]}, rest)};
}

}  // namespace

const LibraryFunction kPotrf{infer_potrf, evaluate_potrf, expand_potrf};
const LibraryFunction kTrsm{infer_trsm, evaluate_trsm, expand_trsm};

}  // namespace superstep
