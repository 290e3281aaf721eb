pub(crate) mod asked;
pub(crate) mod changed;
pub(crate) mod database;
pub(crate) mod earlier;
pub(crate) mod given;
pub(crate) mod proxy;
