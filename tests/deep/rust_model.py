"""Writes the package that tests mutants of the model: the harness's model and scenarios with their tests, without the backends.

It has the name of the harness, so that its tests compile as they are.
"""

import json
import shutil
import tomllib
from pathlib import Path

# What the model and the scenarios need, and what their tests need beside it, with features that the workspace does not name.
NEEDS = {"hex": ["std"], "serde": ["std"], "serde_json": [], "serde_path_to_error": [], "thiserror": ["std"]}
TESTS_NEED = {"tempfile": []}
MANIFEST = """[package]
name = "concord-harness"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[lib]
doctest = false
test = false

[profile.dev]
debug = false

[profile.dev.package."*"]
opt-level = 2

[[test]]
name = "model"
path = "../harness/tests/model/mod.rs"

[dependencies]
concord-canonical = {{ path = "../canonical", features = ["json", "sign"] }}
alloy = {{ package = "alloy-core", version = "{alloy_core}", default-features = false, features = ["std"] }}
{needs}

[dev-dependencies]
{tests_need}
"""
LIB = """#[path = "../../harness/src/model/mod.rs"]
pub mod model;
#[path = "../../harness/src/scenario/mod.rs"]
pub mod scenario;
"""


def write(root: Path, folder: Path):
    """The workspace's versions, and its lock file: cargo drops what this package does not need."""
    shared = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["dependencies"]
    locked = tomllib.loads((root / "Cargo.lock").read_text())["package"]

    def line(name: str, features: list[str]) -> str:
        spec = shared[name] if isinstance(shared[name], dict) else {"version": shared[name]}
        is_default = json.dumps(spec.get("default-features", True))
        wanted = json.dumps([*spec.get("features", []), *features])
        return f'{name} = {{ version = "{spec["version"]}", default-features = {is_default}, features = {wanted} }}'

    manifest = MANIFEST.format(
        alloy_core=next(package["version"] for package in locked if package["name"] == "alloy-core"),
        needs="\n".join(line(*need) for need in NEEDS.items()),
        tests_need="\n".join(line(*need) for need in TESTS_NEED.items()),
    )
    texts = {"Cargo.toml": manifest, "src/lib.rs": LIB}
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)
    shutil.copy(root / "Cargo.lock", folder)
