#!/usr/bin/env python3
"""The lines of contracts/src that no test reached.

usage: uncovered.py LCOV.info

Exit code 0: none; 1: some; 2: the report has no line of contracts/src. Lines only: with --ir-minimum, forge counts the
branches of custom errors wrong, and lines of assembly not at all; straight-line assembly is reached with the line before it.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def hits_by_file(report: str) -> dict[str, dict[int, int]]:
    hits, file = defaultdict(dict), ""
    for line in report.splitlines():
        kind, _, value = line.partition(":")
        if kind == "SF":
            file = value
        elif kind == "DA" and file.startswith("contracts/src/"):
            number, count = value.split(",")[:2]
            hits[file][int(number)] = int(count)
    for file, lines in hits.items():
        count_assembly(lines, (ROOT / file).read_text())
    return hits


def count_assembly(lines: dict[int, int], source: str):
    """Gives the lines of each block without a branch the count of the last line before it."""
    for block in re.finditer(r"\bassembly\b[^{]*\{([^{}]*)\}", source):
        if re.search(r"\b(if|for|switch|leave)\b", re.sub(r"//.*", "", block.group(1))):
            continue
        first, last = (source.count("\n", 0, at) + 1 for at in block.span())
        before = max(line for line in lines if line < first)
        lines.update({line: lines[before] for line in lines if first <= line <= last})


def main() -> int:
    hits = hits_by_file(Path(sys.argv[1]).read_text())
    for file, lines in sorted(hits.items()):
        print(f"{sum(count > 0 for count in lines.values()):4} of {len(lines):4} lines  {file}")
    uncovered = [f"{file}:{line}" for file, lines in sorted(hits.items()) for line, count in sorted(lines.items()) if not count]
    for place in uncovered:
        print(f"not reached: {place}")
    return 2 if not hits else 1 if uncovered else 0


if __name__ == "__main__":
    sys.exit(main())
