#!/usr/bin/env python3
"""Changes the Rust sources in small ways and runs tests on each change: one that no test notices is a survivor.

usage: rust_mutants.py --cargo-mutants FILE [--scope NAME] [--sample N] [--seconds N] [--list] [--table]

  --cargo-mutants FILE  the program that lists the mutants, at the version of tests/deep/requirements/cargo-mutants
  --scope NAME          only this scope (SCOPES below: canonical, registry, model, program); repeatable
  --sample N            only every N-th mutant, by its digest; the program has always a sample (see SCOPES)
  --seconds N           start no mutant after so many seconds; a later run goes on where this one ended
  --list                print the mutants and stop
  --table               print the results so far as a table and stop

Exit code 0: every mutant was killed, does not compile, or is explained in tests/deep/rust-survivors.json; 1: others, or mutants
that were not run; 2: an entry of that file meets no mutant, or the unchanged sources fail. Results, one JSON line a mutant, are in
$CONCORD_CACHE/deep/rust-mutation/results.jsonl. A killed mutant is not run again, a survivor is when --again is given.

A mutant of the program is built for Solana and played by `concord conform` and `concord fuzz` as they are.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("CONCORD_CACHE", ROOT / ".cache"))
WORK = CACHE / "deep" / "rust-mutation"
TREE = WORK / "tree"
PROGRAM = WORK / "agent_registry.so"
RESULTS = WORK / "results.jsonl"
SURVIVORS = Path(__file__).with_name("rust-survivors.json")
COMMAND_SECONDS = 1800  # a mutant that never ends is a killed one; a build on a busy machine takes long
TARGET = os.environ.get("CARGO_TARGET_DIR", str(WORK / "target"))
CONCORD = os.environ.get("CONCORD_BINARY", str(ROOT / "target" / "debug" / "concord"))
JUDGED_BY = ["--backend", "svm-litesvm", "--program", str(PROGRAM)]


@dataclass(frozen=True)
class Scope:
    """Sources, and what must notice a change of them: `build` may fail, then the mutant does not compile."""

    files: str
    build: list[str]
    checks: tuple[list[str], ...]
    sample: int = 1


SCOPES = {
    "canonical": Scope(
        "canonical/src/**/*.rs",
        ["cargo", "build", "--locked", "--quiet", "-p", "concord-canonical", "--all-features"],
        (
            ["cargo", "test", "--locked", "--quiet", "-p", "concord-canonical", "--all-features"],
            ["cargo", "test", "--locked", "--quiet", "-p", "concord-oracle"],
        ),
    ),
    "registry": Scope(
        "registry/src/**/*.rs",
        ["cargo", "build", "--locked", "--quiet", "-p", "concord-registry"],
        (["cargo", "test", "--locked", "--quiet", "-p", "concord-registry"],),
    ),
    "model": Scope(
        "harness/src/model/**/*.rs",
        ["cargo", "build", "--locked", "--quiet", "--workspace", "--bin", "concord"],
        (
            ["cargo", "test", "--locked", "--quiet", "--workspace", "--test", "model", "--test", "scenario_files"],
            [f"{TARGET}/debug/concord", "fuzz", "--backend", "evm-revm,svm-litesvm", "--steps", "2000", "--seed", "8004"],
        ),
    ),
    "program": Scope(
        "programs/agent-registry/src/**/*.rs",
        [str(ROOT / "scripts" / "build-program"), "--root", str(TREE), "--out", str(PROGRAM)],
        (
            [CONCORD, "conform", "--json", *JUDGED_BY],
            [CONCORD, "fuzz", "--steps", "8000", "--seed", "8004", "--regressions", str(WORK / "found"), *JUDGED_BY],
        ),
        sample=16,
    ),
}


@dataclass(frozen=True)
class Mutant:
    scope: str
    file: str
    name: str  # cargo-mutants' words, with file, line and column
    diff: str

    @property
    def key(self) -> str:
        """Of the change and the lines around it: stays the same when others come before them."""
        lines = [line for line in self.diff.splitlines() if line[:2] != "@@" and line[:3] not in ("+++", "---")]
        return hashlib.sha256("\n".join([self.file, *lines]).encode()).hexdigest()[:16]


def give_up(sentence: str):
    print(f"rust_mutants: {sentence}", file=sys.stderr)
    sys.exit(2)


def listed(program: str, name: str, sample: int) -> list[Mutant]:
    scope = SCOPES[name]
    command = [program, "mutants", "--list", "--json", "--diff", "--file", scope.files, "--dir", str(ROOT)]
    answer = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    if answer.returncode != 0:
        give_up(f"cargo-mutants does not list {scope.files}: {answer.stderr.strip()[-300:]}")
    mutants = [Mutant(name, it["file"], it["name"], it["diff"]) for it in json.loads(answer.stdout)]
    mutants = list({mutant.key: mutant for mutant in mutants}.values())
    every = scope.sample * sample
    return sorted((it for it in mutants if int(it.key, 16) % every == 0), key=lambda it: it.key)


def copy_sources():
    """Every committed file, as it is in the clone, and the packages that are installed beside them."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    TREE.mkdir(parents=True, exist_ok=True)
    wanted = set(files.splitlines())
    for name in wanted:
        source, target = ROOT / name, TREE / name
        if not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for name in ("contracts/out", "contracts/lib", "target/deploy"):
        link = TREE / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.exists():
            link.symlink_to((ROOT / name).resolve())


