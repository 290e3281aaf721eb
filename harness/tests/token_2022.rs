//! R25: clusters run other versions of Token-2022 than litesvm has, and these answer some mistakes
//! with other native errors. The scenarios must come to the same with each. `conform.rs` runs them
//! with litesvm's version, 11.0.0; here they run with that of Agave 4.2.2, 10.0.0.
use concord_canonical::ErrorClass;
use concord_harness::{
    backend::{Backend, svm::SvmLitesvm},
    model::{Actor, Operation, Verdict},
    report::{self, Colours, Detail},
    runner,
    scenario::{self, find_files},
};
use concord_registry::svm::programs::TOKEN_2022;
use serde_json::json;
use sha2::{Digest, Sha256};
use solana_account::ReadableAccount;
use solana_loader_v3_interface::state::UpgradeableLoaderState;
use solana_rent::Rent;
use std::path::{Path, PathBuf};

/// Of `spl_token_2022-10.0.0.so` in the crate solana-program-binaries 4.2.2.
const VERSION_10: &str = "a794161408080f690dac00832f45b3c3e2b71f1339586667ad1f979cf91d5b68";

fn clone_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The ELF that Agave's test validator has.
fn version_10() -> Vec<u8> {
    let accounts = solana_program_binaries::by_id(&TOKEN_2022, &Rent::default()).unwrap();
    let [_, (_, program_data)] = accounts.as_slice() else {
        panic!("{} accounts of an upgradeable program", accounts.len());
    };
    let header = UpgradeableLoaderState::size_of_programdata_metadata();
    let elf = program_data.data()[header..].to_vec();
    assert_eq!(hex::encode(Sha256::digest(&elf)), VERSION_10);
    elf
}

fn litesvm_with(token_2022: Option<&[u8]>) -> SvmLitesvm {
    let program = clone_root().join("target/deploy/agent_registry.so");
    let replacements = token_2022.map(|elf| (TOKEN_2022, elf));
    SvmLitesvm::start_with(&program, replacements.as_slice()).unwrap()
}

#[test]
fn r25_the_scenarios_agree_with_agaves_version_of_token_2022() {
    let files = find_files(&clone_root().join("tests/scenarios")).unwrap();
    let scenarios: Vec<_> = files
        .iter()
        .map(|file| scenario::load(file).unwrap())
        .collect();
    assert!(scenarios.len() > 400);
    let backend = litesvm_with(Some(&version_10()));
    let run = runner::run(&scenarios, &mut [Box::new(backend)], |_, _, _| ());
    assert!(
        run.agrees(),
        "{}",
        report::text(&run, Detail::Short, Colours::None)
    );
}

/// The two versions differ here, so that the test above is not of one version twice.
#[test]
fn r25_each_version_names_an_unknown_agent_in_its_own_way() {
    let transfer = json!({"transfer": {"agent": "nobody", "by": "alice", "to": "bob"}});
    let transfer: Operation = serde_json::from_value(transfer).unwrap();
    let version_10 = version_10();
    for (elf, native) in [
        (None, "InstructionError(0, IncorrectProgramId)"),
        (Some(&*version_10), "InstructionError(0, Custom(2))"), // InvalidMint
    ] {
        let mut backend = litesvm_with(elf);
        let actors = ["alice", "bob"].map(Actor::from);
        backend.reset(1_800_000_000, &actors).unwrap();
        let refused = backend.execute(&transfer, 1).unwrap();
        assert_eq!(refused.native_error.as_deref(), Some(native));
        let class = Verdict::Refused(ErrorClass::AgentNotFound);
        assert_eq!(refused.outcome.verdict, class);
    }
}
