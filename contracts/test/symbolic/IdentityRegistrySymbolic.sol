// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IdentityRegistry} from "../../src/IdentityRegistry.sol";

/// @dev Proven by halmos for all arguments (scripts/deep), not run by forge: forge runs what begins with test.
contract IdentityRegistrySymbolic is Test {
    address private constant FIRST = address(0xA1);
    address private constant SECOND = address(0xA2);

    IdentityRegistry private identity;

    function setUp() external {
        identity = new IdentityRegistry();
    }

    /// @dev Whoever registers, by whichever overload, before and after transfers: 1, 2, 3.
    function check_IdsAreSequential_R1(bool[3] memory isBySecond, bool[3] memory isWithUri, bool isTransferred)
        external
    {
        for (uint256 i = 0; i < 3; ++i) {
            address registrant = isBySecond[i] ? SECOND : FIRST;
            vm.prank(registrant);
            uint256 agentId = isWithUri[i] ? identity.register("ipfs://agent") : identity.register();
            assertEq(agentId, i + 1);
            assertEq(identity.ownerOf(agentId), registrant);
            assertEq(identity.getAgentWallet(agentId), registrant);
            if (!isTransferred) continue;
            vm.prank(registrant);
            identity.transferFrom(registrant, address(0xA3), agentId);
            assertEq(identity.getAgentWallet(agentId), address(0));
        }
    }
}
