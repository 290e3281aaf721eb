"""Builds the Solana program twice, as two people would who share nothing but the sources, and compares the bytes.

usage: same_program.py TOOLCHAIN FOLDER

One has the toolchain inside of the clone, HOME and CARGO_HOME as they are here, and builds all programs. The other has the
clone at a longer path, the toolchain outside of it, another HOME, CARGO_HOME and target folder, variables that set Cargo's
profile and flags, and builds the one program alone with --out. Prints the SHA-256. Exit code 1 if the two differ.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "target/deploy/agent_registry.so"


def copy_sources(destination):
    """Copies every file that git knows, as it is now."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in names.rstrip("\0").split("\0"):
        (destination / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():  # canonical/vectors is a link to a folder
            shutil.copy2(ROOT / name, destination / name, follow_symlinks=False)
    return destination


def copy_toolchain(toolchain, cache):
    """Puts the toolchain into another cache: hard links, because it has 700 MB."""
    cache.mkdir(parents=True)
    subprocess.run(["cp", "-al", toolchain, cache / "solana"], check=True)
    return cache


def build(clone, environment, *arguments):
    command = [clone / "scripts/build-program", *arguments]
    subprocess.run(command, env=environment, check=True, stdout=sys.stderr)


def digest(program):
    return hashlib.sha256(program.read_bytes()).hexdigest()


def builder_here(folder, toolchain):
    clone = copy_sources(folder / "one")
    cache = copy_toolchain(toolchain, clone / ".cache")
    environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
    build(clone, environment | {"CONCORD_CACHE": str(cache)})
    return digest(clone / PROGRAM)


def builder_elsewhere(folder, toolchain):
    clone = copy_sources(folder / "a much longer name" / "of another's clone")
    home = folder / "home"
    cargo_home = home / "cargo"
    cargo_home.mkdir(parents=True)
    here = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    (cargo_home / "registry").symlink_to(here / "registry")  # the crates need not be downloaded again
    environment = os.environ | {
        "HOME": str(home),
        "CARGO_HOME": str(cargo_home),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
        "CONCORD_CACHE": str(copy_toolchain(toolchain, folder / "tools")),
        "CARGO_TARGET_DIR": str(folder / "built"),
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
        "CARGO_INCREMENTAL": "1",
        "RUSTFLAGS": "-C opt-level=1",
        "LC_ALL": "C",
        "TZ": "Asia/Kathmandu",
    }
    program = folder / "elsewhere.so"
    build(clone, environment, "--out", str(program))
    return digest(program)


def main():
    toolchain, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    one, other = builder_here(folder, toolchain), builder_elsewhere(folder, toolchain)
    print(f"agent_registry.so: SHA-256 {one} in one folder")
    print(f"agent_registry.so: SHA-256 {other} in another")
    if one != other:
        sys.exit(f"the program's bytes depend on where it is built: compare the two in {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
