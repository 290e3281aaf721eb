use super::{AGREE, arguments::Files, error::CliError, files::scenario_files_to_write};
use concord_deploy::report::print_status;
use concord_harness::{report::plain, scenario};

/// `concord fill`: writes the model's expectations, and no others, into the files.
pub(super) fn fill(options: &Files) -> Result<u8, CliError> {
    for file in scenario_files_to_write(&options.scenario)? {
        let before = scenario::load_document(&file)?;
        let mut document = before.clone();
        scenario::fill(&mut document, &file)?;
        scenario::store_document(&file, &document).map_err(|fault| CliError::File {
            path: file.clone(),
            fault,
        })?;
        scenario::load(&file)?;
        let word = if document == before { "kept" } else { "filled" };
        print_status(plain(&format!("{word:8} {}", file.display())));
    }
    Ok(AGREE)
}
