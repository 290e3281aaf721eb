//! docs/DEPLOYING.md.
