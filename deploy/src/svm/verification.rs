//! Reads the deployed program and its registry account back.
use super::{
    SvmTarget, UpgradeAuthority,
    choices::Choices,
    planning::{PROGRAM_TITLE, REGISTRY_TITLE},
    snapshot::{Code, Snapshot, key_or_none},
};
use crate::{AddressBook, Check, DeployError, Deployment, Record, StatusRow};
use concord_canonical::caip;
use concord_chain::svm::code_hash;
use std::path::Path;

impl SvmTarget {
    /// Every fact of the program and its registry on record.
    pub(super) fn checks(
        &self,
        snapshot: &Snapshot,
        recorded: &Deployment,
    ) -> Result<Vec<Check>, DeployError> {
        let Some(record) = recorded.contracts.get(PROGRAM_TITLE) else {
            let found = "not on record";
            return Ok(vec![Check::new(
                PROGRAM_TITLE,
                "address",
                self.program.id,
                found,
            )]);
        };
        let authority = self.authority_on_record(recorded)?;
        let mut checks = self.program_checks(snapshot, record, &authority);
        checks.extend(self.registry_checks(snapshot, record));
        checks.extend(snapshot.settings_checks(recorded));
        Ok(checks)
    }

    fn program_checks(
        &self,
        snapshot: &Snapshot,
        record: &Record,
        authority_on_record: &str,
    ) -> Vec<Check> {
        let check = |fact: &str, expected: &str, found: &str| {
            Check::new(PROGRAM_TITLE, fact, expected, found)
        };
        let built = "the local build";
        let code = match snapshot.code(&self.program) {
            Code::Built => built.to_owned(),
            Code::Nothing => "nothing".to_owned(),
            Code::Other(hash) => format!("another program, {hash}"),
            Code::Foreign { difference, .. } => difference,
        };
        let data = snapshot.program_data();
        let hash = data.as_ref().map(|data| code_hash(data.content));
        let authority = data.map(|data| key_or_none(data.authority));
        let nothing = || "nothing".to_owned();
        vec![
            check("address", &self.program.id.to_string(), &record.address),
            check(
                "code hash",
                &record.code_hash,
                &hash.unwrap_or_else(nothing),
            ),
            check("code", built, &code),
            check(
                "upgrade authority",
                authority_on_record,
                &authority.unwrap_or_else(nothing),
            ),
        ]
    }

    /// R9: the chain word of every authorization comes from here.
    fn registry_checks(&self, snapshot: &Snapshot, record: &Record) -> Vec<Check> {
        let chain = self.chain.to_string();
        let word = caip::ChainId::parse(&chain).map_or_else(
            |_| String::new(), // its form was checked when it was made
            |chain| hex_word(&chain.hash()),
        );
        let (found_chain, found_word) = match snapshot.found_registry() {
            Ok(Some(registry)) => (registry.chain, hex_word(&registry.chain_hash)),
            Ok(None) => ("nothing".to_owned(), "nothing".to_owned()),
            Err(reason) => (reason.clone(), reason),
        };
        let address = self.registry.registry();
        let on_record = registry_on_record(record).unwrap_or_else(|| "not on record".to_owned());
        vec![
            Check::new(REGISTRY_TITLE, "address", address, on_record),
            Check::new(REGISTRY_TITLE, "chain", chain, found_chain),
            Check::new(REGISTRY_TITLE, "chain word", word, found_word),
        ]
    }

