use super::{key, program, some_address, some_key};
use agent_registry::{self as native, account_data::Record};
use anchor_lang::{AccountSerialize, AnchorDeserialize};
use concord_registry::svm::accounts::{self, Account, AccountError, AccountType};
use concord_registry::svm::views::{OpenSummary, OpenSummaryPart, ViewError};

fn stored(account: &impl AccountSerialize) -> Vec<u8> {
    let mut data = Vec::new();
    account.try_serialize(&mut data).unwrap();
    data
}

/// A value of the program's type in which all bytes differ.
fn filled<T: AnchorDeserialize>() -> T {
    let bytes: Vec<u8> = (1..=255).chain(0..=255).collect();
    T::deserialize(&mut &bytes[..]).unwrap()
}

/// Every field that the program wrote is read, and both take up the same space. The compiler asks
/// for a field that is missing here.
macro_rules! same {
    ($type:ident { $($field:ident),+ $(,)? } $native:expr, $space:expr) => {{
        let native: native::$type = $native;
        let data = stored(&native);
        let read: accounts::$type = program().decode(&program().id(), &data).unwrap();
        let any = program().decode_any(&program().id(), &data).unwrap();
        assert_eq!(any, Account::$type(read.clone()));
        assert_eq!(program().find(&program().id(), &data), Ok(Some(read.clone())));
        let accounts::$type { $($field),+ } = read;
        $(assert!(same_field(&$field, &native.$field), "{}", stringify!($field));)+
        assert_eq!(<accounts::$type as AccountType>::SPACE, $space);
        assert_eq!(<accounts::$type as AccountType>::NAME, stringify!($type));
    }};
}

/// Fields have one encoding, whoever defines the type.
fn same_field<A: borsh::BorshSerialize, B: anchor_lang::AnchorSerialize>(
    ours: &A,
    theirs: &B,
) -> bool {
    let mut native = Vec::new();
    theirs.serialize(&mut native).unwrap();
    borsh::to_vec(ours).unwrap() == native
}

#[test]
fn agents_and_feedback_are_read_as_the_program_writes_them() {
    same!(
        AgentIdentity {
            nft_mint, owner, owner_version, feedback_authority, agent_wallet, auth_schemes,
            created_at, updated_at, verified_feedback_count, verified_score_sum,
            unverified_feedback_count, unverified_score_sum, validation_count, client_count,
            open_client_count, bump, version, wallet_set_at, reserved,
        }
        filled(), native::AgentIdentity::SPACE
    );
    same!(
        FeedbackEntry {
            nft_mint, reviewer, score, tag1, tag2, auth_verified, has_payment_proof,
            payment_amount, payment_token, revoked, created_at, bump, version, feedback_index, auth_scheme,
            response_count, by_stranger,
        }
        native::FeedbackEntry {
            nft_mint: some_key(1), reviewer: some_key(2), score: 87, tag1: [3; 32], tag2: [4; 32],
            auth_verified: true, has_payment_proof: true, payment_amount: 5,
            payment_token: some_key(6), revoked: true, created_at: -7, bump: 8, version: 11, feedback_index: 9,
            auth_scheme: 2, response_count: 10, by_stranger: true,
        },
        native::FeedbackEntry::SPACE
    );
    same!(
        ClientIndex { agent, client, last_index, ordinal, bump, version }
        filled(), native::ClientIndex::SPACE
    );
    same!(
        OpenClientIndex { agent, client, last_index, ordinal, bump, version }
        filled(), native::OpenClientIndex::SPACE
    );
    same!(
        SpentPayment { nft_mint, reviewer, feedback_index, bump, version }
        filled(), native::SpentPayment::SPACE
    );
}

#[test]
fn texts_and_lists_are_read_as_the_program_writes_them() {
    let open = native::OpenFeedback {
        nft_mint: some_key(1),
        client: some_key(2),
        feedback_index: 3,
        value: -4,
        value_decimals: 5,
        revoked: true,
        created_at: 6,
        response_count: 7,
        bump: 8,
        version: 9,
        tag1: "a".repeat(32),
        tag2: "ü".repeat(16),
    };
    let space = open.space();
    same!(
        OpenFeedback {
            nft_mint, client, feedback_index, value, value_decimals, revoked, created_at,
            response_count, bump, version, tag1, tag2,
        }
        open, space
    );
    let metadata = native::MetadataEntry {
        nft_mint: some_key(1),
        bump: 2,
        version: 3,
        key: "k".repeat(32),
        value: vec![9; 256],
    };
    let space = metadata.space();
    same!(MetadataEntry { nft_mint, bump, version, key, value } metadata, space);
    same!(
        Registry {
            chain_hash, bump, version, authority, proposed_authority, chain, payment_tokens, facilitators,
        }
        native::Registry {
            chain_hash: [1; 32], bump: 2, version: 8, authority: some_key(3), proposed_authority: some_key(4),
            chain: "solana:localnet".to_owned(),
            payment_tokens: vec![some_key(5), some_key(6)],
            facilitators: vec![some_key(7)],
        },
        native::Registry::SPACE
    );
    assert_eq!(
        (accounts::PAYMENT_TOKENS_MAX, accounts::FACILITATORS_MAX),
        (
            native::registry::PAYMENT_TOKENS_MAX,
            native::registry::FACILITATORS_MAX
        )
    );
}

