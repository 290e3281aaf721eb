//! Each instruction beside Anchor's own, made from the program's types: id, data, and every account
//! with its flags.
use super::{address, key, program, some_address, some_key};
use agent_registry::{
    EntryRange, FeedbackAuthorization as NativeAuthorization, accounts,
    attach_payment_proof::Payment as NativePayment, instruction,
    instructions::initialize::PROGRAM_DATA,
};
use anchor_lang::{InstructionData, ToAccountMetas, prelude::Pubkey};
use concord_registry::svm::{
    AccountMeta, Address, Instruction, Program, associated_token_account,
    instructions::{
        AppendResponse, AttachPaymentProof, ClientEntries, Consent, FeedbackAuthorization,
        GiveFeedback, GiveOpenFeedback, Payment, RequestValidation, RespondToValidation,
        SUMMARY_ACCOUNTS_MAX, accounts_of_summary, sponsored,
    },
};

const MINT: u8 = 1;
const CALLER: u8 = 2;
const CLIENT: u8 = 3;
const HASH: [u8; 32] = [0xAB; 32];

fn mint() -> Address {
    some_address(MINT)
}

fn caller() -> Address {
    some_address(CALLER)
}

fn client() -> Address {
    some_address(CLIENT)
}

/// The instruction that Anchor makes of the program's own types.
fn native(accounts: &impl ToAccountMetas, arguments: &impl InstructionData) -> Instruction {
    let metas = accounts.to_account_metas(None).into_iter();
    Instruction {
        program_id: address(agent_registry::ID),
        accounts: metas
            .map(|meta| AccountMeta {
                pubkey: address(meta.pubkey),
                is_signer: meta.is_signer,
                is_writable: meta.is_writable,
            })
            .collect(),
        data: arguments.data(),
    }
}

fn derived(find: impl Fn(&Program) -> Address) -> Pubkey {
    key(find(&program()))
}

fn agent() -> Pubkey {
    derived(|it| it.agent(&mint()))
}

const EVENT_AUTHORITY: Pubkey = agent_registry::EVENT_AUTHORITY_AND_BUMP.0;
const REGISTRY: Pubkey = agent_registry::Registry::ADDRESS;
const SYSTEM: Pubkey = anchor_lang::system_program::ID;

fn events() -> accounts::EventAccounts {
    accounts::EventAccounts {
        event_authority: EVENT_AUTHORITY,
        program: agent_registry::ID,
    }
}

fn agent_accounts() -> accounts::AgentAccounts {
    accounts::AgentAccounts {
        agent: agent(),
        nft_mint: some_key(MINT),
    }
}

fn instructions_sysvar() -> Pubkey {
    "Sysvar1nstructions1111111111111111111111111"
        .parse()
        .unwrap()
}

#[test]
fn initialize() {
    let expected = native(
        &accounts::Initialize {
            upgrade_authority: some_key(CALLER),
            payer: some_key(CALLER),
            registry: REGISTRY,
            program_data: PROGRAM_DATA,
            system_program: SYSTEM,
            events: events(),
        },
        &instruction::Initialize {
            chain: "solana:localnet".to_owned(),
        },
    );
    assert_eq!(program().initialize(caller(), "solana:localnet"), expected);
}

#[test]
fn registry_settings() {
    let accounts = accounts::RegistryChange {
        authority: some_key(CALLER),
        registry: REGISTRY,
        events: events(),
    };
    let (program, other) = (program(), some_key(9));
    let (token, facilitator, successor) = (other, other, other);
    let of = |arguments: &dyn InstructionDataOf| arguments.beside(&accounts);
    let some = some_address(9);
    assert_eq!(
        program.propose_registry_authority(caller(), Some(some)),
        of(&instruction::ProposeRegistryAuthority { successor })
    );
    assert_eq!(
        program.propose_registry_authority(caller(), None),
        of(&instruction::ProposeRegistryAuthority {
            successor: Pubkey::default()
        })
    );
    assert_eq!(
        program.accept_registry_authority(caller()),
        of(&instruction::AcceptRegistryAuthority {})
    );
    for listed in [true, false] {
        assert_eq!(
            program.set_payment_token(caller(), some, listed),
            of(&instruction::SetPaymentToken { token, listed })
        );
        assert_eq!(
            program.set_facilitator(caller(), some, listed),
            of(&instruction::SetFacilitator {
                facilitator,
                listed
            })
        );
    }
}

