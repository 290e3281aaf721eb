//! The canonical ERC-8004 contracts 2.0.0: what they have beside [`super::abi`], because they are
//! upgradeable and owned.
//!
//! Their other functions and events have the ABI of Concord's contracts of the same name. They lack
//! Concord's additions: `getClientCount`, `getClientsWindow`, `readFeedbackWindow`, the parts of
//! summaries, `hasResponse`, `getValidationCount` and the pages of requests.
use alloy_sol_types::sol;

sol! {
    /// What all three of them have as upgradeable, owned proxies.
    interface Upgradeable {
        event Initialized(uint64 version);
        event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
        event Upgraded(address indexed implementation);

        error AddressEmptyCode(address target);
        error ERC1967InvalidImplementation(address implementation);
        error ERC1967NonPayable();
        error FailedCall();
        error InvalidInitialization();
        error NotInitializing();
        error OwnableInvalidOwner(address owner);
        error OwnableUnauthorizedAccount(address account);
        error UUPSUnauthorizedCallContext();
        error UUPSUnsupportedProxiableUUID(bytes32 slot);

        function owner() external view returns (address);
        function renounceOwnership() external;
        function transferOwnership(address newOwner) external;
        function proxiableUUID() external view returns (bytes32);
        function UPGRADE_INTERFACE_VERSION() external view returns (string);
        function upgradeToAndCall(address newImplementation, bytes data) external payable;
    }

    /// The identity registry's initializer.
    interface IdentityInitializer {
        function initialize() external;
    }

    /// The initializer of the reputation and the validation registry.
    interface BoundInitializer {
        function initialize(address identityRegistry) external;
    }
}
