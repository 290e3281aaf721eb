//! The events as the program writes them: 8 bytes of discriminator, then the fields in Borsh.
//! Names and order of the fields are the program's; X84's come first (R12).
use crate::event::{AuthorizedBy, Event, EventError, Profile, ValidationTag};
use alloc::{string::String, vec::Vec};
use borsh::BorshDeserialize;
use solana_address::Address;

/// The event, and the cluster's clock in it.
pub(super) fn decode(data: &[u8]) -> Result<(Event, i64), EventError> {
    let (discriminator, fields) = data.split_first_chunk().ok_or(EventError::Unknown)?;
    decode_fields(*discriminator, fields)
}

/// Declares the events, and how each becomes the common one. The last field of each is the
/// cluster's clock unless X84's order puts fields of ours behind it.
macro_rules! native {
    ($($name:ident $discriminator:tt { $($field:ident: $type:ty),+ $(,)? } => $common:expr;)+) => {
        $(#[derive(BorshDeserialize)]
        struct $name {
            $($field: $type),+
        })+

        fn decode_fields(discriminator: [u8; 8], fields: &[u8]) -> Result<(Event, i64), EventError> {
            match discriminator {
                $($discriminator => {
                    let event = stringify!($name);
                    let native = $name::try_from_slice(fields)
                        .map_err(|_| EventError::Malformed { event })?;
                    let timestamp = native.timestamp;
                    let common: fn($name) -> Event = $common;
                    Ok((common(native), timestamp))
                })+
                _ => Err(EventError::Unknown),
            }
        }
    };
}

