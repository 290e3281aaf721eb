//! A folder of Parquet files for each deployment, and a manifest beside them. Each file but the last has the same number of
//! rows, so that a folder is the same however often its export was interrupted. A file appears whole: a reader of
//! `*.parquet` meets every event once.
use super::{
    CliError, Row, last_block,
    parquet::{Cell, Column, Kind, Writer},
    read,
};
use crate::{
    Place,
    cli::arguments::ExportOptions,
    store::{Database, Deployed, Store},
};
use concord_chain::{
    atomic_file::{self, unusable},
    stdout::show,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

/// As the lines of JSON have them; the agent and the client once more, for those who search by them.
const COLUMNS: [Column; 11] = [
    Column::required("position", Kind::Text),
    Column::required("chain", Kind::Text),
    Column::required("identityRegistry", Kind::Text),
    Column::required("registry", Kind::Text),
    Column::required("block", Kind::Int),
    Column::required("transaction", Kind::Text),
    Column::required("time", Kind::Int),
    Column::required("event", Kind::Text),
    Column::optional("agent", Kind::Text),
    Column::optional("client", Kind::Text),
    Column::required("fields", Kind::Text),
];
const MANIFEST: &str = "manifest.json";

/// What a folder has.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Manifest {
    chain: String,
    identity_registry: String,
    rows_per_file: u64,
    files: Vec<Part>,
}

/// A file. Its name is the position of its first row.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    rows: u64,
    bytes: u64,
    /// The position of its last row.
    last: String,
}

/// Writes what the folder lacks, and prints a line of JSON for each deployment.
pub fn write(
    store: &mut Store<Database>,
    chosen: &[Deployed],
    options: &ExportOptions,
) -> Result<(), CliError> {
    let refused = match options {
        it if it.unfinal => "--unfinal is for --to ndjson: a file keeps what a chain takes back",
        it if it.after.is_some() => "--after is for --to ndjson: a folder goes on where it ends",
        _ => "",
    };
    if !refused.is_empty() {
        return Err(CliError::Usage(refused.into()));
    }
    let Some(out) = &options.out else {
        let words = "--to parquet needs --out, the folder to write to";
        return Err(CliError::Usage(words.into()));
    };
    for deployed in chosen {
        let mut folder = Folder::open(out, deployed, options.rows)?;
        let _lock = atomic_file::lock(&folder.path.join(MANIFEST))?;
        folder.complete(store, deployed)?;
        let line = folder.summary();
        show(format!("{line}\n")).map_err(CliError::Output)?;
    }
    Ok(())
}

struct Folder {
    path: PathBuf,
    manifest: Manifest,
}

impl Folder {
    fn open(out: &Path, deployed: &Deployed, rows: u64) -> Result<Self, CliError> {
        let name = format!("{}-{}", deployed.chain, deployed.registry).replace(':', "-");
        let path = out.join(name);
        let found: Option<Manifest> = atomic_file::read_json(&path.join(MANIFEST))?;
        let manifest = found.unwrap_or_else(|| Manifest {
            chain: deployed.chain.clone(),
            identity_registry: deployed.registry.clone(),
            rows_per_file: rows,
            files: Vec::new(),
        });
        let found = manifest.rows_per_file;
        if found != rows {
            return Err(CliError::Usage(format!(
                "{} has {found} rows a file: pass --rows {found}, or another --out than for --rows {rows}",
                path.display()
            )));
        }
        Ok(Self { path, manifest })
    }

    /// Writes the events after the last full file, unless the store has none that the folder lacks.
    fn complete(
        &mut self,
        store: &mut Store<Database>,
        deployed: &Deployed,
    ) -> Result<(), CliError> {
        self.check(store, deployed)?;
        let Some(last) = last_block(store, deployed, false)? else {
            return Ok(());
        };
        let full = self.manifest.rows_per_file;
        let tail = self.manifest.files.pop_if(|it| it.rows < full);
        if let Some(tail) = tail.filter(|it| self.is_there(it)) {
            let after = self.position(&tail)?;
            if store
                .events_after(deployed.id, Some(after), last, 1)?
                .is_empty()
            {
                self.manifest.files.push(tail);
                return Ok(());
            }
        }
        let ended = self.manifest.files.last();
        let after = ended.map(|it| self.position(it)).transpose()?;
        let mut open = None;
        read(store, deployed, after, last, &mut |row| {
            self.append(&mut open, &row)
        })?;
        match open {
            Some(open) => self.finish(open),
            None => Ok(()),
        }
    }