/// Arguments of whatever instruction, for one list of accounts.
trait InstructionDataOf {
    fn beside(&self, accounts: &dyn ToAccountMetas) -> Instruction;
}

impl<T: InstructionData> InstructionDataOf for T {
    fn beside(&self, accounts: &dyn ToAccountMetas) -> Instruction {
        let metas = accounts.to_account_metas(None);
        native(&metas, self)
    }
}

#[test]
fn register_agent() {
    let (payer, nonce) = (client(), 258);
    let mint = program().agent_mint(&payer, nonce);
    let token_account = associated_token_account(&caller(), &mint);
    let accounts = accounts::RegisterAgent {
        owner: some_key(CALLER),
        payer: key(payer),
        nft_mint: key(mint),
        agent: derived(|it| it.agent(&mint)),
        token_account: key(token_account),
        extra_account_metas: derived(|it| it.extra_account_metas(&mint)),
        token_program: anchor_spl::token_2022::ID,
        associated_token_program: anchor_spl::associated_token::ID,
        system_program: SYSTEM,
        events: events(),
    };
    let arguments = instruction::RegisterAgent {
        nonce,
        uri: "ipfs://agent".to_owned(),
    };
    let registered = program().register_agent(caller(), payer, nonce, "ipfs://agent");
    assert_eq!(registered, native(&accounts, &arguments));
    let entry: (&str, &[u8]) = ("name", &[1, 2]);
    let with_metadata =
        program().register_agent_with_metadata(caller(), nonce, "ipfs://agent", &[entry]);
    let register = program().register_agent(caller(), caller(), nonce, "ipfs://agent");
    let mint = program().agent_mint(&caller(), nonce);
    let set = program().set_metadata(caller(), mint, "name", &[1, 2]);
    assert_eq!(with_metadata, [register, set]);
}

#[test]
fn owner_settings() {
    let accounts = accounts::OwnerSetting {
        owner: some_key(CALLER),
        agent: agent_accounts(),
        events: events(),
    };
    let program = program();
    assert_eq!(
        program.unset_agent_wallet(caller(), mint()),
        native(&accounts, &instruction::UnsetAgentWallet {})
    );
    assert_eq!(
        program.set_auth_schemes(caller(), mint(), 3),
        native(&accounts, &instruction::SetAuthSchemes { schemes: 3 })
    );
}

#[test]
fn set_agent_uri() {
    let expected = native(
        &accounts::SetAgentUri {
            owner: some_key(CALLER),
            payer: some_key(CALLER),
            agent: agent(),
            nft_mint: some_key(MINT),
            token_program: anchor_spl::token_2022::ID,
            system_program: SYSTEM,
            events: events(),
        },
        &instruction::SetAgentUri {
            uri: "u".to_owned(),
        },
    );
    assert_eq!(program().set_agent_uri(caller(), mint(), "u"), expected);
}

#[test]
fn set_metadata() {
    let expected = native(
        &accounts::SetMetadata {
            owner: some_key(CALLER),
            payer: some_key(CALLER),
            agent: agent_accounts(),
            metadata_entry: derived(|it| it.metadata_entry(&mint(), "schlüssel")),
            system_program: SYSTEM,
            events: events(),
        },
        &instruction::SetMetadata {
            key: "schlüssel".to_owned(),
            value: vec![0, 255],
        },
    );
    let set = program().set_metadata(caller(), mint(), "schlüssel", &[0, 255]);
    assert_eq!(set, expected);
}

#[test]
fn r3_set_agent_wallet_has_the_wallet_sign_and_never_write() {
    let expected = native(
        &accounts::SetAgentWallet {
            owner: some_key(CALLER),
            agent: agent_accounts(),
            new_wallet: some_key(9),
            instructions_sysvar: instructions_sysvar(),
            events: events(),
        },
        &instruction::SetAgentWallet {},
    );
    let set = |consent| program().set_agent_wallet(caller(), mint(), some_address(9), consent);
    let mut signed = set(Consent::Signs);
    // The wallet is the fourth account. Its consent is a signature that Anchor's types do not ask for.
    let flags = |it: &Instruction| (it.accounts[3].is_signer, it.accounts[3].is_writable);
    assert_eq!(flags(&signed), (true, false));
    assert_eq!(flags(&set(Consent::Missing)), (false, false));
    signed.accounts[3].is_signer = expected.accounts[3].is_signer;
    assert_eq!(signed, expected);
}

