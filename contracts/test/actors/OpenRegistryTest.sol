// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {IReputationRegistry} from "../../src/interfaces/IReputationRegistry.sol";
import {Registries} from "../Registries.sol";

/// @dev The open registry, one agent, and the people around it.
abstract contract OpenRegistryTest is Test {
    uint256 internal constant UNKNOWN_AGENT = 99;
    int128 internal constant VALUE = 9977;
    uint8 internal constant DECIMALS = 2;
    string internal constant TAG1 = "quality";
    string internal constant TAG2 = "speed";
    string internal constant ENDPOINT = "https://agent.example/mcp";
    string internal constant FILE_URI = "ipfs://feedback";
    bytes32 internal constant FILE_HASH = keccak256("feedback file");

    IIdentityRegistry internal identity;
    IReputationRegistry internal reputation;

    address internal owner = makeAddr("owner");
    address internal client = makeAddr("client");
    address internal otherClient = makeAddr("otherClient");
    address internal stranger = makeAddr("stranger");
    uint256 internal agentId;
    uint256 internal otherAgentId;

    function setUp() public virtual {
        identity = Registries.newIdentityRegistry();
        reputation = Registries.newReputationRegistry(address(identity));
        // The agent under test is not the first, so that its id is not also the first index.
        otherAgentId = _register(stranger);
        agentId = _register(owner);
    }

    function _register(address registrant) internal returns (uint256) {
        vm.prank(registrant);
        return identity.register("ipfs://agent");
    }

    function _give(address from, uint256 agent, int128 value, uint8 decimals, string memory tag1, string memory tag2)
        internal
    {
        vm.prank(from);
        reputation.giveFeedback(agent, value, decimals, tag1, tag2, ENDPOINT, FILE_URI, FILE_HASH);
    }

    function _give(address from, int128 value, uint8 decimals) internal {
        _give(from, agentId, value, decimals, TAG1, TAG2);
    }

    function _revoke(address from, uint64 index) internal {
        vm.prank(from);
        reputation.revokeFeedback(agentId, index);
    }
}
