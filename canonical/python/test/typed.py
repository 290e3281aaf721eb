"""Read by mypy --strict, never run: the package's types as callers see them."""

import concord_canonical as canonical

digest: str = canonical.keccak256(data=b"")
summary: canonical.Summary = canonical.summary(feedback=[], clients=["0x0000000000000000000000000000000000000001"])
value: int = summary["value"]
try:
    canonical.tag(text="x" * 33, encoding="hashed")
except canonical.CanonicalError as refused:
    error_class: canonical.ErrorClass = refused.error_class
