"""Two programs small enough to follow by hand.

`python -m models.quickstart.model`, from the top of the repository, writes the modules and
tensors of this folder.
"""

from pathlib import Path

import jax
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent


@jax.jit
def square_plus_one(data):
    return data**2 + 1


@jax.jit
def affine(w, x, b):
    return w @ x + b


def write(function, *args):
    name = function.__name__
    write_module(HERE / f"{name}.mlir", function, *args)
    write_tensors(HERE / f"{name}_input.h5", numbered("arg", args))
    write_tensors(HERE / f"{name}_expected.h5", numbered("result", function(*args)))


def main():
    write(square_plus_one, np.arange(8, dtype=np.float32))
    w = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
    write(affine, w, np.float32([1, -2, 3]), np.float32([0.5, 0.25, -0.25, -0.5]))


if __name__ == "__main__":
    main()
