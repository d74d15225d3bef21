"""Layers, optimizers and transformations as users write them by hand."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from case import Cases, integers, key, normal, positive_definite, uniform

CASES = Cases()


def case(*makers, times=1, **more):
    """Makes a case of a function, with the function's name."""

    def add(function):
        CASES.add(function.__name__, function, *makers, times=times, **more)
        return function

    return add


# Optimizers: three steps each on a small regression.
W, X, Y = normal(4, 3), normal(8, 4), normal(8, 3)


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


def optimizer(name, start, step):
    def run(w, x, y):
        state = start(w)
        for i in range(3):
            g = jax.grad(loss)(w, x, y)
            w, state = step(i + 1.0, w, g, state)
        return w, state

    CASES.add(f"optimizer.{name}", run, W, X, Y, times=20)


def zeros(w):
    return jnp.zeros_like(w)


def moments(b1, b2, t, g, state):
    m, v = b1 * state[0] + (1 - b1) * g, b2 * state[1] + (1 - b2) * g * g
    return m, v, m / (1 - b1**t), v / (1 - b2**t)


def adam(t, w, g, state):
    m, v, mh, vh = moments(0.9, 0.999, t, g, state)
    return w - 0.1 * mh / (jnp.sqrt(vh) + 1e-8), (m, v)


def adamw(t, w, g, state):
    m, v, mh, vh = moments(0.9, 0.999, t, g, state)
    return w - 0.1 * (mh / (jnp.sqrt(vh) + 1e-8) + 0.01 * w), (m, v)


def nadam(t, w, g, state):
    m, v, mh, vh = moments(0.9, 0.999, t, g, state)
    return w - 0.1 * (0.9 * mh + 0.1 * g / (1 - 0.9**t)) / (jnp.sqrt(vh) + 1e-8), (m, v)


def adamax(t, w, g, state):
    m, u = 0.9 * state[0] + 0.1 * g, jnp.maximum(0.999 * state[1], jnp.abs(g))
    return w - 0.1 / (1 - 0.9**t) * m / (u + 1e-8), (m, u)


def amsgrad(t, w, g, state):
    m, v, mh, vh = moments(0.9, 0.999, t, g, state)
    top = jnp.maximum(state[2], vh)
    return w - 0.1 * mh / (jnp.sqrt(top) + 1e-8), (m, v, top)


def lion(t, w, g, m):
    return w - 0.01 * jnp.sign(0.9 * m + 0.1 * g), 0.99 * m + 0.01 * g


def lamb(t, w, g, state):
    m, v, mh, vh = moments(0.9, 0.999, t, g, state)
    u = mh / (jnp.sqrt(vh) + 1e-6) + 0.01 * w
    ratio = jnp.linalg.norm(w) / jnp.linalg.norm(u)
    return w - 0.1 * jnp.where(ratio > 0, ratio, 1.0) * u, (m, v)


def adafactor(t, w, g, state):
    row, column = 0.9 * state[0] + 0.1 * (g * g).mean(1), 0.9 * state[1] + 0.1 * (g * g).mean(0)
    scale = row[:, None] * column / row.mean()
    u = g * lax.rsqrt(scale + 1e-30)
    return w - 0.1 * u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u * u))), (row, column)


def momentum(t, w, g, v):
    v = 0.9 * v + g
    return w - 0.1 * (g + 0.9 * v), v


def rmsprop(t, w, g, state):
    v, m = 0.9 * state[0] + 0.1 * g * g, 0.9 * state[1] + 0.1 * g
    return w - 0.1 * g * lax.rsqrt(v - m * m + 1e-4), (v, m)


def adagrad(t, w, g, s):
    s = s + g * g
    return w - 0.1 * jnp.where(s > 0, g * lax.rsqrt(s), 0.0), s


def adadelta(t, w, g, state):
    v = 0.9 * state[0] + 0.1 * g * g
    u = jnp.sqrt(state[1] + 1e-6) / jnp.sqrt(v + 1e-6) * g
    return w - u, (v, 0.9 * state[1] + 0.1 * u * u)


def clipped(t, w, g, norm):
    size = jnp.sqrt(jnp.sum(g * g))
    return w - 0.1 * g * jnp.minimum(1.0, 0.1 / (size + 1e-6)), norm + size


def shampoo(t, w, g, state):
    left, right = state[0] + g @ g.T, state[1] + g.T @ g

    def root(a):
        values, vectors = jnp.linalg.eigh(a + 0.1 * jnp.eye(len(a)))
        return (vectors * values**-0.25) @ vectors.T

    return w - 0.1 * root(left) @ g @ root(right), (left, right)


