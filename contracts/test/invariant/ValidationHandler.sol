// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {IValidationRegistry as IValidation} from "../../src/interfaces/IValidationRegistry.sol";

/// @dev Requests and answers validations, rightly and wrongly, and keeps a record.
contract ValidationHandler is Test {
    struct Request {
        bytes32 requestHash;
        uint256 agentId;
        address validator;
        uint8 score;
        bool isAnswered;
    }

    uint256 private constant AGENTS = 2;
    uint256 private constant VALIDATORS = 2;
    uint256 private constant REQUESTS_MAX = 6; // few, so that each is answered again and again

    IValidation public immutable VALIDATION;
    address private immutable OWNER = makeAddr("owner");

    Request[] private requests;
    mapping(string operation => uint256) public calls;

    constructor(IIdentityRegistry identity, IValidation validation) {
        VALIDATION = validation;
        for (uint256 i = 0; i < AGENTS; ++i) {
            vm.prank(OWNER);
            identity.register("");
        }
    }

    function request(uint256 agentSeed, uint256 validatorSeed) external {
        if (requests.length == REQUESTS_MAX) return;
        uint256 agentId = 1 + agentSeed % AGENTS;
        address validator = validatorAt(validatorSeed % VALIDATORS);
        bytes32 requestHash = keccak256(abi.encode(requests.length));
        vm.prank(OWNER);
        VALIDATION.validationRequest(validator, agentId, "", requestHash);
        requests.push(Request(requestHash, agentId, validator, 0, false));
        ++calls["request"];
    }

    function requestAgain(uint256 seed, uint256 agentSeed) external {
        if (requests.length == 0) return;
        bytes32 requestHash = requests[seed % requests.length].requestHash;
        vm.expectRevert(abi.encodeWithSelector(IValidation.RequestExists.selector, requestHash));
        vm.prank(OWNER);
        VALIDATION.validationRequest(OWNER, 1 + agentSeed % AGENTS, "", requestHash);
        ++calls["request again"];
    }

    function respond(uint256 seed, uint8 score) external {
        if (requests.length == 0) return;
        Request storage asked = requests[seed % requests.length];
        score = uint8(bound(score, 0, 100));
        vm.prank(asked.validator);
        VALIDATION.validationResponse(asked.requestHash, score, "", 0, "");
        ++calls[asked.isAnswered ? "respond again" : "respond"];
        asked.score = score;
        asked.isAnswered = true;
    }

    function respondAsAnother(uint256 seed, uint8 score) external {
        if (requests.length == 0) return;
        Request storage asked = requests[seed % requests.length];
        address caller = asked.validator == validatorAt(0) ? validatorAt(1) : validatorAt(0);
        vm.expectRevert(abi.encodeWithSelector(IValidation.NotValidator.selector, caller, asked.validator));
        vm.prank(caller);
        VALIDATION.validationResponse(asked.requestHash, score, "", 0, "");
        ++calls["respond as another"];
    }

    function requestCount() external view returns (uint256) {
        return requests.length;
    }

    function requestAt(uint256 i) external view returns (Request memory) {
        return requests[i];
    }

    function validatorAt(uint256 number) public pure returns (address) {
        return number == 0 ? address(0x1001) : address(0x1002);
    }

    function agentCount() external pure returns (uint256) {
        return AGENTS;
    }
}
