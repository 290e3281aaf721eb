//! How each operation becomes a transaction: one file for each subject.
mod authorized;
mod identity;
mod open;
mod validation;

use super::World;
use crate::model::Response;
use concord_registry::svm::instructions::AppendResponse;

impl World {
    /// A response as either profile's instruction takes it.
    fn response<'a>(&self, response: &'a Response) -> AppendResponse<'a> {
        AppendResponse {
            client: self.keys.actor(&response.client),
            index: response.index,
            uri: &response.uri,
            hash: response.hash.0,
        }
    }
}
