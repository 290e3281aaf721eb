//! Accounts that are contracts: EOAs delegated to code (EIP-7702), which sign nothing themselves.
//!
//! ECDSA, which registries try first, recovers another address from what such an account's session
//! key signs, so that the answer is up to ERC-1271 (R3, R6). Its transactions are its own key's.
use super::ledger::{Answer, Ledger};
use alloy::{
    hex,
    primitives::{Address, Bytes, keccak256},
    signers::local::PrivateKeySigner,
};

/// The runtime bytecode of `SessionAccount` (`contracts/test/fixtures/SessionAccount.sol`), built as
/// every contract is, with zeros in place of the session key's address.
const SESSION_ACCOUNT: &[u8] = &hex!(
    "6080806040526004361015610012575f80fd5b5f3560e01c908163150b7a021461014a5750631626ba7e14610032
    575f80fd5b346101465760407ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffc36
    01126101465760243567ffffffffffffffff81116101465761008461008d91369060040161021b565b9060043561
    0249565b505073ffffffffffffffffffffffffffffffffffffffff807f0000000000000000000000000000000000
    000000000000000000000000000000169116145f1461011e5760207f1626ba7e0000000000000000000000000000
    00000000000000000000000000005b7fffffffff0000000000000000000000000000000000000000000000000000
    000060405191168152f35b60207fffffffff00000000000000000000000000000000000000000000000000000000
    6100f4565b5f80fd5b346101465760807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
    fffffc360112610146576101816101d5565b5061018a6101f8565b506064359067ffffffffffffffff8211610146
    576101ae602092369060040161021b565b50507f150b7a0200000000000000000000000000000000000000000000
    0000000000008152f35b6004359073ffffffffffffffffffffffffffffffffffffffff8216820361014657565b60
    24359073ffffffffffffffffffffffffffffffffffffffff8216820361014657565b9181601f8401121561014657
    82359167ffffffffffffffff8311610146576020838186019501011161014657565b90604183036102735761026c
    9250602081013591604082359201355f1a9061027d565b9192909190565b50505f9160029190565b91907f7fffff
    ffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0841161030c579160209360809260ff5f95
    60405194855216868401526040830152606082015282805260015afa15610301575f5173ffffffffffffffffffff
    ffffffffffffffffffff8116156102f757905f905f90565b505f906001905f90565b6040513d5f823e3d90fd5b50
    50505f916003919056"
);
/// Where the session key's address is: the last 20 of 32 bytes.
const SESSION: std::ops::Range<usize> = 179..199;
/// Where the dispatcher compares with the selector of `onERC721Received`.
const RECEIVES_TOKENS: std::ops::Range<usize> = 27..31;
/// EIP-7702: what an account's code begins with that points to other code.
const DELEGATION: [u8; 3] = [0xef, 0x01, 0x00];

