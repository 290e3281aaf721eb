"""Compiles many changes of Rust sources at once: each changed function has every form of its body, and the environment chooses.

A change that cannot be one of several forms is compiled alone: of a `const fn`, of a function that returns an opaque type.
"""

import json
import os
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

CHOICE = "CONCORD_MUTANT"
ROUNDS_MAX = 20  # each takes changes out that do not compile
# The crates under test have no std.
CHOOSER = f"""
#[cfg(not(target_os = "solana"))]
#[doc(hidden)]
#[allow(missing_docs, clippy::all)]
pub fn chosen_mutant() -> usize {{
    extern crate std;
    static CHOICE: std::sync::LazyLock<usize> = std::sync::LazyLock::new(|| {{
        std::env::var("{CHOICE}").ok().and_then(|it| it.parse().ok()).unwrap_or(0)
    }});
    *CHOICE
}}
"""


def patched(text: str, diff: str) -> str | None:
    """The text after a diff of one hunk; None if it does not fit."""
    lines = diff.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("@@"))
    start = int(re.match(r"@@ -(\d+)", lines[at]).group(1)) - 1
    hunk = lines[at + 1 :]
    before = [line[1:] for line in hunk if line[:1] in (" ", "-", "")]
    after = [line[1:] for line in hunk if line[:1] in (" ", "+", "")]
    source = text.splitlines()
    if source[start : start + len(before)] != before:
        return None
    return "\n".join(source[:start] + after + source[start + len(before) :]) + "\n"


def offset(text: str, place: dict) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1


def body_of(text: str, function: dict) -> tuple[int, int] | None:
    """Where the function's body begins and ends, with its braces; None for a `const fn`, which reads no environment, and if it
    returns an opaque type, which all forms would have to be of."""
    start, end = offset(text, function["span"]["start"]), offset(text, function["span"]["end"])
    found = re.compile(r"^[^\n/#]*?\bfn\s+\w+", re.MULTILINE).search(text, text.rfind("\n", 0, start) + 1, end)
    if found is None or re.search(r"\bconst\b[^(]*\bfn\b", found.group()) or text[end - 1 : end] != "}":
        return None
    depth = 0  # `[u8; { N }]` is a type
    for at in range(found.end(), end):
        depth += (text[at] in "([") - (text[at] in ")]")
        if depth == 0 and text[at] in "{;":
            is_opaque = re.search(r"->.*\bimpl\b", text[found.end() : at], re.DOTALL)
            return (at, end) if text[at] == "{" and not is_opaque else None
    return None


@dataclass(frozen=True)
class Program:
    """A compiled test program, as cargo would run it."""

    name: str
    command: list[str]
    folder: Path

    def passes(self, environment: dict, seconds: float) -> bool:
        of_package = {"CARGO_MANIFEST_DIR": str(self.folder)}
        try:
            run = subprocess.run(
                self.command, cwd=self.folder, env=environment | of_package, capture_output=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return False
        return run.returncode == 0


class Schema:
    """The sources of a scope with all of its mutants. `of` has the number that chooses each one, by key."""

    def __init__(self, tree: Path, root: str, mutants: list):
        self.tree, self.root = tree, root  # root: the file of the crate where the chooser goes
        self.of: dict[str, int] = {}
        self.uncompiled: set[str] = set()
        self.arms: dict[str, dict[tuple[int, int], dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
        self.sources = {name: (tree / name).read_text() for name in {root, *(it.file for it in mutants)}}
        for number, mutant in enumerate(mutants, 1):
            self.add(number, mutant)
        for file, bodies in self.arms.items():
            self.drop_nested(file, bodies)

    def add(self, number: int, mutant):
        text = self.sources[mutant.file]
        body = body_of(text, mutant.function) if mutant.function else None
        after = patched(text, mutant.diff)
        if body is None or after is None:
            return
        rest = len(text) - body[1]
        if after[: body[0]] != text[: body[0]] or after[len(after) - rest :] != text[body[1] :]:
            return
        self.arms[mutant.file][body][number] = after[body[0] : len(after) - rest]
        self.of[mutant.key] = number

    def drop(self, numbers: set[int]):
        self.of = {key: number for key, number in self.of.items() if number not in numbers}
        for bodies in self.arms.values():
            for arms in bodies.values():
                for number in numbers & set(arms):
                    del arms[number]

    def drop_nested(self, file: str, bodies: dict):
        """A function inside another one, whose forms hold it."""
        for inner in bodies:
            if any(outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1] for outer in bodies):
                self.drop(set(bodies[inner]))

    def write(self) -> dict[str, list[tuple[int, int, int]]]:
        """Writes the sources, and answers which lines are of which mutant."""
        places = defaultdict(list)
        for file, text in self.sources.items():
            out = ""
            last = 0
            for (start, end), arms in sorted(self.arms.get(file, {}).items()):
                out += text[last:start]
                if arms:
                    out += "{ match crate::chosen_mutant() {\n"
                    for number, body in sorted(arms.items()):
                        first = out.count("\n") + 1
                        out += f"{number} => {body},\n"
                        places[file].append((first, out.count("\n"), number))
                    out += f"_ => {text[start:end]} }} }}"
                else:
                    out += text[start:end]
                last = end
            out += text[last:]
            (self.tree / file).write_text(out + (CHOOSER if file == self.root else ""))
        return places

    def restore(self):
        for file, text in self.sources.items():
            (self.tree / file).write_text(text)

    def compile(self, command: list[str], folder: Path, environment: dict) -> list[Program] | None:
        """The test programs; None if the sources do not compile at all."""
        for _ in range(ROUNDS_MAX):
            places = self.write()
            cargo = [*command, "--message-format=json"]
            run = subprocess.run(cargo, cwd=folder, env=environment, text=True, capture_output=True)
            messages = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
            if run.returncode == 0:
                return programs(messages)
            wrong = self.blamed(messages, places, folder)
            if not wrong:
                return None
            self.uncompiled |= {key for key, number in self.of.items() if number in wrong}
            self.drop(wrong)
        return None

    def blamed(self, messages: list[dict], places: dict, folder: Path) -> set[int]:
        """The mutants in whose lines there are errors."""
        numbers = set()
        for message in messages:
            found = message.get("message", {})
            if message["reason"] != "compiler-message" or found.get("level") != "error":
                continue
            for span in found["spans"]:
                file = os.path.relpath(os.path.normpath(folder / span["file_name"]), self.tree)
                line = span["line_start"]
                numbers |= {number for first, last, number in places.get(file, []) if first <= line <= last}
        return numbers


def programs(messages: list[dict]) -> list[Program]:
    """Every test program that was built."""
    built = [it for it in messages if it["reason"] == "compiler-artifact" and it["executable"] and it["profile"]["test"]]
    return [Program(it["target"]["name"], [it["executable"]], Path(it["manifest_path"]).parent) for it in built]
