//! Thrift's compact protocol, as far as Parquet's metadata needs it.
//! Source: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Lengths below this are in the list's first byte.
const LONG_LIST: usize = 15;

/// A struct in the making. Fields are written in the order of their ids.
#[derive(Debug, Default)]
pub struct Compact {
    out: Vec<u8>,
    last: u8,
}

impl Compact {
    /// Returns the bytes of a struct.
    pub fn bytes(fields: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut writer = Self::default();
        fields(&mut writer);
        writer.out.push(0); // no more fields
        writer.out
    }

    pub fn i32(&mut self, id: u8, value: i32) {
        self.field(id, I32);
        self.signed(value.into());
    }

    pub fn i64(&mut self, id: u8, value: i64) {
        self.field(id, I64);
        self.signed(value);
    }

    pub fn binary(&mut self, id: u8, value: &[u8]) {
        self.field(id, BINARY);
        self.prefixed(value);
    }

    pub fn structure(&mut self, id: u8, fields: impl FnOnce(&mut Self)) {
        self.field(id, STRUCT);
        self.out.extend(Self::bytes(fields));
    }

    pub fn structures<T>(
        &mut self,
        id: u8,
        items: impl ExactSizeIterator<Item = T>,
        mut fields: impl FnMut(&mut Self, T),
    ) {
        self.list(id, STRUCT, items.len());
        for item in items {
            self.out.extend(Self::bytes(|it| fields(it, item)));
        }
    }

    pub fn i32s(&mut self, id: u8, values: &[i32]) {
        self.list(id, I32, values.len());
        for value in values {
            self.signed((*value).into());
        }
    }

    pub fn texts(&mut self, id: u8, values: &[&str]) {
        self.list(id, BINARY, values.len());
        for value in values {
            self.prefixed(value.as_bytes());
        }
    }

    /// Ids of Parquet's structs differ by less than 16 from one to the next.
    fn field(&mut self, id: u8, kind: u8) {
        let delta = id - self.last;
        self.last = id;
        self.out.push(delta << 4 | kind);
    }

    fn list(&mut self, id: u8, kind: u8, length: usize) {
        self.field(id, LIST);
        match length {
            0..LONG_LIST => self.out.push((length as u8) << 4 | kind),
            _ => {
                self.out.push(0xf0 | kind);
                varint(&mut self.out, length as u64);
            }
        }
    }

    fn prefixed(&mut self, bytes: &[u8]) {
        varint(&mut self.out, bytes.len() as u64);
        self.out.extend(bytes);
    }

    /// Zigzag: small numbers of either sign are short.
    fn signed(&mut self, value: i64) {
        varint(
            &mut self.out,
            ((value << 1) ^ (value >> 63)).cast_unsigned(),
        );
    }
}

/// Writes seven bits a byte, the lowest first.
pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected bytes are those of Apache's own library: `TCompactProtocol` of thrift 0.22 (Python).
    #[test]
    fn a_struct_is_written_as_thrift_does() {
        let bytes = Compact::bytes(|it| {
            it.i32(1, -3);
            it.i64(4, 1 << 40);
            it.binary(5, b"ab");
            it.structure(8, |inner| inner.i32(2, 300));
            it.i32s(9, &[0; 16]);
            it.texts(10, &["x", ""]);
            it.structures(11, [1, 2].into_iter(), |inner, item| inner.i32(1, item));
        });
        let expected = "1505368080808080401802616\
                        23c25d8040019f51000000000000000000000000000000000\
                        1928017800192c15020015040000";
        assert_eq!(hex::encode(bytes), expected);
    }
}
