//! Where secrets come from. None of them is ever an argument, printed, or written to a file. The
//! memory that holds them is wiped when it is dropped, as far as the libraries allow.
use crate::ChainError;
use alloy::primitives::B256;
pub use alloy::signers::local::PrivateKeySigner;
use serde::Deserialize;
pub use solana_keypair::Keypair;
use std::{
    env, fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

/// The variable with an EVM private key: 64 hex digits, `0x` or not before them.
pub const EVM_PRIVATE_KEY: &str = "CONCORD_EVM_PRIVATE_KEY";

/// Where an EVM key is.
#[derive(Clone, Debug, Default)]
pub struct EvmKeySource {
    /// An encrypted JSON keystore (Web3 Secret Storage, version 3).
    pub keystore: Option<PathBuf>,
    /// A file whose first line is its password. Without one the terminal is asked.
    pub password_file: Option<PathBuf>,
}

impl EvmKeySource {
    /// Opens the keystore, or reads [`EVM_PRIVATE_KEY`]; `None` if neither is given.
    ///
    /// # Errors
    /// [`ChainError::WrongPassword`], [`ChainError::KeyUnreadable`]: neither contains any part of the secret.
    pub fn open(&self) -> Result<Option<PrivateKeySigner>, ChainError> {
        match &self.keystore {
            Some(keystore) => open_keystore(keystore, self.password_file.as_deref()).map(Some),
            None => from_environment(),
        }
    }
}

fn from_environment() -> Result<Option<PrivateKeySigner>, ChainError> {
    let unreadable = |reason: &str| ChainError::KeyUnreadable {
        source_name: EVM_PRIVATE_KEY.to_owned(),
        reason: reason.to_owned(),
    };
    let text = match env::var(EVM_PRIVATE_KEY) {
        Ok(text) => Zeroizing::new(text),
        Err(env::VarError::NotPresent) => return Ok(None),
        Err(env::VarError::NotUnicode(_)) => return Err(unreadable("not 64 hex digits")),
    };
    let digits = text.trim();
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(unreadable("not 64 hex digits"));
    }
    let word: Zeroizing<[u8; 32]> = Zeroizing::new(
        digits
            .parse::<B256>()
            .map_err(|_| unreadable("not 64 hex digits"))?
            .0,
    );
    signer(&*word)
        .map(Some)
        .ok_or_else(|| unreadable("not a number from 1 to the order of secp256k1"))
}

fn signer(secret: &[u8]) -> Option<PrivateKeySigner> {
    PrivateKeySigner::from_slice(secret).ok()
}

/// The parts of a keystore that decide what opening it costs, or whether it can be opened at all.
#[derive(Deserialize)]
struct Keystore {
    version: u64,
    crypto: Crypto,
}

#[derive(Deserialize)]
struct Crypto {
    cipher: String,
    cipherparams: CipherParams,
    ciphertext: String,
    kdfparams: KdfParams,
}

#[derive(Deserialize)]
struct CipherParams {
    iv: String,
}

#[derive(Deserialize)]
struct KdfParams {
    dklen: u64,
    #[serde(default)]
    n: Option<u64>,
    #[serde(default)]
    r: Option<u64>,
    #[serde(default)]
    p: Option<u64>,
    #[serde(default)]
    c: Option<u64>,
}

/// scrypt takes 128·n·r bytes of memory; the widely used n = 2^18, r = 8 is a quarter of this.
const SCRYPT_BYTES_MAX: u64 = 1 << 30;
const SCRYPT_PARALLEL_MAX: u64 = 16;
const PBKDF2_ROUNDS_MAX: u64 = 10_000_000;
/// Of a Solana keypair: secret and public key.
const KEYPAIR_BYTES: usize = 64;

impl Keystore {
    /// The library trusts the file, and panics or asks for any amount of memory.
    fn check(&self) -> Result<(), String> {
        let CipherParams { iv } = &self.crypto.cipherparams;
        let kdf = &self.crypto.kdfparams;
        require("version", self.version, self.version == 3, "3")?;
        let cipher = &self.crypto.cipher;
        require(
            "crypto.cipher",
            cipher,
            cipher == "aes-128-ctr",
            "aes-128-ctr",
        )?;
        let length = self.crypto.ciphertext.len();
        require("crypto.ciphertext", length, length == 64, "64 hex digits")?;
        require(
            "crypto.cipherparams.iv",
            iv.len(),
            iv.len() == 32,
            "32 hex digits",
        )?;
        require("kdfparams.dklen", kdf.dklen, kdf.dklen == 32, "32")?;
        if let (Some(n), Some(r)) = (kdf.n, kdf.r) {
            let n_fits = n.is_power_of_two() && n > 1;
            require("kdfparams.n", n, n_fits, "a power of two above 1")?;
            let bytes = n.saturating_mul(r).saturating_mul(128);
            let bytes_fit = (1..=SCRYPT_BYTES_MAX).contains(&bytes);
            require("kdfparams n·r", bytes, bytes_fit, "at most 2^30 bytes")?;
            let p = kdf.p.unwrap_or(0);
            let p_fits = (1..=SCRYPT_PARALLEL_MAX).contains(&p);
            require("kdfparams.p", p, p_fits, "1 to 16")?;
        }
        if let Some(c) = kdf.c {
            let c_fits = (1..=PBKDF2_ROUNDS_MAX).contains(&c);
            require("kdfparams.c", c, c_fits, "1 to 10000000")?;
        }
        Ok(())
    }
}

