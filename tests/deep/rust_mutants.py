#!/usr/bin/env python3
"""Changes the Rust sources in small ways and runs tests on each change: one that no test notices is a survivor.

usage: rust_mutants.py --cargo-mutants FILE [--scope NAME] [--sample N] [--seconds N] [--again] [--list] [--table]

  --cargo-mutants FILE  the program that lists the mutants, at the version of tests/deep/requirements/cargo-mutants
  --scope NAME          only this scope (SCOPES below: canonical, registry, model, program); repeatable
  --sample N            only every N-th mutant, by its digest; the program has always a sample (see SCOPES)
  --seconds N           start no mutant after so many seconds; a later run goes on where this one ended
  --again               run survivors again
  --list                print the mutants and stop
  --table               print the results so far as a table and stop

Exit code 0: every mutant was killed, does not compile, or is explained in tests/deep/rust-survivors.json; 1: others, or mutants
that were not run; 2: an entry of that file meets no mutant, or the unchanged sources fail. Verdicts are in
tests/deep/rust-mutants.tsv, which is committed and which every run extends. Killed mutants are not run again.

Most mutants are compiled together (rust_schema.py), and each run of the tests chooses one. Those of the model are compiled in a
package of its own (rust_model.py), and a mutant of the program is built for Solana, played by `concord conform` and
`concord fuzz` as they are, and loaded by the tests of the program.
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
from dataclasses import dataclass, field
from pathlib import Path

import rust_model
from rust_schema import CHOICE, Program, Schema

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("CONCORD_CACHE", ROOT / ".cache"))
WORK = CACHE / "deep" / "rust-mutation"
TREE = WORK / "tree"
PROGRAM = WORK / "agent_registry.so"
MODEL_PACKAGE = TREE / "model-judge"
VERDICTS = Path(__file__).with_name("rust-mutants.tsv")
SURVIVORS = Path(__file__).with_name("rust-survivors.json")
TARGET = os.environ.get("CARGO_TARGET_DIR", str(WORK / "target"))
CONCORD = os.environ.get("CONCORD_BINARY", str(ROOT / "target" / "debug" / "concord"))
JUDGED_BY = ["--backend", "svm-litesvm", "--program", str(PROGRAM)]


@dataclass(frozen=True)
class Scope:
    """Sources, and what must notice a change of them: `build` may fail, then the mutant does not compile.

    The checks have names, and run in this order until one fails; with `every_check` all of them run. `root` is the crate's file
    for what chooses among mutants that are compiled together, as `tests` compiles them. With `parts` a test program is run once
    for each, with these words.
    """

    files: str
    build: list[str]
    checks: dict[str, list[str]]
    root: str | None = None
    tests: tuple[list[str], ...] = ()
    parts: dict[str, list[str]] = field(default_factory=dict)
    seconds: int = 1800  # a command that never ends is a killed mutant; a build on a busy machine takes long
    run_seconds: int = 60  # the same of a program of tests that is built; a sound one takes five seconds at most
    folder: Path = TREE
    every_check: bool = False
    sample: int = 1


def cargo(verb: str, package: str, *words: str) -> list[str]:
    return ["cargo", verb, "--locked", "--quiet", "-p", package, *words]


def of_model(verb: str, *words: str) -> list[str]:
    return ["cargo", verb, "--offline", "--quiet", "--test", "model", *words]


# The clone's own build of the tests, which load the changed program. What it costs and how it is built is not asked of it.
OF_PROGRAM = [
    *("env", "-u", "CARGO_TARGET_DIR", "-u", "CARGO_INCREMENTAL", "-u", "CARGO_PROFILE_DEV_DEBUG", f"CONCORD_PROGRAM_FILE={PROGRAM}"),
    *("cargo", "test", "--locked", "--quiet", "--workspace", "--manifest-path", str(ROOT / "Cargo.toml"), "--test", "litesvm"),
    *("--", "--skip", "compute_units", "--skip", "program_id"),
]

MODEL_PARTS = {"rules": ["--skip", "scenarios::"], "scenarios": ["scenarios::"]}
CANONICAL = ("concord-canonical", "--all-features")
SCOPES = {
    "canonical": Scope(
        "canonical/src/**/*.rs",
        cargo("build", *CANONICAL),
        {
            "vectors": cargo("test", *CANONICAL, "--lib", "--test", "vectors"),
            "tests": cargo("test", *CANONICAL, "--tests"),
            "examples": cargo("test", *CANONICAL, "--doc"),
            "oracle": cargo("test", "concord-oracle"),
        },
        root="canonical/src/lib.rs",
        tests=(cargo("test", *CANONICAL, "--no-run", "--tests"), cargo("test", "concord-oracle", "--no-run")),
    ),
    "registry": Scope(
        "registry/src/**/*.rs",
        cargo("build", "concord-registry"),
        {
            "tests": cargo("test", "concord-registry", "--tests"),
            "examples": cargo("test", "concord-registry", "--doc"),
        },
        root="registry/src/lib.rs",
        tests=(cargo("test", "concord-registry", "--no-run", "--tests"),),
    ),
    "model": Scope(
        "harness/src/model/**/*.rs",
        of_model("test", "--no-run"),
        {name: of_model("test", "--", *words) for name, words in MODEL_PARTS.items()},
        root="model-judge/src/lib.rs",
        tests=(of_model("test", "--no-run"),),
        parts=MODEL_PARTS,
        seconds=180,
        run_seconds=180,
        folder=MODEL_PACKAGE,
        every_check=True,
    ),
    "program": Scope(
        "programs/agent-registry/src/**/*.rs",
        [str(ROOT / "scripts" / "build-program"), "--root", str(TREE), "--out", str(PROGRAM)],
        {
            "conform": [CONCORD, "conform", "--json", *JUDGED_BY],
            "fuzz": [CONCORD, "fuzz", "--steps", "8000", "--seed", "8004", "--regressions", str(WORK / "found"), *JUDGED_BY],
            "tests": OF_PROGRAM,
        },
        sample=16,
    ),
}

@dataclass(frozen=True)
class Mutant:
    scope: str
    file: str
    name: str  # cargo-mutants' words, with file, line and column
    diff: str
    function: dict | None

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
    mutants = [Mutant(name, it["file"], it["name"], it["diff"], it["function"]) for it in json.loads(answer.stdout)]
    mutants = list({mutant.key: mutant for mutant in mutants}.values())
    every = scope.sample * sample
    return sorted((it for it in mutants if int(it.key, 16) % every == 0), key=lambda it: it.key)


def copy_sources():
    """Every committed file, as it is in the clone, and the packages that are installed beside them."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    TREE.mkdir(parents=True, exist_ok=True)
    wanted = set(files.splitlines())
    listing = TREE / ".copied"  # what is no longer committed must not be compiled
    for name in set(listing.read_text().splitlines() if listing.exists() else ()) - wanted:
        (TREE / name).unlink(missing_ok=True)
    listing.write_text(files)
    for name in wanted:
        source, target = ROOT / name, TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.unlink(missing_ok=True)
            target.symlink_to(source.readlink())
        elif source.is_file() and not (target.is_file() and target.read_bytes() == source.read_bytes()):
            shutil.copy(source, target)
    for name in ("contracts/out", "contracts/lib", "target/deploy"):
        link = TREE / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink() and not link.exists():
            link.symlink_to((ROOT / name).resolve())


