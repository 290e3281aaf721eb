use super::{Cell, Cells, DeploymentId, Engine, Insert, Store};
use crate::{StoreError, batch::Header};
use std::collections::BTreeMap;

/// How far a deployment is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The last block that is indexed.
    pub head: Header,
    /// The last block that is final, as far as the chain said.
    pub final_number: Option<u64>,
}

impl<E: Engine> Store<E> {
    /// Returns how far a deployment is indexed; `None` before its first block. What is committed next must continue it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn cursor(&mut self, deployment: DeploymentId) -> Result<Option<Cursor>, StoreError> {
        let cursor = self.stored_cursor(deployment)?;
        self.seen.insert(deployment, cursor.map(|it| it.head));
        Ok(cursor)
    }

    /// Returns the cursor within a transaction that moves it.
    ///
    /// # Errors
    /// [`StoreError::CursorMoved`] if it is not where it was seen last: locks fail on some network file systems, and
    /// behind a pool of connections.
    pub(super) fn cursor_as_seen(
        &mut self,
        deployment: DeploymentId,
    ) -> Result<Option<Cursor>, StoreError> {
        let stored = self.stored_cursor(deployment)?;
        let found = stored.map(|it| it.head);
        match self.seen.get(&deployment) {
            Some(seen) if *seen != found => Err(StoreError::CursorMoved {
                seen: name(seen.as_ref()),
                found: name(found.as_ref()),
            }),
            _ => Ok(stored),
        }
    }

    fn stored_cursor(&mut self, deployment: DeploymentId) -> Result<Option<Cursor>, StoreError> {
        let sql = "SELECT head_number, head_hash, head_parent, head_time, final_number \
                   FROM deployment WHERE id = $1 AND head_number IS NOT NULL";
        let mut cursor = None;
        self.engine
            .query(sql, &[deployment.0.to_value()], &mut |row| {
                let mut cells = Cells::new("deployment", row);
                cursor = Some(Cursor {
                    head: read_header(&mut cells)?,
                    final_number: cells.take("final_number")?,
                });
                Ok(())
            })?;
        Ok(cursor)
    }

    pub(super) fn move_cursor(
        &mut self,
        deployment: DeploymentId,
        head: &Header,
        final_number: Option<u64>,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE deployment SET head_number = $1, head_hash = $2, head_parent = $3, \
                   head_time = $4, final_number = $5 WHERE id = $6";
        let values = [
            head.number.to_value(),
            head.hash.to_value(),
            head.parent.to_value(),
            head.time.to_value(),
            final_number.to_value(),
            deployment.0.to_value(),
        ];
        self.engine.execute(sql, &values)
    }

    /// Returns the headers that are kept, the newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn headers(&mut self, deployment: DeploymentId) -> Result<Vec<Header>, StoreError> {
        let sql = "SELECT number, hash, parent, time FROM block \
                   WHERE deployment = $1 ORDER BY number DESC";
        let mut headers = Vec::new();
        self.engine
            .query(sql, &[deployment.0.to_value()], &mut |row| {
                headers.push(read_header(&mut Cells::new("block", row))?);
                Ok(())
            })?;
        Ok(headers)
    }

    pub(super) fn keep_headers(
        &mut self,
        deployment: DeploymentId,
        headers: &[Header],
        oldest: u64,
    ) -> Result<(), StoreError> {
        let columns = ["deployment", "number", "hash", "parent", "time"];
        let on_conflict = "ON CONFLICT (deployment, number) DO UPDATE \
                   SET hash = excluded.hash, parent = excluded.parent, time = excluded.time";
        // Two of one number would be two rows with one key.
        let kept = headers.iter().filter(|it| it.number >= oldest);
        let kept: BTreeMap<u64, &Header> = kept.map(|it| (it.number, it)).collect();
        let values = |header: &Header| {
            vec![
                deployment.0.to_value(),
                header.number.to_value(),
                header.hash.to_value(),
                header.parent.to_value(),
                header.time.to_value(),
            ]
        };
        let insert = Insert::new("block", &columns, on_conflict);
        self.insert(&insert, kept.into_values().map(|it| Ok(values(it))))?;
        let sql = "DELETE FROM block WHERE deployment = $1 AND number < $2";
        let values = [deployment.0.to_value(), oldest.to_value()];
        self.engine.execute(sql, &values)
    }
}

/// As an error says it.
fn name(header: Option<&Header>) -> String {
    header.map_or("no block".to_owned(), |it| {
        format!("block {} (0x{})", it.number, hex::encode(it.hash))
    })
}

fn read_header(cells: &mut Cells<'_>) -> Result<Header, StoreError> {
    Ok(Header {
        number: cells.take("number")?,
        hash: cells.take("hash")?,
        parent: cells.take("parent")?,
        time: cells.take("time")?,
    })
}
