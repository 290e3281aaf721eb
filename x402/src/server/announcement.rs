//! Adds the extension to 402 answers. A route's answer hardly ever changes, so it is rewritten once.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use http::HeaderValue;

use super::agent::Agent;
use crate::wire::{PAYMENT_REQUIRED, WireError, decode, insert_extensions};

/// Answers that are kept: at most 16 KiB each, twice.
const KEPT_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Announcements(Mutex<HashMap<HeaderValue, HeaderValue>>);

impl Announcements {
    /// The same `PAYMENT-REQUIRED` with the agent's announcement in it.
    pub(super) fn add(&self, agent: &Agent, value: &HeaderValue) -> Result<HeaderValue, WireError> {
        if let Some(known) = self.lock().get(value) {
            return Ok(known.clone());
        }
        let text = decode(PAYMENT_REQUIRED, value.as_bytes())?;
        let added = insert_extensions(PAYMENT_REQUIRED, &text, &agent.announcements())?;
        let mut kept = self.lock();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(value.clone(), added.clone());
        Ok(added)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<HeaderValue, HeaderValue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
