"""Runs JAX functions on simulated machines, and compares with what JAX computes on the CPU.

    tests/python/run tests/jax/agree.py --superstep build/release/superstep
        [-m MACHINE] [--transform vmap] [--dtype float16] [--every N] [NAME ...]

`elements.py`, `arrays.py`, `algebra.py` and `distributions.py` list functions of JAX's modules,
`seldom.py` those that are seldom used, `dtypes.py` those of lax on every dtype, `corners.py` strange
shapes; `programs.py` and `training.py` list whole programs. NAME chooses those whose name contains
it, --every takes one of N. A number may be off by the dtype's tolerance, times its own size plus
that of the largest of its result. Prints what disagrees or is refused, and counts.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models"))

import export
import h5py
import jax
import jax.numpy as jnp
import numpy as np

ALLOWED = {"agrees", "without gradient", "JAX refuses"}
TOLERANCE = {"float64": 1e-11, "float32": 3e-5, "float16": 4e-3, "bfloat16": 3e-2}


def tolerance_of(dtype):
    """That of a dtype's parts; nothing for integers and what is only stored."""
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name)
    return TOLERANCE.get(part)


def with_dtype(tree, dtype):
    """Floats of 32 bits as another dtype, complex numbers with parts of it if there are such."""
    complex_dtype = {"float64": np.complex128}.get(dtype, np.complex64)
    kinds = {np.dtype(np.float32): np.dtype(dtype), np.dtype(np.complex64): complex_dtype}
    return jax.tree.map(lambda x: np.asarray(x).astype(kinds.get(x.dtype, x.dtype)), tree)


def summed(value):
    """A scalar that depends on every float of a tree, and differently on each."""

    def one(x):
        weights = jnp.cos(jnp.arange(x.size, dtype=jnp.float32)).reshape(x.shape)
        return jnp.sum((jnp.abs(x) if jnp.iscomplexobj(x) else x) * weights.astype(jnp.float32))

    leaves = [x for x in jax.tree.leaves(value) if jnp.issubdtype(x.dtype, jnp.inexact)]
    return sum(map(one, leaves), jnp.float32(0))


def transformed(case, transform):
    """A function and its arguments: the case's own, on a batch of three, or its gradient."""
    if transform == "vmap":
        batches = [case.arguments(seed) for seed in range(3)]
        return jax.vmap(case.function), jax.tree.map(lambda *x: np.stack(x), *batches)
    arguments = case.arguments(0)
    if transform == "grad":
        floats = tuple(
            i
            for i, x in enumerate(arguments)
            if all(leaf.dtype == np.float32 for leaf in jax.tree.leaves(x))
        )
        if not floats:
            return None, None
        return jax.grad(lambda *x: summed(case.function(*x)), argnums=floats), arguments
    return case.function, arguments


def difference(found, expected, tolerance):
    """What is wrong with a result, in words; nothing where it agrees."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape}, not {expected.dtype}{expected.shape}"
    if tolerance is None:
        wrong = (found != expected) & ~((found != found) & (expected != expected))
    else:
        wide = np.complex128 if found.dtype.kind == "c" else np.float64
        a, b = found.astype(wide), expected.astype(wide)
        with np.errstate(invalid="ignore"):
            sizes = np.abs(b)
            largest = np.max(sizes, initial=0, where=np.isfinite(sizes))
            near = np.abs(a - b) <= tolerance * (sizes + largest)
        wrong = ~((a == b) | near | (np.isnan(a) & np.isnan(b)))
    where = np.argwhere(np.atleast_1d(wrong))
    if not where.size:
        return ""
    at = tuple(int(k) for k in where[0])
    a, b = (np.atleast_1d(x)[at] for x in (found, expected))
    return f"{len(where)} of {found.size} elements, {at}: found {a}, expected {b}"


def write_module(path, function, arguments):
    """As for a platform without rules; linear algebra has none there, but calls of LAPACK on the CPU."""
    try:
        export.write_module(path, function, *arguments)
    except NotImplementedError:
        export.write_module(path, function, *arguments, platform="cpu")


def verdict(case, options, folder):
    """A word, and what there is to say."""
    with jax.enable_x64(case.x64 or options.dtype == "float64"):
        return verdict_on(case, options, folder)


def verdict_on(case, options, folder):
    function, arguments = transformed(case, options.transform)
    if function is None:
        return "without gradient", ""
    if options.dtype != "float32":
        arguments = with_dtype(arguments, options.dtype)
    program, given, output = (folder / name for name in ("case.mlir", "in.h5", "out.h5"))
    try:
        expected = jax.tree.leaves(jax.jit(function)(*arguments))
        write_module(program, jax.jit(function, keep_unused=True), arguments)
    except Exception as error:  # of many kinds; the text says which
        return "JAX refuses", f"{type(error).__name__}: {str(error).splitlines()[0]}"
    export.write_tensors(given, export.numbered("arg", arguments))
    output.unlink(missing_ok=True)
    command = [options.superstep, "run", program, "-m", options.machine, "-q"]
    command += ["-i", given, "--output", output]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=options.timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return "too long", f"more than {options.timeout} s"
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).splitlines()
        return f"exit {done.returncode}", " ".join(lines[:2])
    with h5py.File(output) as file:
        found = [export.read_tensor(file[f"result{i}"]) for i in range(len(expected))]
    for i, (a, b) in enumerate(zip(found, map(np.asarray, expected), strict=True)):
        tolerance = tolerance_of(b.dtype)
        if tolerance is not None:  # a wide result may come from narrow floats
            tolerance = max(tolerance, TOLERANCE[options.dtype]) * case.times
        what = difference(a, b, tolerance)
        if what:
            return "differs", f"result {i}, {what}"
    return "agrees", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--superstep", required=True)
    parser.add_argument("-m", "--machine", default="tiny4")
    parser.add_argument("--transform", choices=["grad", "vmap"])
    parser.add_argument("--dtype", default="float32", choices=TOLERANCE)
    parser.add_argument(
        "--larger", type=int, default=1, help="times, in each dimension of arguments"
    )
    parser.add_argument("--every", type=int, default=1, help="one case of so many")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one run")
    parser.add_argument("--keep", type=Path, help="folder for the programs of cases that fail")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    import case

    case.factor = options.larger
    import algebra
    import arrays
    import corners
    import distributions
    import dtypes
    import elements
    import programs
    import seldom
    import training

    cases = [
        one
        for module in (
            elements,
            arrays,
            seldom,
            corners,
            algebra,
            distributions,
            dtypes,
            programs,
            training,
        )
        for one in module.CASES
        if not options.names or any(name in one.name for name in options.names)
    ]
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for one in cases[:: options.every]:
            word, what = verdict(one, options, Path(folder))
            counts[word] += 1
            if options.keep and word not in ALLOWED:
                shutil.copytree(folder, options.keep / one.name, dirs_exist_ok=True)
            if what:
                print(f"{one.name} {word}: {what}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.most_common()))
    return int(not counts or not set(counts) <= ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
