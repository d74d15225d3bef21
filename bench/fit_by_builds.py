#!/usr/bin/env python3
"""Fits a constant of planners, such as kLaunchPrice (compiler/cost/costs.cpp) and kLeastPerTile (compiler/program/layout.cpp).

    fit_by_builds.py [-m MACHINE]... [-s SAMPLE] VALUE=SUPERSTEP...

Each SUPERSTEP is built with the constant at VALUE. Runs programs of sample_programs.py (30 layers with their gradients, or with
`-s sums` sums of narrow elements) on each machine, bow and small64 unless named, and prints device cycles above the least of all values: their mean over programs, the
median and the 95th percentile."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

import sample_programs

arguments = argparse.ArgumentParser()
arguments.add_argument("-m", "--machine", action="append")
arguments.add_argument("-s", "--sample", choices=("layers", "sums"), default="layers")
arguments.add_argument("builds", nargs="+", metavar="VALUE=SUPERSTEP")
given = arguments.parse_args()
builds = dict(build.split("=", 1) for build in given.builds)
losses = {value: [] for value in builds}
with tempfile.TemporaryDirectory() as folder:
    programs = sample_programs.sums() if given.sample == "sums" else sample_programs.layers(30)
    for number, text in enumerate(programs):
        path = os.path.join(folder, f"{number}.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for machine in given.machine or ["bow", "small64"]:
            cycles = {}
            for value, superstep in builds.items():
                run = subprocess.run([superstep, "run", path, "-m", machine, "--input", "random:1", "--json", "-q"],
                                     check=True, capture_output=True, text=True)
                cycles[value] = json.loads(run.stdout)["cycles"]["device"]
            for value, count in cycles.items():
                losses[value].append(count / min(cycles.values()) - 1)
for value, loss in losses.items():
    print(f"{value:>6}: {len(loss)} runs, above the least by {statistics.mean(loss):.2%} on average, "
          f"median {statistics.median(loss):.1%}, 95th percentile {sorted(loss)[int(0.95 * (len(loss) - 1))]:.1%}")
