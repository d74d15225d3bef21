"""Runs the commands and the Python of a documentation page, and compares what they print with it.

The words behind the fence of a block say what it is:

    python         runs; the names that it defines stay for later blocks
    text           what the Python block before it prints
    console        lines that begin with "$ " are commands of a shell, others what they print
    LANGUAGE FILE  is saved as FILE

All other blocks are refused. A line "..." stands for any lines that are printed. Blocks run in order
in one scratch folder, which has the models of this repository, with superstep and this Python on the
PATH. Commands must end with 0, also those before a pipe.
"""

import argparse
import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "models"
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


class Failure(Exception):
    """Why a page cannot be run to its end, with the line of the page."""


def as_printed(shown, printed):
    """The lines that a page should show for what was printed: its own where they are right."""
    lines = [line.rstrip() for line in printed.splitlines()]
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in shown)
    return shown if re.fullmatch(pattern, "".join(line + "\n" for line in lines)) else lines


class Session:
    """What the blocks of one page share: a folder, Python's names, what Python has printed."""

    def __init__(self, page, folder):
        self.page = page
        self.folder = Path(folder)
        self.names = {"__name__": "__main__"}
        self.printed = None  # by the Python block before, until a block shows it

    def block(self, line, words, body):
        """Runs a block whose first line is `line` of the page; returns the lines it should have."""
        if words == ["text"] and self.printed is not None:
            body, self.printed = as_printed(body, self.printed), None
            return body
        self.expect_nothing_printed()
        if words == ["python"]:
            self.printed = self.python(line, body)
        elif words == ["console"]:
            body = self.console(line, body)
        elif len(words) == 2:
            (self.folder / words[1]).write_text("\n".join(body) + "\n")
        else:
            raise Failure(f"{self.page}:{line - 1}: is neither console, python, its text nor a file")
        return body

    def expect_nothing_printed(self):
        """Throws when Python has printed what no block shows."""
        if self.printed:
            raise Failure(f"{self.page}: no text block shows what Python prints:\n{self.printed}")
        self.printed = None

    def python(self, line, body):
        """Runs Python and returns what it prints."""
        printed = io.StringIO()
        try:
            # Lines of a traceback are those of the page.
            code = compile("\n" * (line - 1) + "\n".join(body), str(self.page), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, self.names)
        except Exception:
            raise Failure(printed.getvalue() + traceback.format_exc()) from None
        return printed.getvalue()

    def console(self, line, body):
        """Runs the commands of a block and returns it with what they print."""
        lines = []
        while body:
            if not body[0].startswith("$ "):
                raise Failure(f"{self.page}:{line}: a console block begins with a command")
            size = 1
            while size < len(body) and body[size - 1].endswith("\\"):
                size += 1
            end = next((i for i in range(size, len(body)) if body[i].startswith("$ ")), len(body))
            lines += body[:size]
            lines += as_printed(body[size:end], self.shell(line, "\n".join(body[:size])[2:]))
            line, body = line + end, body[end:]
        return lines

    def shell(self, line, command):
        """Runs a command and returns what it prints, errors among it."""
        run = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if run.returncode != 0:
            raise Failure(f"{self.page}:{line}: ends with {run.returncode}\n{run.stdout}")
        return run.stdout


def run_page(page, text):
    """The text that the page should have."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("models").symlink_to(MODELS)
        session = Session(page, folder)
        sys.path.insert(0, folder)

        def as_it_should_be(match):
            line = text.count("\n", 0, match.start()) + 2
            body = session.block(line, match[1].split(), match[2].splitlines())
            return "".join([f"```{match[1]}\n", *(text + "\n" for text in body), "```"])

        found = BLOCK.sub(as_it_should_be, text)
        session.expect_nothing_printed()
        sys.path.remove(folder)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--superstep", type=Path, default=Path("build/release/superstep"))
    parser.add_argument("--update", action="store_true", help="write what is printed to the page")
    options = parser.parse_args()
    programs = (options.superstep.resolve().parent, Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    os.environ.update(LC_ALL="C.UTF-8", JAX_PLATFORMS="cpu")
    os.environ.pop("COLUMNS", None)
    text = options.page.read_text()
    try:
        found = run_page(options.page, text)
    except Failure as failure:
        sys.exit(str(failure))
    if options.update:
        options.page.write_text(found)
    elif found != text:
        difference = difflib.unified_diff(
            text.splitlines(), found.splitlines(), "shown", "printed", lineterm=""
        )
        print(*difference, sep="\n")
        sys.exit(f"{options.page}: what is printed differs from what is shown; --update writes it")


if __name__ == "__main__":
    main()
