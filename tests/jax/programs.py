"""Whole programs as JAX users write them: training steps, solvers, samplers, dynamic programming."""

import functools

import jax
import jax.numpy as jnp
import jax.scipy.optimize
import numpy as np
from jax import lax
from jax.experimental.ode import odeint

from case import Cases, dominant, integers, key, normal, positive_definite, uniform

CASES = Cases()


def case(*makers, times=1):
    """Makes a case of a function, with the function's name."""

    def add(function):
        CASES.add(function.__name__, function, *makers, times=times)
        return function

    return add


def dense(x, layer):
    return x @ layer["w"] + layer["b"]


def layer(inputs, outputs):
    return {"w": normal(inputs, outputs), "b": normal(outputs)}


def descend(loss, parameters, *rest, rate=0.05):
    value, gradients = jax.value_and_grad(loss)(parameters, *rest)
    return value, jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)


def norm(x, axis=-1):
    return (x - x.mean(axis, keepdims=True)) * lax.rsqrt(x.var(axis, keepdims=True) + 1e-5)


# Networks.
@case([layer(6, 8), layer(8, 8), layer(8, 3)], normal(5, 6), integers(0, 3, 5), times=3)
def classifier_step(layers, x, y):
    def loss(layers, x, y):
        for one in layers[:-1]:
            x = jax.nn.relu(dense(x, one))
        log_probabilities = jax.nn.log_softmax(dense(x, layers[-1]))
        return -jnp.take_along_axis(log_probabilities, y[:, None], 1).mean()

    return descend(loss, layers, x, y)


@case(normal(2, 8, 8, 3), normal(3, 3, 3, 4), normal(3, 3, 4, 4), normal(1, 1, 3, 4), times=5)
def residual_block_gradient(x, a, b, skip):
    def conv(x, k, stride=1):
        return lax.conv_general_dilated(
            x, k, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def loss(x, a, b, skip):
        y = jax.nn.relu(norm(conv(x, a, 2), (0, 1, 2)))
        y = norm(conv(y, b), (0, 1, 2)) + conv(x, skip, 2)
        return jnp.mean(jax.nn.relu(y).mean((1, 2)) ** 2)

    return jax.grad(loss, argnums=(0, 1, 2, 3))(x, a, b, skip)


@case(normal(2, 6, 8), normal(8, 24), normal(8, 8), normal(8, 16), normal(16, 8), times=3)
def transformer_block_gradient(x, qkv, out, up, down):
    def loss(x, qkv, out, up, down):
        q, k, v = jnp.split((norm(x) @ qkv).reshape(2, 6, 2, 12), 3, -1)
        mask = jnp.tril(jnp.ones((6, 6), bool))
        scores = jnp.where(mask, jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2, -jnp.inf)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(2, 6, 8) @ out
        return jnp.sum((x + jax.nn.gelu(norm(x) @ up) @ down) ** 2) / 100

    return jax.grad(loss, argnums=(0, 1, 2, 3, 4))(x, qkv, out, up, down)


@case(normal(4, 6, 8), normal(4, 8, 8), normal(5, 8), times=10)
def scanned_layers_remat(ws, vs, x):
    def loss(ws, vs):
        @jax.checkpoint
        def body(x, wv):
            w, v = wv
            return jnp.tanh(x @ v) + norm(x)[:, :6] @ w * 0.1, x.sum()

        last, sums = lax.scan(body, x, (ws, vs))
        return (last**2).mean() + sums.mean()

    return jax.value_and_grad(loss, argnums=(0, 1))(ws, vs)


@case(normal(7, 3, 4), layer(9, 15), times=3)
def gru_gradient(xs, cell):
    def loss(cell):
        def step(h, x):
            gates = jnp.concatenate([x, h], -1) @ cell["w"][:, :10] + cell["b"][:10]
            z, r = jnp.split(jax.nn.sigmoid(gates), 2, -1)
            n = jnp.tanh(jnp.concatenate([x, r * h], -1) @ cell["w"][:, 10:] + cell["b"][10:])
            h = (1 - z) * h + z * n
            return h, h

        _, hs = lax.scan(step, jnp.zeros((3, 5)), xs)
        return jnp.mean(hs**2)

    return jax.grad(loss)(cell)


@case(key(), normal(4, 6), layer(6, 4), layer(2, 6), times=3)
def variational_autoencoder_step(k, x, encoder, decoder):
    def loss(parameters, x):
        mean, log_variance = jnp.split(dense(x, parameters[0]), 2, -1)
        z = mean + jnp.exp(log_variance / 2) * jax.random.normal(k, mean.shape)
        kl = -0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance))
        return jnp.sum((dense(z, parameters[1]) - x) ** 2) / 50 + kl / 50

    return descend(loss, (encoder, decoder), x)


