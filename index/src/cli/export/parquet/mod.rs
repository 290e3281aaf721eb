//! Apache Parquet, as far as an export writes it: flat rows, each page in plain encoding, compressed with gzip. The same
//! rows are the same bytes. Source: <https://github.com/apache/parquet-format>, version 2.11.
mod column;
mod thrift;

use column::{Chunk, Data};
pub use column::{Column, Kind};
use std::io::{self, Write};
use thrift::Compact;

/// The first and the last bytes of a file.
const MAGIC: &[u8] = b"PAR1";
/// Rows that one group has. They are in memory until it is written.
const GROUP: usize = 65_536;
/// A group also ends after so many bytes.
const GROUP_BYTES: usize = 128 << 20;
const CREATED_BY: &[u8] = concat!("concord-index version ", env!("CARGO_PKG_VERSION")).as_bytes();

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Int(i64),
    Text(String),
    /// Of a column that is optional.
    Null,
}

/// A file in the making.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// Bytes that were written.
    offset: u64,
    columns: &'static [Column],
    waiting: Vec<Data>,
    groups: Vec<Group>,
}

/// Rows that were written together.
#[derive(Debug)]
struct Group {
    rows: usize,
    chunks: Vec<Chunk>,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(mut out: W, columns: &'static [Column]) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self {
            out,
            offset: MAGIC.len() as u64,
            columns,
            waiting: empty(columns),
            groups: Vec::new(),
        })
    }

    /// Appends a row, with a cell for each column.
    ///
    /// # Errors
    /// The file cannot be written, or a cell does not fit its column.
    pub fn row(&mut self, cells: Vec<Cell>) -> io::Result<()> {
        if cells.len() != self.columns.len() {
            return Err(misfit("a row has another number of cells than columns"));
        }
        for (data, cell) in self.waiting.iter_mut().zip(cells) {
            data.push(cell)?;
        }
        let rows = self.waiting.first().map_or(0, Data::rows);
        let bytes: usize = self.waiting.iter().map(Data::bytes).sum();
        if rows >= GROUP || bytes >= GROUP_BYTES {
            self.end_group()
        } else {
            Ok(())
        }
    }

    /// Writes what is left and the footer, and returns the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_group()?;
        let footer = self.footer();
        let length = u32::try_from(footer.len()).map_err(|_| misfit("the footer is too long"))?;
        self.out.write_all(&footer)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        Ok(self.out)
    }

    fn end_group(&mut self) -> io::Result<()> {
        let waiting = std::mem::replace(&mut self.waiting, empty(self.columns));
        let rows = waiting.first().map_or(0, Data::rows);
        if rows == 0 {
            return Ok(());
        }
        let mut chunks = Vec::with_capacity(waiting.len());
        for data in waiting {
            let (bytes, chunk) = data.encode(self.offset)?;
            self.out.write_all(&bytes)?;
            self.offset += bytes.len() as u64;
            chunks.push(chunk);
        }
        self.groups.push(Group { rows, chunks });
        Ok(())
    }

    /// `FileMetaData`.
    fn footer(&self) -> Vec<u8> {
        let rows: usize = self.groups.iter().map(|it| it.rows).sum();
        Compact::bytes(|file| {
            file.i32(1, 1); // the version that every reader takes
            file.structures(2, 0..self.columns.len() + 1, |element, number| match number
                .checked_sub(1)
            {
                Some(number) => self.columns[number].element(element),
                None => root(element, self.columns.len()),
            });
            file.i64(3, rows as i64);
            file.structures(4, self.groups.iter(), |group, it| {
                it.metadata(group, self.columns)
            });
            file.binary(6, CREATED_BY);
            // How minima and maxima are compared: numbers as such, texts by their bytes.
            file.structures(7, self.columns.iter(), |order, _| {
                order.structure(1, |_| ())
            });
        })
    }
}

impl Group {
    /// `RowGroup`.
    fn metadata(&self, group: &mut Compact, columns: &[Column]) {
        let described = self.chunks.iter().zip(columns);
        let described: Vec<_> = described.collect();
        group.structures(1, described.into_iter(), |chunk, (it, column)| {
            it.metadata(chunk, column)
        });
        let sum = |of: fn(&Chunk) -> usize| self.chunks.iter().map(of).sum::<usize>() as i64;
        group.i64(2, sum(|it| it.uncompressed));
        group.i64(3, self.rows as i64);
    }
}

/// The `SchemaElement` that the columns are in.
fn root(element: &mut Compact, columns: usize) {
    element.binary(4, b"event");
    element.i32(5, columns as i32);
}

fn empty(columns: &[Column]) -> Vec<Data> {
    columns.iter().map(Data::new).collect()
}

fn misfit(words: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 2] = [
        Column::required("n", Kind::Int),
        Column::optional("t", Kind::Text),
    ];

    fn file(rows: usize) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), &COLUMNS).unwrap();
        for number in 0..rows {
            let text = match number % 3 {
                0 => Cell::Null,
                _ => Cell::Text(number.to_string()),
            };
            writer.row(vec![Cell::Int(number as i64), text]).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn the_same_rows_are_the_same_bytes() {
        for rows in [0, 1, GROUP, GROUP + 1] {
            let bytes = file(rows);
            assert_eq!(bytes, file(rows));
            assert!(bytes.starts_with(MAGIC) && bytes.ends_with(MAGIC));
        }
    }

    #[test]
    fn what_does_not_fit_a_column_is_an_error() {
        let mut writer = Writer::new(Vec::new(), &COLUMNS).unwrap();
        for cells in [
            vec![Cell::Int(1)],
            vec![Cell::Text(String::new()), Cell::Null],
            vec![Cell::Int(1), Cell::Int(1)],
            vec![Cell::Null, Cell::Null],
        ] {
            assert!(writer.row(cells.clone()).is_err(), "{cells:?}");
        }
    }
}
