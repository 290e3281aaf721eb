//! What an agent signs with each paid response, and what a reviewer signs (X402, R24, R58).

mod agent_response;
mod review;
mod revocation;

pub use agent_response::{AgentResponse, RESPOND_PREFIX};
pub use review::Review;
pub use revocation::{REVOKE_PREFIX, Revocation};

use crate::caip::check_task_ref_shape;
use crate::error::{Error, Excerpt};
use crate::limits::REQUEST_MAX;
use crate::{Word, hash};

/// Version of the interaction hash: the prefix of its preimage, and nothing else (R24).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// `x402:8004-reputation:v1`, X402's own.
    #[default]
    X4028004ReputationV1,
    /// `x402:reputation:v1`, the same extension's later name.
    X402ReputationV1,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 2] = [Self::X4028004ReputationV1, Self::X402ReputationV1];

    /// The profile's name, which is the prefix of the preimage, ASCII.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X4028004ReputationV1 => "x402:8004-reputation:v1",
            Self::X402ReputationV1 => "x402:reputation:v1",
        }
    }

    /// The profile of this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn from_name(name: &str) -> Result<Self, Error> {
        let mut all = Self::ALL.into_iter();
        all.find(|profile| profile.name() == name)
            .ok_or(Error::UnknownName {
                field: "profile",
                value: Excerpt::new(name),
                allowed: "\"x402:8004-reputation:v1\" or \"x402:reputation:v1\"",
            })
    }
}

/// The bytes that represent a request: its decoded body, or its target (path and query) exactly as
/// sent where the body is empty (X402 §1, R24). The method does not enter them.
///
/// # Errors
/// [`Error::EmptyRequest`] where the method, or body and target both, are empty.
pub fn request_bytes<'a>(method: &str, target: &'a str, body: &'a [u8]) -> Result<&'a [u8], Error> {
    if method.is_empty() {
        return Err(Error::EmptyRequest { field: "method" });
    }
    match (body, target) {
        ([], "") => Err(Error::EmptyRequest { field: "target" }),
        ([], target) => Ok(target.as_bytes()),
        (body, _) => Ok(body),
    }
}

/// The data hash's length prefix: 4 bytes, big-endian.
///
/// # Errors
/// [`Error::RequestTooLong`] from 2^32 bytes on.
pub fn request_length_prefix(length: u64) -> Result<[u8; 4], Error> {
    u32::try_from(length)
        .map(u32::to_be_bytes)
        .map_err(|_| Error::RequestTooLong {
            length,
            limit: REQUEST_MAX,
        })
}

/// `dataHash` (X402 §1): keccak256 of
///
/// | offset | width | field |
/// |---|---|---|
/// | 0 | 4 | n, length of the request bytes, big-endian |
/// | 4 | n | request bytes |
/// | 4 + n | … | response bytes |
///
/// # Errors
/// [`Error::RequestTooLong`] from 2^32 request bytes on.
pub fn data_hash(request: &[u8], response: &[u8]) -> Result<Word, Error> {
    let prefix = request_length_prefix(request.len() as u64)?;
    Ok(hash::keccak256v(&[&prefix, request, response]))
}

/// [`data_hash`] over bytes that arrive piece by piece, the request first. Off chain only.
#[cfg(not(target_os = "solana"))]
#[derive(Clone)]
pub struct DataHasher {
    hasher: hash::Keccak256Stream,
    declared: u64,
    received: u64,
}

#[cfg(not(target_os = "solana"))]
impl DataHasher {
    /// Announces a request of `request_length` bytes.
    ///
    /// # Errors
    /// [`Error::RequestTooLong`] from 2^32 bytes on.
    pub fn new(request_length: u64) -> Result<Self, Error> {
        let mut hasher = hash::Keccak256Stream::default();
        hasher.update(&request_length_prefix(request_length)?);
        Ok(Self {
            hasher,
            declared: request_length,
            received: 0,
        })
    }

    /// Appends a piece of the request.
    ///
    /// # Errors
    /// [`Error::RequestLengthMismatch`] beyond the announced length.
    pub fn request(&mut self, piece: &[u8]) -> Result<(), Error> {
        let received = self.received.saturating_add(piece.len() as u64);
        if received > self.declared {
            return Err(self.mismatch(received));
        }
        self.received = received;
        self.hasher.update(piece);
        Ok(())
    }

    /// Appends a piece of the response.
    ///
    /// # Errors
    /// [`Error::RequestLengthMismatch`] before the request is complete.
    pub fn response(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.check_complete()?;
        self.hasher.update(piece);
        Ok(())
    }

    /// The data hash.
    ///
    /// # Errors
    /// [`Error::RequestLengthMismatch`] before the request is complete.
    pub fn finish(self) -> Result<Word, Error> {
        self.check_complete()?;
        Ok(self.hasher.finish())
    }

    fn check_complete(&self) -> Result<(), Error> {
        if self.received == self.declared {
            Ok(())
        } else {
            Err(self.mismatch(self.received))
        }
    }

    fn mismatch(&self, length: u64) -> Error {
        Error::RequestLengthMismatch {
            length,
            declared: self.declared,
        }
    }
}

