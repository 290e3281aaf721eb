use super::*;
use crate::transfer_in_progress::TransferSide;
use anchor_lang::solana_program::instruction::get_stack_height;

/// A self-CPI from here ends one level below. Clusters without SIMD-0268 allow five levels,
/// and a sixth would make the transfer itself fail.
const DEEPEST_WITH_SELF_CPI: usize = 4;

/// The interface's order: four accounts of the transfer, the list, then what the list holds.
#[derive(Accounts)]
pub struct TransferHook<'info> {
    /// CHECK: read by hand
    pub source: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub mint: UncheckedAccount<'info>,
    /// CHECK: read by hand
    pub destination: UncheckedAccount<'info>,
    /// CHECK: owner or delegate, Token-2022's matter
    pub authority: UncheckedAccount<'info>,
    /// CHECK: Token-2022's matter
    pub extra_account_metas: UncheckedAccount<'info>,
    /// CHECK: read by hand
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    pub events: EventAccounts<'info>,
}

impl TransferHook<'_> {
    /// R4: who holds the token owns the agent.
    pub fn transfer_hook(&self, amount: u64) -> Result<()> {
        let mint = self.mint.key();
        TransferSide::read(&self.source, &mint)?;
        let receiver = TransferSide::read(&self.destination, &mint)?;
        let mut agent = load::<AgentIdentity>(&self.agent)?
            .ok_or_else(|| refusal(ConcordError::NotInTransfer))?;
        require!(agent.nft_mint == mint, NotInTransfer);
        if amount == 0 {
            return Ok(());
        }
        require!(amount == 1 && receiver.amount == 1, NotInTransfer);
        require!(receiver.can_hold_agents, TransferRefused); // R4
        // R4: compared with the record, which is what the transfer must keep true.
        if receiver.owner == agent.owner {
            return Ok(());
        }
        self.record_owner(&mut agent, receiver.owner)
    }

    fn record_owner(&self, agent: &mut AgentIdentity, to: Pubkey) -> Result<()> {
        let (from, now) = (agent.owner, Clock::get()?.unix_timestamp);
        agent.transfer_to(to, now)?;
        store(&self.agent, agent)?;
        let event = AgentTransferred {
            nft_mint: agent.nft_mint,
            from,
            to,
            timestamp: now,
        };
        if get_stack_height() <= DEEPEST_WITH_SELF_CPI {
            self.events.emit(&event)
        } else {
            emit!(event);
            Ok(())
        }
    }
}
