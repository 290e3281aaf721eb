//! What clients and indexers rely on, held against literals: error codes, discriminators, seeds,
//! addresses, account sizes, byte offsets, the interface description.

mod description;
mod discriminators;
mod layouts;
mod seeds;

use crate::localnet::{pda, program_data, program_id};
use agent_registry::{ConcordError, Registry};
use sha2::{Digest, Sha256};
use solana_keypair::Keypair;
use solana_signer::Signer;

#[test]
fn the_local_program_id_is_the_key_of_its_documented_seed() {
    let seed = Sha256::digest(b"concord localnet program");
    let keypair = Keypair::new_from_array(seed.into());
    assert_eq!(keypair.pubkey(), program_id());
    assert_eq!(agent_registry::ID.to_bytes(), program_id().to_bytes());
}

#[test]
fn error_codes_are_append_only() {
    use ConcordError::*;
    let codes = [
        (ScoreOutOfRange, 6000),
        (AgentNotFound, 6001),
        (SelfFeedback, 6002),
        (LengthLimit, 6003),
        (FeedbackIndexStale, 6004),
        (AuthMissing, 6005),
        (AuthMalformed, 6006),
        (AuthExpired, 6007),
        (AuthIndexLimit, 6008),
        (AuthWrongSigner, 6009),
        (AuthWrongMessage, 6010),
        (FeedbackNotFound, 6011),
        (AlreadyRevoked, 6012),
        (CounterExhausted, 6013),
        (NotAuthorized, 6014),
        (NotInTransfer, 6015),
        (TransferRefused, 6016),
        (NotUpgradeAuthority, 6017),
        (AlreadyInitialized, 6018),
        (MalformedChainId, 6019),
        (AccountMismatch, 6020),
        (ReservedKey, 6021),
        (WalletZero, 6022),
        (WalletConsentMissing, 6023),
        (AuthSchemeUnknown, 6024),
        (PaymentAlreadyProven, 6025),
        (PaymentSpent, 6026),
        (PaymentWrongPayer, 6027),
        (PaymentInFuture, 6028),
        (PaymentWrongToken, 6029),
        (PaymentZeroAmount, 6030),
        (PaymentWrongFacilitator, 6031),
        (ListTooLong, 6032),
        (DecimalsOutOfRange, 6033),
        (ValueOutOfRange, 6034),
        (EmptyUri, 6035),
        (EmptyClients, 6036),
        (SummaryGap, 6037),
        (ValidatorZero, 6038),
        (RequestExists, 6039),
        (RequestPrefixCollision, 6040),
        (RequestNotFound, 6041),
        (NotValidator, 6042),
        (InstructionsTooLong, 6043),
        (SummaryRange, 6044),
        (AuthorityConsentMissing, 6045),
    ];
    for (error, code) in codes {
        assert_eq!(u32::from(error), code);
    }
}

#[test]
fn constant_addresses_equal_the_searched_ones() {
    assert_eq!(Registry::ADDRESS.to_bytes(), pda(&[b"registry"]).to_bytes());
    assert_eq!(
        agent_registry::PROGRAM_DATA.to_bytes(),
        program_data().to_bytes()
    );
    let events = agent_registry::EVENT_AUTHORITY_AND_BUMP.0;
    assert_eq!(events.to_bytes(), pda(&[b"__event_authority"]).to_bytes());
}
