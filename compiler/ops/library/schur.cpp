#include "compiler/ops/library/schur.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/ops/elimination.h"
#include "compiler/ops/library/householder.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

/// Every so many steps the shifts are others, by 3/4 and -7/16 of elements below the diagonal,
/// should those of the last block go round in circles; so many steps for each row are the most
/// [LAPACK's lahqr: kexsh, dat1, dat2, itmax].
constexpr double kTurnsOfShifts = 10;
constexpr std::int64_t kStepsOfARow = 30;

double epsilon_of(DType dtype) { return std::ldexp(1.0, dtype == DType::kF64 ? -52 : -23); }

/// The largest index where a flag of [batch, count] is set; -1 where none is.
Tensor last_of(Tensor flags) {
  const Tensor index = indices_along(flags, 1);
  return superstep::reduce(select(flags, index, index.like(-1)),
                           flags.builder->number(DType::kI32, -1), {1},
                           [](Tensor a, Tensor b) { return maximum(a, b); });
}

/// Element `index` ([batch]) of vectors, 0 where there is none.
Tensor at(Tensor x, Tensor index) {
  const Tensor is_there = compare("EQ", indices_along(x, 1), spread(index, x, {0}));
  return sum(select(is_there, x, x.like(0)), {1});
}

/// The diagonal below (`below`) or above the main one.
Tensor beside_diagonal(Tensor x, bool below) {
  const std::int64_t n = x.shape()[1];
  return diagonal_of(block_of(x, below ? 1 : 0, n - 1, below ? 0 : 1, n - 1));
}

/// Which rows and columns a step is about.
struct Window {
  Tensor first, last;  ///< i32 [batch]
  Tensor is_empty;     ///< [batch]
};

/// The last block of T that is not done, by whether elements below the diagonal are there.
Window window_of(Tensor is_coupled, bool is_real) {
  const std::int64_t batch = is_coupled.shape()[0], count = is_coupled.shape()[1];
  const Tensor zero = is_coupled.builder->number(DType::kI32, 0);
  if (is_real && count < 2) {
    const Tensor none = broadcast(zero, {batch}, {});
    return {none, none - 1.0, compare("EQ", none, none)};
  }
  // Two in a row of real matrices: a block of two rows is done.
  const Tensor is_open = is_real ? window(is_coupled, {0, 0}, {batch, count - 1}) &
                                       window(is_coupled, {0, 1}, {batch, count - 1})
                                 : is_coupled;
  const Tensor open = last_of(is_open);
  const Tensor index = indices_along(is_coupled, 1);
  const Tensor is_cut = compare("EQ", is_coupled, is_coupled.like(0)) &
                        compare("LE", index, spread(open, index, {0}));
  return {last_of(is_cut) + 1.0, open + (is_real ? 2.0 : 1.0), open < 0.0};
}