def muon(t, w, g, m):
    m = 0.9 * m + g
    x = m / (jnp.linalg.norm(m) + 1e-7)
    for _ in range(3):
        a = x @ x.T
        x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
    return w - 0.05 * x, m


def lookahead(t, w, g, slow):
    w = w - 0.1 * g
    slow = slow + 0.5 * (w - slow)
    return jnp.where(t % 2 == 0, slow, w), slow


def two_zeros(w):
    return zeros(w), zeros(w)


optimizer("sgd", lambda w: (), lambda t, w, g, s: (w - 0.1 * g, s))
for one in (adam, adamw, nadam, adamax, lamb, rmsprop, adadelta):
    optimizer(one.__name__, two_zeros, one)
for one in (lion, momentum, adagrad, lookahead, muon):
    optimizer(one.__name__, zeros, one)
optimizer("amsgrad", lambda w: (zeros(w), zeros(w), zeros(w)), amsgrad)
optimizer("adafactor", lambda w: (jnp.zeros(len(w)), jnp.zeros(w.shape[1])), adafactor)
optimizer("clipped", lambda w: jnp.float32(0), clipped)
optimizer("shampoo", lambda w: (jnp.zeros((len(w),) * 2), jnp.zeros((w.shape[1],) * 2)), shampoo)


# Layers: values and gradients of all arguments.
def layer(*makers, times=5):
    def add(function):
        def with_gradients(*x):
            def total(*y):
                return jnp.sum(jnp.sin(function(*y)))

            return function(*x), jax.grad(total, argnums=tuple(range(len(x))))(*x)

        CASES.add(f"layer.{function.__name__}", with_gradients, *makers, times=times)
        return function

    return add


@layer(normal(3, 6), normal(6), normal(6))
def layer_norm(x, scale, bias):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(
        x.var(-1, keepdims=True) + 1e-6
    ) * scale + bias


@layer(normal(3, 6), normal(6))
def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


