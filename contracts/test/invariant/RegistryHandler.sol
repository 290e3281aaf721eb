// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";
import {Vm} from "forge-std/Vm.sol";

import {AuthorizedReputationRegistry} from "../../src/AuthorizedReputationRegistry.sol";
import {IdentityRegistry} from "../../src/IdentityRegistry.sol";
import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";

/// @dev Drives both registries with calls that must succeed and calls that must not, and keeps the plainest record of
/// what should have come of them.
contract RegistryHandler is Test {
    struct Given {
        uint256 agentId;
        address client;
        uint64 index;
        uint8 score;
        bytes32 tag1;
        bool isRevoked;
        uint64 responses;
    }

    bytes32 private constant TAG1 = "a";
    bytes32 private constant OTHER_TAG1 = "c";
    uint256 private constant OWNERS = 3;
    uint256 private constant CLIENTS = 3;
    uint256 private constant AGENTS_MAX = 4;

    IdentityRegistry public immutable IDENTITY;
    AuthorizedReputationRegistry public immutable REPUTATION;

    Vm.Wallet[] private owners;
    address[] private clients;

    Given[] private given;
    mapping(uint256 agentId => uint256 ownerNumber) private ownerOf;
    mapping(uint256 agentId => address) public expectedWallet;
    mapping(uint256 agentId => mapping(address client => uint64)) public expectedLastIndex;
    mapping(address responder => uint64) public expectedResponses;
    uint256 public agentCount;
    mapping(string operation => uint256) public calls;

    constructor(IdentityRegistry identity, AuthorizedReputationRegistry reputation) {
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
        score = uint8(bound(score, 0, 100));
        uint64 index = ++expectedLastIndex[agentId][client];
        bytes memory blob = _blob(agentId, client, index, owners[ownerOf[agentId]]);
        vm.prank(client);
        bytes32 tag1 = score % 2 == 0 ? TAG1 : OTHER_TAG1;
        REPUTATION.giveFeedback(agentId, score, tag1, "b", "", 0, blob);
        given.push(Given(agentId, client, index, score, tag1, false, 0));
        ++calls["give"];
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

    /// @dev An authorization that is used up, or signed by somebody who is not the owner now.
    function giveWithoutGrant(uint256 agentSeed, uint256 clientSeed, bool isUsedUp) external {
        uint256 agentId = _agent(agentSeed);
        address client = _client(clientSeed);
        uint64 last = expectedLastIndex[agentId][client];
        uint256 signer = isUsedUp ? ownerOf[agentId] : (ownerOf[agentId] + 1) % OWNERS;
        bytes memory blob = _blob(agentId, client, isUsedUp ? last : last + 1, owners[signer]);
        vm.expectRevert(
            isUsedUp
                ? abi.encodeWithSelector(IReputation.AuthIndexLimit.selector, last, last)
                : abi.encodeWithSelector(
                    IReputation.AuthWrongSigner.selector, owners[signer].addr, owners[ownerOf[agentId]].addr
                )
        );
        vm.prank(client);
        REPUTATION.giveFeedback(agentId, 50, "a", "b", "", 0, blob);
        ++calls["give without grant"];
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

    function _blob(uint256 agentId, address client, uint64 limit, Vm.Wallet memory signer)
        private
        returns (bytes memory)
    {
        FeedbackAuthWords memory auth = FeedbackAuthWords({
            agentId: agentId,
            clientAddress: uint160(client),
            indexLimit: limit,
            expiry: block.timestamp + 1,
            chainId: block.chainid,
            identityRegistry: uint160(address(IDENTITY)),
            signerAddress: uint160(signer.addr)
        });
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(signer, auth.eip712Digest(block.chainid, address(REPUTATION)));
        return bytes.concat(auth.fields(), abi.encodePacked(r, s, v));
    }
}
