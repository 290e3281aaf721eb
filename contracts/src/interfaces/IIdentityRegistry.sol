// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IERC721Metadata} from "@openzeppelin/contracts/token/ERC721/extensions/IERC721Metadata.sol";

/// @title Identity registry of ERC-8004: one ERC-721 token per agent
/// @notice Selectors, events and topics are those of the canonical ERC-8004 registry (R2). The token standard's own
/// errors are OpenZeppelin's (ERC-6093): `ERC721NonexistentToken` for an agent that is not registered,
/// `ERC721InvalidReceiver` for a contract that refuses the token.
/// @dev Everywhere here, `agentId` is the agent: its token id.
interface IIdentityRegistry is IERC721Metadata {
    /// @notice One metadata key with its value, both of any length.
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    /// @notice Emitted when an agent was registered, with `agentURI` (may be empty) and its first `owner`.
    /// @param agentURI Where the registration file is; may be empty.
    /// @param owner The first owner.
    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);

    /// @notice Emitted when `metadataKey` of an agent got `metadataValue`; `indexedMetadataKey` is the same key, as a
    /// topic. The wallet is reported under the key "agentWallet": 20 bytes, or none when it was cleared.
    /// @param indexedMetadataKey The key as a topic: its keccak256.
    /// @param metadataKey The key.
    /// @param metadataValue The value, any bytes.
    event MetadataSet(
        uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue
    );

    /// @notice Emitted when `updatedBy` gave an agent a new URI, which may be empty. Follows ERC-4906's MetadataUpdate.
    /// @param newURI Where the registration file is from now on; may be empty.
    /// @param updatedBy Who changed it.
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);

    /// @notice Thrown when metadata carries the key "agentWallet", which only the wallet's own functions may write.
    error ReservedKey();

    /// @notice Thrown when `caller` is neither the agent's owner, nor its approved address, nor an operator of its
    /// owner.
    /// @param caller The account that called.
    error NotAuthorized(address caller, uint256 agentId);

    /// @notice Thrown when the new wallet is the zero address; `unsetAgentWallet` takes a wallet away.
    error WalletZero();

    /// @notice Thrown when the block's time `timestamp` is past `deadline` (both in seconds).
    /// @param deadline The deadline that was given, in unix seconds.
    /// @param timestamp The block's time, in unix seconds.
    error DeadlinePassed(uint256 deadline, uint256 timestamp);

    /// @notice Thrown when `deadline` is after `latest`, which is 300 seconds after the block's time (both in seconds).
    /// @param deadline The deadline that was given, in unix seconds.
    /// @param latest The latest deadline that is accepted, in unix seconds.
    error DeadlineTooFar(uint256 deadline, uint256 latest);

    /// @notice Thrown when the consent with this EIP-712 digest was used before, whatever became of the wallet since.
    /// @param digest The EIP-712 digest that the wallet signs.
    error WalletConsentUsed(bytes32 digest);

    /// @notice Thrown when the signature is not `newWallet`'s over `digest`, the EIP-712 digest that it should have
    /// signed.
    /// @param newWallet The wallet that should have signed.
    /// @param digest The EIP-712 digest that the wallet signs.
    error WalletConsentMissing(address newWallet, bytes32 digest);

    /// @notice Thrown when a URI of 160 bytes or more could not be stored as code, because the gas limit is too low
    /// for it. Raised by SSTORE2, in whose words it is.
    error DeploymentFailed();

    /// @notice Registers an agent without a URI.
    /// @dev The caller becomes owner and wallet. Emits Transfer, MetadataUpdate (not in this overload), Registered,
    /// MetadataSet for the wallet and MetadataSet for each entry; then asks a calling contract for acceptance.
    /// @return agentId The next id; the first is 1.
    function register() external returns (uint256 agentId);

    /// @notice Registers an agent whose registration file is at `agentURI`, which may be empty.
    /// @dev A URI may have any length. From 160 bytes on (and up to 24,575) it is stored as code, for 200 gas a byte;
    /// reverts with `DeploymentFailed` if the gas limit is too low for that.
    /// @param agentURI Where the registration file is; may be empty.
    /// @return agentId As in `register()`.
    function register(string calldata agentURI) external returns (uint256 agentId);

    /// @notice Registers an agent with a URI and metadata; of several entries with one key the last one counts.
    /// @param agentURI Where the registration file is; may be empty.
    /// @param metadata The entries, in the order in which they are stored.
    /// @return agentId As in `register()`.
    function register(string calldata agentURI, MetadataEntry[] calldata metadata) external returns (uint256 agentId);

    /// @notice Stores `metadataValue` under `metadataKey`, in place of what was there. By owner, approved or operator.
    /// @dev Checks in order: ERC721NonexistentToken, NotAuthorized, ReservedKey. Emits MetadataSet.
    /// @param metadataKey The key, any text but "agentWallet".
    /// @param metadataValue The value, any bytes.
    function setMetadata(uint256 agentId, string calldata metadataKey, bytes calldata metadataValue) external;

    /// @notice Points the agent to the registration file at `newURI`, which may be empty. By owner, approved or
    /// operator.
    /// @dev Checks in order: ERC721NonexistentToken, NotAuthorized. Emits MetadataUpdate, then URIUpdated.
    /// @param newURI Where the registration file is from now on; may be empty.
    function setAgentURI(uint256 agentId, string calldata newURI) external;

    /// @notice Makes `newWallet`, which consents by `signature`, the address that the agent is paid at (R3). By owner,
    /// approved or operator.
    /// @dev The wallet signs the EIP-712 struct
    /// `AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)` in the domain that
    /// `eip712Domain()` returns, `owner` being the agent's owner now; by ECDSA (65 bytes `r‖s‖v`, low s, v 27 or 28),
    /// or by ERC-1271 if it has code. Each digest works once. Checks in order: ERC721NonexistentToken,
    /// NotAuthorized, WalletZero, DeadlinePassed, DeadlineTooFar, WalletConsentUsed, WalletConsentMissing. Emits
    /// MetadataSet.
    /// @param newWallet The address that the agent is paid at from now on.
    /// @param deadline Seconds; from the block's time to 300 seconds after it, both included.
    /// @param signature The wallet's signature of the EIP-712 digest.
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature) external;

    /// @notice Takes the agent's wallet away, if there is one. By owner, approved or operator.
    /// @dev Checks in order: ERC721NonexistentToken, NotAuthorized. Emits MetadataSet with an empty value.
    function unsetAgentWallet(uint256 agentId) external;

    /// @notice The value under `metadataKey`: empty if none was set, also for an unknown agent.
    /// @param metadataKey The key.
    /// @return The value; empty if there is none.
    function getMetadata(uint256 agentId, string calldata metadataKey) external view returns (bytes memory);

    /// @notice The address that the agent is paid at: its registrant at first, then the last wallet set; none once it
    /// was unset or the agent transferred to another owner, and none for an unknown agent.
    /// @return The wallet; zero if there is none.
    function getAgentWallet(uint256 agentId) external view returns (address);

    /// @notice Whether `spender` is the agent's owner, its approved address or an operator of its owner.
    /// Reverts with `ERC721NonexistentToken` for an unknown agent.
    /// @param spender The account that is asked about.
    /// @return Whether it may manage the agent.
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool);

    /// @notice The version of this implementation.
    /// @return The version, as semantic versioning writes it.
    function getVersion() external pure returns (string memory);
}