@layer(normal(2, 4, 4, 6), normal(6), normal(6))
def group_norm(x, scale, bias):
    y = x.reshape(2, 4, 4, 3, 2)
    mean, var = y.mean((1, 2, 4), keepdims=True), y.var((1, 2, 4), keepdims=True)
    return ((y - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape) * scale + bias


@layer(normal(4, 3, 3, 5), normal(5), normal(5))
def batch_norm(x, scale, bias):
    return (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * scale + bias


@layer(normal(5, 4), normal(4, 3), uniform(0.5, 1, 3))
def weight_norm(x, v, g):
    return x @ (g * v / jnp.linalg.norm(v, axis=0))


@layer(normal(6, 4), normal(4, 4), normal(4))
def spectral_norm(x, w, u):
    for _ in range(2):
        v = w.T @ u / jnp.linalg.norm(w.T @ u)
        u = w @ v / jnp.linalg.norm(w @ v)
    return x @ (w / (u @ w @ v))


@layer(normal(7, 4), times=5)
def rotary(x):
    angle = jnp.arange(7)[:, None] / 100 ** (jnp.arange(2) / 2)
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate(
        [a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1
    )


@layer(normal(2, 6, 8), normal(8, 8), normal(8, 4), normal(8, 4), normal(8, 8), times=10)
def grouped_query_attention(x, q, k, v, o):
    q = (x @ q).reshape(2, 6, 2, 2, 2)
    k, v = (x @ k).reshape(2, 6, 2, 2), (x @ v).reshape(2, 6, 2, 2)
    scores = jnp.einsum("btghd,bsgd->bghts", q, k) * 0.7
    scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -1e9)
    return jnp.einsum("bghts,bsgd->btghd", jax.nn.softmax(scores), v).reshape(2, 6, 8) @ o


@layer(normal(2, 8, 4), normal(4, 4), normal(4, 4), times=10)
def linear_attention(x, q, k):
    q, k = jax.nn.elu(x @ q) + 1, jax.nn.elu(x @ k) + 1
    kv = jnp.cumsum(k[..., None] * x[..., None, :], 1)
    return (
        jnp.einsum("btd,btde->bte", q, kv)
        / jnp.einsum("btd,btd->bt", q, jnp.cumsum(k, 1))[..., None]
    )


@layer(normal(2, 8, 4), times=5)
def sliding_window_attention(x):
    i = jnp.arange(8)
    mask = (i[:, None] >= i) & (i[:, None] - i < 3)
    s = jnp.where(mask, x @ x.swapaxes(1, 2), -jnp.inf)
    return jax.nn.softmax(s) @ x


@layer(normal(2, 6, 4), normal(2, 5, 4), times=5)
def cross_attention_with_bias(x, y):
    bias = -jnp.abs(jnp.arange(6)[:, None] - jnp.arange(5)) * 0.3
    return jax.nn.softmax(x @ y.swapaxes(1, 2) + bias) @ y


@layer(normal(5, 6), normal(6, 8), normal(6, 8), normal(8, 6))
def swiglu(x, a, b, c):
    return (jax.nn.silu(x @ a) * (x @ b)) @ c


@layer(normal(2, 6, 3), normal(3, 12), normal(3, 12), normal(12), times=20)
def lstm(xs, wx, wh, b):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ wx + h @ wh + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), c

    return lax.scan(step, (jnp.zeros((2, 3)), jnp.zeros((2, 3))), xs.swapaxes(0, 1))[1]


@layer(normal(4, 6, 3), normal(3, 3), normal(3, 3), times=20)
def bidirectional_rnn(xs, a, b):
    def run(w, xs, reverse):
        return lax.scan(lambda h, x: (jnp.tanh(x + h @ w),) * 2, jnp.zeros(3), xs, reverse=reverse)[
            1
        ]

    return jax.vmap(lambda x: run(a, x, False) + run(b, x, True))(xs)


@layer(normal(6, 4), uniform(0.1, 0.9, 4), normal(4), normal(4), times=20)
def state_space(u, a, b, c):
    def step(h, x):
        h = a * h + b * x
        return h, (c * h).sum()

    return lax.scan(step, jnp.zeros(4), u.sum(1))[1]


@layer(normal(1, 8, 8, 2), normal(3, 3, 2, 4), normal(3, 3, 1, 4), normal(1, 1, 4, 3), times=10)
def inverted_bottleneck(x, expand, depthwise, project):
    def conv(x, k, groups=1):
        return lax.conv_general_dilated(
            x,
            k,
            (1, 1),
            "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    return conv(jax.nn.relu6(conv(jax.nn.relu6(conv(x, expand)), depthwise, 4)), project)


@layer(normal(2, 6, 6, 3), normal(4), normal(4, 3), times=10)
def squeeze_and_excite(x, a, b):
    s = jax.nn.sigmoid(jax.nn.relu(x.mean((1, 2))[:, :1] * a) @ b)
    return x * s[:, None, None]


@layer(normal(1, 4, 4, 3), normal(2, 2, 3, 2), normal(2, 2, 3, 2), times=10)
def u_net(x, down, up):
    numbers = ("NHWC", "HWIO", "NHWC")
    y = lax.conv_general_dilated(x, down, (2, 2), "VALID", dimension_numbers=numbers)
    y = lax.conv_transpose(y, up.swapaxes(2, 3), (2, 2), "VALID", dimension_numbers=numbers)
    return jnp.concatenate([x, y], -1)


@layer(normal(1, 6, 6, 2), times=5)
def poolings(x):
    window = (1, 2, 2, 1)
    a = lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")
    b = lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), window, "SAME") / 9
    return a + b


@layer(normal(1, 4, 4, 8), times=5)
def pixel_shuffle(x):
    return x.reshape(1, 4, 4, 2, 2, 2).transpose(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, 2)


@layer(normal(9, 4), normal(5, 4), times=10)
def vector_quantiser(x, codes):
    d = jnp.sum((x[:, None] - codes) ** 2, -1)
    q = codes[jnp.argmin(d, 1)]
    return x + lax.stop_gradient(q - x) + 0.1 * q


@layer(normal(6, 5), times=10)
def gumbel_softmax(x):
    y = jax.nn.softmax(x - jnp.log(-jnp.log(jnp.linspace(0.1, 0.9, 30).reshape(6, 5))))
    return y + lax.stop_gradient(jax.nn.one_hot(jnp.argmax(y, -1), 5) - y)


