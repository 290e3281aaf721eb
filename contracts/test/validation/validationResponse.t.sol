// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IValidationRegistry as IValidation} from "../../src/interfaces/IValidationRegistry.sol";
import {ValidationTest} from "../actors/ValidationTest.sol";

contract ValidationResponseTest is ValidationTest {
    function setUp() public override {
        super.setUp();
        _request(REQUEST);
    }

    function test_RevertWhen_RequestIsUnknown_R20() external {
        vm.expectRevert(abi.encodeWithSelector(IValidation.RequestNotFound.selector, UNKNOWN_REQUEST));
        _respond(UNKNOWN_REQUEST, 50, "");
    }

    function test_RevertWhen_CallerIsNotTheValidator_R20() external {
        _requestOf(otherValidator, agentId, UNKNOWN_REQUEST);
        address[3] memory callers = [owner.addr, otherValidator, stranger];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IValidation.NotValidator.selector, callers[i], validator));
            _respondAs(callers[i], REQUEST, 50, "");
        }
        assertFalse(validation.hasResponse(REQUEST));
    }

    function test_RevertWhen_ScoreIsAbove100_R20() external {
        uint8[2] memory scores = [101, 255];
        for (uint256 i = 0; i < scores.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IValidation.ScoreOutOfRange.selector, scores[i]));
            _respond(REQUEST, scores[i], "");
        }
        assertFalse(validation.hasResponse(REQUEST));
    }

    function test_WhenValidatorAnswers_Tells_R2() external {
        vm.recordLogs();
        _respond(REQUEST, 87, "tee");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics[0], IValidation.ValidationResponse.selector);
        assertEq(logs[0].topics[1], bytes32(uint256(uint160(validator))));
        assertEq(logs[0].topics[2], bytes32(agentId));
        assertEq(logs[0].topics[3], REQUEST);
        assertEq(logs[0].data, abi.encode(uint8(87), RESPONSE_URI, RESPONSE_HASH, "tee"));
    }

    function test_WhenValidatorAnswers_Stores_R20() external {
        vm.warp(NOW + 7);
        _respond(REQUEST, 87, "tee");
        _assertStatus(REQUEST, Status(validator, agentId, 87, RESPONSE_HASH, "tee", NOW + 7));
        assertTrue(validation.hasResponse(REQUEST));
        assertEq(validation.getValidationCount(agentId), 1);
        assertEq(validation.getValidationCount(otherAgentId), 0);
    }

    function test_WhenScoreIsZero_IsToldFromPending_R20() external {
        vm.prank(validator);
        validation.validationResponse(REQUEST, 0, "", 0, "");
        _assertStatus(REQUEST, Status(validator, agentId, 0, 0, "", NOW)); // as if pending
        assertTrue(validation.hasResponse(REQUEST));
        assertEq(validation.getValidationCount(agentId), 1);
    }

    function test_WhenScoreIs100_Stores_R20() external {
        _respond(REQUEST, 100, "");
        _assertStatus(REQUEST, Status(validator, agentId, 100, RESPONSE_HASH, "", NOW));
    }

    function test_WhenValidatorAnswersAgain_LastStands_R20() external {
        _respond(REQUEST, 50, "a tag that is longer than thirty-one bytes");
        vm.warp(NOW + 7);
        _respond(REQUEST, 90, "tee");
        _assertStatus(REQUEST, Status(validator, agentId, 90, RESPONSE_HASH, "tee", NOW + 7));
        vm.warp(NOW + 8);
        vm.prank(validator);
        validation.validationResponse(REQUEST, 0, "", 0, "");
        _assertStatus(REQUEST, Status(validator, agentId, 0, 0, "", NOW + 8));
        assertTrue(validation.hasResponse(REQUEST));
    }

    function test_WhenValidatorAnswersAgain_CountsOnce_R20() external {
        _request(UNKNOWN_REQUEST);
        _respond(REQUEST, 0, "");
        _respond(REQUEST, 0, "");
        _respond(REQUEST, 90, "");
        assertEq(validation.getValidationCount(agentId), 1);
        _respond(UNKNOWN_REQUEST, 90, "");
        assertEq(validation.getValidationCount(agentId), 2);
        assertEq(validation.getAgentValidations(agentId).length, 2);
    }

    function test_GivenAgentWasTransferred_ValidatorStillAnswers() external {
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        _respond(REQUEST, 87, "tee");
        assertEq(validation.getValidationCount(agentId), 1);
    }

    function testFuzz_StoresAnyResponse(uint8 score, string calldata uri, bytes32 responseHash, string calldata tag)
        external
    {
        vm.prank(validator);
        if (score > 100) {
            vm.expectRevert(abi.encodeWithSelector(IValidation.ScoreOutOfRange.selector, score));
            validation.validationResponse(REQUEST, score, uri, responseHash, tag);
            return;
        }
        vm.expectEmit(address(validation));
        emit IValidation.ValidationResponse(validator, agentId, REQUEST, score, uri, responseHash, tag);
        validation.validationResponse(REQUEST, score, uri, responseHash, tag);
        _assertStatus(REQUEST, Status(validator, agentId, score, responseHash, tag, NOW));
    }
}
