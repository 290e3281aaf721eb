use super::{
    Cell, misfit,
    thrift::{Compact, varint},
};
use flate2::{Compression, write::GzEncoder};
use std::io::{self, Write};

/// The most rows of a page, and the bytes after which a page ends: text from a chain can be long.
const PAGE: usize = 8_192;
const PAGE_BYTES: usize = 1 << 20;
/// Longer texts are not kept as minima and maxima: readers need a bound, not the content.
const LONGEST_BOUND: usize = 64;

const PLAIN: i32 = 0;
const RLE: i32 = 3;
const GZIP: i32 = 2;
const UTF8: i32 = 0;
const DATA_PAGE: i32 = 0;

/// What a column's cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `INT64`.
    Int,
    /// `BYTE_ARRAY` of UTF-8.
    Text,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    name: &'static str,
    kind: Kind,
    is_optional: bool,
}

impl Column {
    /// A column in which each row has a cell.
    pub const fn required(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            is_optional: false,
        }
    }

    /// A column in which rows may have [`Cell::Null`].
    pub const fn optional(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            is_optional: true,
        }
    }

    /// `Type`.
    const fn physical(&self) -> i32 {
        match self.kind {
            Kind::Int => 2,
            Kind::Text => 6,
        }
    }

    /// `SchemaElement`.
    pub(super) fn element(&self, element: &mut Compact) {
        element.i32(1, self.physical());
        element.i32(3, self.is_optional.into());
        element.binary(4, self.name.as_bytes());
        if self.kind == Kind::Text {
            element.i32(6, UTF8);
            element.structure(10, |logical| logical.structure(1, |_| ())); // the same, since 2017
        }
    }
}

/// A column's cells of one group, until they are written.
#[derive(Debug)]
pub(super) struct Data {
    kind: Kind,
    is_optional: bool,
    cells: Vec<Cell>,
    bytes: usize,
}

/// A column's cells of one group, as they were written.
#[derive(Debug)]
pub(super) struct Chunk {
    offset: u64,
    rows: usize,
    nulls: usize,
    pub uncompressed: usize,
    compressed: usize,
    /// The smallest and the largest cell, as statistics have them.
    bounds: Option<[Vec<u8>; 2]>,
}

impl Data {
    pub fn new(column: &Column) -> Self {
        Self {
            kind: column.kind,
            is_optional: column.is_optional,
            cells: Vec::new(),
            bytes: 0,
        }
    }

    pub fn rows(&self) -> usize {
        self.cells.len()
    }

    /// Bytes of the cells.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn push(&mut self, cell: Cell) -> io::Result<()> {
        match (&cell, self.kind) {
            (Cell::Int(_), Kind::Int) | (Cell::Text(_), Kind::Text) => (),
            (Cell::Null, _) if self.is_optional => (),
            _ => return Err(misfit("a cell does not fit its column")),
        }
        self.bytes += bytes_of(&cell);
        self.cells.push(cell);
        Ok(())
    }

    /// Returns the pages, the first of which is at `offset` in the file.
    pub fn encode(&self, offset: u64) -> io::Result<(Vec<u8>, Chunk)> {
        let mut bytes = Vec::new();
        let mut uncompressed = 0;
        for cells in pages(&self.cells) {
            let page = self.page(cells)?;
            let packed = gzip(&page)?;
            let header = page_header(cells.len(), page.len(), packed.len())?;
            uncompressed += header.len() + page.len();
            bytes.extend(header);
            bytes.extend(packed);
        }
        let nulls = self.cells.iter().filter(|it| **it == Cell::Null);
        let chunk = Chunk {
            offset,
            rows: self.cells.len(),
            nulls: nulls.count(),
            uncompressed,
            compressed: bytes.len(),
            bounds: self.bounds(),
        };
        Ok((bytes, chunk))
    }

    /// Definition levels if the column is optional, then the cells that are not null.
    fn page(&self, cells: &[Cell]) -> io::Result<Vec<u8>> {
        let mut page = Vec::new();
        if self.is_optional {
            let levels = levels(cells);
            page.extend(length(levels.len())?);
            page.extend(levels);
        }
        for cell in cells {
            match cell {
                Cell::Int(number) => page.extend(number.to_le_bytes()),
                Cell::Text(text) => {
                    page.extend(length(text.len())?);
                    page.extend(text.as_bytes());
                }
                Cell::Null => (),
            }
        }
        Ok(page)
    }

    fn bounds(&self) -> Option<[Vec<u8>; 2]> {
        let numbers = self.cells.iter().filter_map(|it| match it {
            Cell::Int(number) => Some(*number),
            _ => None,
        });
        if let (Some(least), Some(most)) = (numbers.clone().min(), numbers.max()) {
            return Some([least, most].map(|it| it.to_le_bytes().to_vec()));
        }
        let texts = self.cells.iter().filter_map(|it| match it {
            Cell::Text(text) => Some(text.as_bytes()),
            _ => None,
        });
        let bounds = [texts.clone().min()?, texts.max()?];
        let are_short = bounds.iter().all(|it| it.len() <= LONGEST_BOUND);
        are_short.then(|| bounds.map(<[u8]>::to_vec))
    }
}

