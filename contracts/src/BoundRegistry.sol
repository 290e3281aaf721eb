// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBoundRegistry} from "./interfaces/IBoundRegistry.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {VERSION} from "./libraries/Version.sol";

/// @title BoundRegistry
/// @dev Documented in IBoundRegistry: what all registries over an identity registry do alike.
abstract contract BoundRegistry is IBoundRegistry {
    /// @dev Where owners and operators are asked for; fixed at deployment (R2).
    IIdentityRegistry internal immutable IDENTITY_REGISTRY;

    constructor(address identityRegistry) {
        if (identityRegistry == address(0)) revert RegistryZero(); // R2
        IDENTITY_REGISTRY = IIdentityRegistry(identityRegistry);
    }

    /// @inheritdoc IBoundRegistry
    function getIdentityRegistry() external view returns (address) {
        return address(IDENTITY_REGISTRY);
    }

    /// @inheritdoc IBoundRegistry
    function getVersion() external pure returns (string memory) {
        return VERSION;
    }

    /// @dev The time in seconds, in the width that is stored.
    function _now() internal view returns (uint64) {
        // 2^64 seconds are 584 thousand million years.
        // forge-lint: disable-next-line(unsafe-typecast)
        return uint64(block.timestamp);
    }
}
