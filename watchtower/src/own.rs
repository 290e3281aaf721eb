use std::sync::Arc;

use concord_canonical::{
    caip::{AccountId, EIP155},
    sign::{PublicKey, address_of_public_key},
};
use concord_files::RegistrationFile;
use concord_x402::verify::{AgentRecord, Insiders, Unavailable};

use crate::Agent;

/// R60: says which agents are of the watchtower's own keys, whichever chain they are on.
#[derive(Clone)]
pub struct OwnAccounts {
    /// CAIP-10.
    accounts: Vec<String>,
    insiders: Arc<dyn Insiders>,
}

impl OwnAccounts {
    /// `accounts`: every account that publishes, CAIP-10.
    #[must_use]
    pub fn new(accounts: Vec<String>, insiders: Arc<dyn Insiders>) -> Self {
        Self { accounts, insiders }
    }

    /// Why an agent is of an own key, by its chain: its owner, one who acts for it (R18), or its wallet; `None` if
    /// it is not.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn by_chain(
        &self,
        agent: &Agent,
        record: &AgentRecord,
    ) -> Result<Option<String>, Unavailable> {
        let registration = agent.registration();
        for account in &self.accounts {
            if self.insiders.is_insider(registration, account).await? {
                return Ok(Some(format!("{account} acts for it (R18)")));
            }
        }
        let wallet = record.wallet.as_deref().and_then(|it| self.find(it));
        Ok(wallet.map(|it| format!("{it} is its wallet")))
    }

    /// Why an agent is of an own key, by its registration file: a wallet or a signer. The file may be wrong about
    /// wallets and keys; then no agent is rated that should not be.
    #[must_use]
    pub fn by_file(&self, file: &RegistrationFile) -> Option<String> {
        let wallets = file.services.iter().filter_map(|service| {
            let (_, address) = service.endpoint.rsplit_once(':')?;
            let own = self.find(address)?;
            Some(format!(
                "its file names {own} as {}",
                kind_of(&service.name)
            ))
        });
        let signers = file.signers.iter().filter_map(|signer| {
            let own = self.find(&address_of(&signer.public_key)?)?;
            Some(format!("its file lists the key of {own} as a signer"))
        });
        wallets.chain(signers).next()
    }

    /// The own account with an address. A key has the same address on every chain of its kind.
    fn find(&self, address: &str) -> Option<&str> {
        let is_same = |account: &&String| {
            AccountId::parse(account).is_ok_and(|it| match it.chain_id().namespace() {
                EIP155 => it.address().eq_ignore_ascii_case(address),
                _ => it.address() == address,
            })
        };
        self.accounts.iter().find(is_same).map(String::as_str)
    }
}

/// What a stranger's file calls a service is not repeated.
fn kind_of(name: &str) -> &'static str {
    match name {
        concord_files::AGENT_WALLET => "its wallet",
        _ => "a service",
    }
}

fn address_of(key: &PublicKey) -> Option<String> {
    match key {
        PublicKey::Secp256k1(key) => {
            let address = address_of_public_key(key).ok()?;
            Some(format!("0x{}", hex::encode(address)))
        }
        PublicKey::Ed25519(key) => Some(bs58::encode(key).into_string()),
    }
}
