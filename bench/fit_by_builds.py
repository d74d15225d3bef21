#!/usr/bin/env python3
"""Fits a constant of planners, such as kLaunchPrice (compiler/cost/costs.cpp), to generated programs.

    fit_by_builds.py [-m MACHINE]... [-s SAMPLE]... [-n COUNT] VALUE=SUPERSTEP...

Each SUPERSTEP is built with the constant at VALUE. Runs COUNT programs (12 unless given) of each SAMPLE of sample_programs.py (layers
unless named) on each machine, bow and small64 unless named. Prints for each value the device cycles above the least of all values
(their mean over programs, median and 95th percentile, and how many programs take more), the same of device and host cycles
together, and the processor time of compiling them all, as a ratio to the first value."""
import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile

import sample_programs

arguments = argparse.ArgumentParser()
arguments.add_argument("-m", "--machine", action="append")
arguments.add_argument("-s", "--sample", action="append", choices=sample_programs.SAMPLES)
arguments.add_argument("-n", "--count", type=int, default=12)
arguments.add_argument("builds", nargs="+", metavar="VALUE=SUPERSTEP")
given = arguments.parse_args()
builds = dict(build.split("=", 1) for build in given.builds)


def processor_time(command):
    """Seconds of a command and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, output


def above_least(cycles):
    """Shares of the least of all values, by value."""
    return {value: count / min(cycles.values()) - 1 for value, count in cycles.items()}


device, together, seconds = ({value: [] for value in builds} for _ in range(3))
with tempfile.TemporaryDirectory() as folder:
    for text in (text for sample in given.sample or ["layers"] for text in sample_programs.SAMPLES[sample](given.count)):
        path = os.path.join(folder, "program.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for machine in given.machine or ["bow", "small64"]:
            cycles = {}
            for value, superstep in builds.items():
                time, _ = processor_time([superstep, "compile", path, "-m", machine, "-j1", "-q"])
                _, output = processor_time([superstep, "run", path, "-m", machine, "--input", "random:1", "--json", "-q"])
                cycles[value] = json.loads(output)["cycles"]
                seconds[value].append(time)
            for value, share in above_least({value: count["device"] for value, count in cycles.items()}).items():
                device[value].append(share)
            for value, share in above_least({value: count["device"] + count["host"] for value, count in cycles.items()}).items():
                together[value].append(share)
first = sum(next(iter(seconds.values())))
for value, loss in device.items():
    print(f"{value:>6}: {len(loss)} runs, above the least by {statistics.mean(loss):.2%} on average, median {statistics.median(loss):.1%}, "
          f"95th percentile {sorted(loss)[int(0.95 * (len(loss) - 1))]:.1%}, {sum(share > 0 for share in loss)} runs; "
          f"with the host {statistics.mean(together[value]):.2%}; compiled in {sum(seconds[value]) / first:.2f} of the time", flush=True)
