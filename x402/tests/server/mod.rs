//! The layer around paywalls, over HTTP.
mod answers;
mod counts;
mod keys;
mod paywall;
mod signing;
