#!/usr/bin/env python3
"""The rooms of lattice know only the rooms before them. Takes no time.

Reads every import of `lattice/src` and fails on one that goes to a later room. Comments may mention what they like.
"""

import pathlib
import re
import sys

# What every room may use, and then the rooms from left to right; those of one row do not know each other.
ROWS = [
    ["error", "goal", "options", "progress", "stop"],
    ["intake"],
    ["order"],
    ["automaton"],
    ["engine"],
    ["witness"],
    ["report"],
    ["check", "watch", "laboratory"],
]
SOURCES = pathlib.Path(__file__).resolve().parent.parent / "lattice" / "src"


def rooms_used(text):
    """The first segment of every path that begins with `crate::`, also within braces."""
    for path in re.finditer(r"\bcrate::(\w+|\{)", text):
        if path[1] != "{":
            yield path[1]
            continue
        depth, item = 1, ""
        for char in text[path.end() :]:
            depth += (char == "{") - (char == "}")
            if depth == 0 or (depth == 1 and char == ","):
                if item.strip():
                    yield re.match(r"\s*(\w+)", item)[1]
                item = ""
            else:
                item += char
            if depth == 0:
                break


def main():
    allowed, wrong, imports = set(ROWS[0]), [], 0
    known = {room for row in ROWS for room in row} | {"lib"}
    for source in SOURCES.iterdir():
        if source.stem not in known:
            wrong.append(f"{source.name} is a room that this script does not know")
    for row in ROWS:
        for room in row:
            files = [SOURCES / f"{room}.rs", *sorted((SOURCES / room).rglob("*.rs"))]
            for file in filter(pathlib.Path.is_file, files):
                text = re.sub(r"//.*", "", file.read_text())
                for used in rooms_used(text):
                    imports += 1
                    if used not in allowed | {room}:
                        wrong.append(f"{file.relative_to(SOURCES)} uses {used}, which comes after {room}")
        allowed |= set(row)
    print("\n".join(sorted(set(wrong))) or f"{imports} imports, each from a room before its own")
    return 1 if wrong else 0


sys.exit(main())
