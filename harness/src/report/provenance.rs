use serde::Serialize;

/// What was checked, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    pub versions: Vec<Version>,
    pub artifacts: Vec<Artifact>,
    pub facts: Vec<Fact>,
}

/// A fact from the command line about a participant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub participant: String,
    pub name: String,
    pub value: String,
}

/// A tool that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    pub tool: String,
    pub version: String,
}

/// A built file that was checked, or code on a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Artifact {
    pub name: String,
    /// What was hashed, and how: `keccak256 of the creation bytecode`.
    pub kind: String,
    /// In hex, with 0x.
    pub hash: String,
}
