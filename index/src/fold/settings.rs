//! What is set for a whole registry, and for every agent of an owner.
use super::Fold;
use crate::{
    batch::IndexedEvent,
    table::{Setting, SettingKey},
};
use concord_registry::{Event, event::AccountId};

impl<L> Fold<'_, L> {
    pub(super) fn setting(&mut self, indexed: &IndexedEvent) {
        let listed = |is: bool| is.then(|| "listed".to_owned());
        let some = |value: &dyn ToString| Some(value.to_string());
        let contract = bytes(&indexed.registry);
        let set: &[(&str, Vec<u8>, Option<String>)] = &match &indexed.event {
            Event::OperatorSet {
                owner,
                operator,
                approved,
            } => {
                let subject = [bytes(owner), bytes(operator)].concat();
                vec![("operator", subject, approved.then(|| operator.to_string()))]
            }
            Event::ProgramInitialized { authority, chain } => vec![
                ("authority", vec![], some(authority)),
                ("chain", vec![], some(chain)),
            ],
            Event::RegistryAuthorityProposed { proposed, .. } => {
                let proposed = proposed.map(|it| it.to_string());
                vec![("proposed_authority", vec![], proposed)]
            }
            Event::RegistryAuthorityAccepted { to, .. } => vec![
                ("authority", vec![], some(to)),
                ("proposed_authority", vec![], None),
            ],
            Event::PaymentTokenListed { token, listed: is } => {
                vec![("payment_token", bytes(token), listed(*is))]
            }
            Event::FacilitatorListed {
                facilitator,
                listed: is,
            } => vec![("facilitator", bytes(facilitator), listed(*is))],
            Event::RegistryUpgraded { implementation } => {
                vec![("implementation", contract, some(implementation))]
            }
            Event::RegistryInitialized { version } => vec![("version", contract, some(version))],
            Event::RegistryOwnerSet { to, .. } => vec![("owner", contract, some(to))],
            _ => vec![],
        };
        for (name, subject, value) in set {
            let key = SettingKey {
                name: (*name).to_owned(),
                subject: subject.clone(),
            };
            match value {
                Some(value) => {
                    let row = Setting {
                        value: value.clone(),
                        updated_at: indexed.time,
                    };
                    self.tables.settings.put(key, row);
                }
                None => self.tables.settings.delete(key),
            }
        }
    }
}

fn bytes(account: &AccountId) -> Vec<u8> {
    match account {
        AccountId::Evm(address) => address.to_vec(),
        AccountId::Svm(address) => address.to_bytes().to_vec(),
    }
}
