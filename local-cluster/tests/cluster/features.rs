//! Which programs a cluster takes, and where it says so.
use crate::{
    client::{Client, still},
    program::elf,
};
use concord_local_cluster::Options;
use serde_json::{Value, json};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// As published with the node software.
const SBPF_V3: Address = Address::from_str_const("5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC");
const ONLY_SBPF_V3: Address =
    Address::from_str_const("B8JJXCy5amZyWG9r7EnUYLwzXSXTxG7GZ1qZ1qggo83g");
const FEATURE: &str = "Feature111111111111111111111111111111111111";
/// Of the ELF header's flags, a u32 LE that is the version.
const FLAGS: usize = 48;

/// The error of deploying the program as if it were of this version.
fn deploying(options: Options, version: u8) -> Value {
    let mut client = Client::new(options);
    let (mut code, buffer) = (elf("canonical_probe"), Keypair::new_from_array([9; 32]));
    code[FLAGS] = version;
    client.write_buffer(&buffer, &code);
    let calls = client.deploying(&buffer.pubkey(), code.len());
    let transaction = client.signed(&[&crate::program::program_key()], &calls);
    let text = crate::client::written(&transaction);
    let config = json!({"encoding": "base64", "commitment": "processed"});
    client.value("simulateTransaction", json!([text, config]))["err"].take()
}

#[test]
fn an_active_feature_has_an_account() {
    let mut client = Client::new(still());
    let account = client.account(&SBPF_V3);
    assert_eq!(account["owner"], FEATURE);
    assert_eq!(client.data(&SBPF_V3)[0], 1); // an optional slot: there is one
    assert_eq!(client.account(&ONLY_SBPF_V3), Value::Null);
}

#[test]
fn refuses_a_version_that_the_cluster_does_not_run() {
    let options = || Options {
        inactive_features: vec![SBPF_V3],
        ..still()
    };
    assert_eq!(Client::new(options()).account(&SBPF_V3), Value::Null);
    let own = elf("canonical_probe")[FLAGS];
    assert_eq!(deploying(still(), own), Value::Null);
    let refused = json!({"InstructionError": [1, "InvalidAccountData"]});
    assert_eq!(deploying(still(), 4), refused);
    assert_eq!(deploying(options(), 3), refused);
}

#[test]
fn refuses_old_versions_where_only_the_newest_is_deployed() {
    let options = Options {
        active_features: vec![ONLY_SBPF_V3],
        ..still()
    };
    let refused = json!({"InstructionError": [1, "InvalidAccountData"]});
    assert_eq!(deploying(options, 0), refused);
}