#[test]
fn r7_set_feedback_authority_has_the_authority_sign_and_never_write() {
    let set = |authority| program().set_feedback_authority(caller(), mint(), authority);
    let cases = [
        (Some((some_address(9), Consent::Signs)), some_key(9), true),
        (
            Some((some_address(9), Consent::Missing)),
            some_key(9),
            false,
        ),
        (None, Pubkey::default(), false),
    ];
    for (authority, new_authority, signs) in cases {
        let mut expected = native(
            &accounts::SetFeedbackAuthority {
                owner: some_key(CALLER),
                agent: agent_accounts(),
                new_authority,
                instructions_sysvar: instructions_sysvar(),
                events: events(),
            },
            &instruction::SetFeedbackAuthority {},
        );
        // Anchor's types do not ask for the signature.
        expected.accounts[3].is_signer = signs;
        assert_eq!(set(authority), expected);
    }
}

#[test]
fn give_feedback() {
    let authorizations = [
        (FeedbackAuthorization::X84, NativeAuthorization::X84),
        (
            FeedbackAuthorization::Bounded {
                index_limit: 8,
                expiry: 9,
            },
            NativeAuthorization::Bounded {
                index_limit: 8,
                expiry: 9,
            },
        ),
    ];
    for (authorization, auth) in authorizations {
        let expected = native(
            &accounts::GiveFeedback {
                reviewer: some_key(CALLER),
                payer: some_key(CALLER),
                registry: REGISTRY,
                agent: agent_accounts(),
                client_index: derived(|it| it.client_index(&mint(), &caller())),
                feedback_entry: derived(|it| it.feedback_entry(&mint(), &caller(), 7)),
                instructions_sysvar: instructions_sysvar(),
                system_program: SYSTEM,
                events: events(),
            },
            &instruction::GiveFeedback {
                feedback_index: 7,
                score: 87,
                tag1: [4; 32],
                tag2: [5; 32],
                detail_uri: "ipfs://detail".to_owned(),
                detail_hash: HASH,
                auth,
            },
        );
        let feedback = GiveFeedback {
            index: 7,
            score: 87,
            tag1: [4; 32],
            tag2: [5; 32],
            uri: "ipfs://detail",
            hash: HASH,
            authorization,
        };
        assert_eq!(
            program().give_feedback(caller(), mint(), &feedback),
            expected
        );
    }
}

#[test]
fn revoke_feedback() {
    let expected = native(
        &accounts::RevokeFeedback {
            reviewer: some_key(CALLER),
            agent: agent_accounts(),
            feedback_entry: derived(|it| it.feedback_entry(&mint(), &caller(), 7)),
            events: events(),
        },
        &instruction::RevokeFeedback { feedback_index: 7 },
    );
    assert_eq!(program().revoke_feedback(caller(), mint(), 7), expected);
}

#[test]
fn responses() {
    let response = AppendResponse {
        client: client(),
        index: 7,
        uri: "ipfs://response",
        hash: HASH,
    };
    let (responder, nft_mint) = (some_key(CALLER), some_key(MINT));
    let expected = native(
        &accounts::AppendResponse {
            responder,
            nft_mint,
            feedback_entry: derived(|it| it.feedback_entry(&mint(), &client(), 7)),
            events: events(),
        },
        &instruction::AppendResponse {
            client: some_key(CLIENT),
            feedback_index: 7,
            response_uri: "ipfs://response".to_owned(),
            response_hash: HASH,
        },
    );
    let appended = program().append_response(caller(), mint(), &response);
    assert_eq!(appended, expected);
    let expected = native(
        &accounts::AppendOpenResponse {
            responder,
            nft_mint,
            open_feedback: derived(|it| it.open_feedback(&mint(), &client(), 7)),
            events: events(),
        },
        &instruction::AppendOpenResponse {
            client: some_key(CLIENT),
            feedback_index: 7,
            response_uri: "ipfs://response".to_owned(),
            response_hash: HASH,
        },
    );
    let appended = program().append_open_response(caller(), mint(), &response);
    assert_eq!(appended, expected);
}

