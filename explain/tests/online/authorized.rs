//! Authorized feedback on a running chain, about agents of people and of contracts.
use crate::online::{
    anvil::{CHAIN, CLIENT, OWNER, World, creation},
    evm::explained,
    flips, offline, steps_in,
};
use alloy::primitives::{Address, Bytes, U256, hex, keccak256};
use concord_canonical::auth::EvmFeedbackAuth;
use concord_explain::{Family, KnownRegistry, State, Step, Trust, online::At};
use concord_registry::evm::calls::{self, GiveFeedback};

const CONTRACT: &str = "AuthorizedReputationRegistry";
const REGISTRY_CHAIN: u64 = 31337;

/// A contract that accepts every signature (ERC-1271) until it is called without input: from then on none.
pub fn judge() -> Bytes {
    let code = hex!("3615601a5760005415631626ba7e60e01b0260005260206000f35b600160005500");
    let length = u8::try_from(code.len()).expect("short");
    let head = [0x60, length, 0x80, 0x60, 0x0b, 0x60, 0, 0x39, 0x60, 0, 0xf3];
    [&head[..], &code].concat().into()
}

struct Authorized {
    world: World,
    registry: Address,
}

impl Authorized {
    async fn start() -> Self {
        let world = World::start().await;
        let arguments = calls::authorized_reputation_arguments(world.identity, false);
        let registry = world.deploy(creation(CONTRACT, CONTRACT, &arguments)).await;
        Self { world, registry }
    }

    /// With the hash of the registry's code, or without.
    async fn trust(&self, has_code_hash: bool) -> Trust {
        let mut trust = self.world.trust().await;
        let code = self.world.code(self.registry).await;
        trust.add(KnownRegistry {
            chain: CHAIN.to_owned(),
            contract: CONTRACT,
            address: self.registry.to_string(),
            family: Family::Concord,
            code_hash: has_code_hash.then(|| keccak256(code).0),
        });
        trust
    }

    /// The client gives feedback that `signer` authorized with these bytes. Returns its name.
    async fn give(&self, signer: Address, sign: impl Fn([u8; 32]) -> [u8; 65]) -> String {
        let word = |number: u64| U256::from(number).to_be_bytes();
        let auth = EvmFeedbackAuth {
            agent_id: word(1),
            client_address: self.world.accounts[CLIENT].into_array(),
            index_limit: 9,
            expiry: word(4_000_000_000),
            chain_id: word(REGISTRY_CHAIN),
            identity_registry: self.world.identity.into_array(),
            signer_address: signer.into_array(),
        };
        let signature = sign(auth.eip712_digest(&self.registry.into_array()));
        let input = calls::give_feedback(&GiveFeedback {
            agent_id: U256::from(1),
            score: 87,
            tag1: [0; 32],
            tag2: [0; 32],
            uri: "",
            hash: [0; 32],
            authorization: &auth.blob(&signature),
        });
        format!(
            "{CHAIN}:{}",
            self.world.send(CLIENT, self.registry, input).await
        )
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r6_r7_an_owners_signature_is_verified_and_every_byte_counts() {
    let authorized = Authorized::start().await;
    let world = &authorized.world;
    let sign = |digest: [u8; 32]| {
        let signature = world
            .key(OWNER)
            .sign(&digest, <[u8]>::to_vec)
            .expect("a signature");
        let mut signature: [u8; 65] = signature.try_into().expect("65 bytes");
        signature[64] += 27; // Ethereum's v
        signature
    };
    let name = authorized.give(world.accounts[OWNER], sign).await;
    let mut trust = authorized.trust(true).await;
    let found = explained(world, &name, Some(At::Latest), &mut trust).await;
    let (bundle, report) = found.expect("a feedback");
    assert_eq!(
        report.state_of(Step::Authorization),
        Some(State::Verified),
        "{report:#?}"
    );
    assert_eq!(steps_in(&report, State::Refuted), []);
    assert_eq!(offline(&bundle, &trust), report);
    let refuted = flips::check_evm(&bundle, &trust);
    for step in [
        Step::Event,
        Step::Inclusion,
        Step::Registry,
        Step::NotRevoked,
        Step::SelfFeedback,
    ] {
        assert!(refuted.contains(&step), "{step}: {refuted:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r6_an_authorization_by_a_contract_is_proven_by_the_registrys_code() {
    let authorized = Authorized::start().await;
    let world = &authorized.world;
    let contract = world.deploy(judge()).await;
    let transfer = calls::transfer(U256::from(1), world.accounts[OWNER], contract);
    world.send(OWNER, world.identity, transfer).await;
    let name = authorized.give(contract, |_| [7; 65]).await;
    for (has_code_hash, expected) in [(true, State::Verified), (false, State::CannotCheck)] {
        let mut trust = authorized.trust(has_code_hash).await;
        let found = explained(world, &name, Some(At::Latest), &mut trust).await;
        let (bundle, report) = found.expect("a feedback");
        let finding = report.finding(Step::Authorization).expect("a finding");
        assert_eq!(finding.state, expected, "{finding:?}");
        assert!(finding.detail.contains("ERC-1271"), "{finding:?}");
        assert_eq!(offline(&bundle, &trust), report);
        flips::check_evm(&bundle, &trust);
    }
}
