"""Special functions and a normalisation, of both float types, as JAX prints them.

`python -m tests.models.functions.model`, from the top of the repository, writes the module and the
tensors of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent

# Of any number, of numbers between -1 and 1, and of numbers from 1 on.
OF_ALL = [lax.sin, lax.cos, lax.tan, lax.atan, lax.asinh, lax.erf]
OF_UNIT = [lax.asin, lax.acos, lax.atanh, lax.erf_inv, lax.sinh, lax.cosh]


@jax.jit
def functions(x, unit, half):
    wide = [f(x) for f in OF_ALL]
    within = [f(unit) for f in OF_UNIT]
    above = lax.acosh(1 + jnp.abs(x))
    mean, variance = jnp.mean(x, 0), jnp.var(x, 0)
    normal = (x - mean) * lax.rsqrt(variance + 1e-5)
    infinite = jnp.isinf(x), jnp.isposinf(x), jnp.isneginf(x)
    return wide, within, above, normal, infinite, [f(half) for f in OF_ALL + OF_UNIT]


def main():
    random = np.random.default_rng(7)
    x = random.normal(0, 100, (6, 20)).astype(np.float32)
    unit = random.uniform(-1, 1, (6, 20)).astype(np.float32)
    args = x, unit, unit.astype(np.float16)
    write_module(HERE / "functions.mlir", functions, *args)
    write_tensors(HERE / "input.h5", numbered("arg", args))
    write_tensors(HERE / "expected.h5", numbered("result", functions(*args)))


if __name__ == "__main__":
    main()