@layer(normal(5, 7), times=10)
def losses(x):
    labels, target = jnp.arange(5) % 7, jnp.abs(jnp.sin(jnp.arange(35.0))).reshape(5, 7)
    huber = jnp.where(jnp.abs(x) < 1, 0.5 * x * x, jnp.abs(x) - 0.5)
    focal = -((1 - jax.nn.sigmoid(x)) ** 2) * jax.nn.log_sigmoid(x)
    smooth = jax.nn.one_hot(labels, 7) * 0.9 + 0.1 / 7
    crossed = -(smooth * jax.nn.log_softmax(x)).sum(1, keepdims=True)
    bce = jnp.maximum(x, 0) - x * target + jnp.log1p(jnp.exp(-jnp.abs(x)))
    cosine = (x * target).sum(1, keepdims=True) / jnp.linalg.norm(x, axis=1, keepdims=True)
    return jnp.concatenate([huber, focal, crossed, bce, cosine, jnp.logaddexp(x, target)], 1)


@layer(normal(4, 3), normal(5, 3), times=10)
def embeddings(table, w):
    tokens = jnp.array([[0, 3, 3], [1, -1, 2]])
    return table[tokens] @ w.T


@layer(normal(6, 4), normal(6, 4), times=10)
def triplet(a, b):
    d = jnp.sqrt(jnp.sum((a[:, None] - b) ** 2, -1) + 1e-6)
    return jax.nn.relu(d - jnp.diag(d)[:, None] + 0.2)


# Transformations.
@case(normal(4), times=10)
def hessians(x):
    f = lambda y: jnp.sum(jnp.sin(y) * jnp.cumprod(y)) + jnp.prod(y)
    return jax.hessian(f)(x), jax.jacfwd(jax.grad(f))(x), jax.jvp(jax.grad(f), (x,), (x,))[1]


@case(normal(3), normal(3), times=5)
def pullbacks(x, t):
    f = lambda y: (jnp.outer(y, jnp.exp(y)), y[::-1] * y.sum())
    primals, pull = jax.vjp(f, x)
    value, push = jax.linearize(f, x)
    return primals, pull(primals), push(t), jax.linear_transpose(push, x)(value)


@case(uniform(0.5, 2, 4), times=10)
def fourth_derivative(x):
    f = lambda y: jnp.sin(y) * jnp.exp(-y) / y
    for _ in range(4):
        f = jax.grad(f)
    return jax.vmap(f)(x)


@case(normal(5), times=10)
def taylor_by_nested_jvp(x):
    f = jnp.tanh
    out = [f(x)]
    for _ in range(3):
        f = functools.partial(lambda g, y: jax.jvp(g, (y,), (jnp.ones_like(y),))[1], f)
        out.append(f(x))
    return jnp.stack(out)


@case(normal(3, 4), normal(4), times=5)
def custom_rules(x, y):
    @jax.custom_jvp
    def f(a):
        return jnp.sin(a)

    f.defjvp(lambda p, t: (f(p[0]), 2 * jnp.cos(p[0]) * t[0]))

    @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
    def g(a, n):
        return a**n

    g.defvjp(lambda a, n: (a**n, a), lambda n, a, t: (n * a * t,))
    return jax.grad(lambda a, b: (f(a) * g(b, 3)).sum(), argnums=(0, 1))(x, y)


@case(normal(3, 4), normal(4, 4), times=10)
def checkpoint_policies(x, w):
    @functools.partial(
        jax.checkpoint, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable
    )
    def block(x):
        return jnp.sin(x @ w) * 2

    @jax.checkpoint
    def other(x):
        return jnp.tanh(block(x) @ w)

    return jax.grad(lambda x: other(block(x)).sum())(x)


@case(normal(4, 3, 2), normal(4, 2), times=5)
def vmap_axes(a, b):
    inner = lambda x, y: x @ y
    one = jax.vmap(inner, (0, 0))(a, b)
    two = jax.vmap(jax.vmap(jnp.dot, (None, 1)), (1, None), 1)(a[0], a[1])
    three = jax.vmap(lambda x: lax.psum(x, "i") + lax.axis_index("i"), axis_name="i")(b)
    four = jax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i", out_axes=1)(b)
    five = jax.vmap(
        lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 3), (3, 0)]), axis_name="i"
    )(b)
    six = jax.vmap(lambda x: lax.pmax(x, "i") - lax.pmean(x, "i"), axis_name="i")(b)
    return one, two, three, four, five, six


@case(normal(4, 5), integers(0, 5, 4), times=3)
def vmap_of_indices(x, i):
    take = jax.vmap(lambda r, k: r[k])(x, i)
    put = jax.vmap(lambda r, k: r.at[k].set(9.0))(x, i)
    window = jax.vmap(lambda r, k: lax.dynamic_slice(r, (k,), (2,)))(x, i)
    write = jax.vmap(lambda r, k: lax.dynamic_update_slice(r, r[:2] * 2, (k,)))(x, i)
    found = jax.vmap(lambda r: jnp.searchsorted(jnp.sort(r), 0.1))(x)
    return take, put, window, write, found


