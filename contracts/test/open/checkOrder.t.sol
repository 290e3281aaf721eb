// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {IReputationRegistry as IReputation} from "../../src/interfaces/IReputationRegistry.sol";
import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";

/// @dev §3a: a call that breaks several rules is answered with the first of them. Each bit of a mask breaks one rule,
/// in the order of the table; the lowest bit names the error. Every mask is tried.
contract OpenCheckOrderTest is OpenRegistryTest {
    uint256 private constant DECIMALS_BIT = 1 << 0;
    uint256 private constant VALUE_BIT = 1 << 1;
    uint256 private constant AGENT_BIT = 1 << 2;
    uint256 private constant SELF_BIT = 1 << 3;
    int128 private constant BOUND = 100000000000000000000000000000000000000;

    function testFuzz_WhenGivingBreaksSeveralRules_FirstAnswers(uint8 decimals, int128 value) external {
        decimals = uint8(bound(decimals, 19, type(uint8).max));
        value = value > 0 ? int128(bound(value, BOUND + 1, type(int128).max)) : -1 - BOUND;
        for (uint256 mask = 0; mask < 16; ++mask) {
            uint256 agent = mask & AGENT_BIT != 0 ? UNKNOWN_AGENT : agentId;
            address caller = mask & SELF_BIT != 0 ? owner : client;
            bytes memory expected = _expected(mask, decimals, value);
            if (mask != 0) vm.expectRevert(expected);
            _give(
                caller,
                agent,
                mask & VALUE_BIT != 0 ? value : BOUND,
                mask & DECIMALS_BIT != 0 ? decimals : 18,
                TAG1,
                TAG2
            );
            assertEq(reputation.getLastIndex(agent, caller), agent == agentId && caller == client ? 1 : 0);
        }
    }

    function _expected(uint256 mask, uint8 decimals, int128 value) private view returns (bytes memory) {
        if (mask & DECIMALS_BIT != 0) return abi.encodeWithSelector(IReputation.DecimalsOutOfRange.selector, decimals);
        if (mask & VALUE_BIT != 0) return abi.encodeWithSelector(IReputation.ValueOutOfRange.selector, value);
        if (mask & AGENT_BIT != 0) {
            return abi.encodeWithSelector(IBoundRegistry.ERC721NonexistentToken.selector, UNKNOWN_AGENT);
        }
        return abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, owner);
    }
}
