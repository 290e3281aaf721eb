use super::{
    Store, StoreError,
    db::{Cells, Db, int, text},
};

/// A payment that this operator settled, as the chain has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The payment (R51).
    pub key: String,
    /// The identity registry, a space, and the agent's id.
    pub agent: String,
    /// CAIP-10.
    pub payer: String,
    /// CAIP-10.
    pub asset: String,
    /// The token's smallest unit.
    pub amount: u128,
    /// How many digits of the amount follow the point.
    pub decimals: u8,
    /// Unix seconds.
    pub paid_at: u64,
}

impl Settled {
    fn read(row: &Cells<'_>) -> Result<Self, String> {
        let amount: String = row.get(4)?;
        Ok(Self {
            key: row.get(0)?,
            agent: row.get(1)?,
            payer: row.get(2)?,
            asset: row.get(3)?,
            amount: (amount.parse()).map_err(|_| format!("the amount {amount:?} is malformed"))?,
            decimals: row.get(5)?,
            paid_at: row.get(6)?,
        })
    }
}

impl Store {
    /// Records a payment, unless it is recorded. Returns the other agent if it counts for one: the same wallet may be
    /// that of several (R60).
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn record_settled(
        &self,
        settled: Settled,
    ) -> Result<Option<String>, StoreError> {
        let taken =
            "SELECT agent FROM settled WHERE key = ?1 AND asset = ?2 AND agent <> ?3 LIMIT 1";
        let same = [
            text(&settled.key),
            text(&settled.asset),
            text(&settled.agent),
        ];
        let sql = "INSERT INTO settled (key, agent, payer, asset, amount, decimals, paid_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key, agent, asset) DO NOTHING";
        let values = [
            text(&settled.key),
            text(&settled.agent),
            text(&settled.payer),
            text(&settled.asset),
            text(&settled.amount.to_string()), // 128 bits, of which the database's integers have 63
            int(settled.decimals.into()),
            int(settled.paid_at),
        ];
        let record = move |db: &mut Db| match db.cell(taken, &same)? {
            Some(other) => Ok(Some(other)),
            None => db.run(sql, &values).map(|()| None),
        };
        self.write(record).await
    }

    /// The payments to an agent from one time on, before another (unix seconds).
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn settled(
        &self,
        agent: &str,
        from: u64,
        to: u64,
    ) -> Result<Vec<Settled>, StoreError> {
        let sql = "SELECT key, agent, payer, asset, amount, decimals, paid_at FROM settled \
                   WHERE agent = ?1 AND paid_at >= ?2 AND paid_at < ?3 ORDER BY paid_at, key";
        let values = [text(agent), int(from), int(to)];
        self.read(|db| db.all(sql, &values, Settled::read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use concord_canonical::sign::PreparedKey;

    #[tokio::test]
    async fn r60_a_payment_counts_for_one_of_the_agents_with_its_wallet() {
        let folder = tempfile::tempdir().unwrap();
        let key = PreparedKey::ed25519(&[7; 32]);
        let store = Store::open(&folder.path().join("store"), key).unwrap();
        let settled = |agent: &str, key: &str| Settled {
            key: key.to_owned(),
            agent: agent.to_owned(),
            payer: "a payer".to_owned(),
            asset: "a token".to_owned(),
            amount: 5,
            decimals: 6,
            paid_at: 1,
        };
        let record = async |agent, key| store.record_settled(settled(agent, key)).await.unwrap();
        assert_eq!(record("one", "first").await, None);
        assert_eq!(record("one", "first").await, None, "the same again");
        assert_eq!(record("two", "first").await.as_deref(), Some("one"));
        assert_eq!(record("two", "second").await, None);
        let counted = |agent| store.settled(agent, 0, 2).unwrap().len();
        assert_eq!((counted("one"), counted("two")), (1, 1));
    }
}
