"""Damages a trace in one way after the other and looks whether `superstep trace validate` finds it: damaged_traces.py SUPERSTEP, from
the top of the repository."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"Skipped: there is no Python package {missing.name}")
    sys.exit(77)

OK, DAMAGED = 0, 7
LEVELS = ("instruction", "vertex", "tile", "superstep", "summary")
RUN = "models/linear_regression/train_step.mlir -m tiny4 --input models/linear_regression/train.h5 --repeat 3"


def element(path, row, change):
    """Changes an element of a column; of tiles the first."""

    def damage(file):
        at = row if file[path].ndim == 1 else (row, 0)
        file[path][at] = change(file[path][at]) if callable(change) else change

    return damage


def more(path, row):
    return element(path, row, lambda old: old + 1)


def attribute(path, name, change):
    def damage(file):
        old = file[path].attrs[name]
        file[path].attrs.modify(name, type(old)(change(old)))

    return damage


def replaced(path, **dataset):
    def damage(file):
        old = dict(file[path].attrs)
        del file[path]
        file.create_dataset(path, **dataset)
        for name in ("units", "long_name", "axes"):
            file[path].attrs[name] = old[name]

    return damage


def without_scale(file):
    file["host/bytes"].dims[0].detach_scale(file["host/transfer"])


def swapped_launches(file):
    for name in ("superstep", "step", "cycles", "runs"):
        column = file["launches"][name]
        column[1], column[3] = column[3], column[1]


def shortened(file, rows):
    """Without the last rows of the vertices, those of a whole tile."""
    for column in file["vertices"].values():
        if column.shape[0] > rows and column.name.startswith("/vertices/"):
            column.resize((column.shape[0] - rows,))


def limited(what, most, superstep=0):
    """The last superstep with workers has none of them, and an event says that from one on some have too many."""

    def damage(file):
        rows = file["vertices/superstep"][:]
        shortened(file, int((rows == rows[-1]).sum()))
        text = f"superstep {superstep} has more than {most} {what}: none are kept"
        for name, value in (("event", 0), ("cycle", 0), ("kind", 1), ("tile", -1), ("text", text.encode())):
            file["events"][name].resize((1,))
            file["events"][name][0] = value

    return damage


def moved_instruction(file):
    """The first of worker 0 is one of worker 1."""
    file["instructions/worker"][int(np.flatnonzero(file["instructions/worker"][:] == 0)[0])] = 1


def swapped_pipes(file):
    rows = file["instructions"]
    row = int(np.flatnonzero(rows["aux_opcode"][:] >= 0)[0])
    rows["opcode"][row], rows["aux_opcode"][row] = rows["aux_opcode"][row], rows["opcode"][row]


def other_pipe(file):
    """The first that a worker issues alone in the main pipe is one of the other."""
    rows, aux = file["instructions"], np.flatnonzero(file["machine/opcode/pipe"][:] == 1)
    alone = (rows["worker"][:] >= 0) & (rows["aux_opcode"][:] < 0) & ~np.isin(rows["opcode"][:], aux)
    rows["opcode"][int(np.flatnonzero(alone)[0])] = aux[0]


def unfinished(file):
    """As a killed run leaves it: without what is added up at the end."""
    file.attrs.modify("complete", np.uint8(0))
    for name in list(file["summary"]):
        del file["summary"][name]
    for name in list(file["summary"].attrs):
        del file["summary"].attrs[name]


def in_unfinished(damage):
    def damages(file):
        unfinished(file)
        damage(file)

    return damages


def above(path, others, row=5):
    """A number of a row is one more than others of the row add up to."""

    def damage(file):
        group = file[path].parent
        whole = sum(-int(group[name[1:]][row]) if name.startswith("-") else int(group[name][row]) for name in others.split())
        file[path][row] = whole + 1

    return damage


def attribute_above(name, others):
    """With the steps that sum to it."""

    def damage(file):
        attrs, steps = file["summary"].attrs, file["summary/step"]
        above = sum(int(attrs[other]) for other in others.split()) + 1
        if name in steps:
            steps[name][0] += np.uint64(above - int(attrs[name]))
        attrs.modify(name, type(attrs[name])(above))

    return damage


TILE = 2  # column of the tile that is damaged


def profile(file):
    """A row of tiles that all compute."""
    return int(file["supersteps/compute_profile"][5])


def first_vertices(file):
    """Of the tile in each superstep of the row of tiles."""
    vertices = file["vertices"]
    supersteps = file["supersteps/superstep"][:][file["supersteps/compute_profile"][:] == profile(file)]
    on_tile = vertices["tile"][:] == file["program/used_tile"][TILE]
    return [int(np.flatnonzero(on_tile & (vertices["superstep"][:] == superstep))[0]) for superstep in supersteps]


def add_everywhere(file, column, more):
    """To a tile of a row of tiles, with all that add up to it or that it adds up to."""
    file["profiles/compute"][column][profile(file), TILE] += more
    for s in np.flatnonzero(file["supersteps/compute_profile"][:] == profile(file)):
        file["supersteps"][column][s] += more
    if "vertices/tile" in file:
        for row in first_vertices(file):
            file["vertices"][column][row] += more


def above_on_tile(column, other):
    def damage(file):
        of_tile = lambda name: int(file["profiles/compute"][name][profile(file), TILE])
        add_everywhere(file, column, of_tile(other) + 1 - of_tile(column))

    return damage


def of_other_pipe(file):
    """Tiles that add up to their superstep, each with other numbers of pipes."""
    main = file["profiles/compute/main_instructions"]
    main[profile(file), 0] += 1
    main[profile(file), 1] -= 1


def amp_above_aux_of_a_worker(file):
    add_everywhere(file, "amp_instructions", int(file["vertices/aux_instructions"][:].max()) + 1)


def above_main_of_a_worker(column):
    def damage(file):
        rows, vertices = first_vertices(file), file["vertices"]
        left = vertices["instructions"][rows] - vertices["aux_instructions"][rows] - vertices[column][rows]
        add_everywhere(file, column, int(left.max()) + 1)

    return damage


def peak_above_all(file):
    """Of a step the fullest tile has more than all tiles together, by all that is said of that tile."""
    live, memory, step = file["memory/liveness"], file["memory"], 3
    tile = int(live["peak_tile"][step])
    most = int(live["always_live_bytes"][step]) + int(live["not_always_live_bytes"][step]) + 1
    memory["bytes"][tile, 0] += most - int(memory["max_live_bytes"][tile])
    memory["max_live_bytes"][tile] = live["peak_tile_bytes"][step] = most
    memory["at_step"][tile] = step


def less_than_the_critical_tile(file):
    for name, less in (("max", 1), ("min", 1), ("sum", len(file["program/used_tile"]))):
        file[f"supersteps/compute_cycles_{name}"][5] -= less


def a_byte_each(file):
    """A byte in each packet of the largest transfer."""
    row = int(np.argmax(file["host/bytes"][:]))
    file["host/packets"][row] = file["host/bytes"][row]


def device_of_the_host(file):
    """A cycle of the host counts for the device, and for the host no longer."""
    attrs, steps = file["summary"].attrs, file["summary/step"]
    attrs.modify("device_cycles", np.uint64(attrs["device_cycles"] + 1))
    for name in ("host_cycles", "host_assumed_cycles"):
        attrs.modify(name, np.uint64(attrs[name] - 1))
    steps["host_cycles"][0] -= 1
    steps["longest_cycles"][0] -= 1


def total_with_its_report(file):
    attrs = file["summary"].attrs
    report = json.loads(file["summary/json"][0])
    attrs.modify("total_cycles", np.uint64(attrs["total_cycles"] + 1))
    report["cycles"]["total"] += 1
    file["summary/json"][0] = json.dumps(report).encode()


def flops_with_their_rate(file):
    attrs = file["summary"].attrs
    attrs.modify("flops", np.uint64(attrs["flops"] + 1))
    attrs.modify("flop_per_cycle", float(attrs["flops"]) / float(attrs["device_cycles"]))


def main_and_all(file):
    for name in ("main_instructions", "instructions"):
        file["supersteps"][name][5] += 1


def aux_and_all(file):
    for name in ("aux_instructions", "instructions"):
        file["supersteps"][name][5] += 1


def more_total(name):
    return attribute("summary", name, lambda old: old + 1)


PARTS = ("exchange_cycles", "compute_cycles", "sync_cycles", "host_cycles")
CLASSES = ("instructions", "aux_instructions", "amp_instructions")

# What docs/trace.md says that holds: the level of a trace, a damage, where it is found, and what else cannot hold with it.
INVARIANTS = {
    "each row of /program/step: bound_cycles ≤ predicted_cycles": ("tile", above("program/step/bound_cycles", "predicted_cycles"), "/program/step/bound_cycles[5] is "),
    "each row of /program/compute_set: tiles ≤ vertices": ("tile", above("program/compute_set/tiles", "vertices", 3), "/program/compute_set/tiles[3] is "),
    "each row of /program/variable: max_tile_bytes ≤ bytes": ("tile", above("program/variable/max_tile_bytes", "bytes", 3), "/program/variable/max_tile_bytes[3] is "),
    "each row of /memory/liveness: peak_tile_bytes ≤ always_live_bytes + not_always_live_bytes": ("tile", in_unfinished(peak_above_all), "/memory/liveness/peak_tile_bytes[3] is "),
    "each row of /supersteps: compute_cycles ≤ compute_cycles_max": ("superstep", in_unfinished(less_than_the_critical_tile), "/supersteps/compute_cycles[5] is "),
    "each row of /supersteps: compute_cycles_min ≤ compute_cycles_max": ("superstep", in_unfinished(above("supersteps/compute_cycles_min", "compute_cycles_max")), "/supersteps/compute_cycles_min[5] is "),
    "each row of /supersteps: compute_cycles_max ≤ compute_cycles_sum": ("superstep", in_unfinished(above("supersteps/compute_cycles_max", "compute_cycles_sum")), "/supersteps/compute_cycles_max[5] is "),
    "each row of /supersteps: visit_begin_cycles ≤ sync_cycles": ("superstep", in_unfinished(above("supersteps/visit_begin_cycles", "sync_cycles")), "/supersteps/visit_begin_cycles[5] is "),
    "each row of /supersteps: visit_callback_cycles ≤ visit_begin_cycles": ("superstep", in_unfinished(above("supersteps/visit_callback_cycles", "visit_begin_cycles")), "/supersteps/visit_callback_cycles[5] is "),
    "each row of /supersteps: visit_end_cycles ≤ host_cycles": ("superstep", in_unfinished(above("supersteps/visit_end_cycles", "host_cycles")), "/supersteps/visit_end_cycles[5] is "),
    "each row of /supersteps: messages ≤ bytes_sent": ("superstep", in_unfinished(above("supersteps/messages", "bytes_sent")), "/supersteps/messages[5] is "),
    "each row of /supersteps: instructions = main_instructions + aux_instructions": ("superstep", more("supersteps/main_instructions", 5), "/supersteps/instructions[5] is "),
    "each row of /supersteps: amp_instructions ≤ aux_instructions": ("superstep", in_unfinished(above("supersteps/amp_instructions", "aux_instructions")), "/supersteps/amp_instructions[5] is "),
    "each row of /supersteps: load_instructions ≤ main_instructions": ("superstep", above("supersteps/load_instructions", "main_instructions"), "/supersteps/load_instructions[5] is "),
    "each row of /supersteps: store_instructions ≤ main_instructions": ("superstep", above("supersteps/store_instructions", "main_instructions"), "/supersteps/store_instructions[5] is "),
    "each row of /supersteps: branch_instructions ≤ main_instructions": ("superstep", above("supersteps/branch_instructions", "main_instructions"), "/supersteps/branch_instructions[5] is "),
    "each row of /profiles/compute: instructions = main_instructions + aux_instructions": ("tile", of_other_pipe, "/profiles/compute/instructions[2] of tile 0 is "),
    "each row of /profiles/compute: amp_instructions ≤ aux_instructions": ("tile", in_unfinished(above_on_tile("amp_instructions", "aux_instructions")), "/profiles/compute/amp_instructions[2] of tile 2 is "),
    "each row of /profiles/compute: load_instructions ≤ main_instructions": ("tile", above_on_tile("load_instructions", "main_instructions"), "/profiles/compute/load_instructions[2] of tile 2 is "),
    "each row of /profiles/compute: store_instructions ≤ main_instructions": ("tile", above_on_tile("store_instructions", "main_instructions"), "/profiles/compute/store_instructions[2] of tile 2 is "),
    "each row of /profiles/compute: branch_instructions ≤ main_instructions": ("tile", above_on_tile("branch_instructions", "main_instructions"), "/profiles/compute/branch_instructions[2] of tile 2 is "),
    "each row of /profiles/exchange: idle_cycles ≤ cycles": ("tile", element("profiles/exchange/idle_cycles", 2, 999), "/profiles/exchange/idle_cycles[2] of tile 0 is 999, more than cycles, "),
    "each row of /vertices: amp_instructions ≤ aux_instructions": ("vertex", in_unfinished(amp_above_aux_of_a_worker), "/vertices/amp_instructions["),
    "each row of /vertices: load_instructions ≤ instructions - aux_instructions": ("vertex", above_main_of_a_worker("load_instructions"), "/vertices/load_instructions["),
    "each row of /vertices: store_instructions ≤ instructions - aux_instructions": ("vertex", above_main_of_a_worker("store_instructions"), "/vertices/store_instructions["),
    "each row of /vertices: branch_instructions ≤ instructions - aux_instructions": ("vertex", above_main_of_a_worker("branch_instructions"), "/vertices/branch_instructions["),
    "each row of /host: packets ≤ bytes": ("superstep", above("host/packets", "bytes"), "/host/packets[5] is "),
    "each row of /summary/step: count ≤ runs": ("summary", above("summary/step/count", "runs"), "/summary/step/count[5] is "),
    "each row of /summary/step: longest_cycles ≤ exchange_cycles + compute_cycles + sync_cycles + host_cycles": ("summary", above("summary/step/longest_cycles", "exchange_cycles compute_cycles sync_cycles host_cycles"), "/summary/step/longest_cycles[5] is "),
    "each row of /summary/step: compute_cycles_max ≤ compute_cycles_sum": ("summary", above("summary/step/compute_cycles_max", "compute_cycles_sum"), "/summary/step/compute_cycles_max[5] is "),
    "each row of /supersteps: compute_cycles_sum = sum of its row of /profiles/compute/cycles": ("tile", in_unfinished(element("supersteps/compute_cycles_sum", 5, lambda old: old - 1)), "/supersteps/compute_cycles_sum[5] is "),
    "each row of /supersteps: compute_cycles_max = most of its row of /profiles/compute/cycles": ("tile", in_unfinished(more("supersteps/compute_cycles_max", 5)), "/supersteps/compute_cycles_max[5] is "),
    "each row of /supersteps: compute_cycles_min = least of its row of /profiles/compute/cycles": ("tile", in_unfinished(element("supersteps/compute_cycles_min", 5, lambda old: old - 1)), "/supersteps/compute_cycles_min[5] is "),
    "each row of /supersteps: active_tiles = count of those other than 0 of its row of /profiles/compute/cycles": ("tile", element("supersteps/active_tiles", 5, 1), "/supersteps/active_tiles[5] is 1, but "),
    "each row of /supersteps: instructions = sum of its row of /profiles/compute/instructions": ("tile", in_unfinished(main_and_all), "/supersteps/instructions[5] is ", 1),
    "each row of /supersteps: main_instructions = sum of its row of /profiles/compute/main_instructions": ("tile", in_unfinished(main_and_all), "/supersteps/main_instructions[5] is ", 1),
    "each row of /supersteps: aux_instructions = sum of its row of /profiles/compute/aux_instructions": ("tile", in_unfinished(aux_and_all), "/supersteps/aux_instructions[5] is ", 1),
    "each row of /supersteps: amp_instructions = sum of its row of /profiles/compute/amp_instructions": ("tile", in_unfinished(more("supersteps/amp_instructions", 5)), "/supersteps/amp_instructions[5] is "),
    "each row of /supersteps: load_instructions = sum of its row of /profiles/compute/load_instructions": ("tile", more("supersteps/load_instructions", 5), "/supersteps/load_instructions[5] is "),
    "each row of /supersteps: store_instructions = sum of its row of /profiles/compute/store_instructions": ("tile", more("supersteps/store_instructions", 5), "/supersteps/store_instructions[5] is "),
    "each row of /supersteps: branch_instructions = sum of its row of /profiles/compute/branch_instructions": ("tile", more("supersteps/branch_instructions", 5), "/supersteps/branch_instructions[5] is "),
    "each row of /supersteps: bytes_sent = sum of its row of /profiles/exchange/received_bytes": ("tile", in_unfinished(more("supersteps/bytes_sent", 5)), "/supersteps/bytes_sent[5] is "),
    "each row of /supersteps: word_rows = sum of its row of /profiles/exchange/word_rows": ("tile", more("supersteps/word_rows", 5), "/supersteps/word_rows[5] is "),
    "each row of /supersteps: word_columns = sum of its row of /profiles/exchange/word_columns": ("tile", more("supersteps/word_columns", 5), "/supersteps/word_columns[5] is "),
    "attributes of /summary: total_cycles = device_cycles + host_cycles": ("summary", total_with_its_report, "total_cycles of /summary is "),
    "attributes of /summary: device_cycles = exchange_cycles + compute_cycles + sync_cycles": ("summary", device_of_the_host, "device_cycles of /summary is "),
    "attributes of /summary: exchange_assumed_cycles ≤ exchange_cycles": ("summary", attribute_above("exchange_assumed_cycles", "exchange_cycles"), "exchange_assumed_cycles of /summary is "),
    "attributes of /summary: compute_assumed_cycles ≤ compute_cycles": ("summary", attribute_above("compute_assumed_cycles", "compute_cycles"), "compute_assumed_cycles of /summary is "),
    "attributes of /summary: sync_assumed_cycles ≤ sync_cycles": ("summary", attribute_above("sync_assumed_cycles", "sync_cycles"), "sync_assumed_cycles of /summary is "),
    "attributes of /summary: host_assumed_cycles ≤ host_cycles": ("summary", attribute_above("host_assumed_cycles", "host_cycles"), "host_assumed_cycles of /summary is "),
    "attributes of /summary: visit_begin_cycles ≤ sync_cycles": ("summary", attribute_above("visit_begin_cycles", "sync_cycles"), "visit_begin_cycles of /summary is "),
    "attributes of /summary: visit_callback_cycles ≤ visit_begin_cycles": ("summary", attribute_above("visit_callback_cycles", "visit_begin_cycles"), "visit_callback_cycles of /summary is "),
    "attributes of /summary: visit_end_cycles ≤ host_cycles": ("summary", attribute_above("visit_end_cycles", "host_cycles"), "visit_end_cycles of /summary is "),
    "attributes of /summary: aux_instructions ≤ instructions": ("summary", attribute_above("aux_instructions", "instructions"), "aux_instructions of /summary is "),
    "attributes of /summary: amp_instructions ≤ aux_instructions": ("summary", attribute_above("amp_instructions", "aux_instructions"), "amp_instructions of /summary is "),
    **{f"attributes of /summary: {name} = sum of /summary/step/{name}": ("summary", more(f"summary/step/{name}", 3), f"{name} of /summary is ") for name in PARTS + CLASSES},
    # With them the sums of steps and of parts.
    **{f"attributes of /summary: {name} = sum of /supersteps/{name}": ("superstep", more_total(name), f"{name} of /summary is ", 2) for name in PARTS},
    **{f"attributes of /summary: {name} = sum of /supersteps/{name}": ("superstep", more_total(name), f"{name} of /summary is ", 1) for name in CLASSES},
    **{f"attributes of /summary: {name} = sum of /supersteps/{name}": ("superstep", more_total(name), f"{name} of /summary is ") for name in ("visit_begin_cycles", "visit_callback_cycles", "visit_end_cycles", "host_bytes")},
    "attributes of /summary: bytes_exchanged = sum of /supersteps/bytes_sent": ("superstep", more_total("bytes_exchanged"), "bytes_exchanged of /summary is "),
    "attributes of /summary: flops = sum of /supersteps/flops": ("superstep", flops_with_their_rate, "flops of /summary is "),
}


DAMAGES = {  # and what is said of each
    "a dataset is gone": (lambda f: f.__delitem__("supersteps/flops"), "/supersteps/flops is missing"),
    "the machine's text is gone": (lambda f: f.__delitem__("provenance/config_toml"), "/provenance/config_toml is missing"),
    "a group is gone": (lambda f: f.__delitem__("memory/liveness"), "/memory/liveness/peak_tile is missing"),
    "a unit": (lambda f: f["host/bytes"].attrs.modify("units", np.bytes_("1")), "/host/bytes has units '1', not 'B'"),
    "a meaning is gone": (lambda f: f["host/bytes"].attrs.__delitem__("long_name"), "/host/bytes has no long_name"),
    "axes": (lambda f: f["host/bytes"].attrs.modify("axes", np.bytes_("step")), "/host/bytes has axes 'step', not 'transfer'"),
    "a scale is off": (without_scale, "/host/bytes does not have /host/transfer as the dimension scale of its axis transfer"),
    "no scale is beside it": (lambda f: f.__delitem__("memory/tile"), "/memory/bytes has no scale of its axis tile beside it: /memory/tile is not /machine/tile"),
    "a type": (replaced("host/bytes", data=np.zeros(10)), "/host/bytes has the type f8, not u8"),
    "a length": (replaced("program/step/flops", data=np.zeros(13, "u8")), "/program/step/flops has 13 along step, which others have 14 of"),
    "an axis more": (replaced("program/step/flops", data=np.zeros((14, 2), "u8")), "/program/step/flops has 2 axes, not 1"),
    "an attribute is gone": (lambda f: f["summary"].attrs.__delitem__("flops"), "attribute flops of /summary is missing"),
    "the machine": (lambda f: f.attrs.modify("config_sha256", np.bytes_("0" * 64)), "/provenance/config_toml is not what config_sha256"),
    "a number of a row": (more("program/stream/stream", 2), "/program/stream/stream[2] is 3, but the row is 2"),
    "an enumeration": (element("program/step/kind", 3, 9), "/program/step/kind[3] is 9, but there are 7 values"),
    "a name": (element("program/operation/name", 3, b"multiply.4\x94"), "/program/operation/name[3] is no UTF-8: multiply.4\\x94"),
    "an estimate of a step that is no exchange": (element("program/step/estimated_cycles", 2, 2**38), "/program/step/estimated_cycles[2] is 274877906944, of a step that is no exchange"),
    "a parent": (element("program/step/parent", 3, 5), "/program/step/parent[3] is 5, but there are 3 steps before it"),
    "a parent of no loop": (element("program/step/parent", 3, 2), "/program/step/parent[3] is 2, a step of kind 0"),
    "an operation": (element("program/step/operation", 3, 99), "/program/step/operation[3] is 99, but there are 11 operations"),
    "flops of an operation": (more("program/operation/flops", 2), "/program/operation/flops[2] is "),
    "flops of a step": (more("program/step/flops", 3), "its steps sum to"),
    "words of an operation that shares an exchange": (more("program/fused/cycles_alone", 0), "the words of /program/fused make"),
    "an operation that shares a step": (element("program/fused/operation", 0, 99), "/program/fused/operation[0] is 99, but there are 11 operations"),
    "order of what shares steps": (element("program/fused/step", 0, 13), "/program/fused/step[1] is "),
    "a vertex type": (element("program/compute_set/vertex_type", 3, 99), "/program/compute_set/vertex_type[3] is 99"),
    "a life": (element("program/variable/last_step", 3, 99), "/program/variable/last_step[3] is 99, but there are 14 steps"),
    "used tiles": (element("program/used_tile", 1, 0), "/program/used_tile[1] is 0, not above 0"),
    "bytes of a category": (more("memory/bytes", 1), "/memory/max_live_bytes[1] is 2028, but the categories of the tile sum to 2029"),
    "tensors that are live": (more("memory/liveness/not_always_live_bytes", 3), "/memory/liveness/not_always_live_bytes[3] is "),
    "tensors that are always live": (element("memory/liveness/always_live_bytes", 3, 0), "/memory/liveness/always_live_bytes[3] is 0, but tensors that are always live take "),
    "the life of a tensor": (element("program/variable/last_step", 6, 4), "/memory/liveness/not_always_live_bytes[5] is 864, but the tensors that are live take "),
    "the step of a peak": (element("memory/at_step", 1, 0), "the fullest tile in its at_step, "),
    "a peak": (element("memory/liveness/peak_tile_bytes", 3, 10**6), "more than the most that its peak_tile ever has in use, "),
    "a fullest tile": (element("memory/liveness/peak_tile", 1, 4), "/memory/liveness/peak_tile[1] is 4, but there are 4 tiles"),
    "messages of an exchange": (more("exchange/first_message", 1), "/exchange/first_message[1] is "),
    "bytes of a message": (element("exchange/message/bytes", 2, 8), "but its messages sum to "),
    "bytes of an exchange": (more("program/step/exchange_bytes", 1), "/program/step/exchange_bytes[1] is "),
    "a step of an exchange": (element("exchange/step", 1, 2), "/exchange/step[1] is 2, which is no exchange"),
    "a sender": (element("exchange/message/source_tile", 2, 77), "/exchange/message/source_tile[2] is 77, but there are 4 tiles"),
    "order of messages": (element("exchange/message/source_tile", 2, 3), "/exchange/message/source_tile[3] is "),
    "a receiver": (element("exchange/message/destination_tile", 2, 77), "/exchange/message/destination_tile[2] is 77"),
    "words of a message": (more("exchange/message/cycles", 2), "/exchange/message/cycles[2] is 2, but its words are 1"),
    "a late message": (element("exchange/message/start_cycle", 2, 5000), "/exchange/message/start_cycle[2] is 5001, more than"),
    "a superstep's number": (more("supersteps/superstep", 5), "/supersteps/superstep[5] is 6, but the one behind the superstep before is 5"),
    "the begin of a superstep": (more("supersteps/start_cycle", 5), "/supersteps/start_cycle[5] is 4331, but the superstep before ends at 4330"),
    "a call": (element("supersteps/iteration", 9, 0), "/supersteps/iteration[9] is 0, below 2 before it"),
    "a step": (element("supersteps/step", 5, 99), "/supersteps/step[5] is 99, but there are 14 steps"),
    "a step that exchanges": (element("supersteps/exchange_step", 5, 99), "/supersteps/exchange_step[5] is 99"),
    "an operation of a superstep": (more("supersteps/operation", 5), "/supersteps/operation[5] is 4, but that of its step is 3"),
    "a critical tile": (element("supersteps/critical_tile", 5, 4), "/supersteps/critical_tile[5] is 4, but there are 4 tiles"),
    "active tiles": (element("supersteps/active_tiles", 5, 5), "/supersteps/active_tiles[5] is 5, more than the tiles with a program, 4"),
    "exchange cycles": (more("supersteps/exchange_cycles", 5), "/supersteps/start_cycle[6] is 4775, but the superstep before ends at 4776"),
    "compute cycles": (more("supersteps/compute_cycles", 5), "/supersteps/compute_cycles[5] is 336, but its launches sum to 335"),
    "most cycles of a tile": (more("supersteps/compute_cycles_max", 5), "/supersteps/compute_cycles_max[5] is 336, but the most of /profiles/compute/cycles["),
    "fewest cycles of a tile": (more("supersteps/compute_cycles_min", 5), "/supersteps/compute_cycles_min[5] is "),
    "cycles of all tiles": (more("supersteps/compute_cycles_sum", 5), "/supersteps/compute_cycles_sum[5] is "),
    "the begin of a visit": (element("supersteps/visit_begin_cycles", 5, 900), "/supersteps/visit_begin_cycles[5] is 900, more than sync_cycles, 68"),
    "callbacks": (element("supersteps/visit_callback_cycles", 6, 900), "/supersteps/visit_callback_cycles[6] is 900"),
    "the end of a visit": (element("supersteps/visit_end_cycles", 7, 9000), "/supersteps/visit_end_cycles[7] is 9000"),
    "instructions": (element("supersteps/amp_instructions", 5, 10**6), "/supersteps/amp_instructions[5] is 1000000, more than"),
    "bytes moved": (more("supersteps/bytes_sent", 5), "/supersteps/bytes_sent[5] is "),
    "h": (more("supersteps/h_bytes", 5), "/supersteps/h_bytes[5] is "),
    "bytes of the host": (more("supersteps/host_bytes", 7), "/supersteps/host_bytes[7] is "),
    "packets that a visit has no time for": (a_byte_each, "/supersteps/host_cycles["),
    "flops": (more("supersteps/flops", 5), "/supersteps/flops[5] is "),
    "live memory": (more("supersteps/live_bytes", 5), "/supersteps/live_bytes[5] is "),
    "a predicted exchange": (more("supersteps/predicted_cycles", 5), "/supersteps/predicted_cycles[5] is "),
    "cycles behind the last transfer": (element("supersteps/visit_end_cycles", 7, 1), "/supersteps/visit_end_cycles[7] is 1, but behind its last transfer there are "),
    "a profile": (element("supersteps/compute_profile", 5, 77), "/supersteps/compute_profile[5] is 77, but there are 5 rows of tiles"),
    "an exchange profile": (element("supersteps/exchange_profile", 5, 77), "/supersteps/exchange_profile[5] is 77, but there are 4 rows of tiles"),
    "waiting of a tile": (more("profiles/compute/wait_cycles", 2), "has a tile with "),
    "cycles of a tile": (more("profiles/compute/cycles", 2), "but the sum of /profiles/compute/cycles["),
    "bytes of a tile": (more("profiles/exchange/received_bytes", 2), "but the sum of /profiles/exchange/received_bytes["),
    "idle cycles of a tile": (element("profiles/exchange/idle_cycles", 2, 999), "/profiles/exchange/idle_cycles[2] of tile 0 is 999"),
    "a launch's step": (element("launches/step", 3, 99), "/launches/step[3] is 99, but there are 14 steps"),
    "cycles of a launch": (more("launches/cycles", 3), "but its launches sum to"),
    "order of launches": (swapped_launches, "/launches/superstep[2] is "),
    "a launch of no superstep": (element("launches/superstep", 12, 99), "/launches/superstep[12] is 99, but the last superstep is 10"),
    "order of transfers": (element("host/superstep", 5, 1), "/host/superstep[5] is 1, below 4 before it"),
    "a stream": (element("host/stream", 5, 99), "/host/stream[5] is 99, but there are 8 streams"),
    "a direction": (element("host/direction", 5, 0), "/host/direction[5] is 0, but that of its stream is 1"),
    "bytes of a transfer": (more("host/bytes", 5), "but its transfers sum to"),
    "a late transfer": (element("host/start_cycle", 5, 9000), "/host/start_cycle[5] is 9000, to 9014 with its cycles: not inside of superstep 7"),
    "packets": (element("host/packets", 5, 0), "/host/packets[5] is 0 for 4 B"),
    "a total": (attribute("summary", "exchange_cycles", lambda old: old + 1), "exchange_cycles of /summary is "),
    "all cycles": (attribute("summary", "total_cycles", lambda old: old + 1), "total_cycles of /summary is "),
    "supersteps": (attribute("summary", "supersteps", lambda old: old + 1), "supersteps of /summary is 12, but by the rows of /supersteps it is 11"),
    "assumed cycles": (attribute("summary", "sync_assumed_cycles", lambda old: 10**9), "sync_assumed_cycles of /summary is 1000000000, more than"),
    "cycles that rest on guesses": (attribute("summary", "sync_assumed_cycles", lambda old: old + 1), "sync_assumed_cycles of /summary is "),
    "a rate": (attribute("summary", "flop_per_cycle", lambda old: old / 2), "flop_per_cycle of /summary is "),
    "the balance": (attribute("summary", "tile_balance", lambda old: old / 2), "tile_balance of /summary is "),
    "the fullest tile": (attribute("summary", "worst_tile", lambda old: old + 1), "worst_tile of /summary is "),
    "cycles of a step": (more("summary/step/compute_cycles", 3), "/summary/step/compute_cycles[3] is "),
    "runs of a step": (more("summary/step/runs", 3), "/summary/step/runs[3] is 4, but by the rows of /supersteps and /launches it is 3"),
    "instructions of a step": (more("summary/step/instructions", 3), "/summary/step/instructions[3] is "),
    "auxiliary instructions of a step": (more("summary/step/aux_instructions", 3), "/summary/step/aux_instructions[3] is "),
    "AMP instructions of a step": (more("summary/step/amp_instructions", 3), "/summary/step/amp_instructions[3] is "),
    "a step's longest superstep": (element("summary/step/longest_cycles", 3, 10**6), "/summary/step/longest_cycles[3] is 1000000, more than"),
    "the report": (lambda f: f["summary/json"].__setitem__(0, b"{}"), "/summary/json is no report"),
}

VERTEX_DAMAGES = {
    "order of vertices": (element("vertices/superstep", 150, 2), "/vertices/superstep["),
    "a vertex of no superstep": (element("vertices/superstep", -1, 99), "is behind the last superstep"),
    "a tile": (element("vertices/tile", 0, 9), "/vertices/tile[0] is 9, which has no program"),
    "a worker": (element("vertices/worker", 3, 6), "/vertices/worker[3] is 6, but there are 6 workers"),
    "a step of a vertex": (element("vertices/step", 3, 99), "/vertices/step[3] is 99, but there are 14 steps"),
    "an operation of a vertex": (more("vertices/operation", 3), "/vertices/operation[3] is 4, but that of its step is 3"),
    "a codelet": (element("vertices/vertex_type", 3, 99), "/vertices/vertex_type[3] is 99, but there are "),
    "a late launch": (element("vertices/launch_cycle", 3, 10**6), "/vertices/launch_cycle[3] is 1000000, not between"),
    "an early launch": (element("vertices/launch_cycle", 3, 0), "/vertices/launch_cycle[3] is 0, not between"),
    "order of workers": (element("vertices/start_cycle", 3, 1969), "/vertices/start_cycle[3] is 1969, of worker 3 of tile 0, not behind"),
    "a busy worker": (element("vertices/cycles", 0, 210), "/vertices/start_cycle[6] is 2168, but its worker runs another vertex until 2178"),
    "a long vertex": (element("vertices/cycles", 3, 9999), "but its tile is done at "),
    "cycles of a vertex": (element("vertices/cycles", 3, 132), "/vertices/cycles[0] and those behind it of its tile sum to "),
    "instructions of a vertex": (more("vertices/instructions", 3), "/vertices/instructions[0] and those behind it of its tile sum to "),
    "loads of a vertex": (more("vertices/load_instructions", 3), "/vertices/load_instructions[0] and those behind it"),
    "workers that are left out": (lambda f: shortened(f, 9), "/supersteps/instructions["),
    "a superstep without workers, for instructions that are left out": (limited("instructions", 1), "/supersteps/instructions["),
    "a superstep without workers that has too few for the limit": (limited("worker runs", 10**6), "/supersteps/instructions["),
    "a superstep without workers before the limit": (limited("worker runs", 1, superstep=99), "/supersteps/instructions["),
}

INSTRUCTION_DAMAGES = {
    "order of instructions": (element("instructions/cycle", 30, 0), "/instructions/cycle[30] is 0"),
    "an instruction of no superstep": (element("instructions/superstep", -1, 99), "is behind the last superstep"),
    "a context": (element("instructions/worker", 30, 6), "/instructions/worker[30] is 6, but there are 6 workers"),
    "an opcode": (element("instructions/opcode", 30, 9999), "/instructions/opcode[30] is 9999, but there are "),
    "an opcode of a bundle": (element("instructions/aux_opcode", 30, 9999), "/instructions/aux_opcode[30] is 9999, but there are "),
    "instructions of a bundle": (element("instructions/instructions", 30, 3), "/instructions/instructions[30] is 3, but of "),
    "an instruction of another worker": (moved_instruction, "but its /instructions are "),
    "a bundle's instructions in the wrong pipes": (swapped_pipes, "of the auxiliary pipe, where a bundle has one of the main pipe"),
    "an instruction of the other pipe": (other_pipe, "but those of its /instructions are "),
    "a tile of an instruction": (element("instructions/tile", 30, 9), "/instructions/tile[30] is 9, which has no program"),
}


class DamagedTraces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for level in LEVELS:
            command = [sys.argv[1], "run", *RUN.split(), "--trace", level, "-q", "-o", cls.at(level)]
            command += ["--trace-tiles", "0-3"] if level == "instruction" else []
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def at(cls, name):
        return str(Path(cls.folder.name) / f"{name}.h5")

    def validate(self, *damages, level="tile"):
        shutil.copy(self.at(level), self.at("damaged"))
        with h5py.File(self.at("damaged"), "r+") as file:
            for damage in damages:
                damage(file)
        return self.answer(self.at("damaged"))

    def answer(self, path):
        command = [sys.argv[1], "trace", "validate", path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    def test_each_damage_is_found_where_it_is(self):
        for level, damages in (("tile", DAMAGES), ("vertex", VERTEX_DAMAGES), ("instruction", INSTRUCTION_DAMAGES)):
            for what, (damage, said) in damages.items():
                with self.subTest(what=what):
                    code, errors = self.validate(damage, level=level)
                    self.assertEqual(code, DAMAGED, errors)
                    self.assertIn(said, errors)

    def test_what_breaks_one_invariant_is_found_there_and_nowhere_else(self):
        for holds, (level, damage, said, *others) in INVARIANTS.items():
            with self.subTest(holds=holds):
                code, errors = self.validate(damage, level=level)
                self.assertEqual(code, DAMAGED, errors)
                self.assertIn(said, errors)
                self.assertEqual(errors.count(": error: "), 1 + sum(others), errors)

    def test_each_invariant_of_the_documentation_has_a_damage(self):
        rows = re.findall(r"^\| (each row of .*|attributes of .*) \| (.*) \|$", Path("docs/trace.md").read_text(), re.MULTILINE)
        self.assertEqual({f"{of}: {holds}".replace("`", "") for of, holds in rows}, set(INVARIANTS))

    def test_all_damages_are_found_at_once(self):
        chosen = ["a unit", "a parent", "a critical tile", "order of transfers", "supersteps"]
        code, errors = self.validate(*(DAMAGES[what][0] for what in chosen))
        self.assertEqual(code, DAMAGED)
        for what in chosen:
            self.assertIn(DAMAGES[what][1], errors)

    def test_rows_that_break_one_rule_are_counted(self):
        def damage(file):
            file["supersteps/critical_tile"][3:8] = 4

        self.assertIn("/supersteps/critical_tile[3] is 4, but there are 4 tiles; and 4 rows more are wrong", self.validate(damage)[1])

    def test_what_is_in_order_stays_so_at_every_level_and_after_a_kill(self):
        for level in LEVELS:
            self.assertEqual(self.answer(self.at(level)), (OK, ""), level)

        def killed(file):
            unfinished(file)
            # Columns are written one after the other.
            file["supersteps/flops"].resize((9,))

        for level in ("tile", "vertex", "instruction"):
            self.assertEqual(self.validate(killed, level=level), (OK, ""), level)

    def test_workers_may_be_left_out_where_an_event_says_so(self):
        self.assertEqual(self.validate(limited("worker runs", 1), level="vertex"), (OK, ""))

    def test_no_command_takes_what_is_missing_for_a_lower_level(self):
        shutil.copy(self.at("vertex"), self.at("damaged"))
        with h5py.File(self.at("damaged"), "r+") as file:
            del file["supersteps/superstep"]
        trace, out = self.at("damaged"), self.at("out")
        views = ("ops", "steps", "tiles", "memory", "exchange", "host", "bounds", "bsp", "supersteps", "codelets", "insights")
        commands = [["report", trace]] + [["report", trace, "--view", view] for view in views]
        commands += [["html", trace, "-o", out], ["trace", "info", trace]]
        commands += [["trace", "export", trace, "--to", to, "-o", out] for to in ("perfetto", "folded", "speedscope", "csv")]
        for command in commands:
            with self.subTest(command=command):
                done = subprocess.run([sys.argv[1], *command], capture_output=True, text=True, timeout=20)
                self.assertEqual(done.returncode, DAMAGED, done.stderr)
                self.assertIn("/supersteps/superstep is missing", done.stderr)

    def test_a_loop_of_the_hdf5_library_ends(self):
        data = bytearray(Path(self.at("superstep")).read_bytes())
        # An object of a global heap of 2^64 - 16 bytes ends where it begins: HDF5 1.10.8 never gets to the next.
        heap = data.index(b"GCOL") + 16
        data[heap + 8 : heap + 16] = (2**64 - 16).to_bytes(8, "little")
        Path(self.at("damaged")).write_bytes(data)
        code, errors = self.answer(self.at("damaged"))
        self.assertEqual(code, DAMAGED, errors)
        # Later versions of the library say that the heap is damaged.
        self.assertRegex(errors, r"damaged.h5: error: (is damaged: the HDF5 library reads /\S+ without end; another run makes it anew\n$|/)")

    def test_an_older_format_has_what_it_had(self):
        # The numbers of this one were made up: they do not add up.
        code, errors = self.answer("tests/sim/format_1.0.0.h5.part")
        self.assertEqual(code, DAMAGED)
        self.assertNotIn("missing", errors)
        self.assertNotIn("type", errors)

    def test_what_nobody_knows_is_no_damage(self):
        def foreign(file):
            file.create_dataset("x_mine/values", data=np.zeros(3))
            file.attrs["x_note"] = "of mine"

        self.assertEqual(self.validate(foreign), (OK, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