/// Makes a contract of the account: a signature of `session` is now a signature of `account`. A
/// closed one does not know `onERC721Received`, so that it refuses tokens (R2).
pub(super) fn install(
    ledger: &mut impl Ledger,
    account: &PrivateKeySigner,
    session: &PrivateKeySigner,
    is_closed: bool,
) -> Answer<()> {
    let account = account.address();
    let delegate = Address::from_word(keccak256(account));
    let mut code = SESSION_ACCOUNT.to_vec();
    code[SESSION].copy_from_slice(session.address().as_slice());
    if is_closed {
        code[RECEIVES_TOKENS].fill(0xff);
    }
    ledger.set_code(delegate, code.into())?;
    let pointer = [&DELEGATION[..], delegate.as_slice()].concat();
    ledger.set_code(account, Bytes::from(pointer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        backend::{Backend, evm::EvmRevm},
        model::{Actor, Operation, Verdict},
    };
    use serde_json::{Value, json};
    use std::{fs, path::Path};

    fn built(folder: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../contracts/out")
            .join(folder)
    }

    #[test]
    fn the_bytecode_is_what_forge_builds() {
        let artifact = built("SessionAccount.sol/SessionAccount.json");
        let artifact = fs::read_to_string(artifact).expect("run scripts/build tests");
        let artifact: Value = serde_json::from_str(&artifact).unwrap();
        let receiver =
            &artifact["methodIdentifiers"]["onERC721Received(address,address,uint256,bytes)"];
        assert_eq!(*receiver, hex::encode(&SESSION_ACCOUNT[RECEIVES_TOKENS]));
        let code = &artifact["deployedBytecode"];
        let expected = hex::encode_prefixed(SESSION_ACCOUNT);
        assert_eq!(code["object"], json!(expected));
        let places = code["immutableReferences"].as_object().unwrap();
        let place = json!([{"start": SESSION.start - 12, "length": 32}]);
        assert_eq!(places.values().collect::<Vec<_>>(), [&place]);
    }

    fn outcomes(steps: &[Value]) -> Vec<Verdict> {
        let mut registry = EvmRevm::start(&built("")).expect("run scripts/build contracts");
        let actors = [
            "contract-gail",
            "contract-hugo",
            "contract-closed-vera",
            "alice",
            "bob",
        ]
        .map(Actor::from);
        registry.reset(1_800_000_000, &actors).unwrap();
        let steps = (1..).zip(steps);
        let played = steps.map(|(time, step)| {
            let operation: Operation = serde_json::from_value(step.clone()).unwrap();
            registry.execute(&operation, time).unwrap().outcome.verdict
        });
        played.collect()
    }

    #[test]
    fn r2_a_closed_contract_registers_nothing_but_holds_what_it_is_sent() {
        let register = |agent, by| json!({"register": {"agent": agent, "by": by, "uri": ""}});
        let steps = [
            register("safe", "contract-closed-vera"),
            register("safe", "contract-gail"),
            register("desk", "alice"),
            json!({"transfer": {"agent": "desk", "by": "alice", "to": "contract-closed-vera"}}),
            json!({"set_agent_uri": {"agent": "desk", "by": "contract-closed-vera", "uri": "u"}}),
        ];
        let expected = ["ReceiverRefused", "ok", "ok", "ok", "ok"];
        let expected = expected.map(|it| it.parse::<Verdict>().unwrap());
        assert_eq!(outcomes(&steps), expected);
    }

    fn feedback(tamper: Option<Value>) -> Value {
        let mut made = json!({"signer": "contract-gail", "agent": "desk", "client": "bob",
            "index_limit": 9, "expiry": 100});
        if let Some(tamper) = tamper {
            made["tamper"] = tamper;
        }
        json!({"give_feedback": {"agent": "desk", "by": "bob", "score": 80, "authorization": made}})
    }

    #[test]
    fn a_contract_grants_by_its_session_key_alone() {
        // R6, R7
        let register = json!({"register": {"agent": "desk", "by": "contract-gail", "uri": ""}});
        let steps = [
            register,
            feedback(None),
            feedback(Some(json!({"signed_by": "contract-hugo"}))),
            feedback(Some(json!({"signed_by": "alice"}))),
            feedback(Some(json!("corrupt_signature"))),
            feedback(Some(json!("malleate_signature"))),
            feedback(Some(json!("truncated"))),
            feedback(Some(json!("extended"))),
        ];
        let expected = ["ok", "ok"].into_iter();
        let expected = expected.chain(["AuthNotGranted"; 6]);
        let expected: Vec<Verdict> = expected.map(|it| it.parse::<Verdict>().unwrap()).collect();
        assert_eq!(outcomes(&steps), expected);
    }

    #[test]
    fn a_contract_consents_by_its_session_key_alone() {
        // R3
        let set = |signer| {
            json!({"set_agent_wallet": {"agent": "desk", "by": "alice", "wallet": "contract-hugo",
                "consent": {"signer": signer, "agent": "desk", "wallet": "contract-hugo",
                    "owner": "alice", "deadline": 60}}})
        };
        let register = json!({"register": {"agent": "desk", "by": "alice", "uri": ""}});
        let steps = [
            register,
            set("contract-gail"),
            set("alice"),
            set("contract-hugo"),
        ];
        let refused = "WalletConsentMissing";
        let expected = ["ok", refused, refused, "ok"].map(|it| it.parse::<Verdict>().unwrap());
        assert_eq!(outcomes(&steps), expected);
    }
}