def environment(chosen: int = 0) -> dict:
    # Only a small part of a mutant is compiled, and no debugger needs its symbols.
    compiler = {"CARGO_TARGET_DIR": TARGET, "CARGO_INCREMENTAL": "1", "CARGO_PROFILE_DEV_DEBUG": "0"}
    # A function with its mutants beside it takes more of the stack.
    tests = {"CONCORD_BUILT": "1", "RUST_MIN_STACK": str(64 << 20), CHOICE: str(chosen)}
    return os.environ | compiler | tests


def passes(scope: Scope, command: list[str], chosen: int = 0) -> bool:
    variables = environment(chosen)
    if command[0].endswith("build-program"):
        variables.pop("CARGO_TARGET_DIR")
    try:
        run = subprocess.run(command, cwd=scope.folder, env=variables, capture_output=True, timeout=scope.seconds)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def failing(scope: Scope) -> list[str]:
    """The names of the checks that fail: the first one, or all of them."""
    names = []
    for name, command in scope.checks.items():
        if not passes(scope, command):
            names.append(name)
            if not scope.every_check:
                break
    return names


def judge(mutant: Mutant) -> tuple[str, str]:
    """killed, survived or uncompiled; and by what."""
    scope, path = SCOPES[mutant.scope], TREE / mutant.file
    before = path.read_bytes()
    patched = subprocess.run(["patch", "--silent", str(path)], input=mutant.diff, text=True, capture_output=True)
    if patched.returncode != 0:
        give_up(f"{mutant.name}: {patched.stdout}{patched.stderr}")
    try:
        if not passes(scope, scope.build):
            return "uncompiled", ""
        names = failing(scope)
        return ("killed", "+".join(names)) if names else ("survived", "")
    finally:
        path.write_bytes(before)


