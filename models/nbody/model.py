"""Bodies that attract each other: steps of the leapfrog in a `fori_loop`, every pair in each.

`python -m models.nbody.model`, from the top of the repository, writes the module and tensors of this
folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
BODIES = 128
STEPS = 16
TIME = 0.01
SOFTENING = 0.05  # bodies are not points, so that near ones do not fly apart


def accelerations(places, masses):
    between = places[None] - places[:, None]
    inverse = jax.lax.rsqrt((between**2).sum(-1) + SOFTENING**2)
    return ((masses * inverse**3)[..., None] * between).sum(1)


def energy(places, velocities, masses):
    squares = ((places[None] - places[:, None]) ** 2).sum(-1) + SOFTENING**2
    potential = -0.5 * (masses * masses[:, None] * jax.lax.rsqrt(squares)).sum()
    return 0.5 * (masses * (velocities**2).sum(1)).sum() + potential


@jax.jit
def simulate(places, velocities, masses):
    """Returns places and velocities after the steps, and the energy before and after."""

    def step(_, state):
        places, velocities, pull = state
        velocities = velocities + TIME / 2 * pull
        places = places + TIME * velocities
        pull = accelerations(places, masses)
        return places, velocities + TIME / 2 * pull, pull

    start = places, velocities, accelerations(places, masses)
    *after, _ = jax.lax.fori_loop(0, STEPS, step, start)
    return *after, energy(places, velocities, masses), energy(*after, masses)


def main():
    random = np.random.default_rng(0)
    places = random.normal(0, 1, (BODIES, 3)).astype(np.float32)
    velocities = random.normal(0, 0.3, (BODIES, 3)).astype(np.float32)
    masses = random.uniform(0.5 / BODIES, 1.5 / BODIES, BODIES).astype(np.float32)
    arguments = places, velocities, masses
    write_module(HERE / "simulate.mlir", simulate, *arguments)
    write_tensors(HERE / "input.h5", numbered("arg", arguments))
    results = simulate(*arguments)
    write_tensors(HERE / "expected.h5", numbered("result", results))
    print(f"energy {results[2]:.5f} before, {results[3]:.5f} after")


if __name__ == "__main__":
    main()
