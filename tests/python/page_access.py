"""Uses the page of a trace by keys and as a screen reader does, in Chromium: page_access.py SUPERSTEP, from the top of the repository."""

import re
import sys
import unittest

from page_case import KARATE, PageCase

import h5py


class PageAccess(PageCase):
    def test_keys_go_from_point_to_point(self):
        self.open("prediction")
        self.browser.run("document.querySelector('#view-prediction canvas').focus()")
        for row in self.panel("prediction", "Predicted steps")[:2]:
            self.browser.key("ArrowRight")
            said = self.browser.run("document.getElementById('announce').textContent")
            self.assertTrue(said.startswith(f"{row['Step']}; predicted {row['Predicted (cycle)']}, measured"), said)
        self.browser.key("Enter")
        self.assertEqual(self.browser.run("document.querySelector('section.shown').id"), "view-operations")

    def test_keys_and_address_are_the_same_choice(self):
        self.open("timeline", superstep=1)
        self.browser.key("ArrowRight")
        self.assertIn("superstep=2", self.browser.run("location.hash"))
        self.assertIn("Superstep 2", self.browser.run("document.getElementById('announce').textContent"))
        self.browser.key("1")
        self.assertEqual(self.browser.run("document.querySelector('section.shown').id"), "view-summary")
        self.browser.key("/")
        for letter in "superstep 3":
            self.browser.key(letter)
        self.browser.key("Enter")
        self.assertIn("view=timeline&superstep=3", self.browser.run("location.hash"))

    def test_the_skip_link_leads_to_the_view_and_keeps_the_address(self):
        self.open("timeline", superstep=2)
        address = self.browser.run("location.hash")
        self.browser.key("Tab")
        self.assertEqual(self.browser.run("document.activeElement.className"), "skip")
        self.browser.key("Enter")
        self.assertEqual(self.browser.run("[document.activeElement.id, location.hash]"), ["main", address])

    def test_every_control_can_be_reached_and_has_a_name(self):
        self.open("timeline")
        nameless = self.browser.run("""[...document.querySelectorAll('button, input, select, a, canvas')].filter((e) =>
          e.offsetParent && !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)""")
        self.assertEqual(nameless, [])
        reached = set()
        for _ in range(60):
            self.browser.key("Tab")
            reached.add(self.browser.run("document.activeElement.tagName"))
        self.assertLessEqual({"A", "INPUT", "BUTTON", "CANVAS"}, reached)

    def tree(self):
        """What a screen reader is told: nodes with role, name and properties, in order."""
        self.browser.send("Accessibility.enable")
        nodes = self.browser.send("Accessibility.getFullAXTree")["nodes"]
        by_id, order, left = {node["nodeId"]: node for node in nodes}, [], [nodes[0]["nodeId"]]
        while left:
            order.append(by_id[left.pop()])
            left += [child for child in reversed(order[-1].get("childIds", [])) if child in by_id]
        return [{"role": node["role"]["value"], "name": node.get("name", {}).get("value", "").strip(), **{p["name"]: p["value"].get("value") for p in node.get("properties", [])}}
                for node in order if not node["ignored"]]

    def test_a_screen_reader_is_told_roles_and_names(self):
        self.open("summary")
        for view in self.views():
            self.open(view)
            self.open_tables(view)
            tree = self.tree()
            with self.subTest(view=view):
                landmarks = {node["role"]: node["name"] for node in tree if node["role"] in ("banner", "navigation", "main", "complementary", "search")}
                self.assertEqual(landmarks, {"banner": "", "navigation": "Views", "main": "", "complementary": "Selected superstep", "search": ""})
                nameless = [node for node in tree if not node["name"] and node["role"] in
                            ("button", "link", "searchbox", "textbox", "combobox", "checkbox", "slider", "application", "image", "region", "table", "columnheader", "heading", "dialog", "DisclosureTriangle")]
                self.assertEqual(nameless, [])
                levels = [node["level"] for node in tree if node["role"] == "heading"]
                self.assertEqual(levels[:2], [1, 2])
                self.assertTrue(all(b <= a + 1 for a, b in zip(levels, levels[1:])), levels)
                for node in tree:  # what has keys of its own says which, or what it shows
                    if node["role"] == "application":
                        self.assertTrue(node["focusable"] and len(node["name"]) > 20, node)
                self.assertEqual(self.browser.run("[...document.querySelectorAll('[aria-current=page]')].map((a) => a.hash)"), ["#view=" + view])

    def test_tab_goes_through_the_page_in_order_and_shows_where_it_is(self):
        self.open("heatmap")
        controls = self.browser.run("""(() => {
          window.known = [...document.querySelectorAll('a, button, input, select, summary, [tabindex="0"]')].filter((e) => e.checkVisibility());
          return known.length;
        })()""")
        order = []
        for _ in range(controls):
            self.browser.key("Tab")
            at, ring, seen = self.browser.run("""(() => {
              const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
              return [known.indexOf(e), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2, box.bottom > 0 && box.top < innerHeight];
            })()""")
            order.append(at)
            self.assertTrue(ring and seen, self.browser.run("document.activeElement.outerHTML"))
        self.assertEqual(order, list(range(controls)))

    def test_a_control_that_is_drawn_anew_keeps_the_focus(self):
        self.open("timeline", superstep=0)
        self.browser.run("document.querySelectorAll('#selection .stepper button')[1].focus()")
        for superstep in (1, 2, 3):
            self.browser.key("Enter")
            self.assertIn(f"Superstep {superstep} of", self.browser.run("document.querySelector('#selection h3').textContent"))
        self.open("operations")
        self.browser.run("document.querySelectorAll('#view-operations tbody button')[1].focus()")
        name = self.browser.run("document.activeElement.textContent")
        self.browser.key("Enter")
        self.assertEqual(self.browser.run("document.activeElement.textContent"), name)
        self.assertIn("operation=", self.browser.run("location.hash"))

    def test_arrows_go_over_the_chip_as_it_lies(self):
        with h5py.File(self.run_traced("karate", *KARATE)) as file:
            place = {(int(row), int(column), int(lane)): tile for tile, (row, column, lane) in
                     enumerate(zip(*(file["machine/" + name] for name in ("row", "column", "lane"))))}
        of_tile = {tile: at for at, tile in place.items()}
        lanes = 1 + max(lane for *_, lane in place)
        along = lambda at: at[1] * lanes + at[2]
        self.open("tiles", self.make("karate.html", self.folder / "karate.h5"), tile=0)
        self.browser.run("document.querySelector('#view-tiles canvas').focus()")
        tile = 0
        for key, row, side in (("ArrowRight", 0, 1), ("ArrowRight", 0, 1), ("ArrowDown", 1, 0), ("ArrowLeft", 0, -1), ("ArrowUp", -1, 0), ("ArrowLeft", 0, -1)):
            self.browser.key(key)
            now = int(re.search(r"tile=(\d+)", self.browser.run("location.hash"))[1])
            before, after = of_tile[tile], of_tile[now]
            self.assertEqual((after[0] - before[0], along(after) - along(before)), (row, side), key)
            self.assertIn(f"Tile {now}.", self.browser.run("document.getElementById('announce').textContent"))
            tile = now
        self.assertEqual(tile, 0)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
