//! R49: who a feedback is by.
use crate::{
    StoreError,
    evidence::Content,
    state::{Difference, Field},
    store::{Cell, DeploymentId, Engine, Sql, Store},
    table::{Evidence, Feedback, FeedbackKey, FileUse, Proof},
};
use concord_canonical::sign::{PublicKey, address_of_public_key};
use concord_files::{Signer, parse_registration};
use concord_registry::event::{AccountId, AgentId};

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
        let is_proven = proof.holds
            && self.may_sign(deployment, key, row, proof)?
            && self.is_first(deployment, key, proof)?;
        Ok(if is_proven {
            Authorship::Signed { reviewer }
        } else {
            Authorship::Claimed { reviewer }
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
        let signers = match self.registration(deployment, key.agent)? {
            None => Vec::new(), // the agent has no URI
            Some(file) if file.state == FileUse::Read && file.claims => {
                match self.signers(deployment, key.agent)? {
                    Some(signers) => signers,
                    None => return Ok(false),
                }
            }
            // R36: whom a file lists that was not read, or is not the agent's, is not known
            Some(_) => return Ok(false),
        };
        if signers.is_empty() {
            // R45, R36: of a wallet or an owner that no event has, it is not known since when. The owner's difference stays
            // when a later event sets the wallet.
            let differences = self.all_differences_of(deployment, key.agent)?;
            let is_open = |it: &Difference| matches!(it.field, Field::Wallet | Field::Owner);
            if differences.iter().any(is_open) {
                return Ok(false);
            }
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

    /// The keys that an agent's registration file lists; `None` if it cannot be read now.
    fn signers(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
    ) -> Result<Option<Vec<Signer>>, StoreError> {
        let Some(row) = self.agent(deployment, agent)? else {
            return Ok(None);
        };
        let Content::Bytes { bytes, .. } = self.content(deployment, &row.uri)? else {
            return Ok(None);
        };
        let parsed = parse_registration(&bytes);
        Ok(parsed.ok().map(|it| it.into_view().signers))
    }

    /// R32: a payment is reviewed once. The reviewer does not sign who submits, so anybody can write a
    /// proof that is published into a file of their own, and submit that: the first one counts.
    fn is_first(
        &mut self,
        deployment: DeploymentId,
        key: &FeedbackKey,
        proof: &Proof,
    ) -> Result<bool, StoreError> {
        let Some(payment) = proof.payment else {
            return Ok(false);
        };
        let mut sql = Sql::new("SELECT e.idx FROM evidence e");
        let values = [
            deployment.0.to_value(),
            key.agent.to_value(),
            payment.to_value(),
            proof.place.to_value(),
        ];
        sql.bind(
            " WHERE e.holds = 1 AND e.deployment = ? AND e.agent = ? AND e.payment = ? \
             AND e.place < ?",
            values,
        )
        .push(" ORDER BY e.place LIMIT 1");
        let mut is_first = true;
        self.select(&sql, "evidence", &mut |_| {
            is_first = false;
            Ok(())
        })?;
        Ok(is_first)
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
