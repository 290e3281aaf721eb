//! Tokens that pay: of SPL Token and of Token-2022.
use super::associated_account;
use crate::svm::{
    instructions::{readonly, signer, writable},
    programs::{SPL_TOKEN, TOKEN_2022},
};
use alloc::vec;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_program_pack::Pack;
use spl_token_2022_interface::{
    extension::{
        BaseStateWithExtensions, ExtensionType, StateWithExtensions,
        transfer_fee::{TransferFee, TransferFeeConfig, instruction::TransferFeeInstruction},
        transfer_hook::TransferHook,
    },
    instruction::TokenInstruction,
    state,
};

/// The mint of a token that pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaymentMint {
    /// SPL Token or Token-2022.
    pub program: Address,
    /// How many digits of an amount follow the point.
    pub decimals: u8,
    /// Whether the recipient gets less than what is sent.
    pub has_fee: bool,
    /// Whether a transfer calls another program, which wants accounts of its own.
    pub has_hook: bool,
}

impl PaymentMint {
    /// Reads an initialized mint. `None` for an account of another owner or form, and for a mint with an extension that is not
    /// known: it could change what a transfer does.
    pub fn read(owner: &Address, data: &[u8]) -> Option<Self> {
        match *owner {
            TOKEN_2022 => Self::with_extensions(&StateWithExtensions::unpack(data).ok()?),
            SPL_TOKEN => Some(Self {
                program: SPL_TOKEN,
                decimals: state::Mint::unpack(data).ok()?.decimals,
                has_fee: false,
                has_hook: false,
            }),
            _ => None,
        }
    }

    fn with_extensions(mint: &StateWithExtensions<'_, state::Mint>) -> Option<Self> {
        let (mut has_fee, mut has_hook) = (false, false);
        for extension in mint.get_extension_types().ok()? {
            match extension {
                ExtensionType::TransferFeeConfig => {
                    let config = mint.get_extension::<TransferFeeConfig>().ok()?;
                    let takes = |fee: &TransferFee| u16::from(fee.transfer_fee_basis_points) != 0;
                    has_fee =
                        takes(&config.older_transfer_fee) || takes(&config.newer_transfer_fee);
                }
                ExtensionType::TransferHook => {
                    let hook = mint.get_extension::<TransferHook>().ok()?;
                    has_hook = hook.program_id.get().is_some();
                }
                _ => {}
            }
        }
        Some(Self {
            program: TOKEN_2022,
            decimals: mint.base.decimals,
            has_fee,
            has_hook,
        })
    }

    /// Moves tokens of `mint`, which is this one, between the associated accounts of two owners; `from` signs.
    #[must_use]
    pub fn transfer(
        &self,
        mint: &Address,
        from: &Address,
        to: &Address,
        amount: u64,
    ) -> Instruction {
        let account = |owner| associated_account(owner, mint, &self.program);
        let transfer = TokenInstruction::TransferChecked {
            amount,
            decimals: self.decimals,
        };
        Instruction {
            program_id: self.program,
            accounts: vec![
                writable(account(from)),
                readonly(*mint),
                writable(account(to)),
                signer(*from),
            ],
            data: transfer.pack(),
        }
    }
}

/// A transfer between token accounts, as positions among an instruction's accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenTransfer {
    /// The token account that pays.
    pub source: usize,
    /// The token account that is paid.
    pub destination: usize,
    /// In the token's smallest unit.
    pub amount: u64,
}

impl TokenTransfer {
    /// Reads an instruction; `None` if it is not a transfer of SPL Token or Token-2022.
    pub fn read(program: &Address, data: &[u8]) -> Option<Self> {
        if ![SPL_TOKEN, TOKEN_2022].contains(program) {
            return None;
        }
        #[expect(deprecated, reason = "the token programs still carry it out")]
        let (destination, amount) = match TokenInstruction::unpack(data).ok()? {
            TokenInstruction::Transfer { amount } => (1, amount),
            TokenInstruction::TransferChecked { amount, .. } => (2, amount),
            TokenInstruction::TransferFeeExtension => (2, sent_with_fee(data)?),
            _ => return None,
        };
        Some(Self {
            source: 0,
            destination,
            amount,
        })
    }
}

/// What TransferCheckedWithFee sends. An instruction of an extension is its tag, then the extension's own.
fn sent_with_fee(data: &[u8]) -> Option<u64> {
    let (_, own) = data.split_first()?;
    match TransferFeeInstruction::unpack(own).ok()? {
        TransferFeeInstruction::TransferCheckedWithFee { amount, .. } => Some(amount),
        _ => None,
    }
}
