"""Small programs, one for each way of control flow, as JAX prints them.

`python -m tests.models.control.model`, from the top of the repository, writes the modules and the
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
X = RANDOM.normal(0, 1, 40).astype(np.float32)
Y = RANDOM.normal(0, 1, 40).astype(np.float32)
SQUARE = (RANDOM.normal(0, 1, (24, 24)) / 6).astype(np.float32)
ROWS = RANDOM.normal(0, 1, (5, 24)).astype(np.float32)
FOUR = [lambda x: x + 1, lambda x: x * 2, lambda x: -x, lambda x: x.sum() + x]


def counted(x):
    return lax.fori_loop(0, 7, lambda i, y: y * 0.5 + x, x)


def counted_by_three(x):
    return lax.while_loop(
        lambda c: c[0] < 20, lambda c: (c[0] + 3, c[1] * 0.5 + 1), (np.int32(2), x)
    )


def counted_down(x):
    return lax.while_loop(
        lambda c: c[0] > 0, lambda c: (c[0] - 1, c[1] + c[0]), (np.int32(5), x)
    )


def counted_unsigned(n, x):
    return lax.while_loop(
        lambda c: c[0] >= n, lambda c: (c[0] - 1, c[1] * 2), (np.uint32(4000000000), x)
    )


def bounded(n, x):
    return lax.fori_loop(0, n, lambda i, y: y * 1.25 + x, x)


def from_to(first, n, x):
    return lax.fori_loop(first, n, lambda i, y: y + i, x)


def index_is_used(n, x):
    return lax.fori_loop(0, n, lambda i, y: y + x * i + jnp.arange(40) // (i + 1), x)


def no_trip(x, y):
    return lax.fori_loop(3, 3, lambda i, z: z * y, x), lax.while_loop(
        lambda c: c.sum() < -1e9, lambda c: c + 1, y
    )


def newton(x):
    target = jnp.abs(x) + 0.5
    return lax.while_loop(
        lambda y: jnp.abs(y * y - target).max() > 1e-3,
        lambda y: 0.5 * (y + target / y),
        jnp.ones_like(x),
    )


def early_exit(n, limit, x):
    def body(c):
        i, y, _ = c
        y = y * 1.5
        return i + 1, y, jnp.abs(y).max() > limit

    return lax.while_loop(lambda c: (c[0] < n) & ~c[2], body, (0, x, False))


def mask_is_carried(x):
    def body(c):
        y, active = c
        y = jnp.where(active, y * y + 1, y)
        return y, y < 50

    return lax.while_loop(lambda c: jnp.any(c[1]), body, (jnp.abs(x), x < 1))


def batched(x):
    def solve(a):
        return lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] * c[0] + 1, c[1] + 1), (a, 0))

    return jax.vmap(solve)(jnp.abs(x))


def collatz(n):
    def body(c):
        m, steps = c
        return jnp.where(m % 2 == 0, m // 2, 3 * m + 1), steps + 1

    return lax.while_loop(lambda c: c[0] != 1, body, (n, np.int32(0)))


def swap(n, x, y):
    return lax.fori_loop(0, n, lambda i, c: (c[1], c[0] + 1), (x, y))


def rotate(n, x, y):
    return lax.fori_loop(0, n, lambda i, c: (c[1], c[2], c[0]), (x, y, x * y))


def twice_the_same(n, x):
    def body(i, c):
        z = c[0] + c[1] * 0.25
        return z, z

    return lax.fori_loop(0, n, body, (x, x))


def becomes_constant(n, x):
    return lax.fori_loop(0, n, lambda i, c: (c[0] + c[1], jnp.zeros(40) + 2.0), (x, x))


def empty(n):
    return lax.while_loop(
        lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 2), (np.int32(0), jnp.zeros((0, 3)))
    )


def nested(n, x):
    def outer(i, y):
        return lax.fori_loop(0, i, lambda j, z: z + x * j, y * 0.5)

    return lax.fori_loop(0, n, outer, x)


def nested_thrice(x):
    def innermost(i, j):
        return lambda k, z: z * 0.5 + (i + j * k)

    def inner(i):
        return lambda j, y: lax.fori_loop(0, 2, innermost(i, j), y)

    return lax.fori_loop(0, 2, lambda i, y: lax.fori_loop(0, 3, inner(i), y), x)


def scans(x):
    def inner(c, _):
        return c * 0.5 + x, None

    def outer(c, _):
        return lax.scan(inner, c + 1, None, length=3, reverse=True)[0], None

    return lax.scan(outer, x, None, length=4)[0]


def power_iteration(a, v):
    def body(i, v):
        v = a @ v
        return v / jnp.sqrt(v @ v)

    return lax.fori_loop(0, 12, body, v)


def layers(n, rows, weights):
    return lax.fori_loop(0, n, lambda i, h: jnp.tanh(h @ weights) + h, rows)


def weights_change(rows, weights):
    def step(i, w):
        gradient = jax.grad(lambda w: ((rows @ w - rows) ** 2).mean())(w)
        return w - 0.1 * gradient

    return lax.fori_loop(0, 5, step, weights)


def scalar_state(x):
    def body(c):
        y, error = c
        z = y * 0.5 + 0.25
        return z, jnp.abs(z - y).sum()

    return lax.while_loop(lambda c: c[1] > 0.01, body, (x, jnp.float32(1e9)))


def then_more(n, x):
    return jnp.sin(lax.fori_loop(0, n, lambda i, y: y * 0.9, x).sum() + x)


def one_after_the_other(n, x):
    y = lax.fori_loop(0, n, lambda i, y: y * 0.9, x)
    z = lax.fori_loop(0, n, lambda i, z: z + y, x)
    return y, z


def branch(i, x):
    return lax.switch(i, FOUR, x)


def condition(a, x, y):
    return lax.cond(a > 3, lambda x, y: (x + 1, y), lambda x, y: (jnp.tanh(y) * 2, x), x, y)


def constant_arms(p):
    return lax.cond(p, lambda: jnp.ones(9), lambda: jnp.arange(9.0))


def nested_conditions(i, x):
    def deep(x):
        return lax.cond(x.sum() > 0, lambda x: x * 3, lambda x: lax.switch(i, FOUR[:2], x), x)

    return lax.cond(i < 2, deep, lambda x: x - 1, x)


def condition_in_loop(n, x):
    def body(i, y):
        return lax.cond(i % 2 == 0, lambda y: y + x, lambda y: y * 0.5, y)

    return lax.fori_loop(0, n, body, x)


def condition_by_index(n, x):
    def body(i, y):
        return lax.switch(i - 1, FOUR, y * 0.5)

    return lax.fori_loop(0, n, body, x)


def loop_in_condition(n, x):
    return lax.cond(
        n > 2, lambda x: lax.fori_loop(0, n, lambda i, y: y + x * 0.5, x), lambda x: x * 2, x
    )


def half(n, x):
    return lax.fori_loop(0, n, lambda i, y: y * np.float16(0.5) + x, x)


def scalars(n, a):
    return lax.fori_loop(0, n, lambda i, c: (c[0] * 0.5 + a, c[1] + c[0]), (a, jnp.float32(0)))


@jax.jit
def settled(x):
    return lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y * 0.75 + y.mean()), x)


def functions(n, x):
    """Calls of one function with a loop inside, from everywhere."""
    for k in range(8):
        x = settled(x) + k
    x = lax.fori_loop(0, n, lambda i, y: settled(settled(y) * 2), x)
    return lax.cond(x[0] > 0, lambda y: settled(y) + 1, lambda y: settled(-y), x)


def every_third(n, x):
    def body(i, y):
        return lax.cond(i % 3 == 0, lambda z: z * 0.5, lambda z: z + i // 5, y)

    return lax.fori_loop(-n, n, body, x)


def flags(n, x):
    """Booleans and words that follow from words alone."""

    def body(c):
        i, is_done, is_odd, y = c
        last = (i * 7) % 11 == 3
        return i + 1, is_done | last, ~is_odd, jnp.where(is_odd, y + 1, y * 0.5)

    return lax.while_loop(
        lambda c: ~c[1] & (c[0] < 40), body, (n, np.bool_(False), np.bool_(True), x)
    )


N = np.int32
CASES = {
    "counted": (counted, X),
    "counted_by_three": (counted_by_three, X),
    "counted_down": (counted_down, X),
    "counted_unsigned": (counted_unsigned, np.uint32(3999999997), X),
    "bounded": (bounded, N(6), X),
    "bounded_by_zero": (bounded, N(0), X),
    "bounded_below_zero": (bounded, N(-5), X),
    "from_to": (from_to, N(-3), N(4), X),
    "index_is_used": (index_is_used, N(5), X),
    "no_trip": (no_trip, X, Y),
    "newton": (newton, X),
    "early_exit": (early_exit, N(50), np.float32(9), X),
    "exit_at_the_end": (early_exit, N(2), np.float32(1e6), X),
    "mask_is_carried": (mask_is_carried, X),
    "batched": (batched, X),
    "collatz": (collatz, N(27)),
    "swap": (swap, N(7), X, Y),
    "rotate": (rotate, N(4), X, Y),
    "twice_the_same": (twice_the_same, N(3), X),
    "becomes_constant": (becomes_constant, N(3), X),
    "empty": (empty, N(6)),
    "nested": (nested, N(5), X),
    "nested_thrice": (nested_thrice, X),
    "scans": (scans, X),
    "power_iteration": (power_iteration, SQUARE, X[:24]),
    "layers": (layers, N(3), ROWS, SQUARE),
    "weights_change": (weights_change, ROWS, SQUARE),
    "scalar_state": (scalar_state, X),
    "then_more": (then_more, N(3), X),
    "one_after_the_other": (one_after_the_other, N(3), X),
    **{f"branch_{i}": (branch, N(i), X) for i in (0, 2, 9)},
    "condition_true": (condition, np.float32(4), X, Y),
    "condition_false": (condition, np.float32(2), X, Y),
    "constant_arms": (constant_arms, np.bool_(False)),
    "nested_conditions": (nested_conditions, N(1), -np.abs(X)),
    "condition_in_loop": (condition_in_loop, N(6), X),
    "condition_by_index": (condition_by_index, N(6), X),
    "loop_in_condition": (loop_in_condition, N(4), X),
    "half": (half, N(4), X.astype(np.float16)),
    "scalars": (scalars, N(9), np.float32(1.5)),
    "functions": (functions, N(2), X),
    "every_third": (every_third, N(4), X),
    "flags": (flags, N(3), X),
}


def main():
    with programs_in(HERE) as write:
        for name, case in CASES.items():
            write(name, *case)


if __name__ == "__main__":
    main()
