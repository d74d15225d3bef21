#!/usr/bin/env python3
"""Fits Costs::kGapPerTransfer (compiler/cost/costs.h): cycles that a port is idle for each transfer.

    fit_transfer_gap.py SUPERSTEP PROGRAM.mlir...

Runs each program on bow with a trace of tiles, and prints the gap by which the phases' estimates, times the transfers of
the busiest receiver, differ least from their schedules: by least squares of cycles, and of shares of the schedule. Needs
h5py and NumPy. Named in the code: the fit to products 16x4096x4096 (f32), 1x4096x4096 (f32), 512x512x512 (f16, f32), of a
sum over the first axis, a slice and a transpose of 1024x1024 (f32), of attention (8 heads, 256 by 64, f32), and of
models/mnist_mlp/train_step.mlir."""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy


def phases(superstep, program):
    """(estimated cycles, cycles of the schedule, transfers of the busiest receiver) of each phase."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.h5")
        subprocess.run([superstep, "run", program, "-m", "bow", "--input", "random:1", "-q", "-o", path,
                        "--trace", "tile"], check=True, stdout=subprocess.DEVNULL)
        with h5py.File(path) as file:
            step = file["/program/step"]
            message = {name: file["/exchange/message"][name][:] for name in ("destination_tile", "bytes")}
            rows = zip(*(file["/exchange"][name][:] for name in ("step", "first_message", "messages")))
            for number, first, count in rows:
                own = slice(int(first), int(first + count))
                tile = message["destination_tile"][own]
                busiest = numpy.argmax(numpy.bincount(tile, message["bytes"][own]))
                yield (step["estimated_cycles"][number], step["predicted_cycles"][number],
                       numpy.count_nonzero(tile == busiest))


all_phases = numpy.array([p for program in sys.argv[2:] for p in phases(sys.argv[1], program)], float)
estimated, cycles, transfers = all_phases.T
for name, weight in (("cycles", numpy.ones_like(cycles)), ("shares", 1 / cycles)):
    gap = (weight**2 * transfers * (cycles - estimated)).sum() / (weight * transfers).dot(weight * transfers)
    error = abs(cycles - estimated - gap * transfers) / cycles
    print(f"least squares of {name}: {gap:.2f} cycles a transfer, {len(cycles)} phases, "
          f"residuals: median {numpy.median(error):.1%}, 95th percentile {numpy.quantile(error, 0.95):.1%}")
