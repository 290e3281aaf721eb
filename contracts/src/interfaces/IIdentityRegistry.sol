// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IERC721Metadata} from "@openzeppelin/contracts/token/ERC721/extensions/IERC721Metadata.sol";

/// @title Identity registry of ERC-8004: one ERC-721 token per agent
/// @notice Selectors, events and topics are those of the canonical ERC-8004 registry (R2). The token standard's own
/// errors are OpenZeppelin's (ERC-6093): `ERC721NonexistentToken` for an agent that is not registered,
/// `ERC721InvalidReceiver` for a contract that refuses the token.
interface IIdentityRegistry is IERC721Metadata {
    /// @notice One metadata key with its value, both of any length.
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    /// @notice When an agent was registered, with `agentURI` (may be empty) and its first `owner`.
    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);

    /// @notice When `metadataKey` of an agent got `metadataValue`; `indexedMetadataKey` is the same key, as a topic.
    /// The wallet is reported under the key "agentWallet": 20 bytes, or none when it was cleared.
    event MetadataSet(
        uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue
    );

    /// @notice When metadata carries the key "agentWallet", which only the wallet's own functions may write.
    error ReservedKey();

    /// @notice Registers an agent without a URI.
    /// @dev The caller becomes owner and wallet. Emits Transfer, MetadataUpdate (not in this overload), Registered,
    /// MetadataSet for the wallet and MetadataSet for each entry; then asks a calling contract for acceptance.
    /// @return agentId The next id; the first is 1.
    function register() external returns (uint256 agentId);

    /// @notice Registers an agent whose registration file is at `agentURI`, which may be empty.
    /// @return agentId As in `register()`.
    function register(string calldata agentURI) external returns (uint256 agentId);

    /// @notice Registers an agent with a URI and metadata; the last of several entries with one key stands.
    /// @return agentId As in `register()`.
    function register(string calldata agentURI, MetadataEntry[] calldata metadata) external returns (uint256 agentId);

    /// @notice The value under `metadataKey`: empty where none was set, also for an unknown agent.
    function getMetadata(uint256 agentId, string calldata metadataKey) external view returns (bytes memory);

    /// @notice The address that the agent is paid at: its registrant at first, none after a transfer to another
    /// owner, and none for an unknown agent.
    function getAgentWallet(uint256 agentId) external view returns (address);

    /// @notice Whether `spender` is the agent's owner, its approved address or an operator of its owner.
    /// Reverts with `ERC721NonexistentToken` for an unknown agent.
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool);

    /// @notice The version of this implementation.
    function getVersion() external pure returns (string memory);
}