@case(normal(8, 6), normal(6, 4), normal(4, 6, 5), times=3)
def mixture_of_experts(x, router, experts):
    weights, chosen = lax.top_k(jax.nn.softmax(x @ router), 2)
    every = jnp.einsum("td,edf->tef", x, experts)
    return jnp.einsum("tk,tkf->tf", weights, jnp.take_along_axis(every, chosen[..., None], 1))


@case(normal(9, 4), integers(0, 9, 20), integers(0, 9, 20), normal(4, 6), normal(12), times=3)
def graph_attention(x, source, target, w, a):
    h = x @ w
    scores = jax.nn.leaky_relu(jnp.concatenate([h[source], h[target]], -1) @ a)
    scores = jnp.exp(scores - jax.ops.segment_max(scores, target, 9)[target])
    total = jax.ops.segment_sum(scores, target, 9)
    return jax.ops.segment_sum((scores / total[target])[:, None] * h[source], target, 9)


@case(normal(6, 4), normal(6, 4), times=3)
def contrastive_gradient(a, b):
    def loss(a, b):
        a, b = (x / jnp.linalg.norm(x, axis=-1, keepdims=True) for x in (a, b))
        logits = a @ b.T * 5
        return -(
            jnp.diag(jax.nn.log_softmax(logits)) + jnp.diag(jax.nn.log_softmax(logits.T))
        ).mean()

    return jax.grad(loss, argnums=(0, 1))(a, b)


@case(key(), normal(5, 4), layer(4, 4))
def dropout_is_what_the_key_says(k, x, one):
    keep = jax.random.bernoulli(k, 0.7, x.shape)
    return jnp.where(keep, dense(x, one) / 0.7, 0)


@case(normal(5, 4), times=2)
def adamw_in_a_loop(w):
    def body(i, state):
        w, m, v = state
        g = jax.grad(lambda w: jnp.sum(jnp.sin(w) ** 2))(w)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        t = i + 1.0
        w = w - 0.01 * (m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8) + 0.01 * w)
        return w, m, v

    return lax.fori_loop(0, 7, body, (w, jnp.zeros_like(w), jnp.zeros_like(w)))


# Solvers.
@case(positive_definite(8), normal(8), times=20)
def conjugate_gradient(a, b):
    return jax.scipy.sparse.linalg.cg(lambda x: a @ x, b, maxiter=8)[0]


@case(dominant(6), normal(6), times=20)
def gmres(a, b):
    return jax.scipy.sparse.linalg.gmres(a, b, maxiter=2, restart=6)[0]


@case(normal(2), times=300)
def bfgs_of_rosenbrock(x):
    function = lambda x: (1 - x[0]) ** 2 + 3 * (x[1] - x[0] ** 2) ** 2
    return jax.scipy.optimize.minimize(function, x, method="BFGS", options={"maxiter": 6}).fun + 1


@case(uniform(0.5, 1.5, 3), times=5)
def newton_until_it_converges(x):
    step = lambda x: x - (x**3 - 2 * x - 5) / (3 * x**2 - 2)

    def goes_on(state):
        return (jnp.max(jnp.abs(state[0] - state[1])) > 1e-3) & (state[2] < 40)

    return lax.while_loop(goes_on, lambda s: (step(s[0]), s[0], s[2] + 1), (x + 1.5, x, 0))[0]


@case(normal(4), times=5)
def runge_kutta_gradient(y):
    def derivative(y):
        return jnp.array([y[1], -jnp.sin(y[0]), y[3], -y[2]])

    def solve(y):
        def step(y, _):
            k1 = derivative(y)
            k2 = derivative(y + 0.05 * k1)
            k3 = derivative(y + 0.05 * k2)
            k4 = derivative(y + 0.1 * k3)
            return y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), y

        return jnp.sum(lax.scan(step, y, None, length=8)[0] ** 2)

    return jax.grad(solve)(y)


