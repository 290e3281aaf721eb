// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {IReputationRegistry} from "../../src/interfaces/IReputationRegistry.sol";

/// @dev Holds an agent for somebody and gives it back.
contract Accomplice {
    function giveBack(IIdentityRegistry identity, uint256 agentId, address to) external {
        identity.transferFrom(address(this), to, agentId);
    }
}

/// @dev An owner that rates its own agent while somebody else holds it, all in one call.
contract AbsentOwner {
    IIdentityRegistry private immutable IDENTITY;
    IReputationRegistry private immutable REPUTATION;
    Accomplice private immutable ACCOMPLICE = new Accomplice();

    constructor(IIdentityRegistry identity, IReputationRegistry reputation) {
        IDENTITY = identity;
        REPUTATION = reputation;
    }

    function rate(uint256 agentId, int128 value) public {
        REPUTATION.giveFeedback(agentId, value, 0, "", "", "", "", 0);
    }

    function rateWhileAway(uint256 agentId, int128 value) external {
        IDENTITY.transferFrom(address(this), address(ACCOMPLICE), agentId);
        rate(agentId, value);
        ACCOMPLICE.giveBack(IDENTITY, agentId, address(this));
    }
}
