// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";
import {Vm} from "forge-std/Vm.sol";

import {IAuthorizedReputationRegistry} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {FeedbackAuthWords} from "./FeedbackAuthWords.sol";
import {Registries} from "../Registries.sol";

/// @dev The deployed registries, one agent, and the people around it.
abstract contract RegistryTest is Test {
    uint64 internal constant NOW = 1_800_000_000;
    uint256 internal constant CHAIN_ID = 84_532;
    uint64 internal constant INDEX_LIMIT = 3;
    uint8 internal constant SCORE = 87;
    bytes32 internal constant TAG1 = "quality";
    bytes32 internal constant TAG2 = "speed";
    string internal constant AGENT_URI = "ipfs://agent";
    string internal constant FILE_URI = "ipfs://feedback";
    bytes32 internal constant FILE_HASH = keccak256("feedback file");

    IIdentityRegistry internal identity;
    IAuthorizedReputationRegistry internal reputation;

    Vm.Wallet internal owner;
    Vm.Wallet internal newOwner;
    address internal client = makeAddr("client");
    address internal stranger = makeAddr("stranger");
    uint256 internal agentId;
    uint256 internal otherAgentId;

    function setUp() public virtual {
        vm.chainId(CHAIN_ID);
        vm.warp(NOW);
        owner = vm.createWallet("owner");
        newOwner = vm.createWallet("newOwner");
        identity = Registries.newIdentityRegistry();
        reputation = Registries.newAuthorizedReputationRegistry(address(identity), false);
        // The agent under test is not the first, so that its id is not also the first index.
        otherAgentId = _register(stranger);
        agentId = _register(owner.addr);
    }

    /// @dev Exchanges the registry for one that takes the first draft's signatures, too (R6).
    function _acceptDraftV1() internal {
        reputation = Registries.newAuthorizedReputationRegistry(address(identity), true);
    }

    function _register(address registrant) internal returns (uint256) {
        vm.prank(registrant);
        return identity.register(AGENT_URI);
    }

    /// @dev What the owner signs: everything right, one hour to go.
    function _auth(uint256 agent, address to) internal view returns (FeedbackAuthWords memory) {
        return FeedbackAuthWords({
            agentId: agent,
            clientAddress: uint160(to),
            indexLimit: INDEX_LIMIT,
            expiry: block.timestamp + 1 hours,
            chainId: block.chainid,
            identityRegistry: uint160(address(identity)),
            signerAddress: uint160(identity.ownerOf(agent))
        });
    }

    function _digest(FeedbackAuthWords memory auth) internal view returns (bytes32) {
        return auth.eip712Digest(block.chainid, address(reputation));
    }

    function _signature(Vm.Wallet memory signer, bytes32 digest) internal returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(signer, digest);
        return abi.encodePacked(r, s, v);
    }

    function _blob(FeedbackAuthWords memory auth, Vm.Wallet memory signer) internal returns (bytes memory) {
        return bytes.concat(auth.fields(), _signature(signer, _digest(auth)));
    }

    /// @dev Delegates a key's account to `implementation` by an EIP-7702 authorization, under the rules of Prague.
    function _delegate(Vm.Wallet memory account, address implementation) internal {
        vm.signAndAttachDelegation(implementation, account.privateKey);
        assertEq(account.addr.code, abi.encodePacked(hex"ef0100", implementation));
    }

    /// @dev The owner's own authorization for `to`.
    function _granted(uint256 agent, address to) internal returns (bytes memory) {
        return _blob(_auth(agent, to), owner);
    }

    function _give(address from, uint256 agent, uint8 score, bytes memory feedbackAuth) internal {
        vm.prank(from);
        reputation.giveFeedback(agent, score, TAG1, TAG2, FILE_URI, FILE_HASH, feedbackAuth);
    }

    /// @dev By the client, on the agent.
    function _give(bytes memory feedbackAuth) internal {
        _give(client, agentId, SCORE, feedbackAuth);
    }
}
