//! Seeds of the program-derived addresses (§3b).
//!
//! | account | seeds |
//! |---|---|
//! | registry | `"registry"` |
//! | agent's mint | `"mint"`, payer of the registration (32), nonce (8, little-endian) |
//! | agent | `"agent"`, mint (32) |
//! | metadata | `"metadata"`, mint (32), sha256(key) (32) |
//! | authorized entry | `"feedback"`, mint (32), client (32), index (8, little-endian) |
//! | authorized client index | `"client"`, mint (32), client (32) |
//! | open entry | `"open_feedback"`, mint (32), client (32), index (8, little-endian) |
//! | open client index | `"open_client"`, mint (32), client (32) |
//! | validation request | `"val_request"`, mint (32), validator (32), first 8 bytes of the request hash |
//! | validation response | `"val_response"`, mint (32), validator (32), first 8 bytes of the request hash |
//! | spent payment | `"spent"`, keccak256(dedupe key) (32), payer of the payment (32) |
//!
//! The address is the first of `sha256(seeds ‖ bump (1) ‖ program id (32) ‖ "ProgramDerivedAddress")`
//! for bump 255, 254… that is not a point of Ed25519's curve.

use crate::{Word, hash};

/// First seed of the registry account.
pub const REGISTRY: &[u8] = b"registry";
/// First seed of an agent's mint.
pub const MINT: &[u8] = b"mint";
/// First seed of an agent.
pub const AGENT: &[u8] = b"agent";
/// First seed of a metadata entry.
pub const METADATA: &[u8] = b"metadata";
/// First seed of an authorized feedback entry.
pub const FEEDBACK: &[u8] = b"feedback";
/// First seed of a client's index in the authorized profile.
pub const CLIENT: &[u8] = b"client";
/// First seed of an open feedback entry.
pub const OPEN_FEEDBACK: &[u8] = b"open_feedback";
/// First seed of a client's index in the open profile.
pub const OPEN_CLIENT: &[u8] = b"open_client";
/// First seed of a validation request.
pub const VAL_REQUEST: &[u8] = b"val_request";
/// First seed of a validation response.
pub const VAL_RESPONSE: &[u8] = b"val_response";
/// First seed of a spent payment's marker.
pub const SPENT: &[u8] = b"spent";

/// Bytes of the request hash that enter the validation seeds (R20).
pub const REQUEST_PREFIX: usize = 8;

/// Which account, with everything its seeds are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account<'a> {
    /// The registry, one for each program.
    Registry,
    /// An agent's mint, which is its id (R4).
    Mint {
        /// Who pays for the registration.
        payer: Word,
        /// Which of the payer's registrations; any number that the payer has not used.
        nonce: u64,
    },
    /// An agent.
    Agent {
        /// The agent's mint.
        mint: Word,
    },
    /// One metadata entry of an agent.
    Metadata {
        /// The agent's mint.
        mint: Word,
        /// The metadata key in UTF-8; the seed is its SHA-256.
        key: &'a str,
    },
    /// One authorized feedback.
    Feedback {
        /// The agent's mint.
        mint: Word,
        /// The reviewer.
        client: Word,
        /// The 1-based index of the feedback (R12).
        index: u64,
    },
    /// A client's last index in the authorized profile.
    Client {
        /// The agent's mint.
        mint: Word,
        /// The reviewer.
        client: Word,
    },
    /// One open feedback.
    OpenFeedback {
        /// The agent's mint.
        mint: Word,
        /// The reviewer.
        client: Word,
        /// The 1-based index of the feedback (R12).
        index: u64,
    },
    /// A client's last index in the open profile.
    OpenClient {
        /// The agent's mint.
        mint: Word,
        /// The reviewer.
        client: Word,
    },
    /// A validation request.
    ValRequest {
        /// The agent's mint.
        mint: Word,
        /// The validator asked.
        validator: Word,
        /// The whole request hash; the seed is its first 8 bytes.
        request_hash: Word,
    },
    /// A validation response.
    ValResponse {
        /// The agent's mint.
        mint: Word,
        /// The validator asked.
        validator: Word,
        /// The whole request hash; the seed is its first 8 bytes.
        request_hash: Word,
    },
    /// The marker of a payment that counted (R13).
    Spent {
        /// keccak256 of the task reference's dedupe key.
        hash: Word,
        /// Who paid (R32).
        payer: Word,
    },
}

