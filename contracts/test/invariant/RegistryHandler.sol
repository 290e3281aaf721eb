// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";
import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";

/// @dev What an authorization holds, in the order in which it is checked (§3a).
enum AuthPart {
    Expiry,
    IndexLimit,
    AgentId,
    Client,
    ChainId,
    Registry,
    Signer,
    Signature
}

/// @dev Drives both registries with calls that must succeed and calls that must not, and keeps the plainest record of
/// what should have come of them.
contract RegistryHandler is Test {
    struct Given {
        uint256 agentId;
        address client;
        uint64 index;
        uint8 score;
        bytes32 tag1;
        uint256 time;
        bool isRevoked;
        uint64 responses;
    }

    bytes32 private constant TAG1 = "a";
    bytes32 private constant OTHER_TAG1 = "c";
    uint256 private constant OWNERS = 3;
    uint256 private constant CLIENTS = 3;
    uint256 private constant AGENTS_MAX = 4;
    uint256 private constant WAIT_MAX = 1 days;

    IIdentityRegistry public immutable IDENTITY;
    IReputation public immutable REPUTATION;

    Vm.Wallet[] private owners;
    address[] private clients;

    Given[] private given;
    mapping(uint256 agentId => uint256 ownerNumber) private ownerOf;
    mapping(uint256 agentId => address) public expectedWallet;
    mapping(uint256 agentId => mapping(address client => uint64)) public expectedLastIndex;
    mapping(address responder => uint64) public expectedResponses;
    uint256 public agentCount;
    mapping(string operation => uint256) public calls;
    mapping(AuthPart changed => uint256) public refusals;

    constructor(IIdentityRegistry identity, IReputation reputation) {
        IDENTITY = identity;
        REPUTATION = reputation;
        for (uint256 i = 0; i < OWNERS; ++i) {
            owners.push(vm.createWallet(string.concat("owner ", vm.toString(i))));
        }
        for (uint256 i = 0; i < CLIENTS; ++i) {
            clients.push(makeAddr(string.concat("client ", vm.toString(i))));
        }
        register(0);
    }

    function register(uint256 seed) public {
        if (agentCount == AGENTS_MAX) return;
        uint256 number = seed % OWNERS;
        vm.prank(owners[number].addr);
        uint256 agentId = IDENTITY.register("ipfs://agent");
        assertEq(agentId, ++agentCount);
        ownerOf[agentId] = number;
        expectedWallet[agentId] = owners[number].addr;
        ++calls["register"];
    }

    function transfer(uint256 agentSeed, uint256 ownerSeed) external {
        uint256 agentId = _agent(agentSeed);
        uint256 to = ownerSeed % OWNERS;
        address from = owners[ownerOf[agentId]].addr;
        vm.prank(from);
        IDENTITY.transferFrom(from, owners[to].addr, agentId);
        if (to != ownerOf[agentId]) expectedWallet[agentId] = address(0);
        ownerOf[agentId] = to;
        ++calls["transfer"];
    }

    function give(uint256 agentSeed, uint256 clientSeed, uint8 score) external {
        uint256 agentId = _agent(agentSeed);
        address client = _client(clientSeed);
        _give(agentId, client, score, _blob(_auth(agentId, client), owners[ownerOf[agentId]]));
        ++calls["give"];
    }

    /// @dev Two authorizations, signed before the clock moves on: one has expired by then, a second or all the time ago,
    /// and the other has a second or more to go.
    function giveLater(uint256 agentSeed, uint256 clientSeed, uint256 wait, uint256 life) external {
        uint256 agentId = _agent(agentSeed);
        address client = _client(clientSeed);
        uint256 start = vm.getBlockTimestamp();
        uint256 time = start + bound(wait, 1, WAIT_MAX);
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.expiry = bound(life, start + 1, time);
        bytes memory refusal = abi.encodeWithSelector(IReputation.AuthExpired.selector, auth.expiry, time);
        bytes memory expired = _blob(auth, owners[ownerOf[agentId]]);
        auth.expiry = bound(life, time + 1, time + WAIT_MAX);
        bytes memory lasting = _blob(auth, owners[ownerOf[agentId]]);

        vm.warp(time);
        _assertRefused(agentId, client, expired, refusal);
        ++calls["give with an expired grant"];
        _give(agentId, client, 50, lasting);
        ++calls["give with an older grant"];
    }

    function revoke(uint256 seed) external {
        if (given.length == 0) return;
        Given storage feedback = given[seed % given.length];
        vm.prank(feedback.client);
        if (feedback.isRevoked) {
            vm.expectRevert(
                abi.encodeWithSelector(
                    IFeedback.AlreadyRevoked.selector, feedback.agentId, feedback.client, feedback.index
                )
            );
            ++calls["revoke again"];
        } else {
            feedback.isRevoked = true;
            ++calls["revoke"];
        }
        REPUTATION.revokeFeedback(feedback.agentId, feedback.index);
    }

    function respond(uint256 seed, uint256 responderSeed) external {
        if (given.length == 0) return;
        Given storage feedback = given[seed % given.length];
        address responder = _client(responderSeed);
        vm.prank(responder);
        REPUTATION.appendResponse(feedback.agentId, feedback.client, feedback.index, "ipfs://response", 0);
        ++feedback.responses;
        ++expectedResponses[responder];
        ++calls["respond"];
    }

    /// @dev Whoever is not the reviewer reaches only entries of their own.
    function revokeAsAnother(uint256 seed, uint256 callerSeed) external {
        if (given.length == 0) return;
        Given storage feedback = given[seed % given.length];
        address caller = owners[callerSeed % OWNERS].addr;
        vm.prank(caller);
        vm.expectRevert(
            abi.encodeWithSelector(IFeedback.FeedbackNotFound.selector, feedback.agentId, caller, feedback.index)
        );
        REPUTATION.revokeFeedback(feedback.agentId, feedback.index);
        ++calls["revoke as another"];
    }

    /// @dev An authorization that is good but for one part, for each part.
    function giveWithoutGrant(uint256 agentSeed, uint256 clientSeed, uint256 changeSeed) external {
        uint256 agentId = _agent(agentSeed);
        address client = _client(clientSeed);
        for (uint256 i = 0; i <= uint256(type(AuthPart).max); ++i) {
            (bytes memory blob, bytes memory refusal) = _changed(AuthPart(i), agentId, client, changeSeed);
            _assertRefused(agentId, client, blob, refusal);
            ++refusals[AuthPart(i)];
        }
    }

    function givenCount() external view returns (uint256) {
        return given.length;
    }

    function givenAt(uint256 i) external view returns (Given memory) {
        return given[i];
    }

    function expectedOwner(uint256 agentId) external view returns (address) {
        return owners[ownerOf[agentId]].addr;
    }

    function clientAt(uint256 i) external view returns (address) {
        return clients[i];
    }

    function clientCount() external view returns (uint256) {
        return clients.length;
    }

    function _agent(uint256 seed) private view returns (uint256) {
        return 1 + seed % agentCount;
    }

    function _client(uint256 seed) private view returns (address) {
        return clients[seed % CLIENTS];
    }

    /// @dev Good for one more feedback, within this second.
    function _auth(uint256 agentId, address client) private view returns (FeedbackAuthWords memory) {
        return FeedbackAuthWords({
            agentId: agentId,
            clientAddress: uint160(client),
            indexLimit: expectedLastIndex[agentId][client] + 1,
            expiry: vm.getBlockTimestamp() + 1,
            chainId: block.chainid,
            identityRegistry: uint160(address(IDENTITY)),
            signerAddress: uint160(owners[ownerOf[agentId]].addr)
        });
    }

    /// @dev The owner has signed what is wrong; but another signs on their own behalf, and a signature is changed afterwards.
    function _changed(AuthPart part, uint256 agentId, address client, uint256 seed)
        private
        returns (bytes memory blob, bytes memory refusal)
    {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        uint256 signer = ownerOf[agentId];
        if (part == AuthPart.Signer) signer = (signer + 1 + seed % (OWNERS - 1)) % OWNERS;
        refusal = _change(part, auth, owners[signer].addr, seed);
        blob = _blob(auth, owners[signer]);
        if (part == AuthPart.Signature) blob[224 + seed % 65] = ~blob[224 + seed % 65];
    }

    /// @dev What is compared has one bit changed; what is a bound is anywhere on its wrong side.
    function _change(AuthPart part, FeedbackAuthWords memory auth, address signer, uint256 seed)
        private
        view
        returns (bytes memory)
    {
        if (part == AuthPart.Expiry) {
            uint256 time = vm.getBlockTimestamp();
            auth.expiry = bound(seed, 0, time);
            return abi.encodeWithSelector(IReputation.AuthExpired.selector, auth.expiry, time);
        }
        if (part == AuthPart.IndexLimit) {
            uint256 last = auth.indexLimit - 1;
            auth.indexLimit = bound(seed, 0, last);
            return abi.encodeWithSelector(IReputation.AuthIndexLimit.selector, last, auth.indexLimit);
        }
        if (part == AuthPart.AgentId) {
            auth.agentId ^= 2 ** (seed % 256);
            return abi.encodeWithSelector(IReputation.AuthWrongAgent.selector, auth.agentId);
        }
        if (part == AuthPart.Client) {
            auth.clientAddress ^= 2 ** (seed % 160);
            return abi.encodeWithSelector(IReputation.AuthWrongClient.selector, auth.clientAddress);
        }
        if (part == AuthPart.ChainId) {
            auth.chainId ^= 2 ** (seed % 256);
            return abi.encodeWithSelector(IReputation.AuthWrongChain.selector, auth.chainId);
        }
        if (part == AuthPart.Registry) {
            auth.identityRegistry ^= 2 ** (seed % 160);
            return abi.encodeWithSelector(IReputation.AuthWrongRegistry.selector, auth.identityRegistry);
        }
        if (part == AuthPart.Signer) {
            address owner = address(uint160(auth.signerAddress));
            auth.signerAddress = uint160(signer);
            return abi.encodeWithSelector(IReputation.AuthWrongSigner.selector, signer, owner);
        }
        return abi.encodeWithSelector(IReputation.AuthBadSignature.selector);
    }

    function _blob(FeedbackAuthWords memory auth, Vm.Wallet memory signer) private returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(signer, auth.eip712Digest(block.chainid, address(REPUTATION)));
        return bytes.concat(auth.fields(), abi.encodePacked(r, s, v));
    }

    function _give(uint256 agentId, address client, uint8 score, bytes memory blob) private {
        score = uint8(bound(score, 0, 100));
        bytes32 tag1 = score % 2 == 0 ? TAG1 : OTHER_TAG1;
        vm.prank(client);
        REPUTATION.giveFeedback(agentId, score, tag1, "b", "", 0, blob);
        uint64 index = ++expectedLastIndex[agentId][client];
        given.push(Given(agentId, client, index, score, tag1, vm.getBlockTimestamp(), false, 0));
    }

    function _assertRefused(uint256 agentId, address client, bytes memory blob, bytes memory refusal) private {
        vm.expectRevert(refusal);
        vm.prank(client);
        REPUTATION.giveFeedback(agentId, 50, "a", "b", "", 0, blob);
    }
}
