//! What a bundle proves, asked for piece by piece. What is missing is noted, for the reader to fetch.
mod evm;
mod files;
mod gap;
mod svm;

pub(crate) use evm::{EvmView, Executed};
#[cfg(feature = "online")]
pub(crate) use evm::{HISTORY, HISTORY_BLOCKS};
pub(crate) use files::{Content, ProvenBy};
pub(crate) use gap::Gap;
pub(crate) use svm::{SvmExecuted, SvmView};

use crate::{Bundle, Need, Step, Trust};
use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// A bundle, and what the caller trusts.
pub(crate) struct Evidence<'a> {
    pub bundle: &'a Bundle,
    pub trust: &'a Trust,
    needs: Mutex<BTreeSet<Need>>,
}

impl<'a> Evidence<'a> {
    pub(crate) fn new(bundle: &'a Bundle, trust: &'a Trust) -> Self {
        Self {
            bundle,
            trust,
            needs: Mutex::default(),
        }
    }

    /// What was asked for and is not in the bundle.
    pub(crate) fn into_needs(self) -> Vec<Need> {
        let needs = self.needs.into_inner();
        let needs = needs.unwrap_or_else(PoisonError::into_inner);
        needs.into_iter().collect()
    }

    /// Notes that something is missing, with the reason if a reader has tried.
    pub(crate) fn missing(&self, need: Need) -> Gap {
        let tried = self.bundle.unavailable.iter().find(|it| it.need == need);
        match tried {
            Some(tried) => Gap::CannotCheck(format!("{need} could not be read: {}", tried.reason)),
            None => {
                let reason = format!("the bundle lacks {need}");
                let needs = self.needs.lock();
                needs.unwrap_or_else(PoisonError::into_inner).insert(need);
                Gap::CannotCheck(reason)
            }
        }
    }

    /// A chain of the feedback's registry: broken headers are its inclusion's fault.
    pub(crate) fn home(&'a self, chain: &'a str) -> EvmView<'a> {
        EvmView::new(self, chain, Some(Step::Inclusion))
    }

    /// A chain of a payment: broken headers are the payment's own fault, unless it is the registry's chain.
    pub(crate) fn evm(&'a self, chain: &'a str) -> EvmView<'a> {
        if self.bundle.feedback.chain() == chain {
            self.home(chain)
        } else {
            EvmView::new(self, chain, None)
        }
    }

    pub(crate) fn svm(&'a self, chain: &'a str) -> SvmView<'a> {
        SvmView::new(self, chain)
    }
}