/// Seeds of one account, without the bump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeds {
    name: &'static [u8],
    rest: [(Word, usize); 3],
}

impl Seeds {
    fn new(name: &'static [u8], words: &[(Word, usize)]) -> Self {
        let mut rest = [([0; 32], 0); 3];
        rest[..words.len()].copy_from_slice(words);
        Self { name, rest }
    }

    /// The seeds in order, filled up with empty ones, which add nothing to an address.
    pub fn parts(&self) -> [&[u8]; 4] {
        let [first, second, third] = &self.rest;
        let [first, second, third] = [first, second, third].map(|(bytes, width)| &bytes[..*width]);
        [self.name, first, second, third]
    }
}

impl Account<'_> {
    /// The seeds of this account.
    pub fn seeds(&self) -> Seeds {
        let whole = |word: Word| (word, 32);
        match *self {
            Self::Registry => Seeds::new(REGISTRY, &[]),
            Self::Mint { payer, nonce } => Seeds::new(MINT, &[whole(payer), number_seed(nonce)]),
            Self::Agent { mint } => Seeds::new(AGENT, &[whole(mint)]),
            Self::Metadata { mint, key } => {
                let key = hash::sha256(key.as_bytes());
                Seeds::new(METADATA, &[whole(mint), whole(key)])
            }
            Self::Feedback {
                mint,
                client,
                index,
            } => Seeds::new(FEEDBACK, &[whole(mint), whole(client), number_seed(index)]),
            Self::Client { mint, client } => Seeds::new(CLIENT, &[whole(mint), whole(client)]),
            Self::OpenFeedback {
                mint,
                client,
                index,
            } => Seeds::new(
                OPEN_FEEDBACK,
                &[whole(mint), whole(client), number_seed(index)],
            ),
            Self::OpenClient { mint, client } => {
                Seeds::new(OPEN_CLIENT, &[whole(mint), whole(client)])
            }
            Self::ValRequest {
                mint,
                validator,
                request_hash,
            } => Seeds::new(
                VAL_REQUEST,
                &[
                    whole(mint),
                    whole(validator),
                    (request_hash, REQUEST_PREFIX),
                ],
            ),
            Self::ValResponse {
                mint,
                validator,
                request_hash,
            } => Seeds::new(
                VAL_RESPONSE,
                &[
                    whole(mint),
                    whole(validator),
                    (request_hash, REQUEST_PREFIX),
                ],
            ),
            Self::Spent { hash, payer } => Seeds::new(SPENT, &[whole(hash), whole(payer)]),
        }
    }
}

/// A feedback index or a nonce as a seed: 8 bytes little-endian (§3b).
fn number_seed(number: u64) -> (Word, usize) {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    (seed, 8)
}

#[cfg(feature = "sign")]
impl Account<'_> {
    /// The account's address under `program_id`, and its canonical bump.
    ///
    /// # Panics
    /// As [`find_address`].
    pub fn find(&self, program_id: &Word) -> (Word, u8) {
        find_address(self.seeds().parts(), program_id)
    }
}

/// Solana's limit on the seeds of an address, the bump not counted.
#[cfg(feature = "sign")]
const SEEDS_MAX: usize = 15;

/// The address that `seeds` derive under `program_id`, and its canonical bump: for accounts that other programs and
/// frameworks define. An empty seed adds nothing.
///
/// # Panics
/// Never in practice: no seeds are known for which all 256 bumps land on the curve.
#[cfg(feature = "sign")]
pub fn find_address<const N: usize>(seeds: [&[u8]; N], program_id: &Word) -> (Word, u8) {
    const { assert!(N <= SEEDS_MAX) }
    (0..=u8::MAX)
        .rev()
        .map(|bump| (address(&seeds, bump, program_id), bump))
        .find(|(address, _)| !is_on_curve(address))
        .expect("one of 256 hashes is off the curve")
}

