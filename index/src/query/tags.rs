use crate::{
    fold::tag_key,
    store::{Cell, Sql},
};

/// R50: which tags feedback has. An empty text matches all (R16).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tags<'a> {
    /// The first tag or the second one.
    pub either: &'a str,
    /// The first tag.
    pub tag1: &'a str,
    /// The second tag.
    pub tag2: &'a str,
}

impl<'a> From<(&'a str, &'a str)> for Tags<'a> {
    fn from((tag1, tag2): (&'a str, &'a str)) -> Self {
        Self {
            either: "",
            tag1,
            tag2,
        }
    }
}

/// The first tag and the second one, as a total has them.
type Pair<'a> = (&'a str, &'a str);

impl<'a> Tags<'a> {
    /// Appends the conditions on feedback, which a query calls `table`.
    pub(crate) fn restrict(&self, sql: &mut Sql, table: &str) {
        self.restrict_with(sql, table, str::to_owned);
    }

    /// Appends the conditions on parts of summaries, which a query calls `table`.
    pub(crate) fn restrict_parts(&self, sql: &mut Sql, table: &str) {
        self.restrict_with(sql, table, tag_key);
    }

    fn restrict_with(&self, sql: &mut Sql, table: &str, stored: fn(&str) -> String) {
        let text = |tag: &str| stored(tag).to_value();
        for (column, tag) in [("tag1", self.tag1), ("tag2", self.tag2)] {
            if !tag.is_empty() {
                sql.bind(&format!(" AND {table}.{column} = ?"), [text(tag)]);
            }
        }
        if !self.either.is_empty() {
            let either = format!(" AND ({table}.tag1 = ? OR {table}.tag2 = ?)");
            sql.bind(&either, [text(self.either), text(self.either)]);
        }
    }

    /// The pairs of tags whose totals make up these tags': the sum of the first, less that of the
    /// second, which was counted twice.
    pub(crate) fn pairs(&self) -> (Vec<Pair<'a>>, Option<Pair<'a>>) {
        if self.either.is_empty() {
            return (vec![(self.tag1, self.tag2)], None);
        }
        let first = both(self.tag1, self.either);
        let second = both(self.tag2, self.either);
        let sum = [
            first.map(|tag1| (tag1, self.tag2)),
            second.map(|tag2| (self.tag1, tag2)),
        ];
        (sum.into_iter().flatten().collect(), first.zip(second))
    }
}

/// The one tag that is both; `None` if no tag is.
fn both<'a>(wanted: &'a str, either: &'a str) -> Option<&'a str> {
    (wanted.is_empty() || wanted == either).then_some(either)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r50_totals_of_either_tag_count_no_feedback_twice() {
        let tags = |either, tag1, tag2| Tags { either, tag1, tag2 };
        assert_eq!(tags("", "a", "").pairs(), (vec![("a", "")], None));
        let either = tags("x", "", "").pairs();
        assert_eq!(either, (vec![("x", ""), ("", "x")], Some(("x", "x"))));
        assert_eq!(tags("x", "a", "").pairs(), (vec![("a", "x")], None));
        let same = tags("x", "x", "b").pairs();
        assert_eq!(same, (vec![("x", "b")], None));
        assert_eq!(tags("x", "a", "b").pairs(), (vec![], None));
    }
}
