//! Payments on Solana: made from what the cluster says, and found again by their message.

use async_trait::async_trait;
use concord_chain::svm::{Cluster, Commitment, SignatureEntry};
use concord_registry::svm::{
    Address,
    programs::{SPL_TOKEN, TOKEN_2022},
    token::{PaymentMint, TokenAccount, associated_account},
};

use super::{
    Authorization, AuthorizationState, Authorizations, OfferUnpayable, PayFault, Prepared,
    TransferTransaction,
    transfer_transaction::{OfferAccounts, Surroundings},
};
use crate::{
    verify::{SvmChains, Unavailable},
    wire::Offer,
};

/// The programs whose tokens pay.
const TOKEN_PROGRAMS: [Address; 2] = [SPL_TOKEN, TOKEN_2022];

#[async_trait]
impl Authorizations for SvmChains {
    async fn prepare(&self, offer: &Offer, payer: &str, _: u64) -> Result<Prepared, PayFault> {
        let cluster = self.cluster(&offer.network)?;
        let accounts = OfferAccounts::read(offer)?;
        let Ok(payer) = payer.parse::<Address>() else {
            return Err(OfferUnpayable::new("payer", payer, "a Solana address").into());
        };
        let (slot, kind) = mint(cluster, &accounts, &payer).await?;
        let recent = cluster.recent_blockhash().await?;
        let around = Surroundings {
            kind,
            blockhash: recent.hash,
            valid_until: recent.valid_until,
            random: alloy::primitives::FixedBytes::random().0,
        };
        let transfer = TransferTransaction::new(offer, payer, &around)?;
        Ok(Prepared {
            authorization: Authorization::SolanaTransaction(transfer),
            since_block: slot,
        })
    }

    async fn state(
        &self,
        authorization: &Authorization,
        since: u64,
    ) -> Result<AuthorizationState, Unavailable> {
        let Authorization::SolanaTransaction(transfer) = authorization else {
            return Err(Unavailable("not a payment on Solana".to_owned()));
        };
        let cluster = self.cluster(&transfer.network)?;
        // X402-66, before the search: what lands meanwhile is found, and a node that is behind this block refuses to search
        let reached = cluster.final_block().await?;
        let is_over = reached.block_height > transfer.valid_until;
        if is_over {
            cluster.require_history_until(reached.slot).await?; // of what is written down meanwhile, the search would miss some
        }
        let Some(landed) = find(cluster, transfer, since, reached.slot).await? else {
            if !is_over {
                return Ok(AuthorizationState::Unused);
            }
            // R36: a node that has forgotten the time since then cannot say that nothing happened
            let kept = cluster.first_kept_slot().await?;
            return if kept <= since {
                Ok(AuthorizationState::Expired)
            } else {
                Err(Unavailable(format!(
                    "the node has slots from {kept} on, the payment was made in {since}"
                )))
            };
        };
        let is_final = landed.confirmation_status == Some(Commitment::Finalized);
        Ok(match (landed.err.is_null(), is_final) {
            (true, _) => AuthorizationState::Used {
                transaction: Some(landed.signature),
            },
            (false, true) => AuthorizationState::Failed {
                transaction: landed.signature,
            },
            (false, false) => AuthorizationState::Unused,
        })
    }
}

/// The mint, and the slot in which payer and recipient had token accounts for the payment.
async fn mint(
    cluster: &Cluster,
    accounts: &OfferAccounts,
    payer: &Address,
) -> Result<(u64, PaymentMint), PayFault> {
    let OfferAccounts { mint, to, .. } = accounts;
    let mut addresses = vec![*mint];
    for program in &TOKEN_PROGRAMS {
        addresses.extend([payer, to].map(|owner| associated_account(owner, mint, program)));
    }
    let (slot, found) = cluster
        .accounts_in_slot(&addresses, None)
        .await
        .map_err(Unavailable::from)?;
    let kind = found.first().and_then(Option::as_ref);
    let kind = kind.and_then(|it| PaymentMint::read(&it.owner, &it.data));
    let unpayable = |field, found: &Address, expected: String| {
        PayFault::from(OfferUnpayable::new(field, &found.to_string(), expected))
    };
    let kind = kind.ok_or_else(|| {
        unpayable(
            "asset",
            mint,
            "a mint of SPL Token or Token-2022".to_owned(),
        )
    })?;
    let holding = |owner| {
        let address = associated_account(owner, mint, &kind.program);
        let at = addresses.iter().position(|it| *it == address)?;
        let account = found.get(at)?.as_ref()?;
        let held = TokenAccount::read(&account.owner, &account.data)?;
        // SPL Token lets the owner of an associated account give it away
        (held.mint == *mint && held.owner == *owner).then_some(held)
    };
    let amount = accounts.amount;
    match holding(payer) {
        Some(own) if own.is_frozen => {
            let expected =
                format!("a token that the payer {payer} can send: their account is frozen");
            return Err(unpayable("asset", mint, expected));
        }
        Some(own) if own.amount >= amount => {}
        own => {
            let has = own.map_or(0, |it| it.amount);
            let expected = format!("at most {has}, which the payer {payer} has");
            return Err(OfferUnpayable::new("amount", &amount.to_string(), expected).into());
        }
    }
    match holding(to) {
        Some(theirs) if !theirs.is_frozen => Ok((slot, kind)),
        theirs => {
            let frozen = theirs.map_or("", |_| ": theirs is frozen");
            let expected = format!("an account that can receive {mint}{frozen}");
            Err(unpayable("payTo", to, expected))
        }
    }
}

/// The transaction with the payment's message. Who pays the fee signs it, and so names it.
async fn find(
    cluster: &Cluster,
    transfer: &TransferTransaction,
    since: u64,
    reached: u64,
) -> Result<Option<SignatureEntry>, Unavailable> {
    let TransferTransaction {
        payer,
        mint,
        token_program,
        ..
    } = transfer;
    let source = associated_account(payer, mint, token_program);
    let mut before: Option<String> = None;
    loop {
        let page = cluster.signatures(&source, before.as_deref(), Some(reached));
        let page = page.await?;
        for entry in &page {
            if entry.slot < since {
                return Ok(None);
            }
            if may_be(entry, transfer) && is_it(cluster, entry, transfer).await? {
                return Ok(Some(entry.clone()));
            }
        }
        match page.into_iter().next_back() {
            Some(last) => before = Some(last.signature),
            None => return Ok(None),
        }
    }
}

/// Whether the entry's memo, if the node keeps it, is the payment's.
fn may_be(entry: &SignatureEntry, transfer: &TransferTransaction) -> bool {
    let memo = entry.memo.as_ref();
    memo.is_none_or(|it| it.contains(&transfer.memo))
}

async fn is_it(
    cluster: &Cluster,
    entry: &SignatureEntry,
    transfer: &TransferTransaction,
) -> Result<bool, Unavailable> {
    let unreadable = || Unavailable(format!("the node has no transaction {}", entry.signature));
    let executed = cluster.transaction(&entry.signature).await?;
    let executed = executed.ok_or_else(unreadable)?;
    let transaction = executed.decode().ok_or_else(unreadable)?;
    Ok(transfer.message_bytes() == Some(transaction.message.serialize()))
}
