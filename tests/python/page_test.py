"""Tests of page.py: what it must notice in a page."""

import unittest

from page import Failure, run_page


def run(*blocks):
    """The page of these blocks as it should be, and whether it is so already."""
    text = "\n\n".join(blocks) + "\n"
    found = run_page("page.md", text)
    return found, found == text


def block(info, *lines):
    return "\n".join(["```" + info, *lines, "```"])


class Page(unittest.TestCase):
    def test_a_page_that_shows_what_is_printed_stays_as_it_is(self):
        for page in (
            [block("console", "$ echo one; echo two >&2", "one", "two", "$ true")],
            [block("console", "$ echo one \\", "    two", "one two")],
            [block("python", "print(6 * 7)"), "It prints", block("text", "42")],
            [block("python", "a = 6"), block("python", "print(a * 7)"), block("text", "42")],
            ["No blocks."],
        ):
            self.assertTrue(run(*page)[1], page)

    def test_other_output_is_replaced(self):
        found, same = run(block("console", "$ echo one", "two", "$ echo 3", "3"))
        self.assertFalse(same)
        self.assertEqual(found, block("console", "$ echo one", "one", "$ echo 3", "3") + "\n")
        found, same = run(block("python", "print(6 * 7)"), block("text", "41"))
        self.assertFalse(same)
        self.assertIn("42", found)
        found, same = run(block("python", "7"), block("text", "7"))
        self.assertFalse(same)

    def test_pages_have_the_models(self):
        page = block("console", "$ ls models/quickstart/affine.mlir", "models/quickstart/affine.mlir")
        self.assertTrue(run(page)[1])

    def test_three_dots_stand_for_any_lines(self):
        self.assertTrue(run(block("console", "$ seq 9", "1", "...", "8", "9"))[1])
        self.assertTrue(run(block("console", "$ seq 2", "1", "...", "2"))[1])
        self.assertFalse(run(block("console", "$ seq 9", "1", "...", "8"))[1])

    def test_files_of_the_page_are_there_for_commands_and_python(self):
        self.assertTrue(
            run(
                block("python seven.py", "SEVEN = 7"),
                block("console", "$ cat seven.py", "SEVEN = 7"),
                block("python", "from seven import SEVEN", "print(SEVEN)"),
                block("text", "7"),
            )[1]
        )

    def test_what_fails_is_named_with_its_line(self):
        for page, message in (
            ([block("console", "$ echo no; exit 3", "no")], r"page.md:2: ends with 3\nno"),
            ([block("console", "$ true", "$ false | cat")], "page.md:3: ends with 1"),
            ([block("python", "", "1 / 0")], r'"page.md", line 3(?s:.*)ZeroDivisionError'),
            ([block("python", "print(1)")], "no text block shows"),
            ([block("python", "print(1)"), block("console", "$ true")], "no text block shows"),
            ([block("sh", "true")], "page.md:1: is neither"),
            ([block("text", "alone")], "page.md:1: is neither"),
            ([block("python", "1"), block("console"), block("text", "1")], "page.md:8: is neither"),
            ([block("console", "one")], "page.md:2: a console block begins"),
        ):
            with self.assertRaisesRegex(Failure, message):
                run(*page)


if __name__ == "__main__":
    unittest.main()