@case(uniform(0.5, 1.5, 2), times=30)
def adaptive_odeint(y):
    return odeint(
        lambda y, t: jnp.array([y[0] - y[0] * y[1], y[0] * y[1] - y[1]]), y, jnp.linspace(0, 1, 4)
    )


@case(normal(6, 6), times=50)
def power_iteration(a):
    a = a @ a.T
    v = lax.fori_loop(0, 60, lambda _, v: (lambda u: u / jnp.linalg.norm(u))(a @ v), jnp.ones(6))
    return v @ a @ v


@case(normal(5, 5), times=10)
def hessian_of_a_log_sum(a):
    return jax.hessian(lambda x: jax.nn.logsumexp(a @ x) + jnp.sum(x**4))(jnp.arange(5) / 5.0)


@case(normal(4), normal(4, 4))
def jacobians_both_ways(x, a):
    function = lambda x: jnp.tanh(a @ x) * x
    return jax.jacfwd(function)(x), jax.jacrev(function)(x), jax.jvp(function, (x,), (x,))


@case(uniform(0.1, 1, 6, 7), times=3)
def sinkhorn(cost):
    k = jnp.exp(-cost / 0.2)

    def body(_, uv):
        u = 1 / (k @ uv[1])
        return u, 1 / (k.T @ u)

    u, v = lax.fori_loop(0, 10, body, (jnp.ones(6), jnp.ones(7)))
    return u[:, None] * k * v


# Dynamic programming and search.
@case(integers(0, 4, 9), integers(0, 4, 7))
def edit_distance(a, b):
    def row(previous, x):
        def cell(left, inputs):
            above, corner, y = inputs
            best = jnp.minimum(jnp.minimum(left, above) + 1, corner + (x != y))
            return best, best

        first = previous[0] + 1
        _, rest = lax.scan(cell, first, (previous[1:], previous[:-1], b))
        return jnp.concatenate([first[None], rest]), None

    return lax.scan(row, jnp.arange(8), a)[0][-1]


@case(normal(8, 4), normal(4, 4))
def viterbi(emissions, transitions):
    def forward(scores, e):
        candidates = scores[:, None] + transitions
        return candidates.max(0) + e, candidates.argmax(0)

    last, back = lax.scan(forward, emissions[0], emissions[1:])
    path = lax.scan(lambda s, b: (b[s], b[s]), last.argmax(), back, reverse=True)[1]
    return last.max(), path


@case(uniform(0.1, 2, 7, 7))
def shortest_paths(d):
    return lax.fori_loop(0, 7, lambda k, d: jnp.minimum(d, d[:, k, None] + d[k]), d)


@case(integers(0, 99, 20))
def bubble_sort_by_while(x):
    def body(state):
        x, _ = state
        swap = lambda i, x: lax.cond(
            x[i] > x[i + 1], lambda: x.at[i].set(x[i + 1]).at[i + 1].set(x[i]), lambda: x
        )
        new = lax.fori_loop(0, 19, swap, x)
        return new, jnp.any(new != x)

    return lax.while_loop(lambda s: s[1], body, (x, True))[0]


@case(integers(2, 400, 5))
def collatz_under_vmap(x):
    def steps(n):
        step = lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)
        return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]

    return jax.vmap(steps)(x)


