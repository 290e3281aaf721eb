//! What a buyer reads.
use concord_x402::{
    pay::{Authorizations, BuyerReads},
    quote::FetchedFiles,
    verify::{Payments, Registries},
};

pub fn reads<'a, C>(chains: &'a C, files: &'a FetchedFiles) -> BuyerReads<'a>
where
    C: Registries + Payments + Authorizations,
{
    BuyerReads {
        registries: chains,
        files,
        origins: files,
        payments: chains,
        authorizations: chains,
    }
}
