#include "compiler/ops/cholesky.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "compiler/import/parser.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

bool is_lower(const Op& op) {
  return op.attributes.contains("lower") && attribute<bool>(op, "lower");
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const Shape& shape = operands[0].shape;
  if (shape.size() < 2 || shape[shape.size() - 2] != shape.back()) {
    malformed(op, fmt::format("the operand is {}, expected square matrices", operands[0].text()));
  }
  is_lower(op);
  return {operands[0]};
}

/// A matrix on the host and its factor (Cholesky-Banachiewicz).
struct HostFactor {
  std::size_t n;
  std::vector<Complex> l;
  std::size_t first_unfit = 0;  ///< the number of a pivot, from 1

  /// Of the matrix at element `first`.
  HostFactor(const HostTensor& a, std::size_t first, bool lower)
      : n(static_cast<std::size_t>(a.type.shape.back())), l(n * n) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k <= i; ++k) {
        Complex sum = lower ? read_number(a, first + i * n + k)
                            : std::conj(read_number(a, first + k * n + i));
        for (std::size_t j = 0; j < k; ++j) sum -= l[i * n + j] * std::conj(l[k * n + j]);
        if (i == k && first_unfit == 0 && !(sum.real() > 0)) first_unfit = i + 1;
        l[i * n + k] = i == k ? Complex(std::sqrt(sum.real())) : sum / l[k * n + k];
      }
    }
  }
};

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  HostTensor result = operands[0];
  if (result.type.elements() == 0) return {std::move(result)};
  const bool lower = is_lower(op);
  const auto n = static_cast<std::size_t>(result.type.shape.back());
  for (std::size_t first = 0; first < static_cast<std::size_t>(result.type.elements());
       first += n * n) {
    const HostFactor factor(operands[0], first, lower);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        const Complex value = lower ? factor.l[i * n + k] : std::conj(factor.l[k * n + i]);
        write_number(result, first + i * n + k, factor.first_unfit == 0 ? value : std::nan(""));
      }
    }
  }
  return {std::move(result)};
}

Tensor real_part(Tensor x) { return is_complex(x.dtype()) ? x.builder->apply(kRealOp, {x}) : x; }
Tensor with_dtype(Tensor real, DType dtype) {
  if (!is_complex(dtype)) return real;
  return real.builder->apply(kComplexOp, {real, real.like(0)});
}

std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const auto [factor, pivots] = cholesky(operands[0], is_lower(op));
  if (factor.type().elements() == 0) return {factor};
  const Tensor is_positive = superstep::reduce(pivots > 0.0, pivots.builder->number(DType::kI1, 1),
                                               {1}, [](Tensor a, Tensor b) { return a & b; });
  const Shape shape = factor.shape();
  const Shape leading(shape.begin(), shape.end() - 2);
  const Tensor is_right =
      broadcast(reshape(is_positive, leading), shape, all_dimensions(leading.size()));
  const Tensor none = with_dtype(real_part(factor).like(std::nan("")), factor.dtype());
  return {select(is_right, factor, none)};
}

// `%a, lower = true : type`
void parse(import::Parser& parser, import::SyntaxOp& op, int) {
  op.operands = {parser.parse_value()};
  if (parser.accept(',')) {
    if (!parser.accept_word("lower")) parser.fail("expected `lower`, found " + parser.found());
    parser.expect('=', "behind `lower`");
    parser.add_attribute(op, "lower", parser.parse_attribute(0));
  }
  parser.add_optional_dictionary(op);
  parser.parse_types(op);
}

}  // namespace

std::int64_t first_unfit_pivot(const HostTensor& a, std::size_t first, bool lower) {
  return static_cast<std::int64_t>(HostFactor(a, first, lower).first_unfit);
}

// A = L D L^H by elimination of block columns, right-looking: what is right of and below a block
// loses the product of the block's own column with itself.
CholeskyFactor cholesky(Tensor a, bool lower) {
  const DType dtype = a.dtype();
  const Shape shape = a.shape();
  if (a.type().elements() == 0) return {a, a};
  if (is_short_float(dtype)) {
    const auto [factor, pivots] = cholesky(convert(a, DType::kF32), lower);
    return {convert(factor, dtype), pivots};
  }
  Tensor rest = batched(a);
  const std::int64_t batch = rest.shape()[0], n = shape.back();
  // Of the other triangle nothing is read.
  const Tensor turned = conjugate(transposed(rest));
  rest = select(where_row_is("GE", rest), lower ? rest : turned, lower ? turned : rest);
  std::vector<Tensor> columns, pivots;
  for (std::int64_t first = 0; first < n; first += block_size(n)) {
    const std::int64_t size = std::min(block_size(n), n - first), below = n - first - size;
    const Tensor block = eliminated(block_of(rest, 0, size, 0, size));
    const Tensor pivot = real_part(diagonal_of(block));
    pivots.push_back(pivot);
    const Tensor roots = along_rows(with_dtype(sqrt(pivot), dtype), size);
    const Tensor upper = select(where_row_is("LE", block), block / roots, block.like(0));
    std::vector<Tensor> parts;
    if (first > 0)
      parts.push_back(rest.builder->constant(HostTensor({dtype, {batch, first, size}})));
    parts.push_back(conjugate(transposed(upper)));
    if (below > 0) {
      const Tensor inverse = conjugate(transposed(inverse_of_lower(block) / roots));
      const Tensor panel = solved_twice(
          block_of(rest, size, below, 0, size), [&](Tensor b) { return product(b, inverse); },
          [&](Tensor x) { return product(x, upper); });
      parts.push_back(panel);
      rest =
          block_of(rest, size, below, size, below) - product(panel, conjugate(transposed(panel)));
    }
    columns.push_back(concatenate(parts, 1));
  }
  const Tensor factor = concatenate(columns, 2);
  return {reshape(lower ? factor : conjugate(transposed(factor)), shape), concatenate(pivots, 1)};
}

const OpDefinition kCholeskyOp{
    .name = "stablehlo.cholesky",
    .summary =
        "Triangular L of Hermitian A = L L^H, or U of U^H U; NaN where A is not positive "
        "definite.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kFloats | kComplex}},
    .syntax = {.parse = parse},
    .attributes = "lower",
};

}  // namespace superstep
