"""Looks at the page of a trace in Chromium: page_views.py SUPERSTEP, from the top of the repository."""

import collections
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from fractions import Fraction

import page_guide
from page_case import LINEAR, PARTS, KarateCase, superstep

import h5py
import numpy as np


COMPUTE, EXCHANGE = 0, 1  # as kinds of /program/step


class PageViews(KarateCase):
    def test_every_view_draws(self):
        self.open("summary")
        for view in self.views():
            with self.subTest(view=view):
                self.open(view)
                self.assertEqual(self.browser.run("document.querySelector('section.shown').id"), "view-" + view)
                self.assertGreater(self.browser.run(f"document.querySelector('#view-{view}').textContent.length"), 100)
                for colours in self.inked(view):
                    self.assertGreater(colours, 3)

    def test_every_chart_says_what_it_shows_and_offers_to_be_saved(self):
        self.open("summary")
        for view in self.views():
            self.open(view)
            for chart in range(self.browser.run(f"document.querySelectorAll('#view-{view} figure').length")):
                figure = f"document.querySelectorAll('#view-{view} figure')[{chart}]"
                with self.subTest(view=view, chart=chart):
                    self.assertTrue(self.browser.run(f"{figure}.querySelector('canvas').getAttribute('aria-label').length > 10"))
                    self.assertEqual(self.browser.run(f"[...{figure}.querySelectorAll('figcaption > .tools > button')].map((b) => b.textContent)")[-2:], ["SVG", "PNG"])

    def test_no_table_is_wider_than_its_box(self):
        both = self.make("both_karate.html", self.karate, self.karate)
        try:
            for width in (400, 1280, 1800):
                self.browser.size(width, 900)
                for page in (self.karate_page, both):
                    self.open("summary", page)
                    for view in self.views():
                        self.open(view, page)
                        self.open_tables(view)
                        self.browser.frame()
                        wide = self.browser.run("""[...document.querySelectorAll('section.shown .table')].filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth)
                          .map((box) => [box.getAttribute('aria-label'), box.scrollWidth, box.clientWidth])""")
                        self.assertEqual((width, view, wide), (width, view, []))
        finally:
            self.browser.size(1440, 900)

    def test_columns_that_answer_most_stay_where_a_table_is_narrow_and_others_can_be_asked_for(self):
        shown = "[...document.querySelectorAll('#view-operations thead th')].filter((th) => th.checkVisibility()).map((th) => th.textContent)"
        try:
            self.browser.size(1280, 900)
            self.open("operations", self.karate_page)
            self.browser.frame()
            found = self.browser.run(shown)
            self.assertEqual(found, ["Operation", "StableHLO", "Python", "Device (cycle)", "Compute (cycle)", "Exchange (cycle)", "Sync (cycle)"])
            self.browser.run("[...document.querySelectorAll('#view-operations button')].find((b) => b.textContent.endsWith(' more columns')).click()")
            self.assertIn("Supersteps", self.browser.run(shown))
        finally:
            self.browser.size(1440, 900)

    def test_tables_are_printed_with_all_their_rows(self):
        self.open("memory", self.karate_page)
        count = "[...document.querySelectorAll('.paged')].filter((e) => !e.closest('details')).map((e) => [e.querySelector('.note').textContent, e.querySelectorAll('tbody tr').length])"
        before = self.browser.run(count)
        self.browser.run("window.dispatchEvent(new Event('beforeprint'))")
        printed = self.browser.run(count)
        self.assertGreater(len(printed), len(before))
        for note, rows in printed:
            self.assertEqual(note, f"{rows:,} row{'s' if rows != 1 else ''}")
        self.assertIn("–", "".join(note for note, _ in before))
        self.browser.run("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual([row for row in self.browser.run(count) if row in before], before)

    def test_totals_are_those_of_the_trace(self):
        self.open("summary")
        self.open_tables("summary")
        found = {row["Part"]: self.number(row["Cycles (cycle)"]) for row in self.rows("#view-summary figure")}
        summary = self.file["summary"].attrs
        for part in PARTS + ("device", "total"):
            self.assertEqual(found[part.capitalize()], summary[part + "_cycles"])

    def test_streams_have_what_they_move_and_how_long_it_takes(self):
        transfers, names = self.file["host"], [name.decode() for name in self.file["program/stream/name"]]
        expected = {name: [0, 0, 0, 0] for name in names}
        for stream, *row in zip(*(transfers[column][:] for column in ("stream", "cycles", "bytes", "packets"))):
            expected[names[stream]] = [a + int(b) for a, b in zip(expected[names[stream]], [*row, 1])]
        self.open("summary")
        rows = self.panel("summary", "Streams")
        found = {row["Stream"]: [self.number(row[title]) for title in ("Cycles (cycle)", "Moved (B)", "Packets", "Transfers")] for row in rows}
        self.assertEqual(found, expected)
        cycles = [of_stream[0] for of_stream in found.values()]
        self.assertEqual(cycles, sorted(cycles, reverse=True))
        self.assertAlmostEqual(sum(self.number(row["Of streams (%)"]) for row in rows), 100, delta=0.05 * len(rows))
        summary = self.file["summary"].attrs
        self.assertIn(f"Beginnings of {summary['visits']} visits take {summary['visit_begin_cycles']:,} cycles, data {summary['host_cycles'] - summary['visit_end_cycles']:,}, ends {summary['visit_end_cycles']:,}.",
                      self.browser.run("document.getElementById('view-summary').textContent"))

    def test_the_panel_says_where_the_timeline_draws_a_superstep_and_whose_exchange_it_has(self):
        supersteps, steps = self.file["supersteps"], self.file["program/step/name"]
        cycles = {part: supersteps[part + "_cycles"][:].astype(int) for part in PARTS}
        last = len(cycles["host"]) - 1
        while not cycles["exchange"][last]:
            last -= 1
        panel = lambda: dict(self.browser.run("[...document.querySelectorAll('#selection dt')].map((dt) => [dt.textContent, dt.nextSibling.textContent])"))
        start = supersteps["start_cycle"][last]
        self.open("timeline", superstep=last)
        before = sum(int(of_part[:last].sum()) for part, of_part in cycles.items() if part != "host")
        self.assertLess(before, start)
        found = panel()
        self.assertEqual((found["Starts at"], found["Without host"]), (f"{start:,} cycles", f"{before:,} cycles"))
        self.assertEqual(found["for step"], steps[supersteps["exchange_step"][last]].decode())
        self.assertEqual(self.number(found["h, a tile's most"]), supersteps["h_bytes"][last])
        self.open("timeline", superstep=last, device=0)  # where it is at its start
        self.assertNotIn("Without host", panel())

    def test_cards_say_what_tiles_issue_of_their_compute_cycles(self):
        summary, work = self.file["summary"].attrs, int(self.file["supersteps/compute_cycles_sum"][:].sum())
        amp, aux = (int(summary[name + "_instructions"]) for name in ("amp", "aux"))
        share = lambda instructions: f"{100 * instructions / work:.1f} %"
        self.open("summary")
        card = next(text for text in self.browser.run("[...document.querySelectorAll('#view-summary .card')].map((c) => c.textContent)") if text.startswith("Issue"))
        self.assertEqual(card.replace(" ", ""), f"Issue on the main pipe{share(int(summary['instructions']) - aux)}of tiles' compute; auxiliary {share(aux)}, of it AMP {share(amp)}".replace(" ", ""))

    def test_choices_that_cost_time_are_not_those_that_save_some(self):
        choices = json.loads(superstep("report", str(self.karate), "--json"))["plan_events"]
        self.assertEqual({choice["kind"] for choice in choices}, {"small_product"})  # which takes fewer cycles without AMP
        self.open("summary", self.karate_page)
        self.assertNotIn("small_product", self.browser.run("document.getElementById('view-summary').textContent"))

    def test_supersteps_are_those_of_the_trace(self):
        self.open("timeline", **{"from": 0, "to": len(self.file["supersteps/superstep"])})
        self.open_tables("timeline")
        rows = self.rows("#view-timeline figure")
        self.assertEqual(len(rows), min(50, len(self.file["supersteps/superstep"])))
        columns = {"Start (cycle)": "start_cycle", "Call": "iteration", "h (B)": "h_bytes", "Written (B)": "bytes_sent", "Messages": "messages",
                   "Active tiles": "active_tiles", "Critical tile": "critical_tile", "FLOP": "flops", "Live (B)": "live_bytes"}
        columns |= {f"{part.capitalize()} (cycle)": part + "_cycles" for part in PARTS}
        for title, column in columns.items():
            with self.subTest(column=column):
                np.testing.assert_array_equal([self.number(row[title]) for row in rows], self.file["supersteps/" + column][: len(rows)])

    def test_operations_are_those_of_the_trace_in_order_of_cycles(self):
        self.open("operations")
        rows = self.rows("#view-operations")
        report = json.loads(self.file["summary/json"][0])
        listed = [operation for operation in report["operations"] if any(operation[part + "_cycles"] for part in PARTS) or operation["flops"]]
        self.assertEqual([row["Operation"] for row in rows], [operation["name"] for operation in listed])
        for row, operation in zip(rows, listed):
            for part in PARTS:
                self.assertEqual(self.number(row[f"{part.capitalize()} (cycle)"]), operation[part + "_cycles"])
            self.assertEqual(self.number(row["FLOP"]), operation["flops"])

    def test_operations_that_only_run_beside_longer_ones_are_there_where_they_are_chosen(self):
        with h5py.File(self.karate) as file:
            operations = json.loads(file["summary/json"][0])["operations"]
        beside = [o["name"] for o in operations if not any(o[part + "_cycles"] for part in PARTS) and not o["flops"]]
        self.assertTrue(beside)
        self.open("operations", self.karate_page)
        shown = [row["Operation"] for row in self.rows("#view-operations")]
        self.assertFalse(set(beside) & set(shown))
        self.assertEqual(len(shown) + len(beside), len(operations))
        self.assertIn(f"{len(beside)} operations that only run beside longer ones are left out", self.browser.run("document.querySelector('#view-operations caption').textContent"))
        self.open("operations", self.karate_page, operation=beside[0])
        self.assertIn(beside[0], [row["Operation"] for row in self.rows("#view-operations")])

    def test_bars_that_would_be_dots_are_not_drawn(self):
        self.open("operations", self.karate_page)
        widths = self.browser.run("[...document.querySelectorAll('#view-operations td .bar')].map((bar) => parseFloat(bar.style.width))")
        self.assertEqual(widths[0], 100)
        self.assertGreaterEqual(min(widths), 2)
        self.assertLess(len(widths), len(self.rows("#view-operations")))

    def test_points_that_lie_on_one_another_have_one_label_with_both_names(self):
        with h5py.File(self.karate) as file:
            operations = {o["name"]: o for o in json.loads(file["summary/json"][0])["operations"]}
        self.open("roofline", self.karate_page)
        labels = [text.split(", ") for text in self.drawn_text().split("\n")]
        labels = [names for names in labels if set(names) <= set(operations)]
        shared = [names for names in labels if len(names) > 1]
        self.assertTrue(shared, labels)
        for first, *others in shared:
            intensity, rate = ([operations[name]["flops"] / operation(name) for name in (first, *others)] for operation in
                               (lambda name: operations[name]["exchange_bytes"], lambda name: sum(operations[name][part + "_cycles"] for part in PARTS[:3])))
            for found in (intensity, rate):
                np.testing.assert_allclose(found, found[0], rtol=0.2)

    def test_texts_that_a_spreadsheet_would_run_are_copied_behind_an_apostrophe(self):
        texts = ["=1+2", "+a", "-a", "@a"]
        trace = self.folder / "formulas.h5"
        shutil.copyfile(self.trace, trace)
        with h5py.File(trace, "a") as file:
            file["program/operation/name"][: len(texts)] = texts
        self.open("operations", self.make("formulas.html", trace))
        self.browser.run("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })")
        self.browser.run("[...document.querySelectorAll('#view-operations button')].find((b) => b.textContent === 'Copy CSV').click()")
        self.browser.frame()
        rows = list(csv.reader(io.StringIO(self.browser.run("window.copied"))))
        names = [row[0] for row in rows[1:]]
        listed = {name.removeprefix("'") for name in names} & set(texts)
        self.assertTrue(listed)
        for name in names:
            self.assertNotIn(name[:1], "=+-@")
        for text in listed:
            self.assertIn("'" + text, names)

    def test_operations_that_are_fused_have_their_shares_of_lines_and_kinds(self):
        fused, steps, operations = (self.file["program/" + name] for name in ("fused", "step", "operation"))
        text = lambda table, column, i: table[column][i].decode()
        place = lambda table, name, i: f"{text(table, name + '_file', i)}:{table[name + '_line'][i]}" if text(table, name + "_file", i) else "(none)"
        names = {"opcode": lambda table, i: text(table, "hlo_opcode", i) or "(none)", "python": lambda table, i: place(table, "python", i)}
        of_step = collections.defaultdict(list)
        for i, step in enumerate(fused["step"]):
            of_step[int(step)].append(i)
        self.assertTrue(of_step)
        cycles = {name: self.file[f"summary/step/{name}_cycles"][:] for name in ("compute", "exchange", "sync")}
        for by, name in names.items():
            exact = collections.Counter()
            for step in range(len(cycles["compute"])):
                device = int(sum(of_part[step] for of_part in cycles.values()))
                whole = sum(int(fused["cycles_alone"][i]) for i in of_step[step])
                for i in of_step[step]:
                    exact[name(fused, i)] += Fraction(device * int(fused["cycles_alone"][i]), whole)
                if not of_step[step]:
                    exact[name(operations, steps["operation"][step])] += device
            self.open("operations", group=by)
            found = {list(row.values())[0]: self.number(row["Device (cycle)"]) for row in self.rows("#view-operations .panel:not([hidden])")}
            self.assertEqual(sum(found.values()), self.file["summary"].attrs["device_cycles"])
            for group, device in found.items():
                self.assertLessEqual(abs(device - exact[group]), 3 * len(of_step))  # each part of a step is cut to whole cycles

        for kind, what in ((COMPUTE, "fused operation"), (EXCHANGE, "of a shared exchange")):
            step = next(step for step in of_step if steps["kind"][step] == kind)
            self.shares_of_a_step(step, of_step[step], what)

    def shares_of_a_step(self, step, rows_of_step, what):
        """Looks at the operations of one step, beside rows of /program/fused, in the panel and in the search."""
        fused, steps, operations = (self.file["program/" + name] for name in ("fused", "step", "operation"))
        text = lambda table, column, i: table[column][i].decode()
        place = lambda table, name, i: f"{text(table, name + '_file', i)}:{table[name + '_line'][i]}" if text(table, name + "_file", i) else "(none)"
        self.open("operations", operation=text(operations, "name", steps["operation"][step]))
        rows = [row for row in self.panel("operations", "Fused operations") if row["Step"] == text(steps, "name", step)]
        whole = sum(fused["cycles_alone"][i] for i in rows_of_step)
        self.assertEqual([row["Operation"] for row in rows], [text(fused, "name", i) for i in rows_of_step])
        for row, i in zip(rows, rows_of_step):
            self.assertAlmostEqual(self.number(row["Of the step (%)"]), 100 * fused["cycles_alone"][i] / whole, delta=0.051)
            self.assertEqual(row["StableHLO"], text(fused, "hlo_opcode", i))
            self.assertEqual(row["Python"] or "(none)", place(fused, "python", i).split("/")[-1])
        self.open("summary")
        self.browser.run(f"(() => {{ const box = document.getElementById('search'); box.value = {json.dumps(rows[0]['Operation'])}; box.dispatchEvent(new Event('input')); }})()")
        found = self.browser.run("[...document.querySelectorAll('#found li')].map((li) => li.textContent)")
        self.assertIn(f"{rows[0]['Operation']} in {rows[0]['Step']}{what}", found)

    def test_operations_sort_and_filter(self):
        self.open("operations")
        self.browser.run("[...document.querySelectorAll('#view-operations th button')].find((b) => b.textContent === 'Operation').click()")
        names = [row["Operation"] for row in self.rows("#view-operations")]
        self.assertEqual(names, sorted(names, key=str.lower))
        self.browser.run("(() => { const box = document.querySelector('#view-operations input'); box.value = 'subtract'; box.dispatchEvent(new Event('input')); })()")
        found = [row["Operation"] for row in self.rows("#view-operations")]
        self.assertEqual(found, [name for name in names if "subtract" in name])
        self.assertTrue(found)

    def test_tree_adds_up_to_the_device_cycles(self):
        self.open("flame", device=1)
        self.open_tables("flame")
        whole = self.rows("#view-flame figure")[0]
        self.assertEqual(self.number(whole["Critical path (cycle)"]), self.file["summary"].attrs["device_cycles"])

    def test_operations_in_the_tree_take_what_their_steps_took(self):
        with h5py.File(self.karate) as file:
            steps, names = file["program/step"], file["program/operation/name"][:]
            weights = {"critical": sum(file[f"summary/step/{part}_cycles"][:].astype(int) for part in ("compute", "exchange", "sync")),
                       "work": file["summary/step/compute_cycles_sum"][:].astype(int)}
            control = np.isin(steps["kind"][:], (4, 5, 6))  # loops, branches and arms hold others
            for weight, of_steps in weights.items():
                expected = collections.Counter()
                for operation, of_step, is_control in zip(steps["operation"], of_steps, control):
                    if not is_control:
                        expected[names[operation].decode()] += int(of_step)
                self.open("flame", self.karate_page, weight=weight)
                self.open_tables("flame")
                title = {"critical": "Critical path (cycle)", "work": "Work of all tiles (tile cycle)"}[weight]
                found = collections.Counter()
                for row in self.pages("#view-flame figure"):
                    if row["Kind"] == "operation":
                        found[row["Path"].split(" › ")[-1]] += self.number(row[title])
                self.assertEqual({name: n for name, n in found.items() if n}, {name: n for name, n in expected.items() if n})

    def test_numbers_of_the_machine_are_those_of_the_trace(self):
        parameters = self.file["machine/parameter"]
        self.open("provenance")
        rows = {row["Key"]: row for row in self.pages("#view-provenance .panel:nth-of-type(2)")}
        self.assertEqual(set(rows), {name.decode() for name in parameters["name"]})
        origins = json.loads(self.file["provenance/config_origin"][0])
        certainties = ("measured", "published", "derived", "assumed", "extrapolated", "user")
        words = {b"isa.encoding": "mk2", b"tile.bank_conflicts": "trap", b"exchange.fabric": "crossbar"}  # values that are names, 0 in a trace
        for name, value, source in zip(parameters["name"], parameters["value"], parameters["cost_source"]):
            row = rows[name.decode()]
            if name in words:
                self.assertEqual((row["Value"], value), (words[name], 0))
            else:
                self.assertEqual(self.number(row["Value"]), value)
            self.assertEqual(row["Certainty"], certainties[source])
            if isinstance(origins.get(name.decode()), str):  # whole, however long
                self.assertEqual(row["Source"], origins[name.decode()])
        self.assertGreater(max(len(row["Source"]) for row in rows.values()), 120)

    def test_tiles_of_a_superstep_are_those_of_the_trace(self):
        supersteps = self.file["supersteps"]
        for s in (2, 5):
            self.open("heatmap", superstep=s, tile=0)
            self.open_tables("heatmap")
            rows = {row["Tile"]: row for row in self.rows("#view-heatmap figure")}
            columns = {"Compute (cycle)": "compute/cycles", "Wait for the barrier (cycle)": "compute/wait_cycles", "Exchange (cycle)": "exchange/cycles",
                       "Sent (B)": "exchange/sent_bytes", "Received (B)": "exchange/received_bytes"}
            for title, column in columns.items():
                profile = supersteps[column.split("/")[0] + "_profile"][s]
                for tile, value in zip(self.file["program/used_tile"], self.file["profiles/" + column][profile]):
                    self.assertEqual(self.number(rows[str(tile)][title]), value)

    def test_a_superstep_that_repeats_takes_few_bytes(self):
        sizes, counts = [], []
        for calls in (100, 200):
            trace = self.folder / f"calls_{calls}.h5"
            superstep("run", *LINEAR[:-1], str(calls), "--trace", "tile", "-q", "-o", str(trace))
            sizes.append(self.make(f"calls_{calls}.html", trace).stat().st_size)
            with h5py.File(trace) as file:
                counts.append(len(file["supersteps/superstep"]))
        self.assertLess((sizes[1] - sizes[0]) / (counts[1] - counts[0]), 10)  # so that the most that a page has, 250,000, are 2.5 MB

    def test_a_page_has_less_than_5_megabytes_where_no_two_supersteps_are_equal(self):
        trace = self.folder / "differ.h5"
        superstep("run", *LINEAR[:-1], "14000", "--trace", "tile", "-q", "-o", str(trace))
        random = np.random.default_rng(1)
        with h5py.File(trace, "r+") as file:
            supersteps = file["supersteps"]
            count = len(supersteps["superstep"])
            for name in ("compute_cycles", "exchange_cycles", "sync_cycles", "h_bytes", "bytes_sent", "messages", "flops", "instructions", "main_instructions", "aux_instructions",
                         "load_instructions", "store_instructions", "branch_instructions", "live_bytes", "word_rows", "word_columns", "compute_cycles_sum", "compute_cycles_max", "compute_cycles_min"):
                supersteps[name][:] = random.integers(0, 10**4, count)
            for kind in ("compute", "exchange"):
                supersteps[kind + "_profile"][:] = np.arange(count)
                for rows in file["profiles/" + kind].values():
                    if rows.maxshape[0] is None:
                        rows.resize((count, *rows.shape[1:]))
                        rows[:] = random.integers(0, 10**5, rows.shape)
        page = self.make("differ.html", trace)
        both = self.make("both_differ.html", trace, trace)
        for made in (page, both):
            self.assertLess(made.stat().st_size, 5_000_000)
        for label in (0, 1):
            self.open("heatmap", both, run=label)
            half = int(re.search(r"show the first ([0-9,]+) of 42,002", self.browser.run("document.getElementById('banner').textContent"))[1].replace(",", ""))
            self.assertGreater(half, 8_000)
        self.open("heatmap", page)
        shown = int(re.search(r"show the first ([0-9,]+) of 42,002", self.browser.run("document.getElementById('banner').textContent"))[1].replace(",", ""))
        self.assertGreater(shown, 20_000)
        longest = self.browser.run("Number(new URLSearchParams(location.hash.slice(1)).get('superstep'))")
        self.open_tables("heatmap")  # has rows of tiles
        with h5py.File(trace) as file:
            device = sum(file[f"supersteps/{part}_cycles"][:shown].astype(int) for part in ("compute", "exchange", "sync"))
            self.assertEqual(longest, device.argmax())
            rows = self.rows("#view-heatmap figure")
            self.assertEqual(sorted(self.number(row["Compute (cycle)"]) for row in rows), sorted(file["profiles/compute/cycles"][longest]))

    def test_a_spike_in_a_long_run_is_seen(self):
        trace = self.folder / "long.h5"
        superstep("run", *LINEAR[:-1], "1500", "--trace", "tile", "-q", "-o", str(trace))
        with h5py.File(trace, "r+") as file:
            profile = file["supersteps/compute_profile"][:]
            once = next(row for row in range(len(file["profiles/compute/cycles"])) if (profile == row).sum() == 1)
            file["profiles/compute/cycles"][once, 2] = 10**6
            count, spike = len(profile), int(np.argmax(profile == once))
        self.assertGreater(count, 4096)
        self.open("heatmap", self.make("long.html", trace), **{"from": 0, "to": count, "superstep": count // 2})
        yellow, width = self.browser.run("""(() => {
          const canvas = document.querySelector('#view-heatmap canvas'), width = canvas.width - 60, { data } = canvas.getContext('2d').getImageData(52, 34, width, 360);
          const places = [];
          for (let i = 0; i < data.length; i += 4) if (data[i] === 255 && data[i + 1] === 233 && data[i + 2] === 69) places.push((i / 4) % width);
          return [places, width];
        })()""")
        self.assertGreater(len(yellow), 40)  # a tile of four is a quarter as high as the chart
        self.assertLessEqual({abs(x - spike * width / count) < 2 for x in yellow}, {True})

    def test_map_adds_up_what_tiles_receive(self):
        self.open("tiles", map="received")
        self.open_tables("tiles")
        profile = self.file["supersteps/exchange_profile"][:]
        sums = self.file["profiles/exchange/received_bytes"][:][profile].sum(axis=0)
        found = {int(row["Tile"]): self.number(row["Received in the run (B)"]) for row in self.rows("#view-tiles figure")}
        self.assertEqual(found, dict(zip(map(int, self.file["program/used_tile"]), map(int, sums))))

    def test_memory_is_that_of_the_trace(self):
        self.open("memory")
        self.open_tables("memory")
        categories = [name.decode() for name in self.file["memory/category"]]
        for row in self.rows("#view-memory figure"):
            for name, value in zip(categories, self.file["memory/bytes"][int(row["Tile"])]):
                self.assertEqual(self.number(row[name.replace("_", " ") + " (B)"]), value)
        names = ("always_live_bytes", "not_always_live_bytes", "peak_tile_bytes", "peak_tile")
        for row in self.rows("#view-memory figure:nth-of-type(2)"):
            found = [self.number(row[title]) for title in ("Always live (B)", "Others (B)", "Fullest tile (B)", "Which")]
            self.assertEqual(found, [self.file["memory/liveness/" + name][int(row["Step"])] for name in names])

    def test_categories_of_memory_bear_their_patterns_however_narrow_tiles_are(self):
        try:
            for width in (1440, 340):  # 64 tiles, each of 13 and of 3 pixels
                self.browser.size(width, 900)
                self.open("memory", self.karate_page)
                hatched = self.browser.run("""(() => {
                  const canvas = document.querySelector('#view-memory canvas'), { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                  let found = 0;  // between the colour of temporaries, #8c3c1c, and white
                  for (let i = 0; i < data.length; i += 4) {
                    const [red, green, blue] = [[0, 0x8c], [1, 0x3c], [2, 0x1c]].map(([at, low]) => (data[i + at] - low) / (255 - low));
                    if (red > 0.2 && red < 0.7 && Math.abs(red - green) < 0.03 && Math.abs(red - blue) < 0.03) ++found;
                  }
                  return found;
                })()""")
                self.assertGreater(hatched, 1000)
        finally:
            self.browser.size(1440, 900)

    def test_tensors_that_are_live_add_up_to_the_curve_in_every_step(self):
        curve = self.file["memory/liveness/not_always_live_bytes"][:]
        self.assertTrue((self.file["program/variable/last_step"][:] == 0).any())
        for step, others in enumerate(curve):
            self.open("memory", step=step)
            self.assertIn(f"live in step {step}, ", self.browser.run("document.querySelector('#view-memory > .panel:last-child caption').textContent"))
            rows = self.panel("memory", "Live tensors")
            self.assertEqual(sum(self.number(row["On all tiles (B)"]) for row in rows if row["Always"] != "yes"), others)

    def test_streams_of_the_host_are_those_of_the_trace(self):
        streams = self.file["program/stream"]
        directions = ("to the device", "to the host")
        expected = [(name.decode(), directions[to], kind.decode(), size) for name, to, kind, size in
                    zip(streams["name"], streams["direction"], streams["type"], streams["bytes"])]
        totals = self.make("totals.html", self.run_traced("totals", *LINEAR, level="summary"))
        for page, order in ((self.page, sorted), (totals, list)):  # a trace of totals does not say which take long
            self.open("summary", page)
            found = [(row["Stream"], row["Direction"], row["Type"], self.number(row["On tiles (B)"])) for row in self.panel("summary", "Streams")]
            self.assertEqual(order(found), order(expected))
        self.assertIn("--trace superstep", self.browser.run("document.getElementById('view-summary').textContent"))

    def test_a_copied_address_shows_the_same_again(self):
        def again():
            copied = self.browser.run("location.hash")
            self.browser.open(self.page, copied)
            self.browser.frame()
            self.assertEqual(self.browser.run("location.hash"), copied)

        self.open("operations")
        self.browser.run("[...document.querySelectorAll('#view-operations th button')].find((b) => b.textContent === 'Compute (cycle)').click()")
        self.browser.run("document.querySelector('#view-operations input').focus()")
        for letter in "act":
            self.browser.key(letter)
        rows = self.rows("#view-operations")
        again()
        self.assertEqual(self.rows("#view-operations"), rows)
        computes = [self.number(row["Compute (cycle)"]) for row in rows]
        self.assertEqual(computes, sorted(computes, reverse=True))
        self.assertEqual({"act" in " ".join(row.values()) for row in rows}, {True})
        self.assertEqual(self.browser.run("document.querySelector('#view-operations input').value"), "act")

        self.open("memory", step=1)
        self.browser.run("document.querySelectorAll('#view-memory canvas')[1].focus()")
        self.browser.key("ArrowRight")
        again()
        self.assertIn("live in step 2, ", self.browser.run("document.querySelector('#view-memory').textContent"))

        self.open("flame")
        self.browser.run("document.querySelector('#view-flame canvas').focus()")
        for key in ("ArrowDown", "ArrowRight", "Enter"):
            self.browser.key(key)
        label = self.browser.run("document.querySelector('#view-flame canvas').getAttribute('aria-label')")
        height = self.browser.run("document.querySelector('#view-flame canvas').clientHeight")
        again()
        self.assertEqual(self.browser.run("document.querySelector('#view-flame canvas').getAttribute('aria-label')"), label)
        self.assertEqual(self.browser.run("document.querySelector('#view-flame canvas').clientHeight"), height)
        self.browser.run("[...document.querySelectorAll('#view-flame button')].find((b) => b.textContent === 'Show all').click()")
        self.browser.frame()
        self.assertGreater(self.browser.run("document.querySelector('#view-flame canvas').clientHeight"), height)

    def test_predictions_of_steps_stand_beside_what_critical_tiles_took(self):
        steps, launches, supersteps = (self.file[name] for name in ("program/step", "launches", "supersteps"))
        runs, cycles = collections.Counter(), collections.Counter()
        for step, of_step, times in zip(launches["step"], launches["cycles"], launches["runs"]):
            if times:
                runs[step] += times
                cycles[step] += of_step
        for step, of_step in zip(supersteps["exchange_step"], supersteps["exchange_cycles"]):
            if steps["kind"][step] == 1:
                runs[step] += 1
                cycles[step] += of_step
        expected = collections.Counter()
        for step, predicted in enumerate(steps["predicted_cycles"]):
            if steps["kind"][step] in (0, 1) and predicted and runs[step]:
                expected[steps["name"][step].decode(), int(runs[step]), int(predicted), int(cycles[step]) - int(predicted * runs[step])] += 1
        self.open("prediction")
        rows = [row for row in self.panel("prediction", "Predicted steps") if row["Compared"] != "0"]
        found = collections.Counter((row["Step"], *(self.number(row[name]) for name in ("Compared", "Predicted (cycle)", "In the run (cycle)"))) for row in rows)
        self.assertEqual(found, expected)
        beyond = [abs(self.number(row["In the run (cycle)"])) for row in rows]
        self.assertEqual(beyond, sorted(beyond, reverse=True))
        self.assertIn(f"Farthest off: {rows[0]['Step']},", self.browser.run("document.querySelector('#view-prediction .note').textContent"))

    def test_bsp_predicts_work_bytes_and_a_barrier(self):
        supersteps = {name: self.file["supersteps/" + name][:].astype(float) for name in ("compute_cycles", "exchange_cycles", "sync_cycles", "host_cycles", "visit_begin_cycles", "h_bytes")}
        parameters = dict(zip(self.file["machine/parameter/name"], self.file["machine/parameter/value"]))
        inside = (supersteps["host_cycles"] == 0) & (supersteps["visit_begin_cycles"] == 0)
        predicted = supersteps["compute_cycles"] + supersteps["h_bytes"] / parameters[b"exchange.width"] + parameters[b"sync.internal_latency"]
        measured = supersteps["compute_cycles"] + supersteps["exchange_cycles"] + supersteps["sync_cycles"]
        self.open("prediction")
        rows = self.panel("prediction", "Supersteps by BSP")
        self.assertEqual(sum(self.number(row["Times"]) for row in rows), inside.sum())
        table = json.loads(superstep("report", str(self.trace), "--view", "bsp", "--top", "0", "--json"))["tables"][0]
        columns = [column["name"] for column in table["columns"]]
        beyond = {(row["computes"], row["exchanges"]): row["beyond"] for row in (dict(zip(columns, row)) for row in table["rows"])}
        for row in rows:  # as in the report
            self.assertAlmostEqual(self.number(row["Off (%)"]), 100 * beyond[row["Computes"], row["Exchanges"]], delta=0.051)
            measured, model = self.number(row["Measured (cycle)"]), self.number(row["Predicted (cycle)"])
            self.assertAlmostEqual(self.number(row["Off (%)"]), 100 * (measured - model) / model, delta=0.2)
        total = sum(self.number(row["Times"]) * self.number(row["Predicted (cycle)"]) for row in rows)
        self.assertAlmostEqual(total, predicted[inside].sum(), delta=0.1 * inside.sum())  # a mean has one digit behind the point
        self.assertAlmostEqual(sum(self.number(row["In the run (cycle)"]) for row in rows), (measured - predicted)[inside].sum(), delta=len(rows))

    def test_the_roofline_has_arithmetic_and_exchanged_bytes_of_operations(self):
        operations, steps = self.file["program/operation"], self.file["program/step"]
        moved = collections.Counter()
        fused, of_step = self.file["program/fused"], collections.defaultdict(list)
        for step, operation, words in zip(fused["step"], fused["operation"], fused["cycles_alone"]):
            of_step[int(step)].append((operation, int(words)))
        for step, times in collections.Counter(self.file["supersteps/exchange_step"][:]).items():
            served = of_step[int(step)] or [(steps["operation"][step], 1)]
            bytes, whole, before = int(steps["exchange_bytes"][step]) * times, sum(words for _, words in served), 0
            for operation, words in served:
                part = bytes * (before + words) // whole - bytes * before // whole
                moved[operations["name"][operation].decode()] += part
                before += words
        flops = {name.decode(): int(of_call) * int(LINEAR[-1]) for name, of_call in zip(operations["name"], operations["flops"]) if of_call}
        beside = {o["name"] for o in json.loads(self.file["summary/json"][0])["operations"] if not o["compute_cycles"] + o["exchange_cycles"] + o["sync_cycles"]}
        self.open("roofline")
        rows = self.panel("roofline", "Operations under the roofline")
        self.assertEqual({row["Operation"] for row in rows}, set(flops) - beside)
        for row in rows:
            name = row["Operation"]
            self.assertEqual((self.number(row["FLOP"]), self.number(row["Exchanged (B)"])), (flops[name], moved[name]))
            self.assertAlmostEqual(self.number(row["FLOP/cycle"]), flops[name] / self.number(row["Device (cycle)"]), delta=0.01)
            self.assertEqual(row["FLOP/B"] == "no exchange", moved[name] == 0)

    def test_the_run_at_full_rate_is_what_the_machine_moves_in_a_cycle(self):
        summary, report = self.file["summary"].attrs, json.loads(self.file["summary/json"][0])
        parameters = dict(zip((name.decode() for name in self.file["machine/parameter/name"]), self.file["machine/parameter/value"]))
        accesses = max(int(self.file[f"supersteps/{name}_instructions"][:].sum()) for name in ("load", "store"))
        tiles = int(self.file.attrs["tiles"])
        expected = {
            "Exchange": (report["exchange_bytes"], tiles * parameters["exchange.width"], "exchange"),
            "Host link": (report["host_bytes"], parameters["host.links"] * parameters["host.bandwidth"] / self.file.attrs["clock_hz"], "host"),
            "Tile memory": (accesses, tiles, "compute"),
            "AMP, f32": (report["flops"], tiles * parameters["tile.amp_units"] * 2, "compute"),
            "AMP, f16": (report["flops"], tiles * parameters["tile.amp_units"] * 8, "compute"),
        }
        self.open("roofline")
        rows = {row["Roof"]: row for row in self.panel("roofline", "The run at full rate")}
        self.assertEqual(set(rows), set(expected))
        for name, (amount, rate, part) in expected.items():
            self.assertEqual((self.number(rows[name]["Of the run"]), rows[name]["Part"], self.number(rows[name]["Took (cycle)"])), (amount, part, summary[part + "_cycles"]))
            self.assertAlmostEqual(self.number(rows[name]["At least (cycle)"]), amount / rate, delta=0.51)

    def test_the_run_is_below_each_slope_by_what_it_moves_of_what_it_could(self):
        self.open("roofline")
        rows = {row["Roof"]: row for row in self.panel("roofline", "The run at full rate")}
        cycles = json.loads(self.file["summary/json"][0])["cycles"]
        canvas = "document.querySelector('#view-roofline figure:last-of-type canvas')"
        for name, within in (("Exchange", "device"), ("Host link", "total"), ("Tile memory", "device")):
            self.browser.run(f"{canvas}.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowRight' }}))")
            said = self.browser.run("document.getElementById('announce').textContent")
            self.assertTrue(said.startswith(name), said)
            share = float(re.search(r"([0-9.]+) % of the cycles", said)[1])
            least = self.number(rows[name]["Of the run"]) / self.number(rows[name]["At most a cycle"])
            self.assertAlmostEqual(share, 100 * least / cycles[within], delta=0.006 * share)

    def test_workers_of_the_chosen_tile_are_those_of_the_trace(self):
        trace = self.run_traced("vertex", *LINEAR, level="vertex")
        with h5py.File(trace) as file:
            vertices = {name: file["vertices/" + name][:] for name in ("superstep", "tile", "worker", "start_cycle", "cycles", "instructions", "step")}
            names, starts = [name.decode() for name in file["program/step/name"]], file["supersteps/start_cycle"][:]
        superstep_, tile = int(vertices["superstep"][-1]), int(vertices["tile"][-1])
        here = np.flatnonzero((vertices["superstep"] == superstep_) & (vertices["tile"] == tile))
        self.open("heatmap", self.make("vertex.html", trace), superstep=superstep_, tile=tile)
        self.open_tables("heatmap")
        found = [[row["Step"], *(self.number(row[title]) for title in ("Worker", "Start (cycle)", "Cycles (cycle)", "Instructions"))] for row in self.panel("heatmap", "Workers")]
        self.assertEqual(found, [[names[vertices["step"][i]], vertices["worker"][i], vertices["start_cycle"][i] - starts[superstep_], vertices["cycles"][i], vertices["instructions"][i]] for i in here])
        self.assertGreater(self.inked("heatmap")[2], 3)
        self.assertEqual(self.codelets(), self.codelets_of(trace))
        self.open("heatmap")  # of a trace without them
        self.assertEqual(self.browser.run("document.querySelectorAll('#view-heatmap canvas').length"), 2)

    def codelets(self):
        """Rows of the table of codelets: name, operation, cycles, runs, longest, instructions, balance."""
        rows = self.panel("heatmap", "Codelets")
        titles = ("Worker cycles (cycle)", "Runs", "Longest (cycle)", "Instructions", "Balance (%)")
        return [(row["Codelet"], row["Most for"], *(self.number(row[title]) for title in titles)) for row in rows]

    def codelets_of(self, trace):
        """The same of a trace, those with most cycles first."""
        with h5py.File(trace) as file:
            vertices = {name: file["vertices/" + name][:] for name in ("superstep", "tile", "worker", "step", "operation", "vertex_type", "cycles", "instructions")}
            names, operations = ([name.decode() for name in file[f"program/{table}/name"]] for table in ("vertex_type", "operation"))
            workers, out = int(file.attrs["workers_per_tile"]), []
        for codelet in np.unique(vertices["vertex_type"]):
            own = {name: column[vertices["vertex_type"] == codelet].astype(int) for name, column in vertices.items()}
            busy, of_operation = collections.defaultdict(collections.Counter), collections.Counter()
            for superstep_, tile, step, worker, operation, cycles in zip(*(own[name] for name in ("superstep", "tile", "step", "worker", "operation", "cycles"))):
                busy[superstep_, tile, step][worker] += cycles
                of_operation[operation] += cycles
            slots = workers * sum(max(of.values()) for of in busy.values())
            out.append((names[codelet], operations[max(of_operation, key=of_operation.get)], own["cycles"].sum(), len(own["cycles"]), own["cycles"].max(), own["instructions"].sum(), round(100 * own["cycles"].sum() / slots)))
        return sorted(out, key=lambda row: -row[2])

    def test_a_chart_is_saved_as_svg_and_as_png(self):
        self.browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder), eventsEnabled=True)
        self.open("timeline")
        for kind in ("SVG", "PNG"):
            self.browser.run(f"document.querySelector('[aria-label=\"Save Phases and traffic as {kind}\"]').click()")
            self.browser.event("Browser.downloadProgress", state="completed")
        drawing = xml.etree.ElementTree.parse(self.folder / "phases-and-traffic.svg").getroot()
        self.assertEqual(drawing.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("Phases", [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")])
        image = (self.folder / "phases-and-traffic.png").read_bytes()
        self.assertEqual((image[:8], image[12:16]), (b"\x89PNG\r\n\x1a\n", b"IHDR"))
        width, height = (int.from_bytes(image[at : at + 4], "big") for at in (16, 20))
        self.assertEqual((width, height), tuple(self.browser.run("(({ clientWidth, clientHeight }) => [clientWidth, clientHeight])(document.querySelector('#view-timeline canvas'))")))

    def drawn_text(self):
        """Texts that the charts of the view draw, as they are printed."""
        return self.browser.run("""(() => {
          dispatchEvent(new Event('beforeprint'));
          const texts = [...document.querySelectorAll('section.shown figure .drawing svg text')].map((text) => text.textContent);
          dispatchEvent(new Event('afterprint'));
          return texts.map((text) => '\\n' + text).join('');
        })()""")

    def test_the_guide_says_what_the_page_shows(self):
        page_guide.run_commands(sys.argv[1], self.folder / "guide")
        shown, missing = set(), []
        for file, fragment, picture, text in page_guide.sections():
            self.browser.open(self.folder / "guide" / file, fragment)
            view = self.browser.run("document.querySelector('section.shown').id")
            shown.add(view)
            self.open_tables(view[5:])
            self.browser.run("document.querySelectorAll('section.shown .folds:not([hidden])').forEach((button) => button.click())")
            found = self.browser.run("document.querySelector('section.shown').innerText + '\\n' + document.getElementById('selection').innerText") + self.drawn_text()
            # Tables have the units of other numbers in their heads.
            said = re.findall(r"\d{1,3}(?:,\d{3})+(?!\.?\d)|\d[\d,]*\.\d+(?= (?:%|times\b|cycles\b|[nuµm]?s\b|[MG]Hz|FLOP))|\d[\d,]*\.\d+ [KMG]iB|(?<=`)\w+\.\d+(?:\.\w+)?(?=`)|(?<=`)\w+\.py:\d+(?=`)", text)
            missing += [f"{name} is not in {view}" for name in said if not re.search(rf"(?<![\d,.]){re.escape(name)}(?!\d|,\d{{3}})", found)]
            fullest = re.findall(r"[Tt]ile (\d+) is the fullest", text)
            if fullest:
                [first, *_] = self.panel(view[5:], "Bytes of each category on each tile")
                missing += [f"tile {tile} is not the fullest in {view}, but tile {first['Tile']}" for tile in fullest if tile != first["Tile"]]
            self.assertTrue((page_guide.GUIDE.parent / picture).exists())
        self.assertEqual(missing, [])
        self.assertEqual(shown, {"view-" + view for view in self.views()})

    def test_a_click_on_the_tiles_chooses_tile_and_superstep(self):
        self.open("heatmap")
        x, y, width = self.browser.run("(() => { const b = document.querySelector('#view-heatmap canvas').getBoundingClientRect(); return [b.x, b.y, b.width]; })()")
        self.browser.click(x + width - 12, y + 40)
        last = len(self.file["supersteps/superstep"]) - 1
        self.assertIn(f"superstep={last}&tile={self.file['program/used_tile'][0]}", self.browser.run("location.hash"))

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
