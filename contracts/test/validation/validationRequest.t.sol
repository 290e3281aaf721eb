// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IValidationRegistry as IValidation} from "../../src/interfaces/IValidationRegistry.sol";
import {ValidationTest} from "../actors/ValidationTest.sol";
import {Registries} from "../Registries.sol";

contract ValidationRequestTest is ValidationTest {
    function test_RevertWhen_IdentityRegistryIsZero_R2() external {
        vm.expectRevert(IBoundRegistry.RegistryZero.selector);
        Registries.newValidationRegistry(address(0));
    }

    function test_RevertWhen_ValidatorIsZero() external {
        vm.expectRevert(IValidation.ValidatorZero.selector);
        vm.prank(owner.addr);
        validation.validationRequest(address(0), agentId, REQUEST_URI, REQUEST);
    }

    function test_RevertWhen_RequestExists_R20() external {
        _request(REQUEST);
        _assertExists(owner.addr, validator, agentId);
        _assertExists(owner.addr, otherValidator, agentId);
        _respond(REQUEST, 0, "");
        _assertExists(owner.addr, validator, agentId);
        assertEq(validation.getAgentValidations(agentId).length, 1);
    }

    function test_RevertWhen_RequestOfAnotherAgentExists_R20() external {
        _requestOf(validator, otherAgentId, REQUEST);
        _assertExists(owner.addr, validator, agentId);
    }

    /// @dev The attack: the hash of a pending request is copied, requested first for another agent, and answered by a
    /// friend. A consumer who looks at the answer alone is deceived; one who compares agent and validator is not.
    function test_RevertWhen_HashWasCopied_R20() external {
        _requestOf(otherValidator, otherAgentId, REQUEST);
        _respondAs(otherValidator, REQUEST, 100, "");
        _assertExists(owner.addr, validator, agentId);
        assertTrue(validation.hasResponse(REQUEST));
        (address answering, uint256 answered, uint8 response,,,) = validation.getValidationStatus(REQUEST);
        assertEq(response, 100);
        assertEq(answered, otherAgentId);
        assertEq(answering, otherValidator);
        (uint64 count,) = validation.getSummary(agentId, new address[](0), "");
        assertEq(count, 0);
        _request(keccak256("request with another nonce"));
        assertEq(validation.getAgentValidations(agentId).length, 1);
    }

    function test_RevertWhen_AgentOfRequestIsUnknown() external {
        vm.expectRevert(abi.encodeWithSelector(IBoundRegistry.ERC721NonexistentToken.selector, UNKNOWN_ID));
        vm.prank(owner.addr);
        validation.validationRequest(validator, UNKNOWN_ID, REQUEST_URI, REQUEST);
    }

    function test_RevertWhen_StrangerRequests_R20() external {
        address[3] memory callers = [stranger, validator, client];
        for (uint256 i = 0; i < callers.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IValidation.NotAuthorized.selector, callers[i], agentId));
            vm.prank(callers[i]);
            validation.validationRequest(validator, agentId, REQUEST_URI, REQUEST);
        }
        assertEq(validation.getAgentValidations(agentId).length, 0);
    }

    function test_WhenOwnerRequests_Tells_R2() external {
        vm.recordLogs();
        _request(REQUEST);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics[0], IValidation.ValidationRequest.selector);
        assertEq(logs[0].topics[1], bytes32(uint256(uint160(validator))));
        assertEq(logs[0].topics[2], bytes32(agentId));
        assertEq(logs[0].topics[3], REQUEST);
        assertEq(logs[0].data, abi.encode(REQUEST_URI));
    }

    function test_WhenOwnerRequests_StoresPending_R20() external {
        _request(REQUEST);
        vm.warp(NOW + 7);
        _assertStatus(REQUEST, Status(validator, agentId, 0, 0, "", NOW));
        assertFalse(validation.hasResponse(REQUEST));
        assertEq(validation.getValidationCount(agentId), 0);
        assertEq(validation.getAgentValidations(agentId)[0], REQUEST);
        assertEq(validation.getValidatorRequests(validator)[0], REQUEST);
        assertEq(validation.getAgentValidations(otherAgentId).length, 0);
        assertEq(validation.getValidatorRequests(otherValidator).length, 0);
    }

    function test_WhenApprovedOrOperatorRequests_Stores_R20() external {
        address operator = makeAddr("operator");
        vm.startPrank(owner.addr);
        identity.approve(client, agentId);
        identity.setApprovalForAll(operator, true);
        vm.stopPrank();
        vm.prank(client);
        validation.validationRequest(validator, agentId, REQUEST_URI, REQUEST);
        vm.prank(operator);
        validation.validationRequest(validator, agentId, REQUEST_URI, UNKNOWN_REQUEST);
        assertEq(validation.getAgentValidations(agentId).length, 2);
    }

    function test_WhenHashIsZeroAndValidatorTheOwner_Stores_R20() external {
        vm.startPrank(owner.addr);
        validation.validationRequest(owner.addr, agentId, "", 0);
        _assertStatus(0, Status(owner.addr, agentId, 0, 0, "", NOW));
        validation.validationResponse(0, 100, "", 0, "");
        assertTrue(validation.hasResponse(0));
    }

    function test_GivenAgentWasTransferred_NewOwnerRequests() external {
        vm.startPrank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        vm.expectRevert(abi.encodeWithSelector(IValidation.NotAuthorized.selector, owner.addr, agentId));
        validation.validationRequest(validator, agentId, REQUEST_URI, REQUEST);
        vm.stopPrank();
        _request(REQUEST);
        assertEq(validation.getAgentValidations(agentId).length, 1);
    }

    function testFuzz_StoresAnyRequest(address to, string calldata uri, bytes32 requestHash) external {
        vm.assume(to != address(0));
        vm.expectEmit(address(validation));
        emit IValidation.ValidationRequest(to, agentId, uri, requestHash);
        vm.prank(owner.addr);
        validation.validationRequest(to, agentId, uri, requestHash);
        _assertStatus(requestHash, Status(to, agentId, 0, 0, "", NOW));
    }

    function _assertExists(address caller, address to, uint256 agent) private {
        vm.expectRevert(abi.encodeWithSelector(IValidation.RequestExists.selector, REQUEST));
        vm.prank(caller);
        validation.validationRequest(to, agent, REQUEST_URI, REQUEST);
    }
}
