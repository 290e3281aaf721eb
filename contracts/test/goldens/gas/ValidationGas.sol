// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IValidationRegistry} from "../../../src/interfaces/IValidationRegistry.sol";
import {GasTable} from "./GasTable.sol";
import {Registries} from "../../Registries.sol";

abstract contract ValidationGas is GasTable {
    bytes32 private constant REQUEST = keccak256("a request");
    string private constant TAG = "latency";

    IValidationRegistry private validation;
    address private requester = makeAddr("owner of the validated");
    address private validator = makeAddr("a validator");
    uint256 private validated;

    function _measureValidation() internal {
        validation = Registries.newValidationRegistry(address(identity));
        validated = _register(requester);
        _request(REQUEST);
        _row("validationRequest", "URI 66; first of agent and validator", 190_807, NO_BAR);
        _request(keccak256("the next"));
        _row("validationRequest", "URI 66; next", NOT_MEASURED, NO_BAR);
        _respond(80, FILE_HASH);
        _row("validationResponse", "URI 66, hash, 7-byte tag; first", 130_022, NO_BAR);
        _respond(95, keccak256("another file"));
        _row("validationResponse", "URI 66, hash, 7-byte tag; again", 56_022, NO_BAR);
        _assertTable("validation", "ValidationRegistry.gas.json");
    }

    function _request(bytes32 requestHash) private {
        _transact(
            requester,
            address(validation),
            abi.encodeCall(validation.validationRequest, (validator, validated, URI, requestHash))
        );
    }

    function _respond(uint8 response, bytes32 fileHash) private {
        _transact(
            validator,
            address(validation),
            abi.encodeCall(validation.validationResponse, (REQUEST, response, URI, fileHash, TAG))
        );
    }
}
