#!/usr/bin/env python3
"""Changes contracts/src in small ways and runs Foundry's tests on each change: one that no test notices is a survivor.

usage: mutate.py [--file PART] [--since COMMIT] [--sample N] [--seconds N] [--workers N] [--list] [--table]

  --file PART    only files whose path contains PART
  --since COMMIT only functions, and lines outside of them, that no file of contracts/src had at COMMIT
  --sample N     only every N-th mutant
  --seconds N    start no mutant after so many seconds; a later run goes on where this one ended
  --list         print the mutants and stop
  --table        print the results so far as a table and stop

Exit code 0: no survivor but those of equivalent-mutants.json; 1: others, or mutants that were not run; 2: an entry of that file meets no mutant, or the
unchanged sources fail. Results, one JSON line a mutant, are in $CONCORD_CACHE/deep/mutation/results.jsonl; a killed mutant
is not run again unless only the time limit killed it, a survivor is, when a test has changed.

How it is fast: the tests are built once. They deploy the contracts from their artifacts (dynamic_test_linking), so that a
mutant means compiling the contracts it is in, without the optimizer, and exchanging their bytecode. Test contracts that
compile a library in are compiled again too.
"""

import argparse
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from mutants import Mutant, mutants_of, passages

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("CONCORD_CACHE", ROOT / ".cache"))
WORK = CACHE / "deep" / "mutation"
RESULTS = WORK / "results.jsonl"
EQUIVALENT = Path(__file__).with_name("equivalent-mutants.json")
TEST_SECONDS = 120  # at least, before a mutant counts as one that never ends
COMPILE_SECONDS = 600  # a mutant can keep the compiler busy for ever: such a one has no bytecode to test
TIME_LIMIT = "time limit"  # the name of the killer then: a busy machine's, perhaps, so such a mutant is tried again
ENVIRONMENT = os.environ | {
    "PATH": f"{CACHE}/bin:{os.environ['PATH']}",
    "CONCORD_CACHE": str(CACHE),
    "FOUNDRY_DENY": "never",
    "FOUNDRY_OPTIMIZER": "false",
    "FOUNDRY_FUZZ_RUNS": "64",
    "FOUNDRY_INVARIANT_RUNS": "8",
}
# An invariant's own check that it did something may fail because a changed contract leads the fuzzer elsewhere.
VACUITY = "assertion failed: 0 <= 0"


