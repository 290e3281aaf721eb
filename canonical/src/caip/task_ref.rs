use super::{ChainId, EIP155, SOLANA, check_alphabet, check_part, parse_base58, parse_hex};
use crate::error::{Error, Excerpt, TextFault};
use crate::{Word, hash};
use core::fmt;

/// Bytes of an eip155 transaction: `0x` and 64 hex digits.
const EIP155_TRANSACTION: usize = 66;

/// A reference to the payment transaction of a task, `network ‖ ":" ‖ transaction` (X402 §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskRef<'a> {
    chain_id: ChainId<'a>,
    transaction: &'a str,
}

impl<'a> TaskRef<'a> {
    /// A task reference from its text, held to its chain's own form (R24; see [`crate::caip`]).
    ///
    /// # Errors
    /// [`Error::MalformedTaskRef`] with the part that broke the form.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let [namespace, reference, transaction] = split(text)?;
        let chain_id = ChainId::from_parts(namespace, reference).map_err(of_task_ref)?;
        check_transaction(namespace, transaction)
            .map_err(|fault| malformed("transaction", transaction, fault))?;
        Ok(Self {
            chain_id,
            transaction,
        })
    }

    /// The chain on which the payment settled.
    pub const fn chain_id(&self) -> ChainId<'a> {
        self.chain_id
    }

    /// The transaction, as written.
    pub const fn transaction(&self) -> &'a str {
        self.transaction
    }

    /// The form in which two references to one payment are equal: chain id, `:`, transaction,
    /// lower case for eip155 (R24).
    pub const fn dedupe_key(&self) -> DedupeKey<'a> {
        DedupeKey(*self)
    }
}

/// Chain id, `:`, transaction; lower case for eip155, where hex digits of either case mean one
/// transaction. Shown with `Display`, hashed with [`DedupeKey::hash`].
#[derive(Debug, Clone, Copy)]
pub struct DedupeKey<'a>(TaskRef<'a>);

impl DedupeKey<'_> {
    /// keccak256 of the key: the seed of the `spent` marker and a word of the payment proof (R13).
    ///
    /// | offset | width | field |
    /// |---|---|---|
    /// | 0 | … | chain id, ASCII |
    /// | … | 1 | `:` |
    /// | … | … | transaction, ASCII, lower case for eip155 |
    pub fn hash(&self) -> Word {
        let TaskRef {
            chain_id,
            transaction,
        } = self.0;
        let mut lower = [0; EIP155_TRANSACTION];
        let transaction = match chain_id.namespace() {
            EIP155 => {
                lower.copy_from_slice(transaction.as_bytes());
                lower.make_ascii_lowercase();
                &lower[..]
            }
            _ => transaction.as_bytes(),
        };
        hash::keccak256v(&[
            chain_id.namespace().as_bytes(),
            b":",
            chain_id.reference().as_bytes(),
            b":",
            transaction,
        ])
    }
}

impl fmt::Display for DedupeKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        write!(f, "{}:", self.0.chain_id)?;
        match self.0.chain_id.namespace() {
            EIP155 => (self.0.transaction.chars())
                .try_for_each(|character| f.write_char(character.to_ascii_lowercase())),
            _ => f.write_str(self.0.transaction),
        }
    }
}

impl PartialEq for DedupeKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.hash() == other.hash()
    }
}

impl Eq for DedupeKey<'_> {}

/// What hash functions ask of a task reference: namespace, reference and transaction, none empty,
/// all printable ASCII (0x20 to 0x7e). Further colons belong to the transaction (R24).
///
/// # Errors
/// [`Error::MalformedTaskRef`] with the part that broke the form.
pub fn check_task_ref_shape(text: &str) -> Result<(), Error> {
    let parts = split(text)?;
    for (field, part) in ["namespace", "reference", "transaction"].iter().zip(parts) {
        check_part(part, 1, usize::MAX, is_printable)
            .map_err(|fault| malformed(field, part, fault))?;
    }
    Ok(())
}

fn is_printable(byte: u8) -> bool {
    (0x20..=0x7e).contains(&byte)
}

/// The three parts, cut at the first two colons.
fn split(text: &str) -> Result<[&str; 3], Error> {
    let missing = |field| malformed(field, text, TextFault::Missing);
    let (namespace, rest) = text.split_once(':').ok_or(missing("reference"))?;
    let (reference, transaction) = rest.split_once(':').ok_or(missing("transaction"))?;
    Ok([namespace, reference, transaction])
}

fn check_transaction(namespace: &str, transaction: &str) -> Result<(), TextFault> {
    match namespace {
        EIP155 => parse_hex::<32>(transaction).map(drop),
        SOLANA => parse_base58::<64>(transaction).map(drop),
        _ => {
            check_part(transaction, 1, 128, |_| true)?;
            check_alphabet(
                transaction,
                |byte| matches!(byte, b'-' | b'_' | b'.' | b'%' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9'),
            )
        }
    }
}

/// The same fault, reported as one of the whole task reference.
fn of_task_ref(error: Error) -> Error {
    match error {
        Error::MalformedChainId {
            field,
            value,
            fault,
        } => Error::MalformedTaskRef {
            field,
            value,
            fault,
        },
        other => other,
    }
}

fn malformed(field: &'static str, value: &str, fault: TextFault) -> Error {
    Error::MalformedTaskRef {
        field,
        value: Excerpt::new(value),
        fault,
    }
}
