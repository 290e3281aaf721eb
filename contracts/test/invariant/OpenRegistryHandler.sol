// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {IReputationRegistry as IReputation} from "../../src/interfaces/IReputationRegistry.sol";
import {SummaryReference} from "../actors/SummaryReference.sol";

/// @dev Drives the open registry with calls that must succeed and calls that must not, and keeps the plainest record of
/// what should have come of them.
contract OpenRegistryHandler is Test {
    struct Given {
        uint256 agentId;
        address client;
        uint64 index;
        int128 value;
        uint8 decimals;
        string tag1;
        string tag2;
        bool isRevoked;
        uint64 responses;
    }

    uint256 public constant AGENTS = 2;
    uint256 private constant CLIENTS = 3;
    int128 private constant BOUND = 100000000000000000000000000000000000000;

    IIdentityRegistry private immutable IDENTITY;
    IReputation private immutable REPUTATION;

    address private immutable OWNER = makeAddr("owner");
    address[] private clients;
    string[] private tags = ["", "a", "quality", "exactly sixteen ", "more than thirty-two bytes in one tag"];

    Given[] private given;
    mapping(uint256 agentId => mapping(address client => uint64)) public expectedLastIndex;
    mapping(address responder => uint64) public expectedResponses;
    mapping(string operation => uint256) public calls;

    constructor(IIdentityRegistry identity, IReputation reputation) {
        IDENTITY = identity;
        REPUTATION = reputation;
        for (uint256 i = 0; i < AGENTS; ++i) {
            vm.prank(OWNER);
            identity.register();
        }
        for (uint256 i = 0; i < CLIENTS; ++i) {
            clients.push(makeAddr(string.concat("client ", vm.toString(i))));
        }
    }

    function give(uint256 seed, int128 value, uint8 decimals) external {
        uint256 agentId = 1 + seed % AGENTS;
        address client = clients[(seed >> 8) % CLIENTS];
        value = int128(bound(value, -BOUND, BOUND));
        decimals = uint8(bound(decimals, 0, 18));
        string memory tag1 = tags[(seed >> 16) % tags.length];
        string memory tag2 = tags[(seed >> 24) % tags.length];
        vm.prank(client);
        REPUTATION.giveFeedback(agentId, value, decimals, tag1, tag2, "", "", 0);
        uint64 index = ++expectedLastIndex[agentId][client];
        given.push(Given(agentId, client, index, value, decimals, tag1, tag2, false, 0));
        ++calls["give"];
    }

    function giveOutOfRange(uint256 seed, int128 value, uint8 decimals) external {
        bool isValue = seed % 2 == 0;
        value = isValue ? BOUND + 1 : int128(bound(value, -BOUND, BOUND));
        decimals = uint8(isValue ? bound(decimals, 0, 18) : bound(decimals, 19, 255));
        vm.expectRevert(
            isValue
                ? abi.encodeWithSelector(IReputation.ValueOutOfRange.selector, value)
                : abi.encodeWithSelector(IReputation.DecimalsOutOfRange.selector, decimals)
        );
        vm.prank(clients[seed % CLIENTS]);
        REPUTATION.giveFeedback(1 + seed % AGENTS, value, decimals, "", "", "", "", 0);
        ++calls["give out of range"];
    }

    function giveToOneself(uint256 seed) external {
        uint256 agentId = 1 + seed % AGENTS;
        vm.expectRevert(abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, OWNER));
        vm.prank(OWNER);
        REPUTATION.giveFeedback(agentId, 1, 0, "", "", "", "", 0);
        ++calls["give to oneself"];
    }

    function revoke(uint256 seed) external {
        if (given.length == 0) return;
        Given storage feedback = given[seed % given.length];
        if (feedback.isRevoked) {
            vm.expectRevert(
                abi.encodeWithSelector(
                    IFeedback.AlreadyRevoked.selector, feedback.agentId, feedback.client, feedback.index
                )
            );
        }
        feedback.isRevoked = true;
        vm.prank(feedback.client);
        REPUTATION.revokeFeedback(feedback.agentId, feedback.index);
        ++calls["revoke"];
    }

    function revokeAsOwner(uint256 seed) external {
        if (given.length == 0) return;
        Given storage feedback = given[seed % given.length];
        vm.expectRevert(
            abi.encodeWithSelector(IFeedback.FeedbackNotFound.selector, feedback.agentId, OWNER, feedback.index)
        );
        vm.prank(OWNER);
        REPUTATION.revokeFeedback(feedback.agentId, feedback.index);
        ++calls["revoke as owner"];
    }

    function respond(uint256 seed, uint256 responderSeed) external {
        if (given.length == 0) return;
        Given storage feedback = given[seed % given.length];
        address responder = clients[responderSeed % CLIENTS];
        vm.prank(responder);
        REPUTATION.appendResponse(feedback.agentId, feedback.client, feedback.index, "ipfs://response", 0);
        ++feedback.responses;
        ++expectedResponses[responder];
        ++calls["respond"];
    }

    function givenCount() external view returns (uint256) {
        return given.length;
    }

    function givenAt(uint256 i) external view returns (Given memory) {
        return given[i];
    }

    function allClients() external view returns (address[] memory) {
        return clients;
    }

    /// @dev What the record says that is not revoked and, where a tag is given, has it first.
    function kept(uint256 agentId, string calldata tag1)
        external
        view
        returns (SummaryReference.Value[] memory values)
    {
        values = new SummaryReference.Value[](given.length);
        uint256 count = 0;
        for (uint256 i = 0; i < given.length; ++i) {
            if (given[i].agentId != agentId || given[i].isRevoked) continue;
            if (bytes(tag1).length != 0 && keccak256(bytes(tag1)) != keccak256(bytes(given[i].tag1))) continue;
            values[count++] = SummaryReference.Value(given[i].value, given[i].decimals);
        }
        assembly ("memory-safe") {
            mstore(values, count)
        }
    }
}
