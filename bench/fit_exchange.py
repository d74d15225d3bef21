#!/usr/bin/env python3
"""Fits what planners count for a phase before it is scheduled (compiler/cost/costs.h): kGapPerTransfer, cycles that a port is
idle for each transfer, and kBusyEndsPercent, the share of the less busy end that a
schedule loses where both ends are busy.

    fit_exchange.py SUPERSTEP [MACHINE [GAP SHARE]...]

Runs 60 generated products and transposes and 30 layers (sample_programs.py) on the machine, bow unless named, with a trace of
tiles. Of each phase it takes the cycles of the schedule, the words and transfers of the busiest receiver and the words of the
busiest sender; a path from barrier to barrier is fitted beside the two. Prints the least squares, and the residuals of each GAP
and SHARE. Needs h5py and NumPy."""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy

import sample_programs

superstep, machine = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "bow"


def phases(program):
    """(cycles of the schedule, words and transfers of the busiest receiver, words of the busiest sender) of each phase."""
    with tempfile.TemporaryDirectory() as folder:
        source, trace = os.path.join(folder, "program.mlir"), os.path.join(folder, "trace.h5")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        subprocess.run([superstep, "run", source, "-m", machine, "--input", "random:1", "-q", "-o", trace, "--trace", "tile"],
                       check=True, stdout=subprocess.DEVNULL)
        with h5py.File(trace) as file:
            predicted = file["/program/step/predicted_cycles"]
            names = ("source_tile", "destination_tile", "start_cycle", "cycles", "bytes")
            message = {name: file["/exchange/message"][name][:].astype(int) for name in names}
            for step, first, count in zip(*(file["/exchange"][name][:] for name in ("step", "first_message", "messages"))):
                own = {name: column[int(first):int(first + count)] for name, column in message.items()}
                received = numpy.bincount(own["destination_tile"], own["bytes"] / 4)
                busiest = received.argmax()
                # One word that several tiles receive is sent once: a sender's words do not overlap in time.
                sent = [len({c for s, n in zip(own["start_cycle"][own["source_tile"] == tile], own["cycles"][own["source_tile"] == tile])
                             for c in range(s, s + n)}) for tile in busiest_senders(own)]
                yield predicted[int(step)], received.max(), numpy.count_nonzero(own["destination_tile"] == busiest), max(sent)


def busiest_senders(own):
    return numpy.bincount(own["source_tile"], own["bytes"]).argsort()[-8:]


sample = [phase for program in sample_programs.moves(40) + sample_programs.layers(30)
          for phase in phases(program)]
cycles, received, transfers, sent = numpy.array(sample, float).T


def fit(gap, share):
    """Residuals, as shares of the schedules, and the path with which they are least at the median."""
    receive = received + gap * transfers
    body = numpy.maximum(receive, sent) + share * numpy.minimum(receive, sent)
    path = numpy.median(cycles - body)
    return abs(path + body - cycles) / cycles, path


def show(name, gap, share):
    error, path = fit(gap, share)
    print(f"{name}: {gap:.1f} cycles a transfer, {share:.2f} of the less busy end, path {path:.0f}; {len(cycles)} phases, "
          f"residuals: median {numpy.median(error):.1%}, 95th percentile {numpy.quantile(error, 0.95):.1%}")


show("least squares of shares", *min(((gap, share) for gap in numpy.arange(0, 4.01, 0.1) for share in numpy.arange(0, 1.01, 0.05)),
                                     key=lambda at: (fit(*at)[0] ** 2).mean()))
for gap, share in zip(sys.argv[3::2], sys.argv[4::2]):
    show("as given", float(gap), float(share))
