//! What users do to an agent's token with Token-2022 and the associated token program.

use super::{Case, Framework::*, Named, Numbered, Stage, case, check};
use crate::{
    calls_by_programs::relay,
    localnet::{
        Localnet, Sent,
        instructions::{
            agent_identity, readonly, signer, signer_and_payer, system_program, text, writable,
        },
        program_id, token_2022,
        token_2022::{bare_transfer, create_associated, spare_account, transfer},
    },
};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use solana_keypair::Keypair;
use solana_signer::Signer;

/// sha256("spl_token_metadata_interface:updating_field")[..8]
const UPDATE_FIELD: [u8; 8] = [221, 233, 49, 45, 181, 202, 220, 200];
const FIELD_URI: u8 = 2;
// Token-2022's kinds of authority.
const MINT_TOKENS: u8 = 0;
const FREEZE_ACCOUNT: u8 = 1;
const ACCOUNT_OWNER: u8 = 2;
const CLOSE_ACCOUNT: u8 = 3;

/// The owner's transfer to the stranger, with `change` made to it.
fn sell(stage: &mut Stage, change: impl FnOnce(&mut Instruction)) -> Sent {
    let owner = stage.owner();
    let mut sale = transfer(&stage.full(), &stage.agent.mint, &stage.empty(), &owner, 1);
    change(&mut sale);
    stage.by_owner(sale)
}

/// An instruction of Token-2022 with these accounts and, as its last, the one who signs.
fn by_owner(stage: &mut Stage, data: &[u8], accounts: &[AccountMeta]) -> Sent {
    let accounts = [accounts, &[signer(stage.owner())]].concat();
    stage.by_owner(token_2022::instruction(data.to_vec(), accounts))
}

fn by_stranger(stage: &mut Stage, data: &[u8], accounts: &[AccountMeta]) -> Sent {
    let accounts = [accounts, &[signer(stage.stranger.pubkey())]].concat();
    stage.by_stranger(token_2022::instruction(data.to_vec(), accounts))
}

/// SetAuthority to the stranger.
fn take(stage: &Stage, kind: u8) -> Vec<u8> {
    [&[6, kind, 1], stage.stranger.pubkey().as_ref()].concat()
}

/// Gives `account` the extensions that its owner can have, and room for all others.
pub fn enable_guards(net: &mut Localnet, owner: &Keypair, account: &Address) {
    let who = owner.pubkey();
    let types = [2u16, 5, 8, 11, 13, 17, 27].map(u16::to_le_bytes).concat();
    let room = vec![
        writable(*account),
        signer_and_payer(who),
        readonly(system_program()),
        signer(who),
    ];
    let of_owner = || vec![writable(*account), signer(who)];
    let calls = [
        token_2022::instruction([&[29], &types[..]].concat(), room),
        token_2022::instruction(vec![30, 0], of_owner()), // a memo is required
        token_2022::instruction(vec![34, 0], of_owner()), // the guard against calls by programs
    ];
    net.send(&[owner], &calls).unwrap();
}

/// An instruction about an account with the guard on, through a program and signed by the account's owner.
fn guarded(stage: &mut Stage, owner: &Keypair, data: &[u8], accounts: &[AccountMeta]) -> Sent {
    enable_guards(&mut stage.net, owner, &accounts[0].pubkey);
    let accounts = [accounts, &[signer(owner.pubkey())]].concat();
    let call = token_2022::instruction(data.to_vec(), accounts);
    stage.net.send(&[owner], &[relay(&[call])])
}

/// The same of the owner of the agent.
fn guarded_of_owner(stage: &mut Stage, data: &[u8], others: &[AccountMeta]) -> Sent {
    let (owner, full) = (stage.agent.owner.insecure_clone(), writable(stage.full()));
    guarded(stage, &owner, data, &[&[full], others].concat())
}

/// The stranger's creation of their associated account, with `change` made to it.
fn open(stage: &mut Stage, change: impl FnOnce(&mut Instruction)) -> Sent {
    let stranger = stage.stranger.pubkey();
    let mut create = create_associated(&stranger, &stranger, &stage.agent.mint);
    change(&mut create);
    stage.by_stranger(create)
}

