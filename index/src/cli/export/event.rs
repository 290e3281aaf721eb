//! Events as JSON. Numbers that JavaScript cannot hold are texts.
use concord_registry::{
    Event,
    event::{AccountId, AgentId, AuthorizedBy, Profile, ValidationTag},
};
use serde_json::{Map, Value, json};

/// The event's name and fields.
macro_rules! rendered {
    ($event:expr; $($variant:ident { $($field:ident),+ })+) => {
        match $event {
            $(Event::$variant { $($field),+ } => {
                let mut fields = Map::new();
                $(fields.insert(camel(stringify!($field)), $field.json());)+
                Some((stringify!($variant), Value::Object(fields)))
            })+
            _ => None,
        }
    };
}

/// `None` for an event that this version does not know.
pub fn render(event: &Event) -> Option<(&'static str, Value)> {
    rendered! { event;
        AgentRegistered { agent, owner, uri }
        AgentTransferred { agent, from, to }
        AgentUriSet { agent, by, uri }
        MetadataSet { agent, key, value }
        AgentWalletSet { agent, wallet }
        ApprovalSet { agent, owner, approved }
        OperatorSet { owner, operator, approved }
        FeedbackAuthoritySet { agent, owner, authority }
        AuthSchemesSet { agent, owner, schemes }
        AuthorizedFeedback { agent, client, index, score, tag1, tag2, uri, hash, authorized_by }
        PaymentProven {
            agent, client, index, payee, token, amount, task_ref_hash, paid_at, expiry, facilitator,
            signature
        }
        OpenFeedback {
            agent, client, index, value, decimals, tag1, tag2, endpoint, uri, hash
        }
        FeedbackRevoked { profile, agent, client, index }
        ResponseAppended { profile, agent, client, index, responder, uri, hash }
        ValidationRequested { agent, validator, request, uri, tag }
        ValidationResponded { agent, validator, request, score, uri, hash, tag }
        ProgramInitialized { authority, chain }
        RegistryAuthorityProposed { authority, proposed }
        RegistryAuthorityAccepted { from, to }
        PaymentTokenListed { token, listed }
        FacilitatorListed { facilitator, listed }
        RegistryUpgraded { implementation }
        RegistryInitialized { version }
        RegistryOwnerSet { from, to }
    }
}

/// `paid_at` as `paidAt`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(1);
        format!("{name}{}{rest}", initial.to_uppercase())
    })
}

/// A field.
trait Field {
    fn json(&self) -> Value;
}

macro_rules! fields {
    ($($of:ty: $this:ident => $json:expr;)+) => {$(
        impl Field for $of {
            fn json(&self) -> Value {
                let $this = self;
                $json
            }
        }
    )+};
}

fields! {
    AgentId: it => it.to_string().into();
    AccountId: it => it.to_string().into();
    String: it => it.as_str().into();
    bool: it => (*it).into();
    u8: it => (*it).into();
    u64: it => it.to_string().into();
    i128: it => it.to_string().into();
    Vec<u8>: it => hexadecimal(it).into();
    [u8; 32]: it => hexadecimal(it).into();
    [u8; 64]: it => hexadecimal(it).into();
    Profile: it => match it {
        Profile::Authorized => "authorized".into(),
        Profile::Open => "open".into(),
    };
    AuthorizedBy: it => json!({ "scheme": it.scheme, "signature": hexadecimal(&it.signature) });
    ValidationTag: it => match it {
        ValidationTag::Text(text) => text.json(),
        ValidationTag::Bytes(bytes) => bytes.json(),
    };
}

impl<T: Field> Field for Option<T> {
    fn json(&self) -> Value {
        self.as_ref().map_or(Value::Null, Field::json)
    }
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}
