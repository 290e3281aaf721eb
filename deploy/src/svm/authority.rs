//! Whether a key can be the next authority of the program or of its registry. One that cannot sign
//! would make the program final, without the confirmation that `none` requires.
use super::{SvmTarget, loader};
use crate::DeployError;
use concord_chain::svm::Account;
use solana_address::{Address, address, bytes_are_curve_point};
use solana_sdk_ids::{
    address_lookup_table, bpf_loader, bpf_loader_deprecated, bpf_loader_upgradeable,
    compute_budget, config, ed25519_program, feature, incinerator, loader_v4, native_loader,
    secp256k1_program, secp256r1_program, stake, system_program, sysvar, vote,
};

/// The multisig program of Squads, version 4. No other vault is accepted: an address off the curve does not say which
/// program can sign for it.
const SQUADS: Address = address!("SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf");
/// Anchor's discriminator of its account `Multisig`: SHA-256 of `account:Multisig`, 8 bytes.
const MULTISIG: [u8; 8] = [224, 116, 121, 186, 68, 161, 79, 236];
/// Vaults of one multisig that are looked at.
const VAULTS: u8 = 16;

const NATIVE: [Address; 17] = [
    address_lookup_table::ID,
    bpf_loader::ID,
    bpf_loader_deprecated::ID,
    bpf_loader_upgradeable::ID,
    compute_budget::ID,
    config::ID,
    ed25519_program::ID,
    feature::ID,
    incinerator::ID,
    loader_v4::ID,
    native_loader::ID,
    secp256k1_program::ID,
    secp256r1_program::ID,
    stake::ID,
    system_program::ID,
    sysvar::ID,
    vote::ID,
];

impl SvmTarget {
    /// Requires that the chosen keys can sign, as the program's upgrade authority and as the
    /// registry's authority: each is a point of the curve, for which someone may have the secret
    /// key, or a vault of a Squads multisig.
    ///
    /// # Errors
    /// [`DeployError::Option`], and an endpoint that does not answer.
    pub(super) async fn require_usable_authorities(&self) -> Result<(), DeployError> {
        let chosen = [
            ("upgrade-authority", self.choices.authority.successor()),
            ("registry-authority", self.choices.registry_authority),
        ];
        for (option, key) in chosen {
            if let Some(key) = key {
                self.require_usable(option, key).await?;
            }
        }
        Ok(())
    }

    async fn require_usable(&self, option: &'static str, key: Address) -> Result<(), DeployError> {
        let account = self.cluster.account(&key).await?;
        let reason = match self.unusable(&key, account.as_ref()) {
            Some(reason) => Some(reason),
            None if bytes_are_curve_point(key) => None,
            None => self.no_vault(&key).await?,
        };
        match reason {
            None => Ok(()),
            Some(reason) => Err(DeployError::Option {
                option,
                value: key.to_string(),
                reason,
            }),
        }
    }

    /// Why no signature of this key can ever be had.
    fn unusable(&self, key: &Address, account: Option<&Account>) -> Option<String> {
        let id = self.program.id;
        let own = [
            id,
            loader::program_data_address(&id),
            self.registry.registry(),
        ];
        if own.contains(key) {
            return Some("an account of the program itself, which cannot sign".to_owned());
        }
        if NATIVE.contains(key) {
            return Some("one of Solana's own programs, which cannot sign".to_owned());
        }
        let account = account?;
        if account.executable {
            return Some("a program, which cannot sign".to_owned());
        }
        if account.owner == sysvar::ID {
            return Some("a sysvar, which cannot sign".to_owned());
        }
        (account.owner != system_program::ID)
            .then(|| format!("an account of program {}, which cannot sign", account.owner))
    }

    /// Why an address off the curve is not a vault of the named multisig.
    async fn no_vault(&self, key: &Address) -> Result<Option<String>, DeployError> {
        let Some(multisig) = self.choices.squads else {
            let reason = "no secret key belongs to it (it is off the curve): if it is a Squads vault, name its multisig with --squads-multisig";
            return Ok(Some(reason.to_owned()));
        };
        let is_multisig = self
            .cluster
            .account(&multisig)
            .await?
            .is_some_and(|account| account.owner == SQUADS && account.data.starts_with(&MULTISIG));
        if !is_multisig {
            return Ok(Some(format!(
                "{multisig} is not a Squads multisig ({SQUADS})"
            )));
        }
        let vault = |index: u8| {
            let seeds: [&[u8]; 4] = [b"multisig", multisig.as_ref(), b"vault", &[index]];
            Address::find_program_address(&seeds, &SQUADS).0
        };
        let is_vault = (0..VAULTS).any(|index| vault(index) == *key);
        Ok((!is_vault).then(|| {
            format!(
                "none of the first {VAULTS} vaults of multisig {multisig}, whose first is {}",
                vault(0)
            )
        }))
    }
}
