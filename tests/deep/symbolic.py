#!/usr/bin/env python3
"""Proves contracts/test/symbolic with halmos, and shows that each property fails on a fault planted for it.

usage: symbolic.py HALMOS [--no-faults | --faults-only]

Exit code 0: everything is proven within its bounds and every planted fault is found; 1: not so. Works on a copy in
$CONCORD_CACHE/deep/symbolic; symbolic-faults.json lists the faults.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("CONCORD_CACHE", ROOT / ".cache"))
TREE = CACHE / "deep" / "symbolic"
FAULTS = Path(__file__).with_name("symbolic-faults.json")
ENVIRONMENT = os.environ | {
    "PATH": f"{CACHE}/bin:{os.environ['PATH']}",
    "CONCORD_CACHE": str(CACHE),
    "CONCORD_SOLC_CACHE": "off",
    "FOUNDRY_DENY": "never",
    # halmos deploys what a test creates with `new`: it does not know the artifacts that dynamic linking would look up.
    "FOUNDRY_DYNAMIC_TEST_LINKING": "false",
    "FOUNDRY_OPTIMIZER": "false",
}
VERDICT = re.compile(r"\[(PASS|FAIL|TIMEOUT|ERROR)\].*?(check_\w+)\(")


def copy_sources():
    shutil.rmtree(TREE, ignore_errors=True)
    shutil.copytree(ROOT / "contracts" / "src", TREE / "contracts" / "src")
    shutil.copytree(ROOT / "contracts" / "test" / "symbolic", TREE / "contracts" / "test" / "symbolic")
    shutil.copytree(ROOT / "scripts", TREE / "scripts")
    shutil.copy(ROOT / "foundry.toml", TREE)
    os.symlink((ROOT / "contracts" / "lib").resolve(), TREE / "contracts" / "lib")


def prove(halmos: str, pattern: str, *options: str) -> tuple[dict[str, str], bool]:
    """Each property with its verdict, and whether a bound cut an exploration short."""
    command = [halmos, "--forge-build-out", "contracts/out", "--loop", "4", "--solver", "z3", "--no-status"]
    run = subprocess.run(
        [*command, *options, "--match-contract", "Symbolic$", "--match-test", pattern],
        cwd=TREE,
        env=ENVIRONMENT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    text = re.sub(r"\x1b\[[0-9;]*m", "", run.stdout)
    verdicts = {name: verdict for verdict, name in VERDICT.findall(text)}
    if not verdicts:
        sys.exit(f"symbolic: halmos proved nothing: {text[-1500:]}")
    return verdicts, "have not been fully" in text


def declared() -> set[str]:
    sources = (TREE / "contracts" / "test" / "symbolic").glob("*.sol")
    return {name for source in sources for name in re.findall(r"function (check_\w+)\(", source.read_text())}


def main() -> int:
    halmos, is_complete = sys.argv[1], True
    copy_sources()
    names = declared()
    if "--faults-only" not in sys.argv:
        is_complete = are_proven(halmos, names)
    if "--no-faults" not in sys.argv:
        is_complete = are_all_found(halmos, names) and is_complete
    return 0 if is_complete else 1


def are_proven(halmos: str, names: set[str]) -> bool:
    is_complete = True
    verdicts, is_cut = prove(halmos, "^check_")
    for name in sorted(names):
        print(f"{verdicts.get(name, 'NOT RUN'):8} {name}")
        is_complete = is_complete and verdicts.get(name) == "PASS"
    if is_cut:
        print("a loop is longer than the bound: not everything is proven")
        is_complete = False
    return is_complete


def are_all_found(halmos: str, names: set[str]) -> bool:
    is_complete = True
    faults = json.loads(FAULTS.read_text())
    for name in sorted(names - {fault["property"] for fault in faults}):
        print(f"no fault is planted for {name}")
        is_complete = False
    for number in sorted({fault["round"] for fault in faults}):
        planted = [fault for fault in faults if fault["round"] == number]
        is_complete = are_found(halmos, planted) and is_complete
    return is_complete


def are_found(halmos: str, faults: list[dict]) -> bool:
    """The faults of a round are planted together, to compile once: each can break no property but its own."""
    kept = {fault["file"]: (TREE / fault["file"]).read_text() for fault in faults}
    for fault in faults:
        path = TREE / fault["file"]
        if path.read_text().count(fault["before"]) != 1:
            print(f"{fault['file']} has not one place with: {fault['before']}")
            return False
        path.write_text(path.read_text().replace(fault["before"], fault["after"]))
    verdicts, _ = prove(halmos, "^(" + "|".join(fault["property"] for fault in faults) + ")", "--early-exit")
    for file, source in kept.items():
        (TREE / file).write_text(source)
    is_complete = True
    for fault in faults:
        found = verdicts.get(fault["property"]) == "FAIL"
        is_complete = is_complete and found
        print(f"{'found' if found else 'MISSED':8} {fault['property']}: {fault['before']}  ->  {fault['after']}")
    return is_complete


if __name__ == "__main__":
    sys.exit(main())
