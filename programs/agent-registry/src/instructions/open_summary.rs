use super::*;

/// The answer of a summary (R16); all zeros if nothing matched.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSummary {
    /// How many feedbacks entered it.
    pub count: u64,
    /// Their average times `10^decimals`, truncated toward zero.
    pub value: i128,
    /// 0 to 18.
    pub decimals: u8,
}

impl OpenEntries<'_> {
    pub fn open_summary(
        &self,
        accounts: &[AccountInfo],
        clients: &[Pubkey],
        tag1: &str,
        tag2: &str,
    ) -> Result<OpenSummary> {
        let summary = self
            .accumulate(accounts, clients, tag1, tag2, None)?
            .finish();
        Ok(OpenSummary {
            count: summary.count,
            value: summary.value,
            decimals: summary.decimals,
        })
    }
}
