"""Looks at the page of two traces in Chromium: page_compare.py SUPERSTEP, from the top of the repository."""

import collections
import json
import sys
import unittest
from pathlib import Path

from page_case import KARATE, LINEAR, MODULE, PageCase, superstep

import h5py


class PageOfTwo(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Another run: one operation is another one, and barriers take longer.
        program = cls.folder / "after.mlir"
        program.write_text(Path(MODULE).read_text().replace("%9 = stablehlo.divide", "%9 = stablehlo.multiply"))
        trace = cls.run_traced("after", str(program), *LINEAR[1:], "--set", "sync.internal_latency=200 cycles")
        cls.both = cls.make("both.html", cls.trace, trace)
        cls.after = h5py.File(trace)

    @classmethod
    def tearDownClass(cls):
        cls.after.close()
        super().tearDownClass()

    def test_two_runs_are_compared(self):
        before, after = (json.loads(file["summary/json"][0]) for file in (self.file, self.after))
        self.open("compare", self.both)
        self.assertEqual(self.browser.run("document.querySelector('section.shown').id"), "view-compare")
        totals = {row["Total"]: row for row in self.panel("compare", "Totals of both runs")}
        for name, report in (("A", before), ("B", after)):
            self.assertEqual(self.number(totals["Device cycles"][name]), report["cycles"]["device"])
            self.assertEqual(self.number(totals["Supersteps"][name]), report["supersteps"])
        self.assertEqual(self.number(totals["Device cycles"]["B − A"]), after["cycles"]["device"] - before["cycles"]["device"])
        self.assertEqual(totals["Device cycles"]["Verdict"], "✗ worse")
        self.assertEqual(totals["Supersteps"]["Verdict"], "")
        self.assertTrue(all(colours > 3 for colours in self.inked("compare")))

        device = [{o["name"]: o["compute_cycles"] + o["exchange_cycles"] + o["sync_cycles"] for o in report["operations"]} for report in (before, after)]
        rows = {row["Operation"]: row for row in self.panel("compare", "Operations, what moved most first")}
        self.assertEqual(set(rows), set(device[0]) | set(device[1]))
        moved = []
        for name, row in rows.items():
            a, b = (of_run.get(name) for of_run in device)
            moved.append(abs((b or 0) - (a or 0)))
            self.assertEqual(self.number(row["B − A (cycle)"]), (b or 0) - (a or 0))
            self.assertEqual(row["B − A (cycle)"][0] in "✗✓", (a or 0) != (b or 0))
            self.assertEqual((row["Device A (cycle)"] == "–", row["Device B (cycle)"] == "–"), (a is None, b is None))
            if a is None or b is None:
                self.assertEqual(row["B − A (%)"], "only B" if a is None else "only A")
        self.assertEqual(moved, sorted(moved, reverse=True))
        self.assertEqual([sum(row["B − A (%)"] == f"only {run}" for row in rows.values()) for run in "AB"], [1, 1])

        rows = {row["Category"]: row for row in self.panel("compare", "Categories on all tiles, what moved most first")}
        for run, file in (("A", self.file), ("B", self.after)):
            for name, of_tiles in zip(file["memory/category"], file["memory/bytes"][:].T):
                self.assertEqual(self.number(rows[name.decode().replace("_", " ")][f"All tiles {run} (B)"]), of_tiles.sum())

        for label, column, sums in (("Tensors", "All tiles", [file["program/variable/bytes"][:].sum() for file in (self.file, self.after)]),
                                    ("Steps", "Device", [report["cycles"]["device"] for report in (before, after)])):
            rows = self.panel("compare", f"{label}, what moved most first")
            unit = {"Tensors": "B", "Steps": "cycle"}[label]
            for run, whole in zip("AB", sums):
                self.assertEqual(sum(self.number(row[f"{column} {run} ({unit})"]) for row in rows if row[f"{column} {run} ({unit})"] != "–"), whole)

    def renumbered(self):
        """Traces of two programs, of which the second has an operation before others that it gives other numbers."""
        traces = []
        for name, between in (("before", ""), ("after", "  %9 = stablehlo.exponential %0 : tensor<64x64xf32>\n")):
            module = self.folder / f"numbers_{name}.mlir"
            dot = "contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>"
            module.write_text("func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
                              f"  %0 = stablehlo.dot_general %a, %a, {dot}\n{between}  %1 = stablehlo.dot_general %{'9' if between else '0'}, %a, {dot}\n"
                              "  %2 = stablehlo.sine %1 : tensor<64x64xf32>\n  return %2 : tensor<64x64xf32>\n}\n")
            traces.append(self.run_traced(f"numbers_{name}", str(module), "-m", "tiny4", "--input", "random:1"))
        return traces

    def test_what_is_paired_and_moved_is_what_report_diff_says(self):
        renumbered = self.renumbered()
        for traces, page in (((self.trace, self.folder / "after.h5"), self.both), (renumbered, self.make("renumbered.html", *renumbered))):
            for by in ("operation", "opcode", "python", "source"):
                table = json.loads(superstep("report", "diff", *map(str, traces), "--group-by", by, "--top", "0", "--json"))["tables"][1]
                names = [column["name"] for column in table["columns"]]
                expected = {row[by]: row for row in (dict(zip(names, row)) for row in table["rows"])}
                if by == "operation":
                    self.open("compare", page)
                    rows = self.pages("#view-compare .panel:has([aria-label^='Operations, what'])")
                    found = {row["Operation"]: row for row in rows if any(self.number(row[f"Δ {part} (cycle)"] or "0") for part in ("compute", "exchange", "sync"))}
                    self.assertEqual({name: row.get("In A", "") for name, row in found.items()}, {name: row.get("was") or "" for name, row in expected.items()})
                    for name, row in expected.items():
                        for title, column in (("Device A (cycle)", "before"), ("Device B (cycle)", "after")):
                            self.assertEqual(found[name][title] if row[column] is None else self.number(found[name][title]), "–" if row[column] is None else row[column])
                        self.assertEqual(self.number(found[name]["B − A (cycle)"]), row["moved"])
                self.open("operations", page, run=1, group=by)
                found = {list(row.values())[0]: row["Δ to A (cycle)"] for row in self.rows("#view-operations .panel:not([hidden])")}
                for name, text in found.items():
                    if name in expected:
                        row = expected[name]
                        self.assertTrue("only B" in text if row["before"] is None else self.number(text) == row["moved"], (by, name, text, row))
                    else:  # took the same, or no cycles
                        self.assertIn(text, ("±0", "only B"))

    def test_exchanges_streams_tiles_and_codelets_that_moved_are_those_of_report_diff(self):
        slow = ["--set", "exchange.width=2 B", "--set", "host.packet_overhead=200 ns"]
        traces = [self.run_traced(f"vertices_{name}", *LINEAR, *words, level="vertex") for name, words in (("before", []), ("after", slow))]
        self.open("compare", self.make("vertices.html", *traces))
        titles = {"critical": "Tiles that others waited for", "spread": "Spread over tiles"}
        with h5py.File(traces[1]) as file:
            labels = dict(zip(file["program/stream/name"].asstr(), file["program/stream/label"].asstr()))
        moved = []
        for view in ("exchange", "host", "tiles", "codelets"):
            for table in json.loads(superstep("report", "diff", *map(str, traces), "--view", view, "--top", "0", "--json"))["tables"][1:]:
                names = [column["name"] for column in table["columns"]]
                keys = names[:names.index("was")]
                title = titles.get(table["name"], table["name"].capitalize())
                if not table["rows"]:
                    continue
                rows = self.pages(f"#view-compare .panel:has([aria-label={json.dumps(title + ', what moved most first')}])")
                self.assertEqual(len(rows), len(table["rows"]), title)
                for cells, row in zip(table["rows"], rows):
                    expected, texts = dict(zip(names, cells)), list(row.values())
                    if title == "Streams":
                        self.assertEqual(row["Label"], labels[row["Stream"]])
                    self.assertEqual(texts[:len(keys)], [expected[key] for key in keys])
                    unit = next(column["unit"] for column in table["columns"] if column["name"] == "before")
                    of = lambda column: row[f"{column} ({unit})" if unit != "1" else column]
                    self.assertEqual((self.number(of("A")), self.number(of("B")), self.number(of("B − A"))), (expected["before"], expected["after"], expected["moved"]))
                moved.append(title)
        self.assertTrue({"Exchanges", "Streams", "Spread over tiles"} <= set(moved), moved)

    def test_what_only_one_of_two_traces_can_show_is_said(self):
        tiles, totals = (self.run_traced(f"of_level_{level}", *LINEAR, level=level) for level in ("tile", "summary"))
        self.open("compare", self.make("levels.html", tiles, totals))
        text = self.browser.run("document.getElementById('view-compare').textContent")
        self.assertIn("Run B: --view host takes a trace of level superstep, this one is of level summary", text)
        self.assertNotIn("--view codelets", text)  # of which neither has anything

    def test_a_page_of_two_programs_says_that_they_differ(self):
        traces = [self.trace, self.folder / "after.h5"]
        said = next(note for table in json.loads(superstep("report", "diff", *map(str, traces), "--json"))["tables"] for note in table["notes"] if "programs differ" in note)
        for page, text in ((self.both, said), (self.make("same.html", self.trace, self.trace), "The program is the same.")):
            self.open("compare", page)
            self.assertIn(text, self.browser.run("document.querySelector('#view-compare .banner').textContent"))

    def test_a_rate_that_is_small_has_the_digits_that_moved(self):
        self.open("compare", self.both)
        row = next(row for row in self.panel("compare", "Totals of both runs") if row["Total"] == "FLOP per cycle")
        rates = [report["flops"] / report["cycles"]["device"] for report in (json.loads(file["summary/json"][0]) for file in (self.file, self.after))]
        self.assertLess(max(rates), 100)
        for name, rate in zip("AB", rates):
            self.assertAlmostEqual(self.number(row[name]), rate, delta=0.005 * rate)
        self.assertAlmostEqual(self.number(row["B − A"]), rates[1] - rates[0], delta=0.005 * abs(rates[1] - rates[0]))

    def test_steps_and_tensors_of_operations_with_other_numbers_are_paired(self):
        self.open("compare", self.make("renumbered.html", *self.renumbered()))
        for label, title in (("Steps", "Step"), ("Tensors", "Tensor")):
            rows = self.panel("compare", f"{label}, what moved most first")
            new = [row[title] for row in rows if "only B" in row["B − A (%)"]]
            self.assertTrue(new and all(name.startswith("exponential") for name in new), new)
            self.assertEqual([row[title] for row in rows if "only A" in row["B − A (%)"]], [])
            self.assertTrue(any(row["In A"] for row in rows))

    def test_the_map_of_two_runs_has_the_difference_of_each_tile(self):
        def of_tiles(file, kind, column):
            supersteps, profiles = file[f"supersteps/{kind}_profile"][:], file[f"profiles/{kind}/{column}"][:]
            return profiles[supersteps[supersteps < len(profiles)]].sum(axis=0)
        for name, kind, column in (("compute", "compute", "cycles"), ("received", "exchange", "received_bytes")):
            for run, (here, there) in enumerate(((self.file, self.after), (self.after, self.file))):
                self.open("tiles", self.both, map=name, moved=1, run=run)
                self.open_tables("tiles")
                rows = {int(row["Tile"]): row for row in self.rows("#view-tiles figure")}
                delta = next(key for key in rows[0] if key.startswith(f"Δ to {'BA'[run]}"))
                expected = of_tiles(here, kind, column).astype(int) - of_tiles(there, kind, column).astype(int)
                self.assertEqual([self.number(rows[tile][delta]) for tile in here["program/used_tile"][:]], list(expected))
        self.assertTrue(all(colours > 3 for colours in self.inked("tiles")))
        self.open("tiles", self.both, map="step-compute", moved=1)
        self.assertIn("no pairs", self.browser.run("document.querySelector('#view-tiles .note').textContent"))

    def test_points_of_two_runs_have_where_they_were(self):
        rates = []
        for run in (0, 1):
            self.open("roofline", self.both, run=run)
            rates.append({row["Operation"]: row for row in self.panel("roofline", "Operations under the roofline")})
        moved = 0
        for name, row in rates[1].items():
            text = row["Δ to A (FLOP/cycle)"]
            if name in rates[0]:
                by = self.number(row["FLOP/cycle"]) - self.number(rates[0][name]["FLOP/cycle"])
                self.assertAlmostEqual(self.number(text), by, delta=0.01 * abs(self.number(row["FLOP/cycle"])) + 0.001)
                self.assertEqual(text[0], "✓" if by > 0.01 else "✗" if by < -0.01 else text[0])
                moved += abs(by) > 0.01
            else:
                self.assertEqual(text, "only B")
        self.assertGreater(moved, 0)
        self.assertIn("Operation in run A", self.browser.run("document.querySelector('#view-roofline .legend').textContent"))
        self.open("prediction", self.both, run=0)
        steps_of = "#view-prediction .panel:has([aria-label='Predicted steps'])"
        key_of = lambda row: (row["Step"], row["Kind"])

        def once(rows):
            times = collections.Counter(map(key_of, rows))
            return {key_of(row): row for row in rows if times[key_of(row)] == 1}

        before = once(self.pages(steps_of))
        self.open("prediction", self.both, run=1)
        rows = once(self.pages(steps_of))
        self.assertTrue(any(row["Off in A (%)"] == "only B" for row in rows.values()))
        self.assertGreater(len(rows.keys() & before.keys()), 5)
        for key, row in rows.items():
            was = before.get(key)
            if was and "–" not in (row["Measured (cycle)"], was["Measured (cycle)"]):
                by = self.number(row["Measured (cycle)"]) - self.number(was["Measured (cycle)"])
                self.assertAlmostEqual(self.number(row["Δ to A (cycle)"]), by, delta=0.2)
                self.assertEqual(row["Off in A (%)"], was["Off (%)"])

    def test_an_operation_that_the_other_run_fuses_is_not_said_to_be_of_one_alone(self):
        program = """func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>) -> tensor<16x16xf32> {
          %0 = stablehlo.subtract %arg0, %arg1 : tensor<16x16xf32>
          %1 = stablehlo.dot %arg0, %arg1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          %2 = stablehlo.multiply %0, %1 : tensor<16x16xf32>
          return %2 : tensor<16x16xf32>
        }"""
        fused = "\n".join(line for line in program.split("\n") if "%1 = " not in line).replace("%0, %1", "%0, %arg1")
        traces = []
        for name, text in (("apart", program), ("fused", fused)):
            module = self.folder / f"{name}.mlir"
            module.write_text(text)
            traces.append(self.run_traced(name, str(module), "-m", "tiny4", "--input", "random:1"))
        page = self.make("fused.html", *traces)
        self.open("compare", page)
        said = {row["Operation"]: row["B − A (%)"] for row in self.panel("compare", "Operations, what moved most first")}
        self.assertEqual((said["dot_general.3"], said["multiply.4"]), ("only A", "fused in B"))
        self.assertIn("1 are only in A, 0 only in B; 1 of A are fused in B, 0 of B in A", self.browser.run("document.querySelector('#view-compare .banner').textContent"))
        self.open("operations", page, run=0)
        said = {row["Operation"]: row["Δ to B (cycle)"] for row in self.rows("#view-operations")}
        self.assertEqual((said["dot_general.3"], said["multiply.4"]), ("✗ only A", "✗ fused in B"))

    def test_a_difference_that_rounds_to_nothing_has_no_sign(self):
        # Of an instruction that runs once, before the loop.
        cost = "costs.f32oorx"
        karate = self.run_traced("karate", *KARATE)
        with h5py.File(karate) as file:
            parameters = dict(zip(file["machine/parameter/name"], file["machine/parameter/value"]))
        longer = self.run_traced("longer", *KARATE, "--set", f"{cost}={int(parameters[cost.encode()]) + 1}")
        self.open("compare", self.make("longer.html", karate, longer))
        totals = {row["Total"]: row for row in self.panel("compare", "Totals of both runs")}
        self.assertGreater(self.number(totals["Device cycles"]["B − A"]), 0)
        self.assertEqual((totals["Device cycles"]["B − A (%)"], totals["BSP efficiency"]["B − A"]), ("±0 %", "±0 points"))
        self.assertEqual((totals["Host cycles"]["B − A"], totals["Host cycles"]["B − A (%)"]), ("±0", "±0 %"))
        for row in self.panel("compare", "Operations, what moved most first"):
            for text in row.values():
                self.assertNotRegex(text, r"[−+]0(\.0+)?( |$)")
            if row["Device A (cycle)"] == row["Device B (cycle)"]:
                self.assertEqual((row["B − A (cycle)"], row["B − A (%)"]), ("±0", "–" if row["Device A (cycle)"] == "0" else "±0"))

    def test_other_views_show_the_run_that_is_chosen_and_what_moved(self):
        for run, (file, mark) in enumerate(((self.file, "✓"), (self.after, "✗"))):
            self.open("summary", self.both, run=run)
            card = self.browser.run("document.querySelector('#view-summary .card').innerText").split("\n")
            self.assertEqual(self.number(card[1]), file["summary"].attrs["device_cycles"])
            self.assertTrue(card[3].startswith(mark), card)

    def test_no_view_is_wider_than_a_narrow_window_or_a_printed_page(self):
        try:
            for width, medium in ((400, "screen"), (703, "print")):  # 703: A4 within its margins
                self.browser.size(width, 900)
                self.browser.send("Emulation.setEmulatedMedia", media=medium)
                for view in self.views() or ["summary"]:
                    self.open(view, self.both)
                    if medium == "print":
                        self.browser.run("window.dispatchEvent(new Event('beforeprint'))")
                    wide = self.browser.run("""[...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1 &&
                      !e.closest('.table, #views, .canvas, .unseen')).map((e) => e.outerHTML.slice(0, 100))""" if medium == "screen" else
                      """[...document.querySelectorAll('th, td, svg, h2, p')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 100))""")
                    self.assertEqual((width, view, wide), (width, view, []))
                    if medium == "print":
                        break  # all views are there
            self.assertEqual(self.browser.run("[...document.querySelectorAll('section.view')].filter((s) => !s.checkVisibility() || !s.textContent).length"), 0)
            self.assertTrue(self.browser.run("[...document.querySelectorAll('figure .drawing')].every((d) => d.querySelector('svg'))"))
        finally:
            self.browser.send("Emulation.setEmulatedMedia", media="")
            self.browser.size(1440, 900)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
