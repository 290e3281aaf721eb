// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IValidationRegistry as IValidation} from "../../src/interfaces/IValidationRegistry.sol";
import {ValidationTest} from "../actors/ValidationTest.sol";

/// @dev §3a: a call that breaks several rules is answered with the first of them. Each bit of a mask breaks one rule,
/// in the order of the table; the lowest bit names the error. Every mask is tried.
contract ValidationCheckOrderTest is ValidationTest {
    uint256 private constant VALIDATOR_BIT = 1 << 0;
    uint256 private constant EXISTS_BIT = 1 << 1;
    uint256 private constant AGENT_BIT = 1 << 2;
    uint256 private constant CALLER_BIT = 1 << 3;

    uint256 private constant UNKNOWN_BIT = 1 << 0;
    uint256 private constant NOT_VALIDATOR_BIT = 1 << 1;
    uint256 private constant SCORE_BIT = 1 << 2;

    function testFuzz_WhenRequestBreaksSeveralRules_FirstAnswers(uint256 unknownAgent, address caller) external {
        unknownAgent = bound(unknownAgent, agentId + 1, type(uint256).max);
        vm.assume(caller != owner.addr);
        _request(REQUEST);
        for (uint256 mask = 0; mask < 16; ++mask) {
            bytes32 requestHash = mask & EXISTS_BIT != 0 ? REQUEST : UNKNOWN_REQUEST;
            uint256 agent = mask & AGENT_BIT != 0 ? unknownAgent : agentId;
            address from = mask & CALLER_BIT != 0 ? caller : owner.addr;
            uint256 snapshot = vm.snapshotState();
            bytes memory expected = _expectedOfRequest(mask, unknownAgent, caller);
            if (mask != 0) vm.expectRevert(expected);
            vm.prank(from);
            validation.validationRequest(
                mask & VALIDATOR_BIT != 0 ? address(0) : validator, agent, REQUEST_URI, requestHash
            );
            assertEq(validation.getAgentValidations(agentId).length, mask == 0 ? 2 : 1);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    function testFuzz_WhenResponseBreaksSeveralRules_FirstAnswers(uint8 score, address caller) external {
        score = uint8(bound(score, 101, type(uint8).max));
        vm.assume(caller != validator);
        _request(REQUEST);
        for (uint256 mask = 0; mask < 8; ++mask) {
            bytes memory expected = _expectedOfResponse(mask, score, caller);
            if (mask != 0) vm.expectRevert(expected);
            _respondAs(
                mask & NOT_VALIDATOR_BIT != 0 ? caller : validator,
                mask & UNKNOWN_BIT != 0 ? UNKNOWN_REQUEST : REQUEST,
                mask & SCORE_BIT != 0 ? score : 100,
                ""
            );
        }
        assertEq(validation.getValidationCount(agentId), 1);
    }

    function _expectedOfRequest(uint256 mask, uint256 unknownAgent, address caller)
        private
        view
        returns (bytes memory)
    {
        if (mask & VALIDATOR_BIT != 0) {
            return abi.encodeWithSelector(IValidation.ValidatorZero.selector);
        }
        if (mask & EXISTS_BIT != 0) return abi.encodeWithSelector(IValidation.RequestExists.selector, REQUEST);
        if (mask & AGENT_BIT != 0) {
            return abi.encodeWithSelector(IBoundRegistry.ERC721NonexistentToken.selector, unknownAgent);
        }
        return abi.encodeWithSelector(IValidation.NotAuthorized.selector, caller, agentId);
    }

    function _expectedOfResponse(uint256 mask, uint8 score, address caller) private view returns (bytes memory) {
        if (mask & UNKNOWN_BIT != 0) {
            return abi.encodeWithSelector(IValidation.RequestNotFound.selector, UNKNOWN_REQUEST);
        }
        if (mask & NOT_VALIDATOR_BIT != 0) {
            return abi.encodeWithSelector(IValidation.NotValidator.selector, caller, validator);
        }
        return abi.encodeWithSelector(IValidation.ScoreOutOfRange.selector, score);
    }
}
