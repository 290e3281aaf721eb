//! Pages that continue where the one before ended, by key.
use crate::{StoreError, store::DeploymentId};
use std::collections::BTreeMap;

/// Some of what was found, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T, P> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where the next page begins, for each deployment; empty if there is none.
    pub next: Vec<P>,
}

/// A row that a page can end with.
pub(crate) trait Paged {
    /// Where a page that ends with it ends.
    type Position: Clone;

    fn position(&self) -> Self::Position;
    /// What rows of several deployments are ordered by.
    fn order(&self) -> f64;
    fn deployment(position: &Self::Position) -> i64;
}

/// Merges what deployments have, each in its order and with one row more than the page has if there
/// are more. Each row is taken from the head of its deployment: a page ends at a place in each, and what comes before
/// that place must be on it, whatever time its block has.
pub(super) fn merge<T: Paged>(
    streams: Vec<Vec<T>>,
    after: &[T::Position],
    limit: usize,
    is_descending: bool,
) -> Page<T, T::Position> {
    let mut streams: Vec<_> = streams
        .into_iter()
        .map(|it| it.into_iter().peekable())
        .collect();
    let mut rows = Vec::new();
    let compare = |a: f64, b: f64| {
        if is_descending {
            b.total_cmp(&a)
        } else {
            a.total_cmp(&b)
        }
    };
    while rows.len() < limit {
        let heads = streams
            .iter_mut()
            .filter_map(|it| Some((it.peek()?.order(), it)));
        let first = heads.min_by(|(a, _), (b, _)| compare(*a, *b));
        match first.and_then(|(_, stream)| stream.next()) {
            Some(row) => rows.push(row),
            None => break,
        }
    }
    let is_last = streams.iter_mut().all(|it| it.peek().is_none());
    let next = if is_last {
        Vec::new()
    } else {
        ends(after, &rows)
    };
    Page { rows, next }
}

/// Where rows end in each deployment.
fn ends<T: Paged>(after: &[T::Position], rows: &[T]) -> Vec<T::Position> {
    let mut next: Vec<T::Position> = after.to_vec();
    for row in rows {
        let position = row.position();
        let of = T::deployment(&position);
        next.retain(|it| T::deployment(it) != of);
        next.push(position);
    }
    next
}

/// What belongs to each row. `read` finds it for rows of one deployment, and is asked once for each.
pub(crate) fn of_rows<T: Paged, R: Clone>(
    rows: &[T],
    mut read: impl FnMut(DeploymentId, &[&T]) -> Result<Vec<Option<R>>, StoreError>,
) -> Result<Vec<Option<R>>, StoreError> {
    let mut places: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let deployment = T::deployment(&row.position());
        places.entry(deployment).or_default().push(at);
    }
    let mut found = vec![None; rows.len()];
    for (deployment, places) in places {
        let of: Vec<&T> = places.iter().map(|at| &rows[*at]).collect();
        let of_each = read(DeploymentId(deployment), &of)?;
        for (at, it) in places.into_iter().zip(of_each) {
            found[at] = it;
        }
    }
    Ok(found)
}

/// Keeps a page's first rows only. `after`: where the page before ended.
pub(crate) fn keep<T: Paged>(page: &mut Page<T, T::Position>, rows: usize, after: &[T::Position]) {
    if rows < page.rows.len() {
        page.rows.truncate(rows);
        page.next = ends(after, &page.rows);
    }
}
