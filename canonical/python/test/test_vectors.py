"""Every vector of tests/vectors through the installed package: results and error classes."""

import json
import unittest
from pathlib import Path

import concord_canonical
from concord_canonical import ERROR_CLASSES, FUNCTIONS, CanonicalError

VECTORS = Path(__file__).resolve().parents[3] / "tests" / "vectors"
NOT_ARGUMENTS = ("id", "comment", "flags", "fn", "ok", "error")


def read(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


def arguments(vector):
    given = {name: value for name, value in vector.items() if name not in NOT_ARGUMENTS}
    # These functions take the members of the protocol's query as arguments of their own.
    return given | given.pop("query") if vector["fn"] in ("summary", "summary_part") and "query" in given else given


def outcome(vector):
    try:
        return {"ok": getattr(concord_canonical, vector["fn"])(**arguments(vector))}
    except TypeError:  # Python refuses a missing or an unknown argument by itself
        assert "Request" in vector["flags"], vector["id"]
        return {"error": "BadRequest"}
    except CanonicalError as refused:
        assert refused.error_class in ERROR_CLASSES and str(refused), vector["id"]
        return {"error": refused.error_class}


def plain(expected, found):
    """The expected result with decimal text as the integer that the package gives for it."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {name: plain(value, found.get(name)) for name, value in expected.items()}
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [plain(one, other) for one, other in zip(expected, found)]
    return int(expected) if isinstance(expected, str) and isinstance(found, int) else expected


class Vectors(unittest.TestCase):
    def test_every_vector(self):
        for name in FUNCTIONS:
            vectors = read(name)["vectors"]
            self.assertTrue(vectors, name)
            for vector in vectors:
                if None in arguments(vector).values():
                    continue  # absent here, where the protocol has a null to refuse
                found = outcome(vector)
                expected = {"ok": plain(vector["ok"], found.get("ok"))} if "ok" in vector else {"error": vector["error"]}
                self.assertEqual(found, expected, vector["id"])

    def test_has_every_function_that_the_schema_lists(self):
        listed = read("schema")["$defs"]["oracleFunction"]["enum"]
        self.assertEqual(sorted(FUNCTIONS), sorted(listed))
        for name in FUNCTIONS:
            self.assertIn(name, concord_canonical.__all__)


if __name__ == "__main__":
    unittest.main()
