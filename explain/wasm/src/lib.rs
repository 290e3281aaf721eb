//! `concord-explain` for WebAssembly: the request and the answer are `concord_explain::offline`'s.
#![cfg(target_arch = "wasm32")]

concord_wasm_exchange::exchange!(concord_explain::offline::answer);
