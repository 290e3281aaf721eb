// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @dev A feedbackAuth as seven plain words, so that a test can also write what no encoder would. The digests are put
/// together from published constants: nothing here comes from contracts/src.
struct FeedbackAuthWords {
    uint256 agentId;
    uint256 clientAddress;
    uint256 indexLimit;
    uint256 expiry;
    uint256 chainId;
    uint256 identityRegistry;
    uint256 signerAddress;
}

using FeedbackAuthForms for FeedbackAuthWords global;

library FeedbackAuthForms {
    // keccak256 of the type strings, as viem 2.45.0 and `forge eip712` print them.
    bytes32 private constant DOMAIN_TYPEHASH = 0x8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f;
    bytes32 private constant AUTH_TYPEHASH = 0x1b013444cad0f64802e59cfc689fbc84d732a5129ad2e5834d0ed4637db6e15c;
    bytes32 private constant FS_TYPEHASH = 0x0309651dd4be0e54da0e0eef5cfc6d2bc7b56b42f50477f549fa27b38e03c947;

    /// @dev The 224 bytes before the signature.
    function fields(FeedbackAuthWords memory auth) internal pure returns (bytes memory) {
        return bytes.concat(
            bytes32(auth.agentId),
            bytes32(auth.clientAddress),
            bytes32(auth.indexLimit),
            bytes32(auth.expiry),
            bytes32(auth.chainId),
            bytes32(auth.identityRegistry),
            bytes32(auth.signerAddress)
        );
    }

    function eip712Digest(FeedbackAuthWords memory auth, uint256 chainId, address verifyingContract)
        internal
        pure
        returns (bytes32)
    {
        return typedDigest(keccak256(bytes.concat(AUTH_TYPEHASH, fields(auth))), chainId, verifyingContract);
    }

    /// @dev The first draft's.
    function eip191Digest(FeedbackAuthWords memory auth) internal pure returns (bytes32) {
        return keccak256(bytes.concat("\x19Ethereum Signed Message:\n32", keccak256(fields(auth))));
    }

    /// @dev FS's struct, which has neither registry nor signer.
    function fiveFieldDigest(FeedbackAuthWords memory auth, uint256 chainId, address verifyingContract)
        internal
        pure
        returns (bytes32)
    {
        bytes memory words = bytes.concat(
            FS_TYPEHASH,
            bytes32(auth.agentId),
            bytes32(auth.clientAddress),
            bytes32(auth.indexLimit),
            bytes32(auth.expiry),
            bytes32(auth.chainId)
        );
        return typedDigest(keccak256(words), chainId, verifyingContract);
    }

    /// @dev PROFILE's.
    function packedHash(FeedbackAuthWords memory auth) internal pure returns (bytes32) {
        return keccak256(
            bytes.concat(
                bytes32(auth.agentId),
                bytes20(uint160(auth.clientAddress)),
                bytes8(uint64(auth.indexLimit)),
                bytes32(auth.expiry),
                bytes32(auth.chainId),
                bytes20(uint160(auth.identityRegistry)),
                bytes20(uint160(auth.signerAddress))
            )
        );
    }

    function typedDigest(bytes32 structHash, uint256 chainId, address verifyingContract)
        internal
        pure
        returns (bytes32)
    {
        bytes32 domainSeparator = keccak256(
            bytes.concat(
                DOMAIN_TYPEHASH,
                keccak256("ERC8004ReputationRegistry"),
                keccak256("1"),
                bytes32(chainId),
                bytes32(uint256(uint160(verifyingContract)))
            )
        );
        return keccak256(bytes.concat(hex"1901", domainSeparator, structHash));
    }
}
