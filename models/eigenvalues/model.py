"""The eigenvalues of a symmetric matrix: how a chain of springs of random stiffness swings.

`python -m models.eigenvalues.model`, from the top of the repository, writes the module and tensors of
this folder. The module is as JAX lowers it for CPUs, a call of LAPACK: platforms that JAX does not
know have no `eigvalsh`.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
MASSES = 64


@jax.jit
def frequencies(stiffness):
    """Returns the frequencies, ascending."""
    return jnp.sqrt(jnp.linalg.eigvalsh(stiffness))


def main():
    springs = np.random.default_rng(0).uniform(0.5, 1.5, MASSES + 1).astype(np.float32)
    stiffness = np.diag(springs[:-1] + springs[1:])
    stiffness -= np.diag(springs[1:-1], 1) + np.diag(springs[1:-1], -1)
    write_module(HERE / "frequencies.mlir", frequencies, stiffness, platform="cpu")
    write_tensors(HERE / "input.h5", numbered("arg", stiffness))
    results = frequencies(stiffness)
    write_tensors(HERE / "expected.h5", numbered("result", results))
    exact = np.sqrt(np.linalg.eigvalsh(stiffness.astype(float)))
    print(f"{exact[0]:.5f} to {exact[-1]:.5f}; JAX's error {abs(results - exact).max():.1e}")


if __name__ == "__main__":
    main()
