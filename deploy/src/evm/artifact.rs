use crate::DeployError;
use alloy::primitives::{B256, Bytes, keccak256};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// A contract as forge compiled it.
#[derive(Clone, Debug)]
pub struct Artifact {
    pub path: PathBuf,
    /// Without constructor arguments.
    pub creation_code: Bytes,
    /// With zeros where immutables will be.
    pub runtime_code: Bytes,
    /// Where each immutable is in the runtime code, by the compiler's number for it.
    pub immutables: BTreeMap<u64, Vec<Place>>,
    /// Such as `0.8.37+commit.f401782d`.
    pub compiler: String,
    /// The compiler's settings, as its metadata records them.
    pub settings: Value,
    /// The sources it was compiled from: path from the clone's root, keccak256 of the text.
    pub sources: BTreeMap<String, B256>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Place {
    pub start: usize,
    pub length: usize,
}

/// The parts of forge's artifact that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    bytecode: Bytecode,
    deployed_bytecode: DeployedBytecode,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Bytecode {
    object: Bytes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeployedBytecode {
    object: Bytes,
    #[serde(default)]
    immutable_references: BTreeMap<String, Vec<Place>>,
}

#[derive(Deserialize)]
struct Metadata {
    compiler: Compiler,
    settings: Value,
    sources: BTreeMap<String, Source>,
}

#[derive(Deserialize)]
struct Compiler {
    version: String,
}

#[derive(Deserialize)]
struct Source {
    keccak256: B256,
}

impl Artifact {
    /// Reads the artifact of a contract that has a file of its own name.
    ///
    /// # Errors
    /// [`DeployError::ArtifactMissing`], [`concord_chain::ChainError::File`].
    pub fn load(folder: &Path, contract: &str) -> Result<Self, DeployError> {
        let path = folder
            .join(format!("{contract}.sol"))
            .join(format!("{contract}.json"));
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeployError::ArtifactMissing(path.clone()),
            _ => unusable(&path, error),
        })?;
        let mut reader = serde_json::Deserializer::from_str(&text);
        let document: Document = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| unusable(&path, error))?;
        Self::of(path, document)
    }

    fn of(path: PathBuf, document: Document) -> Result<Self, DeployError> {
        let Document {
            bytecode,
            deployed_bytecode: runtime,
            metadata,
        } = document;
        let mut immutables = BTreeMap::new();
        for (number, places) in runtime.immutable_references {
            let number: u64 = number
                .parse()
                .map_err(|_| unusable(&path, format!("immutable `{number}` is not a number")))?;
            let fits = |place: &Place| {
                let end = place.start.checked_add(place.length);
                place.length == 32 && end.is_some_and(|end| end <= runtime.object.len())
            };
            if !places.iter().all(fits) {
                let reason = format!("immutable {number} is not a word inside the code");
                return Err(unusable(&path, reason));
            }
            immutables.insert(number, places);
        }
        let artifact = Self {
            creation_code: bytecode.object,
            runtime_code: runtime.object,
            immutables,
            compiler: metadata.compiler.version,
            settings: metadata.settings,
            sources: (metadata.sources.into_iter())
                .map(|(file, source)| (file, source.keccak256))
                .collect(),
            path,
        };
        artifact.require_reproducible()?;
        Ok(artifact)
    }

    /// Code with metadata in it would have other addresses in another folder.
    fn require_reproducible(&self) -> Result<(), DeployError> {
        let metadata = &self.settings["metadata"];
        if metadata["bytecodeHash"] == "none" && metadata["appendCBOR"] == false {
            Ok(())
        } else {
            Err(unusable(
                &self.path,
                "compiled with metadata in the bytecode: foundry.toml must have bytecode_hash = \"none\" and cbor_metadata = false",
            ))
        }
    }

    /// The text of every source, if it is still the one that was compiled. A plan calls no compiler, so it cannot
    /// be made for other sources, and needs no compiler.
    ///
    /// # Errors
    /// [`DeployError::ArtifactStale`] with the first source that is another.
    pub fn sources(&self, root: &Path) -> Result<BTreeMap<String, String>, DeployError> {
        let text = |(file, hash): (&String, &B256)| {
            fs::read_to_string(root.join(file))
                .ok()
                .filter(|text| keccak256(text) == *hash)
                .map(|text| (file.clone(), text))
                .ok_or_else(|| DeployError::ArtifactStale {
                    path: self.path.clone(),
                    source_file: file.clone(),
                })
        };
        self.sources.iter().map(text).collect()
    }
}

fn unusable(path: &Path, reason: impl ToString) -> DeployError {
    DeployError::file(path.to_owned(), reason.to_string())
}
