//! Pages that continue where the one before ended, by key.

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
/// are more.
pub(super) fn merge<T: Paged>(
    streams: Vec<Vec<T>>,
    after: &[T::Position],
    limit: usize,
    is_descending: bool,
) -> Page<T, T::Position> {
    let mut rows: Vec<T> = streams.into_iter().flatten().collect();
    // It is stable: each deployment's rows stay in their order.
    rows.sort_by(|a, b| {
        let order = a.order().total_cmp(&b.order());
        if is_descending {
            order.reverse()
        } else {
            order
        }
    });
    let is_last = rows.len() <= limit;
    rows.truncate(limit);
    if is_last {
        let next = Vec::new();
        return Page { rows, next };
    }
    let next = ends(after, &rows);
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

/// Keeps a page's first rows only. `after`: where the page before ended.
pub(crate) fn keep<T: Paged>(page: &mut Page<T, T::Position>, rows: usize, after: &[T::Position]) {
    if rows < page.rows.len() {
        page.rows.truncate(rows);
        page.next = ends(after, &page.rows);
    }
}
