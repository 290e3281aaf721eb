// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @dev What is signed, for `forge eip712` to hash the types of: the domain's fields as EIP-712 names them, R3's consent
/// and R5's authorization.
struct EIP712Domain {
    string name;
    string version;
    uint256 chainId;
    address verifyingContract;
}

struct AgentWalletSet {
    uint256 agentId;
    address newWallet;
    address owner;
    uint256 deadline;
}

struct FeedbackAuth {
    uint256 agentId;
    address clientAddress;
    uint64 indexLimit;
    uint256 expiry;
    uint256 chainId;
    address identityRegistry;
    address signerAddress;
}
