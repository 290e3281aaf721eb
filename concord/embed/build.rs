//! Has a release build look again for files that were added: `include_bytes!` notices those that change.
use std::env;

/// From this folder.
const WATCHED: [&str; 7] = [
    "../../tests/scenarios",
    "../../tests/vectors",
    "../../contracts/out",
    "../../target/deploy",
    "../../target/explain.html",
    "../../.git/HEAD",
    "../../.git/logs/HEAD",
];

fn main() {
    let profile = env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=CONCORD_PROFILE={profile}");
    println!("cargo::rerun-if-changed=build.rs");
    if profile == "release" {
        for path in WATCHED {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}
