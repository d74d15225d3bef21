"""Compares exports of traces with what h5py reads: trace_exports.py SUPERSTEP, from the top of the repository. Traces of Perfetto are
decoded by protoc."""

import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter, defaultdict
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"Skipped: there is no Python package {missing.name}")
    sys.exit(77)

HAS_PROTOC = shutil.which("protoc") is not None
PARTS = ("exchange", "compute", "sync", "host")
LOOP = 4  # of /program/step/kind
RUNS = {
    "calls": "models/linear_regression/train_step.mlir -m tiny4 --input models/linear_regression/train.h5 --repeat 3 --trace tile",
    "loop": "models/mandelbrot/mandelbrot.mlir -m small64 --input random:1 --trace tile",
    "loops": "models/kmeans/kmeans.mlir -m tiny4 --input random:1 --trace tile",
    "nested": "models/eigenvalues/frequencies.mlir -m tiny4 --input random:1 --trace tile",
    "workers": "models/linear_regression/train_step.mlir -m tiny4 --input random:1 --repeat 3 --trace vertex",
    "instructions": "models/linear_regression/train_step.mlir -m tiny4 --input random:1 --trace instruction --trace-tiles 0-2 --trace-supersteps 2:5",
    "summary": "models/quickstart/affine.mlir -m tiny4 --input random:1 --trace summary",
    "supersteps": "models/quickstart/affine.mlir -m tiny4 --input random:1 --trace superstep",
}
TABLES = {  # by their axes
    "supersteps": "superstep",
    "launches": "launch",
    "transfers": "transfer",
    "steps": "step",
    "operations": "operation",
    "compute_sets": "compute_set",
    "vertex_types": "vertex_type",
    "variables": "variable",
    "streams": "stream",
    "plan_events": "plan_event",
    "events": "event",
    "tiles": "tile",
    "memory": "tile category",
    "parameters": "parameter",
    "exchanges": "exchange",
    "messages": "message",
    "compute_profiles": "compute_profile used_tile",
    "exchange_profiles": "exchange_profile used_tile",
}


def message(tokens):
    """A message of protoc's text format as lists by field."""
    fields = defaultdict(list)
    for token in tokens:
        if token == "}":
            break
        name, is_message = re.fullmatch(r"(\w+)(: | \{)", token).groups()
        fields[name].append(message(tokens) if is_message == " {" else next(tokens))
    return fields


def decoded(path):
    """The packets of a trace of Perfetto; fields that perfetto.proto does not know have numbers for names."""
    with open(path, "rb") as file:
        command = ["protoc", "--decode=Trace", "-Itests/python", "tests/python/perfetto.proto"]
        text = subprocess.run(command, stdin=file, capture_output=True, check=True, text=True).stdout
    tokens = []
    for line in map(str.strip, text.splitlines()):
        field = re.fullmatch(r"(\w+)(: | \{)(.*)", line)
        tokens += [line] if field is None else [field[1] + field[2]] + ([field[3]] if field[3] else [])
    return message(iter(tokens))["packet"]


def string(text):
    return json.loads(text)


class Slice:
    def __init__(self, begin, name, path, arguments, flows):
        self.begin, self.name, self.path, self.arguments, self.flows = begin, name, path, arguments, flows
        self.end = None


