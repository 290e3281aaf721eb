pub(crate) mod fault_proxy;
pub(crate) mod limiting_proxy;
pub(crate) mod process;
