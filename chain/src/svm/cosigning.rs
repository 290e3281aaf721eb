//! A transaction that another party signs first. It is prepared here, signed there, and signed here only if it
//! comes back as it was prepared.
use super::RecentBlockhash;
use crate::{ChainError, Signer, Svm, submission::SignedTx};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_canonical::sign::ed25519_verify;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::Message;
use solana_signature::Signature;

/// Bytes of a transaction that the network carries.
const PACKET_MAX: usize = 1_232;
const SIGNATURE: usize = 64;

/// A legacy message that waits for the signature of another party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedTx {
    /// The message that all signers sign, serialized.
    pub message: Vec<u8>,
    /// The last block height at which it can land.
    pub valid_until: u64,
}

/// Why a transaction that came back is not signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CosigningError {
    /// The text is not base64.
    #[error("the transaction is not base64")]
    NotBase64,
    /// No network carries it.
    #[error("the transaction has {found} bytes, at most {most}")]
    TooLong {
        /// Bytes.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// It has more signatures or fewer.
    #[error("the transaction has places for {found} signatures, expected {expected}")]
    Signatures {
        /// Signatures.
        found: usize,
        /// As many as the message names.
        expected: usize,
    },
    /// Some byte of the message was changed, added or removed.
    #[error("the transaction's message differs from the prepared one at byte {at} of {length}")]
    Differs {
        /// From 0.
        at: usize,
        /// Bytes of the prepared message.
        length: usize,
    },
    /// The message names no such signer.
    #[error("the message is not to be signed by {0}")]
    NotASigner(Address),
    /// The party's signature is missing or of something else.
    #[error("the transaction is not signed by {0}")]
    NotSigned(Address),
}

impl PreparedTx {
    /// Prepares a transaction that `payer` pays.
    #[must_use]
    pub fn new(instructions: &[Instruction], payer: &Address, recent: &RecentBlockhash) -> Self {
        let message = Message::new_with_blockhash(instructions, Some(payer), &recent.hash);
        Self {
            message: message.serialize(),
            valid_until: recent.valid_until,
        }
    }

    /// The transaction with zeros for signatures, in base64: what a wallet is given.
    #[must_use]
    pub fn unsigned(&self) -> String {
        BASE64.encode(self.transaction(&vec![[0; SIGNATURE]; self.signers().len()]))
    }

    /// Returns whether the network carries it.
    #[must_use]
    pub fn fits(&self) -> bool {
        1 + self.signers().len() * SIGNATURE + self.message.len() <= PACKET_MAX
    }

    /// Returns the party's signature from the transaction that came back, in base64. Every byte of the message must
    /// be the prepared one; what is in the other places for signatures does not count.
    ///
    /// # Errors
    /// [`CosigningError`].
    pub fn signature_by(
        &self,
        party: &Address,
        transaction: &str,
    ) -> Result<[u8; SIGNATURE], CosigningError> {
        let most = PACKET_MAX.div_ceil(3) * 4;
        if transaction.len() > most {
            let found = transaction.len() / 4 * 3;
            let most = PACKET_MAX;
            return Err(CosigningError::TooLong { found, most });
        }
        let bytes = BASE64.decode(transaction);
        let bytes = bytes.map_err(|_| CosigningError::NotBase64)?;
        let signers = self.signers();
        let expected = signers.len();
        let found = bytes.first().map_or(0, |it| usize::from(*it));
        let wrong_count = CosigningError::Signatures { found, expected };
        let (signatures, message) = match bytes.split_first() {
            Some((_, rest)) if found == expected => {
                (rest.split_at_checked(found * SIGNATURE)).ok_or_else(|| wrong_count.clone())?
            }
            _ => return Err(wrong_count),
        };
        self.require_same(message)?;
        let place = (signers.iter().position(|it| it == party))
            .ok_or(CosigningError::NotASigner(*party))?;
        let signature = signatures.chunks_exact(SIGNATURE).nth(place);
        let signature = signature.and_then(|it| <[u8; SIGNATURE]>::try_from(it).ok());
        let signature = signature.ok_or(wrong_count)?;
        match ed25519_verify(party.as_array(), &self.message, &signature) {
            Ok(()) => Ok(signature),
            Err(_) => Err(CosigningError::NotSigned(*party)),
        }
    }

    /// Signs the prepared message, for the party whose signature is here and for the payer.
    ///
    /// # Errors
    /// [`ChainError::NotSigned`] if the payer's key refuses, or another signature is missing.
    pub async fn complete(
        &self,
        party: &Address,
        signature: [u8; SIGNATURE],
        payer: &dyn Signer<Svm>,
    ) -> Result<SignedTx, ChainError> {
        let own = payer.address();
        let mut signatures = Vec::new();
        for key in self.signers() {
            signatures.push(if key == own {
                let mut message = self.message.clone();
                let signed: Signature = payer.sign(&mut message).await?;
                signed.into()
            } else if key == *party {
                signature
            } else {
                return Err(ChainError::NotSigned {
                    signer: key.to_string(),
                    reason: "its signature is missing".to_owned(),
                });
            });
        }
        let name = signatures.first().map(|it| bs58::encode(it).into_string());
        Ok(SignedTx {
            transaction: name.unwrap_or_default(),
            raw: BASE64.encode(self.transaction(&signatures)),
            valid_until: Some(self.valid_until),
            signed_at: None,
            sent: false,
            failure_cost: None,
        })
    }

