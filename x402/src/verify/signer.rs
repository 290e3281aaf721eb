//! S9 and S10: the signer is one of the agent's, and the signature is valid.

use concord_canonical::{
    Error as CanonicalError, Word,
    caip::parse_solana_key,
    sign::{PublicKey, address_of_public_key, ed25519_verify, secp256k1_verify},
};
use concord_files::{Algorithm, Found, InteractionData, RegistrationFile, RegistrationId, Signer};

use crate::account::{chain_of, claims};

use super::{
    check::{PaymentRead, needs},
    reads::{AgentRecord, FileError, Payment, Reads, Unavailable},
    report::{Class, State, Step, StepResult},
};

/// Seconds that clocks may differ (R30).
const CLOCK_SKEW: u64 = 60;

/// Why the signer is not known to be one.
enum NoSigner {
    Refuted(Class, String),
    CannotCheck(String),
}

impl From<Unavailable> for NoSigner {
    fn from(error: Unavailable) -> Self {
        Self::CannotCheck(error.0)
    }
}

/// Who judges the signature.
enum Judge {
    /// The key that the message states, which is the signer's.
    Key,
    /// A contract (ERC-1271), after a block.
    Contract { wallet: String, block: u64 },
}

/// What a key signed for an agent.
pub(super) struct Signed<'a> {
    pub agent: &'a RegistrationId,
    /// As stated.
    pub public_key: &'a PublicKey,
    pub algorithm: Algorithm,
    pub signature: &'a [u8],
    /// The 32 bytes, if they can be put together.
    pub message: Result<Word, CanonicalError>,
}

impl<'a> Signed<'a> {
    fn of(data: &'a Found<InteractionData>) -> Self {
        let Found { view, profile, .. } = data;
        Self {
            agent: &view.agent,
            public_key: &view.signed.agent_signer_public_key,
            algorithm: view.signed.agent_signature_algorithm,
            signature: &view.signed.agent_signature.0,
            message: view.signed.interaction_hash(*profile),
        }
    }

    /// Verifies with the key that is stated.
    fn verify(&self, message: &Word) -> Result<(), CanonicalError> {
        match self.public_key {
            PublicKey::Secp256k1(key) => secp256k1_verify(key, message, self.signature),
            PublicKey::Ed25519(key) => ed25519_verify(key, message, self.signature),
        }
    }
}

/// S9 and S10. Before they refute, agent and file are read again, past every cache.
/// `network`: the payment chain, CAIP-2.
pub(super) async fn check(
    network: &str,
    data: Option<&Found<InteractionData>>,
    payment: &PaymentRead,
    reads: Reads<'_>,
    live: Option<u64>,
) -> [StepResult; 2] {
    let Some(data) = data else {
        return [needs(Step::S9, Step::S4), needs(Step::S10, Step::S4)];
    };
    check_signed(network, Signed::of(data), payment, reads, live).await
}

/// As [`check`], for whatever an agent signs.
pub(super) async fn check_signed(
    network: &str,
    signed: Signed<'_>,
    payment: &PaymentRead,
    reads: Reads<'_>,
    live: Option<u64>,
) -> [StepResult; 2] {
    let check = SignerCheck {
        network,
        signed,
        payment,
        reads,
        live,
    };
    let first = check.run(false).await;
    if first.iter().any(|step| step.state == State::Refuted) {
        check.run(true).await
    } else {
        first
    }
}

struct SignerCheck<'a> {
    network: &'a str,
    signed: Signed<'a>,
    payment: &'a PaymentRead,
    reads: Reads<'a>,
    live: Option<u64>,
}

