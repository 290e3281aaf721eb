//! R49: who a feedback is by.
use crate::{
    StoreError,
    store::{DeploymentId, Engine, Store},
    table::{Evidence, Feedback, FeedbackKey, Proof},
};
use concord_canonical::sign::{PublicKey, address_of_public_key};
use concord_files::{Signer, parse_registration};
use concord_registry::event::AccountId;

/// R49: who a feedback is by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorship {
    /// The client that submitted it.
    Onchain,
    /// The reviewer that X402's proof in its file names: the proof verifies, and they count (R38).
    Signed {
        /// CAIP-10.
        reviewer: String,
    },
    /// The client that submitted it counts. Its file names a reviewer, and does not prove it.
    Claimed {
        /// CAIP-10.
        reviewer: String,
    },
}

impl<E: Engine> Store<E> {
    /// R49: returns who a feedback is by.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn authorship(
        &mut self,
        deployment: DeploymentId,
        key: &FeedbackKey,
        row: &Feedback,
        evidence: Option<&Evidence>,
    ) -> Result<Authorship, StoreError> {
        let Some(proof) = evidence.and_then(|it| it.proof.as_ref()) else {
            return Ok(Authorship::Onchain);
        };
        let reviewer = proof.reviewer.clone();
        let is_proven = proof.holds && self.may_sign(deployment, key, row, proof)?;
        Ok(match is_proven {
            true => Authorship::Signed { reviewer },
            false => Authorship::Claimed { reviewer },
        })
    }

    /// R29: the keys that the registration file lists, else the wallet that the agent had when the
    /// feedback was given.
    fn may_sign(
        &mut self,
        deployment: DeploymentId,
        key: &FeedbackKey,
        row: &Feedback,
        proof: &Proof,
    ) -> Result<bool, StoreError> {
        let file = self.registration(deployment, key.agent)?;
        let json = file.and_then(|it| it.json);
        let parsed = json.and_then(|it| parse_registration(it.as_bytes()).ok());
        let signers = parsed.map_or(Vec::new(), |it| it.into_view().signers);
        if signers.is_empty() {
            let wallet = self.wallet_at(deployment, key.agent, row.place)?;
            return Ok(wallet.is_some_and(|wallet| is_key_of(&proof.signer, wallet)));
        }
        // R30 checks a key at the settlement's time, which only the payment's chain knows. It is no
        // earlier than the agent and no later than the feedback, and a key that is valid at both ends
        // is valid between them. Of any other key nothing is proven (R36).
        let Some(agent) = self.agent(deployment, key.agent)? else {
            return Ok(false);
        };
        let ends = [agent.created_at, row.at].map(|it| u64::try_from(it).unwrap_or_default());
        let is_valid = |it: &Signer| ends.into_iter().all(|at| it.is_valid_at(at));
        let is_signer = |it: &Signer| bytes(&it.public_key) == proof.signer && is_valid(it);
        Ok(signers.iter().any(is_signer))
    }
}

fn bytes(key: &PublicKey) -> &[u8] {
    match key {
        PublicKey::Secp256k1(key) => key,
        PublicKey::Ed25519(key) => key,
    }
}

fn is_key_of(key: &[u8], wallet: AccountId) -> bool {
    match wallet {
        AccountId::Evm(address) => address_of_public_key(key).is_ok_and(|it| it == address),
        AccountId::Svm(address) => address.to_bytes() == key,
    }
}