class Tree:
    """A copy of the sources with built tests, in which one mutant at a time is tried."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.ignored = ""
        self.seconds = None  # of one run of the tests, at most

    def copy_sources(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "contracts").mkdir(parents=True)
        for name in ("src", "test", "snapshots", "abi"):
            shutil.copytree(ROOT / "contracts" / name, self.folder / "contracts" / name)
        for name in ("docs", "scripts", "tests"):
            shutil.copytree(ROOT / name, self.folder / name)
        shutil.copy(ROOT / "foundry.toml", self.folder)
        os.symlink((ROOT / "contracts" / "lib").resolve(), self.folder / "contracts" / "lib")

    def build(self):
        built = self._run(["forge", "build", "--skip", "contracts/test/symbolic/**"])
        if built.returncode != 0:
            sys.exit(f"mutate: the unchanged contracts do not build: {built.stdout}{built.stderr}")

    def failing_tests(self, *options: str) -> dict[str, str]:
        """The tests that fail, each with its reason."""
        shutil.rmtree(self.folder / "contracts" / "cache" / "invariant", ignore_errors=True)  # not the failures of before
        shutil.rmtree(self.folder / "contracts" / "cache" / "fuzz", ignore_errors=True)
        skipped = ["--no-match-test", self.ignored] if self.ignored else []
        try:
            run = self._run(["forge", "test", "--json", *skipped, *options], timeout=self.seconds)
        except subprocess.TimeoutExpired:
            return {TIME_LIMIT: f"{self.seconds:.0f} s"}
        try:
            suites = json.loads(run.stdout[run.stdout.index("{") :])
        except ValueError:
            sys.exit(f"mutate: forge test gave no results: {run.stdout[-500:]}{run.stderr[-500:]}")
        return {
            name.split("(")[0]: result.get("reason") or ""
            for suite in suites.values()
            for name, result in suite["test_results"].items()
            if result["status"] == "Failure"
        }

    def compile(self, changed: str, source: str) -> tuple[dict, str]:
        """Bytecode by (file, contract), or the compiler's first error."""
        files = [file for file in self._artifact_files() if changed in self._linked(file) or file == changed]
        sources = self._closure(files, {changed: source})
        request = {
            "language": "Solidity",
            "sources": {file: {"content": text} for file, text in sources.items()},
            "settings": {
                "remappings": [f"{prefix}={target}" for prefix, target in self._remappings()],
                "optimizer": {"enabled": False},
                "viaIR": True,
                "evmVersion": "cancun",
                "metadata": {"bytecodeHash": "none", "appendCBOR": False},
                "outputSelection": {file: {"*": ["evm.bytecode", "evm.deployedBytecode"]} for file in files},
            },
        }
        # A mutant is compiled once; what forge asks for, it asks for again with each mutant.
        solc, uncached = ["scripts/toolchain/solc", "--standard-json"], {"CONCORD_SOLC_CACHE": "off"}
        try:
            run = self._run(solc, uncached, input=json.dumps(request), timeout=COMPILE_SECONDS)
        except subprocess.TimeoutExpired:
            return {}, f"the compiler did not end within {COMPILE_SECONDS} s"
        answer = json.loads(run.stdout)
        errors = [error["message"] for error in answer.get("errors", []) if error["severity"] == "error"]
        if errors:
            return {}, errors[0]
        found = answer["contracts"]
        return {(file, name): found[file][name]["evm"] for file in files for name in found.get(file, {})}, ""

    def exchange(self, compiled: dict) -> list[tuple[Path, str]]:
        """Puts the bytecode into the artifacts; returns what stood there."""
        before = []
        for (file, name), evm in compiled.items():
            path = self.folder / "contracts" / "out" / Path(file).name / f"{name}.json"
            text = path.read_text()
            before.append((path, text))
            artifact = json.loads(text)
            for kind in ("bytecode", "deployedBytecode"):
                artifact[kind]["object"] = "0x" + evm[kind]["object"]
                for key in ("sourceMap", "linkReferences", "immutableReferences"):
                    if key in artifact[kind]:
                        artifact[kind][key] = evm[kind][key]
            path.write_text(json.dumps(artifact, separators=(",", ":"), ensure_ascii=False))
        return before

    def judge(self, changed: str, source: str) -> tuple[str, str]:
        """killed, survived or uncompiled; and by what."""
        compiled, error = self.compile(changed, source)
        if error:
            return "uncompiled", error
        before = self.exchange(compiled)
        try:
            killers = self.killers()
            return ("killed", killers) if killers else ("survived", "")
        finally:
            for path, text in before:
                path.write_text(text)

    def killers(self) -> str:
        """The first tests that fail on what stands in the artifacts now."""
        for options in (["--no-match-contract", "Invariant"], ["--match-contract", "Invariant"]):
            failing = self.failing_tests("--fail-fast", *options)
            killers = {test: reason for test, reason in failing.items() if reason != VACUITY}
            if killers:
                return "; ".join(sorted(killers)[:3])
        return ""

    def _artifact_files(self):
        src = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob("contracts/src/*.sol"))
        tests = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob("contracts/test/**/*.t.sol"))
        return src + [file for file in tests if "/symbolic/" not in file]

    def _linked(self, file: str) -> set[str]:
        """The files whose code is in the artifacts of `file`: a test has no contract of ours in it, unless it inherits it."""
        in_test = "/test/" in file
        seen, todo = set(), [file]
        while todo:
            at = todo.pop()
            if at in seen or not at.startswith("contracts/") or at.startswith("contracts/lib/"):
                continue
            seen.add(at)
            text = (self.folder / at).read_text()
            for imported in self._imports(at, text):
                is_contract = re.fullmatch(r"contracts/src/[^/]+\.sol", imported) is not None
                inherits = re.search(rf"\bis\b[^{{;]*\b{Path(imported).stem}\b", text) is not None
                if not (in_test and is_contract) or inherits:
                    todo.append(imported)
        return seen

    def _closure(self, files: list[str], changed: dict[str, str]) -> dict[str, str]:
        sources, todo = {}, list(files)
        while todo:
            file = todo.pop()
            if file not in sources:
                sources[file] = changed.get(file) or (self.folder / file).read_text()
                todo += self._imports(file, sources[file])
        return sources

    def _imports(self, file: str, text: str) -> list[str]:
        found = []
        for name in re.findall(r"^import\s[^;]*?\"([^\"]+)\";", text, re.M):
            if name.startswith("."):
                found.append(os.path.normpath(os.path.join(os.path.dirname(file), name)))
                continue
            for prefix, target in self._remappings():
                if name.startswith(prefix):
                    found.append(target + name[len(prefix) :])
        return found

    def _remappings(self):
        return re.findall(r'^  "([^"=]+)=([^"]+)",$', (self.folder / "foundry.toml").read_text(), re.M)

    def _run(self, command, variables=None, **options):
        command = [str(self.folder / command[0]) if "/" in command[0] else command[0], *command[1:]]
        return subprocess.run(command, cwd=self.folder, env=ENVIRONMENT | (variables or {}), text=True, capture_output=True, **options)


