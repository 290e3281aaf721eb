#!/usr/bin/env python3
"""Holds slither's findings against those that slither-justified.json gives a reason for.

usage: findings.py FINDINGS.json

Exit code 0: each finding has its reason; 1: one has none; 2: a reason's finding is gone, or slither reports no success.
"""

import json
import re
import sys
from pathlib import Path

JUSTIFIED = Path(__file__).with_name("slither-justified.json")


def first_line(finding: dict) -> str:
    """What the finding is about, without line numbers, which move."""
    line = finding["description"].strip().split("\n")[0]
    return re.sub(r" \(contracts/[^)]*#[^)]*\)|^\d+ ", "", line)


def main() -> int:
    report = json.loads(Path(sys.argv[1]).read_text())
    if not report["success"]:
        print(f"slither failed: {report['error']}")
        return 2
    reasons = {(entry["detector"], entry["about"]): entry["reason"] for entry in json.loads(JUSTIFIED.read_text())}
    found = {(finding["check"], first_line(finding)): finding for finding in report["results"].get("detectors", [])}
    for key, finding in sorted(found.items()):
        verdict = "justified" if key in reasons else "FINDING"
        print(f"{verdict:9} {finding['impact']:13} {key[0]}: {key[1]}")
    gone = reasons.keys() - found.keys()
    for detector, about in sorted(gone):
        print(f"no longer found: {detector}: {about}")
    return 2 if gone else 1 if found.keys() - reasons.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
