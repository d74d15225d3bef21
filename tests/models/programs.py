"""Writes JAX programs into a folder: a module each, and the tensors of all of them in two files."""

from contextlib import contextmanager

import jax

from models.export import PLATFORM, numbered, write_module, write_tensors


@contextmanager
def programs_in(folder):
    """Gives a function that writes a program, `name.mlir`; at the end, arguments.h5 and results.h5
    hold what each takes and gives, `name.arg0`, ..., `name.result0`, ..."""
    arguments, results = {}, {}

    def write(name, function, *args, platform=PLATFORM):
        jitted = jax.jit(function)
        write_module(folder / f"{name}.mlir", jitted, *args, platform=platform)
        arguments.update(numbered(f"{name}.arg", args))
        results.update(numbered(f"{name}.result", jitted(*args)))

    yield write
    write_tensors(folder / "arguments.h5", arguments)
    write_tensors(folder / "results.h5", results)
