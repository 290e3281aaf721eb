use std::net::IpAddr;

use super::{Sponsored, submitted_before};
use crate::{
    Claim, Code, Refusal,
    aggregator::no_lane,
    content::Seal,
    form::Form,
    policy::Subject,
    store::{Preparation, SponsorLimits, SponsoredRow, Sponsoring},
};

impl Sponsored {
    /// Checks a submission in R52's order, and prepares the transaction that gives its feedback, for the reviewer to
    /// sign. What was prepared for the payment before is replaced, unless it was signed. `now`: unix seconds.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn prepare(
        &self,
        body: &[u8],
        address: Option<IpAddr>,
        now: u64,
    ) -> Result<SponsoredRow, Refusal> {
        let Form { claim, content } = Form::read(body)?;
        if let Some(row) = self.before(&claim)? {
            return Ok(row);
        }
        let aggregator = &*self.aggregator;
        let admitted = aggregator.admission.check(&claim, now).await?;
        let place = aggregator.lanes.get(admitted.lane).ok_or_else(no_lane)?;
        let sponsor = self.sponsor_of(&place.registry)?;
        let client = sponsor.client(&claim)?;
        let seal = Seal {
            client: claim.reviewer(), // R59
            accepted_at: now,
            is_payment_checked: admitted.is_payment_checked,
        };
        let sealed = content.seal(seal, &*aggregator.files);
        let sealed = sealed.map_err(|error| Refusal::of_form(&error, "review".to_owned()))?;
        let offer = sponsor.offer(client, &sealed.submission).await?;
        let preparation = Preparation {
            settlement: sponsor.registry(),
            subject: Subject {
                agent: format!("{} {}", place.registry, claim.agent_id()),
                reviewer: claim.payer_account(),
                address,
                now,
            },
            sealed,
            index: offer.index,
            prepared: offer.prepared,
            cost: offer.cost,
            limits: SponsorLimits {
                policy: aggregator.policy.clone(),
                lamports_per_day: sponsor.lamports_per_day,
            },
        };
        let key = claim.key();
        match aggregator
            .store
            .prepare_sponsored(&claim, preparation)
            .await?
        {
            Sponsoring::Now(row) => {
                tracing::info!(id = row.id, key, "prepared");
                Ok(row)
            }
            Sponsoring::Before(row) => require_same(row, &claim),
            Sponsoring::Submitted(n) => Err(submitted_before(key, n)),
            Sponsoring::Limited(limited) => Err(limited.into()),
            Sponsoring::Changed => Err(Refusal::new(
                Code::Unavailable,
                "Unavailable",
                "the store changed meanwhile: prepare it again",
            )),
        }
    }

    /// R51: the key is known.
    fn before(&self, claim: &Claim) -> Result<Option<SponsoredRow>, Refusal> {
        let store = &self.aggregator.store;
        if let Some(row) = store.find(claim.key())? {
            return Err(submitted_before(claim.key(), row.receipt.n));
        }
        let row = store.sponsored_by_key(claim.key())?;
        let row = row.filter(|it| it.state.is_kept());
        row.map(|row| require_same(row, claim)).transpose()
    }
}

/// R51
fn require_same(row: SponsoredRow, claim: &Claim) -> Result<SponsoredRow, Refusal> {
    if row.payload_digest == *claim.digest() {
        Ok(row)
    } else {
        let message = format!("{} has another sponsored feedback: {}", row.key, row.id);
        let refusal = Refusal::new(Code::DuplicateTaskRef, "DuplicateTaskRef", message);
        Err(refusal.of("interactionData.taskRef"))
    }
}