/// `sha256(seeds ‖ bump ‖ program id ‖ "ProgramDerivedAddress")`.
#[cfg(feature = "sign")]
fn address(seeds: &[&[u8]], bump: u8, program_id: &Word) -> Word {
    let bump = [bump];
    let mut parts: [&[u8]; SEEDS_MAX + 3] = [&[]; SEEDS_MAX + 3];
    let tail = [&bump[..], program_id, b"ProgramDerivedAddress"];
    for (part, bytes) in parts.iter_mut().zip(seeds.iter().copied().chain(tail)) {
        *part = bytes;
    }
    hash::sha256v(&parts)
}

#[cfg(feature = "sign")]
fn is_on_curve(address: &Word) -> bool {
    curve25519_dalek::edwards::CompressedEdwardsY(*address)
        .decompress()
        .is_some()
}

#[cfg(all(test, feature = "sign"))]
mod tests {
    use super::*;
    use crate::testing::pubkey;

    /// Derived by a separate implementation of Ed25519's curve equation in Python.
    #[test]
    fn s3b_every_account_has_its_published_address() {
        let (mint, client, hash) = ([1; 32], [2; 32], core::array::from_fn(|i| i as u8));
        let request_hash = hash;
        let (validator, payer) = (client, client);
        #[rustfmt::skip]
        let cases = [
            (Account::Registry, "2mGirBp6SgRQyiFCRfzv8Ex5fugSwDTrafejT4RTcMnm", 254),
            (Account::Mint { payer, nonce: 258 }, "H2yJ1cjJUHN8x6C4doKkcapS2rURuABwZPGyQMSuf5eH", 255),
            (Account::Agent { mint }, "CpYnfuzEXRzzPB5jyng6wjZYab2kmvpMyH7Uk6QPvoGD", 253),
            (Account::Metadata { mint, key: "schlüssel" }, "9QvY2n2uy7nMD1GbwEWGezqD6YE9EjJTbNoFJVZtDPRh", 255),
            (Account::Feedback { mint, client, index: 258 }, "8wPNvyvDKKmjwNCcHq4YRi3xe2YBRa3v7X5DAT7CbBc7", 253),
            (Account::Client { mint, client }, "2K9pZEzGzenz8csEFXdbGGkQTycFZkZPo399jzt6rV4J", 254),
            (Account::OpenFeedback { mint, client, index: u64::MAX }, "E3RM7vcZpPwCj38TQrcJdY6KVoozfK7MfeE5WvPr1d6U", 253),
            (Account::OpenClient { mint, client }, "CP58qvrgjyXF8uw1BWjSQSRjxX7ohx96nHPi6Z49w5yJ", 254),
            (Account::ValRequest { mint, validator, request_hash }, "8RcdUFv6DGMyZypSouMnwPiPRGP4zQH5pdnkDYhsKg8G", 250),
            (Account::ValResponse { mint, validator, request_hash }, "J2cMBCQBjf7VytuTiCMG3pTNGMDTJyWbCsMKv7Tp7qKa", 255),
            (Account::Spent { hash, payer }, "FtJW4yMYfZLrTwXvfjKXVADJ3ywQ56ES9Ms65FhBfA3a", 254),
        ];
        for (account, address, bump) in cases {
            assert_eq!(
                account.find(&[3; 32]),
                (pubkey(address), bump),
                "{account:?}"
            );
        }
    }

    #[test]
    fn r20_only_the_first_8_bytes_of_a_request_hash_enter_the_seeds() {
        let account = |request_hash| Account::ValRequest {
            mint: [1; 32],
            validator: [2; 32],
            request_hash,
        };
        let mut twin = [5; 32];
        twin[8..].fill(6);
        assert_eq!(
            account([5; 32]).find(&[3; 32]),
            account(twin).find(&[3; 32])
        );
        twin[7] = 6;
        assert_ne!(
            account([5; 32]).find(&[3; 32]),
            account(twin).find(&[3; 32])
        );
    }
}
