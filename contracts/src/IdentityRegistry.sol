// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC165} from "@openzeppelin/contracts/interfaces/IERC165.sol";
import {IERC4906} from "@openzeppelin/contracts/interfaces/IERC4906.sol";
import {IERC721} from "@openzeppelin/contracts/interfaces/IERC721.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {IERC721Metadata} from "@openzeppelin/contracts/token/ERC721/extensions/IERC721Metadata.sol";
import {ERC721Utils} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Utils.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {AgentUri, AgentUris} from "./libraries/AgentUris.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {VERSION} from "./libraries/Version.sol";

/// @title IdentityRegistry
/// @dev Documented in IIdentityRegistry. Other contracts are called in two places: a new wallet by STATICCALL, from which
/// nothing here can be changed, and a token's receiver, last of all.
contract IdentityRegistry is ERC721, EIP712, IERC4906, IIdentityRegistry {
    using AgentUris for AgentUri;
    using Signatures for address;

    /// @dev Until a record is written, an agent's wallet is its owner: registration then costs one slot less, and
    /// every transfer to another owner writes one.
    struct WalletRecord {
        address wallet;
        bool isWritten;
    }

    /// @dev ERC-4906's own number: the interface has events only, of which Solidity makes no id.
    bytes4 private constant ERC4906_INTERFACE_ID = 0x49064906;

    /// @dev R2, R3: the reserved key. Reads of it answer with the wallet; writes are refused.
    string private constant WALLET_KEY = "agentWallet";
    bytes32 private constant WALLET_KEY_HASH = keccak256("agentWallet");

    /// @dev R3: what a new wallet signs, in the domain "ERC8004IdentityRegistry", version "1".
    bytes32 private constant WALLET_CONSENT_TYPEHASH =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");
    uint256 private constant WALLET_DEADLINE_MAX = 300; // seconds from now

    /// @dev R1: ids are given out in order and never reused.
    uint256 private _lastAgentId;
    /// @dev Slots or code, whichever is cheaper (AgentUris).
    mapping(uint256 agentId => AgentUri) private _uris;
    mapping(uint256 agentId => mapping(string metadataKey => bytes)) private _metadata;
    /// @dev Written by the first transfer or setting, not by the registration.
    mapping(uint256 agentId => WalletRecord) private _wallets;
    /// @dev R3: digests of consents that were used, for ever.
    mapping(bytes32 digest => bool) private _isConsentUsed;

    constructor() ERC721("AgentIdentity", "AGENT") EIP712("ERC8004IdentityRegistry", "1") {}

    /// @inheritdoc IIdentityRegistry
    function register() external returns (uint256 agentId) {
        agentId = _mintNext();
        emit Registered(agentId, "", msg.sender);
        _announceFirstWallet(agentId);
        _askReceiver(agentId);
    }

    /// @inheritdoc IIdentityRegistry
    function register(string memory agentURI) external returns (uint256 agentId) {
        agentId = _mintNext();
        _setUri(agentId, agentURI);
        emit Registered(agentId, agentURI, msg.sender);
        _announceFirstWallet(agentId);
        _askReceiver(agentId);
    }

    /// @inheritdoc IIdentityRegistry
    function register(string memory agentURI, MetadataEntry[] calldata metadata) external returns (uint256 agentId) {
        agentId = _mintNext();
        _setUri(agentId, agentURI);
        emit Registered(agentId, agentURI, msg.sender);
        _announceFirstWallet(agentId);
        for (uint256 i = 0; i < metadata.length; ++i) {
            _setMetadata(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
        }
        _askReceiver(agentId);
    }

    /// @inheritdoc IIdentityRegistry
    function setMetadata(uint256 agentId, string calldata metadataKey, bytes calldata metadataValue) external {
        _requireMayManage(agentId);
        _setMetadata(agentId, metadataKey, metadataValue);
    }

    /// @inheritdoc IIdentityRegistry
    function setAgentURI(uint256 agentId, string calldata newURI) external {
        _requireMayManage(agentId);
        _setUri(agentId, newURI);
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    /// @inheritdoc IIdentityRegistry
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature) external {
        address owner = _requireMayManage(agentId);
        if (newWallet == address(0)) revert WalletZero();
        // R3. A proposer can move its block's time by seconds; a deadline is not meant to be finer.
        // forge-lint: disable-next-line(block-timestamp)
        if (deadline < block.timestamp) revert DeadlinePassed(deadline, block.timestamp);
        uint256 latest = block.timestamp + WALLET_DEADLINE_MAX;
        // forge-lint: disable-next-line(block-timestamp)
        if (deadline > latest) revert DeadlineTooFar(deadline, latest);

        _useConsent(_consentDigest(agentId, newWallet, owner, deadline), newWallet, signature);
        _setWallet(agentId, newWallet);
    }

    /// @inheritdoc IIdentityRegistry
    function unsetAgentWallet(uint256 agentId) external {
        _requireMayManage(agentId);
        _setWallet(agentId, address(0));
    }

    /// @dev R3: a new owner starts without a wallet; a transfer to oneself clears none (§3a). Every way to move a token
    /// comes through here (`safeTransferFrom` too), and a registration does not.
    function transferFrom(address from, address to, uint256 tokenId) public override(ERC721, IERC721) {
        if (from != to) _setWallet(tokenId, address(0));
        super.transferFrom(from, to, tokenId);
    }

    /// @dev The agent's URI, of any length (R17). Reverts for an unknown agent.
    function tokenURI(uint256 tokenId) public view override(ERC721, IERC721Metadata) returns (string memory) {
        _requireOwned(tokenId);
        return _uris[tokenId].read();
    }

    /// @dev ERC-165, ERC-721, its metadata extension, and ERC-4906 by its own number.
    function supportsInterface(bytes4 interfaceId) public view override(ERC721, IERC165) returns (bool) {
        return interfaceId == ERC4906_INTERFACE_ID || super.supportsInterface(interfaceId);
    }

    /// @inheritdoc IIdentityRegistry
    function getMetadata(uint256 agentId, string calldata metadataKey) external view returns (bytes memory) {
        if (!_isWalletKey(metadataKey)) return _metadata[agentId][metadataKey];
        return _walletBytes(getAgentWallet(agentId));
    }

    /// @inheritdoc IIdentityRegistry
    function getAgentWallet(uint256 agentId) public view returns (address) {
        WalletRecord memory written = _wallets[agentId];
        return written.isWritten ? written.wallet : _ownerOf(agentId);
    }

    /// @inheritdoc IIdentityRegistry
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool) {
        return _isAuthorized(_requireOwned(agentId), spender, agentId);
    }

    /// @inheritdoc IIdentityRegistry
    function getVersion() external pure returns (string memory) {
        return VERSION;
    }

    /// @dev R1: ids count from 1, so that 0 can mean "none".
    function _mintNext() private returns (uint256 agentId) {
        agentId = ++_lastAgentId;
        // Not _safeMint: the receiver is asked at the end (R3).
        _mint(msg.sender, agentId);
    }

    /// @dev R3: the registrant, without a record (see WalletRecord).
    function _announceFirstWallet(uint256 agentId) private {
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, abi.encodePacked(msg.sender));
    }

    /// @dev R3: the receiver may transfer the token on within this call. Everything is stored and reported by then, so
    /// that the events, read in order, end where storage ends.
    function _askReceiver(uint256 agentId) private {
        if (msg.sender.code.length == 0) return; // cheaper than to have the question made first
        ERC721Utils.checkOnERC721Received(msg.sender, address(0), msg.sender, agentId, "");
    }

    /// @dev `MetadataUpdate` is ERC-4906's: marketplaces read the URI again.
    function _setUri(uint256 agentId, string memory uri) private {
        _uris[agentId].write(uri);
        emit MetadataUpdate(agentId);
    }

    /// @dev The key is in the event twice: hashed as a topic, and readable.
    function _setMetadata(uint256 agentId, string calldata metadataKey, bytes calldata metadataValue) private {
        if (_isWalletKey(metadataKey)) revert ReservedKey(); // R2, R3
        _metadata[agentId][metadataKey] = metadataValue;
        emit MetadataSet(agentId, metadataKey, metadataKey, metadataValue);
    }

    /// @dev Byte for byte: "AgentWallet" is a key like any other.
    function _isWalletKey(string calldata metadataKey) private pure returns (bool) {
        return keccak256(bytes(metadataKey)) == WALLET_KEY_HASH;
    }

    /// @dev §3a: an unknown agent is reported before a caller without rights.
    function _requireMayManage(uint256 agentId) private view returns (address owner) {
        owner = _requireOwned(agentId);
        if (!_isAuthorized(owner, msg.sender, agentId)) revert NotAuthorized(msg.sender, agentId);
    }

    /// @dev R3: binds the owner, so that a consent given to one owner is nothing to the next.
    function _consentDigest(uint256 agentId, address newWallet, address owner, uint256 deadline)
        private
        view
        returns (bytes32)
    {
        return _hashTypedDataV4(keccak256(abi.encode(WALLET_CONSENT_TYPEHASH, agentId, newWallet, owner, deadline)));
    }

    /// @dev R3: a consent works once, for ever: neither unsetting the wallet nor a transfer brings it back. Written
    /// before the wallet is asked.
    function _useConsent(bytes32 digest, address newWallet, bytes calldata signature) private {
        if (_isConsentUsed[digest]) revert WalletConsentUsed(digest);
        _isConsentUsed[digest] = true;
        if (!newWallet.isSigned(digest, signature)) revert WalletConsentMissing(newWallet, digest);
    }

    /// @dev The zero address means none.
    function _setWallet(uint256 agentId, address wallet) private {
        _wallets[agentId] = WalletRecord({wallet: wallet, isWritten: true});
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, _walletBytes(wallet));
    }

    /// @dev As the canonical contract writes a wallet: 20 bytes, or none.
    function _walletBytes(address wallet) private pure returns (bytes memory) {
        return wallet == address(0) ? bytes("") : abi.encodePacked(wallet);
    }
}
