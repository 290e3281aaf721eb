"""Mutants of a Solidity source: small textual changes, each of which a test ought to notice.

Nothing is parsed: comments and strings are blanked out first, the rest is found by pattern. A change that makes no sense
does not compile and is counted as such.
"""

import hashlib
import re
from dataclasses import dataclass

REPLACEMENTS = {
    "relation": {
        "<": ["<=", ">="],
        "<=": ["<", ">"],
        ">": [">=", "<="],
        ">=": [">", "<"],
        "==": ["!="],
        "!=": ["=="],
    },
    "arithmetic": {
        "+": ["-"],
        "-": ["+"],
        "*": ["/"],
        "/": ["*"],
        "%": ["*"],
        "**": ["*"],
        "+=": ["-="],
        "-=": ["+="],
        "++": ["--"],
        "--": ["++"],
        "<<": [">>"],
        ">>": ["<<"],
        "&": ["|"],
        "|": ["&"],
        "^": ["&"],
    },
    "logic": {"&&": ["||"], "||": ["&&"]},
}
SYMBOLS = re.compile(r"=>|->|<<=|>>=|\*\*|\+\+|--|&&|\|\||[<>=!+\-*/%&|^]=|<<|>>|[<>+\-*/%&|^]")
COMMENT_OR_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
# What is declared rather than done.
DECLARATION = re.compile(r"\b(?:pragma|import|using|error|event)\b[^;{]*;")
NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?![\w.])")
STATEMENT_WITHOUT_MUTANT = re.compile(
    # a local variable, and what ends a function: without them it does not compile, or nothing else changes
    r"(?:return|break|continue)\b|\(?[A-Za-z_][\w.]*(?:\[\w*\])*(?:\s+(?:memory|storage|calldata))?\s+[A-Za-z_]\w*\s*(?:[=;,)]|$)"
)
CALL = re.compile(r"\b(?!constructor\b)[A-Za-z_]\w*\(")


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 1
    operator: str
    before: str  # the line, without its margin
    after: str
    source: str  # the whole file, changed

    @property
    def key(self) -> str:
        """Names the mutant in the results, whatever else changes in the tree, and whatever its comments say."""
        return hashlib.sha256(f"{self.file}\0{' '.join(_without_comments(self.source).split())}".encode()).hexdigest()[:16]


def mutants_of(file: str, source: str) -> list[Mutant]:
    blank = _blanked(source)
    edits = [*_symbols(blank), *_conditions(source, blank), *_constants(source, blank), *_statements(blank), *_swaps(source, blank)]
    found, seen = [], set()
    for operator, start, end, text in sorted(edits, key=lambda edit: (edit[1], edit[0], edit[3])):
        mutated = source[:start] + text + source[end:]
        if mutated == source or mutated in seen:
            continue
        seen.add(mutated)
        found.append(_mutant(file, source, operator, start, end, text, mutated))
    return found


def passages(source: str) -> dict[int, str]:
    """The text that each line (from 1) belongs to: its whole function, else the line alone; without comments and margins."""
    bare = _without_comments(source)
    found = {number: line for number, line in enumerate(bare.split("\n"), 1)}
    for head in re.finditer(r"\b(?:function|constructor|modifier)\b[^{};]*\{", bare):
        end = _closing(bare, head.end())
        for number in range(bare.count("\n", 0, head.start()) + 1, bare.count("\n", 0, end) + 2):
            found[number] = bare[head.start() : end + 1]
    return {number: " ".join(text.split()) for number, text in found.items()}


def _mutant(file, source, operator, start, end, text, mutated) -> Mutant:
    line_start = source.rfind("\n", 0, start) + 1
    line_end = source.find("\n", end)
    before = " ".join(source[line_start:line_end].split())
    after = " ".join((source[line_start:start] + text + source[end:line_end]).split())
    return Mutant(file, source.count("\n", 0, start) + 1, operator, before, after, mutated)


def _without_comments(source: str) -> str:
    """The source with its comments blank; a string that looks like one stays."""

    def blank(found):
        return found.group() if found.group()[0] in "\"'" else re.sub(r"[^\n]", " ", found.group())

    return COMMENT_OR_STRING.sub(blank, source)


