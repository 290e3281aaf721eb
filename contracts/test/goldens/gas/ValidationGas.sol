// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ValidationRegistry} from "../../../src/ValidationRegistry.sol";
import {GasTable} from "./GasTable.sol";

abstract contract ValidationGas is GasTable {
    bytes32 private constant REQUEST = keccak256("a request");
    string private constant TAG = "latency";

    function _measureValidation() internal {
        ValidationRegistry validation = new ValidationRegistry(address(identity));
        address requester = makeAddr("owner of the validated");
        address validator = makeAddr("a validator");
        uint256 validated = _register(requester);

        vm.prank(requester);
        validation.validationRequest(validator, validated, URI, REQUEST);
        _row("validationRequest", "URI 66; first of agent and validator", 190_807, _used(), NO_BAR);
        vm.prank(requester);
        validation.validationRequest(validator, validated, URI, keccak256("the next"));
        _row("validationRequest", "URI 66; next", NOT_MEASURED, _used(), NO_BAR);
        vm.prank(validator);
        validation.validationResponse(REQUEST, 80, URI, FILE_HASH, TAG);
        _row("validationResponse", "URI 66, hash, 7-byte tag; first", 130_022, _used(), NO_BAR);
        vm.prank(validator);
        validation.validationResponse(REQUEST, 95, URI, keccak256("another file"), TAG);
        _row("validationResponse", "URI 66, hash, 7-byte tag; again", 56_022, _used(), NO_BAR);
        _assertTable("validation", "ValidationRegistry.gas.json");
    }
}
