"""Heat that spreads in a plate: 1,000 steps of an explicit five-point stencil, with a cold border.

`python -m models.heat.model`, from the top of the repository, writes the module and tensors of this
folder. `python -m models.heat.model FOLDER SIZE STEPS` writes those of another size into FOLDER.
"""

import sys
from functools import partial
from pathlib import Path

import jax
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
DIFFUSION = 0.2  # a quarter is where it becomes unstable


def step(_, plate):
    inside = plate[1:-1, 1:-1]
    neighbours = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    return plate.at[1:-1, 1:-1].set(inside + DIFFUSION * (neighbours - 4 * inside))


def spread(steps, plate):
    """Returns the plate after the steps, and the heat that is left in it."""
    plate = jax.lax.fori_loop(0, steps, step, plate)
    return plate, plate.sum()


def hot_spots(size):
    plate = np.zeros((size, size), np.float32)
    random = np.random.default_rng(0)
    for row, column in random.integers(1, size - 4, (6, 2)):
        plate[row : row + 3, column : column + 3] = 100
    return plate


def write(folder, size, steps):
    folder.mkdir(parents=True, exist_ok=True)
    function = jax.jit(partial(spread, steps), donate_argnums=0)
    plate = hot_spots(size)
    write_module(folder / "heat.mlir", function, plate)
    write_tensors(folder / "input.h5", numbered("arg", plate))
    after, left = function(plate)
    write_tensors(folder / "expected.h5", numbered("result", (after, left)))
    print(f"{left / plate.sum():.1%} of the heat is left, {after.max():.2f} at the hottest place")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        write(HERE, 48, 1000)
    else:
        write(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
