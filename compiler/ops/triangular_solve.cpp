#include "compiler/ops/triangular_solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;
using Transpose = TriangularSystem::Transpose;

TriangularSystem system_of(const Op& op) {
  TriangularSystem system{attribute<bool>(op, "left_side"), attribute<bool>(op, "lower"),
                          attribute<bool>(op, "unit_diagonal")};
  const std::string& transpose = attribute<std::string>(op, "transpose_a");
  if (transpose == "TRANSPOSE") {
    system.transpose = Transpose::kTranspose;
  } else if (transpose == "ADJOINT") {
    system.transpose = Transpose::kAdjoint;
  } else if (transpose != "NO_TRANSPOSE") {
    malformed(op, fmt::format("transpose_a is {}, expected NO_TRANSPOSE, TRANSPOSE or ADJOINT",
                              transpose));
  }
  return system;
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType &a = operands[0], &b = operands[1];
  const TriangularSystem system = system_of(op);
  const std::size_t rank = a.shape.size();
  bool fits = rank >= 2 && b.shape.size() == rank && a.dtype == b.dtype &&
              a.shape[rank - 2] == a.shape[rank - 1];
  fits = fits && std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin()) &&
         b.shape[system.is_left ? rank - 2 : rank - 1] == a.shape.back();
  if (!fits) {
    malformed(op, fmt::format("the operands are {} and {}, expected square matrices and {} of as "
                              "many {}",
                              a.text(), b.text(), system.is_left ? "columns" : "rows", "elements"));
  }
  return {b};
}

/// Substitution: of `x`, element after element of one unknown vector.
void substitute(const TriangularSystem& system, const HostTensor& a, std::size_t first,
                std::size_t n, std::vector<Complex>& x) {
  const bool swaps = (system.transpose != Transpose::kNone) == system.is_left;
  const auto at = [&](std::size_t i, std::size_t k) {
    const Complex element = read_number(a, first + (swaps ? k * n + i : i * n + k));
    return system.transpose == Transpose::kAdjoint ? std::conj(element) : element;
  };
  const bool is_forward = system.is_lower != swaps;
  for (std::size_t step = 0; step < n; ++step) {
    const std::size_t i = is_forward ? step : n - 1 - step;
    for (std::size_t before = 0; before < step; ++before) {
      const std::size_t k = is_forward ? before : n - 1 - before;
      x[i] -= at(i, k) * x[k];
    }
    if (!system.has_unit_diagonal) x[i] /= at(i, i);
  }
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& a = operands[0];
  HostTensor result = operands[1];
  if (result.type.elements() == 0) return {std::move(result)};
  const TriangularSystem system = system_of(op);
  const auto n = static_cast<std::size_t>(a.type.shape.back());
  const auto columns = static_cast<std::size_t>(result.type.shape.back());
  const std::size_t vectors =
      system.is_left ? columns : static_cast<std::size_t>(*(result.type.shape.end() - 2));
  const auto elements = static_cast<std::size_t>(result.type.elements());
  std::vector<Complex> x(n);
  for (std::size_t batch = 0; batch * n * vectors < elements; ++batch) {
    for (std::size_t v = 0; v < vectors; ++v) {
      const auto place = [&](std::size_t i) {
        return batch * n * vectors + (system.is_left ? i * columns + v : v * columns + i);
      };
      for (std::size_t i = 0; i < n; ++i) x[i] = read_number(result, place(i));
      substitute(system, a, batch * n * n, n, x);
      for (std::size_t i = 0; i < n; ++i) write_number(result, place(i), x[i]);
    }
  }
  return {std::move(result)};
}

std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  return {triangular_solve(operands[0], operands[1], system_of(op))};
}

Tensor padded(Tensor x, std::int64_t rows, std::int64_t columns) {
  if (rows == 0 && columns == 0) return x;
  return pad(x, x.builder->number(x.dtype(), 0), {0, 0, 0}, {0, rows, columns}, {0, 0, 0});
}

/// The blocks on the diagonal of lower triangular matrices: [batch * blocks, size, size].
Tensor diagonal_blocks(Tensor a, std::int64_t size) {
  const std::int64_t batch = a.shape()[0], blocks = a.shape()[1] / size;
  std::vector<Tensor> all;
  for (std::int64_t k = 0; k < blocks; ++k) {
    all.push_back(reshape(block_of(a, k * size, size, k * size, size), {batch, 1, size, size}));
  }
  return reshape(concatenate(all, 1), {batch * blocks, size, size});
}