#[test]
fn attach_payment_proof() {
    let expected = native(
        &accounts::AttachPaymentProof {
            caller: some_key(CALLER),
            payer: some_key(CALLER),
            reviewer: some_key(CLIENT),
            registry: REGISTRY,
            agent: agent_accounts(),
            feedback_entry: derived(|it| it.feedback_entry(&mint(), &client(), 7)),
            spent_payment: derived(|it| it.spent_payment(&HASH, &client())),
            instructions_sysvar: instructions_sysvar(),
            system_program: SYSTEM,
            events: events(),
        },
        &instruction::AttachPaymentProof {
            feedback_index: 7,
            payment: NativePayment {
                payer: some_key(CLIENT),
                payee: some_key(10),
                token: some_key(11),
                amount: 12,
                task_ref_hash: HASH,
                paid_at: 15,
                expiry: 13,
                facilitator: some_key(14),
            },
        },
    );
    let proof = AttachPaymentProof {
        reviewer: client(),
        index: 7,
        payment: Payment {
            payer: client(),
            payee: some_address(10),
            token: some_address(11),
            amount: 12,
            task_ref_hash: HASH,
            paid_at: 15,
            expiry: 13,
            facilitator: some_address(14),
        },
    };
    assert_eq!(
        program().attach_payment_proof(caller(), mint(), &proof),
        expected
    );
}

#[test]
fn open_feedback() {
    let expected = native(
        &accounts::GiveOpenFeedback {
            client: some_key(CALLER),
            payer: some_key(CALLER),
            agent: agent_accounts(),
            open_client_index: derived(|it| it.open_client_index(&mint(), &caller())),
            open_feedback: derived(|it| it.open_feedback(&mint(), &caller(), 7)),
            system_program: SYSTEM,
            events: events(),
        },
        &instruction::GiveOpenFeedback {
            feedback_index: 7,
            value: -31,
            value_decimals: 1,
            tag1: "quality".to_owned(),
            tag2: String::new(),
            endpoint: "https://agent".to_owned(),
            feedback_uri: "ipfs://feedback".to_owned(),
            feedback_hash: HASH,
        },
    );
    let feedback = GiveOpenFeedback {
        index: 7,
        value: -31,
        decimals: 1,
        tag1: "quality",
        tag2: "",
        endpoint: "https://agent",
        uri: "ipfs://feedback",
        hash: HASH,
    };
    assert_eq!(
        program().give_open_feedback(caller(), mint(), &feedback),
        expected
    );
    let expected = native(
        &accounts::RevokeOpenFeedback {
            client: some_key(CALLER),
            nft_mint: some_key(MINT),
            open_feedback: derived(|it| it.open_feedback(&mint(), &caller(), 7)),
            events: events(),
        },
        &instruction::RevokeOpenFeedback { feedback_index: 7 },
    );
    let revoked = program().revoke_open_feedback(caller(), mint(), 7);
    assert_eq!(revoked, expected);
}

#[test]
fn r16_summaries_read_each_listed_clients_index_and_entries() {
    let listed = [
        ClientEntries {
            client: client(),
            last: 2,
        },
        ClientEntries {
            client: caller(),
            last: 0,
        },
    ];
    let accounts = accounts::OpenEntries {
        nft_mint: some_key(MINT),
    };
    let read = |it: &Program| {
        [
            it.open_client_index(&mint(), &client()),
            it.open_feedback(&mint(), &client(), 1),
            it.open_feedback(&mint(), &client(), 2),
            it.open_client_index(&mint(), &caller()),
        ]
    };
    let with_entries = |mut it: Instruction| {
        let metas = read(&program()).map(|at| AccountMeta::new_readonly(at, false));
        it.accounts.extend(metas);
        it
    };
    let (clients, tag1, tag2) = (
        vec![some_key(CLIENT), some_key(CALLER)],
        "a".to_owned(),
        "b".to_owned(),
    );
    let part = instruction::OpenSummaryPart {
        clients: clients.clone(),
        tag1: tag1.clone(),
        tag2: tag2.clone(),
        range: None,
    };
    let whole = instruction::OpenSummary {
        clients,
        tag1,
        tag2,
    };
    assert_eq!(
        program().open_summary(mint(), &listed, "a", "b"),
        with_entries(native(&accounts, &whole))
    );
    assert_eq!(
        program().open_summary_part(mint(), &listed, "a", "b"),
        with_entries(native(&accounts, &part))
    );
    assert_eq!(accounts_of_summary(&listed), 4);
    let endless = [ClientEntries {
        client: client(),
        last: u64::MAX,
    }; 2];
    assert_eq!(accounts_of_summary(&endless), u64::MAX);
    assert_eq!(SUMMARY_ACCOUNTS_MAX, 61);
}

