//! The deployment rehearsed: the built program against a real upgradeable loader in a local
//! cluster.
mod authority;
mod buffers;
mod cluster;
mod hand_over;
mod in_process;
mod interruptions;
mod keys;
mod limits;
mod refusals;
mod registry;
mod rehearsal;
mod rpc_faults;
mod scene;
mod unsigned;
mod upgrade;
mod workplace;