/// Lower triangular L, or its transpose, or conjugates of either.
struct Way {
  bool transposes, conjugates;

  [[nodiscard]] Tensor of(Tensor x) const {
    if (transposes) x = transposed(x);
    return conjugates ? conjugate(x) : x;
  }
};

/// Block substitution, forward with L and backward with its transpose: the inverse of a block gives
/// its rows of X, and the rows that are left lose their product. All blocks are inverted at once,
/// and alike for every way, so that equal ones are merged.
Tensor substituted(Tensor a, Tensor b, const Way& way) {
  const std::int64_t batch = a.shape()[0], n = a.shape()[1], columns = b.shape()[2];
  const std::int64_t size = block_size(n), blocks = (n + size - 1) / size;
  const std::int64_t missing = blocks * size - n;
  a = padded(a, missing, missing);
  Tensor rest = padded(b, missing, 0);
  if (missing > 0) {
    const Tensor row = a.builder->iota({DType::kI32, a.shape()}, 1);
    const Tensor is_added = row > static_cast<double>(n - 1);
    a = select(where_row_is("EQ", a) & is_added, a.like(1), a);
  }
  const Tensor diagonal = diagonal_of(a);
  // Columns by the diagonal, which becomes ones.
  const Tensor own = diagonal_blocks(a, size);
  const Tensor pivots = transposed(along_rows(diagonal_of(own), size));
  const Tensor unit = select(where_row_is("EQ", own), own.like(1), own / pivots);
  const Tensor inverses = reshape(inverse_of_lower(eliminated(unit)), {batch, blocks * size, size});
  const Tensor divisors = along_rows(way.conjugates ? conjugate(diagonal) : diagonal, columns);
  std::vector<Tensor> rows;
  for (std::int64_t left = blocks - 1; left >= 0; --left) {
    const std::int64_t first = (way.transposes ? left : blocks - 1 - left) * size;
    const std::int64_t at = way.transposes ? left * size : 0;
    const Tensor block = way.of(block_of(a, first, size, first, size));
    const Tensor inverse = way.of(block_of(inverses, first, size, 0, size));
    const Tensor divisor = block_of(divisors, first, size, 0, columns);
    const Tensor solved = solved_twice(
        block_of(rest, at, size, 0, columns),
        [&](Tensor right) {
          return way.transposes ? product(inverse, right / divisor)
                                : product(inverse, right) / divisor;
        },
        [&](Tensor x) { return product(block, x); });
    rows.insert(way.transposes ? rows.begin() : rows.end(), solved);
    if (left == 0) break;
    const Tensor factor = way.transposes ? block_of(a, first, size, 0, left * size)
                                         : block_of(a, first + size, left * size, first, size);
    rest = block_of(rest, way.transposes ? 0 : size, left * size, 0, columns) -
           product(way.of(factor), solved);
  }
  return block_of(concatenate(rows, 1), 0, n, 0, columns);
}

}  // namespace

// All systems become L X = B or L^T X = B with lower triangular L: X A = B by transposing it.
Tensor triangular_solve(Tensor a, Tensor b, const TriangularSystem& system) {
  const DType dtype = b.dtype();
  const Shape shape = b.shape();
  if (b.type().elements() == 0) return b;
  if (is_short_float(dtype)) {
    return convert(triangular_solve(convert(a, DType::kF32), convert(b, DType::kF32), system),
                   dtype);
  }
  a = batched(a);
  b = batched(b);
  if (!system.is_lower) a = transposed(a);
  if (!system.is_left) b = transposed(b);
  const Tensor diagonal = system.has_unit_diagonal ? a.like(1) : a;
  a = select(where_row_is("GT", a), a, select(where_row_is("EQ", a), diagonal, a.like(0)));
  const bool is_transposed = system.transpose != Transpose::kNone;
  const Way way{(is_transposed == system.is_left) == system.is_lower,
                system.transpose == Transpose::kAdjoint};
  const Tensor x = substituted(a, b, way);
  return reshape(system.is_left ? x : transposed(x), shape);
}

const OpDefinition kTriangularSolveOp{
    .name = "stablehlo.triangular_solve",
    .summary = "X of A X = B or X A = B for a triangular A.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kFloats | kComplex, kFloats | kComplex}},
    .attributes = "left_side lower unit_diagonal transpose_a",
};

}  // namespace superstep
