use std::cell::RefCell;

use super::{
    StoreError,
    db::{Db, int, text},
};
use crate::policy::{Acceptances, Rate, Subject};

/// Counts what was accepted, inside the change that accepts the next one: two at once cannot both pass.
pub(super) struct Counted<'a>(pub RefCell<&'a mut Db>);

impl Acceptances for Counted<'_> {
    type Error = StoreError;

    fn last(&self, subject: &Subject) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT accepted_at FROM acceptance WHERE reviewer = ?1 AND agent = ?2 \
                   ORDER BY accepted_at DESC LIMIT 1";
        let values = [text(&subject.reviewer), text(&subject.agent)];
        self.0.borrow_mut().cell(sql, &values)
    }

    fn of_reviewer(&self, subject: &Subject, rate: Rate) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT accepted_at FROM acceptance WHERE reviewer = ?1 \
                   ORDER BY accepted_at DESC LIMIT 1 OFFSET ?2";
        let before = rate.count.saturating_sub(1);
        let values = [text(&subject.reviewer), int(before.into())];
        self.0.borrow_mut().cell(sql, &values)
    }

    fn of_agent(&self, subject: &Subject, since: u64, most: u64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM acceptance WHERE agent = ?1 \
                   AND accepted_at >= ?2 LIMIT ?3) AS counted";
        let values = [text(&subject.agent), int(since), int(most)];
        self.0.borrow_mut().count(sql, &values)
    }

    fn of_all(&self, since: u64, most: u64) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM acceptance WHERE accepted_at >= ?1 \
                   LIMIT ?2) AS counted";
        let values = [int(since), int(most)];
        self.0.borrow_mut().count(sql, &values)
    }
}