    /// Program and registry account, in the address book, in the build, and on chain.
    pub(super) async fn status_rows(
        &self,
        recorded: Option<&Deployment>,
    ) -> Result<Vec<StatusRow>, DeployError> {
        let record = recorded.and_then(|book| book.contracts.get(PROGRAM_TITLE));
        let authority = record.and(recorded);
        let authority = authority.map(|book| self.authority_on_record(book));
        let authority = authority.transpose()?;
        let snapshot = self.snapshot().await?;
        let code = snapshot.code(&self.program);
        let drifts = [
            self.program_drift(&code, record),
            authority_drift(&snapshot, authority.as_deref()),
        ];
        let drifts: Vec<&str> = drifts.into_iter().flatten().collect();
        let program = StatusRow {
            title: PROGRAM_TITLE.to_owned(),
            recorded: record.map(|record| record.address.clone()),
            built: self.program.id.to_string(),
            on_chain: match &code {
                Code::Built => "as built",
                Code::Nothing => "nothing",
                Code::Other(_) => "other code",
                Code::Foreign { .. } => "no program",
            }
            .to_owned(),
            drift: (!drifts.is_empty()).then(|| drifts.join("; ")),
        };
        let mut registry = self.registry_standing(&snapshot, record);
        let drifts = snapshot.settings_drifts(recorded);
        let drifts: Vec<&str> = registry
            .drift
            .as_deref()
            .into_iter()
            .chain(drifts)
            .collect();
        registry.drift = (!drifts.is_empty()).then(|| drifts.join("; "));
        Ok(vec![program, registry])
    }

    fn program_drift(&self, code: &Code, record: Option<&Record>) -> Option<&'static str> {
        let is_moved = |record: &Record| record.address != self.program.id.to_string();
        Some(match (code, record) {
            (_, Some(record)) if is_moved(record) => "the build has moved to another address",
            (Code::Other(hash), Some(record)) if record.code_hash == *hash => {
                "the build has changed: --upgrade replaces the program"
            }
            (Code::Other(_), _) => "neither the build nor the program on record",
            (Code::Foreign { .. }, _) => "no program, and the address is taken",
            (Code::Nothing, Some(_)) => "on record, not on chain",
            (Code::Nothing, None) => "not deployed",
            (Code::Built, None) => "not on record",
            (Code::Built, Some(record)) if record.code_hash != self.program.code_hash() => {
                "another code hash on record"
            }
            (Code::Built, Some(_)) => return None,
        })
    }

    fn registry_standing(&self, snapshot: &Snapshot, record: Option<&Record>) -> StatusRow {
        let address = self.registry.registry().to_string();
        let registry = snapshot.found_registry();
        let on_record = record.and_then(registry_on_record);
        let drift = match &registry {
            Err(_) => Some("it does not decode"),
            Ok(Some(registry)) if registry.chain != self.chain.to_string() => {
                Some("initialized for another chain")
            }
            Ok(None) => Some("not initialized"),
            Ok(Some(_)) if record.is_none() => None, // the program's row says so
            Ok(Some(_)) => match &on_record {
                None => Some("not on record"),
                Some(recorded) if *recorded != address => Some("another address on record"),
                Some(_) => None,
            },
        };
        StatusRow {
            title: REGISTRY_TITLE.to_owned(),
            recorded: on_record,
            built: address,
            on_chain: match registry {
                Ok(Some(registry)) => registry.chain,
                Ok(None) => "nothing".to_owned(),
                Err(reason) => reason,
            },
            drift: drift.map(str::to_owned),
        }
    }

    /// Who should be able to replace the program, by what was chosen when it was deployed.
    fn authority_on_record(&self, recorded: &Deployment) -> Result<String, DeployError> {
        let choices = Choices::recorded(&recorded.settings).ok_or_else(|| {
            DeployError::file(
                AddressBook::path(Path::new("")),
                format!(
                    "chains.{}.settings have no upgradeAuthority, upgrade and reclaimBuffers",
                    self.chain
                ),
            )
        })?;
        Ok(match choices.authority {
            UpgradeAuthority::Keep => recorded.deployer.clone(),
            UpgradeAuthority::Key(key) => key.to_string(),
            UpgradeAuthority::None => key_or_none(None),
        })
    }
}

fn authority_drift(snapshot: &Snapshot, on_record: Option<&str>) -> Option<&'static str> {
    let authority = key_or_none(snapshot.program_data()?.authority);
    (authority != on_record?).then_some("another upgrade authority than on record")
}

fn registry_on_record(record: &Record) -> Option<String> {
    record.settings.get("registry").map(ToString::to_string)
}

fn hex_word(word: &[u8; 32]) -> String {
    format!("0x{}", alloy::hex::encode(word))
}
