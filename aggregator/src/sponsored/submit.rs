use std::net::IpAddr;

use concord_canonical::json;
use concord_chain::svm::CosigningError;
use concord_x402::verify::Unavailable;

use super::{Sponsored, submitted_before};
use crate::{
    Code, Refusal,
    form::{malformed, member, text_of},
    policy::Subject,
    store::{SponsorLimits, SponsoredRow, SponsoredState, Sponsoring},
};

/// What a reviewer sends back.
struct Request {
    id: u64,
    /// Base64.
    transaction: String,
}

impl Request {
    fn read(body: &[u8]) -> Result<Self, Refusal> {
        let payload = json::parse(text_of(body)?)
            .map_err(|error| malformed("MalformedJson", format!("is not strict JSON: {error}")))?;
        let id = member(&payload, "id")?;
        let id = id.parse().map_err(|_| {
            let found: String = id.chars().take(32).collect();
            let message = format!("found {found:?}, expected the id of POST /sponsored/prepare");
            malformed("MalformedNumber", message).of("id")
        })?;
        Ok(Self {
            id,
            transaction: member(&payload, "transaction")?,
        })
    }
}

impl Sponsored {
    /// Takes a transaction that the reviewer has signed. The sponsor signs it if it is the prepared one to the byte, and
    /// it is on disk when this returns. `now`: unix seconds.
    ///
    /// # Errors
    /// [`Refusal`]; then the sponsor's signature has not left this process.
    pub async fn submit(
        &self,
        body: &[u8],
        address: Option<IpAddr>,
        now: u64,
    ) -> Result<SponsoredRow, Refusal> {
        let request = Request::read(body)?;
        let row = self.get(request.id)?.ok_or_else(|| {
            let message = format!("nothing was prepared under {}", request.id);
            Refusal::new(Code::UnknownFeedback, "UnknownFeedback", message).of("id")
        })?;
        let sponsor = self.sponsor_of(&row.settlement)?;
        let reviewer = sponsor.account(&row.reviewer);
        let reviewer =
            reviewer.ok_or_else(|| Unavailable("the reviewer cannot be read again".to_owned()))?;
        let signature = row.prepared.signature_by(&reviewer, &request.transaction);
        let signature = signature.map_err(|error| refusal_of(&error))?;
        match row.state {
            SponsoredState::Prepared if sponsor.is_valid(&row.prepared).await? => {}
            SponsoredState::Prepared => return self.give_up(&row).await,
            SponsoredState::Expired => return Err(expired()),
            _ => return Ok(row),
        }
        self.store_file(&row).await?;
        let signed = row.prepared.complete(&reviewer, signature, &*sponsor.key);
        let signed = signed
            .await
            .map_err(|error| Refusal::new(Code::Unavailable, "NotSigned", error.to_string()))?;
        let subject = Subject {
            agent: row.agent.clone(),
            reviewer: row.reviewer.clone(),
            address,
            now,
        };
        let limits = SponsorLimits {
            policy: self.aggregator.policy.clone(),
            lamports_per_day: sponsor.lamports_per_day,
        };
        let store = &self.aggregator.store;
        match store.sign_sponsored(&row, &signed, subject, limits).await? {
            Sponsoring::Now(row) => {
                tracing::info!(id = row.id, transaction = signed.transaction, "signed");
                Ok(row)
            }
            Sponsoring::Before(row) => Ok(row),
            Sponsoring::Submitted(n) => Err(submitted_before(&row.key, n)),
            Sponsoring::Limited(limited) => Err(limited.into()),
            Sponsoring::Changed => Err(expired()),
        }
    }

    /// Handles a block hash that is too old. Two requests may have submitted the same transaction: if the other one
    /// has signed it, its row is returned; otherwise the transaction expires and is never signed.
    async fn give_up(&self, row: &SponsoredRow) -> Result<SponsoredRow, Refusal> {
        let found = self.aggregator.store.expire_prepared(row).await?;
        let found = found.filter(|it| it.prepared.message == row.prepared.message);
        found.filter(|it| it.state.is_kept()).ok_or_else(expired)
    }

    /// R55: before anything is signed.
    async fn store_file(&self, row: &SponsoredRow) -> Result<(), Refusal> {
        let file = self.aggregator.store.sponsored_file(row.id)?;
        let file = file.ok_or_else(|| Unavailable("the feedback file is gone".to_owned()))?;
        let stored = self.aggregator.files.store(file.as_bytes()).await;
        Ok(stored.map_err(Unavailable::from)?)
    }
}

pub(super) fn expired() -> Refusal {
    let message = "the transaction was replaced, or its block hash is too old: prepare it again";
    Refusal::new(Code::TransactionExpired, "TransactionExpired", message).of("transaction")
}

fn refusal_of(error: &CosigningError) -> Refusal {
    let (code, class) = match error {
        CosigningError::NotSigned(_) => (Code::InvalidReviewerSignature, "TransactionNotSigned"),
        CosigningError::Differs { .. } => (Code::InvalidPayload, "TransactionDiffers"),
        _ => (Code::InvalidPayload, "MalformedTransaction"),
    };
    Refusal::new(code, class, error.to_string()).of("transaction")
}