@case(integers(0, 2, 12, 12))
def game_of_life(board):
    def step(_, b):
        around = sum(jnp.roll(b, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - b
        return ((around == 3) | ((b == 1) & (around == 2))).astype(jnp.int32)

    return lax.fori_loop(0, 9, step, board)


@case(normal(6, 11), normal(11, 11), integers(0, 11))
def beam_search(embedding, transitions, start):
    def step(state, e):
        scores, tokens = state
        candidates = scores[:, None] + jax.nn.log_softmax(transitions[tokens] + e)
        best, flat = lax.top_k(candidates.ravel(), 3)
        return (best, flat % 11), (flat // 11, flat % 11)

    first = (jnp.array([0.0, -9.0, -9.0]), jnp.full(3, start))
    return lax.scan(step, first, embedding)


@case(integers(0, 256, 24, dtype=np.uint8))
def crc32(data):
    def byte(c, d):
        c = c ^ d.astype(jnp.uint32)
        bit = lambda _, c: jnp.where(c & 1, (c >> 1) ^ jnp.uint32(0xEDB88320), c >> 1)
        return lax.fori_loop(0, 8, bit, c), None

    return ~lax.scan(byte, jnp.uint32(0xFFFFFFFF), data)[0]


@case(integers(0, 5, 30))
def run_lengths(x):
    starts = jnp.concatenate([jnp.array([True]), x[1:] != x[:-1]])
    group = jnp.cumsum(starts) - 1
    return jnp.zeros(30, jnp.int32).at[group].add(1), jnp.unique(x, size=5, fill_value=-1)


@case(integers(0, 1000, 40))
def prefix_filter(x):
    keep = x % 3 == 0
    place = jnp.where(keep, jnp.cumsum(keep) - 1, 40)
    return jnp.full(40, -1).at[place].set(x, mode="drop"), keep.sum()


# Statistics and sampling.
@case(key(), normal(3), times=5)
def metropolis(k, x):
    log_density = lambda x: -jnp.sum(x**2) / 2 - jnp.sum(jnp.cos(3 * x))

    def step(state, k):
        a, b = jax.random.split(k)
        proposed = state + 0.5 * jax.random.normal(a, (3,))
        accept = jnp.log(jax.random.uniform(b)) < log_density(proposed) - log_density(state)
        state = jnp.where(accept, proposed, state)
        return state, accept

    return lax.scan(step, x, jax.random.split(k, 12))


@case(key(), normal(3), times=20)
def hamiltonian_monte_carlo(k, x):
    potential = lambda x: jnp.sum(x**2) / 2 + jnp.sum(x**4) / 8
    p = jax.random.normal(k, (3,))

    def leap(state, _):
        x, p = state
        p = p - 0.05 * jax.grad(potential)(x)
        x = x + 0.1 * p
        return (x, p - 0.05 * jax.grad(potential)(x)), potential(x)

    return lax.scan(leap, (x, p), None, length=9)


@case(normal(10, 2), normal(10, 2), normal(10), times=30)
def gaussian_process(x, new, y):
    kernel = lambda a, b: jnp.exp(-0.5 * jnp.sum((a[:, None] - b) ** 2, -1))
    factor = jax.scipy.linalg.cho_factor(kernel(x, x) + 0.5 * jnp.eye(10), lower=True)
    return kernel(new, x) @ jax.scipy.linalg.cho_solve(factor, y)


@case(normal(20, 3), normal(3, 3), times=3)
def expectation_maximisation(x, means):
    def step(means, _):
        log_weights = -0.5 * jnp.sum((x[:, None] - means) ** 2, -1)
        weights = jax.nn.softmax(log_weights)
        return (weights.T @ x) / weights.sum(0)[:, None], jax.nn.logsumexp(log_weights, 1).sum()

    return lax.scan(step, means, None, length=5)


@case(normal(12), normal(12), times=10)
def kalman_filter(z, u):
    a, h = jnp.array([[1.0, 0.1], [0, 1]]), jnp.array([[1.0, 0]])

    def step(state, zu):
        x, p = state
        x, p = a @ x + jnp.array([0, 0.1]) * zu[1], a @ p @ a.T + 0.01 * jnp.eye(2)
        gain = p @ h.T @ jnp.linalg.inv(h @ p @ h.T + 0.5)
        x = x + gain[:, 0] * (zu[0] - h @ x)[0]
        return (x, (jnp.eye(2) - gain @ h) @ p), x

    return lax.scan(step, (jnp.zeros(2), jnp.eye(2)), (z, u))


@case(normal(20, 4), times=50)
def principal_components(x):
    x = x - x.mean(0)
    s = jnp.linalg.svd(x, full_matrices=False)[1]
    return s**2 / 19, jnp.linalg.eigvalsh(x.T @ x / 19)


@case(normal(16), times=3)
def normalising_flow_log_density(x):
    def coupling(x, k):
        a, b = jnp.split(x, 2)
        scale = jnp.tanh(a * k)
        return jnp.concatenate([b * jnp.exp(scale) + a, a]), scale.sum()

    y, terms = lax.scan(coupling, x, jnp.linspace(-1, 1, 5))
    return jax.scipy.stats.norm.logpdf(y).sum() + terms.sum()


@case(normal(6, 5), integers(1, 5, 3), times=5)
def ctc_like_alignment_gradient(logits, labels):
    def loss(logits):
        log_probabilities = jax.nn.log_softmax(logits)

        def step(alpha, row):
            moved = jnp.concatenate([jnp.array([-jnp.inf]), alpha[:-1]])
            return jnp.logaddexp(alpha, moved) + row[labels], None

        alpha = jnp.array([0.0, -1e5, -1e5]) + log_probabilities[0][labels]
        return -lax.scan(step, alpha, log_probabilities[1:])[0][-1]

    return jax.grad(loss)(logits)


# Branches, nests and what is kept.
@case(integers(0, 4, 6), normal(6, 3))
def switch_in_scan(which, xs):
    branches = [jnp.sin, lambda x: x * x, lambda x: -x, lambda x: jnp.cumsum(x)]

    def step(c, wx):
        y = lax.switch(wx[0], branches, wx[1]) + c
        return y, y.sum()

    return lax.scan(step, jnp.zeros(3), (which, xs))


@case(integers(0, 4, 6), normal(6, 3))
def switch_under_vmap(which, xs):
    return jax.vmap(lambda w, x: lax.switch(w, [jnp.sin, jnp.cos, jnp.exp, jnp.abs], x))(which, xs)


@case(normal(4, 4), integers(1, 6))
def nested_loops_of_unknown_trips(x, n):
    inner = lambda i, x: x + jnp.sin(x.T) * i
    return lax.fori_loop(0, n, lambda i, x: lax.fori_loop(0, i, inner, x) * 0.5, x)


@case(normal(2, 3, 4), normal(2, 8, 3, 4), integers(0, 6))
def key_value_cache(new, cache, at):
    cache = lax.dynamic_update_slice_in_dim(cache, new[:, None], at, 1)
    scores = jnp.einsum("bhd,bthd->bht", new, cache)
    scores = jnp.where(jnp.arange(8) <= at, scores, -1e9)
    return jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores), cache), cache


@case(normal(6, 5), integers(-99, 99, 5, 4), uniform(0.1, 1, 4))
def quantised_product(x, w, scale):
    step = jnp.max(jnp.abs(x)) / 127
    q = jnp.clip(jnp.round(x / step), -127, 127).astype(jnp.int8)
    product = lax.dot_general(
        q, w.astype(jnp.int8), (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32
    )
    return product.astype(jnp.float32) * step * scale


@case(normal(3, 4), normal(3, 4))
def custom_gradient_and_stops(x, y):
    @jax.custom_vjp
    def clip_gradient(x):
        return x

    clip_gradient.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))
    return jax.grad(lambda x: jnp.sum(clip_gradient(x) * lax.stop_gradient(y * x)))(x)