class Perfetto:
    """A trace of Perfetto as its viewer takes it: slices and counters by the paths of tracks."""

    def __init__(self, test, path):
        self.slices, self.counts, self.attributes = defaultdict(list), defaultdict(list), {}
        self.instants = []
        names, arguments, self.tracks, open_slices = {}, {}, {}, defaultdict(list)
        last = defaultdict(int)
        packets = decoded(path)
        test.assertEqual(packets[0]["sequence_flags"], ["3"])
        for packet in packets:
            test.assertFalse([field for field in packet if field.isdigit()], "a field that is not in perfetto.proto")
            for data in packet["interned_data"]:
                for kind, known in (("event_names", names), ("debug_annotation_names", arguments)):
                    for entry in data[kind]:
                        test.assertNotIn(entry["iid"][0], known)
                        known[entry["iid"][0]] = string(entry["name"][0])
            for track in packet["track_descriptor"]:
                parent = self.tracks.get(track["parent_uuid"][0], ()) if track["parent_uuid"] else ()
                self.tracks[track["uuid"][0]] = (*parent, string(track["name"][0]))
            for attributes in packet["trace_attributes"]:
                for attribute in attributes["attribute"]:
                    self.attributes[string(attribute["key"][0])] = string(attribute["string_value"][0])
            for event in packet["track_event"]:
                at, uuid = int(packet["timestamp"][0]), event["track_uuid"][0]
                track = self.tracks[uuid][1:] or self.tracks[uuid]
                test.assertGreaterEqual(at, last[uuid], track)
                last[uuid] = at
                match event["type"][0]:
                    case "TYPE_SLICE_BEGIN":
                        said = {}
                        for argument in event["debug_annotations"]:
                            (field, value), = ((k, v[0]) for k, v in argument.items() if k.endswith("value") and v)
                            said[arguments[argument["name_iid"][0]]] = string(value)
                        stack = open_slices[uuid]
                        name = names[event["name_iid"][0]]
                        flows = [(int(f, 16), False) for f in event["flow_ids"]]
                        flows += [(int(f, 16), True) for f in event["terminating_flow_ids"]]
                        stack.append(Slice(at, name, (*(s.name for s in stack), name), said, flows))
                        self.slices[track].append(stack[-1])
                    case "TYPE_SLICE_END":
                        begun = open_slices[uuid].pop()
                        begun.end = at
                        for outer in open_slices[uuid]:
                            test.assertLessEqual(outer.begin, begun.begin)
                    case "TYPE_COUNTER":
                        value = (event["counter_value"] + event["double_counter_value"])[0]
                        self.counts[track].append((at, float(value)))
                    case "TYPE_INSTANT":
                        self.instants.append((at, names[event["name_iid"][0]]))
        test.assertFalse([s for stack in open_slices.values() for s in stack], "slices that do not end")


def texts(values):
    return [value.decode() for value in values]


def datasets(group):
    """All below a group but for the views of NeXus, some by several names."""
    for name, item in group.items():
        if isinstance(item, h5py.Dataset):
            yield item
        elif name != "plots":
            yield from datasets(item)