fn requested() -> native::ValidationRequest {
    native::ValidationRequest {
        nft_mint: some_key(1),
        validator: some_key(2),
        request_hash: [3; 32],
        tag: [4; 32],
        responded: true,
        created_at: 5,
        bump: 6,
        version: 7,
    }
}

#[test]
fn validations_are_read_as_the_program_writes_them() {
    same!(
        ValidationRequest {
            nft_mint, validator, request_hash, tag, responded, created_at, bump, version,
        }
        requested(), native::ValidationRequest::SPACE
    );
    same!(
        ValidationResponse {
            nft_mint, validator, request_hash, score, tag, created_at, bump, version, evidence_hash,
            last_update, response_count,
        }
        filled(), native::ValidationResponse::SPACE
    );
}

#[test]
fn another_programs_or_types_account_is_none_of_ours() {
    let (program, elsewhere) = (program(), some_address(9));
    let index: native::ClientIndex = filled();
    let data = stored(&index);
    let read = |owner, data: &[u8]| program.decode::<accounts::ClientIndex>(&owner, data);
    assert!(read(program.id(), &data).is_ok());
    assert_eq!(
        read(elsewhere, &data),
        Err(AccountError::OtherOwner {
            owner: elsewhere,
            program: program.id()
        })
    );
    let expected = "OpenClientIndex";
    assert_eq!(
        program.decode::<accounts::OpenClientIndex>(&program.id(), &data),
        Err(AccountError::OtherType { expected })
    );
    assert_eq!(
        program.find::<accounts::OpenClientIndex>(&program.id(), &data),
        Ok(None)
    );
    assert_eq!(
        program.find::<accounts::ClientIndex>(&elsewhere, &data),
        Ok(None)
    );
}

#[test]
fn what_follows_the_fields_is_ignored_and_what_they_lack_is_an_error() {
    let program = program();
    let index: native::ClientIndex = filled();
    let mut data = stored(&index);
    data.push(0);
    assert!(
        program
            .decode::<accounts::ClientIndex>(&program.id(), &data)
            .is_ok()
    );
    data.truncate(data.len() - 2);
    let malformed = AccountError::Malformed {
        expected: "ClientIndex",
        length: data.len(),
    };
    let read = program.find::<accounts::ClientIndex>(&program.id(), &data);
    assert_eq!(read, Err(malformed));
    assert_eq!(program.decode_any(&program.id(), &data), Err(malformed));
}

/// As the program reads it (`layout_upgrade`): it has 283 bytes, of which the last 56 are the reserve.
#[test]
fn r12_an_identity_without_its_reserve_reads_as_if_zeros_followed() {
    let native: native::AgentIdentity = filled();
    let whole = stored(&native);
    let read = |data: &[u8]| program().decode::<accounts::AgentIdentity>(&program().id(), data);
    let all = read(&whole).unwrap();
    for length in [227, 228, 282] {
        let mut zeros = whole[..length].to_vec();
        zeros.resize(whole.len(), 0);
        let expected = read(&zeros).unwrap();
        assert_eq!(read(&whole[..length]), Ok(expected.clone()));
        assert_eq!((expected.nft_mint, expected.bump), (all.nft_mint, all.bump));
        assert_eq!(expected.reserved[55], 0);
    }
    assert_eq!(read(&whole[..227]).unwrap().version, all.version);
    assert_eq!(
        read(&whole[..226]),
        Err(AccountError::Malformed {
            expected: "AgentIdentity",
            length: 226
        })
    );
}