pub const TRANSFERS: &[Case] = &[
    case(
        |stage| sell(stage, |sale| sale.data[1] = 2),
        Numbered(Token2022, 1), // InsufficientFunds
        "TransferNotAllowed",
    ),
    case(
        |stage| {
            let no_mint = readonly(stage.full());
            stage.by_stranger(token_2022::instruction(vec![21], vec![no_mint])) // GetAccountDataSize
        },
        Numbered(Token2022, 2), // InvalidMint
        "AgentNotFound",
    ),
    case(
        |stage| {
            let mint = stage.other.mint;
            sell(stage, |sale| sale.accounts[1] = readonly(mint))
        },
        Numbered(Token2022, 3), // MintMismatch
        "AccountMismatch",
    ),
    case(
        |stage| {
            let stranger = stage.stranger.pubkey();
            let sale = transfer(
                &stage.full(),
                &stage.agent.mint,
                &stage.empty(),
                &stranger,
                1,
            );
            stage.by_stranger(sale)
        },
        Numbered(Token2022, 4), // OwnerMismatch
        "TransferNotAllowed",
    ),
    case(
        |stage| sell(stage, |sale| sale.data[9] = 1),
        Numbered(Token2022, 18), // MintDecimalsMismatch
        "TransferNotAllowed",
    ),
    case(
        |stage| {
            let accounts = [writable(stage.full()), writable(stage.empty())];
            by_owner(stage, &[3, 1, 0, 0, 0, 0, 0, 0, 0], &accounts) // without the mint
        },
        Numbered(Token2022, 31), // MintRequiredForTransfer
        "TransferNotAllowed",
    ),
    case(
        |stage| {
            let (data, account) = (take(stage, ACCOUNT_OWNER), writable(stage.full()));
            by_owner(stage, &data, &[account])
        },
        Numbered(Token2022, 34), // ImmutableOwner
        "TransferNotAllowed",
    ),
    case(
        |stage| {
            sell(stage, |sale| {
                sale.accounts.retain(|meta| meta.pubkey != program_id())
            })
        },
        Numbered(Token2022, 2_724_315_840), // IncorrectAccount, of the hook's list
        "AccountMismatch",
    ),
    case(
        |stage| {
            let owner = stage.owner();
            let (mint, to) = (stage.agent.mint, stage.empty());
            stage.by_owner(bare_transfer(&stage.full(), &mint, &to, &owner, 1))
        },
        Named("MissingAccount"),
        "AccountMismatch",
    ),
    case(
        |stage| {
            let (stranger, empty) = (stage.stranger.insecure_clone(), stage.empty());
            enable_guards(&mut stage.net, &stranger, &empty);
            sell(stage, |_| ())
        },
        Numbered(Token2022, 36), // NoMemo
        "TransferNotAllowed",
    ),
    case(
        |stage| {
            let others = [readonly(stage.agent.mint), writable(stage.empty())];
            guarded_of_owner(stage, &[12, 1, 0, 0, 0, 0, 0, 0, 0, 0], &others) // TransferChecked
        },
        Numbered(Token2022, 42), // CpiGuardTransferBlocked
        "TransferNotAllowed",
    ),
    case(
        |stage| {
            let owner = stage.owner();
            let (mint, to) = (stage.agent.mint, stage.empty());
            let mut sale = transfer(&stage.full(), &mint, &to, &owner, 1);
            sale.accounts[3].is_signer = false;
            stage.by_stranger(sale)
        },
        Named("MissingRequiredSignature"),
        "SignatureMissing",
    ),
    case(
        |stage| {
            sell(stage, |sale| {
                sale.accounts[2] = writable(Address::from([9; 32]))
            })
        },
        Named("IncorrectProgramId"),
        "AccountMismatch",
    ),
    case(
        |stage| sell(stage, |sale| sale.accounts[2].is_writable = false),
        Named("ReadonlyDataModified"),
        "AccountMismatch",
    ),
    case(
        |stage| {
            let identity = agent_identity(&stage.agent.mint); // of the hook, which writes it
            sell(stage, |sale| {
                let mut accounts = sale.accounts.iter_mut();
                let identity = accounts.find(|it| it.pubkey == identity).unwrap();
                identity.is_writable = false;
            })
        },
        Named("PrivilegeEscalation"),
        "AccountMismatch",
    ),
    case(
        |stage| {
            let mint = stage.other.mint;
            sell(stage, |sale| sale.accounts[2] = writable(mint))
        },
        Named("UninitializedAccount"),
        "AccountMismatch",
    ),
];

