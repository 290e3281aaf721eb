use super::*;
use crate::{account_creation::is_vacant, ed25519::VerifiedMessage};
use concord_canonical::payment::PaymentProof;

/// A payment as its facilitator states it (R13).
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    pub payer: Pubkey,
    /// The agent's wallet when the payment settled, by the facilitator's word.
    pub payee: Pubkey,
    /// The token's mint.
    pub token: Pubkey,
    /// In the token's smallest unit.
    pub amount: u64,
    /// keccak256 of the task reference's dedupe key.
    pub task_ref_hash: [u8; 32],
    /// When the payment settled: seconds, at most the clock's.
    pub paid_at: u64,
    /// Seconds; the proof counts while `now < expiry`.
    pub expiry: u64,
    /// Who signed.
    pub facilitator: Pubkey,
}

#[derive(Accounts)]
pub struct AttachPaymentProof<'info> {
    /// The reviewer, or the call is refused.
    pub caller: Signer<'info>,
    /// Pays for the payment's marker.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: only its address is used: whose entry it is
    pub reviewer: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(address = Registry::ADDRESS @ account_mismatch())]
    pub registry: UncheckedAccount<'info>,
    pub agent: AgentAccounts<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub feedback_entry: UncheckedAccount<'info>,
    /// CHECK: created in the handler
    #[account(mut @ account_mismatch())]
    pub spent_payment: UncheckedAccount<'info>,
    /// CHECK: read through the sysvar's own functions
    #[account(address = solana_instructions_sysvar::ID @ account_mismatch())]
    pub instructions_sysvar: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
}

impl AttachPaymentProof<'_> {
    pub fn attach_payment_proof(&self, feedback_index: u64, payment: Payment) -> Result<()> {
        let (mint, reviewer) = (self.agent.mint(), self.reviewer.key);
        let mut entry = FeedbackEntry::of(&self.feedback_entry, mint, reviewer, feedback_index)?;
        require!(self.caller.key == reviewer, NotAuthorized); // R13
        entry.prove_payment(payment.token, payment.amount)?;
        let marker = self.require_unspent(&payment)?;
        let mut agent = self.agent.load()?;
        let now = Clock::get()?.unix_timestamp;
        let signature = self.verify(&payment, &entry, now)?;

        self.mark_spent(&entry, marker)?;
        agent.verify_feedback(entry.score)?;
        self.agent.store(&agent)?;
        store(&self.feedback_entry, &entry)?;
        self.report(&entry, &payment, signature, now)
    }

    /// R13: a payment counts once, whichever agent, client or entry it was for. Returns where
    /// its marker goes.
    fn require_unspent(&self, payment: &Payment) -> Result<Derived> {
        let place = SpentPayment::place_of(&payment.task_ref_hash, &payment.payer);
        let marker = Derived::at(&self.spent_payment, &place)?;
        require!(is_vacant(&self.spent_payment), PaymentSpent);
        Ok(marker)
    }

    /// The facilitator's signature over this payment.
    fn verify(&self, payment: &Payment, entry: &FeedbackEntry, now: i64) -> Result<[u8; 64]> {
        let verified = VerifiedMessage::preceding(&self.instructions_sysvar)?; // R11
        let now = u64::try_from(now).unwrap_or(0); // R9: a negative clock counts as 0
        require!(now < payment.expiry, AuthExpired); // R13
        let registry = Registry::of(&self.registry)?;
        require_accepted(payment, entry, &registry, now)?;
        let message = PaymentProof {
            agent_mint: entry.nft_mint.to_bytes(),
            payer: payment.payer.to_bytes(),
            payee: payment.payee.to_bytes(),
            token: payment.token.to_bytes(),
            amount: payment.amount,
            task_ref_hash: payment.task_ref_hash,
            paid_at: payment.paid_at,
            expiry: payment.expiry,
            chain: registry.chain_hash,
            program_id: crate::ID_CONST.to_bytes(),
            facilitator: payment.facilitator.to_bytes(),
        }
        .message();
        verified.signature_over(&payment.facilitator, &message)
    }

    fn mark_spent(&self, entry: &FeedbackEntry, marker: Derived) -> Result<()> {
        let spent = SpentPayment {
            nft_mint: entry.nft_mint,
            reviewer: entry.reviewer,
            feedback_index: entry.feedback_index,
            bump: marker.bump(),
            version: VERSION,
        };
        marker.create(&self.payer, &self.spent_payment, &spent)
    }

    fn report(
        &self,
        entry: &FeedbackEntry,
        payment: &Payment,
        signature: [u8; 64],
        now: i64,
    ) -> Result<()> {
        self.events.emit(&PaymentProven {
            nft_mint: entry.nft_mint,
            reviewer: entry.reviewer,
            feedback_index: entry.feedback_index,
            payee: payment.payee,
            payment_token: payment.token,
            payment_amount: payment.amount,
            task_ref_hash: payment.task_ref_hash,
            paid_at: payment.paid_at,
            expiry: payment.expiry,
            facilitator: payment.facilitator,
            signature,
            timestamp: now,
        })
    }
}

/// R13's conditions on the payment itself. Compared with what held when the entry was given: an owner could void an
/// honest proof with what they set today. The payee is not among them: the facilitator, who is believed about the
/// payment, attests that it was the agent's wallet, because the owner could set or unset the wallet for this one
/// transaction.
fn require_accepted(
    payment: &Payment,
    entry: &FeedbackEntry,
    registry: &Registry,
    now: u64,
) -> Result<()> {
    require!(
        payment.payer == entry.reviewer && entry.by_stranger,
        PaymentWrongPayer
    );
    require!(
        registry.payment_tokens.contains(&payment.token),
        PaymentWrongToken
    );
    require!(payment.amount > 0, PaymentZeroAmount);
    require!(payment.paid_at <= now, PaymentInFuture);
    require!(
        registry.facilitators.contains(&payment.facilitator),
        PaymentWrongFacilitator
    );
    Ok(())
}
