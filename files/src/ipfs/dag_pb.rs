//! dag-pb nodes, and the UnixFS messages in them.

/// Kinds of UnixFS nodes.
pub(super) const RAW_LEAF: u64 = 0;
pub(super) const DIRECTORY: u64 = 1;
pub(super) const FILE: u64 = 2;

/// A dag-pb node and the UnixFS message in it.
#[derive(Default)]
pub(super) struct PbNode<'b> {
    pub(super) links: Vec<PbLink<'b>>,
    pub(super) kind: Option<u64>,
    pub(super) data: &'b [u8],
}

#[derive(Default)]
pub(super) struct PbLink<'b> {
    pub(super) hash: &'b [u8],
    pub(super) name: &'b [u8],
}

impl<'b> PbNode<'b> {
    pub(super) fn parse(block: &'b [u8]) -> Option<Self> {
        let mut node = Self::default();
        for field in fields(block) {
            match field? {
                (1, Field::Bytes(message)) => {
                    for field in fields(message) {
                        match field? {
                            (1, Field::Number(kind)) => node.kind = Some(kind),
                            (2, Field::Bytes(data)) => node.data = data,
                            _ => {}
                        }
                    }
                }
                (2, Field::Bytes(link)) => node.links.push(PbLink::parse(link)?),
                _ => {}
            }
        }
        Some(node)
    }
}

impl<'b> PbLink<'b> {
    fn parse(message: &'b [u8]) -> Option<Self> {
        let mut link = Self::default();
        for field in fields(message) {
            match field? {
                (1, Field::Bytes(hash)) => link.hash = hash,
                (2, Field::Bytes(name)) => link.name = name,
                _ => {}
            }
        }
        Some(link)
    }
}

/// The two kinds of protobuf fields that dag-pb and UnixFS have.
enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The fields of a protobuf message with their numbers; `None` if it is malformed, and then no more.
fn fields(mut rest: &[u8]) -> impl Iterator<Item = Option<(u64, Field<'_>)>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = take_field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field)
    })
}

fn take_field<'b>(rest: &mut &'b [u8]) -> Option<(u64, Field<'b>)> {
    let key = take_varint(rest)?;
    let field = match key & 7 {
        0 => Field::Number(take_varint(rest)?),
        2 => {
            let length = usize::try_from(take_varint(rest)?).ok()?;
            let (bytes, after) = rest.split_at_checked(length)?;
            *rest = after;
            Field::Bytes(bytes)
        }
        _ => return None,
    };
    Some((key >> 3, field))
}

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
