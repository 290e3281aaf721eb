//! The deployment rehearsed: the built program against a real upgradeable loader in a local
//! cluster.
mod authority;
mod buffers;
pub(crate) mod cluster;
mod hand_over;
mod in_process;
mod interruptions;
mod keys;
mod refusals;
mod registry;
mod rehearsal;
mod rpc_faults;
mod scene;
mod unsigned;
mod upgrade;
pub(crate) mod workplace;
