"""Runs generated programs in JAX, and compares with the reference evaluator's results.

    SUPERSTEP_GENERATED_WRITE=FOLDER SUPERSTEP_GENERATED=1000 SUPERSTEP_GENERATED_SEED=1 \\
        build/release/tests/generated_tests --gtest_filter='*AreWritten*'
    tests/python/run tests/generated/with_jax.py FOLDER

Prints the programs that disagree and what of them does. An element may be off by some times the error
that the evaluator allows the machine, or some units in the last place: XLA divides by constants by
multiplying, and has elementary functions of its own. Counted apart are programs where XLA differs
knowingly: its CPU takes subnormal floats for zero, and reductions may take an initial value several
times or, of single elements, not at all. 15 others of 5,000 differed; those looked at use unsigned
indices with their highest bit set, which XLA takes for negative ones, count the leading zeros of
negative i8, add an i1 to itself, order NaN, or show the bits of a NaN.
"""

import re
import sys
from collections import Counter
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import h5py
import jax
import ml_dtypes
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import _jax, xla_client
from jaxlib.mlir import ir

TIMES_THE_ERROR = 4
UNITS = 4  # in the last place
SUBNORMAL = re.compile(r"0x(?!0+\b)[08]0[0-7][0-9A-F](?:[0-9A-F]{4})?\b")


def run(text, arguments):
    client = jax.devices("cpu")[0].client
    with mlir.make_ir_context():
        module = mlir.module_to_bytecode(ir.Module.parse(text))
    devices = _jax.DeviceList(tuple(client.local_devices()[:1]))
    program = client.compile_and_load(module, devices, xla_client.CompileOptions())
    results = program.execute_sharded([jax.device_put(argument) for argument in arguments])
    return [np.asarray(r[0]) for r in results.disassemble_into_single_device_arrays()]


def wrong(found, expected, error):
    """Elements that differ by more than they may."""
    if found.dtype.kind not in "fV":
        return found != expected
    info = ml_dtypes.finfo(found.dtype)
    with np.errstate(invalid="ignore"):
        a, b = found.astype(np.float64), expected.astype(np.float64)
        near = TIMES_THE_ERROR * error + UNITS * float(info.eps) * np.abs(b) + float(info.tiny)
        near = np.abs(a - b) <= near
    return ~((a == b) | near | (np.isnan(a) & np.isnan(b)))


def tensor(dataset):
    return dataset[()].view(ml_dtypes.bfloat16) if "dtype" in dataset.attrs else dataset[()]


def numbered(file, name):
    return [tensor(file[f"{name}{i}"]) for i in range(sum(key.startswith(name) for key in file))]


def has_subnormals(text, arguments):
    def is_subnormal(x):
        return (x != 0) & (np.abs(x) < np.finfo(np.float32).tiny)

    wide = (np.float32, ml_dtypes.bfloat16)  # what is subnormal in f16 is not looked for
    floats = (x.astype(np.float32) for x in arguments if x.dtype in wide)
    return SUBNORMAL.search(text) is not None or any(is_subnormal(x).any() for x in floats)


def kind(text, arguments):
    if has_subnormals(text, arguments):
        return "subnormal"
    return "reduces" if "stablehlo.reduce" in text else "differs"


def disagreement(path):
    text = path.read_text()
    with h5py.File(path.with_suffix(".h5")) as file:
        arguments, expected, errors = (numbered(file, n) for n in ("arg", "result", "error"))
    try:
        results = run(text, arguments)
    except Exception as error:  # of many kinds; the text says which
        return "refused", " ".join(str(error).splitlines()[:2])
    for i, (found, value, error) in enumerate(zip(results, expected, errors, strict=True)):
        if found.shape != value.shape or found.dtype != value.dtype:
            return "differs", f"result {i}: {found.dtype}{found.shape}, not {value.dtype}{value.shape}"
        where = np.atleast_1d(wrong(found, value, error))
        if where.any():
            at = tuple(int(k) for k in np.argwhere(where)[0])
            one = (np.atleast_1d(v)[at] for v in (found, value, error))
            what = "found {}, expected {} within {}".format(*one)
            where = f"{where.sum()} of {where.size} elements, {at}"
            return kind(text, arguments), f"result {i}, {where}: {what}"
    return "agrees", ""


def answer():
    """The verdict on each path that is read, one a line: XLA may end the process."""
    for line in sys.stdin:
        print(*disagreement(Path(line.strip())), sep="\t", flush=True)


def verdicts(paths):
    child = None
    for path in paths:
        if child is None:
            command = [sys.executable, __file__]
            child = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)
        print(path, file=child.stdin, flush=True)
        line = child.stdout.readline()
        if line:
            yield path, *line.rstrip("\n").split("\t", 1)
        else:
            yield path, "ended JAX", f"signal {-child.wait()}"
            child = None


def main():
    counts = Counter()
    for path, verdict, what in verdicts(sorted(Path(sys.argv[1]).glob("*.mlir"))):
        counts[verdict] += 1
        if what:
            print(f"{path.stem} {verdict}: {what}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return counts["differs"] > 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) > 1 else answer())