/// What the first column of the window's product of H less its shifts is a multiple of, [batch, n];
/// 0 where the window is empty. The shifts are the eigenvalues of the last block of two rows, of
/// complex matrices that next to the last element.
Tensor first_column(Tensor h, const Window& window, Tensor turn) {
  const DType dtype = h.dtype();
  const Tensor before = window.last - 1.0, second = window.first + 1.0;
  const Tensor diagonal = diagonal_of(h), below = beside_diagonal(h, true);
  const Tensor above = beside_diagonal(h, false);
  const Tensor a = at(diagonal, before), d = at(diagonal, window.last);
  const Tensor c = at(below, before), across = at(above, before) * c;
  const Tensor top = at(diagonal, window.first), beside = at(below, window.first);
  const Tensor is_other = broadcast(
      turn.builder->apply(kRemainderOp, {turn, turn.like(kTurnsOfShifts)}) == kTurnsOfShifts - 1,
      a.shape(), {});
  const auto column = [&](Tensor one, Tensor two, Tensor three) {
    const Tensor index = indices_along(diagonal, 1);
    const auto placed = [&](Tensor place, Tensor value, Tensor others) {
      return select(compare("EQ", index, spread(place, index, {0})), spread(value, others, {0}),
                    others);
    };
    const Tensor found = placed(window.first, one,
                                placed(second, two, placed(second + 1.0, three, diagonal.like(0))));
    return select(spread(window.is_empty, found, {0}), found.like(0), found);
  };
  if (is_complex(dtype)) {
    const Tensor half = (a - d) / a.like(2);
    const Tensor root = sqrt(half * half + across);
    const Tensor plus = half + root, minus = half - root;
    const Tensor larger = select(compare("GE", abs(plus), abs(minus)), plus, minus);
    const Tensor is_zero = abs(larger) == 0.0;
    const Tensor quotient = across / select(is_zero, larger.like(1), larger);
    const Tensor near = d - select(is_zero, larger.like(0), quotient);
    const Tensor shift = select(is_other, d + with_dtype(abs(c), dtype), near);
    return column(top - shift, beside, top.like(0));
  }
  // (H - s)(H - t) e divided by the element below the diagonal.
  const Tensor size = abs(c) + abs(at(below, before - 1.0));
  const Tensor other = d + size * 0.75;
  const Tensor one = select(is_other, other, a) - top, two = select(is_other, other, d) - top;
  const Tensor removed = select(is_other, size * size * -0.4375, across);
  const Tensor divisor = select(window.is_empty, beside.like(1), beside);
  return column((one * two - removed) / divisor + at(above, window.first),
                at(diagonal, second) - top - one - two, at(below, second));
}

Tensor turned(Tensor q, Tensor h) { return product(product(conjugate(transposed(q)), h), q); }

/// One step for the last block that is not done: H, Z, its last row from 1 (0: all are done), turn.
std::vector<Tensor> step_of_schur(std::span<const Tensor> values) {
  const Tensor z = values[1], turn = values[3];
  const DType dtype = z.dtype();
  const bool is_real = !is_complex(dtype);
  const std::int64_t batch = z.shape()[0], n = z.shape()[1];
  Tensor h = values[0];
  const Tensor size = abs(diagonal_of(h)), below = abs(beside_diagonal(h, true));
  const Tensor around = window(size, {0, 0}, {batch, n - 1}) + window(size, {0, 1}, {batch, n - 1});
  const Tensor whole = sqrt(sum(square_of_size(h), {1, 2}));
  const double epsilon = epsilon_of(size.dtype());
  const Tensor least = (around + spread(whole, around, {0}) * epsilon) * epsilon;
  const Tensor is_coupled = compare("GT", below, least);
  // Elements that are next to nothing go.
  const Tensor kept = pad(is_coupled, h.builder->number(DType::kI1, 0), {0, 1}, {0, 0}, {0, 0});
  const Tensor is_below = compare("EQ", indices_along(h, 1), indices_along(h, 2) + 1.0);
  const Tensor is_gone = is_below & compare("EQ", spread(kept, h, {0, 1}), is_below.like(0));
  h = select(is_gone, h.like(0), h);

  const Window window = window_of(is_coupled, is_real);
  const Hessenberg next = hessenberg_behind(first_column(h, window, turn), window.first, h, z);
  const Tensor unfinished = select(window.is_empty, window.last.like(0), window.last + 1.0);
  return {next.h, next.z, unfinished, turn + 1.0};
}

}  // namespace

Schur schur(Tensor a) {
  const Shape shape = a.shape();
  const std::int64_t batch = shape[0], n = shape[1];
  GraphBuilder& builder = *a.builder;
  const Tensor ones = identity(builder, a.dtype(), batch, n, n);
  const Tensor none = builder.constant(HostTensor({DType::kI32, {batch}}));
  if (n == 1) return {a, ones, broadcast(builder.number(real_of(a.dtype()), 1), {batch}, {}), none};
  const Tensor scale = scale_of(a);
  a = divided_by_scale(a, scale);
  const Hessenberg form = hessenberg(a, ones);
  const std::vector<Tensor> start = {form.h, form.z, none + 1.0, builder.number(DType::kI32, 0)};
  const auto most = static_cast<double>(kStepsOfARow * std::max<std::int64_t>(n, 10));
  const std::vector<Tensor> end = repeat_while(
      start,
      [most](std::span<const Tensor> values) {
        const Tensor last =
            superstep::reduce(values[2], values[2].builder->number(DType::kI32, 0), {0},
                              [](Tensor x, Tensor y) { return maximum(x, y); });
        return (last > 0.0) & (values[3] < most);
      },
      step_of_schur);
  return {end[0], end[1], scale, end[2]};
}