pub const OTHERS: &[Case] = &[
    case(
        |stage| {
            let accounts = [writable(stage.agent.mint), writable(stage.empty())];
            by_stranger(stage, &[7, 1, 0, 0, 0, 0, 0, 0, 0], &accounts) // MintTo
        },
        Numbered(Token2022, 5), // FixedSupply
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let (data, mint) = (take(stage, MINT_TOKENS), writable(stage.agent.mint));
            by_stranger(stage, &data, &[mint])
        },
        Numbered(Token2022, 5),
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let data = [&[20, 0][..], &[1; 32], &[0]].concat(); // InitializeMint2
            let accounts = vec![writable(stage.agent.mint)];
            stage.by_stranger(token_2022::instruction(data, accounts))
        },
        Numbered(Token2022, 6), // AlreadyInUse
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let accounts = [writable(stage.full()), writable(stage.owner())];
            by_owner(stage, &[9], &accounts) // CloseAccount
        },
        Numbered(Token2022, 11), // NonNativeHasBalance
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let account = writable(stage.full());
            by_owner(stage, &[200], &[account])
        },
        Numbered(Token2022, 12), // InvalidInstruction
        "BadRequest",
    ),
    case(
        |stage| {
            let accounts = [writable(stage.full()), readonly(stage.agent.mint)];
            by_stranger(stage, &[11], &accounts) // ThawAccount
        },
        Numbered(Token2022, 13), // InvalidState
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let (data, account) = (take(stage, MINT_TOKENS), writable(stage.full()));
            by_owner(stage, &data, &[account])
        },
        Numbered(Token2022, 15), // AuthorityTypeNotSupported
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let accounts = [writable(stage.full()), readonly(stage.agent.mint)];
            by_stranger(stage, &[10], &accounts) // FreezeAccount
        },
        Numbered(Token2022, 16), // MintCannotFreeze
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let (data, mint) = (take(stage, FREEZE_ACCOUNT), writable(stage.agent.mint));
            by_stranger(stage, &data, &[mint])
        },
        Numbered(Token2022, 16),
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let mint = writable(stage.agent.mint);
            by_stranger(stage, &[&[36, 1][..], &[1; 32]].concat(), &[mint]) // another hook
        },
        Numbered(Token2022, 29), // NoAuthorityExists
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let (owner, mint) = (stage.owner(), stage.agent.mint);
            let mut call = transfer(&stage.full(), &mint, &stage.empty(), &owner, 1);
            call.data = [&[45, 1][..], &1u64.to_le_bytes()].concat(); // UnwrapLamports
            stage.by_owner(call)
        },
        Numbered(Token2022, 19), // NonNativeNotSupported
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let mint = readonly(stage.agent.mint);
            by_owner(stage, &[21, 1, 0], &[mint]) // GetAccountDataSize, with an extension of mints
        },
        Numbered(Token2022, 20), // ExtensionTypeMismatch
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let (owner, mint) = (stage.owner(), stage.agent.mint);
            let mut call = transfer(&stage.full(), &mint, &stage.empty(), &owner, 1);
            let (amount, fee) = (1u64.to_le_bytes(), 1u64.to_le_bytes());
            call.data = [&[26, 1][..], &amount, &[0], &fee].concat(); // TransferCheckedWithFee
            stage.by_owner(call)
        },
        Numbered(Token2022, 32), // FeeMismatch
        "TransferNotAllowed",
    ),
    case(
        |stage| guarded_of_owner(stage, &[34, 1], &[]), // the guard off
        Numbered(Token2022, 41),                        // CpiGuardSettingsLocked
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let mint = writable(stage.agent.mint);
            guarded_of_owner(stage, &[8, 1, 0, 0, 0, 0, 0, 0, 0], &[mint]) // Burn
        },
        Numbered(Token2022, 43), // CpiGuardBurnBlocked
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let (stranger, to) = (stage.stranger.insecure_clone(), writable(stage.owner()));
            let accounts = [writable(stage.empty()), to];
            guarded(stage, &stranger, &[9], &accounts) // CloseAccount
        },
        Numbered(Token2022, 44), // CpiGuardCloseAccountBlocked
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let delegate = readonly(stage.stranger.pubkey());
            guarded_of_owner(stage, &[4, 1, 0, 0, 0, 0, 0, 0, 0], &[delegate]) // Approve
        },
        Numbered(Token2022, 45), // CpiGuardApproveBlocked
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let data = take(stage, CLOSE_ACCOUNT);
            guarded_of_owner(stage, &data, &[])
        },
        Numbered(Token2022, 46), // CpiGuardSetAuthorityBlocked
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let (stranger, mint) = (stage.stranger.insecure_clone(), stage.agent.mint);
            let who = stranger.pubkey();
            let loose = spare_account(&mut stage.net, &stranger, &who, &mint, false);
            enable_guards(&mut stage.net, &stranger, &loose);
            let data = take(stage, ACCOUNT_OWNER);
            by_stranger(stage, &data, &[writable(loose)])
        },
        Numbered(Token2022, 47), // CpiGuardOwnerChangeBlocked
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let (owner, full) = (stage.agent.owner.insecure_clone(), stage.full());
            enable_guards(&mut stage.net, &owner, &full);
            by_owner(stage, &[27, 9], &[writable(full)]) // ConfidentialTransfer: EnableConfidentialCredits
        },
        Numbered(Token2022, 48), // ExtensionNotFound
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let accounts = [writable(stage.full()), readonly(stage.agent.mint)];
            by_owner(stage, &[2], &accounts) // InitializeMultisig without its number
        },
        Named("InvalidInstructionData"),
        "BadRequest",
    ),
    case(
        |stage| {
            let data = [&UPDATE_FIELD[..], &[FIELD_URI], &text(b"ipfs://mine")].concat();
            let mint = writable(stage.agent.mint);
            by_stranger(stage, &data, &[mint])
        },
        Numbered(Token2022, 901_952_960), // IncorrectUpdateAuthority
        "TokenOperationRefused",
    ),
    case(
        |stage| {
            let accounts = [writable(stage.agent.mint), writable(stage.owner())];
            by_owner(stage, &[9], &accounts) // CloseAccount of the mint
        },
        Named("InvalidAccountData"),
        "AccountMismatch",
    ),
];

pub const ASSOCIATED: &[Case] = &[
    case(
        |stage| open(stage, |create| create.data = vec![0]), // it exists
        Named("IllegalOwner"),
        "AccountMismatch",
    ),
    case(
        |stage| {
            let anothers = writable(stage.full());
            open(stage, |create| create.accounts[1] = anothers)
        },
        Named("InvalidSeeds"),
        "AccountMismatch",
    ),
    case(
        |stage| {
            let buyer = stage.poor(1_000_000);
            let key = buyer.pubkey();
            let create = create_associated(&key, &key, &stage.agent.mint);
            stage.net.send(&[&buyer], &[create])
        },
        Numbered(System, 1), // ResultWithNegativeLamports
        "InsufficientLamports",
    ),
];

#[test]
fn transfers_fail_with_mapped_errors() {
    check(TRANSFERS);
}

#[test]
fn other_operations_on_an_agents_token_fail_with_mapped_errors() {
    check(OTHERS);
}

#[test]
fn creations_of_token_accounts_fail_with_mapped_errors() {
    check(ASSOCIATED);
}
