"""Describes the vertex classes of one PopLibs codelet source to the harness.

    generate.py CODELET.cpp OUT.cpp FUNCTION -- COMPILER FLAGS...

The classes, their fields and the order of the fields come from the debug information that the
compiler writes for the unmodified source; types come from `decltype` in the C++ that is written.
"""

import re
import subprocess
import sys
import tempfile

HEADER = re.compile(r"^ <(\d+)><([0-9a-f]+)>: Abbrev Number: \d+(?: \((DW_TAG_\w+)\))?")
ATTRIBUTE = re.compile(r"^    <[0-9a-f]+>   (DW_AT_\w+)\s*:\s(.*)$")
NAME = re.compile(r"^\(indirect (?:line )?string, offset: (?:0x)?[0-9a-f]+\): (.*)$")
BASES = {"Vertex", "MultiVertex", "SupervisorVertex"}


class Die:
    """One entry of the debug information."""

    def __init__(self, offset, tag, parent):
        self.offset, self.tag, self.parent = offset, tag, parent
        self.attributes, self.children = {}, []

    def name(self):
        text = self.attributes.get("DW_AT_name", "").strip()
        found = NAME.match(text)
        return found.group(1) if found else text

    def type_of(self, dies):
        reference = re.match(r"<0x([0-9a-f]+)>", self.attributes.get("DW_AT_type", ""))
        return dies.get(reference.group(1)) if reference else None

    def full_name(self):
        names, die = [], self
        while die is not None and die.tag != "DW_TAG_compile_unit":
            if die.name():
                names.append(die.name())
            die = die.parent
        return "::".join(reversed(names))


def parse(text):
    """All entries by offset, in order."""
    dies, stack = {}, []
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            level, offset, tag = int(header.group(1)), header.group(2), header.group(3)
            del stack[level:]
            if tag is None:
                continue
            die = Die(offset, tag, stack[-1] if stack else None)
            if stack:
                stack[-1].children.append(die)
            stack.append(die)
            dies[offset] = die
            continue
        attribute = ATTRIBUTE.match(line)
        if attribute and stack:
            stack[-1].attributes.setdefault(attribute.group(1), attribute.group(2))
    return dies


def resolved(die, dies):
    while die is not None and die.tag == "DW_TAG_typedef":
        die = die.type_of(dies)
    return die


def bases(die, dies):
    for child in die.children:
        if child.tag == "DW_TAG_inheritance":
            base = resolved(child.type_of(dies), dies)
            if base is not None:
                yield base


def is_vertex(die, dies):
    for base in bases(die, dies):
        if base.name() in BASES and base.full_name().startswith("poplar::"):
            return True
        if is_vertex(base, dies):
            return True
    return False


def fields(die, dies):
    """Names of the members in the order of their storage, those of base classes first."""
    names = []
    for base in bases(die, dies):
        names += fields(base, dies)
    for child in die.children:
        if child.tag == "DW_TAG_member" and "DW_AT_external" not in child.attributes:
            names.append(child.name())
    return names


def computes(die, dies):
    own = any(c.tag == "DW_TAG_subprogram" and c.name() == "compute" for c in die.children)
    return own or any(computes(base, dies) for base in bases(die, dies))


def main():
    codelet, out, function = sys.argv[1:4]
    compiler = sys.argv[5:]
    with tempfile.NamedTemporaryFile(suffix=".o") as unit:
        subprocess.run(
            compiler + ["-O0", "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types",
                    "-femit-class-debug-always", "-c", codelet, "-o", unit.name], check=True)
        dump = subprocess.run(["readelf", "--debug-dump=info", unit.name], check=True,
                              capture_output=True, text=True).stdout
    dies = parse(dump)
    lines = [f'#include "{codelet}"', "", '#include "tests/poplibs/describe.h"', "",
             f"void {function}(std::vector<superstep::poplibs::Entry>& entries) {{"]
    seen = set()
    for die in dies.values():
        if die.tag not in ("DW_TAG_class_type", "DW_TAG_structure_type"):
            continue
        if "DW_AT_declaration" in die.attributes or not is_vertex(die, dies):
            continue
        if not computes(die, dies) or die.full_name() in seen:
            continue
        seen.add(die.full_name())
        listed = ", ".join(f"POPLIBS_FIELD({name})" for name in fields(die, dies))
        lines.append(f"  {{\n    using V = ::{die.full_name()};")
        lines.append(f"    superstep::poplibs::add<V>(entries, {{{listed}}});\n  }}")
    lines.append("}")
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
