"""Looks at what pages say in words, of insights and as names, in Chromium: page_words.py SUPERSTEP, from the top of the repository."""

import json
import sys
import unittest

from page_case import LINEAR, KarateCase, superstep


class PageWords(KarateCase):
    def test_streams_and_tensors_have_the_names_that_the_program_gives_them(self):
        streams = self.file["program/stream"]
        labels = {name.decode(): label.decode() for name, label in zip(streams["name"], streams["label"])}
        self.assertTrue(labels["arg0"].startswith("params"), labels)
        self.open("summary")
        self.assertEqual({row["Stream"]: row["Label"] for row in self.panel("summary", "Streams")}, labels)
        self.open("memory")
        found = {row["Tensor"]: row["Label"] for row in self.pages("#view-memory .panel:has([aria-label='Live tensors'])")}
        self.assertEqual({name: label for name, label in found.items() if label}, {name: label for name, label in labels.items() if name in found and label})
        self.assertEqual(found["arg0"], labels["arg0"])

    def test_names_that_are_cut_keep_their_ends(self):
        self.open("heatmap", self.make("workers.html", self.run_traced("workers", *LINEAR, level="vertex")))
        cells = self.browser.run("""[...document.querySelectorAll('#view-heatmap [aria-label=Codelets] .cut .ends')].map((ends) => {
          const [begin, end] = ends.children, cell = ends.closest('.cut').getBoundingClientRect(), box = end.getBoundingClientRect();
          return { text: ends.textContent, title: ends.closest('.cut').title, end: end.textContent, isCut: begin.scrollWidth > begin.clientWidth, isSeen: box.width > 0 && box.right <= cell.right + 1 };
        })""")
        self.assertTrue(any(cell["isCut"] for cell in cells), cells)
        for cell in cells:
            self.assertEqual(cell["text"], cell["title"])
            self.assertTrue(cell["isSeen"] and cell["text"].endswith(cell["end"]), cell)

    def test_rules_that_find_nothing_say_what_they_measured(self):
        table = json.loads(superstep("report", str(self.karate), "--view", "insights", "--json"))["tables"][1]
        self.open("insights", self.karate_page)
        rows = self.panel("insights", "Silent rules")
        self.assertEqual([row["Rule"] for row in rows], [cells[0] for cells in table["rows"]])
        for row, (_, measured, limit, what) in zip(rows, table["rows"]):
            self.assertAlmostEqual(self.number(row["Measured (%)"]), 100 * measured, delta=0.051)
            self.assertEqual((self.number(row["Limit (%)"]), row["Of what"]), (100 * limit, what))
        text = self.browser.run("document.getElementById('view-insights').textContent")
        for note in table["notes"]:
            self.assertIn(note, text)

    def test_advice_names_views_of_the_page(self):
        found = json.loads(superstep("report", str(self.karate), "--json"))["insights"]
        self.assertTrue(any("`--view " in insight["advice"] for insight in found))
        self.open("insights", self.karate_page)
        self.assertNotIn("--view", self.browser.run("document.getElementById('view-insights').textContent"))
        self.browser.run("document.querySelector('#view-insights .insight a').click()")
        self.assertNotIn("view=insights", self.browser.run("location.hash"))

    def test_an_insight_leads_to_its_operation(self):
        tables = json.loads(superstep("report", str(self.karate), "--view", "insights", "--json"))["tables"]
        columns = [column["name"] for column in tables[0]["columns"]]
        expected = [row[columns.index("operation")] for row in tables[0]["rows"] if row[columns.index("operation")]]
        self.assertTrue(expected)
        self.open("insights", self.karate_page)
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#view-insights button.link')].map((b) => b.textContent)"), expected)
        self.browser.run("document.querySelector('#view-insights button.link').click()")
        self.assertIn("view=operations", self.browser.run("location.hash"))
        self.assertEqual(self.browser.run("document.querySelector('#view-operations tr.chosen th').textContent"), expected[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