def stored() -> dict[str, list[str]]:
    """By key: scope, verdict, and the checks that failed."""
    if not VERDICTS.exists():
        return {}
    rows = (line.split("\t") for line in VERDICTS.read_text().splitlines()[1:])
    return {key: [scope, verdict, by] for scope, key, verdict, by in rows}


def store(verdicts: dict[str, list[str]]):
    """In the order of scopes and keys, so that a run changes few lines."""
    rows = sorted([scope, key, verdict, by] for key, (scope, verdict, by) in verdicts.items())
    text = "".join("\t".join(row) + "\n" for row in [["scope", "mutant", "verdict", "by"], *rows])
    partial = VERDICTS.with_suffix(".partial")
    partial.write_text(text)
    partial.replace(VERDICTS)


class Together:
    """The mutants of a scope that are compiled together, and the test programs that run on them."""

    def __init__(self, scope: Scope, mutants: list[Mutant]):
        self.scope, self.schema = scope, Schema(TREE, scope.root, mutants)
        self.programs: list[Program] = []
        for command in scope.tests:
            compiled = self.schema.compile(command, scope.folder, environment())
            if compiled is None:
                give_up(f"the sources with all mutants do not compile: {' '.join(command)}")
            self.programs += [part for it in compiled for part in self.parts(it)]
        self.programs.sort(key=self.duration)

    def parts(self, program: Program) -> list[Program]:
        parts = self.scope.parts.items()
        return [Program(name, [*program.command, *words], program.folder) for name, words in parts] or [program]

    def duration(self, program: Program) -> float:
        start = time.monotonic()
        if not program.passes(environment(), self.scope.run_seconds):
            give_up(f"the unchanged sources fail: {program.name}")
        return time.monotonic() - start

    def judge(self, mutant: Mutant) -> tuple[str, str]:
        chosen, names = self.schema.of[mutant.key], []
        for program in self.programs:
            if not program.passes(environment(chosen), self.scope.run_seconds):
                names.append(program.name)
                if not self.scope.every_check:
                    break
        if not names and "examples" in self.scope.checks and not passes(self.scope, self.scope.checks["examples"], chosen):
            names.append("examples")
        return ("killed", "+".join(names)) if names else ("survived", "")


def run(mutants: list[Mutant], seconds: float, again: bool):
    end = time.monotonic() + seconds
    copy_sources()
    rust_model.write(ROOT, MODEL_PACKAGE)
    for name, scope in SCOPES.items():
        verdicts = stored()
        is_open = lambda it: it.key not in verdicts or (again and verdicts[it.key][1] == "survived")
        todo = [it for it in mutants if it.scope == name and is_open(it)]
        if not todo:
            continue
        together = Together(scope, todo) if scope.root else None
        of_schema = together.schema.of if together else {}
        uncompiled = together.schema.uncompiled if together else set()
        for mutant in [it for it in todo if it.key in uncompiled]:
            keep(mutant, ("uncompiled", ""))
        for mutant in [it for it in todo if it.key in of_schema]:
            if time.monotonic() < end:
                keep(mutant, together.judge(mutant))
        if together:
            together.schema.restore()
        alone = [it for it in todo if it.key not in of_schema and it.key not in uncompiled]
        for command in (scope.build, *scope.checks.values()) if alone and time.monotonic() < end else ():
            if not passes(scope, command):
                give_up(f"the unchanged sources fail: {' '.join(command)}")
        for mutant in alone:
            if time.monotonic() < end:
                keep(mutant, judge(mutant))


def keep(mutant: Mutant, judged: tuple[str, str]):
    verdict, by = judged
    store(stored() | {mutant.key: [mutant.scope, verdict, by]})
    print(f"{verdict:10} {by:16} {mutant.name}", file=sys.stderr, flush=True)


def forget_others(mutants: list[Mutant]):
    """Verdicts of mutants that there are no more."""
    keys, scopes = {it.key for it in mutants}, {it.scope for it in mutants}
    verdicts = stored()
    kept = {key: row for key, row in verdicts.items() if row[0] not in scopes or key in keys}
    if kept != verdicts:
        store(kept)


def explained(mutant: Mutant, entries: list[dict]) -> str | None:
    """An entry has the key, the file, the change in cargo-mutants' words, and the reason."""
    return next((it["reason"] for it in entries if it["key"] == mutant.key), None)


def report(mutants: list[Mutant], entries: list[dict]) -> int:
    results = stored()
    counts, open_ones = {scope: Counter() for scope in SCOPES}, []
    for mutant in mutants:
        _, verdict, _ = results.get(mutant.key, [mutant.scope, "not run", ""])
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
        if options.sample == 1:
            forget_others(mutants)
        run(mutants, options.seconds, options.again)
    return report(mutants, entries)


if __name__ == "__main__":
    sys.exit(main())