@case(normal(16, 16))
def wave_equation(u):
    def step(state, _):
        u, v = state
        laplacian = sum(jnp.roll(u, s, a) for s in (-1, 1) for a in (0, 1)) - 4 * u
        v = v + 0.1 * laplacian
        return (u + 0.1 * v, v), jnp.sum(v * v)

    return lax.scan(step, (u, jnp.zeros_like(u)), None, length=6)


@case(normal(32), times=5)
def spectral_derivative(x):
    k = jnp.fft.rfftfreq(32, 1 / 32)
    return jnp.fft.irfft(1j * k * jnp.fft.rfft(x)), jnp.abs(jnp.fft.fft(x)) ** 2


@case(normal(5, 3), normal(4, 3), times=3)
def pairwise_under_three_vmaps(a, b):
    distance = lambda x, y: jnp.sqrt(jnp.sum((x - y) ** 2))
    every = jax.vmap(jax.vmap(distance, (None, 0)), (0, None))
    return every(a, b), jax.vmap(jax.grad(lambda x: every(x[None], b).sum()))(a)


@case(normal(9), normal(9), times=3)
def lru_by_associative_scan(a, b):
    a = jax.nn.sigmoid(a) * jnp.exp(1j * jnp.arange(9))
    return jnp.abs(
        lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b + 0j))[1]
    )


@case(key())
def shuffled_batches(k):
    def epoch(total, k):
        order = jax.random.permutation(k, jnp.arange(12, dtype=jnp.int32)).reshape(3, 4)
        return total + order.sum(1, dtype=jnp.int32), order

    return lax.scan(epoch, jnp.zeros(3, jnp.int32), jax.random.split(k, 3))


@case(normal(10, 3), integers(0, 3, 10), times=5)
def support_vectors_by_functools(x, y):
    margin = lambda w: jnp.maximum(0, 1 - (2 * (y == 1) - 1) * (x @ w)).mean() + 0.01 * w @ w
    return functools.reduce(lambda w, _: w - 0.1 * jax.grad(margin)(w), range(5), jnp.zeros(3))
