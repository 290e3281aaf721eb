//! The canonical ERC-8004 contracts 2.0.0: on which networks they are, and what they have beside [`super::abi`], because
//! they are upgradeable and owned.
//!
//! Their other functions and events have the ABI of Concord's contracts of the same name. They lack
//! Concord's additions: `getClientCount`, `getClientsWindow`, `readFeedbackWindow`, the parts of
//! summaries, `hasResponse`, `getValidationCount` and the pages of requests.
use alloy_primitives::{Address, address};
use alloy_sol_types::sol;

/// A network with canonical registries. One counts by its entry, never by its address alone: there are networks on which a
/// proxy at the same address never got its code (R28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The chain id of EIP-155.
    pub chain_id: u64,
    pub identity: Address,
    pub reputation: Address,
}

impl Network {
    /// The canonical registries of a chain, if it is listed.
    #[must_use]
    pub fn of(chain_id: u64) -> Option<&'static Self> {
        NETWORKS.iter().find(|it| it.chain_id == chain_id)
    }

    const fn mainnet(chain_id: u64) -> Self {
        Self {
            chain_id,
            identity: address!("8004A169FB4a3325136EB29fA0ceB6D2e539a432"),
            reputation: address!("8004BAa17C55a88189AE136b182e5fdA19dE9b63"),
        }
    }

    const fn testnet(chain_id: u64) -> Self {
        Self {
            chain_id,
            identity: address!("8004A818BFB912233c491871b3d84c89A494BD9e"),
            reputation: address!("8004B663056A597Dffe9eCcC1965A193B7388713"),
        }
    }
}

/// Every network that is listed: Ethereum, Base, Sepolia, Base Sepolia.
pub const NETWORKS: &[Network] = &[
    Network::mainnet(1),
    Network::mainnet(8453),
    Network::testnet(11_155_111),
    Network::testnet(84_532),
];

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