native! {
    AgentRegistered [191, 78, 217, 54, 232, 100, 189, 85] {
        nft_mint: Address, owner: Address, metadata_uri: String, timestamp: i64,
    } => |it| Event::AgentRegistered {
        agent: it.nft_mint.into(),
        owner: it.owner.into(),
        uri: it.metadata_uri,
    };
    AgentTransferred [5, 213, 4, 28, 147, 238, 64, 57] {
        nft_mint: Address, from: Address, to: Address, timestamp: i64,
    } => |it| Event::AgentTransferred {
        agent: it.nft_mint.into(),
        from: it.from.into(),
        to: it.to.into(),
    };
    AgentUriSet [74, 57, 184, 251, 96, 41, 40, 249] {
        nft_mint: Address, owner: Address, metadata_uri: String, timestamp: i64,
    } => |it| Event::AgentUriSet {
        agent: it.nft_mint.into(),
        by: it.owner.into(),
        uri: it.metadata_uri,
    };
    MetadataSet [190, 125, 71, 119, 14, 31, 26, 197] {
        nft_mint: Address, _owner: Address, metadata_key: String, metadata_value: Vec<u8>,
        timestamp: i64,
    } => |it| Event::MetadataSet {
        agent: it.nft_mint.into(),
        key: it.metadata_key,
        value: it.metadata_value,
    };
    AgentWalletSet [215, 35, 73, 192, 199, 156, 1, 51] {
        nft_mint: Address, _owner: Address, agent_wallet: Address, timestamp: i64,
    } => |it| Event::AgentWalletSet {
        agent: it.nft_mint.into(),
        wallet: some(it.agent_wallet),
    };
    FeedbackAuthoritySet [73, 100, 166, 222, 91, 200, 241, 174] {
        nft_mint: Address, owner: Address, feedback_authority: Address, timestamp: i64,
    } => |it| Event::FeedbackAuthoritySet {
        agent: it.nft_mint.into(),
        owner: it.owner.into(),
        authority: some(it.feedback_authority),
    };
    AuthSchemesSet [118, 18, 4, 17, 62, 110, 106, 65] {
        nft_mint: Address, owner: Address, auth_schemes: u8, timestamp: i64,
    } => |it| Event::AuthSchemesSet {
        agent: it.nft_mint.into(),
        owner: it.owner.into(),
        schemes: it.auth_schemes,
    };
    FeedbackGiven [64, 65, 2, 152, 174, 215, 156, 194] {
        nft_mint: Address, reviewer: Address, score: u8, tag1: [u8; 32], tag2: [u8; 32],
        _has_payment_proof: bool, _payment_amount: u64, detail_uri: String, detail_hash: [u8; 32],
        feedback_auth: [u8; 64], timestamp: i64,
        // ours
        feedback_index: u64, auth_scheme: u8,
    } => |it| Event::AuthorizedFeedback {
        agent: it.nft_mint.into(),
        client: it.reviewer.into(),
        index: it.feedback_index,
        score: it.score,
        tag1: it.tag1,
        tag2: it.tag2,
        uri: it.detail_uri,
        hash: it.detail_hash,
        authorized_by: Some(AuthorizedBy {
            scheme: it.auth_scheme,
            signature: it.feedback_auth,
        }),
    };
    PaymentProven [185, 89, 225, 218, 136, 182, 205, 247] {
        nft_mint: Address, reviewer: Address, feedback_index: u64, payee: Address,
        payment_token: Address, payment_amount: u64, task_ref_hash: [u8; 32],
        paid_at: u64, expiry: u64, facilitator: Address, signature: [u8; 64], timestamp: i64,
    } => |it| Event::PaymentProven {
        agent: it.nft_mint.into(),
        client: it.reviewer.into(),
        index: it.feedback_index,
        payee: it.payee.into(),
        token: it.payment_token.into(),
        amount: it.payment_amount,
        task_ref_hash: it.task_ref_hash,
        paid_at: it.paid_at,
        expiry: it.expiry,
        facilitator: it.facilitator.into(),
        signature: it.signature,
    };
    FeedbackRevoked [205, 16, 31, 94, 54, 101, 16, 199] {
        nft_mint: Address, reviewer: Address, feedback_index: u64, timestamp: i64,
    } => |it| Event::FeedbackRevoked {
        profile: Profile::Authorized,
        agent: it.nft_mint.into(),
        client: it.reviewer.into(),
        index: it.feedback_index,
    };
    ResponseAppended [168, 169, 214, 193, 171, 1, 232, 123] {
        nft_mint: Address, client: Address, feedback_index: u64, responder: Address,
        response_uri: String, response_hash: [u8; 32], timestamp: i64,
    } => |it| Event::ResponseAppended {
        profile: Profile::Authorized,
        agent: it.nft_mint.into(),
        client: it.client.into(),
        index: it.feedback_index,
        responder: it.responder.into(),
        uri: it.response_uri,
        hash: it.response_hash,
    };
    OpenFeedbackGiven [246, 133, 124, 59, 130, 248, 16, 234] {
        nft_mint: Address, client: Address, feedback_index: u64, value: i128, value_decimals: u8,
        tag1: String, tag2: String, endpoint: String, feedback_uri: String,
        feedback_hash: [u8; 32], timestamp: i64,
    } => |it| Event::OpenFeedback {
        agent: it.nft_mint.into(),
        client: it.client.into(),
        index: it.feedback_index,
        value: it.value,
        decimals: it.value_decimals,
        tag1: it.tag1,
        tag2: it.tag2,
        endpoint: it.endpoint,
        uri: it.feedback_uri,
        hash: it.feedback_hash,
    };
    OpenFeedbackRevoked [196, 71, 232, 42, 105, 223, 223, 96] {
        nft_mint: Address, client: Address, feedback_index: u64, timestamp: i64,
    } => |it| Event::FeedbackRevoked {
        profile: Profile::Open,
        agent: it.nft_mint.into(),
        client: it.client.into(),
        index: it.feedback_index,
    };
    OpenResponseAppended [86, 70, 232, 142, 203, 186, 99, 111] {
        nft_mint: Address, client: Address, feedback_index: u64, responder: Address,
        response_uri: String, response_hash: [u8; 32], timestamp: i64,
    } => |it| Event::ResponseAppended {
        profile: Profile::Open,
        agent: it.nft_mint.into(),
        client: it.client.into(),
        index: it.feedback_index,
        responder: it.responder.into(),
        uri: it.response_uri,
        hash: it.response_hash,
    };
    ValidationRequested [133, 42, 252, 198, 82, 135, 183, 65] {
        nft_mint: Address, validator: Address, request_hash: [u8; 32], tag: [u8; 32],
        request_uri: String, timestamp: i64,
    } => |it| Event::ValidationRequested {
        agent: it.nft_mint.into(),
        validator: it.validator.into(),
        request: it.request_hash,
        uri: it.request_uri,
        tag: Some(it.tag),
    };
    ValidationResponded [93, 63, 246, 101, 212, 208, 53, 167] {
        nft_mint: Address, validator: Address, score: u8, tag: [u8; 32], evidence_uri: String,
        evidence_hash: [u8; 32], request_hash: [u8; 32], timestamp: i64,
    } => |it| Event::ValidationResponded {
        agent: it.nft_mint.into(),
        validator: it.validator.into(),
        request: it.request_hash,
        score: it.score,
        uri: it.evidence_uri,
        hash: it.evidence_hash,
        tag: ValidationTag::Bytes(it.tag),
    };
    RegistryInitialized [144, 138, 62, 105, 58, 38, 100, 177] {
        authority: Address, chain: String, timestamp: i64,
    } => |it| Event::ProgramInitialized { authority: it.authority.into(), chain: it.chain };
    RegistryAuthorityProposed [192, 160, 68, 80, 58, 110, 6, 51] {
        authority: Address, proposed_authority: Address, timestamp: i64,
    } => |it| Event::RegistryAuthorityProposed {
        authority: it.authority.into(),
        proposed: some(it.proposed_authority),
    };
    RegistryAuthorityAccepted [86, 41, 138, 232, 198, 35, 216, 90] {
        from: Address, to: Address, timestamp: i64,
    } => |it| Event::RegistryAuthorityAccepted { from: it.from.into(), to: it.to.into() };
    PaymentTokenListed [153, 110, 172, 47, 103, 1, 94, 45] {
        token: Address, listed: bool, timestamp: i64,
    } => |it| Event::PaymentTokenListed { token: it.token.into(), listed: it.listed };
    FacilitatorListed [180, 98, 237, 93, 131, 140, 186, 3] {
        facilitator: Address, listed: bool, timestamp: i64,
    } => |it| Event::FacilitatorListed {
        facilitator: it.facilitator.into(),
        listed: it.listed,
    };
}

/// The program writes all zero for none.
fn some<T: From<Address>>(address: Address) -> Option<T> {
    (address != Address::default()).then(|| address.into())
}