Triangular triangular(const Schur& schur) {
  const DType real = schur.t.dtype();
  const Tensor diagonal = diagonal_of(schur.t);
  if (is_complex(real)) {
    return {schur.t, schur.z, real_part(diagonal), imaginary_part(diagonal)};
  }
  const DType dtype = complex_of(real);
  const Shape shape = schur.t.shape();
  const std::int64_t batch = shape[0], n = shape[1];
  const Tensor t = with_dtype(schur.t, dtype), z = with_dtype(schur.z, dtype);
  if (n == 1) return {t, z, diagonal, diagonal.like(0)};
  const Tensor a = window(diagonal, {0, 0}, {batch, n - 1});
  const Tensor d = window(diagonal, {0, 1}, {batch, n - 1});
  const Tensor b = beside_diagonal(schur.t, false), c = beside_diagonal(schur.t, true);
  const Tensor zero = a.like(0), one = a.like(1);
  const Tensor is_block = compare("NE", c, zero);
  // Both eigenvalues of each block of two rows: d + x, then d - b c / x, or a pair.
  const Tensor half = (a - d) * 0.5, inside = half * half + b * c;
  const Tensor is_pair = inside < 0.0;
  const Tensor root = sqrt(abs(inside));
  const Tensor x = select(half < 0.0, half - root, half + root);
  const Tensor is_zero = x == 0.0;
  const Tensor other = d - select(is_zero, zero, b * c / select(is_zero, one, x));
  const Tensor middle = (a + d) * 0.5;
  const Tensor first = select(is_pair, middle, d + x), second = select(is_pair, middle, other);
  const Tensor turn = select(is_pair, root, zero);
  // The vector of the first one, (first - d, c), and what is orthogonal to it.
  const Tensor top = of_parts(select(is_pair, half, x), turn, dtype);
  const Tensor length = sqrt(square_of_size(top) + c * c);
  const Tensor divisor = with_dtype(select(is_block, length, one), dtype);
  const Tensor upper = top / divisor, lower = with_dtype(c, dtype) / divisor;

  const auto placed = [](Tensor values, std::int64_t low) {
    return pad(values, values.builder->number(values.dtype(), 0), {0, low}, {0, 1 - low}, {0, 0});
  };
  const Tensor begins = placed(is_block, 0), ends = placed(is_block, 1);
  const auto by_place = [&](Tensor at_begin, Tensor at_end, Tensor alone) {
    return select(begins, placed(at_begin, 0), select(ends, placed(at_end, 1), alone));
  };
  const Tensor ones = with_dtype(diagonal.like(1), dtype), nothing = ones.like(0);
  const Tensor on_diagonal = by_place(upper, conjugate(upper), ones);
  const Tensor below = select(ends, placed(lower, 1), nothing);
  const Tensor above = select(begins, -placed(lower, 0), nothing);
  const Tensor distance = indices_along(t, 1) - indices_along(t, 2);
  const Tensor g = select(distance == 0.0, spread(on_diagonal, t, {0, 1}),
                          select(distance == 1.0, spread(below, t, {0, 1}),
                                 select(distance == -1.0, spread(above, t, {0, 1}), t.like(0))));
  const Tensor next = turned(g, t);
  return {select(distance > 0.0, next.like(0), next), product(z, g),
          by_place(first, second, diagonal), by_place(turn, -turn, diagonal.like(0))};
}

