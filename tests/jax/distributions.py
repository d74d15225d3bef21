"""Random numbers and distributions, with arguments that they are defined for."""

import jax
import jax.scipy as jsp
import numpy as np

from case import (
    Cases,
    integers,
    key,
    normal,
    positive_definite,
    uniform,
)

CASES = Cases()
add, add_names = CASES.add, CASES.add_names

# The bits are the key's, and so are the numbers but for the functions that they go through.
SHAPED = {
    "uniform normal exponential gumbel laplace logistic cauchy rademacher bits bernoulli "
    "maxwell lognormal": (),
    "pareto": (2.0,),
    "gamma": (2.5,),
    "beta": (2.0, 3.0),
    "poisson": (4.0,),
    "geometric": (0.4,),
    "t chisquare": (3.0,),
    "wald": (1.0,),
    "triangular": (0.0, 1.0, 2.0),
    "weibull_min": (1.0, 2.0),
    "double_sided_maxwell": (0.0, 1.0),
    "binomial": (9.0, 0.4),
    "truncated_normal": (-1.0, 2.0),
}
for names, parameters in SHAPED.items():
    for name in names.split():
        function = getattr(jax.random, name)
        add(
            f"random.{name}",
            lambda k, f=function, p=parameters: f(k, *p, shape=(3, 5)),
            key(),
            times=3,
        )
add("random.randint", lambda k: jax.random.randint(k, (3, 5), 0, 99), key())
add("random.permutation", lambda k: jax.random.permutation(k, 12), key())
add("random.categorical", jax.random.categorical, key(), normal(4, 6))
add("random.dirichlet", jax.random.dirichlet, key(), uniform(0.5, 2, 4), times=3)
add("random.orthogonal", lambda k: jax.random.orthogonal(k, 4), key(), times=10)
add("random.ball", lambda k: jax.random.ball(k, 3, shape=(3, 5)), key(), times=3)
add(
    "random.rayleigh", lambda k, s: jax.random.rayleigh(k, s), key(), uniform(0.5, 2, 3, 5), times=3
)
add("random.split", lambda k: jax.random.split(k, 5), key())
add("random.fold_in", lambda k, i: jax.random.fold_in(k, i), key(), integers(0, 99))
add("random.choice", lambda k: jax.random.choice(k, 9, (5,), replace=False), key())
add(
    "random.choice_weights",
    lambda k, p: jax.random.choice(k, 6, (5,), p=p),
    key(),
    lambda g: g.permutation(np.array([1, 1, 2, 4, 4, 4], np.float32)) / 16,
)
add(
    "random.multivariate_normal",
    lambda k, m, c: jax.random.multivariate_normal(k, m, c, shape=(3,)),
    key(),
    normal(4),
    positive_definite(4),
    times=20,
)
add(
    "random.shuffle_rows",
    lambda k, x: jax.random.permutation(k, x, axis=0, independent=True),
    key(),
    normal(5, 4),
)

# Distributions.
for name in "norm laplace logistic cauchy gumbel_l gumbel_r".split():
    for what in "logpdf pdf cdf logcdf sf logsf".split():
        function = getattr(getattr(jsp.stats, name, None), what, None)
        if function is not None:
            add(f"scipy.stats.{name}.{what}", function, normal(3, 5), times=4)
for name, *rest in (
    ("gamma", 2.5),
    ("beta", 2.0, 3.0),
    ("chi2", 3.0),
    ("expon",),
    ("t", 4.0),
    ("pareto", 2.0),
    ("wrapcauchy", 0.4),
):
    probability = uniform(0.1, 0.9, 3, 5) if name == "beta" else uniform(1.1, 3, 3, 5)
    add(
        f"scipy.stats.{name}.logpdf",
        lambda x, n=name, r=rest: getattr(jsp.stats, n).logpdf(x, *r),
        probability,
        times=5,
    )
for name, *rest in (
    ("bernoulli", 0.3),
    ("binom", 9, 0.4),
    ("geom", 0.4),
    ("nbinom", 3, 0.4),
    ("poisson", 2.5),
):
    places = integers(0, 2, 3, 5) if name == "bernoulli" else integers(1, 8, 3, 5)
    add(
        f"scipy.stats.{name}.logpmf",
        lambda x, n=name, r=rest: getattr(jsp.stats, n).logpmf(x, *r),
        places,
        times=5,
    )
add(
    "scipy.stats.multivariate_normal",
    lambda x, m, c: jsp.stats.multivariate_normal.logpdf(x, m, c),
    normal(3, 4),
    normal(4),
    positive_definite(4),
    times=5,
)
add(
    "scipy.stats.gaussian_kde",
    lambda d, x: jsp.stats.gaussian_kde(d)(x),
    normal(12),
    normal(5),
    times=5,
)
add("scipy.cluster.vq", lambda x, c: jsp.cluster.vq.vq(x, c), normal(9, 3), normal(4, 3))
add("scipy.integrate.trapezoid", jsp.integrate.trapezoid, normal(4, 9))
