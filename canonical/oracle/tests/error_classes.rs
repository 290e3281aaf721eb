//! The packages' lists of error classes are the canonical crate's. `CONCORD_BLESS=1` writes them.
use concord_canonical::{ErrorClass, error_class};
use std::{env, fmt::Write as _, fs, path::Path};

fn assert_current(path: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if env::var_os("CONCORD_BLESS").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let path = path.display();
    assert_eq!(found, expected, "{path}: renew it with CONCORD_BLESS=1");
}

fn classes() -> impl Iterator<Item = &'static str> {
    error_class::ALL.iter().copied().map(ErrorClass::name)
}

#[test]
fn r25_typescript_has_every_error_class() {
    let mut text = String::from(
        "// Generated from the canonical crate by canonical/oracle/tests/error_classes.rs.\n\n\
         /** Every error class (R25). */\nexport const ERROR_CLASSES = [\n",
    );
    for class in classes() {
        writeln!(text, "  \"{class}\",").unwrap();
    }
    text.push_str("] as const;\n\n/** The name of the rule that a call broke (R25). */\n");
    text.push_str("export type ErrorClass = (typeof ERROR_CLASSES)[number];\n");
    assert_current("typescript/src/error-class.ts", &text);
}

#[test]
fn r25_python_has_every_error_class() {
    let mut text = String::from(
        "\"\"\"Every error class (R25). Generated from the canonical crate by canonical/oracle/tests/error_classes.rs.\"\"\"\n\n\
         from typing import Literal, get_args\n\nErrorClass = Literal[\n",
    );
    for class in classes() {
        writeln!(text, "    \"{class}\",").unwrap();
    }
    text.push_str("]\n\nERROR_CLASSES: tuple[str, ...] = get_args(ErrorClass)\n");
    assert_current("python/concord_canonical/error_class.py", &text);
}
