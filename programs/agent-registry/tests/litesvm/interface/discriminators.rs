//! The first 8 bytes of every instruction, account and event.

use agent_registry::{
    AgentIdentity, AgentRegistered, AgentTransferred, AgentUriSet, AgentWalletSet, AuthSchemesSet,
    ClientIndex, FacilitatorListed, FeedbackAuthoritySet, FeedbackEntry, FeedbackGiven,
    FeedbackRevoked, MetadataEntry, MetadataSet, OpenClientIndex, OpenFeedback, OpenFeedbackGiven,
    OpenFeedbackRevoked, OpenResponseAppended, PaymentProven, PaymentTokenListed, Registry,
    RegistryAuthorityAccepted, RegistryAuthorityProposed, ResponseAppended, SpentPayment,
    ValidationRequest, ValidationRequested, ValidationResponded, ValidationResponse, instruction,
};
use anchor_lang::Discriminator;
use sha2::{Digest, Sha256};

#[test]
fn discriminators_are_x84s_where_x84_has_the_item() {
    // X84's interface description
    assert_eq!(
        instruction::GiveFeedback::DISCRIMINATOR,
        [145, 136, 123, 3, 215, 165, 98, 41]
    );
    assert_eq!(
        instruction::RevokeFeedback::DISCRIMINATOR,
        [211, 37, 230, 82, 118, 216, 137, 206]
    );
    assert_eq!(
        instruction::RegisterAgent::DISCRIMINATOR,
        [135, 157, 66, 195, 2, 113, 175, 30]
    );
    assert_eq!(
        AgentIdentity::DISCRIMINATOR,
        [11, 149, 31, 27, 186, 76, 241, 72]
    );
    assert_eq!(
        FeedbackEntry::DISCRIMINATOR,
        [203, 62, 143, 114, 243, 30, 218, 29]
    );
    assert_eq!(
        FeedbackGiven::DISCRIMINATOR,
        [64, 65, 2, 152, 174, 215, 156, 194]
    );
    assert_eq!(
        FeedbackRevoked::DISCRIMINATOR,
        [205, 16, 31, 94, 54, 101, 16, 199]
    );
    assert_eq!(
        AgentRegistered::DISCRIMINATOR,
        [191, 78, 217, 54, 232, 100, 189, 85]
    );
    // ours, and the transfer-hook interface's
    assert_eq!(
        instruction::Initialize::DISCRIMINATOR,
        [175, 175, 109, 31, 13, 152, 155, 237]
    );
    assert_eq!(
        instruction::TransferHook::DISCRIMINATOR,
        [105, 37, 101, 197, 75, 251, 102, 26]
    );
    assert_eq!(
        AgentTransferred::DISCRIMINATOR,
        [5, 213, 4, 28, 147, 238, 64, 57]
    );
    assert_eq!(
        ClientIndex::DISCRIMINATOR,
        [238, 41, 224, 47, 148, 252, 219, 166]
    );
    assert_eq!(
        Registry::DISCRIMINATOR,
        [47, 174, 110, 246, 184, 182, 252, 218]
    );
}

#[test]
fn discriminators_of_settings_registry_and_payments() {
    let instructions = [
        instruction::SetAgentUri::DISCRIMINATOR,
        instruction::SetMetadata::DISCRIMINATOR,
        instruction::SetAgentWallet::DISCRIMINATOR,
        instruction::UnsetAgentWallet::DISCRIMINATOR,
        instruction::SetFeedbackAuthority::DISCRIMINATOR,
        instruction::SetAuthSchemes::DISCRIMINATOR,
        instruction::AttachPaymentProof::DISCRIMINATOR,
        instruction::ProposeRegistryAuthority::DISCRIMINATOR,
        instruction::AcceptRegistryAuthority::DISCRIMINATOR,
        instruction::SetPaymentToken::DISCRIMINATOR,
        instruction::SetFacilitator::DISCRIMINATOR,
    ];
    let names = [
        "set_agent_uri",
        "set_metadata",
        "set_agent_wallet",
        "unset_agent_wallet",
        "set_feedback_authority",
        "set_auth_schemes",
        "attach_payment_proof",
        "propose_registry_authority",
        "accept_registry_authority",
        "set_payment_token",
        "set_facilitator",
    ];
    assert_eq!(instructions.len(), names.len());
    for (discriminator, name) in instructions.iter().zip(names) {
        let hash = Sha256::digest(format!("global:{name}"));
        assert_eq!(*discriminator, &hash[..8], "{name}");
    }
    let accounts = [
        (
            MetadataEntry::DISCRIMINATOR,
            [96, 126, 172, 22, 37, 180, 115, 47],
        ),
        (
            SpentPayment::DISCRIMINATOR,
            [77, 205, 185, 208, 111, 79, 133, 247],
        ),
    ];
    for (discriminator, bytes) in accounts {
        assert_eq!(discriminator, bytes);
    }
}