/// `interactionHash`, the 32 bytes that an agent signs (X402 §1, R24): keccak256 of
///
/// | offset | width | field |
/// |---|---|---|
/// | 0 | p | the profile's name, ASCII: 23 or 18 bytes |
/// | p | n | task reference, UTF-8, exactly as given |
/// | p + n | 32 | data hash |
///
/// # Errors
/// [`Error::MalformedTaskRef`] where the reference lacks the shape of
/// [`check_task_ref_shape`].
pub fn interaction_hash(profile: Profile, task_ref: &str, data_hash: &Word) -> Result<Word, Error> {
    check_task_ref_shape(task_ref)?;
    let prefix = profile.name().as_bytes();
    Ok(hash::keccak256v(&[prefix, task_ref.as_bytes(), data_hash]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use crate::testing::word;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Of the facts on Solana, 7.4: request `hello`, response `world`.
    const DATA_HASH: &str = "54ff40b9165bc013d79cc6a608270dfe7ab5815364ade2f7be770e86d4504f84";
    const TASK_REF: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:sig";

    #[test]
    fn x402_data_hash_equals_the_published_one() {
        assert_eq!(data_hash(b"hello", b"world").unwrap(), word(DATA_HASH));
        // `cast keccak 0x00000000`.
        assert_eq!(
            data_hash(b"", b"").unwrap(),
            word("e8e77626586f73b955364c7b4bbf0bb7f7685ebd40e852b164633a4acbd3244c")
        );
    }

    #[test]
    fn r24_interaction_hash_equals_the_published_one_and_differs_by_profile() {
        let hash = |profile| interaction_hash(profile, TASK_REF, &word(DATA_HASH)).unwrap();
        assert_eq!(
            hash(Profile::default()),
            word("1a96d2aff32b1fb97537205d4bb9a83bd2314f0322c66c92a516be2c759cc8e7")
        );
        // By Foundry's `cast keccak`.
        assert_eq!(
            hash(Profile::X402ReputationV1),
            word("5d136757577b32305c2f96db21e0612820b3b3c87ef43e2302950694495f9dcd")
        );
    }

    #[test]
    fn r24_refuses_other_profiles_and_shapeless_references() {
        for name in ["", "x402:reputation:v2", "X402:reputation:v1"] {
            let error = Profile::from_name(name).unwrap_err();
            assert_eq!(error.class(), ErrorClass::BadRequest);
        }
        for profile in Profile::ALL {
            assert_eq!(Profile::from_name(profile.name()), Ok(profile));
        }
        let error = interaction_hash(Profile::default(), "eip155:1", &[0; 32]).unwrap_err();
        assert_eq!(error.class(), ErrorClass::MalformedTaskRef);
    }

    #[test]
    fn r24_request_bytes_are_the_body_or_else_the_target() {
        let target = "/weather?city=London&units=metric";
        assert_eq!(request_bytes("GET", target, b""), Ok(target.as_bytes()));
        assert_eq!(request_bytes("POST", target, b"{}"), Ok(&b"{}"[..]));
        assert_eq!(request_bytes("POST", "", b"{}"), Ok(&b"{}"[..]));
        for (method, target) in [("GET", ""), ("", "/")] {
            let error = request_bytes(method, target, b"").unwrap_err();
            assert_eq!(error.class(), ErrorClass::BadRequest);
        }
    }

    #[test]
    fn x402_refuses_a_request_beyond_the_length_prefix() {
        assert_eq!(request_length_prefix(REQUEST_MAX), Ok([0xff; 4]));
        assert!(DataHasher::new(REQUEST_MAX).is_ok());
        for length in [REQUEST_MAX + 1, u64::MAX] {
            let error = DataHasher::new(length).map(drop).unwrap_err();
            let limit = REQUEST_MAX;
            assert_eq!(error, Error::RequestTooLong { length, limit });
            assert_eq!(error.class(), ErrorClass::RequestTooLong);
        }
    }

    #[test]
    fn refuses_a_stream_that_breaks_its_announced_length() {
        let mut hasher = DataHasher::new(5).unwrap();
        hasher.request(b"hell").unwrap();
        assert!(hasher.clone().response(b"world").is_err());
        assert!(hasher.clone().finish().is_err());
        assert!(hasher.request(b"op").is_err());
        hasher.request(b"o").unwrap();
        hasher.response(b"world").unwrap();
        assert_eq!(hasher.finish().unwrap(), word(DATA_HASH));
    }

    proptest! {
        #[test]
        fn streamed_pieces_hash_like_the_whole(
            request in proptest::collection::vec(any::<Vec<u8>>(), 0..4),
            response in proptest::collection::vec(any::<Vec<u8>>(), 0..4),
        ) {
            let whole = data_hash(&request.concat(), &response.concat()).unwrap();
            let mut hasher = DataHasher::new(request.concat().len() as u64).unwrap();
            for piece in &request {
                hasher.request(piece).unwrap();
            }
            for piece in &response {
                hasher.response(piece).unwrap();
            }
            prop_assert_eq!(hasher.finish().unwrap(), whole);
        }
    }
}