#[test]
fn an_account_of_no_known_type_is_reported_with_its_beginning() {
    let program = program();
    let any = |data: &[u8]| program.decode_any(&program.id(), data);
    let execute = native::extra_account_metas::EXECUTE;
    assert_eq!(any(execute), Ok(Account::ExtraAccountMetas));
    assert_eq!(
        any(&[7; 9]),
        Err(AccountError::UnknownType {
            discriminator: [7; 8]
        })
    );
    assert_eq!(
        any(&[7]),
        Err(AccountError::UnknownType {
            discriminator: [7, 0, 0, 0, 0, 0, 0, 0]
        })
    );
    assert_eq!(
        accounts::EXTRA_ACCOUNT_METAS_SPACE,
        8 + 4 + 4 + 3 * 35, // discriminator, length, count; kind, address and two flags for each account
    );
}

#[test]
fn an_agents_settings_mean_what_the_program_means() {
    // R3, R7
    let mut native: native::AgentIdentity = filled();
    for authority in [some_key(0), some_key(5)] {
        native.feedback_authority = authority;
        native.agent_wallet = authority;
        let read: accounts::AgentIdentity =
            program().decode(&program().id(), &stored(&native)).unwrap();
        assert_eq!(
            key(read.authorization_signer()),
            *native.authorization_signer()
        );
        assert_eq!(read.wallet().is_some(), authority != some_key(0));
    }
    let schemes = [accounts::AUTH_SCHEME_X84, accounts::AUTH_SCHEME_BOUNDED];
    assert_eq!(
        schemes,
        [
            native::agent_identity::AUTH_SCHEME_X84,
            native::agent_identity::AUTH_SCHEME_BOUNDED
        ]
    );
}

#[test]
fn r16_views_are_read_whole_and_from_this_program_only() {
    use anchor_lang::AnchorSerialize;
    let mut returned = Vec::new();
    native::open_summary::OpenSummary {
        count: 2,
        value: -31,
        decimals: 1,
    }
    .serialize(&mut returned)
    .unwrap();
    let program = program();
    let summary = OpenSummary {
        count: 2,
        value: -31,
        decimals: 1,
    };
    assert_eq!(program.decode_view(&program.id(), &returned), Ok(summary));
    returned.push(0);
    assert_eq!(
        program.decode_view::<OpenSummary>(&program.id(), &returned),
        Err(ViewError::Malformed {
            expected: "OpenSummary",
            length: 26
        })
    );
    let returned_by = some_address(9);
    assert_eq!(
        program.decode_view::<OpenSummary>(&returned_by, &returned),
        Err(ViewError::OtherProgram {
            returned_by,
            program: program.id()
        })
    );
    let mut returned = Vec::new();
    let mut histogram = [0; 19];
    histogram[18] = 2; // decimals at which -1 is a sum of values
    native::open_summary_part::OpenSummaryPart {
        sum: [0xFF; 32],
        count: 2,
        histogram,
    }
    .serialize(&mut returned)
    .unwrap();
    let part: OpenSummaryPart = program.decode_view(&program.id(), &returned).unwrap();
    let accumulator = part.accumulator().unwrap();
    assert_eq!(accumulator.count(), 2);
    assert_eq!(accumulator.sum().to_be_bytes(), [0xFF; 32]); // -1
}

#[test]
fn r15_an_agents_totals_are_of_verified_and_unverified_feedback() {
    let agent = accounts::AgentIdentity {
        verified_feedback_count: 2,
        verified_score_sum: 150,
        unverified_feedback_count: 3,
        unverified_score_sum: 70,
        ..read_as_stored(filled::<native::AgentIdentity>())
    };
    assert_eq!(agent.totals(), Some((5, 220)));
    let counts = accounts::AgentIdentity {
        verified_feedback_count: u64::MAX - 2,
        ..agent.clone()
    };
    assert_eq!(counts.totals(), None);
    let sums = accounts::AgentIdentity {
        verified_score_sum: u64::MAX - 69,
        ..agent
    };
    assert_eq!(sums.totals(), None);
}

#[test]
fn r20_a_response_answers_the_request_that_it_names() {
    let request: accounts::ValidationRequest = read_as_stored(requested());
    let response = accounts::ValidationResponse {
        nft_mint: request.nft_mint,
        validator: request.validator,
        request_hash: request.request_hash,
        ..read_as_stored(filled::<native::ValidationResponse>())
    };
    assert!(response.answers(&request));
    let others = [
        accounts::ValidationRequest {
            nft_mint: some_address(9),
            ..request.clone()
        },
        accounts::ValidationRequest {
            validator: some_address(9),
            ..request.clone()
        },
        accounts::ValidationRequest {
            request_hash: [9; 32],
            ..request
        },
    ];
    for other in others {
        assert!(!response.answers(&other), "{other:?}");
    }
}

/// An account of the program, as this crate reads it.
fn read_as_stored<T: AccountType>(native: impl AccountSerialize) -> T {
    let data = stored(&native);
    program().decode(&program().id(), &data).unwrap()
}