#[test]
fn discriminators_of_validation_are_x84s() {
    let x84s = [
        (
            instruction::ValidationRequest::DISCRIMINATOR,
            [4, 80, 247, 116, 126, 161, 170, 65],
        ),
        (
            instruction::ValidationResponse::DISCRIMINATOR,
            [151, 33, 222, 44, 230, 69, 231, 9],
        ),
        (
            ValidationRequest::DISCRIMINATOR,
            [130, 174, 153, 111, 74, 241, 40, 140],
        ),
        (
            ValidationResponse::DISCRIMINATOR,
            [146, 167, 252, 222, 192, 143, 244, 20],
        ),
        (
            ValidationRequested::DISCRIMINATOR,
            [133, 42, 252, 198, 82, 135, 183, 65],
        ),
        (
            ValidationResponded::DISCRIMINATOR,
            [93, 63, 246, 101, 212, 208, 53, 167],
        ),
    ];
    for (ours, theirs) in x84s {
        assert_eq!(ours, theirs);
    }
}

#[test]
fn discriminators_of_open_feedback_and_responses_are_those_of_their_names() {
    let names = [
        (
            instruction::AppendResponse::DISCRIMINATOR,
            "global:append_response",
        ),
        (
            instruction::GiveOpenFeedback::DISCRIMINATOR,
            "global:give_open_feedback",
        ),
        (
            instruction::RevokeOpenFeedback::DISCRIMINATOR,
            "global:revoke_open_feedback",
        ),
        (
            instruction::AppendOpenResponse::DISCRIMINATOR,
            "global:append_open_response",
        ),
        (
            instruction::OpenSummary::DISCRIMINATOR,
            "global:open_summary",
        ),
        (
            instruction::OpenSummaryPart::DISCRIMINATOR,
            "global:open_summary_part",
        ),
        (OpenFeedback::DISCRIMINATOR, "account:OpenFeedback"),
        (OpenClientIndex::DISCRIMINATOR, "account:OpenClientIndex"),
        (ResponseAppended::DISCRIMINATOR, "event:ResponseAppended"),
        (OpenFeedbackGiven::DISCRIMINATOR, "event:OpenFeedbackGiven"),
        (
            OpenFeedbackRevoked::DISCRIMINATOR,
            "event:OpenFeedbackRevoked",
        ),
        (
            OpenResponseAppended::DISCRIMINATOR,
            "event:OpenResponseAppended",
        ),
    ];
    for (discriminator, name) in names {
        assert_eq!(*discriminator, Sha256::digest(name)[..8]);
    }
}

#[test]
fn discriminators_of_the_other_events_are_those_of_their_names() {
    let names = [
        (AgentUriSet::DISCRIMINATOR, "event:AgentUriSet"),
        (MetadataSet::DISCRIMINATOR, "event:MetadataSet"),
        (AgentWalletSet::DISCRIMINATOR, "event:AgentWalletSet"),
        (
            FeedbackAuthoritySet::DISCRIMINATOR,
            "event:FeedbackAuthoritySet",
        ),
        (AuthSchemesSet::DISCRIMINATOR, "event:AuthSchemesSet"),
        (
            RegistryAuthorityProposed::DISCRIMINATOR,
            "event:RegistryAuthorityProposed",
        ),
        (
            RegistryAuthorityAccepted::DISCRIMINATOR,
            "event:RegistryAuthorityAccepted",
        ),
        (
            PaymentTokenListed::DISCRIMINATOR,
            "event:PaymentTokenListed",
        ),
        (FacilitatorListed::DISCRIMINATOR, "event:FacilitatorListed"),
        (PaymentProven::DISCRIMINATOR, "event:PaymentProven"),
    ];
    for (discriminator, name) in names {
        assert_eq!(*discriminator, Sha256::digest(name)[..8], "{name}");
    }
}
