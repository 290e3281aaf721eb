//! A registry on Solana: signatures prove who submitted, and the node's word is all there is for the rest.
mod authorization;

use super::{
    given::{Given, Insiders, Place},
    home::Home,
    verdict::{Checked, Verdict},
};
use crate::{
    evidence::{Evidence, Gap, SvmExecuted, SvmView},
    subject::Named,
    trust::PROGRAM,
};
use concord_canonical::Word;
use concord_registry::{
    event::{AccountId, AgentId, Event, Profile},
    svm::{
        Address, Program,
        accounts::{AccountType, AgentIdentity, FeedbackEntry, OpenFeedback},
        token::Mint,
    },
};
use concord_x402::verify::AgentRecord;

/// Why nothing shows that no feedback is missing.
const NO_STATE_PROOF: &str = "no proof shows what a cluster's state does not have";

pub(super) struct SvmHome<'a> {
    evidence: &'a Evidence<'a>,
    view: SvmView<'a>,
    named: &'a Named,
    program: Program,
    mint: Address,
    client: Address,
}

impl<'a> SvmHome<'a> {
    pub(super) fn new(evidence: &'a Evidence<'a>, named: &'a Named) -> Self {
        let mint = match named.agent {
            AgentId::Svm(mint) => mint,
            AgentId::Evm(_) => Address::default(),
        };
        Self {
            evidence,
            view: evidence.svm(&named.chain),
            named,
            program: Program::new(address(named.identity)),
            mint,
            client: address(named.client),
        }
    }

    fn transaction(&self) -> Result<SvmExecuted, Gap> {
        self.view
            .transaction(&self.evidence.bundle.feedback.transaction)
    }

    /// An account of the program; `None` if there is none of this type.
    fn account<T: AccountType>(&self, address: &Address) -> Result<Option<T>, Gap> {
        let Some((owner, data)) = self.raw_account(address)? else {
            return Ok(None);
        };
        self.program.find(&owner, data).map_err(Gap::broken)
    }

    fn raw_account(&self, address: &Address) -> Result<Option<(Address, &'a [u8])>, Gap> {
        let found = self.view.account(address)?;
        let Some(owner) = &found.owner else {
            return Ok(None);
        };
        let owner = owner
            .parse()
            .map_err(|_| Gap::Broken(format!("{owner} is not an address")))?;
        Ok(Some((owner, &found.data.0)))
    }

    fn registered(&self) -> Result<AgentIdentity, Gap> {
        let agent = self.account(&self.program.agent(&self.mint))?;
        agent.ok_or_else(|| Gap::Broken(format!("the registry has no agent {}", self.mint)))
    }

    /// Whether the entry says that its client was a stranger to the agent when they gave it. Open feedback does not say.
    fn was_stranger(&self, event: &Event) -> Result<bool, Gap> {
        if self.named.profile == Profile::Open {
            return Ok(false);
        }
        let at = (self.program).feedback_entry(&self.mint, &self.client, self.named.index);
        let entry: Option<FeedbackEntry> = self.account(&at)?;
        Ok(entry.is_some_and(|it| is_authorized(&it, event) && it.by_stranger))
    }

    /// The stored feedback: whether it is the event's, and whether it is revoked; `None` if there is none.
    fn stored(&self, event: &Event) -> Result<Option<(bool, bool)>, Gap> {
        let index = self.named.index;
        Ok(match self.named.profile {
            Profile::Open => {
                let at = self.program.open_feedback(&self.mint, &self.client, index);
                let entry: Option<OpenFeedback> = self.account(&at)?;
                entry.map(|it| (is_open(&it, event), it.revoked))
            }
            Profile::Authorized => {
                let at = self.program.feedback_entry(&self.mint, &self.client, index);
                let entry: Option<FeedbackEntry> = self.account(&at)?;
                entry.map(|it| (is_authorized(&it, event), it.revoked))
            }
        })
    }
}

fn address(account: AccountId) -> Address {
    match account {
        AccountId::Svm(address) => address,
        AccountId::Evm(_) => Address::default(),
    }
}

fn is_open(stored: &OpenFeedback, event: &Event) -> bool {
    let Event::OpenFeedback {
        value,
        decimals,
        index,
        ..
    } = event
    else {
        return false;
    };
    (stored.value, stored.value_decimals, stored.feedback_index) == (*value, *decimals, *index)
}

fn is_authorized(stored: &FeedbackEntry, event: &Event) -> bool {
    let Event::AuthorizedFeedback {
        score,
        tag1,
        tag2,
        index,
        ..
    } = event
    else {
        return false;
    };
    (
        stored.score,
        stored.tag1,
        stored.tag2,
        stored.feedback_index,
    ) == (*score, *tag1, *tag2, *index)
}

