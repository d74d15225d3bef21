#include "compiler/ops/fourier.h"

#include <complex>
#include <functional>
#include <vector>

#include "compiler/ops/elements.h"
#include "compiler/ops/host_fourier.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

/// Up to so many elements are one product with the matrix of the transform [assumed].
constexpr std::int64_t kShort = 64;
/// As many where the length is prime: a convolution in its place has more than twice the length
/// [assumed].
constexpr std::int64_t kShortPrime = 256;

Tensor real_part(Tensor x) { return x.builder->apply(kRealOp, {x}); }
Tensor imaginary_part(Tensor x) { return x.builder->apply(kImagOp, {x}); }
Tensor of_parts(Tensor real, Tensor imaginary) {
  return real.builder->apply(kComplexOp, {real, imaginary});
}
Tensor as_complex(Tensor x) { return is_complex(x.dtype()) ? x : of_parts(x, x.like(0)); }

/// A constant of two dimensions, or of the columns only where there is one row.
Tensor table(GraphBuilder& builder, DType dtype, std::int64_t rows, std::int64_t columns,
             const std::function<Complex(std::int64_t, std::int64_t)>& element) {
  HostTensor values(TensorType{dtype, {rows, columns}});
  std::size_t i = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      write_number(values, i++, element(row, column));
    }
  }
  return builder.constant(std::move(values));
}

/// A row of a table times the last two dimensions of `x`, in every batch.
Tensor times_table(Tensor x, Tensor table) { return x * broadcast(table, x.shape(), {1, 2}); }

Tensor product(Tensor x, Tensor matrix, std::int64_t contracted) {
  return dot_general(x, matrix, {{}, {}, {contracted}, {0}}, matrix.dtype());
}

/// Dimension `contracted` of `x` goes; the elements `columns` of its transform come last. They are
/// divided by the length if it is the inverse.
Tensor by_matrix(Tensor x, std::int64_t contracted, std::int64_t columns, bool inverse) {
  const std::int64_t n = x.shape()[static_cast<std::size_t>(contracted)];
  const double scale = inverse ? 1 / static_cast<double>(n) : 1;
  const auto root = [&](std::int64_t j, std::int64_t k) {
    return scale * root_of_unity((inverse ? 1 : -1) * (j * k % n), n);
  };
  GraphBuilder& builder = *x.builder;
  if (is_complex(x.dtype())) {
    return product(x, table(builder, x.dtype(), n, columns, root), contracted);
  }
  const Tensor real = table(builder, x.dtype(), n, columns, root);
  const Tensor imaginary =
      table(builder, x.dtype(), n, columns,
            [&](std::int64_t j, std::int64_t k) { return Complex(root(j, k).imag()); });
  return of_parts(product(x, real, contracted), product(x, imaginary, contracted));
}

/// The largest divisor of `n` that is not above its root.
std::int64_t divisor_of(std::int64_t n) {
  std::int64_t divisor = 1;
  for (std::int64_t i = 2; i * i <= n; ++i) {
    if (n % i == 0) divisor = i;
  }
  return divisor;
}

bool is_short(std::int64_t n) { return n <= kShort || (n <= kShortPrime && divisor_of(n) == 1); }

