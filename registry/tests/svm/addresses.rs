use super::{key, program, some_address};
use agent_registry::{
    AgentIdentity, ClientIndex, FeedbackEntry, MetadataEntry, OpenClientIndex, OpenFeedback,
    Registry, SpentPayment, ValidationRequest, ValidationResponse, account_data::derive,
    instructions::initialize::PROGRAM_DATA,
};
use anchor_lang::prelude::Pubkey;
use anchor_spl::associated_token::get_associated_token_address_with_program_id;
use concord_registry::svm::{Program, associated_token_account};

#[test]
fn s3b_addresses_are_the_programs() {
    let program = program();
    let (mint, client, hash) = (some_address(1), some_address(2), [3; 32]);
    let (m, c) = (key(mint), key(client));
    let cases = [
        (program.registry(), Registry::ADDRESS),
        (
            program.event_authority(),
            agent_registry::EVENT_AUTHORITY_AND_BUMP.0,
        ),
        (program.program_data(), PROGRAM_DATA),
        (
            program.agent_mint(&client, 258),
            Pubkey::find_program_address(
                &[b"mint", c.as_ref(), &258_u64.to_le_bytes()],
                &agent_registry::ID,
            )
            .0,
        ),
        (program.agent(&mint), derive(&AgentIdentity::place_of(&m)).0),
        (
            program.metadata_entry(&mint, "name"),
            derive(&MetadataEntry::place_of(&m, "name")).0,
        ),
        (
            program.feedback_entry(&mint, &client, 258),
            derive(&FeedbackEntry::place_of(&m, &c, 258)).0,
        ),
        (
            program.client_index(&mint, &client),
            derive(&ClientIndex::place_of(&m, &c)).0,
        ),
        (
            program.open_feedback(&mint, &client, u64::MAX),
            derive(&OpenFeedback::place_of(&m, &c, u64::MAX)).0,
        ),
        (
            program.open_client_index(&mint, &client),
            derive(&OpenClientIndex::place_of(&m, &c)).0,
        ),
        (
            program.validation_request(&mint, &client, &hash),
            derive(&ValidationRequest::place_of(&m, &c, &hash)).0,
        ),
        (
            program.validation_response(&mint, &client, &hash),
            derive(&ValidationResponse::place_of(&m, &c, &hash)).0,
        ),
        (
            program.spent_payment(&hash, &client),
            derive(&SpentPayment::place_of(&hash, &c)).0,
        ),
        (
            program.extra_account_metas(&mint),
            Pubkey::find_program_address(
                &[b"extra-account-metas", m.as_ref()],
                &agent_registry::ID,
            )
            .0,
        ),
        (
            associated_token_account(&client, &mint),
            get_associated_token_address_with_program_id(&c, &m, &anchor_spl::token_2022::ID),
        ),
    ];
    for (number, (ours, theirs)) in cases.into_iter().enumerate() {
        assert_eq!(key(ours), theirs, "case {number}");
    }
}

#[test]
fn every_address_but_the_token_account_depends_on_the_id() {
    let (one, other) = (Program::new(some_address(8)), Program::new(some_address(9)));
    let (mint, client) = (some_address(1), some_address(2));
    let of = |program: Program| {
        [
            program.registry(),
            program.event_authority(),
            program.program_data(),
            program.agent(&mint),
            program.feedback_entry(&mint, &client, 1),
            program.spent_payment(&[0; 32], &client),
            program.extra_account_metas(&mint),
        ]
    };
    for (one, other) in of(one).iter().zip(of(other)) {
        assert_ne!(*one, other);
    }
}