RealSchur standardised(const Schur& schur) {
  const Tensor t = schur.t;
  const Tensor diagonal = diagonal_of(t);
  const std::int64_t batch = t.shape()[0], n = t.shape()[1];
  if (n == 1) return {t, schur.z, diagonal, diagonal.like(0)};
  const Tensor a = window(diagonal, {0, 0}, {batch, n - 1});
  const Tensor d = window(diagonal, {0, 1}, {batch, n - 1});
  const Tensor b = beside_diagonal(t, false), c = beside_diagonal(t, true);
  const Tensor zero = a.like(0), one = a.like(1);
  const Tensor is_block = compare("NE", c, zero);
  const Tensor half = (a - d) * 0.5, inside = half * half + b * c;
  const Tensor is_pair = is_block & (inside < 0.0),
               is_apart = is_block & compare("GE", inside, zero);
  const Tensor root = sqrt(abs(inside));
  // Apart: the first column becomes the vector (x, c) of the eigenvalue d + x.
  const Tensor x = select(half < 0.0, half - root, half + root);
  const Tensor length = sqrt(x * x + c * c);
  const Tensor divisor = select(is_apart, length, one);
  const Tensor is_zero = x == 0.0;
  const Tensor other = d - select(is_zero, zero, b * c / select(is_zero, one, x));
  // A pair: by half the angle at which the elements of the diagonal meet.
  const Tensor both = b + c, sign = select(both < 0.0, zero - 1.0, one);
  const Tensor wide = sqrt(both * both + half * half * 4.0);
  const Tensor width = select(wide == 0.0, one, wide);
  const Tensor pair_cosine = select(wide == 0.0, one, sqrt((abs(both) / width + 1.0) * 0.5));
  const Tensor pair_sine = -(half / (width * pair_cosine)) * sign;
  const Tensor cosine = select(is_pair, pair_cosine, select(is_apart, x / divisor, one));
  const Tensor sine = select(is_pair, pair_sine, select(is_apart, c / divisor, zero));

  const auto placed = [](Tensor values, std::int64_t low) {
    return pad(values, values.builder->number(values.dtype(), 0), {0, low}, {0, 1 - low}, {0, 0});
  };
  const Tensor begins = placed(is_block, 0), ends = placed(is_block, 1);
  const auto by_place = [&](Tensor at_begin, Tensor at_end, Tensor alone) {
    return select(begins, placed(at_begin, 0), select(ends, placed(at_end, 1), alone));
  };
  const Tensor distance = indices_along(t, 1) - indices_along(t, 2);
  const auto near_diagonal = [&](Tensor on, Tensor below, Tensor above, Tensor elsewhere) {
    return select(distance == 0.0, spread(on, t, {0, 1}),
                  select(distance == 1.0, spread(below, t, {0, 1}),
                         select(distance == -1.0, spread(above, t, {0, 1}), elsewhere)));
  };
  const Tensor nothing = diagonal.like(0);
  const Tensor g = near_diagonal(by_place(cosine, cosine, diagonal.like(1)),
                                 select(ends, placed(sine, 1), nothing),
                                 select(begins, -placed(sine, 0), nothing), t.like(0));
  const Tensor next = turned(g, t);
  const Tensor middle = (a + d) * 0.5;
  const Tensor real =
      by_place(select(is_pair, middle, d + x), select(is_pair, middle, other), diagonal);
  const Tensor kept = spread(placed(is_pair, 1), t, {0, 1}) & (distance == 1.0);
  const Tensor is_gone = (distance > 0.0) & compare("EQ", kept, kept.like(0));
  const Tensor whole = select(distance == 0.0, spread(real, t, {0, 1}), next);
  const Tensor turn = select(is_pair, root, zero);
  return {select(is_gone, t.like(0), whole), product(schur.z, g), real,
          by_place(turn, -turn, nothing)};
}

Tensor left_eigenvectors(const Triangular& triangular, bool has_pairs) {
  // With rows and columns in the opposite order the adjoint is an upper triangle.
  const Tensor t = reverse(conjugate(transposed(triangular.t)), {1, 2});
  const Triangular adjoint{t, reverse(triangular.z, {2}), reverse(triangular.real, {1}),
                           reverse(-triangular.imaginary, {1})};
  return reverse(eigenvectors(adjoint, has_pairs), {2});
}

