// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {IValidationRegistry} from "../../src/interfaces/IValidationRegistry.sol";
import {ValidationHandler} from "./ValidationHandler.sol";
import {Registries} from "../Registries.sol";

contract ValidationsInvariantTest is Test {
    IValidationRegistry private validation;
    ValidationHandler private handler;

    function setUp() external {
        IIdentityRegistry identity = Registries.newIdentityRegistry();
        validation = Registries.newValidationRegistry(address(identity));
        handler = new ValidationHandler(identity, validation);
        bytes4[] memory selectors = new bytes4[](4);
        selectors[0] = ValidationHandler.request.selector;
        selectors[1] = ValidationHandler.requestAgain.selector;
        selectors[2] = ValidationHandler.respond.selector;
        selectors[3] = ValidationHandler.respondAsAnother.selector;
        targetContract(address(handler));
        targetSelector(FuzzSelector(address(handler), selectors));
    }

    /// @dev R20: each request is as its validator last left it, answered or pending.
    function invariant_RequestsAreAsLastAnswered_R20() external view {
        for (uint256 i = 0; i < handler.requestCount(); ++i) {
            ValidationHandler.Request memory asked = handler.requestAt(i);
            (address validator, uint256 agentId, uint8 response,,,) = validation.getValidationStatus(asked.requestHash);
            assertEq(validator, asked.validator);
            assertEq(agentId, asked.agentId);
            assertEq(response, asked.score);
            assertEq(validation.hasResponse(asked.requestHash), asked.isAnswered);
        }
    }

    /// @dev R20: an agent's count and summary are those of a recount; an answer that replaces another adds nothing.
    function invariant_CountsAreThoseOfARecount_R20() external view {
        for (uint256 id = 1; id <= handler.agentCount(); ++id) {
            bytes32[] memory listed = validation.getAgentValidations(id);
            uint256 requested;
            uint256 answered;
            uint256 sum;
            for (uint256 i = 0; i < handler.requestCount(); ++i) {
                ValidationHandler.Request memory asked = handler.requestAt(i);
                if (asked.agentId != id) continue;
                assertEq(listed[requested++], asked.requestHash);
                if (asked.isAnswered) ++answered;
                sum += asked.score;
            }
            assertEq(listed.length, requested);
            assertEq(validation.getValidationCount(id), answered);
            (uint64 count, uint8 average) = validation.getSummary(id, new address[](0), "");
            assertEq(count, answered);
            assertEq(average, answered == 0 ? 0 : sum / answered);
        }
    }

    /// @dev A run in which an operation never happened has shown nothing about it.
    function afterInvariant() external view {
        assertGt(handler.calls("request"), 0);
        assertGt(handler.calls("request again"), 0);
        assertGt(handler.calls("respond"), 0);
        assertGt(handler.calls("respond again"), 0);
        assertGt(handler.calls("respond as another"), 0);
    }
}
