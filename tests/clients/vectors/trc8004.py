"""trc8004-m2m: hashes, and the JSON text that it hashes."""

import json

from trc8004_m2m.utils import canonical_json, keccak256_hex, sha256_hex

from protocol import octets, serve


def jcs(text):
    """It takes values: the text is read by json.loads, as its callers do."""
    canonical = canonical_json(json.loads(text))
    return {"canonical": canonical.decode(), "hash": keccak256_hex(canonical)}


serve(
    {
        "keccak256": lambda data: keccak256_hex(octets(data)),
        "sha256": lambda data: sha256_hex(octets(data)),
        "jcs": jcs,
    }
)