#[test]
fn r16_a_range_reads_one_clients_index_and_the_entries_in_it() {
    let mut expected = native(
        &accounts::OpenEntries {
            nft_mint: some_key(MINT),
        },
        &instruction::OpenSummaryPart {
            clients: vec![some_key(CLIENT)],
            tag1: "a".to_owned(),
            tag2: "b".to_owned(),
            range: Some(EntryRange { first: 3, last: 4 }),
        },
    );
    let read = [
        program().open_client_index(&mint(), &client()),
        program().open_feedback(&mint(), &client(), 3),
        program().open_feedback(&mint(), &client(), 4),
    ];
    let metas = read.map(|address| AccountMeta::new_readonly(address, false));
    expected.accounts.extend(metas);
    assert_eq!(
        program().open_summary_range(mint(), client(), 3..=4, "a", "b"),
        expected
    );
}

#[test]
fn r12_a_sponsor_takes_the_payers_place_and_no_other() {
    let sponsor = some_address(0x99);
    let give = program().give_open_feedback(
        client(),
        mint(),
        &GiveOpenFeedback {
            index: 1,
            value: 1,
            decimals: 0,
            tag1: "",
            tag2: "",
            endpoint: "",
            uri: "",
            hash: HASH,
        },
    );
    let given = sponsored(give.clone(), sponsor).unwrap();
    assert_eq!(given.accounts[0], give.accounts[0]);
    assert_eq!(given.accounts[1], AccountMeta::new(sponsor, true));
    assert_eq!(given.accounts[2..], give.accounts[2..]);
    let revoke = program().revoke_open_feedback(client(), mint(), 1);
    assert_eq!(sponsored(revoke, sponsor), None);
    let unset = program().unset_agent_wallet(caller(), mint());
    assert_eq!(sponsored(unset, sponsor), None);
}

#[test]
fn validation() {
    let validator = some_address(9);
    let request_account = derived(|it| it.validation_request(&mint(), &validator, &HASH));
    let expected = native(
        &accounts::RequestValidation {
            owner: some_key(CALLER),
            payer: some_key(CALLER),
            agent: agent(),
            nft_mint: some_key(MINT),
            validation_request: request_account,
            system_program: SYSTEM,
            events: events(),
        },
        &instruction::ValidationRequest {
            validator: some_key(9),
            request_hash: HASH,
            tag: [4; 32],
            request_uri: "ipfs://request".to_owned(),
        },
    );
    let request = RequestValidation {
        validator,
        request_hash: HASH,
        tag: [4; 32],
        uri: "ipfs://request",
    };
    assert_eq!(
        program().request_validation(caller(), mint(), &request),
        expected
    );
    let expected = native(
        &accounts::RespondToValidation {
            validator: some_key(CALLER),
            payer: some_key(CALLER),
            agent: agent_accounts(),
            validation_request: request_account,
            validation_response: derived(|it| it.validation_response(&mint(), &validator, &HASH)),
            system_program: SYSTEM,
            events: events(),
        },
        &instruction::ValidationResponse {
            request_hash: HASH,
            score: 100,
            tag: [4; 32],
            evidence_uri: "ipfs://evidence".to_owned(),
            evidence_hash: [6; 32],
        },
    );
    let response = RespondToValidation {
        validator,
        request_hash: HASH,
        score: 100,
        tag: [4; 32],
        evidence_uri: "ipfs://evidence",
        evidence_hash: [6; 32],
    };
    assert_eq!(
        program().respond_to_validation(caller(), mint(), &response),
        expected
    );
}