    /// R46: events that a repair found later are in no file.
    fn check(&self, store: &mut Store<Database>, deployed: &Deployed) -> Result<(), CliError> {
        let full = self.manifest.rows_per_file;
        let mut files = self.manifest.files.iter();
        if let Some(part) = files.find(|it| it.rows == full && !self.is_there(it)) {
            let path = self.path.join(&part.name);
            let reason = format!("it is missing, or not of {} bytes: export anew", part.bytes);
            return Err(unusable(&path, reason).into());
        }
        let Some(part) = self.manifest.files.last() else {
            return Ok(());
        };
        let written: u64 = self.manifest.files.iter().map(|it| it.rows).sum();
        let last = self.position(part)?;
        let found = store.event_count_through(deployed.id, last)?;
        if found == written {
            Ok(())
        } else {
            Err(CliError::Usage(format!(
                "{} has {written} events up to {last}, the store {found}: it was repaired, or is another one; use another --out",
                self.path.display()
            )))
        }
    }

    fn is_there(&self, part: &Part) -> bool {
        let found = fs::metadata(self.path.join(&part.name));
        found.is_ok_and(|it| it.len() == part.bytes)
    }

    fn position(&self, part: &Part) -> Result<Place, CliError> {
        let position = super::position(&part.last);
        Ok(position.map_err(|error| unusable(&self.path.join(MANIFEST), error))?)
    }

    fn append(&mut self, open: &mut Option<OpenPart>, row: &Row<'_>) -> Result<(), CliError> {
        if open
            .as_ref()
            .is_some_and(|it| it.rows == self.manifest.rows_per_file)
            && let Some(full) = open.take()
        {
            self.finish(full)?;
        }
        let part = match open {
            Some(part) => part,
            None => open.insert(OpenPart::create(&self.path, row.place)?),
        };
        part.rows += 1;
        part.last = row.place;
        let written = part.writer.row(cells(row)?);
        Ok(written.map_err(|error| unusable(&part.partial, error))?)
    }

    fn finish(&mut self, open: OpenPart) -> Result<(), CliError> {
        let path = self.path.join(&open.name);
        let (rows, last, name) = (open.rows, open.last.to_string(), open.name.clone());
        let bytes = open.finish(&path).map_err(|error| unusable(&path, error))?;
        eprintln!("{}: {rows} events", path.display());
        self.manifest.files.push(Part {
            name,
            rows,
            bytes,
            last,
        });
        Ok(atomic_file::write_json(
            &self.path.join(MANIFEST),
            &self.manifest,
        )?)
    }

    fn summary(&self) -> Value {
        let files = &self.manifest.files;
        json!({
            "chain": self.manifest.chain,
            "identityRegistry": self.manifest.identity_registry,
            "folder": self.path.display().to_string(),
            "files": files.len(),
            "events": files.iter().map(|it| it.rows).sum::<u64>(),
            "position": files.last().map(|it| &it.last),
        })
    }
}

/// A file that has no name yet.
struct OpenPart {
    name: String,
    partial: PathBuf,
    writer: Writer<BufWriter<File>>,
    rows: u64,
    last: Place,
}

impl OpenPart {
    fn create(folder: &Path, first: Place) -> Result<Self, CliError> {
        let name = format!("{first}.parquet");
        let partial = folder.join(format!("{name}.partial"));
        let file = File::create(&partial).map_err(|error| unusable(&partial, error))?;
        let writer = Writer::new(BufWriter::new(file), &COLUMNS);
        Ok(Self {
            name,
            writer: writer.map_err(|error| unusable(&partial, error))?,
            partial,
            rows: 0,
            last: first,
        })
    }

    /// Names it, and returns its bytes.
    fn finish(self, path: &Path) -> io::Result<u64> {
        let file = self.writer.finish()?.into_inner()?;
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        fs::rename(&self.partial, path)?;
        Ok(bytes)
    }
}

/// In the order of [`COLUMNS`].
fn cells(row: &Row<'_>) -> Result<Vec<Cell>, CliError> {
    let block = i64::try_from(row.place.block());
    let block =
        block.map_err(|_| CliError::Usage(format!("{}: its block is out of range", row.place)))?;
    let field = |name: &str| match row.fields.get(name).and_then(Value::as_str) {
        Some(text) => Cell::Text(text.to_owned()),
        None => Cell::Null,
    };
    Ok(vec![
        Cell::Text(row.place.to_string()),
        Cell::Text(row.deployed.chain.clone()),
        Cell::Text(row.deployed.registry.clone()),
        Cell::Text(row.registry.clone()),
        Cell::Int(block),
        Cell::Text(row.transaction.clone()),
        Cell::Int(row.time),
        Cell::Text(row.event.to_owned()),
        field("agent"),
        field("client"),
        Cell::Text(row.fields.to_string()),
    ])
}
