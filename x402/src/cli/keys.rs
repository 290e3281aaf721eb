use concord_canonical::sign::PreparedKey;
use concord_chain::keys::{EvmKeySource, Keypair, PrivateKeySigner, read_keypair};

use super::{CliError, options::Keys};
use crate::{pay::Payers, server::LocalSigner};

/// The keys that a command was given.
pub(super) struct Opened {
    pub evm: Option<PrivateKeySigner>,
    pub svm: Option<Keypair>,
}

impl Keys {
    /// Opens what is given. Nothing secret is ever in an error.
    pub(super) fn open(&self) -> Result<Opened, CliError> {
        let source = EvmKeySource {
            keystore: self.keystore.clone(),
            password_file: self.password_file.clone(),
        };
        let svm = self.keypair.as_deref().map(read_keypair);
        Ok(Opened {
            evm: source.open()?,
            svm: svm.transpose()?,
        })
    }
}

impl Opened {
    pub fn payers(&self) -> Payers<'_> {
        Payers {
            evm: self.evm.as_ref().map(|it| it as _),
            svm: self.svm.as_ref().map(|it| it as _),
        }
    }

    pub fn need_evm(&self) -> Result<&PrivateKeySigner, CliError> {
        let missing = "no EVM key: give --keystore or set CONCORD_EVM_PRIVATE_KEY";
        self.evm.as_ref().ok_or_else(|| CliError::usage(missing))
    }

    pub fn need_svm(&self) -> Result<&Keypair, CliError> {
        let missing = "no Solana key: give --keypair or set CONCORD_SOLANA_KEYPAIR";
        self.svm.as_ref().ok_or_else(|| CliError::usage(missing))
    }

    /// The payer's key on a chain, as the reviewer's (R38).
    pub fn reviewer(&self, network: &str) -> Result<LocalSigner, CliError> {
        let key = if network.starts_with("solana:") {
            PreparedKey::ed25519(self.need_svm()?.secret_bytes())
        } else {
            let secret = zeroize::Zeroizing::new(self.need_evm()?.to_bytes().0);
            PreparedKey::secp256k1(&secret).map_err(CliError::usage)?
        };
        Ok(LocalSigner::new(key))
    }
}