def _blanked(source: str) -> str:
    """The source with the same length, comments, strings and declarations blank."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    return DECLARATION.sub(blank, COMMENT_OR_STRING.sub(blank, source))


def _symbols(blank):
    for match in SYMBOLS.finditer(blank):
        for operator, replacements in REPLACEMENTS.items():
            for text in replacements.get(match.group(), []):
                yield operator, match.start(), match.end(), text


def _conditions(source, blank):
    for match in re.finditer(r"\b(?:if|while|require)\s*\(", blank):
        end = next(_argument_ends(blank, match.end()))
        comparison = re.fullmatch(r"[^<>=!&|]*(?:==|!=|<=?|>=?)[^<>=!&|]*", blank[match.end() : end])
        if comparison:
            continue  # the relation's own mutants negate it
        yield "condition", match.end(), end, f"!({source[match.end():end]})"
    for match in re.finditer(r"\?", blank):
        start = max(blank.rfind(mark, 0, match.start()) for mark in ("return ", "= ", "(", ", ")) + 1
        yield "condition", start, match.start(), f" !({source[start:match.start()].strip()}) "


def _constants(source, blank):
    for match in NUMBER.finditer(blank):
        value = int(match.group().replace("_", ""))
        yield "constant", match.start(), match.end(), str(value + 1)
        if value > 0:
            yield "constant", match.start(), match.end(), str(value - 1)
    for match in re.finditer(r"\btrue\b|\bfalse\b", blank):
        yield "constant", match.start(), match.end(), "false" if match.group() == "true" else "true"
    for match in re.finditer(r"type\(\w+\)\.(max|min)\b", blank):
        yield "constant", match.start(), match.end(), f"({match.group()} {'-' if match.group(1) == 'max' else '+'} 1)"
    imports = [range(match.start(), match.end()) for match in re.finditer(r"\b(?:import|pragma)\b[^;]*;", source)]
    for match in COMMENT_OR_STRING.finditer(source):
        if match.group()[0] in "\"'" and not any(match.start() in inside for inside in imports):
            yield "constant", match.end() - 1, match.end() - 1, "x"


def _statements(blank):
    """Each statement of a function by itself: also the one after an `if`, so that a refusal is left out."""
    for body in re.finditer(r"\b(?:function|constructor|modifier)\b[^{};]*\{", blank):
        start, end = body.end(), _closing(blank, body.end())
        while start < end:
            head = re.compile(r"\s*(?:[{}]|else\b|unchecked\b|(?:if|for|while)\s*\()").match(blank, start)
            if head:
                start = head.end()
                if head.group().endswith("("):
                    start = _closing(blank, start) + 1
                continue
            stop = _statement_end(blank, start, end)
            text = blank[start:stop].strip()
            if text and not STATEMENT_WITHOUT_MUTANT.match(text):
                yield "statement", stop - len(blank[start:stop].lstrip()), stop + 1, "{}"
            start = stop + 1


def _swaps(source, blank):
    """Neighbouring arguments, exchanged: what does not compile has two types."""
    for match in CALL.finditer(blank):
        if re.search(r"\bfunction\s+$", blank[: match.start()]):
            continue
        start, arguments = match.end(), []
        for end in _argument_ends(blank, match.end()):
            arguments.append((start, end))
            start = end + 1
        for (a, b), (c, d) in zip(arguments, arguments[1:]):
            first, second = source[a:b].strip(), source[c:d].strip()
            if first and second and first != second and "//" not in first + second:
                yield "swap", a, d, f"{second}, {first}"


def _argument_ends(blank, start):
    """Where each argument ends, of the call whose bracket opened before `start`."""
    depth = 0
    for at in range(start, len(blank)):
        if depth == 0 and blank[at] in ",)":
            yield at
            if blank[at] == ")":
                return
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(blank[at], 0)


def _statement_end(blank, start, end):
    depth = 0
    for at in range(start, end):
        if depth == 0 and blank[at] == ";":
            return at
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(blank[at], 0)
    return end


def _closing(blank: str, start: int) -> int:
    """Where the bracket closes that was opened before `start`."""
    depth = 1
    for at in range(start, len(blank)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(blank[at], 0)
        if depth == 0:
            return at
    return len(blank)
