//! How long an answer may be: anyone can put long texts on a chain, and many of them in one page.
use serde_json::Value;

/// What is left for the items of one answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    left: usize,
    is_first: bool,
}

impl Room {
    /// Room for so many bytes.
    pub const fn of(bytes: usize) -> Self {
        Self {
            left: bytes,
            is_first: true,
        }
    }

    /// Whether an item still fits. The first one always does: a page has something, however long it is.
    pub fn takes(&mut self, item: &Value) -> bool {
        let bytes = length(item);
        let takes = self.is_first || bytes <= self.left;
        self.is_first = false;
        self.left = self.left.saturating_sub(bytes);
        takes
    }
}

/// One page. `json!` would copy every item.
pub(super) fn page(items: Vec<Value>, next: Option<String>) -> Value {
    let members = [("items", items.into()), ("nextCursor", next.into())];
    let members = members.map(|(name, value)| (name.to_owned(), value));
    Value::Object(members.into_iter().collect())
}

/// Bytes of a value as JSON, but for what escapes add.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len().saturating_add(3),
        Value::Array(items) => items.iter().map(length).sum::<usize>().saturating_add(3),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, it)| name.len().saturating_add(4 + length(it)));
            members.sum::<usize>().saturating_add(3)
        }
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_item_fits_and_others_as_long_as_there_is_room() {
        let item = |bytes: usize| json!({ "uri": "x".repeat(bytes) });
        let mut room = Room::of(100);
        assert!(room.takes(&item(1_000)));
        assert!(!room.takes(&item(1)));
        let mut room = Room::of(100);
        assert!(room.takes(&item(40)) && room.takes(&item(20)));
        assert!(!room.takes(&item(40)));
    }

    #[test]
    fn a_length_is_not_below_that_of_the_json() {
        let values = [
            json!({ "a": [1, true, null, "text"], "b": {}, "c": { "d": [] } }),
            json!(["", "", ["x"]]),
        ];
        for value in values {
            assert!(length(&value) >= value.to_string().len(), "{value}");
        }
    }
}
