//! The two chains in one form.
use crate::chain::{self, Chain};
use alloy::primitives::Address as EvmAddress;
use concord_canonical::{caip, validation::ValidationRequest as Preimage, word};
use concord_chain::{
    EndpointOptions, Signer,
    evm::{Confirmations, FeeLimit, Node},
    keys::{Keypair, PrivateKeySigner},
    submission::Timing,
    svm::{Cluster, PriorityFee},
};
use concord_client::{
    Account, Client, Document, EvmAccount, EvmRegistries, FeedbackAuth, FileFolder, Registered,
    Registration, Registries, SvmAccount, SvmRegistries, WalletSetting,
};
use concord_registry::{
    evm::RegistryAddresses,
    svm::{
        Program,
        accounts::{AccountType, AgentIdentity},
    },
};
use concord_testkit::cluster::{self, Solana};
use solana_account::Account as SolanaAccount;
use std::{path::Path, sync::Arc, time::Duration};

pub const TIMING: Timing = Timing {
    poll: Duration::from_millis(10),
    replace_after: Duration::from_secs(60),
    give_up_after: Duration::from_secs(60),
};
const SOL: u64 = 1_000_000_000;

/// Who acts. The number is a key of anvil, and the seed of a key on Solana.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Owner,
    Reviewer,
    Second,
    Validator,
    Wallet,
}

impl Role {
    const ALL: [Self; 5] = [
        Self::Owner,
        Self::Reviewer,
        Self::Second,
        Self::Validator,
        Self::Wallet,
    ];

    pub fn keypair(self) -> Keypair {
        Keypair::new_from_array([40 + self as u8; 32])
    }
}

#[allow(
    clippy::large_enum_variant,
    reason = "a test has one of each, which lives as long as it does"
)]
pub enum World {
    Evm(Chain),
    Svm(Solana),
}

/// Both chains.
pub async fn worlds() -> [World; 2] {
    let funded = Role::ALL.map(|role| {
        let account = SolanaAccount {
            lamports: 10 * SOL,
            ..SolanaAccount::default()
        };
        (role.keypair().address(), account)
    });
    [
        World::Evm(Chain::start().await),
        World::Svm(Solana::start_with(funded.to_vec()).await),
    ]
}

pub fn evm_registries(url: &str, addresses: RegistryAddresses) -> EvmRegistries {
    let node = Node::new(&EndpointOptions::new(url)).unwrap();
    EvmRegistries::new(node, &chain::NETWORK.parse().unwrap(), addresses)
}

pub fn svm_registries(url: &str, program: Program) -> SvmRegistries {
    let cluster = Cluster::new(&EndpointOptions::new(url)).unwrap();
    SvmRegistries::new(cluster, &cluster::NETWORK.parse().unwrap(), program)
}

pub fn evm_fees() -> (FeeLimit, Confirmations) {
    (FeeLimit::default(), Confirmations::Blocks(1))
}

