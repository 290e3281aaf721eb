use super::*;
use concord_canonical::summary::{Accumulator, DECIMALS_COUNT};
use std::ops::RangeInclusive;

/// A summary in the making (R16). Parts are merged by adding each field.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSummaryPart {
    /// The sum of the values, each scaled to 18 decimals: an int256, two's complement,
    /// big-endian, as in the EVM's ABI.
    pub sum: [u8; 32],
    /// How many feedbacks were taken in.
    pub count: u64,
    /// How many of them had 0, 1, … 18 decimals.
    pub histogram: [u64; DECIMALS_COUNT],
}

/// Entries of one client, by their 1-based index, both ends included (R16).
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRange {
    pub first: u64,
    pub last: u64,
}

impl EntryRange {
    /// The indices to read of a client whose last is `last`: all of them without a range.
    fn within(range: Option<Self>, last: u64) -> Result<RangeInclusive<u64>> {
        let Some(Self { first, last: end }) = range else {
            return Ok(1..=last);
        };
        require!(0 < first && first <= end && end <= last, SummaryRange);
        Ok(first..=end)
    }
}

/// What both summaries read: the mint here, the listed clients' accounts after it.
#[derive(Accounts)]
pub struct OpenEntries<'info> {
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
}

impl OpenEntries<'_> {
    pub fn open_summary_part(
        &self,
        accounts: &[AccountInfo],
        clients: &[Pubkey],
        tag1: &str,
        tag2: &str,
        range: Option<EntryRange>,
    ) -> Result<OpenSummaryPart> {
        let taken_in = self.accumulate(accounts, clients, tag1, tag2, range)?;
        Ok(OpenSummaryPart {
            sum: taken_in.sum().to_be_bytes(),
            count: taken_in.count(),
            histogram: *taken_in.histogram(),
        })
    }

    /// Every matching entry of the listed clients. R16: `accounts` are, for each client as
    /// listed, their index and their entries, all of them or those in `range`; anything else is a
    /// `SummaryGap`.
    pub(crate) fn accumulate(
        &self,
        accounts: &[AccountInfo],
        clients: &[Pubkey],
        tag1: &str,
        tag2: &str,
        range: Option<EntryRange>,
    ) -> Result<Accumulator> {
        require!(!clients.is_empty(), EmptyClients);
        require!(range.is_none() || clients.len() == 1, SummaryRange);
        let mut accounts = accounts.iter();
        let mut next = || {
            accounts
                .next()
                .ok_or_else(|| refusal(ConcordError::SummaryGap))
        };
        let mut accumulator = Accumulator::default();
        for client in clients {
            let last = self.last_index(next()?, client)?;
            for index in EntryRange::within(range, last)? {
                let entry = self.entry(next()?, client, index)?;
                if entry.matches(tag1, tag2) {
                    accumulator
                        .add(entry.value, entry.value_decimals)
                        .map_err(|_| refusal(ConcordError::CounterExhausted))?;
                }
            }
        }
        require!(next().is_err(), SummaryGap);
        Ok(accumulator)
    }

    /// How many entries `client` has: none where their index does not exist.
    fn last_index(&self, account: &AccountInfo, client: &Pubkey) -> Result<u64> {
        let place = OpenClientIndex::place_of(self.nft_mint.key, client);
        match find::<OpenClientIndex>(account, &place) {
            Ok(Slot::Held(index)) => Ok(index.last_index),
            Ok(Slot::Vacant(_)) => Ok(0),
            Err(_) => Err(refusal(ConcordError::SummaryGap)),
        }
    }

    fn entry(&self, account: &AccountInfo, client: &Pubkey, index: u64) -> Result<OpenFeedback> {
        let place = OpenFeedback::place_of(self.nft_mint.key, client, index);
        load::<OpenFeedback>(account)?
            .filter(|entry| entry.place() == place)
            .ok_or_else(|| refusal(ConcordError::SummaryGap))
    }
}