impl SignerCheck<'_> {
    async fn run(&self, fresh: bool) -> [StepResult; 2] {
        let judge = self.judge(fresh).await;
        let known = match &judge {
            Ok((_, note)) => StepResult::new(Step::S9, State::Verified, note),
            Err(NoSigner::Refuted(class, detail)) => StepResult::refuted(Step::S9, *class, detail),
            Err(NoSigner::CannotCheck(why)) => StepResult::cannot_check(Step::S9, why),
        };
        let judge = judge.map_or(Judge::Key, |(judge, _)| judge);
        [known, self.signature(&judge).await]
    }

    /// S9: the judge, and when the agent was read if that was later.
    async fn judge(&self, fresh: bool) -> Result<(Judge, String), NoSigner> {
        let agent = self.signed.agent;
        let record = read_agent(self.network, agent, self.payment, self.reads).await?;
        let unknown = |detail: String| NoSigner::Refuted(Class::SignerUnknown, detail);
        let record = record.ok_or_else(|| {
            let (id, registry) = (&agent.agent_id, &agent.agent_registry);
            unknown(format!("there is no agent {id} at {registry}"))
        })?;
        let file = match read_file(&record, agent, self.reads, fresh).await {
            Ok(file) => file,
            Err(FileError::Unavailable(why) | FileError::Mismatch(why)) => {
                return Err(NoSigner::CannotCheck(why));
            }
            Err(FileError::Malformed(why)) => return Err(unknown(why)),
        };
        let signers = file.as_ref().map_or(&[][..], |file| &file.signers);
        let note = read_later(self.network, agent, self.payment, &record);
        let judge = match signers.is_empty() {
            false => self.listed(signers)?,
            true => self.wallet(record)?, // R29
        };
        Ok((judge, note))
    }

    /// R29: only the keys that the file lists, with their algorithm.
    fn listed(&self, signers: &[Signer]) -> Result<Judge, NoSigner> {
        let own: Vec<_> = signers
            .iter()
            .filter(|it| it.public_key == *self.signed.public_key)
            .filter(|it| it.algorithm == self.signed.algorithm)
            .collect();
        if own.is_empty() {
            let detail = format!("the key is not one of the {} listed signers", signers.len());
            return Err(NoSigner::Refuted(Class::SignerUnknown, detail));
        }
        // R30: at the settlement block's time
        let settled_at = match self.payment {
            Some(Ok(Some(payment))) => payment.time,
            Some(Err(error)) => return Err(error.clone().into()),
            _ => {
                let why = "the time of the settlement is not known";
                return Err(NoSigner::CannotCheck(why.to_owned()));
            }
        };
        let is_valid = |it: &&&Signer| it.is_valid_at(settled_at) && self.is_live(it);
        match own.iter().find(is_valid) {
            Some(_) => Ok(Judge::Key),
            None => Err(NoSigner::Refuted(
                Class::SignerNotValid,
                windows(&own, settled_at, self.live),
            )),
        }
    }

    /// R30: also now, give or take a minute.
    fn is_live(&self, signer: &Signer) -> bool {
        self.live.is_none_or(|now| {
            let has_begun = signer.valid_from <= now.saturating_add(CLOCK_SKEW);
            let end = now.saturating_sub(CLOCK_SKEW);
            has_begun && signer.valid_until.is_none_or(|until| end < until)
        })
    }

    /// R29: without listed signers the wallet on chain signs; the owner never does. As in R3 its own key counts first: an account
    /// that delegated (EIP-7702) has code and still its key.
    fn wallet(&self, record: AgentRecord) -> Result<Judge, NoSigner> {
        let unknown = |detail: &str| NoSigner::Refuted(Class::SignerUnknown, detail.to_owned());
        let wallet = (record.wallet)
            .ok_or_else(|| unknown("the file lists no signer, and the agent has no wallet"))?;
        let chain = chain_of(self.signed.agent).unwrap_or_default();
        let namespace = chain.split(':').next().unwrap_or_default();
        // the message's algorithm must equal the signer's
        if Algorithm::of_namespace(namespace) != Some(self.signed.algorithm) {
            let found = self.signed.algorithm.name();
            let detail = format!("{found} is not the algorithm of the wallet {wallet}");
            return Err(unknown(&detail));
        }
        let is_own = self.is_key_of(&wallet);
        match (is_own && self.is_signed_by_key(), record.is_wallet_contract) {
            (true, _) => Ok(Judge::Key),
            (false, true) => Ok(Judge::Contract {
                wallet,
                block: record.block,
            }),
            (false, false) if is_own => Ok(Judge::Key), // S10 refutes
            (false, false) => Err(unknown(&format!(
                "the key is not that of the wallet {wallet}"
            ))),
        }
    }

    fn is_key_of(&self, wallet: &str) -> bool {
        match self.signed.public_key {
            PublicKey::Secp256k1(key) => address_of_public_key(key)
                .is_ok_and(|it| format!("0x{}", hex::encode(it)).eq_ignore_ascii_case(wallet)),
            PublicKey::Ed25519(key) => {
                parse_solana_key("wallet", wallet).is_ok_and(|it| it == *key)
            }
        }
    }

    fn is_signed_by_key(&self) -> bool {
        let message = self.signed.message.as_ref();
        message.is_ok_and(|it| self.signed.verify(it).is_ok())
    }

    /// S10
    async fn signature(&self, judge: &Judge) -> StepResult {
        const STEP: Step = Step::S10;
        let class = Class::SignatureInvalid;
        let message = match &self.signed.message {
            Ok(message) => message,
            Err(error) => return StepResult::refuted(STEP, class, error.to_string()),
        };
        let Judge::Contract { wallet, block } = judge else {
            return match self.signed.verify(message) {
                Ok(()) => StepResult::verified(STEP),
                Err(error) => StepResult::refuted(STEP, class, error.to_string()),
            };
        };
        let Signed {
            agent, signature, ..
        } = self.signed;
        let registries = self.reads.registries;
        let answer = registries.is_signed_by_contract(agent, *block, wallet, message, signature);
        match answer.await {
            Ok(true) => StepResult::verified(STEP),
            Ok(false) => {
                let detail = format!("the contract {wallet} refuses the signature");
                StepResult::refuted(STEP, class, detail)
            }
            Err(error) => StepResult::cannot_check(STEP, error.0),
        }
    }
}