fn require(
    field: &str,
    value: impl std::fmt::Display,
    holds: bool,
    expected: &str,
) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(format!("{field} is {value}, expected {expected}"))
    }
}

fn open_keystore(
    path: &Path,
    password_file: Option<&Path>,
) -> Result<PrivateKeySigner, ChainError> {
    let unreadable = |reason: String| ChainError::KeyUnreadable {
        source_name: format!("keystore {}", path.display()),
        reason,
    };
    let text = fs::read_to_string(path)
        .map(Zeroizing::new)
        .map_err(|error| unreadable(error.to_string()))?;
    // The parser's words could repeat a part of a secret: of a key or a password in a file named by mistake.
    let keystore: Keystore = serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        unreadable(format!(
            "not a version 3 keystore (line {line} column {column})"
        ))
    })?;
    keystore.check().map_err(unreadable)?;
    let password = password(path, password_file)?;
    let opened = PrivateKeySigner::decrypt_keystore(path, password.as_bytes());
    opened.map_err(|error| match error.to_string() {
        reason if reason.contains("Mac Mismatch") => ChainError::WrongPassword(path.to_owned()),
        reason => unreadable(reason),
    })
}

/// A line feed at the end of the file is the editor's, not the password's.
fn password(keystore: &Path, file: Option<&Path>) -> Result<Zeroizing<String>, ChainError> {
    let unreadable = |source_name: String, reason: String| ChainError::KeyUnreadable {
        source_name,
        reason,
    };
    if let Some(file) = file {
        let text = fs::read_to_string(file)
            .map(Zeroizing::new)
            .map_err(|error| {
                unreadable(
                    format!("password file {}", file.display()),
                    error.to_string(),
                )
            })?;
        return Ok(Zeroizing::new(
            text.lines().next().unwrap_or_default().to_owned(),
        ));
    }
    let prompt = format!("Password of {}: ", keystore.display());
    let answer = if io::stdin().is_terminal() {
        rpassword::prompt_password(prompt)
    } else {
        Err(io::Error::other(
            "stdin is not a terminal: pass --password-file",
        ))
    };
    answer
        .map(Zeroizing::new)
        .map_err(|error| unreadable("password".to_owned(), error.to_string()))
}

/// Returns whether other users of this machine can read the file. Always false on systems other than
/// Unix.
#[must_use]
pub fn readable_by_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Reads a Solana keypair file: a JSON array of 64 bytes, the Ed25519 seed and its public key.
///
/// # Errors
/// [`ChainError::KeyUnreadable`], which contains no part of the secret.
pub fn read_keypair(path: &Path) -> Result<Keypair, ChainError> {
    let unreadable = |reason: &str| ChainError::KeyUnreadable {
        source_name: format!("keypair {}", path.display()),
        reason: reason.to_owned(),
    };
    let text = fs::read_to_string(path)
        .map(Zeroizing::new)
        .map_err(|error| unreadable(&error.to_string()))?;
    // The parser's words could repeat a part of the secret.
    let bytes: Vec<u8> =
        serde_json::from_str(&text).map_err(|_| unreadable("not a JSON array of 64 bytes"))?;
    let bytes = Zeroizing::new(bytes);
    if bytes.len() != KEYPAIR_BYTES {
        return Err(unreadable(&format!("has {} bytes, not 64", bytes.len())));
    }
    Keypair::try_from(&bytes[..])
        .map_err(|_| unreadable("its second half is not the public key of its first"))
}

/// Opens a connected Ledger device with its Ethereum app: the account at `index`, as Ledger Live
/// counts them.
///
/// # Errors
/// [`ChainError::KeyUnreadable`] if there is no device, or it is locked.
#[cfg(feature = "ledger")]
pub async fn open_ledger(
    index: usize,
    chain_id: u64,
) -> Result<alloy::signers::ledger::LedgerSigner, ChainError> {
    use alloy::signers::ledger::{HDPath, LedgerSigner};
    let opened = LedgerSigner::new(HDPath::LedgerLive(index), Some(chain_id)).await;
    opened.map_err(|error| ChainError::KeyUnreadable {
        source_name: format!("Ledger account {index}"),
        reason: error.to_string(),
    })
}

/// Opens a key in AWS KMS: a key id, an alias or an ARN of a key on secp256k1. Credentials and
/// region come from the environment, as AWS's own tools read them.
///
/// # Errors
/// [`ChainError::KeyUnreadable`] if the service does not return the public key.
#[cfg(feature = "aws-kms")]
pub async fn open_aws_kms(
    key_id: &str,
    chain_id: u64,
) -> Result<alloy::signers::aws::AwsSigner, ChainError> {
    use alloy::signers::aws::{AwsSigner, aws_config, aws_sdk_kms};
    let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    let client = aws_sdk_kms::Client::new(&config);
    let opened = AwsSigner::new(client, key_id.to_owned(), Some(chain_id)).await;
    opened.map_err(|error| ChainError::KeyUnreadable {
        source_name: format!("AWS KMS key {key_id}"),
        reason: error.to_string(),
    })
}
