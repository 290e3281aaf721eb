use concord_explain::{Bundle, Explained, Trust, explain};
use serde_json::Value;
use std::{fs, path::Path};

/// The chain of the recorded bundles.
pub(crate) const CHAIN: &str = "eip155:31337";

/// Bundles with nothing wrong in them, whatever the profile and wherever the file is.
pub(crate) const SOUND: [&str; 5] = ["open", "hosted", "cid", "tree", "authorized"];

pub(crate) fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_str(&text(&format!("{name}.json"))).expect("JSON")
}

/// The recorded address book, and the anchor of a bundle as the trusted block.
pub(crate) fn trust(bundle: &Value) -> Trust {
    let mut trust = anchored(bundle);
    trust
        .add_address_book(&text("addresses.json"))
        .expect("an address book");
    trust
}

/// The anchor of a bundle as the trusted block, and no registry.
pub(crate) fn anchored(bundle: &Value) -> Trust {
    let mut trust = Trust::default();
    let anchor = bundle["evm"][CHAIN]["anchor"].as_str().expect("an anchor");
    let anchor = hex::decode(&anchor[2..]).expect("hex");
    trust.add_block(CHAIN, anchor.try_into().expect("32 bytes"));
    trust
}

/// Explains a bundle. A text that is not one is `None`.
pub(crate) fn explained(bundle: &Value, trust: &Trust) -> Option<Explained> {
    let bundle = Bundle::parse(&bundle.to_string()).ok()?;
    Some(explain(&bundle, trust).expect("it names a feedback"))
}
