"""Small programs, one for each way of indexing, as JAX prints them.

`python -m tests.models.indexing.model`, from the top of the repository, writes the modules and the
tensors of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.models.programs import programs_in

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(13)


def normal(*shape):
    return RANDOM.normal(0, 1, shape).astype(np.float32)


def integers(low, high, shape=(), dtype=np.int32):
    return RANDOM.integers(low, high, shape).astype(dtype)


def element(x, i):
    return x[i], x[-1], x[i, -2]


def dynamic_range(x, i):
    return lax.dynamic_slice_in_dim(x, i, 3), lax.dynamic_slice(x, (i, i), (2, 4))


def update_range(x, u, i):
    return lax.dynamic_update_slice(x, u, (i, 1))


def update_in_loop(x, n):
    def body(i, y):
        row = lax.dynamic_slice_in_dim(y, i, 1) * 0.5
        return lax.dynamic_update_slice_in_dim(y, row + 1, i + 1, 0)

    return lax.fori_loop(0, n, body, x)


def neighbours(x, n):
    return lax.fori_loop(1, n, lambda i, y: y.at[i].set(y[i - 1] + y[i]), x)


def set_rows(x, i, u):
    return x.at[i].set(u, unique_indices=True)


def add_rows(x, i, u):
    return x.at[i].add(u)


def largest_and_least(x, i, u):
    return x.at[i].max(u), x.at[i].min(u)


def multiply_part(x, i, u):
    return x.at[i, 1:4].multiply(u)


def set_columns(x, i, u):
    return x.at[:, i].set(u, unique_indices=True)


def divide_one(x, i):
    return x.at[i, 2].divide(4), x.at[i].apply(jnp.abs)


def static_ranges(x, u):
    return x.at[1:-1, 2:5].set(u), x.at[1:-1, 2:5].add(u), x.at[::2].multiply(3), x.at[2, 3].set(7)


def modes(x, i):
    return [jnp.take(x, i, axis=0, mode=mode) for mode in ("clip", "fill", "wrap")]


def dropped(x, i, u):
    return x.at[i].add(u, mode="drop"), x.at[i].get(mode="fill", fill_value=-1)


def two_axes(x, i, j):
    return x[:, i, :, j], x[i[:, None], j]


def along_axis(x, i):
    return jnp.take_along_axis(x, i, axis=1), jnp.take_along_axis(x, i, axis=-1)


def where_rows(x, y, i):
    rows = jnp.where((i < 0)[:, None], x[-i], y[i])
    return rows, jnp.where(x > 0, x, 0).sum(0)


def segments(x, i):
    return jax.ops.segment_sum(x, i, 7), jax.ops.segment_max(x, i, num_segments=7)


def one_hot(x, i):
    return jax.nn.one_hot(i, 9) @ x


def counts(i):
    return jnp.bincount(i, length=12), jnp.zeros(12, np.int32).at[i].add(1)


def histogram(x):
    return jnp.histogram(x, bins=8, range=(-2, 2))[0]


def stacked(xs):
    def step(c, x):
        return c * 0.5 + x, (c * x, c.sum())

    return lax.scan(step, jnp.ones(6), xs)


def reversed_scan(xs, ys):
    def step(c, xy):
        return c + xy[0] * xy[1], c

    return lax.scan(step, jnp.zeros(3), (xs, ys), reverse=True)


def gradient_of_scan(w, xs):
    def step(c, x):
        return jnp.tanh(c @ w + x), c

    return jax.grad(lambda w: (lax.scan(step, jnp.zeros((2, 5)), xs)[1] ** 2).sum())(w)


def mapped_slices(x, i):
    return jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, 1), (3, 2)))(x, i)


def mapped_updates(x, u, i):
    return jax.vmap(lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1)))(x, u, i)


def mapped_adds(x, i, u):
    return jax.vmap(lambda x, i, u: x.at[i].add(u))(x, i, u)


def batched_rows(x, i):
    return jax.vmap(lambda x, i: x[i])(x, i), jax.vmap(lambda x, i: x[i], (None, 0))(x[0], i)


def windows(x, i):
    return jax.vmap(lambda i: lax.dynamic_slice(x, (i, 2), (4, 3)))(i)


def add_windows(x, i, u):
    numbers = lax.ScatterDimensionNumbers((1, 2), (), (0,))
    return lax.scatter_add(x, i[:, None], u, numbers)


def gradient_of_rows(x, i, y):
    return jax.grad(lambda x: ((x[i] - y) ** 2).sum())(x)


def gradient_of_update(x, u, i):
    return jax.grad(lambda x, u: (update_range(x, u, i) ** 3).sum(), (0, 1))(x, u)


def no_rows(x, i):
    return x[i], x.at[i].add(jnp.ones((0, x.shape[1]))), x[:0][i]


def narrow(x, i, u):
    return x[i], x.at[i].set(u)


def roll(x, n):
    return jnp.roll(x, n, axis=0), jnp.roll(x, 3)


def cache(xs, queries):
    """A key is written and all are read, each step."""

    def step(carry, xq):
        i, keys = carry
        x, query = xq
        keys = lax.dynamic_update_slice(keys, x[None], (i, 0))
        scores = jnp.where(jnp.arange(len(keys)) <= i, keys @ query, -jnp.inf)
        return (i + 1, keys), keys[jnp.argmax(scores)]

    return lax.scan(step, (0, jnp.zeros_like(xs)), (xs, queries))[1]


def counter_of_64_bits(x, n):
    return lax.fori_loop(0, n, lambda i, y: y.at[i % 4].add(i), x)


def until_64_bits(n):
    return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] * 3, c[1] + 1), (np.int64(1), 0))


def scan_of_doubles(xs):
    return lax.scan(lambda c, x: (c / 3 + x, c), np.float64(1), xs)


def rows_by_64_bits(x, i):
    return x[i], x.at[i].add(1)


N = np.int32
TABLE = normal(12, 5)
CASES = {
    "element": (element, TABLE, N(3)),
    "element_from_the_end": (element, TABLE, N(-4)),
    "element_outside": (element, TABLE, N(40)),
    "dynamic_range": (dynamic_range, TABLE, N(2)),
    "dynamic_range_outside": (dynamic_range, TABLE, N(11)),
    "update_range": (update_range, TABLE, normal(4, 3), N(7)),
    "update_in_loop": (update_in_loop, TABLE, N(9)),
    "neighbours": (neighbours, normal(40), N(40)),
    "set_rows": (set_rows, TABLE, N([7, 0, -1, 4]), normal(4, 5)),
    "add_rows": (add_rows, TABLE, integers(-14, 14, 30), normal(30, 5)),
    "largest_and_least": (
        largest_and_least,
        *(integers(0, 99, 20), integers(0, 20, 50), integers(0, 99, 50)),
    ),
    "multiply_part": (multiply_part, TABLE, integers(0, 12, 9), normal(9, 3)),
    "set_columns": (set_columns, normal(6, 20), N([19, 3, 4, 0]), normal(6, 4)),
    "divide_one": (divide_one, TABLE, N(6)),
    "static_ranges": (static_ranges, TABLE, normal(10, 3)),
    "modes": (modes, TABLE, N([0, 11, 12, -1, -13, 30])),
    "dropped": (dropped, TABLE, N([3, 12, -12, -13, 3]), normal(5, 5)),
    "two_axes": (two_axes, normal(3, 9, 4, 6), integers(0, 3, 5), integers(0, 6, 5)),
    "along_axis": (along_axis, normal(12, 8), integers(0, 8, (12, 3))),
    "where_rows": (where_rows, TABLE, normal(12, 5), N([-3, 0, 5, -11, 2])),
    "segments": (segments, normal(40, 6), integers(0, 7, 40)),
    "one_hot": (one_hot, normal(9, 4), N([8, 0, 3, 3, -1, 9])),
    "counts": (counts, integers(0, 12, 200)),
    "histogram": (histogram, normal(60)),
    "stacked": (stacked, normal(9, 6)),
    "reversed_scan": (reversed_scan, normal(7, 3), normal(7, 3)),
    "gradient_of_scan": (gradient_of_scan, normal(5, 5) / 3, normal(4, 2, 5)),
    "mapped_slices": (mapped_slices, normal(6, 9, 4), integers(-2, 12, 6)),
    "mapped_updates": (mapped_updates, normal(6, 9, 4), normal(6, 3, 2), integers(-2, 12, 6)),
    "mapped_adds": (mapped_adds, normal(4, 9), integers(0, 9, (4, 6)), normal(4, 6)),
    "batched_rows": (batched_rows, normal(4, 9, 3), integers(0, 9, (4, 6))),
    "windows": (windows, normal(20, 7), integers(0, 20, 6)),
    "add_windows": (add_windows, normal(20, 3), integers(-2, 20, 5), normal(5, 4, 3)),
    "gradient_of_rows": (gradient_of_rows, TABLE, integers(0, 12, 20), normal(20, 5)),
    "gradient_of_update": (gradient_of_update, TABLE, normal(4, 3), N(6)),
    "no_rows": (no_rows, TABLE, integers(0, 12, 0)),
    "bytes_by_bytes": (
        narrow,
        *(integers(-99, 99, (30, 3), np.int8), np.uint8([29, 3, 0, 17])),
        integers(-99, 99, (4, 3), np.int8),
    ),
    "halves_by_i8": (
        narrow,
        *(normal(31, 3).astype(np.float16), np.int8([-1, 4, 12])),
        normal(3, 3).astype(np.float16),
    ),
    "booleans_by_u16": (narrow, normal(50) > 0, np.uint16([49, 7, 8]), np.bool_([1, 0, 1])),
    "roll": (roll, normal(10, 3), N(4)),
    "cache": (cache, normal(8, 6), normal(8, 6)),
}
WITH_64_BITS = {
    "counter_of_64_bits": (counter_of_64_bits, integers(0, 99, 4, np.int64), np.int64(9)),
    "until_64_bits": (until_64_bits, np.int64(2**40)),
    "scan_of_doubles": (scan_of_doubles, normal(5).astype(np.float64)),
    "rows_by_64_bits": (rows_by_64_bits, TABLE, np.int64([3, -1, 2**40, 0])),
}


def main():
    with programs_in(HERE) as write:
        for name, case in CASES.items():
            write(name, *case)
        with jax.enable_x64(True):
            for name, case in WITH_64_BITS.items():
                write(name, *case)


if __name__ == "__main__":
    main()
