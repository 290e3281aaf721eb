// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IValidationRegistry as IValidation} from "../../src/interfaces/IValidationRegistry.sol";
import {listOf} from "../actors/AddressLists.sol";
import {ValidationTest} from "../actors/ValidationTest.sol";

contract ValidationReadsTest is ValidationTest {
    address[] private everybody;

    function test_RevertWhen_StatusOfUnknownRequestIsAsked() external {
        vm.expectRevert(abi.encodeWithSelector(IValidation.RequestNotFound.selector, UNKNOWN_REQUEST));
        validation.getValidationStatus(UNKNOWN_REQUEST);
        vm.expectRevert(abi.encodeWithSelector(IValidation.RequestNotFound.selector, UNKNOWN_REQUEST));
        validation.hasResponse(UNKNOWN_REQUEST);
    }

    function test_GivenNothingWasAnswered_SummaryIsEmpty() external {
        _assertSummary(UNKNOWN_ID, everybody, "", 0, 0);
        _request(REQUEST);
        _assertSummary(agentId, everybody, "", 0, 0);
    }

    function test_GivenSomeArePending_SummaryLeavesThemOut_R20() external {
        _answered(validator, 1, 80, "");
        _request(REQUEST);
        _answered(validator, 2, 81, "");
        _assertSummary(agentId, everybody, "", 2, 80);
        _answered(validator, 3, 0, "");
        _assertSummary(agentId, everybody, "", 3, 53);
        _assertSummary(otherAgentId, everybody, "", 0, 0);
    }

    function test_GivenAnsweredAgain_SummaryHasTheLast_R20() external {
        _answered(validator, 1, 80, "");
        _respond(bytes32(uint256(1)), 20, "");
        _assertSummary(agentId, everybody, "", 1, 20);
    }

    function test_WhenValidatorsAreListed_SummaryIsTheirs() external {
        _answered(validator, 1, 80, "");
        _answered(otherValidator, 2, 20, "");
        _assertSummary(agentId, listOf(otherValidator), "", 1, 20);
        _assertSummary(agentId, listOf(stranger), "", 0, 0);
        _assertSummary(agentId, listOf(otherValidator, otherValidator, validator), "", 2, 50);
    }

    function test_WhenTagIsGiven_SummaryIsOfThatTag() external {
        _answered(validator, 1, 80, "tee");
        _answered(validator, 2, 20, "zk");
        _answered(validator, 3, 50, "");
        _assertSummary(agentId, everybody, "tee", 1, 80);
        _assertSummary(agentId, everybody, "zk", 1, 20);
        _assertSummary(agentId, everybody, "TEE", 0, 0);
        _assertSummary(agentId, everybody, "", 3, 50);
    }

    function test_WhenValidatorsAndTagAreGiven_SummaryFitsBoth() external {
        _answered(validator, 1, 80, "tee");
        _answered(otherValidator, 2, 20, "tee");
        _answered(otherValidator, 3, 90, "zk");
        _assertSummary(agentId, listOf(otherValidator), "tee", 1, 20);
        _assertSummary(agentId, listOf(otherValidator), "", 2, 55);
    }

    function testFuzz_SummaryIsThatOfARecount(uint8[] calldata scores) external {
        uint256 sum;
        uint256 length = scores.length > 20 ? 20 : scores.length;
        for (uint256 i = 0; i < length; ++i) {
            _answered(validator, i, scores[i] % 101, "");
            sum += scores[i] % 101;
        }
        _assertSummary(agentId, everybody, "", length, length == 0 ? 0 : sum / length);
        assertEq(validation.getValidationCount(agentId), length);
    }

    function test_GivenNothingWasRequested_ListsAreEmpty() external view {
        assertEq(validation.getAgentValidations(UNKNOWN_ID).length, 0);
        assertEq(validation.getValidatorRequests(validator).length, 0);
        (bytes32[] memory page, uint256 total) = validation.getAgentValidationsPage(UNKNOWN_ID, 0, 10);
        assertEq(page.length, 0);
        assertEq(total, 0);
        (page, total) = validation.getValidatorRequestsPage(validator, 0, 10);
        assertEq(page.length, 0);
        assertEq(total, 0);
        assertEq(validation.getValidationCount(UNKNOWN_ID), 0);
    }

    function test_GivenSeveralRequests_ListsThemInOrder() external {
        _requestOf(validator, agentId, bytes32(uint256(1)));
        _requestOf(otherValidator, agentId, bytes32(uint256(2)));
        _requestOf(validator, otherAgentId, bytes32(uint256(3)));
        assertEq(abi.encode(validation.getAgentValidations(agentId)), _list(1, 2));
        assertEq(abi.encode(validation.getAgentValidations(otherAgentId)), _list(3));
        assertEq(abi.encode(validation.getValidatorRequests(validator)), _list(1, 3));
        assertEq(abi.encode(validation.getValidatorRequests(otherValidator)), _list(2));
    }

    function test_WhenPageIsWithin_ReturnsThatPart() external {
        _requestThree();
        _assertPages(0, 2, _list(1, 2));
        _assertPages(1, 2, _list(2, 3));
        _assertPages(1, 1, _list(2));
        _assertPages(1, 0, abi.encode(new bytes32[](0)));
    }

    function test_WhenPagePassesTheEnd_ReturnsWhatIsLeft() external {
        _requestThree();
        _assertPages(1, type(uint256).max, _list(2, 3));
        _assertPages(2, 2, _list(3));
        _assertPages(3, 1, abi.encode(new bytes32[](0)));
        _assertPages(4, 1, abi.encode(new bytes32[](0)));
        _assertPages(type(uint256).max, type(uint256).max, abi.encode(new bytes32[](0)));
    }

    function testFuzz_PagesMakeTheWholeList(uint256 count, uint256 limit) external {
        count = bound(count, 0, 12);
        limit = bound(limit, 1, 14);
        for (uint256 i = 0; i < count; ++i) {
            _request(keccak256(abi.encode(i)));
        }
        bytes32[] memory whole = validation.getAgentValidations(agentId);
        for (uint256 offset = 0; offset < count; offset += limit) {
            (bytes32[] memory page, uint256 total) = validation.getAgentValidationsPage(agentId, offset, limit);
            assertEq(total, count);
            assertEq(page.length, offset + limit < count ? limit : count - offset);
            for (uint256 i = 0; i < page.length; ++i) {
                assertEq(page[i], whole[offset + i]);
                assertEq(page[i], keccak256(abi.encode(offset + i)));
            }
        }
    }

    function test_RegistryAndVersion_R2() external view {
        assertEq(validation.getIdentityRegistry(), address(identity));
        assertEq(validation.getVersion(), "2.0.0+concord.2");
    }

    function _answered(address by, uint256 number, uint8 score, string memory tag) private {
        _requestOf(by, agentId, bytes32(number));
        _respondAs(by, bytes32(number), score, tag);
    }

    function _requestThree() private {
        for (uint256 i = 1; i <= 3; ++i) {
            _request(bytes32(i));
        }
    }

    function _assertSummary(uint256 agent, address[] memory by, string memory tag, uint256 count, uint256 average)
        private
        view
    {
        (uint64 actualCount, uint8 actualAverage) = validation.getSummary(agent, by, tag);
        assertEq(actualCount, count);
        assertEq(actualAverage, average);
    }

    /// @dev Of both lists, which are the same as long as there is one agent and one validator.
    function _assertPages(uint256 offset, uint256 limit, bytes memory expected) private view {
        (bytes32[] memory page, uint256 total) = validation.getAgentValidationsPage(agentId, offset, limit);
        assertEq(abi.encode(page), expected);
        assertEq(total, 3);
        (page, total) = validation.getValidatorRequestsPage(validator, offset, limit);
        assertEq(abi.encode(page), expected);
        assertEq(total, 3);
    }

    function _list(uint256 only) private pure returns (bytes memory) {
        bytes32[] memory list = new bytes32[](1);
        list[0] = bytes32(only);
        return abi.encode(list);
    }

    function _list(uint256 first, uint256 second) private pure returns (bytes memory) {
        bytes32[] memory list = new bytes32[](2);
        (list[0], list[1]) = (bytes32(first), bytes32(second));
        return abi.encode(list);
    }
}