impl Home for SvmHome<'_> {
    fn inclusion(&self) -> Checked {
        Ok(Verdict::cannot_check(
            "no proof shows that a transaction is in a block of Solana",
        ))
    }

    fn given(&self) -> Result<Given, Gap> {
        let executed = self.transaction()?;
        if !executed.succeeded {
            return Err(Gap::broken("the transaction failed"));
        }
        let decoded = self
            .program
            .events(&self.named.chain, &executed.transaction);
        let mut events = decoded.events.into_iter().enumerate();
        let found = events.find(|(_, it)| Given::is_of(&it.event, self.named));
        let (place, found) =
            found.ok_or_else(|| Gap::broken("no event of the transaction gives this feedback"))?;
        let time = found.timestamp.or(executed.time);
        Ok(Given {
            event: found.event,
            place: Place {
                transaction: executed.place,
                event: place,
            },
            block: None,
            number: executed.slot,
            time: time.and_then(|it| it.try_into().ok()),
        })
    }

    fn registry(&self) -> Checked {
        let id = self.program.id().to_string();
        let known = self
            .evidence
            .trust
            .registry(&self.named.chain, PROGRAM, &id);
        Ok(match known {
            None => Verdict::refuted(format!(
                "{id} is not a program that counts (R28); trust it to ask again"
            )),
            Some(_) => {
                Verdict::verified_since("it is listed; which code it ran is the node's word")
            }
        }
        .with("program", id))
    }

    fn not_revoked(&self, given: &Given) -> Checked {
        Ok(match self.stored(&given.event)? {
            None => Verdict::refuted("the registry has no such feedback"),
            Some((false, _)) => Verdict::refuted("the stored feedback is not the event's"),
            Some((true, true)) => Verdict::refuted("it is revoked"),
            Some((true, false)) => Verdict::verified_since("as the node says"),
        })
    }

    fn is_revoked(&self, given: &Given) -> Result<bool, Gap> {
        let stored = self.stored(&given.event)?;
        let stored = stored.ok_or_else(|| Gap::broken("the registry has no such feedback"))?;
        Ok(stored.1)
    }

    fn last_index(&self) -> Result<u64, Gap> {
        Err(Gap::cannot_check(NO_STATE_PROOF))
    }

    fn clients(&self) -> Result<Vec<AccountId>, Gap> {
        Err(Gap::cannot_check(NO_STATE_PROOF))
    }

    fn insiders(&self, given: &Given) -> Result<Insiders, Gap> {
        let agent = self.registered()?;
        let is_stranger = self.was_stranger(&given.event)?;
        let mut accounts = vec![("owner", AccountId::Svm(agent.owner))];
        if agent.feedback_authority != Address::default() {
            accounts.push((
                "feedback authority",
                AccountId::Svm(agent.feedback_authority),
            ));
        }
        Ok(Insiders {
            accounts,
            are_of_that_time: false, // a cluster keeps no earlier state
            stranger: is_stranger.then_some(self.named.client),
        })
    }

    fn authorization(&self, given: &Given) -> Checked {
        authorization::check(self, given)
    }

    fn agent(&self, _: Option<u64>) -> Result<Option<AgentRecord>, Gap> {
        let agent = self.account(&self.program.agent(&self.mint))?;
        let Some(agent): Option<AgentIdentity> = agent else {
            return Ok(None);
        };
        let read = self.view.account(&self.mint)?.slot;
        Ok(Some(AgentRecord {
            wallet: agent.wallet().map(|it| it.to_string()),
            is_wallet_contract: false,
            uri: self.agent_uri()?,
            block: read,
        }))
    }

    fn wallet(&self, _: Option<u64>) -> Result<Option<String>, Gap> {
        let agent = self.registered()?;
        self.require_known_wallet()?;
        Ok(agent.wallet().map(|it| it.to_string()))
    }

    /// R36: the reader's own node says so, in this run.
    fn require_known_wallet(&self) -> Result<(), Gap> {
        let address = self.program.agent(&self.mint);
        self.view.require_account_read_here(&address)
    }

    /// ERC-1271 is Ethereum's.
    fn accepts(&self, _: u64, _: &str, _: &Word, _: &[u8]) -> Result<bool, Gap> {
        Ok(false)
    }

    fn agent_uri(&self) -> Result<String, Gap> {
        let gone = || Gap::Broken(format!("{} is not an agent's mint", self.mint));
        let (owner, data) = self.raw_account(&self.mint)?.ok_or_else(gone)?;
        let mint = Mint::read(&owner, data).ok_or_else(gone)?;
        match mint.supply {
            0 => Err(Gap::cannot_check("the agent was burned")),
            _ => Ok(mint.uri),
        }
    }
}
