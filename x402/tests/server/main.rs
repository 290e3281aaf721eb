//! The layer around paywalls, over HTTP.
mod answers;
mod keys;
mod paywall;
mod signing;
