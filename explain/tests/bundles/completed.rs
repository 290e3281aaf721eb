//! A reader starts with nothing but the feedback's name, and fetches what the steps ask for.
use crate::bundles::recorded::{CHAIN, SOUND, explained, json, trust};
use concord_explain::{Bundle, EvmAccount, HexHash, Need, Piece, Source, complete};
use std::{
    collections::BTreeMap,
    pin::pin,
    task::{Context, Poll, Waker},
};

/// Answers from a recorded bundle, and counts the questions.
struct Recorded {
    whole: Bundle,
    asked: Vec<Need>,
}

impl Source for Recorded {
    async fn fetch(&mut self, need: &Need) -> Result<Vec<Piece>, String> {
        assert!(!self.asked.contains(need), "asked twice: {need}");
        self.asked.push(need.clone());
        self.answer(need)
            .ok_or_else(|| "it was not recorded".to_owned())
    }
}

impl Recorded {
    fn answer(&self, need: &Need) -> Option<Vec<Piece>> {
        let evm = &self.whole.evm[CHAIN];
        match need {
            Need::Header { hash, .. } => Some(vec![self.header(*hash)?]),
            Need::BlockHash { .. } => {
                let headers = evm.headers.keys().map(|hash| self.header(*hash));
                headers.collect()
            }
            Need::Transaction { id, .. } => {
                let found = evm
                    .transactions
                    .iter()
                    .find(|(hash, _)| hash.to_string() == *id)?;
                let (hash, transaction) = (*found.0, found.1.clone());
                let header = self.header(transaction.block)?;
                Some(vec![
                    header,
                    Piece::EvmTransaction {
                        chain: CHAIN.to_owned(),
                        hash,
                        transaction,
                    },
                ])
            }
            Need::Account {
                block,
                address,
                slot,
                ..
            } => Some(vec![self.account(*block, address, *slot)?]),
            Need::Code { hash, .. } => {
                let bytes = evm.codes.get(hash)?.clone();
                Some(vec![Piece::Code {
                    chain: CHAIN.to_owned(),
                    hash: *hash,
                    bytes,
                }])
            }
            Need::File { uri } => {
                let file = self.whole.files.get(uri)?.clone();
                Some(vec![Piece::File {
                    uri: uri.clone(),
                    file,
                }])
            }
            Need::Judgement { .. } | Need::SvmAccount { .. } | Need::Place { .. } => None,
        }
    }

    fn header(&self, hash: HexHash) -> Option<Piece> {
        let bytes = self.whole.evm[CHAIN].headers.get(&hash)?.clone();
        Some(Piece::Header {
            chain: CHAIN.to_owned(),
            hash,
            bytes,
        })
    }

    fn account(&self, block: HexHash, address: &str, slot: Option<HexHash>) -> Option<Piece> {
        let mut accounts = self.whole.evm[CHAIN].accounts.iter();
        let found = accounts.find(|it| it.block == block && it.address.to_string() == address)?;
        let slots = slot.map(|slot| Some((slot, found.slots.get(&slot)?.clone())));
        let slots: BTreeMap<_, _> = slots.map(|it| it.into_iter().collect()).unwrap_or_default();
        let account = EvmAccount {
            slots,
            ..found.clone()
        };
        Some(Piece::EvmAccount {
            chain: CHAIN.to_owned(),
            account,
        })
    }
}

/// Waits for what never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a recorded answer is there at once"),
    }
}

#[test]
fn a_reader_fetches_exactly_what_was_recorded_and_reports_the_same() {
    for name in SOUND.into_iter().chain(["revoked"]) {
        let recorded = json(name);
        let trust = trust(&recorded);
        let whole = Bundle::parse(&recorded.to_string()).expect("a bundle");
        let mut source = Recorded {
            whole: whole.clone(),
            asked: Vec::new(),
        };
        let mut bundle = Bundle::new(whole.feedback.clone());
        let anchor = Piece::Anchor {
            chain: CHAIN.to_owned(),
            hash: whole.evm[CHAIN].anchor,
        };
        bundle.add(anchor); // a reader chooses the block before it asks for anything
        let completed =
            now(complete(&mut bundle, &trust, &mut source)).expect("it names a feedback");
        let expected = explained(&recorded, &trust).expect("a bundle");
        assert_eq!(
            completed.report, expected.report,
            "{name}: asked {:#?}",
            source.asked
        );
        assert!(completed.needs.is_empty(), "{name}: {:?}", completed.needs);
        // online and offline are one
        let text = bundle.to_canonical().expect("JSON");
        let again = Bundle::parse(&text).expect("a bundle");
        assert_eq!(again.to_canonical().expect("JSON"), text);
        assert_eq!(
            concord_explain::explain(&again, &trust).expect("it names a feedback"),
            completed
        );
    }
}
