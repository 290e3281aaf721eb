//! The changes of a registry account, and when each is possible and done.
use crate::DeployError;
use concord_chain::svm::Cluster;
use concord_registry::svm::{
    Program,
    accounts::{FACILITATORS_MAX, PAYMENT_TOKENS_MAX, Registry},
    programs::TOKEN_2022,
};
use solana_address::{Address, address, bytes_are_curve_point};
use solana_instruction::Instruction;

/// The token program before Token-2022.
const TOKEN: Address = address!("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
/// A mint without extensions, in bytes.
const MINT_BYTES: usize = 82;
/// Where Token-2022 says what an account with extensions is: 1 for a mint.
const KIND_AT: usize = 165;
const MINT_KIND: u8 = 1;
/// Where a mint says that it is initialized: 1.
const INITIALIZED_AT: usize = 45;

/// A change of the registry account, by one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// `None` withdraws the proposal.
    Propose(Option<Address>),
    Accept,
    AddToken(Address),
    RemoveToken(Address),
    AddFacilitator(Address),
    RemoveFacilitator(Address),
}

impl Change {
    /// Names the change: the same in every run.
    pub fn id(self) -> String {
        match self {
            Self::Propose(None) => "propose none".to_owned(),
            Self::Propose(Some(key)) => format!("propose {key}"),
            Self::Accept => "accept".to_owned(),
            Self::AddToken(mint) => format!("add-token {mint}"),
            Self::RemoveToken(mint) => format!("remove-token {mint}"),
            Self::AddFacilitator(key) => format!("add-facilitator {key}"),
            Self::RemoveFacilitator(key) => format!("remove-facilitator {key}"),
        }
    }

    /// Returns whether the registry has its effect. `signer`: who sends it.
    pub fn is_done(self, registry: &Registry, signer: &Address) -> bool {
        match self {
            Self::Propose(key) => registry.proposed_authority == key.unwrap_or_default(),
            Self::Accept => registry.authority == *signer,
            Self::AddToken(mint) => registry.payment_tokens.contains(&mint),
            Self::RemoveToken(mint) => !registry.payment_tokens.contains(&mint),
            Self::AddFacilitator(key) => registry.facilitators.contains(&key),
            Self::RemoveFacilitator(key) => !registry.facilitators.contains(&key),
        }
    }

    /// Returns whose signature it takes; `None` if no authority is proposed.
    pub fn authority(self, registry: &Registry) -> Option<Address> {
        match self {
            Self::Accept => {
                Some(registry.proposed_authority).filter(|key| *key != Address::default())
            }
            _ => Some(registry.authority),
        }
    }

    pub fn instruction(self, program: &Program, signer: Address) -> Instruction {
        match self {
            Self::Propose(key) => program.propose_registry_authority(signer, key),
            Self::Accept => program.accept_registry_authority(signer),
            Self::AddToken(mint) => program.set_payment_token(signer, mint, true),
            Self::RemoveToken(mint) => program.set_payment_token(signer, mint, false),
            Self::AddFacilitator(key) => program.set_facilitator(signer, key, true),
            Self::RemoveFacilitator(key) => program.set_facilitator(signer, key, false),
        }
    }

    /// R13: a list has a limit, a token is a mint, and a facilitator can sign.
    ///
    /// # Errors
    /// [`DeployError::RegistryListFull`], [`DeployError::Option`], and an endpoint that does not
    /// answer.
    pub async fn require_useful(
        self,
        cluster: &Cluster,
        registry: &Registry,
    ) -> Result<(), DeployError> {
        let (list, what, max) = match self {
            Self::AddToken(_) => (
                &registry.payment_tokens,
                "payment tokens",
                PAYMENT_TOKENS_MAX,
            ),
            Self::AddFacilitator(_) => (&registry.facilitators, "facilitators", FACILITATORS_MAX),
            _ => return Ok(()),
        };
        if list.len() >= max {
            return Err(DeployError::RegistryListFull { what, max });
        }
        match self {
            Self::AddToken(mint) => require_mint(cluster, mint).await,
            Self::AddFacilitator(key) if !bytes_are_curve_point(key) => Err(refused(
                "add-facilitator",
                key,
                "no secret key belongs to it (it is off the curve), so it can sign no proof",
            )),
            _ => Ok(()),
        }
    }
}

async fn require_mint(cluster: &Cluster, mint: Address) -> Result<(), DeployError> {
    let account = cluster.account(&mint).await?;
    let is_mint = account.is_some_and(|account| {
        let data = &account.data;
        let is_of_tokens = [TOKEN, TOKEN_2022].contains(&account.owner);
        let has_form = data.len() == MINT_BYTES || data.get(KIND_AT) == Some(&MINT_KIND);
        is_of_tokens && has_form && data.get(INITIALIZED_AT) == Some(&1)
    });
    match is_mint {
        true => Ok(()),
        false => Err(refused("add-token", mint, "no mint of a token program")),
    }
}

fn refused(option: &'static str, key: Address, reason: &str) -> DeployError {
    DeployError::Argument {
        command: option,
        value: key.to_string(),
        reason: reason.to_owned(),
    }
}