@case(normal(4, 5), integers(0, 6, 4), times=3)
def vmap_of_control(x, n):
    def run(r, k):
        y = lax.while_loop(lambda s: s[0] < k, lambda s: (s[0] + 1, s[1] * 1.5 + 1), (0, r))[1]
        y = lax.cond(k > 2, jnp.sin, jnp.cos, y)
        return lax.fori_loop(0, k, lambda i, z: z.at[i % 5].add(1.0), y)

    return jax.vmap(run)(x, n)


@case(normal(6), times=10)
def gradient_of_scan_with_branches(x):
    def step(c, v):
        c = lax.cond(v > 0, lambda a: a * v, lambda a: a + v * v, c)
        return c, lax.switch(jnp.int32(v > 0.5), [jnp.sin, jnp.cos], c)

    return jax.value_and_grad(lambda y: lax.scan(step, 1.0, y)[1].sum())(x)


@case(normal(5), times=20)
def gradient_of_fori(x):
    return jax.grad(lambda y: lax.fori_loop(0, 6, lambda i, z: jnp.sin(z) + z[i % 5], y).sum())(x)


@case(positive_definite(4), normal(4), times=30)
def implicit_differentiation(a, b):
    def solve(a):
        y = lax.custom_linear_solve(
            lambda v: a @ v,
            b,
            lambda _, r: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), r),
            symmetric=True,
        )
        return y @ y

    return jax.grad(solve)(a)


@case(normal(4, 4), times=50)
def gradients_of_factors(a):
    a = a @ a.T + 2 * jnp.eye(4)
    f = lambda a: (
        jnp.linalg.slogdet(a)[1],
        jnp.linalg.inv(a).sum(),
        jnp.linalg.cholesky(a).sum(),
        jnp.linalg.eigvalsh(a) @ jnp.arange(4.0),
        jnp.linalg.svd(a, compute_uv=False).sum(),
        jnp.abs(jnp.linalg.qr(a)[1]).sum(),
    )
    return jax.jacrev(f)(a)


@case(normal(3, 4), times=5)
def donated(x):
    return x * 2 + 1


@case(normal(3), normal(3), times=5)
def complex_derivatives(x, y):
    z = x + 1j * y
    f = lambda z: jnp.exp(z) * z
    g = lambda z: jnp.abs(f(z)).sum()
    return jax.jvp(f, (z,), (z,)), jax.grad(g)(z), jax.vmap(jax.grad(f, holomorphic=True))(z)


@case(normal(4), times=5)
def closures_and_statics(x):
    constants = np.arange(4, dtype=np.float32)
    inner = jax.jit(lambda a, n: a * n + constants, static_argnums=1)
    return (
        inner(x, 3),
        jax.jit(inner, static_argnums=1)(x, 4),
        functools.reduce(lambda c, _: inner(c, 2), range(4), x),
    )


@case(normal(16), times=30)
def mixed_precision_step(x):
    def loss(w):
        h = jnp.tanh(w.astype(jnp.bfloat16) * 2)
        return jnp.sum(h.astype(jnp.float32) ** 2) * 8.0

    value, g = jax.value_and_grad(loss)(x)
    finite = jnp.all(jnp.isfinite(g))
    return (
        jnp.where(finite, x - 0.01 * g / 8.0, x).astype(jnp.bfloat16).astype(jnp.float32),
        value > 0,
    )


@case(key(), times=5)
def dropout_and_noise(k):
    ks = jax.random.split(k, 3)
    mask = jax.random.bernoulli(ks[0], 0.8, (4, 5))
    return jnp.where(mask, jax.random.normal(ks[1], (4, 5)) / 0.8, 0.0), jax.vmap(
        jax.random.fold_in, (None, 0)
    )(ks[2], jnp.arange(3))


@case(normal(6), times=5, x64=True)
def wide_inside(x):
    y = jnp.float64(x) * 1e-9 + 1.0
    return jnp.float32(jnp.log(y) * 1e9), jnp.sum(y), jnp.int64(2) ** 40 + jnp.arange(3)


@case(normal(5, 3), times=100)
def half_statistics(x):
    h = x.astype(jnp.float16)
    return [
        y.astype(jnp.float32)
        for y in (h.mean(0), h.std(1), jax.nn.softmax(h), h @ h.T, jnp.cumsum(h, 0), jnp.sort(h, 0))
    ]
