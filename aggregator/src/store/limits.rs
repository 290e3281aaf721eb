use rusqlite::{Connection, OptionalExtension, params};

use super::signed;
use crate::policy::{Acceptances, Rate, Subject};

/// Counts what was accepted, inside the change that accepts the next one: two at once cannot both pass.
pub(super) struct Counted<'a>(pub &'a Connection);

impl Counted<'_> {
    fn time(&self, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<Option<u64>> {
        let mut statement = self.0.prepare_cached(sql)?;
        let time = statement.query_row(values, |row| row.get::<_, i64>(0));
        Ok(time.optional()?.map(i64::unsigned_abs))
    }

    fn count(&self, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<u64> {
        let mut statement = self.0.prepare_cached(sql)?;
        let count: i64 = statement.query_row(values, |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}

impl Acceptances for Counted<'_> {
    type Error = rusqlite::Error;

    fn last(&self, subject: &Subject) -> rusqlite::Result<Option<u64>> {
        let sql = "SELECT accepted_at FROM acceptance WHERE reviewer = ?1 AND agent = ?2 \
                   ORDER BY accepted_at DESC LIMIT 1";
        self.time(sql, params![subject.reviewer, subject.agent])
    }

    fn of_reviewer(&self, subject: &Subject, rate: Rate) -> rusqlite::Result<Option<u64>> {
        let sql = "SELECT accepted_at FROM acceptance WHERE reviewer = ?1 \
                   ORDER BY accepted_at DESC LIMIT 1 OFFSET ?2";
        let before = rate.count.saturating_sub(1);
        self.time(sql, params![subject.reviewer, before])
    }

    fn of_agent(&self, subject: &Subject, since: u64, most: u64) -> rusqlite::Result<u64> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM acceptance WHERE agent = ?1 \
                   AND accepted_at >= ?2 LIMIT ?3)";
        self.count(sql, params![subject.agent, signed(since), signed(most)])
    }

    fn of_all(&self, since: u64, most: u64) -> rusqlite::Result<u64> {
        let sql =
            "SELECT count(*) FROM (SELECT 1 FROM acceptance WHERE accepted_at >= ?1 LIMIT ?2)";
        self.count(sql, params![signed(since), signed(most)])
    }
}
