// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IValidationRegistry} from "../../src/interfaces/IValidationRegistry.sol";
import {RegistryTest} from "./RegistryTest.sol";
import {Registries} from "../Registries.sol";

/// @dev The validation registry beside the others, a validator, and one request to it.
abstract contract ValidationTest is RegistryTest {
    uint256 internal constant UNKNOWN_ID = 99;
    bytes32 internal constant REQUEST = keccak256("request");
    bytes32 internal constant UNKNOWN_REQUEST = keccak256("unknown request");
    string internal constant REQUEST_URI = "ipfs://request";
    string internal constant RESPONSE_URI = "ipfs://response";
    bytes32 internal constant RESPONSE_HASH = keccak256("response");

    IValidationRegistry internal validation;
    address internal validator = makeAddr("validator");
    address internal otherValidator = makeAddr("other validator");

    struct Status {
        address validatorAddress;
        uint256 agentId;
        uint8 response;
        bytes32 responseHash;
        string tag;
        uint256 lastUpdate;
    }

    function setUp() public virtual override {
        super.setUp();
        validation = Registries.newValidationRegistry(address(identity));
    }

    function _request(bytes32 requestHash) internal {
        _requestOf(validator, agentId, requestHash);
    }

    function _requestOf(address to, uint256 agent, bytes32 requestHash) internal {
        vm.prank(identity.ownerOf(agent));
        validation.validationRequest(to, agent, REQUEST_URI, requestHash);
    }

    function _respond(bytes32 requestHash, uint8 response, string memory tag) internal {
        _respondAs(validator, requestHash, response, tag);
    }

    function _respondAs(address caller, bytes32 requestHash, uint8 response, string memory tag) internal {
        vm.prank(caller);
        validation.validationResponse(requestHash, response, RESPONSE_URI, RESPONSE_HASH, tag);
    }

    function _assertStatus(bytes32 requestHash, Status memory expected) internal view {
        Status memory actual;
        (actual.validatorAddress, actual.agentId, actual.response, actual.responseHash, actual.tag, actual.lastUpdate) =
            validation.getValidationStatus(requestHash);
        assertEq(abi.encode(actual), abi.encode(expected));
    }
}
