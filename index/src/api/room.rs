//! How long an answer may be: anyone can put long texts on a chain, and many of them in one page.
use super::Json;
use serde::Serialize;
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
        self.takes_bytes(length(item))
    }

    fn takes_bytes(&mut self, bytes: usize) -> bool {
        let takes = self.is_first || bytes <= self.left;
        self.is_first = false;
        self.left = self.left.saturating_sub(bytes);
        takes
    }
}

/// Items that become text one by one, without a value of JSON in between.
#[derive(Debug)]
pub(super) struct Items {
    text: Vec<u8>,
    room: Room,
    count: usize,
}

impl Items {
    /// With room for so many bytes.
    pub fn of(bytes: usize) -> Self {
        Self {
            text: br#"{"items":["#.to_vec(),
            room: Room::of(bytes),
            count: 0,
        }
    }

    /// Adds an item, if it still fits.
    pub fn add(&mut self, item: &impl Serialize) -> bool {
        let begin = self.text.len();
        if self.count > 0 {
            self.text.push(b',');
        }
        // which fails for keys that are not texts, and an item has fields
        let written = serde_json::to_writer(&mut self.text, item);
        let takes = written.is_ok() && self.room.takes_bytes(self.text.len() - begin);
        if takes {
            self.count += 1
        } else {
            self.text.truncate(begin)
        }
        takes
    }

    pub const fn count(&self) -> usize {
        self.count
    }

    /// The page that has them.
    pub fn page(mut self, next: Option<&str>) -> Json {
        let next = Value::from(next).to_string();
        self.text.extend(br#"],"nextCursor":"#);
        self.text.extend(next.bytes());
        self.text.push(b'}');
        Json::of_text(self.text)
    }

    /// All that were asked for, without a page after it.
    pub fn list(mut self) -> Json {
        self.text.extend(b"]}");
        Json::of_text(self.text)
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
    use axum::{body::to_bytes, response::IntoResponse};
    use concord_chain::Blocking;
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
    fn items_become_a_page_with_those_that_fit() {
        let page = |items: Items, next| {
            let response = items.page(next).into_response();
            let body = to_bytes(response.into_body(), 1_000);
            let body = Blocking::new().unwrap().wait(body).unwrap();
            serde_json::from_slice::<Value>(&body).unwrap()
        };
        let none = page(Items::of(100), None);
        assert_eq!(none, json!({ "items": [], "nextCursor": null }));
        let mut items = Items::of(30);
        let added = ["x".repeat(50), "y".to_owned()].map(|it| items.add(&it));
        assert_eq!((added, items.count()), ([true, false], 1));
        let one = page(items, Some("ab"));
        assert_eq!(
            one,
            json!({ "items": ["x".repeat(50)], "nextCursor": "ab" })
        );
        let mut items = Items::of(100);
        assert!(items.add(&1) && items.add(&json!({ "b": "\"" })));
        let two = page(items, None);
        assert_eq!(
            two,
            json!({ "items": [1, { "b": "\"" }], "nextCursor": null })
        );
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
