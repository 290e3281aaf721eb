use super::{Node, view_request};
use crate::ChainError;
use alloy::{
    primitives::{Address, B256, Bytes},
    sol,
    sol_types::SolCall,
};
use concord_canonical::{Word, sign::to_ethereum_v};

sol! {
    /// ERC-1271's function.
    function isValidSignature(bytes32 hash, bytes signature) external view returns (bytes4);
}

/// What a contract answers that accepts a signature (ERC-1271).
const ACCEPTED: [u8; 4] = isValidSignatureCall::SELECTOR;

impl Node {
    /// Asks a contract, on the state after `block`, whether it accepts a signature (ERC-1271). A signature of 65 bytes is given with
    /// Ethereum's v (R23). A contract that reverts does not accept it.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn is_signed_by_contract(
        &self,
        contract: Address,
        hash: &Word,
        signature: &[u8],
        block: u64,
    ) -> Result<bool, ChainError> {
        let signature = <&[u8; 65]>::try_from(signature)
            .ok()
            .and_then(|it| to_ethereum_v(it).ok())
            .map_or_else(|| signature.to_vec(), |it| it.to_vec());
        let call = isValidSignatureCall {
            hash: B256::from(*hash),
            signature: signature.into(),
        };
        let request = view_request(contract, &call);
        let answers = self.calls(&[request], block).await?;
        let accepted = |answer: &Result<Bytes, Bytes>| match answer {
            Ok(answer) => isValidSignatureCall::abi_decode_returns_validate(answer)
                .is_ok_and(|magic| magic.0 == ACCEPTED),
            Err(_) => false,
        };
        Ok(answers.first().is_some_and(accepted))
    }
}
