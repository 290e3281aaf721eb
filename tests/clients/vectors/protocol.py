"""The oracle's protocol for the functions of a library: one JSON request a line on stdin, one answer a line on stdout."""

import json
import sys


class Unsupported(Exception):
    """The library has the function, but not for this request."""


def octets(text):
    return bytes.fromhex(text.removeprefix("0x"))


def hexadecimal(data):
    return "0x" + bytes(data).hex()


def _outcome(function, arguments):
    try:
        return {"ok": function(**arguments)}
    except Unsupported:
        return {"error": {"class": "Unsupported"}}
    except Exception:  # whatever a library raises is a refusal without a class of the protocol
        return {"error": {"class": "Refused"}}


def serve(functions):
    """Answers until stdin ends. `functions` has one entry for each declared function of the protocol."""
    for line in sys.stdin:
        request = json.loads(line)
        identifier, name = request.pop("id"), request.pop("fn")
        answer = {"ok": list(functions)} if name == "functions" else _outcome(functions[name], request)
        print(json.dumps({"id": identifier, **answer}), flush=True)