def all_mutants(part: str) -> list[Mutant]:
    files = [*ROOT.glob("contracts/src/*.sol"), *ROOT.glob("contracts/src/**/*.sol")]
    names = sorted({file.relative_to(ROOT).as_posix() for file in files})
    return [
        mutant
        for name in names
        if "/interfaces/" not in name and part in name
        for mutant in mutants_of(name, (ROOT / name).read_text())
    ]


def changed_since(commit: str, mutants: list[Mutant]) -> list[Mutant]:
    """Those in a function, or on a line outside of one, that stood nowhere in contracts/src at `commit`."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True, check=True).stdout

    before = set()
    for name in git("ls-tree", "-r", "--name-only", commit, "contracts/src").splitlines():
        before |= set(passages(git("show", f"{commit}:{name}")).values())
    now = {name: passages((ROOT / name).read_text()) for name in {mutant.file for mutant in mutants}}
    return [mutant for mutant in mutants if now[mutant.file][mutant.line] not in before]


def tests_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(ROOT.glob("contracts/test/**/*")):
        if path.is_file() and "symbolic" not in path.parts:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def stored_results() -> dict[str, dict]:
    if not RESULTS.exists():
        return {}
    return {result["key"]: result for result in map(json.loads, RESULTS.read_text().splitlines())}


def give_up(sentence: str):
    print(f"mutate: {sentence}", file=sys.stderr)
    sys.exit(2)


def prepared_trees(workers: int) -> list[Tree]:
    """The unchanged contracts, compiled as a mutant is, must pass: else every mutant would count as killed."""
    first = Tree(WORK / "tree-0")
    first.copy_sources()
    first.build()
    failing = first.failing_tests()
    if failing:  # such as tests that hold gas or bytecode to the optimizer's
        print(f"left out, as they fail without the optimizer: {', '.join(sorted(failing))}", file=sys.stderr)
        first.ignored = "^(" + "|".join(sorted(failing)) + r")\("  # forge matches names with their arguments
    for file in sorted(first.folder.glob("contracts/src/*.sol")):
        name = file.relative_to(first.folder).as_posix()
        compiled, error = first.compile(name, file.read_text())
        if error:
            give_up(f"{name}, unchanged, does not compile: {error}")
        first.exchange(compiled)
    start = time.monotonic()
    killers = first.killers()
    if killers:
        give_up(f"the unchanged contracts, compiled as a mutant is, fail: {killers}")
    first.seconds = max(TEST_SECONDS, 5 * (time.monotonic() - start))  # a busy machine is not a killer
    trees = [first]
    for number in range(1, workers):
        other = Tree(WORK / f"tree-{number}")
        shutil.rmtree(other.folder, ignore_errors=True)
        shutil.copytree(first.folder, other.folder, symlinks=True)
        other.ignored, other.seconds = first.ignored, first.seconds
        trees.append(other)
    return trees


def run(mutants: list[Mutant], workers: int, seconds: float):
    tests, results = tests_hash(), stored_results()
    todo = queue.Queue()
    for mutant in sorted(mutants, key=lambda mutant: mutant.key):  # so that a run cut short is a sample of every file
        known = results.get(mutant.key)
        if known is None or known["why"] == TIME_LIMIT or (known["verdict"] == "survived" and known["tests"] != tests):
            todo.put(mutant)
    if todo.empty():
        return
    lock = threading.Lock()

    def work(tree: Tree):
        while time.monotonic() < end:
            try:
                mutant = todo.get_nowait()
            except queue.Empty:
                return
            verdict, why = tree.judge(mutant.file, mutant.source)
            result = {"key": mutant.key, "file": mutant.file, "line": mutant.line, "operator": mutant.operator}
            result |= {"before": mutant.before, "after": mutant.after, "verdict": verdict, "why": why, "tests": tests}
            with lock, RESULTS.open("a") as lines:
                lines.write(json.dumps(result) + "\n")
            print(f"{verdict:10} {mutant.file}:{mutant.line} {mutant.operator}: {mutant.after}", file=sys.stderr, flush=True)

    trees = prepared_trees(workers)
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=work, args=(tree,)) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def equivalent_reason(mutant: Mutant, entries: list[dict]) -> str | None:
    for entry in entries:
        if (entry["file"], entry["before"], entry["after"]) == (mutant.file, mutant.before, mutant.after):
            return entry["reason"]
    return None


def table(mutants: list[Mutant], results: dict, entries: list[dict]) -> str:
    rows = ["| file | mutants | do not compile | killed | justified | survived | not run |", "|---|---|---|---|---|---|---|"]
    total = Counter()
    for file in sorted({mutant.file for mutant in mutants}):
        count = Counter(verdict_of(mutant, results, entries) for mutant in mutants if mutant.file == file)
        total += count
        rows.append(_row(file.removeprefix("contracts/src/"), count))
    operators = ["| operator | mutants | do not compile | killed | justified | survived | not run |", "|---|---|---|---|---|---|---|"]
    for operator in sorted({mutant.operator for mutant in mutants}):
        operators.append(_row(operator, Counter(verdict_of(m, results, entries) for m in mutants if m.operator == operator)))
    return "\n".join([*rows, _row("all", total), "", *operators])


def _row(name: str, count: Counter) -> str:
    verdicts = ("uncompiled", "killed", "justified", "survived", "not run")
    return f"| {name} | {count.total()} | " + " | ".join(str(count[verdict]) for verdict in verdicts) + " |"


def verdict_of(mutant: Mutant, results: dict, entries: list[dict]) -> str:
    result = results.get(mutant.key)
    if result is None:
        return "not run"
    if result["verdict"] == "survived" and equivalent_reason(mutant, entries):
        return "justified"
    return result["verdict"]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--file", default="")
    arguments.add_argument("--since", metavar="COMMIT")
    arguments.add_argument("--sample", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=86_400)
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--table", action="store_true")
    given = arguments.parse_args()

    every = all_mutants(given.file)
    if given.since:
        every = changed_since(given.since, every)
    mutants = every[:: given.sample]
    if given.list:
        for mutant in mutants:
            print(f"{mutant.file}:{mutant.line} {mutant.operator}: {mutant.before}  ->  {mutant.after}")
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    if not given.table:
        run(mutants, given.workers, given.seconds)

    entries, results = json.loads(EQUIVALENT.read_text()), stored_results()
    print(table(mutants, results, entries))
    survivors = [mutant for mutant in mutants if verdict_of(mutant, results, entries) == "survived"]
    for mutant in survivors:
        print(f"survived: {mutant.file}:{mutant.line} {mutant.operator}: {mutant.before}  ->  {mutant.after}")
    known = {(mutant.file, mutant.before, mutant.after) for mutant in all_mutants("")}
    stale = [entry for entry in entries if (entry["file"], entry["before"], entry["after"]) not in known]
    for entry in stale:
        print(f"{EQUIVALENT.name}: no mutant is {entry['file']}: {entry['after']}")
    is_complete = all(mutant.key in results for mutant in mutants)
    return 2 if stale else 0 if is_complete and not survivors else 1


if __name__ == "__main__":
    sys.exit(main())