impl Chunk {
    /// `ColumnChunk`.
    pub fn metadata(&self, chunk: &mut Compact, column: &Column) {
        chunk.i64(2, 0); // the metadata is in the footer only
        chunk.structure(3, |data| {
            data.i32(1, column.physical());
            data.i32s(2, &[PLAIN, RLE]);
            data.texts(3, &[column.name]);
            data.i32(4, GZIP);
            data.i64(5, self.rows as i64);
            data.i64(6, self.uncompressed as i64);
            data.i64(7, self.compressed as i64);
            data.i64(9, self.offset.cast_signed());
            data.structure(12, |statistics| {
                statistics.i64(3, self.nulls as i64);
                if let Some([least, most]) = &self.bounds {
                    statistics.binary(5, most);
                    statistics.binary(6, least);
                }
            });
        });
    }
}

const fn bytes_of(cell: &Cell) -> usize {
    match cell {
        Cell::Int(_) => size_of::<i64>(),
        Cell::Text(text) => size_of::<u32>() + text.len(),
        Cell::Null => 0,
    }
}

/// Cells by the page.
fn pages(mut cells: &[Cell]) -> Vec<&[Cell]> {
    let mut pages = Vec::new();
    while !cells.is_empty() {
        let ends = cells.iter().scan(0, |bytes, cell| {
            *bytes += bytes_of(cell);
            Some(*bytes)
        });
        let rows = ends.take(PAGE).take_while(|it| *it <= PAGE_BYTES).count();
        let (page, rest) = cells.split_at(rows.max(1));
        pages.push(page);
        cells = rest;
    }
    pages
}

/// Runs of 1 (there is a cell) and 0 (there is none), as RLE of one bit.
fn levels(cells: &[Cell]) -> Vec<u8> {
    let mut levels = Vec::new();
    for run in cells.chunk_by(|a, b| (*a == Cell::Null) == (*b == Cell::Null)) {
        varint(&mut levels, (run.len() as u64) << 1);
        levels.push((run[0] != Cell::Null).into());
    }
    levels
}

/// `PageHeader`.
fn page_header(rows: usize, uncompressed: usize, compressed: usize) -> io::Result<Vec<u8>> {
    let number = |of| i32::try_from(of).map_err(|_| misfit("a page is of 2 GiB or more"));
    let (rows, uncompressed, compressed) =
        (number(rows)?, number(uncompressed)?, number(compressed)?);
    Ok(Compact::bytes(|page| {
        page.i32(1, DATA_PAGE);
        page.i32(2, uncompressed);
        page.i32(3, compressed);
        page.structure(5, |data| {
            data.i32(1, rows);
            data.i32(2, PLAIN);
            data.i32(3, RLE);
            data.i32(4, RLE);
        });
    }))
}

fn length(of: usize) -> io::Result<[u8; 4]> {
    let length = u32::try_from(of).map_err(|_| misfit("a cell is of 4 GiB or more"))?;
    Ok(length.to_le_bytes())
}

/// Its header has no time, so that the same page is the same bytes.
fn gzip(page: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(page)?;
    encoder.finish()
}
