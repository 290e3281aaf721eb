use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! label {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(label: &str) -> Self {
                Self(label.to_owned())
            }
        }
    };
}

label! {
    /// A key holder, by the name a scenario gives it. Each chain derives a key of its own from it.
    Actor
}
label! {
    /// An agent, by the name a scenario gives it. Native ids (R1) never leave a backend.
    Agent
}