Tensor eigenvectors(const Triangular& triangular, bool has_pairs) {
  const Tensor t = triangular.t;
  const DType dtype = t.dtype();
  const Shape shape = t.shape();
  const std::int64_t batch = shape[0], n = shape[1];
  const Tensor values = of_parts(triangular.real, triangular.imaginary, dtype);
  const Tensor whole = sqrt(sum(square_of_size(t), {1, 2}));
  const Tensor least = select(whole == 0.0, whole.like(1), whole * epsilon_of(whole.dtype()));
  const std::vector<Tensor> start = {identity(*t.builder, dtype, batch, n, n), t, values, least};
  // Rows of (T - value) X = 0 from the last one on, of all columns at once.
  const Tensor x = repeat_counted(
      n, start, [n](Tensor turn, std::span<const Tensor> carried) -> std::vector<Tensor> {
        const Tensor x = carried[0], t = carried[1], values = carried[2], least = carried[3];
        const DType dtype = t.dtype();
        const Tensor k = turn.like(static_cast<double>(n - 1)) - turn;
        const Tensor row = row_at(t, k);
        const Tensor is_right = where_index_is("GT", k, row, 1);
        const Tensor rest = select(is_right, row, row.like(0));
        const Tensor parts = dot_general(rest, x, {{0}, {0}, {1}, {1}}, dtype);
        const Tensor diagonal = sum(select(where_index_is("EQ", k, row, 1), row, row.like(0)), {1});
        const Tensor gap = values - spread(diagonal, values, {0});
        const Tensor bound = spread(least, real_part(gap), {0});
        const Tensor divisor =
            select(compare("LT", abs(gap), bound), with_dtype(bound, dtype), gap);
        const Tensor found = select(is_right, parts / divisor, parts.like(0));
        // Each column by its new element, where that is large.
        const Tensor scale = maximum(abs(found), real_part(found).like(1));
        const Tensor divided = x / spread(with_dtype(scale, dtype), x, {0, 2});
        const Tensor scaled = found / with_dtype(scale, dtype);
        const Tensor is_row =
            where_index_is("EQ", k, x, 1) & compare("GT", indices_along(x, 2), indices_along(x, 1));
        return {select(is_row, spread(scaled, x, {0, 2}), divided), t, values, least};
      })[0];
  const Tensor v = product(triangular.z, x);
  const Tensor squares = square_of_size(v);
  const Tensor length = sqrt(sum(squares, {1}));
  // The first of the largest elements of each column becomes real.
  const Tensor best = largest(squares, 1);
  const Tensor is_best = compare("EQ", squares, spread(best, squares, {0, 2}));
  const Tensor index = indices_along(squares, 1);
  const auto none = static_cast<double>(n);
  const Tensor place = superstep::reduce(select(is_best, index, index.like(none)),
                                         index.builder->number(DType::kI32, none), {1},
                                         [](Tensor a, Tensor b) { return minimum(a, b); });
  const Tensor is_place = compare("EQ", index, spread(place, index, {0, 2}));
  const Tensor chosen = sum(select(is_place, v, v.like(0)), {1});
  const Tensor factor = conjugate(chosen) / with_dtype(abs(chosen) * length, dtype);
  const Tensor turned_v = v * spread(factor, v, {0, 2});
  const Tensor real = real_part(turned_v), imaginary = imaginary_part(turned_v);
  Tensor is_real = is_place;
  if (has_pairs) {
    is_real = is_real | compare("EQ", spread(triangular.imaginary, real, {0, 2}), real.like(0));
  }
  const Tensor result = of_parts(real, select(is_real, imaginary.like(0), imaginary), dtype);
  if (!has_pairs || n == 1) return result;
  // The second of a pair is the conjugate of the first, which is the column in front of it.
  const std::vector<Tensor> columns = {block_of(result, 0, n, 0, 1),
                                       block_of(result, 0, n, 0, n - 1)};
  const Tensor is_second = triangular.imaginary < 0.0;
  return select(spread(is_second, result, {0, 2}), conjugate(concatenate(columns, 2)), result);
}

}  // namespace superstep
