// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";

/// @dev Registers itself; as it has no `onERC721Received`, it cannot hold a token that asks.
contract SilentRegistrant {
    function register(IIdentityRegistry identity) external returns (uint256) {
        return identity.register();
    }
}

/// @dev Answers with `answer`, or reverts with `refusal` if there is one.
contract AnsweringRegistrant is IERC721Receiver {
    bytes4 private immutable ANSWER;
    bytes private refusal;

    constructor(bytes4 answer, bytes memory refusal_) {
        ANSWER = answer;
        refusal = refusal_;
    }

    function register(IIdentityRegistry identity, string calldata uri) external returns (uint256) {
        return identity.register(uri);
    }

    function onERC721Received(address, address, uint256, bytes calldata) external view returns (bytes4) {
        bytes memory reason = refusal;
        if (reason.length != 0) {
            assembly ("memory-safe") {
                revert(add(reason, 32), mload(reason))
            }
        }
        return ANSWER;
    }
}

/// @dev The attack on R3: hands the token on while the registry still waits for the answer, and registers once more.
contract ForwardingRegistrant is IERC721Receiver {
    IIdentityRegistry private immutable IDENTITY;
    address private immutable TARGET;
    bool private hasReentered;

    address public walletSeen;
    string public uriSeen;
    bytes public noteSeen;
    uint256 public nestedAgentId;

    constructor(IIdentityRegistry identity, address target) {
        IDENTITY = identity;
        TARGET = target;
    }

    function register(string calldata uri, IIdentityRegistry.MetadataEntry[] calldata metadata)
        external
        returns (uint256)
    {
        return IDENTITY.register(uri, metadata);
    }

    function onERC721Received(address operator, address from, uint256 agentId, bytes calldata data)
        external
        returns (bytes4)
    {
        require(operator == address(this) && from == address(0) && data.length == 0, "wrong arguments");
        if (!hasReentered) {
            hasReentered = true;
            walletSeen = IDENTITY.getAgentWallet(agentId);
            uriSeen = IDENTITY.tokenURI(agentId);
            noteSeen = IDENTITY.getMetadata(agentId, "note");
            nestedAgentId = IDENTITY.register();
            IDENTITY.transferFrom(address(this), TARGET, agentId);
        }
        return IERC721Receiver.onERC721Received.selector;
    }
}
