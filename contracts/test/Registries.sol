// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IAuthorizedReputationRegistry} from "../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IIdentityRegistry} from "../src/interfaces/IIdentityRegistry.sol";
import {IReputationRegistry} from "../src/interfaces/IReputationRegistry.sol";
import {IValidationRegistry} from "../src/interfaces/IValidationRegistry.sol";

/// @notice Deploys the built registries. Tests name interfaces alone, so that a registry is compiled once, with the settings with
/// which it is deployed, and tests are compiled without the IR pipeline.
library Registries {
    Vm private constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function newIdentityRegistry() internal returns (IIdentityRegistry) {
        return IIdentityRegistry(VM.deployCode("IdentityRegistry.sol:IdentityRegistry"));
    }

    function newReputationRegistry(address identity) internal returns (IReputationRegistry) {
        return IReputationRegistry(VM.deployCode("ReputationRegistry.sol:ReputationRegistry", abi.encode(identity)));
    }

    function newAuthorizedReputationRegistry(address identity, bool acceptsDraftV1)
        internal
        returns (IAuthorizedReputationRegistry)
    {
        bytes memory arguments = abi.encode(identity, acceptsDraftV1);
        return IAuthorizedReputationRegistry(
            VM.deployCode("AuthorizedReputationRegistry.sol:AuthorizedReputationRegistry", arguments)
        );
    }

    function newValidationRegistry(address identity) internal returns (IValidationRegistry) {
        return IValidationRegistry(VM.deployCode("ValidationRegistry.sol:ValidationRegistry", abi.encode(identity)));
    }
}