def passes(command: list[str]) -> bool:
    environment = os.environ | {"CARGO_TARGET_DIR": TARGET, "CONCORD_BUILT": "1"}
    if command[0].endswith("build-program"):
        environment.pop("CARGO_TARGET_DIR")
    try:
        run = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, timeout=COMMAND_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def judge(mutant: Mutant) -> tuple[str, str]:
    """killed, survived or uncompiled; and by what."""
    scope, path = SCOPES[mutant.scope], TREE / mutant.file
    before = path.read_bytes()
    patched = subprocess.run(["patch", "--silent", str(path)], input=mutant.diff, text=True, capture_output=True)
    if patched.returncode != 0:
        give_up(f"{mutant.name}: {patched.stdout}{patched.stderr}")
    try:
        if not passes(scope.build):
            return "uncompiled", ""
        for check in scope.checks:
            if not passes(check):
                return "killed", " ".join(Path(word).name for word in check[:2])
        return "survived", ""
    finally:
        path.write_bytes(before)


def stored() -> dict[str, dict]:
    if not RESULTS.exists():
        return {}
    return {result["key"]: result for result in map(json.loads, RESULTS.read_text().splitlines())}


def run(mutants: list[Mutant], seconds: float, again: bool):
    known = stored()
    todo = [it for it in mutants if it.key not in known or (again and known[it.key]["verdict"] == "survived")]
    end = time.monotonic() + seconds
    checked = set()
    copy_sources()
    for mutant in todo:
        if time.monotonic() >= end:
            return
        scope = SCOPES[mutant.scope]
        if mutant.scope not in checked:
            failing = [command for command in (scope.build, *scope.checks) if not passes(command)]
            if failing:
                give_up(f"the unchanged sources fail: {' '.join(failing[0])}")
            checked.add(mutant.scope)
        verdict, why = judge(mutant)
        result = {"key": mutant.key, "scope": mutant.scope, "name": mutant.name, "verdict": verdict, "why": why}
        with RESULTS.open("a") as lines:
            lines.write(json.dumps(result) + "\n")
        print(f"{verdict:10} {mutant.name}", file=sys.stderr, flush=True)


def explained(mutant: Mutant, entries: list[dict]) -> str | None:
    """An entry has the key, the file, the change in cargo-mutants' words, and the reason."""
    return next((it["reason"] for it in entries if it["key"] == mutant.key), None)


def report(mutants: list[Mutant], entries: list[dict]) -> int:
    results = stored()
    counts, open_ones = {scope: Counter() for scope in SCOPES}, []
    for mutant in mutants:
        verdict = results.get(mutant.key, {}).get("verdict", "not run")
        if verdict == "survived":
            verdict = "explained" if explained(mutant, entries) else "survived"
        counts[mutant.scope][verdict] += 1
        if verdict == "survived":
            open_ones.append(f"{mutant.key} {mutant.name}")
    columns = ["uncompiled", "killed", "explained", "survived", "not run"]
    print("| scope | mutants | do not compile | killed | explained | survived | not run |")
    print("|---|---|---|---|---|---|---|")
    for scope, of_scope in counts.items():
        if of_scope:
            cells = " | ".join(str(of_scope[column]) for column in columns)
            print(f"| {scope} | {sum(of_scope.values())} | {cells} |")
    for name in open_ones:
        print(f"SURVIVED {name}")
    return 1 if open_ones or any(of_scope["not run"] for of_scope in counts.values()) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cargo-mutants", required=True)
    parser.add_argument("--scope", action="append", choices=SCOPES)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=86400)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    scopes = options.scope or list(SCOPES)
    mutants = [mutant for scope in scopes for mutant in listed(options.cargo_mutants, scope, options.sample)]
    entries = json.loads(SURVIVORS.read_text())
    if options.list:
        for mutant in mutants:
            print(f"{mutant.scope:10} {mutant.key} {mutant.name}")
        return 0
    if options.sample == 1 and not options.scope:
        met = {mutant.key for mutant in mutants}
        for entry in entries:
            if entry["key"] not in met:
                give_up(f"{SURVIVORS.name}: {entry['file']} has no mutant {entry['key']}, `{entry['change']}`")
    if not options.table:
        run(mutants, options.seconds, options.again)
    return report(mutants, entries)


if __name__ == "__main__":
    sys.exit(main())
