// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AuthorizedGas} from "./AuthorizedGas.sol";
import {IdentityGas} from "./IdentityGas.sol";
import {OpenGas} from "./OpenGas.sol";
import {ValidationGas} from "./ValidationGas.sol";

/// @dev What the tables of docs/GAS.md say: whole transactions of the writing calls, the execution of the views. Each
/// call is a transaction of its own (`isolate`) under the rules of Prague. The figures are deterministic and equal to
/// the committed ones; `CONCORD_BLESS=1 forge test --match-contract 'GasTest|BytecodeTest'` writes them anew. One test,
/// as it writes one page.
/// forge-config: default.isolate = true
/// forge-config: default.evm_version = "prague"
contract GasTest is IdentityGas, OpenGas, AuthorizedGas, ValidationGas {
    function test_GasIsTheCommittedOneAndMeetsTheBars() external {
        _assertTables();
    }

    function _measureTables() internal override {
        _measureIdentity();
        _measureOpen();
        _measureAuthorized();
        _measureValidation();
    }
}
