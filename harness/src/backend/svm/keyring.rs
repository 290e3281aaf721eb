use crate::{
    backend::secrets::{RunSecret, secret_of},
    model::{Actor, Agent, DEPLOYER},
};
use concord_canonical::Word;
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// The key behind each label.
#[derive(Clone, Default)]
pub enum Keyring {
    /// Known to everybody: on clusters where nothing is worth anything.
    #[default]
    Public,
    /// Made from a secret, for one run on a cluster that others use too. An actor is the same in
    /// every scenario of it; agents are those of one scenario.
    Derived {
        run: RunSecret,
        scenario: u64,
        /// The key of [`DEPLOYER`], if it is known.
        deployer: Option<Word>,
    },
}

impl Keyring {
    /// The keys of a run's first scenario.
    pub fn of_run(run: RunSecret) -> Self {
        Self::Derived {
            run,
            scenario: 0,
            deployer: None,
        }
    }

    /// With this key for [`DEPLOYER`], who is the authority of a registry that is there already.
    pub(super) fn with_deployer(mut self, key: &Keypair) -> Self {
        if let Self::Derived { deployer, .. } = &mut self {
            *deployer = Some(*key.secret_bytes());
        }
        self
    }

    /// The keys of the next scenario in the same run.
    pub(super) fn next_scenario(self) -> Self {
        match self {
            Self::Public => Self::Public,
            Self::Derived {
                run,
                scenario,
                deployer,
            } => Self::Derived {
                run,
                scenario: scenario + 1,
                deployer,
            },
        }
    }

    /// The public key of an actor's label; for a payment token, the address of its mint.
    pub fn actor(&self, actor: &Actor) -> Address {
        self.actor_key(actor).pubkey()
    }

    pub fn actor_key(&self, actor: &Actor) -> Keypair {
        Keypair::new_from_array(self.actor_secret(actor))
    }

    pub(super) fn actor_secret(&self, actor: &Actor) -> Word {
        match self {
            Self::Public => secret_of("actor", &actor.0),
            Self::Derived {
                deployer: Some(key),
                ..
            } if actor.0 == DEPLOYER => *key,
            Self::Derived { run, .. } => run.secret_of("actor", &actor.0),
        }
    }

    /// The nonce that an agent's label is registered with (R4).
    pub(super) fn nonce(&self, agent: &Agent) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.bytes_of_scenario("agent", &agent.0);
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// An address that no registration derives, for a label that nobody registers.
    pub(super) fn mint_of_no_agent(&self, agent: &Agent) -> Address {
        self.of_scenario("agent", &agent.0).pubkey()
    }

    /// The key of the `number`th token account that is not an associated one.
    pub(super) fn spare_account_key(&self, number: u64) -> Keypair {
        self.of_scenario("token account", &number.to_string())
    }

    fn of_scenario(&self, kind: &str, label: &str) -> Keypair {
        Keypair::new_from_array(self.bytes_of_scenario(kind, label))
    }

    /// The label's bytes in this scenario. No other scenario of the run has the same.
    pub(super) fn bytes_of_scenario(&self, kind: &str, label: &str) -> Word {
        match self {
            Self::Public => secret_of(kind, label),
            Self::Derived { run, scenario, .. } => {
                run.secret_of(kind, &format!("{scenario} {label}"))
            }
        }
    }
}
