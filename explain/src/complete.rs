use crate::{Bundle, Explained, Need, SubjectError, Trust, bundle::Piece, explain};

/// How often a bundle is explained again with what was fetched. Each round can only ask for what the last one
/// found, such as the code that a slot names.
const ROUNDS_MAX: usize = 16;

/// Where a bundle's evidence comes from: nodes, clusters, hosts.
pub trait Source {
    /// Fetches what is needed, and what belongs to it (a transaction's header, a block's way to the anchor).
    ///
    /// # Errors
    /// Why it cannot be had, in words that hold no secret. It is kept in the bundle.
    fn fetch(&mut self, need: &Need) -> impl Future<Output = Result<Vec<Piece>, String>>;
}

/// Explains, fetches what is missing, and explains again until nothing is. The bundle then has everything that
/// the report rests on. What the bundle says of a Solana cluster and was not read in this run is read again: no file proves it (R36).
///
/// # Errors
/// The bundle does not name a feedback.
pub async fn complete(
    bundle: &mut Bundle,
    trust: &Trust,
    source: &mut impl Source,
) -> Result<Explained, SubjectError> {
    bundle.forget_what_was_not_read_here();
    for _ in 0..ROUNDS_MAX {
        let explained = explain(bundle, trust)?;
        if explained.needs.is_empty() {
            return Ok(explained);
        }
        for need in explained.needs {
            match source.fetch(&need).await {
                Ok(pieces) => pieces.into_iter().for_each(|piece| bundle.add(piece)),
                Err(reason) => bundle.add_unavailable(need, reason),
            }
        }
    }
    explain(bundle, trust)
}