fn windows(signers: &[&Signer], settled_at: u64, live: Option<u64>) -> String {
    let window = |it: &&Signer| match it.valid_until {
        Some(until) => format!("from {} until {until}", it.valid_from),
        None => format!("from {} on", it.valid_from),
    };
    let windows: Vec<_> = signers.iter().map(window).collect();
    let live = live.map_or(String::new(), |now| format!(" and verified at {now}"));
    let windows = windows.join(", ");
    format!("the key is valid {windows}; it was used at {settled_at}{live}")
}

/// The agent as it was when the payment settled, if its registry is on the payment chain; else as it is now.
pub(super) async fn read_agent(
    network: &str,
    agent: &RegistrationId,
    payment: &PaymentRead,
    reads: Reads<'_>,
) -> Result<Option<AgentRecord>, Unavailable> {
    let is_payment_chain = chain_of(agent).as_deref() == Some(network);
    let block = match payment {
        Some(Ok(Some(payment))) if is_payment_chain => payment.block,
        _ => None,
    };
    reads.registries.agent(agent, block).await
}

/// When the agent was read, if that was after the payment on the same chain: Solana keeps no history.
pub(super) fn read_later(
    network: &str,
    agent: &RegistrationId,
    payment: &PaymentRead,
    record: &AgentRecord,
) -> String {
    let is_payment_chain = chain_of(agent).as_deref() == Some(network);
    match payment {
        Some(Ok(Some(Payment {
            block: Some(paid), ..
        }))) if is_payment_chain && *paid != record.block => {
            let read = record.block;
            format!("the agent is read as of block {read}, after the payment in block {paid}")
        }
        _ => String::new(),
    }
}

/// The agent's file, which must list this registration; `None` if the agent has no URI.
pub(super) async fn read_file(
    record: &AgentRecord,
    agent: &RegistrationId,
    reads: Reads<'_>,
    fresh: bool,
) -> Result<Option<RegistrationFile>, FileError> {
    if record.uri.is_empty() {
        return Ok(None);
    }
    let file = reads.files.registration(&record.uri, fresh).await?;
    if claims(&file, agent) {
        Ok(Some(file))
    } else {
        let (id, registry) = (&agent.agent_id, &agent.agent_registry);
        let why = format!("it does not list agent {id} of {registry}");
        Err(FileError::Malformed(why))
    }
}