    fn require_same(&self, found: &[u8]) -> Result<(), CosigningError> {
        if found == self.message {
            return Ok(());
        }
        let same = self.message.iter().zip(found);
        let same = same.take_while(|(expected, found)| expected == found);
        Err(CosigningError::Differs {
            at: same.count(),
            length: self.message.len(),
        })
    }

    /// Those who sign, the payer first; none if the bytes are not a message.
    fn signers(&self) -> Vec<Address> {
        let message = wincode::deserialize::<Message>(&self.message).ok();
        let signers = message.iter().flat_map(Message::signer_keys);
        signers.copied().collect()
    }

    /// A count of signatures (one byte up to 127), the signatures, the message.
    fn transaction(&self, signatures: &[[u8; SIGNATURE]]) -> Vec<u8> {
        let mut bytes = vec![signatures.len() as u8];
        bytes.extend(signatures.iter().flatten());
        bytes.extend(&self.message);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blocking, svm::decode};
    use solana_hash::Hash;
    use solana_instruction::AccountMeta;
    use solana_keypair::Keypair;
    use solana_transaction::Transaction;

    fn key(seed: u8) -> Keypair {
        Keypair::new_from_array([seed; 32])
    }

    fn address(seed: u8) -> Address {
        Signer::<Svm>::address(&key(seed))
    }

    /// The payer is 1, the other party 2.
    fn instruction(data: &[u8]) -> Instruction {
        Instruction {
            program_id: Address::new_from_array([9; 32]),
            accounts: vec![
                AccountMeta::new_readonly(address(2), true),
                AccountMeta::new(address(1), true),
            ],
            data: data.to_vec(),
        }
    }

    fn prepared(data: &[u8]) -> PreparedTx {
        let recent = RecentBlockhash {
            hash: Hash::new_from_array([5; 32]),
            valid_until: 77,
        };
        PreparedTx::new(&[instruction(data)], &address(1), &recent)
    }

    /// As a wallet does it: decoded, signed and encoded by Solana's own crates.
    fn signed_by_wallet(transaction: &str, wallet: &Keypair) -> Vec<u8> {
        let bytes = BASE64.decode(transaction).unwrap();
        let mut transaction: Transaction = wincode::deserialize_exact(&bytes).unwrap();
        let hash = transaction.message.recent_blockhash;
        transaction.partial_sign(&[wallet], hash);
        wincode::serialize(&transaction).unwrap()
    }

    #[test]
    fn what_comes_back_signed_is_completed() {
        let prepared = prepared(b"feedback");
        let back = BASE64.encode(signed_by_wallet(&prepared.unsigned(), &key(2)));
        let signature = prepared.signature_by(&address(2), &back).unwrap();
        let (party, payer) = (address(2), key(1));
        let completed = prepared.complete(&party, signature, &payer);
        let completed = Blocking::new().unwrap().wait(completed).unwrap();
        assert_eq!(completed.valid_until, Some(77));
        let decoded = decode(&completed).unwrap();
        assert_eq!(decoded.message.serialize(), prepared.message);
        for (seed, signature) in [1, 2].into_iter().zip(&decoded.signatures) {
            ed25519_verify(
                address(seed).as_array(),
                &prepared.message,
                signature.as_ref(),
            )
            .unwrap();
        }
        assert!(prepared.fits());
    }

    #[test]
    fn any_other_byte_is_refused() {
        let prepared = prepared(b"feedback");
        let good = signed_by_wallet(&prepared.unsigned(), &key(2));
        let message = 1 + 2 * SIGNATURE;
        let read = |bytes: &[u8]| prepared.signature_by(&address(2), &BASE64.encode(bytes));
        read(&good).unwrap();
        for at in message..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            let at = at - message;
            let length = prepared.message.len();
            assert_eq!(read(&bad), Err(CosigningError::Differs { at, length }));
        }
        for at in 1 + SIGNATURE..message {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert_eq!(read(&bad), Err(CosigningError::NotSigned(address(2))));
        }
        let mut long = good.clone();
        long.push(0);
        let length = prepared.message.len();
        assert_eq!(
            read(&long),
            Err(CosigningError::Differs { at: length, length })
        );
        let mut counted = good.clone();
        counted[0] = 3;
        let (found, expected) = (3, 2);
        assert_eq!(
            read(&counted),
            Err(CosigningError::Signatures { found, expected })
        );
        for length in [0, 1, 64, 128] {
            let refused = read(&good[..length]).unwrap_err();
            assert!(matches!(refused, CosigningError::Signatures { .. }));
        }
    }

    #[test]
    fn another_message_another_signer_and_no_transaction_are_refused() {
        let prepared = prepared(b"feedback");
        let other = super::tests::prepared(b"feedbacK");
        let signed = BASE64.encode(signed_by_wallet(&other.unsigned(), &key(2)));
        let refused = prepared.signature_by(&address(2), &signed).unwrap_err();
        assert!(matches!(refused, CosigningError::Differs { .. }));
        let unsigned = prepared.signature_by(&address(2), &prepared.unsigned());
        assert_eq!(unsigned, Err(CosigningError::NotSigned(address(2))));
        let back = BASE64.encode(signed_by_wallet(&prepared.unsigned(), &key(2)));
        let stranger = prepared.signature_by(&address(3), &back);
        assert_eq!(stranger, Err(CosigningError::NotASigner(address(3))));
        let text = prepared.signature_by(&address(2), "no base64!");
        assert_eq!(text, Err(CosigningError::NotBase64));
        let long = prepared.signature_by(&address(2), &"A".repeat(2_000));
        assert!(matches!(long, Err(CosigningError::TooLong { .. })));
    }
}