class Trace:
    """A trace as h5py reads it."""

    def __init__(self, path):
        self.file = h5py.File(path)
        self.total = int(self.file["summary"].attrs["total_cycles"])
        step = self.file["program/step"]
        self.parent, self.kind, self.names = step["parent"][:], step["kind"][:], texts(step["name"][:])
        self.trips, self.operation = step["trips"][:], step["operation"][:]
        self.operations = texts(self.file["program/operation/name"][:])

    def column(self, name):
        return self.file["supersteps"][name][:].astype(int)

    def label(self, step):
        if self.kind[step] != LOOP:
            return self.names[step]
        return f"{self.names[step]} ({f'{self.trips[step]} trips' if self.trips[step] else 'trips by data'})"

    def ancestors(self, step):
        return [] if self.parent[step] < 0 else [*self.ancestors(self.parent[step]), self.parent[step]]

    def path(self, step):
        """The frames of a step, without its part."""
        operation, name = self.operations[self.operation[step]], self.names[step]
        path = [self.file.attrs["module"].decode(), *map(self.label, self.ancestors(step)), operation]
        return path if name == operation else [*path, name]

    def sharing(self, step):
        """The operations that share a step, with their weights."""
        fused = self.file["program/fused"]
        rows = np.flatnonzero(fused["step"][:] == step)
        return texts(fused["name"][rows]), [int(cycles) for cycles in fused["cycles_alone"][rows]]

    def stacks(self, frames, step, cycles):
        """Of each operation that shares the step, with its part of the cycles."""
        names, weights = self.sharing(step)
        if not sum(weights):
            return Counter({";".join(frames): cycles})
        ends = [cycles * sum(weights[:n]) // sum(weights) for n in range(len(weights) + 1)]
        stacks = Counter()
        for name, begin, end in zip(names, ends, ends[1:]):
            stacks[";".join([*frames, name])] += end - begin
        return stacks


def part_of(stack):
    return next(frame for frame in reversed(stack.split(";")) if frame in PARTS)


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name, words in RUNS.items():
            command = [sys.argv[1], "run", *words.split(), "-q", "-o", cls.at(f"{name}.h5")]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def at(cls, name):
        return str(Path(cls.folder.name) / name)

    def export(self, run, to, *words):
        out = self.at(f"{run}.{to}")
        command = [sys.argv[1], "trace", "export", self.at(f"{run}.h5"), "--to", to, "-o", out, *words]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return out

    def refused(self, run, to, *words):
        command = [sys.argv[1], "trace", "export", self.at(f"{run}.h5"), "--to", to, "-o", self.at("none"), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, command)
        self.assertFalse(Path(self.at("none")).exists())
        return done.stderr

    def perfetto(self, run, *words):
        if not HAS_PROTOC:
            self.skipTest("there is no protoc")
        return Perfetto(self, self.export(run, "perfetto", *words)), Trace(self.at(f"{run}.h5"))

    def test_supersteps_and_phases_are_those_of_the_trace(self):
        for run in ("calls", "loop", "loops", "supersteps"):
            with self.subTest(run=run):
                shown, trace = self.perfetto(run)
                begin, parts = trace.column("start_cycle"), [trace.column(f"{part}_cycles") for part in PARTS]
                steps = [trace.names[step] for step in trace.column("step")]
                supersteps = [(s.begin, s.end, s.name) for s in shown.slices["Supersteps",]]
                self.assertEqual(supersteps, list(zip(begin, begin + sum(parts), steps)))
                said = [s.arguments for s in shown.slices["Supersteps",]]
                for argument, column in {"bytes_sent": "bytes_sent", "h_bytes": "h_bytes", "flops": "flops",
                                         "critical_tile": "critical_tile", "superstep": "superstep", "call": "iteration"}.items():
                    self.assertEqual([s[argument] for s in said], list(trace.column(column)))
                phases = []
                for s, at in enumerate(begin):
                    for part, cycles in zip(PARTS, parts):
                        if cycles[s]:
                            phases.append((at, at + cycles[s], part))
                            at += cycles[s]
                self.assertEqual([(s.begin, s.end, s.name) for s in shown.slices["Phases",]], phases)

    def test_the_program_track_takes_what_its_steps_take(self):
        for run in ("calls", "loop", "loops", "nested"):
            with self.subTest(run=run):
                shown, trace = self.perfetto(run)
                cycles = Counter()
                for leaf in shown.slices["Program",]:
                    if "step" not in leaf.arguments:
                        continue
                    step = leaf.arguments["step"]
                    cycles[step] += leaf.end - leaf.begin
                    above = [name for name in leaf.path[1:-1] if not name.startswith("trip ")]
                    operation = trace.operations[trace.operation[step]]
                    self.assertEqual(above, [*map(trace.label, trace.ancestors(step)), operation])
                    names, weights = trace.sharing(step)
                    shares = [f"{name} {100 * weight / sum(weights):.0f} %" for name, weight in zip(names, weights)] if sum(weights) else names
                    self.assertEqual(leaf.arguments.get("operations", ""), ", ".join(shares))
                of_step = trace.file["summary/step"]
                expected = sum(of_step[f"{part}_cycles"][:] for part in ("exchange", "compute", "host"))
                self.assertEqual(cycles, Counter({step: int(n) for step, n in enumerate(expected) if n}))

    def test_calls_and_trips_are_slices(self):
        shown, trace = self.perfetto("calls")
        calls = [s.name for s in shown.slices["Program",] if len(s.path) == 1]
        self.assertEqual(calls, ["call 0", "call 1", "call 2"])
        for run in ("loop", "loops"):
            shown, trace = self.perfetto(run)
            trips = [s for s in shown.slices["Program",] if s.name.startswith("trip ")]
            # The last round only finds that there are no more trips.
            self.assertEqual([s.name for s in trips], [f"trip {n}" for n in range(trace.column("trip").max() + 1)])
            of_leaf = {leaf.begin: leaf for leaf in shown.slices["Program",] if "step" in leaf.arguments}
            launches = trace.file["launches"]
            wrapped = 0
            for s, step in enumerate(trace.column("exchange_step")):
                loop = trace.ancestors(step)[-1:]
                if not loop:
                    continue
                trip, at = trace.column("trip")[s], trace.column("start_cycle")[s]
                rows = [(step, trace.column("exchange_cycles")[s])]
                mine = launches["superstep"][:] == s
                for step, cycles in [*rows, *zip(launches["step"][mine], launches["cycles"][mine].astype(int))]:
                    # What is behind a later step of the loop is of the next trip.
                    if loop == trace.ancestors(step)[-1:] and step < rows[-1][0]:
                        trip, wrapped = trip + 1, wrapped + 1
                    rows.append((step, cycles))
                    if cycles and loop == trace.ancestors(step)[-1:]:
                        self.assertIn(f"trip {trip}", of_leaf[at].path, (s, step))
                    at += cycles
            self.assertGreater(wrapped, 0)

    def test_a_loop_inside_another_has_its_trips_in_each_trip(self):
        shown, trace = self.perfetto("nested")
        inner = [step for step in range(len(trace.names)) if trace.kind[step] == LOOP and trace.ancestors(step)]
        self.assertEqual(len(inner), 1)
        (outer,), trips = trace.ancestors(inner[0]), int(trace.trips[inner[0]])
        self.assertGreater(trips, 1)
        inside = defaultdict(list)
        for s in shown.slices["Program",]:
            if s.name.startswith("trip ") and s.path[-2] == trace.label(inner[0]):
                inside[s.path[:-1]].append(s.name)
        rounds = trace.file["summary/step/runs"][inner[0] + 1] // trips
        self.assertGreater(rounds, 1)
        around = ("call 0", trace.label(outer))
        expected = {(*around, f"trip {n}", trace.label(inner[0])): [f"trip {m}" for m in range(trips)] for n in range(rounds)}
        self.assertEqual(inside, expected)

    def test_tiles_do_what_their_profiles_say(self):
        for run, words in (("calls", ("--tiles", "0-1,3")), ("loop", ()), ("loop", ("--tiles", "critical", "--window", "3:60"))):
            with self.subTest(run=run, words=words):
                shown, trace = self.perfetto(run, *words)
                tiles = [int(track[1][5:]) for track in shown.slices if track[0] == "Tiles" and len(track) == 2]
                first, end = (3, 60) if "3:60" in words else (0, len(trace.column("step")))
                critical = Counter()
                for s in range(first, end):
                    device = sum(trace.column(f"{part}_cycles")[s] for part in PARTS[:3])
                    critical[trace.column("critical_tile")[s]] += device
                if run == "loop":
                    most = sorted(critical.items(), key=lambda tile: (-tile[1], tile[0]))[:8]
                    self.assertEqual(tiles, [tile for tile, cycles in most if cycles])
                else:
                    self.assertEqual(tiles, [0, 1, 3])
                used = list(trace.file["program/used_tile"][:])
                profiles = trace.file["profiles"]
                for tile in tiles:
                    column, expected = used.index(tile), []
                    for s in range(first, end):
                        at = trace.column("start_cycle")[s]
                        compute, exchange = trace.column("compute_profile")[s], trace.column("exchange_profile")[s]
                        for name, values, row in (("exchange", profiles["exchange/cycles"], exchange), ("compute", profiles["compute/cycles"], compute),
                                                  ("wait", profiles["compute/wait_cycles"], compute)):
                            if values[row, column]:
                                expected.append((at, at + int(values[row, column]), name))
                                at = expected[-1][1]
                    self.assertEqual([(s.begin, s.end, s.name) for s in shown.slices["Tiles", f"Tile {tile}"]], expected)

    def test_workers_do_what_the_vertices_say(self):
        for words in (("--tiles", "0,2"), ("--tiles", "1", "--window", "4:9")):
            with self.subTest(words=words):
                shown, trace = self.perfetto("workers", *words)
                first, end = (4, 9) if "4:9" in words else (0, 10**9)
                vertices = {name: column[:] for name, column in trace.file["vertices"].items()}
                steps, types = trace.file["program/step/name"][:], trace.file["program/vertex_type/name"][:]
                expected = defaultdict(list)
                for i in range(len(vertices["vertex"])):
                    row = {name: int(column[i]) for name, column in vertices.items()}
                    if str(row["tile"]) in words[1].split(",") and first <= row["superstep"] < end:
                        track = "Tiles", f"Tile {row['tile']}", f"Worker {row['worker']}"
                        begin = row["start_cycle"]
                        what = steps[row["step"]].decode(), types[row["vertex_type"]].decode()
                        expected[track].append((begin, begin + row["cycles"], *what, row["instructions"]))
                self.assertTrue(expected)
                found = {
                    track: [(s.begin, s.end, s.name, s.arguments["vertex_type"], s.arguments["instructions"]) for s in slices]
                    for track, slices in shown.slices.items()
                    if track[-1].startswith("Worker")
                }
                self.assertEqual(found, expected)

    def test_counters_hold_between_their_changes(self):
        shown, trace = self.perfetto("calls")

        def value(counter, at):
            return [value for when, value in shown.counts[counter,] if when <= at][-1]

        device = sum(trace.column(f"{part}_cycles") for part in PARTS[:3])
        for s, at in enumerate(trace.column("start_cycle")):
            exchange, sent = trace.column("exchange_cycles")[s], trace.column("bytes_sent")[s]
            self.assertEqual(value("Active tiles", at), trace.column("active_tiles")[s])
            self.assertEqual(value("Live memory", at), trace.column("live_bytes")[s])
            self.assertEqual(value("Exchanged", at), sent / exchange if exchange else 0)
            self.assertEqual(value("Exchanged", at + exchange), 0)
            self.assertAlmostEqual(value("Computed", at), trace.column("flops")[s] / device[s] if device[s] else 0)

    def test_transfers_of_the_host_are_slices_with_arrows(self):
        shown, trace = self.perfetto("calls")
        host, names = trace.file["host"], texts(trace.file["program/stream/name"][:])
        expected = [(int(at), int(at + cycles), names[stream], int(size)) for at, cycles, stream, size in
                    zip(host["start_cycle"], host["cycles"], host["stream"], host["bytes"])]
        found, ends = [], defaultdict(dict)
        for track, slices in shown.slices.items():
            if track[0].startswith("to the "):
                found += [(s.begin, s.end, s.name, s.arguments["bytes"]) for s in slices]
            for s in slices:
                for flow, is_end in s.flows:
                    self.assertNotIn(is_end, ends[flow])
                    ends[flow][is_end] = (s, track[0])
        self.assertEqual(sorted(found), sorted(expected))
        self.assertEqual(len(ends), len(expected))
        for flow in ends.values():
            (begin, source), (end, target) = flow[False], flow[True]
            self.assertLess(begin.begin, end.begin)
            self.assertEqual({source, target}, {"Supersteps", "to the device" if source.startswith("to") else "to the host"})
            # From a visit to its transfer, or from there to the superstep behind the visit.
            supersteps = [s.begin for s in shown.slices["Supersteps",]]
            visit = begin if source == "Supersteps" else shown.slices["Supersteps",][supersteps.index(end.begin) - 1]
            transfer = end if source == "Supersteps" else begin
            self.assertTrue(visit.name == "host" and visit.begin <= transfer.begin and transfer.end <= visit.end)

    def test_events_are_instants(self):
        command = [sys.argv[1], "run", *RUNS["loop"].split(), "--max-supersteps", "50", "-q", "-o", self.at("trap.h5")]
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 1)
        shown, trace = self.perfetto("trap")
        kinds = {number: kind for kind, number in h5py.check_enum_dtype(trace.file["events/kind"].dtype).items()}
        expected = [(int(at), kinds[kind]) for at, kind in zip(trace.file["events/cycle"], trace.file["events/kind"])]
        self.assertEqual([kind for at, kind in expected], ["trap"])
        self.assertEqual(shown.instants, expected)
        self.assertEqual(self.perfetto("trap", "--window", "0:10")[0].instants, [])

    def test_a_window_is_a_part_of_the_whole(self):
        whole, trace = self.perfetto("calls")
        part, trace = self.perfetto("calls", "--window", "3:7")
        begin = list(trace.column("start_cycle"))
        for track in (("Supersteps",), ("Phases",)):
            inside = [(s.begin, s.end, s.name) for s in whole.slices[track] if begin[3] <= s.begin < begin[7]]
            self.assertEqual([(s.begin, s.end, s.name) for s in part.slices[track]], inside)
        self.assertIn("none in the window", self.refused("calls", "perfetto", "--window", "500:600"))
        self.assertIn("--window takes A:B", self.refused("calls", "perfetto", "--window", "7:3"))

    def test_equal_traces_make_equal_bytes(self):
        for to in ("perfetto", "folded", "speedscope", "csv"):
            first = Path(self.export("loop", to)).read_bytes()
            again = self.at("again.h5")
            command = [sys.argv[1], "run", *RUNS["loop"].split(), "-j1", "-q", "-o", again]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            self.assertEqual(Path(self.export("again", to)).read_bytes(), first, to)

    def folded(self, run, *words):
        stacks = {}
        for line in Path(self.export(run, "folded", *words)).read_text().splitlines():
            stack, cycles = line.rsplit(" ", 1)
            self.assertNotIn(stack, stacks)
            stacks[stack] = int(cycles)
        return stacks

    def test_stacks_are_the_cycles_of_steps(self):
        for run in RUNS:
            with self.subTest(run=run):
                trace, expected, work = Trace(self.at(f"{run}.h5")), Counter(), Counter()
                of_step = trace.file["summary/step"]
                for step in range(len(trace.names)):
                    for part in PARTS:
                        expected += trace.stacks([*trace.path(step), part], step, int(of_step[f"{part}_cycles"][step]))
                    work += trace.stacks(trace.path(step), step, int(of_step["compute_cycles_sum"][step]))
                self.assertEqual(self.folded(run), +expected)
                self.assertEqual(sum(self.folded(run).values()), trace.total)
                self.assertEqual(self.folded(run, "--weight", "work"), +work)

    def test_stacks_of_a_window_are_those_of_its_supersteps(self):
        trace = Trace(self.at("loop.h5"))
        stacks, expected = self.folded("loop", "--window", "4:40"), Counter()
        for part in PARTS:
            expected[part] = int(trace.column(f"{part}_cycles")[4:40].sum())
        found = Counter()
        for stack, cycles in stacks.items():
            found[part_of(stack)] += cycles
        self.assertEqual(found, +expected)
        of_step, moved = Counter(), Counter()
        for s in range(4, 40):
            of_step[trace.column("exchange_step")[s]] += int(trace.column("exchange_cycles")[s])
        for step, cycles in of_step.items():
            moved += trace.stacks([*trace.path(step), "exchange"], step, cycles)
        self.assertEqual({s: c for s, c in stacks.items() if part_of(s) == "exchange"}, moved)
        self.assertIn("--trace superstep", self.refused("summary", "folded", "--window", "0:2"))

    def test_speedscope_has_the_stacks_with_their_places(self):
        for run in RUNS:
            with self.subTest(run=run):
                trace = Trace(self.at(f"{run}.h5"))
                document = json.loads(Path(self.export(run, "speedscope")).read_text())
                frames, (profile,) = document["shared"]["frames"], document["profiles"]
                stacks = [";".join(frames[f]["name"] for f in sample) for sample in profile["samples"]]
                self.assertEqual(dict(zip(stacks, profile["weights"])), self.folded(run))
                self.assertEqual((profile["startValue"], profile["endValue"]), (0, trace.total))
                places = {frame["name"]: (frame["file"], frame["line"]) for frame in frames if "file" in frame}
                operation = trace.file["program/operation"]
                for name, file, line in zip(trace.operations, texts(operation["python_file"][:]), operation["python_line"][:]):
                    if file and name in places:
                        self.assertEqual(places[name], (file, int(line)))

    def test_kanata_has_each_instruction_from_its_issue_to_the_next(self):
        for words, tiles in (((), (0, 1, 2)), (("--tiles", "1", "--window", "3:4"), (1,))):
            with self.subTest(words=words):
                trace = Trace(self.at("instructions.h5"))
                issued = {name: column[:] for name, column in trace.file["instructions"].items()}
                opcodes, workers = texts(trace.file["machine/opcode/name"][:]), trace.file.attrs["workers_per_tile"]
                expected = []
                for i in range(len(issued["instruction"])):
                    row = {name: int(column[i]) for name, column in issued.items()}
                    if row["tile"] not in tiles or (words and row["superstep"] != 3):
                        continue
                    context = workers if row["worker"] < 0 else row["worker"]
                    thread = tiles.index(row["tile"]) * (workers + 1) + context
                    begin = row["cycle"] - row["register_wait_cycles"] - row["slot_wait_cycles"]
                    expected.append((begin, row["cycle"], row["cycle"] + row["cycles"], thread, row["pc"]))
                found, now = {}, None
                for line in Path(self.export("instructions", "kanata", *words)).read_text().splitlines()[1:]:
                    kind, *rest = line.split("\t")
                    if kind == "C=":
                        now = int(rest[0])
                    elif kind == "C":
                        now += int(rest[0])
                    elif kind == "I":
                        found[rest[0]] = [now, None, None, int(rest[2]), None]
                    elif kind == "S" and rest[2] == "X":
                        found[rest[0]][1] = now
                    elif kind == "L" and rest[1] == "1":
                        found[rest[0]][4] = int(rest[2].rsplit("pc ", 1)[1], 16)
                    elif kind == "L":
                        self.assertTrue(any(f" {name}" in rest[2] for name in (*opcodes, "nop", "mov", "get", "put", "zero")), line)
                    elif kind == "R":
                        found[rest[0]][2] = now
                self.assertEqual(sorted(map(tuple, found.values())), sorted(expected))

    def test_tables_are_the_columns_of_the_trace(self):
        for run, (table, axes) in [(run, item) for run in ("calls", "loops") for item in TABLES.items()] + [
            ("workers", ("vertices", "vertex")), ("instructions", ("instructions", "instruction")), ("instructions", ("opcodes", "opcode"))
        ]:
            with self.subTest(run=run, table=table):
                with open(self.export(run, "csv", "--table", table), newline="") as file:
                    head, *rows = csv.reader(file)
                columns = dict(zip(head, zip(*rows))) if rows else dict.fromkeys(head, ())
                self.assertEqual(len(columns), len(head))
                expected = {item.id: item for item in datasets(Trace(self.at(f"{run}.h5")).file) if item.attrs["axes"].decode() == axes}
                for item in expected.values():
                    unit = item.attrs["units"].decode()
                    name = item.name.rsplit("/", 1)[1] + (f" ({unit})" if unit != "1" else "")
                    values = item[:].reshape(-1)
                    kinds = {number: kind for kind, number in (h5py.check_enum_dtype(item.dtype) or {}).items()}
                    shown = [v.decode() if isinstance(v, bytes) else kinds.get(v, str(v)) for v in values]
                    self.assertEqual(list(columns[name]), shown, name)
                self.assertEqual(len(head), len(expected) + (2 if " " in axes else 0))
                if " " in axes and rows:
                    count = len(rows) // len(set(columns[axes.split()[1]]))
                    self.assertEqual(columns[axes.split()[0]], tuple(np.repeat([str(n) for n in range(count)], len(rows) // count)))

    def test_texts_that_a_spreadsheet_would_run_are_behind_an_apostrophe(self):
        texts = ["=cmd|'x'!A0", '=F("x","y")', "+1", "-1", "@a", "\ta"]
        shutil.copyfile(self.at("calls.h5"), self.at("formulas.h5"))
        with h5py.File(self.at("formulas.h5"), "a") as file:
            names = [name.decode() for name in file["program/step/name"][:]]
            self.assertGreaterEqual(len(names), len(texts))
            file["program/step/name"][: len(texts)] = texts
        with open(self.export("formulas", "csv", "--table", "steps"), newline="") as file:
            found = list(csv.DictReader(file))
        self.assertEqual([row["name"] for row in found], ["'" + text for text in texts] + names[len(texts) :])
        self.assertTrue(all(row["step"].isdigit() for row in found))

    def test_a_table_may_be_of_a_window(self):
        trace = Trace(self.at("calls.h5"))
        for table, numbers in (("supersteps", trace.column("superstep")), ("launches", trace.file["launches/superstep"][:]),
                               ("transfers", trace.file["host/superstep"][:])):
            with open(self.export("calls", "csv", "--table", table, "--window", "4:8"), newline="") as file:
                found = [int(row["superstep"]) for row in csv.DictReader(file)]
            self.assertEqual(found, [n for n in numbers if 4 <= n < 8])
        self.assertIn("--window is for", self.refused("calls", "csv", "--table", "steps", "--window", "4:8"))

    def test_what_a_level_lacks_is_said_with_the_level_that_has_it(self):
        self.assertIn("has no supersteps: they are in traces of level superstep", self.refused("summary", "perfetto"))
        self.assertIn("has no launches: they are in traces of level superstep", self.refused("summary", "csv", "--table", "launches"))
        self.assertIn("has no messages: they are in traces of level tile", self.refused("supersteps", "csv", "--table", "messages"))
        self.assertIn("they are in traces of level tile", self.refused("supersteps", "perfetto", "--tiles", "0"))
        self.assertIn("has no instructions: they are in traces of level instruction", self.refused("workers", "kanata"))
        self.assertIn("has no instructions of these tiles", self.refused("instructions", "kanata", "--tiles", "3"))
        self.assertIn("has no program on tile 60000", self.refused("calls", "perfetto", "--tiles", "60000"))

    def test_what_is_wrong_with_the_words_is_said(self):
        self.assertIn("there is no format 'svg'; there are perfetto, folded, speedscope, kanata, csv", self.refused("calls", "svg"))
        self.assertIn("did you mean 'steps'?", self.refused("calls", "csv", "--table", "stesp"))
        self.assertIn("--tiles is not for --to csv", self.refused("calls", "csv", "--tiles", "0"))
        self.assertIn("--weight takes critical or work", self.refused("calls", "folded", "--weight", "heavy"))
        self.assertIn("--tiles takes tiles as in", self.refused("calls", "perfetto", "--tiles", "3-1"))

    def test_an_unfinished_trace_is_exported_as_the_whole_one(self):
        """What a killed run leaves has no summary."""
        shutil.copy(self.at("loop.h5"), self.at("part.h5"))
        with h5py.File(self.at("part.h5"), "r+") as file:
            file.attrs.modify("complete", np.uint8(0))
            for name in list(file["summary"]):
                del file["summary"][name]
        self.assertEqual(self.folded("part"), self.folded("loop"))


if __name__ == "__main__":
    if not HAS_PROTOC:
        print("Skipped: traces of Perfetto, because there is no protoc (protobuf-compiler)")
    unittest.main(argv=sys.argv[:1], warnings="ignore")
