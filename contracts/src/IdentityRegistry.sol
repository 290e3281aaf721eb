// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";
import {ERC721Utils} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Utils.sol";

import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";

/// @title IdentityRegistry
/// @dev Documented in IIdentityRegistry.
contract IdentityRegistry is ERC721URIStorage, IIdentityRegistry {
    /// @dev Until a record is written, an agent's wallet is its owner: registration then costs one slot less, and
    /// every transfer to another owner writes one.
    struct WalletRecord {
        address wallet;
        bool isWritten;
    }

    string private constant WALLET_KEY = "agentWallet";
    bytes32 private constant WALLET_KEY_HASH = keccak256("agentWallet");

    uint256 private _lastAgentId;
    mapping(uint256 agentId => mapping(string metadataKey => bytes)) private _metadata;
    mapping(uint256 agentId => WalletRecord) private _wallets;

    constructor() ERC721("AgentIdentity", "AGENT") {}

    function register() external returns (uint256 agentId) {
        agentId = _mintNext();
        _announce(agentId, "");
        _askReceiver(agentId);
    }

    function register(string memory agentURI) external returns (uint256 agentId) {
        agentId = _mintNext();
        _setTokenURI(agentId, agentURI);
        _announce(agentId, agentURI);
        _askReceiver(agentId);
    }

    function register(string memory agentURI, MetadataEntry[] calldata metadata) external returns (uint256 agentId) {
        agentId = _mintNext();
        _setTokenURI(agentId, agentURI);
        _announce(agentId, agentURI);
        for (uint256 i = 0; i < metadata.length; ++i) {
            _setMetadata(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
        }
        _askReceiver(agentId);
    }

    function getMetadata(uint256 agentId, string calldata metadataKey) external view returns (bytes memory) {
        if (!_isWalletKey(metadataKey)) return _metadata[agentId][metadataKey];
        address wallet = getAgentWallet(agentId);
        return wallet == address(0) ? bytes("") : abi.encodePacked(wallet);
    }

    function getAgentWallet(uint256 agentId) public view returns (address) {
        WalletRecord memory written = _wallets[agentId];
        return written.isWritten ? written.wallet : _ownerOf(agentId);
    }

    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool) {
        return _isAuthorized(_requireOwned(agentId), spender, agentId);
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0-concord.1";
    }

    /// @dev R1: ids count from 1, so that 0 can mean "none".
    function _mintNext() private returns (uint256 agentId) {
        agentId = ++_lastAgentId;
        // Not _safeMint: the receiver is asked at the end (R3).
        _mint(msg.sender, agentId);
    }

    function _announce(uint256 agentId, string memory agentURI) private {
        emit Registered(agentId, agentURI, msg.sender);
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, abi.encodePacked(msg.sender));
    }

    /// @dev R3: the receiver may transfer the token on within this call. Everything is stored and reported by then, so
    /// that the events, read in order, end where storage ends.
    function _askReceiver(uint256 agentId) private {
        ERC721Utils.checkOnERC721Received(msg.sender, address(0), msg.sender, agentId, "");
    }

    function _setMetadata(uint256 agentId, string calldata metadataKey, bytes calldata metadataValue) private {
        if (_isWalletKey(metadataKey)) revert ReservedKey();
        _metadata[agentId][metadataKey] = metadataValue;
        emit MetadataSet(agentId, metadataKey, metadataKey, metadataValue);
    }

    /// @dev Byte for byte: "AgentWallet" is a key like any other.
    function _isWalletKey(string calldata metadataKey) private pure returns (bool) {
        return keccak256(bytes(metadataKey)) == WALLET_KEY_HASH;
    }

    /// @dev R3: a new owner starts without a wallet; a mint or a transfer to oneself clears none (§3a).
    function _update(address to, uint256 agentId, address auth) internal override returns (address) {
        address from = _ownerOf(agentId);
        if (from != address(0) && from != to) {
            _wallets[agentId] = WalletRecord({wallet: address(0), isWritten: true});
            emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, "");
        }
        return super._update(to, agentId, auth);
    }
}
