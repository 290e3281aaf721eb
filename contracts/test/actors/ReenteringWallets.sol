// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";

/// @dev The attack on R3 and R7: a wallet, or an owner, that is asked for its consent and calls back. It consents only if every call failed,
/// so that a consent shows that none went through.
contract ReenteringWallet {
    uint256 private constant GAS_A_CALL = 200_000; // a write in a static call burns what it was given

    address private immutable REGISTRY;
    bytes[] private calls;

    constructor(address registry) {
        REGISTRY = registry;
    }

    function prepare(bytes calldata call) external {
        calls.push(call);
    }

    /// @dev The same calls where nothing forbids them: returns how many succeed.
    function perform() public returns (uint256 succeeded) {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success,) = REGISTRY.call{gas: GAS_A_CALL}(calls[i]);
            if (success) ++succeeded;
        }
    }

    function isValidSignature(bytes32, bytes calldata) external returns (bytes4) {
        return perform() == 0 ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// @dev Registers, and changes its agent from within the registration, with calls that it was given.
contract ManagingRegistrant is IERC721Receiver {
    IIdentityRegistry private immutable IDENTITY;
    bytes[] private calls;

    constructor(IIdentityRegistry identity) {
        IDENTITY = identity;
    }

    function prepare(bytes calldata call) external {
        calls.push(call);
    }

    function register() external returns (uint256) {
        return IDENTITY.register("ipfs://first");
    }

    function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4) {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success,) = address(IDENTITY).call(calls[i]);
            require(success, "call failed");
        }
        return IERC721Receiver.onERC721Received.selector;
    }
}