/// The first length from `least` on without prime factors above 5.
std::int64_t smooth_length(std::int64_t least) {
  for (std::int64_t n = least;; ++n) {
    std::int64_t rest = n;
    for (const std::int64_t factor : {2, 3, 5}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return n;
  }
}

Tensor of_rows(Tensor x, bool inverse);

/// Rows as matrices of `first` rows: their columns are transformed, then turned, then their rows
/// (Cooley and Tukey).
Tensor by_factors(Tensor x, std::int64_t first, bool inverse) {
  const std::int64_t batch = x.shape()[0], n = x.shape()[1], second = n / first;
  const Tensor matrices = reshape(x, {batch, first, second});
  Tensor columns = matrices;
  if (is_short(first)) {
    columns = by_matrix(matrices, 1, first, inverse);
  } else {
    const Tensor rows = reshape(transpose(matrices, {0, 2, 1}), {batch * second, first});
    columns = reshape(of_rows(rows, inverse), {batch, second, first});
  }
  const Tensor turns = table(
      *x.builder, columns.dtype(), second, first,
      [&](std::int64_t j, std::int64_t k) { return root_of_unity((inverse ? 1 : -1) * j * k, n); });
  columns = times_table(columns, turns);
  if (is_short(second)) {
    // [batch, first, second] with the elements of the transform last.
    columns = by_matrix(columns, 1, second, inverse);
  } else {
    const Tensor rows = reshape(transpose(columns, {0, 2, 1}), {batch * first, second});
    columns = reshape(of_rows(rows, inverse), {batch, first, second});
  }
  return reshape(transpose(columns, {0, 2, 1}), {batch, n});
}

/// As a convolution with exp(i pi j^2 / n) of a length that has factors (Bluestein).
Tensor by_convolution(Tensor x, bool inverse) {
  const std::int64_t batch = x.shape()[0], n = x.shape()[1];
  const std::int64_t length = smooth_length(2 * n - 1);
  const std::int64_t sign = inverse ? 1 : -1;
  const auto chirp = [&](std::int64_t j) { return root_of_unity(sign * (j * j % (2 * n)), 2 * n); };
  std::vector<Complex> filter(static_cast<std::size_t>(length));
  for (std::int64_t j = 0; j < n; ++j) {
    filter[static_cast<std::size_t>(j)] = std::conj(chirp(j));
    filter[static_cast<std::size_t>((length - j) % length)] = std::conj(chirp(j));
  }
  filter = host_fourier(filter, false);
  GraphBuilder& builder = *x.builder;
  const Tensor complex = as_complex(x);
  const auto times_row = [&](Tensor rows, const std::function<Complex(std::int64_t)>& element) {
    const std::int64_t columns = rows.shape()[1];
    const Tensor row = table(builder, rows.dtype(), 1, columns,
                             [&](std::int64_t, std::int64_t k) { return element(k); });
    return rows * broadcast(reshape(row, {columns}), rows.shape(), {1});
  };
  const Tensor turned = times_row(complex, chirp);
  const Tensor padded =
      pad(turned, builder.number(turned.dtype(), 0), {0, 0}, {0, length - n}, {0, 0});
  const Tensor filtered = times_row(
      of_rows(padded, false), [&](std::int64_t k) { return filter[static_cast<std::size_t>(k)]; });
  const Tensor convolved = window(of_rows(filtered, true), {0, 0}, {batch, n});
  const double scale = inverse ? 1 / static_cast<double>(n) : 1;
  return times_row(convolved, [&](std::int64_t k) { return scale * chirp(k); });
}

/// Of [batch, n].
Tensor of_rows(Tensor x, bool inverse) {
  const std::int64_t n = x.shape()[1];
  if (n == 1) return as_complex(x);
  if (is_short(n)) return by_matrix(x, 1, n, inverse);
  const std::int64_t divisor = divisor_of(n);
  return divisor == 1 ? by_convolution(x, inverse) : by_factors(x, divisor, inverse);
}

/// [batch, n].
Tensor rows_of(Tensor x) {
  const std::int64_t n = x.shape().back();
  return reshape(x, {x.type().elements() / n, n});
}

Tensor with_last(Tensor rows, Shape shape, std::int64_t last) {
  shape.back() = last;
  return reshape(rows, std::move(shape));
}

}  // namespace

Tensor fourier(Tensor x, bool inverse) {
  return with_last(of_rows(rows_of(x), inverse), x.shape(), x.shape().back());
}

Tensor half_fourier(Tensor x) {
  const Tensor rows = rows_of(x);
  const std::int64_t batch = rows.shape()[0], n = rows.shape()[1], half = n / 2 + 1;
  const Tensor first = n > 1 && is_short(n) ? by_matrix(rows, 1, half, false)
                                            : window(of_rows(rows, false), {0, 0}, {batch, half});
  return with_last(first, x.shape(), half);
}

Tensor from_half_fourier(Tensor x, std::int64_t n) {
  const Tensor rows = rows_of(x);
  const std::int64_t batch = rows.shape()[0], half = rows.shape()[1];
  const Tensor real = real_part(rows);
  // Elements that stand for themselves and for a conjugate.
  const std::int64_t pairs = (n - 1) / 2;
  if (n == 1) return with_last(real, x.shape(), n);
  const Shape inner = {batch, pairs};
  GraphBuilder& builder = *x.builder;
  if (is_short(n)) {
    // Real parts by cosines, then the imaginary parts of pairs by sines.
    const Tensor roots =
        table(builder, real.dtype(), half + pairs, n, [&](std::int64_t row, std::int64_t j) {
          const bool is_real = row < half;
          const std::int64_t k = is_real ? row : row - half + 1;
          const Complex root = root_of_unity(j * k, n) / static_cast<double>(n);
          const double weight = k == 0 || 2 * k == n ? 1 : 2;
          return Complex(weight * (is_real ? root.real() : -root.imag()));
        });
    std::vector<Tensor> parts = {real};
    if (pairs > 0) parts.push_back(window(imaginary_part(rows), {0, 1}, inner));
    const Tensor sum = product(concatenate(parts, 1), roots, 1);
    return with_last(sum, x.shape(), n);
  }
  const Tensor zero = builder.number(real.dtype(), 0);
  const Tensor imaginary =
      pad(window(imaginary_part(rows), {0, 1}, inner), zero, {0, 1}, {0, half - 1 - pairs}, {0, 0});
  const auto mirrored = [&](Tensor part) { return reverse(window(part, {0, 1}, inner), {1}); };
  const std::vector<Tensor> reals = {real, mirrored(real)};
  const std::vector<Tensor> imaginaries = {imaginary, -mirrored(imaginary)};
  const Tensor whole = of_parts(concatenate(reals, 1), concatenate(imaginaries, 1));
  return with_last(real_part(of_rows(whole, true)), x.shape(), n);
}

}  // namespace superstep