impl World {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Evm(_) => chain::NETWORK,
            Self::Svm(_) => cluster::NETWORK,
        }
    }

    /// Where its node is.
    pub fn url(&self) -> &str {
        match self {
            Self::Evm(chain) => &chain.url,
            Self::Svm(solana) => &solana.url,
        }
    }

    pub fn key(&self, role: Role) -> PrivateKeySigner {
        match self {
            Self::Evm(chain) => chain.keys[role as usize].clone(),
            Self::Svm(_) => panic!("no key of this chain"),
        }
    }

    /// An address, as the chain writes it.
    pub fn address(&self, role: Role) -> String {
        match self {
            Self::Evm(_) => self.key(role).address().to_string(),
            Self::Svm(_) => role.keypair().address().to_string(),
        }
    }

    pub fn registries(&self) -> Box<dyn Registries> {
        match self {
            Self::Evm(chain) => Box::new(evm_registries(&chain.url, chain.addresses)),
            Self::Svm(solana) => Box::new(svm_registries(&solana.url, solana.program)),
        }
    }

    /// A role's account, with the keys that sign too.
    pub async fn account(&self, role: Role, others: Vec<Keypair>) -> Box<dyn Account> {
        match self {
            Self::Evm(chain) => {
                let registries = evm_registries(&chain.url, chain.addresses);
                let signer = Box::new(self.key(role));
                let connected = EvmAccount::connect(registries, signer, evm_fees(), TIMING);
                Box::new(connected.await.unwrap())
            }
            Self::Svm(solana) => {
                let registries = svm_registries(&solana.url, solana.program);
                let signer = Box::new(role.keypair());
                let fee = PriorityFee::default();
                let connected = SvmAccount::connect(registries, signer, fee, TIMING).await;
                let mut account = connected.unwrap();
                for other in others {
                    account.add_signer(Box::new(other));
                }
                Box::new(account)
            }
        }
    }

    pub async fn client(&self, role: Role, folder: &Path) -> Client {
        self.client_with(role, folder, Vec::new()).await
    }

    /// As [`Self::client`], with keys that sign too.
    pub async fn client_with(&self, role: Role, folder: &Path, others: Vec<Keypair>) -> Client {
        let files = Arc::new(FileFolder::ipfs(&folder.join("files")));
        let records = folder.join(format!("{}-{role:?}", &self.name()[..6]));
        Client::new(self.account(role, others).await, &records, files)
    }

    /// Registers an agent of the owner.
    pub async fn register(&self, id: &str, folder: &Path, file: Document<'_>) -> Registered {
        let agent = Registration {
            metadata: vec![("kind".to_owned(), "weather".to_owned())],
            ..Registration::default()
        };
        let mut owner = self.client(Role::Owner, folder).await;
        owner.register(id, agent, file).await.unwrap()
    }

    /// How many agents there are. EVM numbers them from 1.
    pub async fn agents(&self) -> usize {
        match self {
            Self::Evm(_) => {
                let (registries, mut count) = (self.registries(), 0_usize);
                while (registries.agent(&(count + 1).to_string()).await.unwrap()).is_some() {
                    count += 1;
                }
                count
            }
            Self::Svm(solana) => {
                let (program, kind) = (solana.program.id(), AgentIdentity::DISCRIMINATOR);
                let found = solana.cluster.accounts_starting_with(&program, &kind);
                found.await.unwrap().unwrap().len()
            }
        }
    }

    /// Another wallet for an agent, with its consent, and the owner's client that can set it.
    pub async fn wallet(&self, agent: &str, role: Role, folder: &Path) -> (Client, WalletSetting) {
        let consent = match self {
            Self::Evm(chain) => {
                let registries = evm_registries(&chain.url, chain.addresses);
                let node = Node::new(&EndpointOptions::new(&chain.url)).unwrap();
                let deadline = node.latest_time().await.unwrap() + 200;
                let key = self.key(role);
                Some(registries.consent(&key, agent, deadline).await.unwrap())
            }
            Self::Svm(_) => None,
        };
        let setting = WalletSetting {
            agent: agent.to_owned(),
            wallet: self.address(role),
            consent,
        };
        let owner = self.client_with(Role::Owner, folder, vec![role.keypair()]);
        (owner.await, setting)
    }

    /// The owner's authorization of a client (R5 to R9). `bounds`: index limit and expiry.
    pub async fn authorize(&self, agent: &str, client: Role, bounds: (u64, u64)) -> FeedbackAuth {
        let client = self.address(client);
        let authorized = match self {
            Self::Evm(chain) => {
                let registries = evm_registries(&chain.url, chain.addresses);
                let key = self.key(Role::Owner);
                registries.authorize(&key, agent, &client, bounds).await
            }
            Self::Svm(solana) => {
                let registries = svm_registries(&solana.url, solana.program);
                let key = Role::Owner.keypair();
                registries.authorize(&key, agent, &client, bounds).await
            }
        };
        authorized.unwrap()
    }

    /// The chain's time, in unix seconds.
    pub async fn now(&self) -> u64 {
        match self {
            Self::Evm(chain) => {
                let node = Node::new(&EndpointOptions::new(&chain.url)).unwrap();
                node.latest_time().await.unwrap()
            }
            Self::Svm(solana) => solana.cluster.unix_time().await.unwrap().unsigned_abs(),
        }
    }

    /// The canonical hash of a request for validation (R20).
    pub fn request_hash(&self, agent: &str, validator: Role, payload: [u8; 32]) -> [u8; 32] {
        let chain = caip::ChainId::parse(self.name()).unwrap().hash();
        let nonce = word::from_u64(1);
        let request = match self {
            Self::Evm(it) => {
                let registry: EvmAddress = it.addresses.validation.unwrap();
                let validator = self.key(validator).address().into_array();
                let agent = word::parse_decimal("agent", agent).unwrap();
                let registry = registry.into_array();
                Preimage::evm(chain, &registry, agent, &validator, payload, nonce)
            }
            Self::Svm(it) => Preimage {
                chain,
                registry: it.program.id().to_bytes(),
                agent: agent
                    .parse::<concord_registry::svm::Address>()
                    .unwrap()
                    .to_bytes(),
                validator: validator.keypair().address().to_bytes(),
                payload_hash: payload,
                nonce,
            },
        };
        request.hash()
    }
}
