use super::{Document, Scenario, check, layout, timeline};
use concord_canonical::json;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What is wrong with a scenario file, and where.
#[derive(Debug, thiserror::Error)]
#[error("{}: {path}: {message}", .file.display())]
pub struct ScenarioFault {
    pub file: PathBuf,
    /// JSON path of the value that is at fault, such as `steps[2].do.register.uri`.
    pub path: String,
    pub message: String,
}

impl ScenarioFault {
    pub(super) fn new(file: &Path, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            path: path.into(),
            message: message.into(),
        }
    }
}

/// Reads and checks a scenario. Every expectation must be filled in.
///
/// # Errors
/// The first fault, with file and JSON path.
pub fn load(file: &Path) -> Result<Scenario, ScenarioFault> {
    let document = load_document(file)?;
    check::expectations_filled(&document)
        .map_err(|(path, message)| ScenarioFault::new(file, path, message))?;
    timeline::build(&document, file)
}

/// Reads a scenario file as it is, checking no more than its shape.
///
/// # Errors
/// An unreadable file, text that is not JSON, or a value of the wrong shape.
pub fn load_document(file: &Path) -> Result<Document, ScenarioFault> {
    let text = fs::read_to_string(file)
        .map_err(|fault| ScenarioFault::new(file, "$", format!("cannot be read: {fault}")))?;
    let mut reader = serde_json::Deserializer::from_str(&text);
    let document = serde_path_to_error::deserialize(&mut reader).map_err(|fault| {
        let path = match fault.path().iter().next() {
            Some(_) if fault.inner().is_data() => fault.path().to_string(),
            _ => "$".to_owned(), // text that is not JSON: the message has line and column
        };
        ScenarioFault::new(file, path, fault.inner().to_string())
    })?;
    reader
        .end()
        .map_err(|fault| ScenarioFault::new(file, "$", fault.to_string()))?;
    // R22: duplicate keys, which serde would take the last of.
    json::parse(&text).map_err(|fault| ScenarioFault::new(file, "$", fault.to_string()))?;
    Ok(document)
}

/// Writes a document in the one layout that `concord fill` leaves behind.
///
/// # Errors
/// The file cannot be written.
pub fn store_document(file: &Path, document: &Document) -> io::Result<()> {
    let text = layout::document(&serde_json::to_value(document)?);
    let partial = file.with_extension("json.partial");
    fs::write(&partial, text)?;
    fs::rename(partial, file)
}

/// Every scenario file in the areas of `folder`, which are its folders, by area and name.
///
/// # Errors
/// A folder cannot be read.
pub fn find_files(folder: &Path) -> Result<Vec<PathBuf>, ScenarioFault> {
    let mut files = Vec::new();
    for area in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
        let is_json = |path: &PathBuf| path.extension().is_some_and(|it| it == "json");
        files.extend(entries(&area)?.into_iter().filter(is_json));
    }
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ScenarioFault> {
    let fault =
        |fault: io::Error| ScenarioFault::new(folder, "$", format!("cannot be read: {fault}"));
    fs::read_dir(folder)
        .map_err(fault)?
        .map(|entry| Ok(entry.map_err(fault)?.path()))
        .collect()
}
